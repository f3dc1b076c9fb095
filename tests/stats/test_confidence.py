"""Every function checks that a confidence lies between 0 and 1; 95 used to give NaN silently."""

import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import chappe
import numpy as np
import pytest
from chappe import stats, text
from chappe.stats import quantiles as order
from chappe.stats import states
from chappe.study.analysis.relative import Relative

SOME = [1.0, 2.0, 4.0]
PSEUDO = stats.Jackknife.mean(SOME)
ESTIMATE = PSEUDO.estimate
SKEWED = stats.Skewed.by(ESTIMATE)


WRONG = (95, 0, 1, 0.0, 1.0, -0.5, float("nan"), float("inf"), True, "0.95", None)
"""Values that are no confidence."""


def takers(package: ModuleType) -> set[str]:
    """Every public function and method of a package that takes a confidence unless told."""
    functions = set()
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for name, value in vars(import_module(module.name)).items():
            for inner, function in (vars(value) if inspect.isclass(value) else {"": value}).items():
                is_own = inspect.isfunction(function) and function.__module__ == module.name
                if is_own and not f"{name}{inner}".startswith("_"):
                    given = inspect.signature(function).parameters.get("confidence")
                    if given is not None and (inner or given.default is not given.empty):
                        functions.add(function.__qualname__)
    return functions


@pytest.fixture(scope="module")
def calls() -> dict[str, Callable[[Any], object]]:
    scenario = chappe.Scenario.chain(1, stop="110 delivered", extends="ns2-2.35")
    run, study = chappe.run(scenario), chappe.sweep(scenario, {"tcp.receive_window": [1, 2]}, seeds=2)
    one, two = {"tcp.receive_window": 1}, {"tcp.receive_window": 2}
    return {
        "Quantile.half_width": lambda c: order.Quantile.at(SOME * 2).half_width(c),
        "Quantile.interval": lambda c: order.Quantile.at(SOME).interval(c),
        "Relative.interval": lambda c: Relative.of(PSEUDO, PSEUDO, is_paired=False).interval(c),
        "Relative.ends": lambda c: Relative.of(PSEUDO, PSEUDO, is_paired=False).ends(SKEWED, c),
        "Relative._end": lambda c: Relative.of(PSEUDO, PSEUDO, is_paired=False)._end(c, 0),
        "unseen": lambda c: states.unseen(3, c),
        "Estimate.half_width": lambda c: stats.Estimate.of(SOME).half_width(c),
        "Estimate.interval": lambda c: stats.Estimate.of(SOME).interval(c),
        "Share.half_width": lambda c: stats.Share(0.5, 0.1, 9).half_width(c),
        "Skewed.half_width": lambda c: SKEWED.half_width(c),
        "Skewed.interval": lambda c: SKEWED.interval(c),
        "Skewed.reach": lambda c: SKEWED.reach(c),
        "Pooled.interval": lambda c: stats.Pooled(0.5, 0.1, 9).interval(c),
        "exact_rate": lambda c: stats.exact_rate(3, 10, c),
        "exact_share": lambda c: stats.exact_share(3, 10, c),
        "Share.interval": lambda c: stats.Share(0.5, 0.1, 9).interval(c),
        "Results._summary": lambda c: run._summary(confidence=c),
        "Results.summary": lambda c: run.summary(confidence=c),
        "Study.summary": lambda c: study.summary("goodput_bps", confidence=c),
        "Study.compare": lambda c: study.compare("goodput_bps", one, two, confidence=c),
        "latex": lambda c: text.latex(study.summary(), confidence=c),
        "Study.rank": lambda c: study.rank("goodput_bps", "tcp.receive_window", confidence=c),
    }


def test_every_confidence_is_checked(calls: dict[str, Callable[[Any], object]]) -> None:
    assert takers(chappe) == set(calls)
    for call in calls.values():
        call(0.9)
        call(np.float32(0.9))
        for confidence in WRONG:
            with pytest.raises(ValueError, match="it must lie between 0 and 1"):
                call(confidence)


def test_confidence_is_checked_even_without_values() -> None:
    for none in (stats.Estimate.of([]), stats.Share(0.0, 0.0, -1)):
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            none.interval(95)
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        stats.quantile_t(95, 9)
