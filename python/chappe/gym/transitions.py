"""Recorded steps of environments, as a table and as a Parquet file."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import polars as pl
from gymnasium.vector import VectorWrapper
from numpy.typing import NDArray
from pettingzoo.utils import BaseParallelWrapper

from chappe._common import outputs
from chappe._common.arguments import path_of
from chappe.gym.actions import Range
from chappe.gym.env import Env
from chappe.gym.episode import Episode, Over, Task
from chappe.gym.parallel import ParallelEnv, Seen
from chappe.gym.vector import VectorEnv
from chappe.results.storage import metadata, tables


class _Recorded:
    """What all wrappers that record have: the rows, as a table and as a file."""

    _task: Task
    _who: tuple[str, ...]
    """Column that tells who has acted, if there are several."""
    _rows: list[tuple[Any, ...]]

    def _record(self, env: Any, kind: type[Env | VectorEnv | ParallelEnv], who: tuple[str, ...] = ()) -> None:
        """Begins to record an environment.

        Raises:
            TypeError: If it is of another kind.
        """
        if not isinstance(env, kind):
            raise TypeError(f"{type(self).__name__} record a {kind.__name__} of chappe.gym, not {env}")
        self._task, self._who, self._rows = env._task, who, []

    def _note(
        self,
        who: tuple[Any, ...],
        of: tuple[int, int],
        episode: Episode,
        choice: Sequence[Any] | None,
        reward: float | None,
        over: Over,
        seen: NDArray[np.float32],
    ) -> None:
        """Adds a row: number of an episode and of its step, what an agent has chosen, and what followed."""
        actions = self._task.actions
        chosen = [None] * len(actions.values) if choice is None else actions.chosen(choice)
        run = (*of, episode.seed, episode.simulation.time_s)
        self._rows.append((*who, *run, *chosen, reward, *over, *seen.tolist()))

    def table(self) -> pl.DataFrame:
        """All steps so far."""
        of_run = ("episode", "step", "run_seed", "time_s")
        of_step = (*self._task.actions.values, "reward", "terminated", "truncated", *self._task.observations.names)
        return pl.DataFrame(self._rows, [*self._who, *of_run, *of_step], orient="row", infer_schema_length=None)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes all steps so far to a Parquet file, whose metadata has the units, and replaces an earlier one.

        Raises:
            FileExistsError: If the file is there, and was not written by Chappe.
            OSError: If it cannot be written.
        """
        file, table = path_of("path", path), self.table()
        outputs.refuse(file, outputs.TABLE)
        units = {name: values.unit for name, values in self._task.actions.values.items() if isinstance(values, Range)}
        tables.write(table, file, {**metadata.of_columns(table.columns, units), outputs.TABLE_MARK: "true"})
        return file


_GOES_ON = Over(False, False)


class Transitions(_Recorded, gymnasium.Wrapper[NDArray[np.float32], Any, NDArray[np.float32], Any]):
    """An ``Env`` whose steps are recorded.

    Each row is a step: what the agent set, and what it saw at its end. Row 0 of an episode is its ``reset``, without
    action and reward. Columns: ``episode`` and ``step`` from 0; ``run_seed``; ``time_s``, the end of the step; a column
    for each setting with the value that was set, of a ``Range`` in its unit; ``reward``; ``terminated`` and
    ``truncated``; the observations, with their units in their names.

    ::

        env = gym.Transitions(gym.Env("scenarios/chain.toml", actions={"tcp.max_cwnd": [2, 4, 8]}))
        ...
        env.write("transitions.parquet")
    """

    def __init__(self, env: Env):
        """Takes an environment that no other wrapper changes.

        Raises:
            TypeError: If it is no ``Env``.
        """
        self._record(env, Env)
        super().__init__(env)
        self._env = env
        self._at = (-1, 0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode."""
        seen, info = self._env.reset(seed=seed, options=options)
        self._at = (self._at[0] + 1, 0)
        self._note((), self._at, self._env._running(), None, None, _GOES_ON, seen)
        return seen, info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Acts, and advances by a step."""
        seen, reward, terminated, truncated, info = self._env.step(action)
        self._at = (self._at[0], self._at[1] + 1)
        choice = self._task.actions.choice(action)
        self._note((), self._at, self._env._running(), choice, reward, Over(terminated, truncated), seen)
        return seen, reward, terminated, truncated, info


class VectorTransitions(_Recorded, VectorWrapper[NDArray[np.float32], Any, NDArray[np.float32], Any, NDArray[Any]]):
    """A ``VectorEnv`` whose steps are recorded, as ``Transitions`` does it.

    The first column is ``environment``, from 0. A step that begins an episode is its row 0.
    """

    def __init__(self, env: VectorEnv):
        """Takes an environment that no other wrapper changes.

        Raises:
            TypeError: If it is no ``VectorEnv``.
        """
        self._record(env, VectorEnv, ("environment",))
        super().__init__(env)
        self._env = env
        self._at = [(-1, 0)] * env.num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode in each environment."""
        seen, info = self._env.reset(seed=seed, options=options)
        for i, own in enumerate(seen):
            self._begin(i, own)
        return seen, info

    def _begin(self, i: int, seen: NDArray[np.float32]) -> None:
        self._at[i] = (self._at[i][0] + 1, 0)
        self._note((i,), self._at[i], self._env._episodes[i], None, None, _GOES_ON, seen)

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Acts, and advances every environment by a step."""
        begins = self._env._over.copy()
        seen, rewards, terminated, truncated, info = self._env.step(actions)
        for i, choice in enumerate(self._task.actions.choices(actions, self._env.num_envs)):
            if begins[i]:
                self._begin(i, seen[i])
                continue
            episode, step = self._at[i]
            self._at[i] = (episode, step + 1)
            over = Over(bool(terminated[i]), bool(truncated[i]))
            self._note((i,), self._at[i], self._env._episodes[i], choice, float(rewards[i]), over, seen[i])
        return seen, rewards, terminated, truncated, info


class ParallelTransitions(_Recorded, BaseParallelWrapper):  # type: ignore[misc]  # it has no types
    """A ``ParallelEnv`` whose steps are recorded, as ``Transitions`` does it.

    The first column is ``agent``, its name. Each step has a row for every agent; one that has not acted has no values.
    """

    def __init__(self, env: ParallelEnv):
        """Takes an environment that no other wrapper changes.

        Raises:
            TypeError: If it is no ``ParallelEnv``.
        """
        self._record(env, ParallelEnv, ("agent",))
        super().__init__(env)
        self._env = env
        self._at = (-1, 0)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, dict[str, Any]]]:
        """Begins an episode of all agents."""
        seen, infos = self._env.reset(seed=seed, options=options)
        self._at = (self._at[0] + 1, 0)
        for agent, own in seen.items():
            self._note((agent,), self._at, self._env._running(), None, None, _GOES_ON, own)
        return seen, infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """All agents act, and the run advances by a step."""
        seen, rewards, terminated, truncated, infos = self._env.step(actions)
        self._at = (self._at[0], self._at[1] + 1)
        for agent, own in seen.items():
            choice = self._task.actions.choice(actions[agent]) if agent in actions else None
            over = Over(terminated[agent], truncated[agent])
            self._note((agent,), self._at, self._env._running(), choice, rewards[agent], over, own)
        return seen, rewards, terminated, truncated, infos
