"""Studies: many runs of many points, stored in a folder, and their analysis."""

from chappe.error import ClusterError, RunsError, StoreError, StudyError, WorkWarning
from chappe.study.file import StudyFile, load
from chappe.study.measure import measure
from chappe.study.run import search, sweep
from chappe.study.search import Search
from chappe.study.stop import Precision
from chappe.study.study import Study

__all__ = [
    "ClusterError",
    "Precision",
    "RunsError",
    "Search",
    "StoreError",
    "Study",
    "StudyError",
    "StudyFile",
    "WorkWarning",
    "load",
    "measure",
    "search",
    "sweep",
]
