"""PettingZoo's parallel environment: an agent for each of several flows of a run."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv as _ParallelEnv

from chappe._common.arguments import quoted
from chappe.gym.episode import Choices, Episode, OneEpisode, Task
from chappe.gym.scenarios import Scenarios

Seen = dict[str, NDArray[np.float32]]


class ParallelEnv(OneEpisode, _ParallelEnv[str, NDArray[np.float32], Any]):  # type: ignore[misc]  # it has no types
    """Several agents, each with a flow of its own, that act at the same time.

    The agents are ``flow_0``, ``flow_1`` and so on, by the numbers of their flows. They act in that order, and all
    episodes end together; otherwise each is an agent of ``Env``.

    Attributes:
        possible_agents: Names of all agents.
        agents: Names of the agents while an episode goes on.
    """

    metadata: dict[str, Any] = {"name": "chappe", "render_modes": []}  # noqa: RUF012, as PettingZoo declares it

    def __init__(self, scenario: Scenarios, *, flows: Sequence[int] | None = None, **choices: Unpack[Choices]):
        """Checks all arguments.

        Args:
            scenario: As in ``Env``.
            flows: Flows of the agents; ``None``: all flows of the scenario.
            choices: ``actions``, ``observations``, ``reward`` and ``step``, as in :class:`chappe.gym.Choices`; with
                several agents all settings belong to flows.

        Raises:
            ScenarioError: If a scenario cannot be run, or a setting may not change or cannot have a value.
            ValueError: If another argument is invalid.
            TypeError: If an argument has the wrong type, is unknown or missing.
        """
        self._task = Task(scenario, flows, choices)
        self.possible_agents = [f"flow_{flow}" for flow in self._task.flows]
        self.agents: list[str] = []
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Box:  # noqa: ARG002, all agents have the same
        """Box of the chosen observations, in the units of their names."""
        return self._task.observations.space

    def action_space(self, agent: str) -> spaces.Space[Any]:  # noqa: ARG002
        """Space of an action, as in ``Env``."""
        return self._task.actions.space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, dict[str, Any]]]:
        """Begins an episode of all agents. ``options`` have no effect."""
        del options
        if self._random is None or seed is not None:
            self._random = seeding.np_random(seed)[0]
        self._episode = episode = self._task.begin(self._random)
        self.agents = list(self.possible_agents)
        return self._seen(episode), {agent: {"run_seed": episode.seed} for agent in self.agents}

    def _seen(self, episode: Episode) -> Seen:
        seen = self._task.observations.seen
        return {agent: seen(episode.numbers(i)) for i, agent in enumerate(self.possible_agents)}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """All agents act, and the run advances by a step. An agent without an action changes nothing.

        Raises:
            TypeError: If the actions are no dict.
            ValueError: If an agent is unknown, or an action is not in its space.
            RunError: If no episode is going on.
        """
        episode, task, agents = self._running(), self._task, self.possible_agents
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions is a dict of agents and their actions, not {quoted(actions)}")
        if unknown := [agent for agent in actions if agent not in agents]:
            raise ValueError(f"there is no agent {unknown[0]!r}; known: {', '.join(agents)}")
        choices = {agent: task.actions.choice(action) for agent, action in actions.items()}
        for i, agent in enumerate(agents):
            if agent in choices:
                episode.act(i, choices[agent])
        episode.advance()
        rewards = task.reward(np.stack([episode.row(i) for i in range(len(agents))])).tolist()
        over = episode.over()
        self.agents = [] if any(over) else list(agents)
        return (
            self._seen(episode),
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, over.terminated),
            dict.fromkeys(agents, over.truncated),
            {agent: {} for agent in agents},
        )
