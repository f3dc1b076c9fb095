"""Studies: many runs of many points, stored in a folder, and their analysis."""

from chappe._error import ClusterError, RunError, StorageError, StudyError, WorkWarning
from chappe.study._axes import Item, Point
from chappe.study._facts import OVER, UNDER
from chappe.study._file import StudyFile, load
from chappe.study._measure import Also, measure
from chappe.study._relative import Relative
from chappe.study._run import search, sweep
from chappe.study._run_cache import RunCache
from chappe.study._search import Search
from chappe.study._stop import Precision
from chappe.study._study import Study

__all__ = [
    "OVER",
    "UNDER",
    "Also",
    "ClusterError",
    "Item",
    "Point",
    "Precision",
    "Relative",
    "RunCache",
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
