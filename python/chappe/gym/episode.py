"""An episode: a run that agents advance in equal steps. What agents do and see is the same in all environments."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from chappe._common.arguments import instant, is_whole, listed, quoted
from chappe._common.words import count
from chappe.errors import RunError, ScenarioError
from chappe.gym.actions import Actions, Values
from chappe.gym.observations import DEFAULT, Observations
from chappe.gym.rewards import RewardFunction, reward_of
from chappe.gym.scenarios import Draw, Scenarios
from chappe.results.look import FLOW_COLUMNS, RADIO_COLUMNS
from chappe.results.simulation import Simulation


class Choices(TypedDict, total=False):
    """Keyword arguments of all environments: what agents do and see."""

    actions: Required[Mapping[str, Values]]
    """Settings that may change during a run, each with the values to choose from, written as in a scenario, or a
    ``Range``: ``{"tcp.fixed.window": [2, 4, 8], "queue.limit": gym.Range(2, 50)}``. Names that begin with ``tcp.`` or
    ``cbr.`` belong to the flow of the agent. An episode begins with the values of the scenario."""
    observations: str | Iterable[str]
    """Names from ``chappe.gym.OBSERVATIONS``, or of a node: ``"node.2.queue_packets"``. What was not measured is 0.
    By default the six of ``DEFAULT``: goodput, drops, round-trip times, what is outstanding, the queue."""
    reward: str | RewardFunction
    """A name from ``chappe.gym.REWARDS``, or a function of the columns of the flow; by default ``"goodput"``."""
    step: str | float
    """Length of a step, as a text with a unit or in seconds; by default ``"100 ms"``."""


class Task:
    """Actions, observations and rewards of the agents of an environment, and the scenarios of its episodes.

    Attributes:
        actions: Settings with their values.
        observations: Chosen columns of a look.
        step_ns: Length of a step [ns].
        flows: Flows of the agents.
    """

    def __init__(self, scenario: Scenarios, flows: Sequence[int] | None, choices: Choices):
        """Checks all arguments.

        Args:
            scenario: A scenario, a list from which each episode draws one, or a function that draws one with a random
                number generator of NumPy.
            flows: Flows of the agents; ``None``: all flows of the scenario.
            choices: The keyword arguments of an environment.

        Raises:
            ScenarioError: If a scenario cannot be run, or a setting may not change or cannot have a value.
            ValueError: If another argument is invalid.
            TypeError: If an argument has the wrong type, is unknown or missing.
        """
        known = ", ".join(Choices.__annotations__)
        if unknown := [name for name in choices if name not in Choices.__annotations__]:
            raise TypeError(f"there is no argument {', '.join(map(quoted, unknown))}; known: {known}")
        if "actions" not in choices:
            raise TypeError('actions is missing: name settings with their values, {"tcp.fixed.window": [2, 4, 8]}')
        step = choices.get("step", "100 ms")
        self.actions = Actions(choices["actions"])
        self.observations = Observations(choices.get("observations", DEFAULT))
        self.reward = reward_of(choices.get("reward", "goodput"))
        self.step_ns = instant(step)
        if self.step_ns == 0:
            raise ValueError(f"step: {quoted(step)} is no length of time")
        self._draw = Draw(scenario, {"run.airtime": True} if self.observations.airtime else {})
        first = self._draw.first(np.random.default_rng(0))
        ends = first._core.flows()
        self.flows = list(range(len(ends))) if flows is None else listed(flows)
        if not self.flows or not all(is_whole(flow, 0) for flow in self.flows) or len({*self.flows}) < len(self.flows):
            raise ValueError(f"flows: {quoted(flows)} is no list of different numbers of flows")
        if len(self.flows) > 1 and (shared := self.actions.shared()):
            raise ValueError(
                f"actions: {', '.join(map(quoted, shared))} belongs to no flow, and there are several agents"
            )
        wrong = self._wrong(Episode(self, Simulation(first), 0))
        if wrong:
            raise (
                wrong[0]
                if len(wrong) == 1
                else ScenarioError(
                    [problem for e in wrong for problem in e.problems], "\n\n".join(dict.fromkeys(map(str, wrong)))
                )
            )

    def _wrong(self, episode: "Episode") -> list[ScenarioError]:
        core = episode.simulation.copy()._core
        return [e for flow in self.flows for e in self.actions.check(core, flow)]

    def begin(self, random: np.random.Generator) -> "Episode":
        """Begins an episode, whose scenario and seed the generator determines."""
        scenario, seed = self._draw.next(random)
        return Episode(self, Simulation(scenario), seed)


class Over(NamedTuple):
    """End of an episode."""

    terminated: bool
    """The run has delivered all packets of its stop rule, or can go on no more."""
    truncated: bool
    """The time of the run is over."""


class Episode:
    """A run that agents advance.

    Attributes:
        simulation: The run.
        seed: Its seed.
    """

    def __init__(self, task: Task, simulation: Simulation, seed: int):
        self.simulation = simulation
        self.seed = seed
        self._task = task
        self._core = simulation._core
        self._at_ns = 0
        ends = simulation.scenario._core.flows()
        absent = [flow for flow in task.flows if flow >= len(ends)]
        if absent:
            raise ValueError(
                f"flow {absent[0]} of an agent is not in the scenario, which has {count(len(ends), 'flow')}"
            )
        self._look()
        radios = (len(self._numbers) - len(ends) * len(FLOW_COLUMNS)) // len(RADIO_COLUMNS)
        self._places = [task.observations.places(flow, ends[flow][0], len(ends), radios) for flow in task.flows]
        self._rows = [slice(flow * len(FLOW_COLUMNS), (flow + 1) * len(FLOW_COLUMNS)) for flow in task.flows]
        self._commands = [task.actions.for_flow(flow) for flow in task.flows]
        self._set: list[list[Any]] = [[None] * len(task.actions.values) for _ in task.flows]
        self._ended = False

    def __deepcopy__(self, memo: dict[int, Any]) -> "Episode":
        other = object.__new__(Episode)
        simulation = self.simulation.copy()
        memo |= {id(self): other, id(self.simulation): simulation, id(self._core): simulation._core}
        other.__dict__ |= copy.deepcopy(self.__dict__, memo)
        return other

    def _check_running(self) -> None:
        """Refuses an episode that has ended.

        Raises:
            RunError: If it has.
        """
        if self._ended:
            raise RunError("the episode has ended: call `reset`")

    def act(self, agent: int, choice: Sequence[Any]) -> None:
        """Sets the settings of an agent to the chosen values; those that have their values stay.

        Raises:
            RunError: If the episode has ended.
        """
        self._check_running()
        before, commands = self._set[agent], self._commands[agent]
        for i, value in enumerate(choice):
            if before[i] != value:
                self._core.apply(commands[i].to(value))
                before[i] = value

    def advance(self) -> None:
        """Advances by a step.

        Raises:
            RunError: If the episode has ended.
        """
        self._check_running()
        self._at_ns += self._task.step_ns
        self._core.until(self._at_ns, None, False)
        self._look()

    def _look(self) -> None:
        _, _, flows, radios = self._core.look()
        self._numbers = np.frombuffer(flows + radios)

    def numbers(self, agent: int) -> NDArray[np.float64]:
        """Observations of an agent as they were measured."""
        return self._numbers[self._places[agent]]

    def row(self, agent: int) -> NDArray[np.float64]:
        """Columns of the flow of an agent."""
        return self._numbers[self._rows[agent]]

    def over(self) -> Over:
        """End of the episode, if it has ended."""
        end = self._core.end
        if end == "running":
            return _GOES_ON
        self._ended = True
        delivers = str(self.simulation.scenario.settings["run"]["stop"]).endswith("delivered")
        terminated = end == "idle" or (end == "done" and delivers)
        return Over(terminated, not terminated)


_GOES_ON = Over(False, False)


class OneEpisode:
    """Base of environments with one episode at a time."""

    _episode: Episode | None = None

    @property
    def simulation(self) -> Simulation:
        """The run of the episode.

        Raises:
            RunError: Before the first ``reset``.
        """
        return self._running().simulation

    def _running(self) -> Episode:
        if self._episode is None:
            raise RunError("no episode has begun: call `reset` first")
        return self._episode
