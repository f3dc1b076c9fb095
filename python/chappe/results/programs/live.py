"""Runs in real time, with programs on the nodes."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chappe import _core
from chappe.results.results import Results, kept
from chappe.results.storage.captures import Captures
from chappe.scenario.scenario import Scenario

_PAUSE_S = 1.0
"""Time between two lines of progress [s]."""


class Program(NamedTuple):
    """A program on a node.

    Attributes:
        node: Number of the node.
        words: Name of the program, and its arguments.
        is_main: True if the run ends with it.
    """

    node: int
    words: tuple[str, ...]
    is_main: bool


class Choices(NamedTuple):
    """Choices of a live run.

    Attributes:
        holds: True if packets stay in queues of the kernel (NFQUEUE) until they have left their node.
        real_time: True if the loop asks for real-time priority.
        record: File for what enters; ``None``: it is not recorded.
        quiet: True if there are no lines of progress.
        apart: True if the output of the programs goes to standard error.
    """

    holds: bool
    real_time: bool
    record: Path | None
    quiet: bool
    apart: bool


class Live(NamedTuple):
    """Outcome of a live run.

    Attributes:
        results: Results of the run.
        numbers: Numbers of packets and bytes, with the lateness of deliveries.
        code: Exit code of the programs; ``None`` if the run has ended them.
        was_interrupted: True after Ctrl-C.
        was_too_late: True if a late delivery has ended the run.
    """

    results: Results
    numbers: dict[str, Any]
    code: int | None
    was_interrupted: bool
    was_too_late: bool


def run(
    scenario: Scenario,
    nodes: Sequence[int],
    programs: Sequence[Program],
    choices: Choices,
    out: Path | None = None,
    pcap: Path | None = None,
) -> Live:
    """Runs a scenario in real time.

    Args:
        scenario: A scenario with external flows between the nodes.
        nodes: Nodes with a network namespace.
        programs: Programs on these nodes.
        choices: Choices of the run.
        out: Folder for all results.
        pcap: Folder for captures.

    Raises:
        ScenarioError: If a congestion control in Python cannot be used.
        RunError: If a namespace or a device cannot be made, or such a congestion control fails.
        LimitError: If the run needs more memory than ``run.max_memory``.
        OSError: If a program cannot be started, or a folder cannot be written.
    """
    told: list[Any] = []

    def measured(
        sink: Callable[[str, _core.Rowset], object] | None, capture: Callable[[int, int, bytes], object] | None
    ) -> _core.Results:
        results, *rest = _core.live(
            scenario._core,
            list(nodes),
            [(program.node, list(program.words), program.is_main) for program in programs],
            holds=choices.holds,
            quiet=choices.apart,
            real_time=choices.real_time,
            rules=scenario._rules(),
            record=choices.record,
            progress=_Line() if _has_line(programs, choices) else None,
            sink=sink,
            capture=capture,
        )
        told.extend(rest)
        return results

    if pcap is None:
        results = kept(scenario, out, lambda sink: measured(sink, None))
    else:
        with Captures(pcap, scenario.names) as captures:
            results = kept(scenario, out, lambda sink: measured(sink, captures))
    return Live(results, *told)


def _has_line(programs: Sequence[Program], choices: Choices) -> bool:
    """True if a line of progress may be drawn: on a terminal from which no program reads what is typed."""
    is_typed = sys.stdin is not None and sys.stdin.isatty() and any(program.is_main for program in programs)
    return sys.stderr.isatty() and not choices.quiet and not is_typed


class _Line:
    """A line of progress on a terminal, which the next one replaces."""

    def __init__(self) -> None:
        self._last_s, self._before = time.monotonic(), (0.0, 0, 0)

    def __call__(self, at_s: float, numbers: dict[str, Any], late_p99_s: float) -> None:
        now_s = time.monotonic()
        if now_s - self._last_s < _PAUSE_S:
            return
        before_s, entered, delivered = self._before
        self._last_s = now_s
        self._before = (at_s, numbers["entered_bytes"], numbers["delivered_bytes"])
        mbps = [
            8e-6 * bytes_ / (at_s - before_s) for bytes_ in (self._before[1] - entered, self._before[2] - delivered)
        ]
        line = (
            f"{at_s:,.0f} s: {mbps[0]:.2f} Mbit/s enter, {mbps[1]:.2f} Mbit/s arrive, "
            f"99 % at most {1e3 * late_p99_s:.2f} ms late"
        )
        os.write(2, f"\r\x1b[K{line}\r".encode())
