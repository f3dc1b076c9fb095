"""Interactive runs: driven step by step, observed and changed on the way."""

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from chappe import _core
from chappe.arguments import said
from chappe.deprecated import keyword_only
from chappe.error import RunError
from chappe.results import Results
from chappe.scenario import Scenario, ScenarioLike, _json, scenario_of

_LATEST_NS = 2**63
"""Limit of simulated time [ns], two hundred years."""


class Run:
    """A run that advances on request.

    :func:`chappe.start` creates a run::

        with chappe.start(scenario, seed=1) as run:
            run.until("3 s")
            run.apply(node_down=2)
            run.until("5 s")
            print(run.results().flows["goodput_bps"])
            results = run.finish()

    A change at an instant has the same effect as an ``[[event]]`` of the scenario at that instant, to the last bit. A
    paused run has processed all events up to the current instant; before the first :meth:`until` no event has happened.

    One thread at a time drives a run. Other threads may read :attr:`now_s` and :attr:`progress`, and call
    :meth:`cancel`.
    """

    def __init__(self, scenario: Scenario):
        self.scenario = scenario
        self._core = _core.Run(scenario._core)

    # ---- advancing ----

    def until(self, at: str | float, progress: Callable[[float], object] | None = None) -> bool:
        """Advances to an instant, or to the end of the run if the run ends before.

        A run that waits for deliveries and has no events left pauses once, for a command. If it is advanced without a
        command, it ended when the last event was processed, as with :func:`chappe.run`.

        Args:
            at: Instant from the start of the run: text with a unit, ``"3 s"``, or a number [s].
            progress: Function called several times a second with the completed share of the run, from 0 to 1.

        Returns:
            True if the run can go on, false if it has ended.

        Raises:
            ValueError: If the instant has passed or is invalid.
            RunError: If another thread drives the run.
            LimitError: If the run needs more memory than ``run.max_memory``.
            TypeError: If an argument has the wrong type.
        """
        ns = instant(at)
        if self.is_over:
            return False
        if ns < self._core.now_ns:
            raise ValueError(f"the run is at {self.now_s:g} s and cannot go back to {said(at)}")
        self._drive(ns, progress)
        return not self.is_over

    def finish(self, progress: Callable[[float], object] | None = None) -> Results:
        """Advances to the end of the run.

        Args:
            progress: As in :meth:`until`.

        Returns:
            Results of the run.

        Raises:
            RunError: If another thread drives the run.
            LimitError: If the run needs more memory than ``run.max_memory``.
            TypeError: If an argument has the wrong type.
        """
        self._drive(None, progress)
        return self.results()

    def _drive(self, ns: int | None, progress: Callable[[float], object] | None) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of the completed share, not {said(progress)}")
        self._check_still()
        self._core.until(ns, progress)

    def _check_still(self) -> str:
        try:
            return self._core.end
        except RuntimeError:
            pass
        raise RunError("the run is being driven by another thread; wait until it pauses")

    # ---- changing ----

    def apply(
        self,
        *,
        node_down: int | None = None,
        node_up: int | None = None,
        channel: int | None = None,
        node_move: int | None = None,
        position: Sequence[str] | None = None,
        destination: Sequence[str] | None = None,
        speed: str | None = None,
        flow_begin: int | None = None,
        flow_end: int | None = None,
        set: str | None = None,  # noqa: A002, the word of the scenario
        to: Any = None,
    ) -> None:
        """Applies one change now, in the words of an ``[[event]]``. A change without effect is ignored.

        Args:
            node_down: Number of a node to switch off.
            node_up: Number of a node to switch on again.
            channel: Channel of one radio of the node; ``None``: the whole node.
            node_move: Number of a node to move. From then on the node ignores ``motion``.
            position: New position, reached at once: ``["100 m", "0 m"]``.
            destination: Position to walk to.
            speed: Walking speed: ``"10 m/s"``.
            flow_begin: Number of a flow to start.
            flow_end: Number of a flow to stop.
            set: Name of a setting that may change during a run, such as ``"flow.0.cbr.interval"``.
            to: New value of the setting, written as in a scenario: ``"10 ms"``.

        Raises:
            ScenarioError: If the change is impossible: an unknown node, or a setting that may not change.
            RunError: If the run has ended, or another thread drives it.
        """
        given = {
            "node_down": node_down,
            "node_up": node_up,
            "channel": channel,
            "node_move": node_move,
            "position": position,
            "destination": destination,
            "speed": speed,
            "flow_begin": flow_begin,
            "flow_end": flow_end,
            "set": set,
            "to": to,
        }
        if self._check_still() != "running":
            raise RunError(f"the run is over ({self._core.end}) and cannot be changed")
        self._core.apply(_json({name: value for name, value in given.items() if value is not None}))

    def cancel(self) -> None:
        """Ends the run now; a run driven by another thread ends within a moment.

        A run that has ended is not changed. :meth:`results` stays available.
        """
        self._core.cancel()

    # ---- observing ----

    @property
    def now_s(self) -> float:
        """Simulated time [s]."""
        return self._core.now_s

    @property
    def progress(self) -> float:
        """Completed share of the run, from 0 to 1, by its stop rule or its limit."""
        return self._core.progress

    @property
    def is_over(self) -> bool:
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
        return Results(self.scenario, self._core.results())

    def __enter__(self) -> "Run":
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
        return f"<Run: {state}, {self.now_s:.1f} s simulated, {100 * self.progress:.0f} % done>"


@keyword_only("seed")
def start(scenario: ScenarioLike, *, seed: int | None = None) -> Run:
    """Creates a run, paused at its start, to be driven step by step.

    Tables of ``run.record`` stay in memory, within ``run.max_memory``, so that :meth:`Run.results` has them at any
    time. To write tables to files during a run, use :func:`chappe.run` with ``out``, and ``[[event]]`` for changes.

    Args:
        scenario: A scenario, an equivalent dict, whose names may be dotted, or the name of a scenario file.
        seed: Seed of the random number generator; ``None``: the seed of the scenario.

    Raises:
        ScenarioError: If the scenario cannot be run, with all problems at once.
        OSError: If the file cannot be read.
        TypeError: If an argument has the wrong type.
    """
    scenario = scenario_of(scenario)
    if seed is not None:
        scenario = scenario.with_settings({"run.seed": seed})
    return Run(scenario)


def instant(at: object) -> int:
    """Instant of a run [ns], from a text with a unit or a number of seconds."""
    if isinstance(at, str):
        try:
            return _core.instant_ns(at)
        except (ValueError, UnicodeEncodeError) as e:
            why = str(e) if type(e) is ValueError else "it is not UTF-8 text"
        raise ValueError(f"{said(at)} is not an instant of a run: {why}")
    if isinstance(at, bool) or not isinstance(at, int | float):
        raise TypeError(f'an instant is a text such as "3 s" or a number of seconds, not {said(at)}')
    if not (math.isfinite(at) if isinstance(at, float) else True) or not 0 <= at < _LATEST_NS / 1e9:
        raise ValueError(f"{said(at)} s is not an instant of a run")
    return round(at * 1e9) if isinstance(at, float) else at * 10**9
