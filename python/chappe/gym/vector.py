"""Gymnasium's vector environment: many runs in one process, without a layer for each."""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as _VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from chappe._common.arguments import is_whole, not_whole
from chappe.errors import RunError
from chappe.gym.episode import Choices, Episode, Task
from chappe.gym.scenarios import Scenarios
from chappe.results.look import FLOW_COLUMNS

MOST = 10_000
"""Largest number of environments: each holds the state of a run."""


class VectorEnv(_VectorEnv[NDArray[np.float32], Any, NDArray[Any]]):
    """Environments like ``Env``, stepped together.

    With ``reset(seed=s)``, environment ``i`` does what an ``Env`` does after ``reset(seed=s + i)``. An environment
    whose episode has ended begins the next one at the next step, whatever the action (``AutoresetMode.NEXT_STEP``).
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, scenario: Scenarios, num_envs: int, *, flow: int = 0, **choices: Unpack[Choices]):
        """Checks all arguments.

        Args:
            scenario: As in ``Env``.
            num_envs: Number of environments, at most 10,000.
            flow: As in ``Env``.
            choices: ``actions``, ``observations``, ``reward`` and ``step``, as in :class:`chappe.gym.Choices`.

        Raises:
            ScenarioError: If a scenario cannot be run, or a setting may not change or cannot have a value.
            ValueError: If another argument is invalid.
            TypeError: If an argument has the wrong type, is unknown or missing.
        """
        if not is_whole(num_envs, 1):
            raise ValueError(f"num_envs: {not_whole(num_envs, 1)}")
        if num_envs > MOST:
            raise ValueError(f"num_envs: {num_envs:,} environments are more than {MOST:,}, each of which holds a run")
        self._task = Task(scenario, [flow], choices)
        self.num_envs = num_envs
        self.single_action_space = self._task.actions.space
        self.single_observation_space = self._task.observations.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._random: list[np.random.Generator] = []
        self._episodes: list[Episode] = []
        self._over = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode in each environment.

        Args:
            seed: Seed of the first environment, those of the others follow; or a list of seeds; ``None``: environments
                go on drawing.
            options: Has no effect.

        Raises:
            ValueError: If there are more or fewer seeds than environments.
        """
        del options
        seeds = (
            [None if seed is None else seed + i for i in range(self.num_envs)]
            if not isinstance(seed, Sequence)
            else list(seed)
        )
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: there are {len(seeds)} seeds for {self.num_envs} environments")
        if not self._random:
            self._random = [seeding.np_random()[0] for _ in seeds]
        for i, own in enumerate(seeds):
            if own is not None:
                self._random[i] = seeding.np_random(own)[0]
        self._episodes = [self._task.begin(random) for random in self._random]
        self._over[:] = False
        numbers = np.stack([episode.numbers(0) for episode in self._episodes])
        return self._task.observations.seen(numbers), {"run_seed": np.array([e.seed for e in self._episodes])}

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Acts, and advances every environment by a step.

        Raises:
            TypeError: If the actions are no list or array, or no dict where their space is a ``Dict``.
            ValueError: If the actions are not in the space.
            RunError: Before ``reset``.
        """
        if not self._episodes:
            raise RunError("no episode has begun: call `reset` first")
        task = self._task
        choices = task.actions.choices(actions, self.num_envs)
        numbers = np.empty((self.num_envs, len(task.observations.names)))
        rows = np.empty((self.num_envs, len(FLOW_COLUMNS)))
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        begun = self._over.copy()
        for i, (choice, episode) in enumerate(zip(choices, self._episodes, strict=True)):
            if begun[i]:
                self._episodes[i] = episode = task.begin(self._random[i])
            else:
                episode.act(0, choice)
                episode.advance()
                terminated[i], truncated[i] = episode.over()
            numbers[i], rows[i] = episode.numbers(0), episode.row(0)
        rewards = task.reward(rows)
        rewards[begun] = 0.0
        self._over = terminated | truncated
        info = {"run_seed": np.array([e.seed for e in self._episodes]), "_run_seed": begun} if begun.any() else {}
        return task.observations.seen(numbers), rewards, terminated, truncated, info
