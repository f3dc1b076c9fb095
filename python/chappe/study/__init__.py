"""Studies: many runs of many points, stored in a folder, and their analysis."""

from chappe._error import ClusterError, RunError, StorageError, StudyError, WorkWarning
from chappe.study._file import StudyFile, load
from chappe.study._measure import measure
from chappe.study._run import search, sweep
from chappe.study._search import Search
from chappe.study._stop import Precision
from chappe.study._study import Study

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
