"""Recorded steps of an environment, as a table and as a Parquet file."""

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe._common import outputs
from chappe._common.arguments import path_of
from chappe.gym.env import Env
from chappe.results.storage import metadata, tables


class Transitions(gymnasium.Wrapper[NDArray[np.float32], Any, NDArray[np.float32], Any]):
    """An ``Env`` whose steps are recorded.

    Each row is a step: what the agent set, and what it saw at its end. Row 0 of an episode is its ``reset``, without
    action and reward. Columns: ``episode`` and ``step`` from 0; ``run_seed``; ``time_s``, the end of the step; a column
    for each setting with the value that was set; ``reward``; ``terminated`` and ``truncated``; the observations, with
    their units in their names.

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
        if not isinstance(env, Env):
            raise TypeError(f"Transitions record an Env of chappe.gym, not {env}")
        super().__init__(env)
        self._env = env
        self._rows: list[tuple[Any, ...]] = []
        self._episode, self._step, self._seed = -1, 0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode."""
        seen, info = self._env.reset(seed=seed, options=options)
        self._episode, self._step, self._seed = self._episode + 1, 0, info["run_seed"]
        none = (None,) * (len(self._env._task.actions.values) + 1)
        self._note(none, (False, False), seen)
        return seen, info

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Acts, and advances by a step."""
        seen, reward, terminated, truncated, info = self._env.step(action)
        actions = self._env._task.actions
        self._step += 1
        values = [own[i] for own, i in zip(actions.values.values(), actions.choice(action), strict=True)]
        self._note((*values, reward), (terminated, truncated), seen)
        return seen, reward, terminated, truncated, info

    def _note(self, action: tuple[Any, ...], over: tuple[bool, bool], seen: NDArray[np.float32]) -> None:
        of_step = (self._episode, self._step, self._seed, self._env.simulation.time_s)
        self._rows.append((*of_step, *action, *over, *seen.tolist()))

    def table(self) -> pl.DataFrame:
        """All steps so far."""
        task = self._env._task
        names = ["episode", "step", "run_seed", "time_s", *task.actions.values, "reward", "terminated", "truncated"]
        return pl.DataFrame(self._rows, [*names, *task.observations.names], orient="row", infer_schema_length=None)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes all steps so far to a Parquet file, whose metadata has the units, and replaces an earlier one.

        Raises:
            FileExistsError: If the file is there, and was not written by Chappe.
            OSError: If it cannot be written.
        """
        file, table = path_of("path", path), self.table()
        outputs.refuse(file, outputs.TABLE)
        tables.write(table, file, {**metadata.of_columns(table.columns), outputs.TABLE_MARK: "true"})
        return file
