"""Scenarios of episodes: a single one, or one that is drawn for each episode."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from chappe._common.arguments import quoted
from chappe.scenario.scenario import Scenario, ScenarioLike, scenario_of

Scenarios: TypeAlias = ScenarioLike | Sequence[ScenarioLike] | Callable[[np.random.Generator], ScenarioLike]
"""A scenario, a list of scenarios with equal chances, or a function that draws one with a random number generator."""

_SEEDS = 2**31
"""Seeds of runs are drawn below this number."""


class Draw:
    """Draws the scenario and the seed of each episode."""

    def __init__(self, scenarios: Scenarios, changes: Mapping[str, Any]):
        self._changes = changes
        self._draws = scenarios if callable(scenarios) else None
        if self._draws is None:
            many = scenarios if isinstance(scenarios, list | tuple) else [scenarios]
            if not many:
                raise ValueError("the list of scenarios is empty")
            self._scenarios: list[Scenario] = [self._prepared(scenario) for scenario in many]

    def _prepared(self, scenario: Any) -> Scenario:
        found = scenario_of(scenario)
        return found.with_settings(self._changes) if self._changes else found

    def first(self, random: np.random.Generator) -> Scenario:
        """A scenario with which arguments can be checked."""
        return self._scenarios[0] if self._draws is None else self._drawn(random)

    def _drawn(self, random: np.random.Generator) -> Scenario:
        if self._draws is None:
            return self._scenarios[int(random.integers(len(self._scenarios)))]
        drawn = self._draws(random)
        try:
            return self._prepared(drawn)
        except TypeError:
            raise TypeError(f"the function that draws scenarios returned {quoted(drawn)}") from None

    def next(self, random: np.random.Generator) -> tuple[Scenario, int]:
        """Scenario of an episode with its seed set, and the seed. The generator determines both."""
        scenario = self._drawn(random)
        seed = int(random.integers(_SEEDS))
        return scenario.with_settings({"run.seed": seed}), seed
