"""Chappe: a laboratory for TCP over wireless networks.

A scenario describes a simulation; a run of the scenario gives tables::

    import chappe

    scenario = chappe.Scenario.chain(7, {"tcp.variant": "vegas"}, stop="11000 delivered")
    results = chappe.run(scenario, seed=1)
    print(results.flows["goodput_bps"], results.summary())
"""

from chappe._common import interrupts as interrupts  # isort: skip, it ends commands that are interrupted from here on
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
from chappe._common import forked as forked
from chappe._common.lazy import attribute
from chappe.errors import (
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
from chappe.scenario.rules import CongestionEvent, Controller, Decision
from chappe.scenario.scenario import Scenario, parts, schema

if TYPE_CHECKING:
    from chappe.results.endpoints import Endpoint, Event
    from chappe.results.results import Results, run
    from chappe.results.simulation import Simulation, start
    from chappe.stories.story import Story, follow
    from chappe.study import Study
    from chappe.study.advise import Advice, advise
    from chappe.study.execution.sweep import search, sweep
    from chappe.study.opening import open  # noqa: A004, it is `chappe.open`

__version__ = VERSION

__all__ = [
    "RESULTS_EPOCH",
    "Advice",
    "ChappeError",
    "ChappeWarning",
    "ClusterError",
    "CongestionEvent",
    "Controller",
    "Decision",
    "Endpoint",
    "Event",
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

_MODULES = ("gym", "measures", "plot", "stats", "study", "text", "typing")
"""Public modules."""

_LATE = {
    "Endpoint": "chappe.results.endpoints",
    "Event": "chappe.results.endpoints",
    "Results": "chappe.results.results",
    "run": "chappe.results.results",
    "Simulation": "chappe.results.simulation",
    "Advice": "chappe.study.advise",
    "Story": "chappe.stories.story",
    "advise": "chappe.study.advise",
    "follow": "chappe.stories.story",
    "open": "chappe.study.opening",
    "start": "chappe.results.simulation",
    "Study": "chappe.study",
    "search": "chappe.study.execution.sweep",
    "sweep": "chappe.study.execution.sweep",
}


def __getattr__(name: str) -> Any:
    return attribute(__name__, name, _LATE)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
