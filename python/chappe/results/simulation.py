"""Interactive runs: driven step by step, observed and changed on the way."""

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import polars as pl

from chappe import _core
from chappe._common.arguments import instant, is_whole, quoted
from chappe._common.notices import UNUSED, tell
from chappe._common.progress import Progress, followed
from chappe.errors import RunError
from chappe.results.endpoints import Endpoint, Event, events_of
from chappe.results.programs.quic import refusal
from chappe.results.results import Results
from chappe.results.storage.recorded import frame
from chappe.scenario.scenario import Scenario, ScenarioLike, _json, scenario_of

if TYPE_CHECKING:
    from chappe.results.look import Look

Action = Literal["node_down", "node_up", "wired_link_down", "wired_link_up", "node_move", "flow_start", "flow_stop"]
"""Changes of a simulation, apart from settings."""

_SUBJECTS: dict[str, str] = {
    "node_down": "node",
    "node_up": "node",
    "wired_link_down": "wired_link",
    "wired_link_up": "wired_link",
    "node_move": "node",
    "flow_start": "flow",
    "flow_stop": "flow",
}
"""Required argument by action."""


class Simulation:
    """A run that advances on request.

    :func:`chappe.start` creates a simulation::

        with chappe.start(scenario, seed=1) as sim:
            sim.run_until("3 s")
            sim.apply("node_down", node=2)
            sim.run_until("5 s")
            print(sim.results().flows["goodput_bps"])
            results = sim.finish()

    A change at an instant has the same effect as an ``[[event]]`` of the scenario at that instant, to the last bit. A
    paused simulation has processed all events up to the current instant; before the first :meth:`run_until` no event
    has happened.

    A congestion control in Python that raises, or returns no window, ends what advances the run by
    :class:`chappe.RunError`.

    One thread at a time drives a simulation. Other threads may read :attr:`time_s` and :attr:`progress`, and call
    :meth:`cancel`.

    Attributes:
        scenario: The scenario with the seed of the run.
    """

    def __init__(self, scenario: Scenario, *, _core_of_copy: _core.Run | None = None):
        if scenario._core.is_quic():
            help_ = 'use chappe.run; set quic.congestion_control = "none" to drive external flows yourself'
            raise refusal("quic.congestion_control", "a run with QUIC cannot be driven", help_)
        self.scenario = scenario
        self._core = _core.Run(scenario._core, scenario._rules()) if _core_of_copy is None else _core_of_copy
        self._has_other_rates = False
        self._events: deque[Event] = deque()

    def copy(self) -> "Simulation":
        """A copy of the run at its present instant, which goes on independently of this one.

        Driven in the same way, both have the same results to the last bit. The copy has the rows recorded so far, the
        events that were not taken, the last look, and copies of the objects of rules in Python, made by
        :func:`copy.deepcopy`. Endpoints belong to the run that made them: the program takes
        those of the copy from its :meth:`endpoint`, and copies its own state.

        ::

            now = [4, 8, 16]
            ahead = [sim.copy() for _ in now]
            for copy, window in zip(ahead, now):
                copy.set("flow.0.tcp.fixed.window", window)
                copy.run_until(sim.time_s + 1)

        Raises:
            RunError: If another thread drives the run, or the object of a rule cannot be copied.
        """
        self._check_still()
        copy = Simulation(self.scenario, _core_of_copy=self._core.copy())
        copy._has_other_rates = self._has_other_rates
        copy._events = self._events.copy()
        return copy

    def __copy__(self) -> "Simulation":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> "Simulation":
        return self.copy()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a run that goes on cannot be pickled: start it in the process that drives it")

    # ---- advancing ----

    def run_until(self, at: str | float, *, progress: Progress = False) -> bool:
        """Advances to an instant, or to the end of the run if the run ends before.

        A run that waits for deliveries and has no events left pauses once, for a command. If it is advanced without a
        command, it ended when the last event was processed, as with :func:`chappe.run`.

        Args:
            at: Instant from the start of the run: text with a unit, ``"3 s"``, or a number [s].
            progress: True for a progress bar, or a function called several times a second with the completed share
                of the run, from 0 to 1.

        Returns:
            True if the run can go on, false if it has ended.

        Raises:
            ValueError: If the instant has passed or is invalid.
            RunError: If another thread drives the run.
            LimitError: If the run needs more memory than ``run.max_memory``.
            TypeError: If an argument has the wrong type.
        """
        ns = instant(at)
        if self.done:
            return False
        if ns < self._core.now_ns:
            raise ValueError(f"the run is at {self.time_s:g} s and cannot go back to {quoted(at)}")
        self._drive(ns, progress)
        return not self.done

    def finish(self, *, progress: Progress = False) -> Results:
        """Advances to the end of the run.

        Args:
            progress: As in :meth:`run_until`.

        Returns:
            Results of the run.

        Raises:
            RunError: If another thread drives the run.
            LimitError: If the run needs more memory than ``run.max_memory``.
            TypeError: If an argument has the wrong type.
        """
        self._drive(None, progress)
        return self.results()

    def _drive(self, ns: int | None, progress: Progress) -> None:
        with followed(progress, "Run") as update:
            self._check_still()
            self._core.until(ns, update, False)

    def events(self, *, until: str | float | None = None) -> Iterator[Event]:
        """Advances from event to event of external flows (``app = "external"``) and of their endpoints.

        ::

            sender = sim.endpoint(0)
            sender.send(1200, tag=0)
            for event in sim.events(until="10 s"):
                if event.kind == "arrived":
                    sender.send(1200, tag=event.tag + 1)

        At each event the run has done all that was due by its instant. Events of one instant come in the order in which
        they happened, timers last; what the program does follows them. :meth:`run_until` keeps events for later.

        Args:
            until: Instant at which the iteration ends, if the run does not end before; ``None``: with the run.

        Raises:
            ValueError: If the instant is invalid.
            RunError: If another thread drives the run.
            LimitError: If the run needs more memory than ``run.max_memory``.
            TypeError: If an argument has the wrong type.
        """
        return self._told(None if until is None else instant(until))

    def _told(self, ns: int | None) -> Iterator[Event]:
        while True:
            if not self._events:
                self._check_still()
                self._events.extend(events_of(self._core))
            if not self._events:
                self._core.until(ns, None, True)
                self._events.extend(events_of(self._core))
            if not self._events:
                return
            yield self._events.popleft()

    def _check_still(self) -> str:
        try:
            return self._core.end
        except RuntimeError:
            pass
        raise RunError("the run is being driven by another thread; wait until it pauses")

    # ---- changing ----

    def endpoint(self, node: int | str) -> Endpoint:
        """The endpoint of external flows at a node, with which a program sends datagrams and sets a timer.

        Args:
            node: Number or name of a node at which an external flow begins or ends.

        Raises:
            ValueError: If no external flow begins or ends there.
        """
        external = self.scenario._core.external()
        node = self.scenario._number(node)
        if not is_whole(node, 0) or all(node not in ends for _, *ends in external):
            ends = sorted({end for _, *pair in external for end in pair})
            known = f"external flows begin or end at the nodes {ends}" if ends else 'no flow has `app = "external"`'
            raise ValueError(f"node {quoted(node)} is no endpoint; {known}")
        return Endpoint(self._core, node, tuple(flow for flow, src, _ in external if src == node))

    def apply(
        self,
        action: Action,
        /,
        *,
        node: int | str | None = None,
        channel: int | None = None,
        wired_link: int | None = None,
        position: Sequence[str] | None = None,
        destination: Sequence[str] | None = None,
        speed: str | None = None,
        flow: int | None = None,
    ) -> None:
        """Applies one change now. A change without effect is ignored.

        Args:
            action: ``"node_down"`` (switches a node off), ``"node_up"`` (on again), ``"wired_link_down"`` (cuts a
                link), ``"wired_link_up"``, ``"node_move"`` (moves a node, which from then on ignores ``mobility``),
                ``"flow_start"`` or ``"flow_stop"``.
            node: Number or name of the node.
            channel: Channel of one radio of the node; ``None``: the whole node.
            wired_link: Number of the link.
            position: New position, reached at once: ``["100 m", "0 m"]``.
            destination: Position to walk to.
            speed: Walking speed: ``"10 m/s"``.
            flow: Number of the flow.

        Raises:
            ScenarioError: If the change is impossible, such as that of an unknown node.
            RunError: If the run has ended, or another thread drives it.
            ValueError: If the action is unknown.
            TypeError: If an argument has the wrong type, is missing, or does not belong to the action.
        """
        event = {"channel": channel, "position": position, "destination": destination, "speed": speed}
        subjects = {"node": node, "wired_link": wired_link, "flow": flow}
        if not isinstance(action, str) or action not in _SUBJECTS:
            raise ValueError(f"there is no action {quoted(action)}; known: {', '.join(_SUBJECTS)}")
        argument = _SUBJECTS[action]
        subject = subjects.pop(argument)
        event |= {"action": action, argument: self.scenario._number(subject) if argument == "node" else subject}
        if event[argument] is None:
            raise TypeError(f'apply("{action}") needs {argument}=...')
        for name, value in subjects.items():
            if value is not None:
                raise TypeError(f"{name} does not belong to apply({quoted(action)})")
        self._change(event)

    def set(self, name: str, value: Any) -> None:
        """Changes a setting now, as the action ``set`` of an ``[[event]]``.

        Args:
            name: Name of a setting that may change during a run, such as ``"flow.0.cbr.interval"``.
            value: New value, written as in a scenario: ``"10 ms"``.

        Raises:
            ScenarioError: If the setting may not change, or cannot have the value.
            RunError: If the run has ended, or another thread drives it.
        """
        self._change({"action": "set", "setting": name, "value": value})

    def decide(
        self,
        flow: int,
        cwnd: float | None = None,
        *,
        ssthresh: float | None = None,
        pacing_bps: float | None = None,
    ) -> None:
        """Decides the window of a flow with ``tcp.congestion_control = "external"``, which acts at once.

        The window remains until the next decision, but for what the loss recovery does with it: after a congestion
        signal it is back with the next acknowledgement of new data outside of a recovery.

        Args:
            flow: Number of the flow.
            cwnd: Congestion window [segments], at least 1; ``None``: as before.
            ssthresh: Slow-start threshold [segments]; ``None``: as before.
            pacing_bps: Rate of the payload of new segments [bit/s]; below 8 it counts as 8; ``math.inf``: not paced;
                ``None``: as before.

        Raises:
            ValueError: If a rule of Chappe decides the window of the flow, or a number is out of range.
            RunError: If the run has ended, or another thread drives it.
        """
        if self._check_still() != "running":
            raise RunError(f"the run is over ({self._core.end}) and cannot be changed")
        for name, value in {"cwnd": cwnd, "ssthresh": ssthresh}.items():
            if value is not None and not 1 <= value < math.inf:
                raise ValueError(f"{name} is a number of segments, at least 1, not {quoted(value)}")
        if pacing_bps is not None and not pacing_bps > 0:
            raise ValueError(f"pacing_bps is a rate above 0 bit/s, not {quoted(pacing_bps)}")
        if not is_whole(flow, 0) or not self._core.decide(flow, cwnd, ssthresh, pacing_bps):
            raise ValueError(f'flow {quoted(flow)} has no window to decide: set `tcp.congestion_control = "external"`')

    def _change(self, event: Mapping[str, Any]) -> None:
        if self._check_still() != "running":
            raise RunError(f"the run is over ({self._core.end}) and cannot be changed")
        self._core.apply(_json({name: value for name, value in event.items() if value is not None}))
        # `wired_link.N.rate`, which is in no scenario; `error.rate` is no rate of data.
        self._has_other_rates |= re.fullmatch(r"wired_link\.\d+\.(back\.)?rate", str(event.get("setting"))) is not None

    def cancel(self) -> None:
        """Ends the run now; a run driven by another thread ends within a moment.

        A run that has ended is not changed. :meth:`results` stays available.
        """
        self._core.cancel()

    # ---- observing ----

    @property
    def time_s(self) -> float:
        """Simulated time [s]."""
        return self._core.now_s

    @property
    def time_ns(self) -> int:
        """Simulated time [ns]."""
        return self._core.now_ns

    @property
    def progress(self) -> float:
        """Completed share of the run, from 0 to 1, by its stop rule or its limit."""
        return self._core.progress

    @property
    def done(self) -> bool:
        """True if the run has ended, by its stop rule or otherwise.

        Raises:
            RunError: If another thread drives the run.
        """
        return self._check_still() != "running"

    def results(self) -> Results:
        """Results so far, as if the run ended now. The run itself is not changed.

        Raises:
            RunError: If another thread drives the run.
        """
        self._check_still()
        results = Results(self.scenario, self._core.results())
        if self._has_other_rates:
            results._fastest_bps = None
        return results

    def look(self) -> "Look":
        """Counters since the last look, and states now, of all flows and radios, as arrays.

        It takes some microseconds, where :meth:`results` takes as long as seconds of a run, and changes nothing but
        where the next interval begins. Shares of airtime need ``run.airtime``.

        Raises:
            RunError: If another thread drives the run.
        """
        from chappe.results.look import look_of

        self._check_still()
        return look_of(self._core)

    def stations(self) -> pl.DataFrame:
        """State of every radio and its station now: position, reception, NAV, backoff, queue, battery.

        One row per radio; docs/scenarios.md has the columns. The run itself is not changed.

        Raises:
            RunError: If another thread drives the run.
        """
        self._check_still()
        return frame(self._core.stations(), self.scenario.names)

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def __repr__(self) -> str:
        try:
            state = self._core.end
        except RuntimeError:
            state = "going on"
        return f"<Simulation: {state}, {self.time_s:.1f} s simulated, {100 * self.progress:.0f} % done>"


def start(scenario: ScenarioLike, *, seed: int | None = None) -> Simulation:
    """Creates a simulation, paused at its start, to be driven step by step.

    Tables of ``run.record`` stay in memory, within ``run.max_memory``, so that :meth:`Simulation.results` has them at
    any time. To write tables to files during a run, use :func:`chappe.run` with ``out``, and ``[[event]]`` for changes.

    Args:
        scenario: A scenario, an equivalent dict, whose names may be dotted, or the name of a scenario file.
        seed: Seed of the random number generator; ``None``: the seed of the scenario.

    Raises:
        ScenarioError: If the scenario cannot be run, with all problems at once.
        OSError: If the file cannot be read.
        TypeError: If an argument has the wrong type.
    """
    scenario = scenario_of(scenario)
    tell(scenario.warnings, UNUSED)
    if seed is not None:
        scenario = scenario.with_settings({"run.seed": seed})
    return Simulation(scenario)
