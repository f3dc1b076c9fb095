"""Runs that are driven step by step: looked at, and changed, while they go on."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from chappe import _core
from chappe.arguments import said
from chappe.results import Results
from chappe.scenario import Scenario, _json, scenario_of

_LATEST_NS = 2**63
"""No run is as long: two hundred years."""


class Run:
    """A run that goes on when it is told to.

    :func:`chappe.start` makes one::

        with chappe.start(scenario, seed=1) as run:
            run.until("3 s")
            run.apply(node_down=2)
            run.until("5 s")
            print(run.results().flows["goodput_bps"])
            results = run.finish()

    What is done to a run at an instant is the same as an ``[[event]]`` of its scenario at that instant, and so are its
    results, to the last bit. A run that stands still at an instant has done all that was due by then; before the first
    :meth:`until` nothing has happened.

    One thread at a time drives a run. Others may ask for :attr:`now_s` and :attr:`progress`, and :meth:`cancel` it.
    """

    def __init__(self, scenario: Scenario):
        self.scenario = scenario
        self._core = _core.Run(scenario._core)

    # ---- going on ----

    def until(self, at: str | float, progress: Callable[[float], object] | None = None) -> bool:
        """Goes on up to an instant, or to the end of the run if that comes before.

        A run that waits for deliveries, and in which nothing can happen any more but by a command, stands still for one
        once: driven on without it, it has ended when it ran dry, as with :func:`chappe.run`.

        Args:
            at: The instant: text with a unit, ``"3 s"``, or a number of seconds [s], counted from the start of the run.
            progress: Is called several times a second with the share of the run that is done, from 0 to 1.

        Returns:
            Whether the run goes on: false when it is over.

        Raises:
            ValueError: When the instant has passed, or cannot be read, or another thread drives the run.
            ScenarioError: When the run needs more memory than ``run.max_memory``.
            TypeError: When an argument is of another kind.
        """
        ns = instant(at)
        if self.is_over:
            return False
        if ns < self._core.now_ns:
            raise ValueError(f"the run is at {self.now_s:g} s, and cannot go back to {said(at)}")
        self._drive(ns, progress)
        return not self.is_over

    def finish(self, progress: Callable[[float], object] | None = None) -> Results:
        """Goes on to the end.

        Args:
            progress: As in :meth:`until`.

        Returns:
            What the run has measured.

        Raises:
            ValueError: When another thread drives the run.
            ScenarioError: When the run needs more memory than ``run.max_memory``.
            TypeError: When an argument is of another kind.
        """
        self._drive(None, progress)
        return self.results()

    def _drive(self, ns: int | None, progress: Callable[[float], object] | None) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is called with the share that is done; {said(progress)} cannot be called")
        self._check_still()
        self._core.until(ns, progress)

    def _check_still(self) -> str:
        try:
            return self._core.end
        except RuntimeError:
            pass
        raise ValueError("the run is going on; wait until it stands still again")

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
        """Does one thing to the run now; the words are those of an ``[[event]]``. What is so already stays so.

        Args:
            node_down: Number of a node that is switched off.
            node_up: Number of a node that is switched on again.
            channel: Channel of the radio that is meant, of those of the node; ``None``: the whole node.
            node_move: Number of a node that moves. It stays where it is led to, whatever ``motion`` says.
            position: Where it is at once: ``["100 m", "0 m"]``.
            destination: Where it walks to from where it is.
            speed: How fast it walks: ``"10 m/s"``.
            flow_begin: Number of a flow that begins to send.
            flow_end: Number of a flow that ends.
            set: Name of a setting that may change during a run, such as ``"flow.0.cbr.interval"``.
            to: Its new value, written as in a scenario: ``"10 ms"``.

        Raises:
            ScenarioError: When this cannot be done: an unknown node, a setting that may not change.
            ValueError: When the run is over, or going on in another thread.
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
            raise ValueError(f"the run is over ({self._core.end}), nothing can be done to it any more")
        self._core.apply(_json({name: value for name, value in given.items() if value is not None}))

    def cancel(self) -> None:
        """Ends the run where it stands; one that is going on in another thread ends within a moment.

        A run that is over stays as it is. Its tables can still be had with :meth:`results`.
        """
        self._core.cancel()

    # ---- looking ----

    @property
    def now_s(self) -> float:
        """Simulated time [s]."""
        return self._core.now_s

    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1, by its stop rule or its limit."""
        return self._core.progress

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, by its stop rule or otherwise.

        Raises:
            ValueError: When the run is going on in another thread.
        """
        return self._check_still() != "running"

    def results(self) -> Results:
        """What the run has measured so far, as if it ended now: all tables. The run itself is not changed.

        Raises:
            ValueError: When the run is going on in another thread.
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


def start(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
    seed: int | None = None,
) -> Run:
    """Begins a run and leaves it at its start, to be driven step by step.

    Tables of ``run.record`` are kept in memory, within ``run.max_memory``, so that :meth:`Run.results` has them at any
    time. What is to be written to files while the run goes on is run as a whole, by :func:`chappe.run` with ``out`` and
    with ``[[event]]`` for what is done to it.

    Args:
        scenario: A scenario, a dict like one, whose names may be dotted, or the name of a scenario file.
        seed: Seed of all random numbers; ``None``: the one that the scenario names.

    Raises:
        ScenarioError: When the scenario cannot be run, with all problems at once.
        OSError: When its file cannot be read.
        TypeError: When an argument is of another kind.
    """
    scenario = scenario_of(scenario)
    if seed is not None:
        scenario = scenario.with_({"run.seed": seed})
    return Run(scenario)


def instant(at: object) -> int:
    """An instant in nanoseconds."""
    if isinstance(at, str):
        try:
            return _core.instant_ns(at)
        except (ValueError, UnicodeEncodeError) as e:
            why = str(e) if type(e) is ValueError else "it is not a text in UTF-8"
        raise ValueError(f"{said(at)} is no instant of a run: {why}")
    if isinstance(at, bool) or not isinstance(at, int | float):
        raise TypeError(f'an instant is a text such as "3 s", or a number of seconds, not {said(at)}')
    if not (math.isfinite(at) if isinstance(at, float) else True) or not 0 <= at < _LATEST_NS / 1e9:
        raise ValueError(f"{said(at)} s is no instant of a run")
    return round(at * 1e9) if isinstance(at, float) else at * 10**9
