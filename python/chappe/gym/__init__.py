"""Environments for agents that learn to control a run: Gymnasium's, a vector of them, and PettingZoo's parallel one.

An agent acts in equal steps of simulated time: it changes settings that may change during a run, and sees what
:meth:`chappe.Simulation.look` sees of the step::

    from chappe import gym

    env = gym.Env("scenarios/chain.toml", actions={"tcp.fixed.window": [2, 4, 8, 16]}, step="100 ms")

All environments have the arguments of :class:`Choices`.

The packages come with the extra ``chappe[gym]``.
"""

try:
    import gymnasium as _gymnasium  # noqa: F401
    import pettingzoo as _pettingzoo  # noqa: F401
except ModuleNotFoundError as e:
    if e.name not in ("gymnasium", "pettingzoo"):
        raise
    raise ModuleNotFoundError(
        f'chappe.gym needs the package {e.name}, which comes with an extra: pip install "chappe[gym]"', name=e.name
    ) from None

from chappe.gym.actions import Range
from chappe.gym.env import Env
from chappe.gym.episode import Choices
from chappe.gym.observations import OBSERVATIONS
from chappe.gym.parallel import ParallelEnv
from chappe.gym.rewards import REWARDS
from chappe.gym.transitions import ParallelTransitions, Transitions, VectorTransitions
from chappe.gym.vector import VectorEnv

__all__ = [
    "OBSERVATIONS",
    "REWARDS",
    "Choices",
    "Env",
    "ParallelEnv",
    "ParallelTransitions",
    "Range",
    "Transitions",
    "VectorEnv",
    "VectorTransitions",
]
