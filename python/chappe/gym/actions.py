"""Actions of agents: settings that may change during a run, each with the values among which an agent chooses."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from chappe import _core
from chappe._common.arguments import listed, mapping_of, quoted
from chappe._common.words import count
from chappe.errors import ScenarioError
from chappe.scenario.scenario import _plain

OF_FLOW = ("cbr.", "tcp.")
"""Begins of names of settings that belong to the flow of an agent."""


@dataclass(frozen=True)
class Range:
    """All values of a setting from ``low`` to ``high``: ``Range(1, 64)``, ``Range(0.1, 5, "Mbit/s")``.

    An agent chooses a number from -1 (``low``) to 1 (``high``), as libraries for learning prefer it. Values are whole
    numbers if both ends are and there is no unit.

    Attributes:
        low: Smallest value.
        high: Largest value.
        unit: Unit of the values, as in a scenario; empty: the setting is a number.

    Raises:
        TypeError: If an end is no number, or the unit no text.
        ValueError: If ``low`` is not below ``high``, or an end is infinite.
    """

    low: float
    high: float
    unit: str = ""

    def __post_init__(self) -> None:
        if any(isinstance(end, bool) or not isinstance(end, int | float) for end in (self.low, self.high)):
            raise TypeError(f"the ends of a Range are numbers, not {quoted(self.low)} and {quoted(self.high)}")
        if not isinstance(self.unit, str):
            raise TypeError(f'the unit of a Range is a text such as "Mbit/s", not {quoted(self.unit)}')
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"a Range goes from a number to a larger one, not from {self.low} to {self.high}")

    @property
    def is_whole(self) -> bool:
        """True if values are whole numbers."""
        return not self.unit and isinstance(self.low, int) and isinstance(self.high, int)

    def written(self, value: float) -> str:
        """A value as JSON, as in a scenario."""
        return json.dumps(f"{value} {self.unit}") if self.unit else repr(value)


Values: TypeAlias = Iterable[Any] | Range
"""The values of a setting: a list, or a range."""


class Actions:
    """Settings with their values.

    Attributes:
        values: Values of each setting, by the name that the agent's program gave.
        space: Space of an action. Of lists of values ``Discrete`` for a single setting, or else ``MultiDiscrete``: the
            index of a value of each. Of ranges a ``Box``: a number from -1 to 1 of each. Of both a ``Dict`` with a
            ``Discrete`` or a ``Box`` for each setting.
    """

    def __init__(self, actions: Mapping[str, Values]):
        found = {name: self._values(name, values) for name, values in mapping_of("actions", actions).items()}
        if not found:
            raise ValueError('actions: name a setting with its values, such as {"tcp.fixed.window": [2, 4, 8]}')
        self.values: dict[str, list[Any] | Range] = found
        self.space = _space(found)
        self._ranges = [values if isinstance(values, Range) else None for values in found.values()]
        self._most = [1 if isinstance(values, Range) else len(values) - 1 for values in found.values()]

    @staticmethod
    def _values(name: object, values: object) -> list[Any] | Range:
        if not isinstance(name, str):
            raise TypeError(f"actions: {quoted(name)} is no name of a setting")
        if isinstance(values, Range):
            return values
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"actions: {quoted(name)} has a list of values or a Range, not {quoted(values)}")
        found = [value.item() if isinstance(value, np.generic) else value for value in listed(values)]
        if not found:
            raise ValueError(f"actions: {quoted(name)} has no values to choose from")
        return found

    def shared(self) -> list[str]:
        """Settings that belong to no flow."""
        return [name for name in self.values if not name.startswith(OF_FLOW)]

    def for_flow(self, flow: int) -> list["Command"]:
        """Commands of a run for an agent with this flow, one for each setting."""
        return [
            Command(f"flow.{flow}.{name}" if name.startswith(OF_FLOW) else name, values)
            for name, values in self.values.items()
        ]

    def check(self, core: _core.Run, flow: int) -> list[ScenarioError]:
        """Applies all commands to a run that is thrown away, those of ranges at both ends.

        Returns:
            Errors of settings that may not change, or cannot have a value.
        """
        wrong = []
        for command in self.for_flow(flow):
            for choice in command.all():
                try:
                    core.apply(command.to(choice))
                except ScenarioError as e:
                    wrong.append(e)
        return wrong

    def chosen(self, choice: Sequence[Any]) -> list[Any]:
        """Values that are set by a choice; those of ranges in their units."""
        pairs = zip(self.values.values(), choice, strict=True)
        return [of if isinstance(values, Range) else values[of] for values, of in pairs]

    def choice(self, action: Any) -> list[Any]:
        """What an agent chooses of each setting: the index of a value, or a value of a range.

        Raises:
            ValueError: If the action is not in the space.
        """
        is_named = isinstance(self.space, spaces.Dict) and isinstance(action, Mapping)
        return self.choices({name: [value] for name, value in action.items()} if is_named else [action], 1)[0]

    def choices(self, actions: Any, agents: int) -> list[list[Any]]:
        """The same for many agents, whose actions are batched as Gymnasium does.

        Raises:
            TypeError: If the actions are no list or array, or no dict where the space is a ``Dict``.
            ValueError: If an action is not in the space, or there are more or fewer than agents.
        """
        if isinstance(self.space, spaces.Dict):
            if not isinstance(actions, Mapping):
                raise TypeError(f"actions is a dict with a number for each setting, not {quoted(actions)}")
            parts = [actions[name] for name in self.values] if actions.keys() == self.values.keys() else []
        else:
            parts = [actions]
        columns = [column for part in parts for column in _columns(part, agents)]
        if len(columns) != len(self._ranges):
            raise self._outside(actions)
        return [list(row) for row in zip(*map(self._column, columns, self._ranges, self._most), strict=True)]

    def _column(self, column: NDArray[Any], range_: Range | None, most: int) -> list[Any]:
        """What agents choose of a setting."""
        low = 0 if range_ is None else -1
        fits = column.dtype.kind in ("iu" if range_ is None else "iuf")
        if not fits or not ((column >= low) & (column <= most)).all():
            raise self._outside(column.tolist())
        if range_ is None:
            return list(column.tolist())
        values = range_.low + (column.astype(np.float64) + 1.0) / 2.0 * (range_.high - range_.low)
        return list((np.rint(values).astype(np.int64) if range_.is_whole else values).tolist())

    def _outside(self, actions: Any) -> ValueError:
        return ValueError(f"an action is not in {self.space}: {quoted(actions)}")


def _space(values: Mapping[str, list[Any] | Range]) -> spaces.Space[Any]:
    sizes = [len(own) for own in values.values() if not isinstance(own, Range)]
    if not sizes:
        return spaces.Box(-1.0, 1.0, (len(values),))
    if len(sizes) < len(values):
        return spaces.Dict({name: _space({"": own}) for name, own in values.items()})
    return spaces.Discrete(sizes[0]) if len(sizes) == 1 else spaces.MultiDiscrete(sizes)


def _columns(part: Any, agents: int) -> list[NDArray[Any]]:
    """Numbers of all agents for each of one or several settings; none if the numbers are not as many for each agent."""
    try:
        given = len(part)
    except TypeError:
        raise TypeError(f"actions are one for each environment, not {quoted(part)}") from None
    if given != agents:
        raise ValueError(f"there are {count(given, 'action')} for {count(agents, 'environment')}")
    try:
        return list(np.asarray(part).reshape(agents, -1).T)
    except ValueError:
        return []


class Command:
    """Commands that set a setting."""

    def __init__(self, setting: str, values: list[Any] | Range):
        self._begin = f'{{"action": "set", "setting": {json.dumps(setting)}, "value": '
        self._range = values if isinstance(values, Range) else None
        self._listed = [] if isinstance(values, Range) else [self._with(json.dumps(_plain(v))) for v in values]

    def _with(self, value: str) -> str:
        """The command with a value as JSON."""
        return f"{self._begin}{value}}}"

    def all(self) -> Sequence[Any]:
        """All choices; of a range its ends."""
        return range(len(self._listed)) if self._range is None else (self._range.low, self._range.high)

    def to(self, choice: Any) -> str:
        """The command for what an agent chooses."""
        return self._listed[choice] if self._range is None else self._with(self._range.written(choice))
