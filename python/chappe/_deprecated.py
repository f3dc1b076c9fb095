"""Old names of Python: arguments, attributes and functions that work for one more version, with a warning."""

import functools
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


_PACKAGE = str(Path(__file__).parent)


def warn(old: str, new: str) -> None:
    """Warns of an old name, at the line outside this package that uses it.

    Args:
        old: The old name.
        new: The name to use instead.
    """
    warn_user(f"{old} is deprecated: use {new}", DeprecationWarning)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warns at the line outside this package from which the package was called."""
    level, frame = 2, sys._getframe(1)
    # The generated constructor of a data class has no file.
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_PACKAGE, "<")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def attribute(module: str, name: str, renamed: Mapping[str, tuple[str, Callable[[], Any]]]) -> Any:
    """Value of an old name of a module, for its ``__getattr__`` (PEP 562).

    Args:
        module: Name of the module.
        name: Name that the module lacks.
        renamed: New name and value by old name.

    Raises:
        AttributeError: If the name is not an old name.
    """
    if name not in renamed:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    new, value = renamed[name]
    warn(f"{module}.{name}", new)
    return value()


def former_attribute(of: object, name: str, renamed: Mapping[str, str]) -> Any:
    """Value of an attribute with an old name, for ``__getattr__`` of a class.

    Args:
        of: The object.
        name: Name that the object lacks.
        renamed: New name by old name.

    Raises:
        AttributeError: If the name is not an old name.
    """
    kind = type(of).__name__
    if name not in renamed:
        raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=of)
    warn(f"{kind}.{name}", f"{kind}.{renamed[name]}")
    return getattr(of, renamed[name])


def arguments(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function whose arguments were renamed, so that the old names still work.

    Args:
        renamed: New name of each old argument.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = dict(kwargs)
            for old, new in renamed.items():
                if old in given and new not in given:
                    warn(f"the argument {old}", new)
                    given[new] = given.pop(old)
            return function(*args, **given)

        return called

    return decorate


def keyword_only(*names: str, after: int = 1) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function whose last arguments became keyword-only, so that they can still be given by position.

    Args:
        names: Names of these arguments, in their old order.
        after: Number of positional arguments before them, with ``self``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            first, rest = args[:after], args[after:]
            if not rest:
                return function(*args, **kwargs)
            by_name = dict(zip(names, rest, strict=False))
            if len(rest) > len(names) or by_name.keys() & kwargs.keys():
                return function(*args, **kwargs)  # Python raises the TypeError
            use = ", ".join(f"{name}=..." for name in by_name)
            warn(f"{function.__name__}() with more than {_subjects(after)} by position", use)
            # Types of keywords that were given by position are not known to P.
            return function(*first, **by_name, **kwargs)  # type: ignore[arg-type]

        return called

    return decorate


def _subjects(n: int) -> str:
    return "one argument" if n == 1 else f"{n} arguments"
