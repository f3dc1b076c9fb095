"""Rewards of agents: by name, or a function of what a step did to the flow."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chappe._common.arguments import quoted
from chappe.results.look import FLOW_COLUMNS

RewardFunction: TypeAlias = Callable[[Mapping[str, float]], float]
"""Reward of a step from the columns of the flow, in the units of their names; NaN stands for what was not measured."""

Rows: TypeAlias = NDArray[np.float64]

_GOODPUT, _RTT = (FLOW_COLUMNS.index(name) for name in ("goodput_bps", "mean_rtt_s"))


def _goodput(rows: Rows) -> NDArray[np.float64]:
    return rows[:, _GOODPUT] / 1e6


def _power(rows: Rows) -> NDArray[np.float64]:
    rtt = rows[:, _RTT]
    return np.divide(rows[:, _GOODPUT] / 1e6, rtt, out=np.zeros(len(rows)), where=rtt > 0)


_NAMED: Mapping[str, Callable[[Rows], NDArray[np.float64]]] = {"goodput": _goodput, "power": _power}

REWARDS: Mapping[str, str] = {
    "goodput": "Goodput of the step [Mbit/s].",
    "power": "Goodput divided by the mean round-trip time of the step [Mbit/s per s], 0 if none was measured: "
    "the power of Kleinrock (ICC 1979).",
}
"""Rewards by name."""


def reward_of(reward: str | RewardFunction) -> Callable[[Rows], NDArray[np.float64]]:
    """Function from rows of flows to their rewards.

    Raises:
        ValueError: If no reward has this name.
        TypeError: If the reward is neither a name nor a function.
    """
    if isinstance(reward, str):
        if reward not in _NAMED:
            raise ValueError(f"reward: there is no {quoted(reward)}; known: {', '.join(_NAMED)}, or a function")
        return _NAMED[reward]
    if not callable(reward):
        raise TypeError(f"reward is a name or a function of the columns of a flow, not {quoted(reward)}")

    def rewards(rows: Rows) -> NDArray[np.float64]:
        found = [reward(dict(zip(FLOW_COLUMNS, row, strict=True))) for row in rows.tolist()]
        try:
            values = np.array([float(value) for value in found])
        except (TypeError, ValueError):
            raise TypeError(f"reward: the function returned {', '.join(map(quoted, found))}, no number") from None
        if not np.isfinite(values).all():
            raise ValueError(
                f"reward: the function returned {', '.join(map(quoted, found))}, no finite number; "
                "a column without a measurement in the step is NaN: test it with math.isnan"
            )
        return values

    return rewards
