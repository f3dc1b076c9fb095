"""Old names of modules that have moved: they work for one more version, with a warning."""

import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

RENAMED = {
    "chappe_papers.elrakabawy2005.said": "chappe_papers.elrakabawy2005.comparisons",
    "chappe_papers.glance": "chappe_papers.summary",
    "chappe_papers.kept": "chappe_papers.run_cache",
    "chappe_papers.lab": "chappe_papers.runner",
    "chappe_papers.su2008.closely": "chappe_papers.su2008.microscopic",
    "chappe_papers.su2008.hopes": "chappe_papers.su2008.outcomes",
    "chappe_papers.table": "chappe_papers.estimates",
}
"""Modules whose last part has another name in the new package, too: that part of the old name is kept here."""

CLASSES: Mapping[str, Mapping[str, str]] = {
    "chappe_papers.estimates": {"Noting": "RequestedPoints", "Seen": "Reinterpreted", "Table": "Estimates"},
    "chappe_papers.judge": {"Case": "Observation"},
    "chappe_papers.page": {
        "Claim": "JudgedClaim",
        "Figure": "DrawnFigure",
        "Finding": "JudgedFinding",
        "Sheet": "WrittenSheet",
    },
    "chappe_papers.run_cache": {"Kept": "RunCache"},
    "chappe_papers.runner": {"Lab": "Runner"},
}
"""Classes with another name, by module: new names by old names. An old module has both."""


def moved(old: str, new: str) -> None:
    """Makes an old name of a package, whose module calls this, a name of the new package; the same for its submodules.

    Args:
        old: The old name.
        new: The name of the package now.

    Raises:
        ModuleNotFoundError: When the new package is not installed.
    """
    _warn(old, new, 4)
    package = import_module(new)
    sys.meta_path.insert(0, _Submodules(old, new))
    sys.modules[old] = package


def _warn(old: str, new: str, stacklevel: int) -> None:
    warnings.warn(
        f"{old} has moved to {new}; the old name will be removed in the next version",
        DeprecationWarning,
        stacklevel=stacklevel,
    )


class _Submodules(MetaPathFinder, Loader):
    """Finds the modules of a package below its old name. Each is the module of the new name, not a copy of it."""

    def __init__(self, old: str, new: str):
        self._old = f"{old}."
        self._new = f"{new}."

    def find_spec(self, name: str, _path: object = None, _target: object = None, /) -> ModuleSpec | None:
        """The place of a module below the old name; ``None`` for all others."""
        return ModuleSpec(name, self) if name.startswith(self._old) else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module of the new name in the place of a new one, with the old names of its classes."""
        old = module.__name__
        new = self._new + old.removeprefix(self._old)
        new = RENAMED.get(new, new)
        _warn(old, new, 3)
        present = import_module(new)
        for former, name in CLASSES.get(new, {}).items():
            setattr(present, former, getattr(present, name))
        # The import system takes what is here after the execution.
        sys.modules[old] = present
