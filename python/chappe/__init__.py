"""Chappe: a laboratory for TCP over wireless networks.

A scenario says what to simulate; a run of it gives tables::

    import chappe

    scenario = chappe.Scenario.chain(7, {"tcp.variant": "vegas"}, stop="11000 delivered")
    results = chappe.run(scenario, seed=1)
    print(results.flows["goodput_bps"], results.summary())
"""

from chappe._core import RESULTS_EPOCH, VERSION
from chappe.error import Problem, ScenarioError
from chappe.results import Results, run
from chappe.scenario import Scenario, parts, schema
from chappe.study import Study, search, sweep

__version__ = VERSION

__all__ = [
    "RESULTS_EPOCH",
    "Problem",
    "Results",
    "Scenario",
    "ScenarioError",
    "Study",
    "__version__",
    "parts",
    "run",
    "schema",
    "search",
    "sweep",
]
