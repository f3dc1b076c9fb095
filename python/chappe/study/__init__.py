"""Studies: many runs of many points, stored in a folder, and their analysis."""

from chappe.errors import ClusterError, RunError, StorageError, StudyError, WorkWarning
from chappe.expressions.run_measures import OVER, UNDER
from chappe.study.analysis.relative import Relative
from chappe.study.design.axes import Item, Point
from chappe.study.design.search import Search
from chappe.study.design.stop import Precision
from chappe.study.execution.measure import Also, measure
from chappe.study.execution.sweep import search, sweep
from chappe.study.file import StudyFile, load
from chappe.study.store.run_cache import RunCache
from chappe.study.study import Study

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
