"""The command ``chappe live``."""

import argparse
import functools
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import _core
from chappe._common import outputs
from chappe._common.interrupts import INTERRUPTED
from chappe._common.words import count, plain, tell
from chappe.cli import scenarios
from chappe.cli.inputs import CommandError, collect_errors, load, output, report_path, with_programs
from chappe.errors import RunError, ScenarioError
from chappe.scenario.scenario import Scenario

if TYPE_CHECKING:
    from chappe.results.programs.live import Choices, Live, Program
    from chappe.results.results import Results

TOO_LATE = 3
"""Exit code of a run that ended because a delivery was too late."""

_ALL = 16
"""A scenario with more nodes has a namespace only for nodes with programs."""

_MOST = 64
"""Largest number of namespaces."""


def live(args: argparse.Namespace) -> int:
    """``chappe live``."""
    scenario, tables, _, record, report_file = collect_errors(
        lambda: load(args, warns=False),
        lambda: scenarios.tables_for(args.measures),
        lambda: _refuse_idle(args),
        lambda: None if args.record is None else output(args.record, "--record", outputs.RECORD, [Path(args.file)]),
        lambda: report_path(args),
    )
    programs = _programs(args, scenario)
    nodes = _nodes(len(scenario._core.places()[0]), programs)
    if scenario._core.is_quic():
        raise CommandError("`chappe live` has no library for QUIC; run a program with one, and leave out quic")
    if not hasattr(_core, "live"):
        raise CommandError("`chappe live` needs Linux, whose network namespaces hold the programs", 1)
    from chappe.results.programs.live import Choices

    choices = Choices(
        holds=args.door == "nfqueue",
        real_time=args.real_time,
        record=record,
        quiet=args.quiet or args.json,
        apart=args.json,
    )
    scenario = with_programs(args, scenario, nodes)
    run = functools.partial(_run, args, scenario, nodes, programs, choices, tables, report_file)
    return _enclosed(scenario, nodes, run)


def _refuse_idle(args: argparse.Namespace) -> None:
    """Refuses a command line without programs."""
    if not args.programs and not args.program:
        raise CommandError("there is no program: give `--node 3 'iperf3 -s'`, or one for node 0 behind `--`")


def _programs(args: argparse.Namespace, scenario: Scenario) -> "list[Program]":
    """Programs of a command line, on nodes that exist."""
    from chappe.results.programs.live import Program

    there = len(scenario._core.places()[0])

    def node_of(text: str) -> int:
        try:
            node = int(scenario._number(text))
        except ScenarioError as e:
            raise CommandError(f"--node: {plain(e.problems[0].message)}; {plain(e.problems[0].help)}") from None
        if node >= there:
            raise CommandError(f"--node: there is no node {node}; the scenario has {count(there, 'node')}, from 0 on")
        return node

    checks = [functools.partial(node_of, node) for node, _ in args.programs]
    commands = zip(collect_errors(*checks), args.programs, strict=True)
    programs = [Program(node, ("/bin/sh", "-c", command), False) for node, (_, command) in commands]
    return [*programs, Program(0, tuple(args.program), True)] if args.program else programs


def _nodes(there: int, programs: "Sequence[Program]") -> list[int]:
    """Nodes with a namespace: all of a small scenario, otherwise those with programs."""
    nodes = list(range(there)) if there <= _ALL else sorted({program.node for program in programs})
    if not 2 <= len(nodes) <= _MOST:
        raise CommandError(
            f"programs are on {count(len(nodes), 'node')}; `chappe live` takes 2 to {_MOST}: "
            "give nodes without a program one such as `--node 3 'sleep inf'`"
        )
    return nodes


def _enclosed(scenario: Scenario, nodes: Sequence[int], run: Callable[[], int]) -> int:
    """Runs a function as process 1 of namespaces that end with the calling process, and returns its exit code.

    Process 1 returns from here, too.
    """
    signals = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        _core.live_enclose()
    except RunError as e:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise CommandError(plain(e), 1) from None
    ours, theirs = os.pipe()
    process = os.fork()
    if process:
        os.close(ours)
        return _waited(process, signals)
    os.close(theirs)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        _core.live_settle(scenario._core, list(nodes))
        os.set_blocking(ours, False)
        try:
            # The other end was closed before this process could follow its parent.
            os.read(ours, 1)
            os._exit(1)
        except BlockingIOError:
            return run()
    except RunError as e:
        raise CommandError(plain(e), 1) from None


def _waited(process: int, signals: set[signal.Signals]) -> int:
    """Waits for process 1, passes signals on that others sent, and returns the exit code.

    A signal of the terminal reaches process 1 by itself.
    """
    while True:
        info = signal.sigwaitinfo(signals)
        if info.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        elif info.si_code <= 0:
            os.kill(process, info.si_signo)


def _run(
    args: argparse.Namespace,
    scenario: Scenario,
    nodes: Sequence[int],
    programs: "Sequence[Program]",
    choices: "Choices",
    tables: Sequence[str],
    report_file: Path | None,
) -> int:
    """Runs the programs, and prints the results."""
    from chappe.results.programs import live

    outcome: list[Live] = []

    def results(scenario: Scenario, out: Path | None, pcap: Path | None) -> "Results":
        outcome.append(live.run(scenario, nodes, programs, choices, out, pcap))
        return outcome[0].results

    scenarios.perform(args, scenario, tables, report_file, results, lambda: _about(outcome[0], choices))
    ended = outcome[0]
    if ended.was_interrupted:
        return INTERRUPTED
    if ended.was_too_late:
        late_ms = 1e3 * ended.numbers["late_largest_s"]
        tell(f"error: a delivery was {late_ms:.2f} ms late, and `live.when_late` is `stop`")
        return TOO_LATE
    if max(ended.numbers["late_p99_s"], ended.numbers["behind_s"]) > ended.numbers["late_limit_s"]:
        tell("warning: the simulation was late; take a smaller network, a faster or an idle machine, or --real-time")
    return ended.code or 0


def _about(outcome: "Live", choices: "Choices") -> tuple[dict[str, Any], str]:
    """What a live run adds to the results: as plain data, and as text."""
    numbers = outcome.numbers
    late, delivered = numbers["late"], numbers["delivered"]
    share = 100 * late / delivered if delivered else 0.0
    lost = ", ".join(
        f"{numbers[name]:,} {words}"
        for name, words in (("lost", "lost"), ("refused", "not taken"), ("astray", "to addresses without a node"))
    )
    text = (
        f"Live ({'NFQUEUE' if choices.holds else 'TUN'}): {count(numbers['entered'], 'packet')} entered, "
        f"{delivered:,} arrived, {lost}.\n"
        f"Lateness: median {1e3 * numbers['late_median_s']:.3f} ms, 99 % within {1e3 * numbers['late_p99_s']:.3f} ms, "
        f"largest {1e3 * numbers['late_largest_s']:.2f} ms; {share:.2f} % later than "
        f"{1e3 * numbers['late_limit_s']:g} ms. The simulation was at most {1e3 * numbers['behind_s']:.2f} ms behind."
    )
    if outcome.code is None and not outcome.was_too_late and not outcome.was_interrupted:
        text += "\nThe programs were ended with the run (`run.stop`)."
    return {
        "live": {
            **numbers,
            "door": "nfqueue" if choices.holds else "tun",
            "exit_code": outcome.code,
        }
    }, text
