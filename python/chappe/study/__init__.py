"""Studies: many runs of many points, stored in a folder, and their analysis."""

from typing import Any

from chappe.deprecated import attribute
from chappe.error import ClusterError, RunError, StorageError, StudyError, WorkWarning
from chappe.study.file import StudyFile, load
from chappe.study.measure import measure
from chappe.study.run import search, sweep
from chappe.study.search import Search
from chappe.study.stop import Precision
from chappe.study.study import Study

__all__ = [
    "ClusterError",
    "Precision",
    "RunError",
    "Search",
    "StorageError",
    "Study",
    "StudyError",
    "StudyFile",
    "WorkWarning",
    "load",
    "measure",
    "search",
    "sweep",
]

_RENAMED = {
    "StoreError": ("chappe.StorageError", lambda: StorageError),
    "RunsError": ("chappe.RunError", lambda: RunError),
}


def __getattr__(name: str) -> Any:
    return attribute(__name__, name, _RENAMED)
