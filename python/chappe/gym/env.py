"""Gymnasium's environment of one agent."""

from typing import Any, Unpack

import gymnasium
import numpy as np
from numpy.typing import NDArray

from chappe.gym.episode import Choices, OneEpisode, Task
from chappe.gym.scenarios import Scenarios


class Env(OneEpisode, gymnasium.Env[NDArray[np.float32], Any]):
    """An agent that controls a flow, or the network, in equal steps of simulated time.

    An episode is a run. It is truncated when the time of the run is over, and terminated when a run that stops at a
    number of deliveries has delivered them. ``reset(seed=...)`` determines all that follows: the scenarios that are
    drawn, and the seeds of their runs. ``info`` of ``reset`` has the seed of the run, ``run_seed``; its options have
    no effect.

    Attributes:
        action_space: Of lists of values ``Discrete`` for a single setting, or else ``MultiDiscrete``: the index of a
            value of each. Of ranges a ``Box``: a number from -1 to 1 of each. Of both a ``Dict`` with a space for each
            setting.
        observation_space: Box of the chosen observations, in the units of their names.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, scenario: Scenarios, *, flow: int = 0, **choices: Unpack[Choices]):
        """Checks all arguments; no run begins before ``reset``.

        Args:
            scenario: A scenario, a list from which each episode draws one, or a function that draws one with a random
                number generator of NumPy.
            flow: Flow of the agent.
            choices: ``actions``, ``observations``, ``reward`` and ``step``, as in :class:`chappe.gym.Choices`.

        Raises:
            ScenarioError: If a scenario cannot be run, or a setting may not change or cannot have a value.
            ValueError: If another argument is invalid.
            TypeError: If an argument has the wrong type, is unknown or missing.
        """
        self._task = Task(scenario, [flow], choices)
        self.action_space = self._task.actions.space
        self.observation_space = self._task.observations.space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed, options=options)
        self._episode = episode = self._task.begin(self.np_random)
        return self._task.observations.seen(episode.numbers(0)), {"run_seed": episode.seed}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Acts, and advances by a step.

        Raises:
            ValueError: If the action is not in the space.
            RunError: If no episode is going on.
        """
        episode, task = self._running(), self._task
        episode.act(0, task.actions.choice(action))
        episode.advance()
        reward = task.reward(episode.row(0)[np.newaxis])
        return task.observations.seen(episode.numbers(0)), float(reward[0]), *episode.over(), {}
