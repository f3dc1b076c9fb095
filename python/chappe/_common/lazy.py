"""Names of packages that are imported when they are first used: a command that needs no statistics starts without."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any


def attribute(package: str, name: str, where: Mapping[str, str]) -> Any:
    """Value of a name for ``__getattr__`` of a package (PEP 562): a name of a module of the package, or a submodule.

    Raises:
        AttributeError: When there is none.
    """
    if name in where:
        value = getattr(import_module(where[name]), name)
    elif name.startswith("_"):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    else:
        full = f"{package}.{name}"
        try:
            value = import_module(full)
        except ModuleNotFoundError as e:
            if e.name != full:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
    setattr(sys.modules[package], name, value)
    return value
