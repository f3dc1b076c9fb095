"""Old names of Python: arguments, attributes and functions that work for one more version, with a warning."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def warn(old: str, new: str, stacklevel: int = 3) -> None:
    """Warns of an old name.

    Args:
        old: The old name.
        new: The name to use instead.
        stacklevel: Frames up to the code that uses the old name, as in :func:`warnings.warn`.
    """
    warnings.warn(f"{old} is deprecated: use {new}", DeprecationWarning, stacklevel=stacklevel)


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
    warn(f"{module}.{name}", new, 4)
    return value()


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
            return function(*first, **by_name, **kwargs)  # type: ignore[arg-type]

        return called

    return decorate


def _subjects(n: int) -> str:
    return "one argument" if n == 1 else f"{n} arguments"
