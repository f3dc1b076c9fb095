"""Actions of agents: settings that may change during a run, each with the values among which an agent chooses."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from chappe import _core
from chappe._common.arguments import listed, mapping_of, quoted
from chappe.errors import ScenarioError
from chappe.scenario.scenario import _json

OF_FLOW = ("cbr.", "tcp.")
"""Begins of names of settings that belong to the flow of an agent."""


class Actions:
    """Settings with their values.

    Attributes:
        values: Values of each setting, by the name that the agent's program gave.
        space: ``Discrete`` for a single setting, or else ``MultiDiscrete``: the index of a value of each.
    """

    def __init__(self, actions: Mapping[str, Iterable[Any]]):
        found = {name: self._values(name, values) for name, values in mapping_of("actions", actions).items()}
        if not found:
            raise ValueError('actions: name a setting with its values, such as {"tcp.fixed.window": [2, 4, 8]}')
        self.values: dict[str, list[Any]] = found
        self._sizes = sizes = [len(values) for values in found.values()]
        self.space: spaces.Discrete | spaces.MultiDiscrete = (
            spaces.Discrete(sizes[0]) if len(sizes) == 1 else spaces.MultiDiscrete(sizes)
        )

    @staticmethod
    def _values(name: object, values: object) -> list[Any]:
        if not isinstance(name, str):
            raise TypeError(f"actions: {quoted(name)} is no name of a setting")
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"actions: {quoted(name)} has a list of values, not {quoted(values)}")
        found = [value.item() if isinstance(value, np.generic) else value for value in listed(values)]
        if not found:
            raise ValueError(f"actions: {quoted(name)} has no values to choose from")
        return found

    def shared(self) -> list[str]:
        """Settings that belong to no flow."""
        return [name for name in self.values if not name.startswith(OF_FLOW)]

    def for_flow(self, flow: int) -> list[list[str]]:
        """Commands of a run for an agent with this flow: for each setting, one for each value."""
        return [
            [
                _json(
                    {
                        "action": "set",
                        "setting": f"flow.{flow}.{name}" if name.startswith(OF_FLOW) else name,
                        "value": v,
                    }
                )
                for v in values
            ]
            for name, values in self.values.items()
        ]

    def check(self, core: _core.Run, flow: int) -> list[ScenarioError]:
        """Applies all commands to a run that is thrown away.

        Returns:
            Errors of settings that may not change, or cannot have a value.
        """
        wrong = []
        for commands in self.for_flow(flow):
            for command in commands:
                try:
                    core.apply(command)
                except ScenarioError as e:
                    wrong.append(e)
        return wrong

    def choice(self, action: Any) -> list[int]:
        """Index of the value of each setting.

        Raises:
            ValueError: If the action is not in the space.
        """
        return self.choices([action])[0]

    def choices(self, actions: Any) -> list[list[int]]:
        """The same for many agents.

        Raises:
            ValueError: If an action is not in the space.
        """
        try:
            found = np.asarray(actions).reshape(len(actions), -1)
        except ValueError:
            found = np.empty((len(actions), 0))
        fits = found.shape[1] == len(self._sizes) and found.dtype.kind in "iu"
        if not fits or (found < 0).any() or (found >= self._sizes).any():
            raise ValueError(f"an action is not in {self.space}: {quoted(actions)}")
        chosen: list[list[int]] = found.tolist()
        return chosen
