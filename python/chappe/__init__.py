"""Chappe: a laboratory for TCP over wireless networks.

A scenario describes a simulation; a run of the scenario gives tables::

    import chappe

    scenario = chappe.Scenario.chain(7, {"tcp.variant": "vegas"}, stop="11000 delivered")
    results = chappe.run(scenario, seed=1)
    print(results.flows["goodput_bps"], results.summary())
"""

from chappe import _interrupts as _interrupts  # isort: skip, it ends commands that are interrupted from here on
from typing import TYPE_CHECKING, Any

try:
    from chappe._core import RESULTS_EPOCH, VERSION
except ImportError as e:
    if any(name in str(e) for name in ("GLIBC_", "ld-linux", "libc.so.6", "libgcc_s")):
        raise ImportError(
            "this build of Chappe does not run with the C library of this system: wheels for Linux need glibc 2.34 or "
            f"later (Debian 12, Ubuntu 22.04, RHEL 9); build from source with Rust on other systems. System error: {e}"
        ) from e
    raise
from chappe import _forked as _forked
from chappe._error import (
    ChappeError,
    ChappeWarning,
    ClusterError,
    LimitError,
    Problem,
    RunError,
    ScenarioError,
    StorageError,
    StudyError,
    WorkWarning,
)
from chappe._late import attribute
from chappe._scenario import Scenario, parts, schema

if TYPE_CHECKING:
    from chappe._advise import Advice, advise
    from chappe._control import Simulation, start
    from chappe._follow import Story, follow
    from chappe._opened import open  # noqa: A004, it is `chappe.open`
    from chappe._results import Results, run
    from chappe.study import Study
    from chappe.study._run import search, sweep

__version__ = VERSION

__all__ = [
    "RESULTS_EPOCH",
    "Advice",
    "ChappeError",
    "ChappeWarning",
    "ClusterError",
    "LimitError",
    "Problem",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "StorageError",
    "Story",
    "Study",
    "StudyError",
    "WorkWarning",
    "__version__",
    "advise",
    "follow",
    "open",
    "parts",
    "run",
    "schema",
    "search",
    "start",
    "sweep",
]

_MODULES = ("measures", "order", "plot", "states", "stats", "study", "text", "typing")
"""Public modules."""

_LATE = {
    "Results": "chappe._results",
    "run": "chappe._results",
    "Simulation": "chappe._control",
    "Advice": "chappe._advise",
    "Story": "chappe._follow",
    "advise": "chappe._advise",
    "follow": "chappe._follow",
    "open": "chappe._opened",
    "start": "chappe._control",
    "Study": "chappe.study",
    "search": "chappe.study._run",
    "sweep": "chappe.study._run",
}


def __getattr__(name: str) -> Any:
    return attribute(__name__, name, _LATE)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
