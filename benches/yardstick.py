"""Writes docs/performance.md: speed, memory and waiting times of this machine, ours and those of ns-2.

Every run is made with ours and with ns-2 in turn: as it comes, and with few headers under each of three schedulers, of
which the fastest counts. Ratios are of user CPU time, pair by pair. What was measured is kept in yardstick.json beside
this file, so that a part can be measured anew: ``python benches/yardstick.py "twenty walkers" study``.

Exit status 2: it could not be measured.
"""

import argparse
import json
import math
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import chappe
import classroom
import scale
import walkers
import zhou
from compare import DEFAULT, ns_command, timed
from gate import BASELINE, fail, instructions
from runs import HERE, RUNS, Run, frames

KEPT = HERE / "yardstick.json"
PAGE = HERE.parent / "docs" / "performance.md"
STOCK = ("all", "Calendar")
FEW = [("few", scheduler) for scheduler in ("List", "Calendar", "Heap")]
COMMANDS = ("run scenarios/one-hop.toml", "check scenarios/one-hop.toml", "list", "--help")
TABLES = ("packets", "frames", "cwnd", "queue", "routes")
TIMES = 3
CHAIN_SECONDS = 1000
SIZES = (120, 1000, 10_000, 100_000)

Command = Callable[[int], list[str]]
Theirs = Callable[[int, str, str], list[str]]


@dataclass(frozen=True)
class Case:
    """A run that both make; ``before`` are commands without length, whose time is left out."""

    name: str
    ours: Command
    theirs: Theirs
    before: tuple[Command, Theirs] | None = None


def cases(folder: Path) -> list[Case]:
    """All comparisons, with the files that they need in a folder."""
    found = []
    for run in RUNS[:2]:

        def of_chain(seed: int, headers: str, scheduler: str, run: Run = run) -> list[str]:
            return [*ns_command(run, seed, DEFAULT)[:-3], str(CHAIN_SECONDS), headers, scheduler]

        found.append(Case(f"chain of 7 hops, {run}", partial(run.command, seconds=CHAIN_SECONDS), of_chain))
    for name, topology, spacing, seconds in (
        ("120 nodes, 10 flows", scale.PAPER / "random120_1", 1.0, 40),
        ("1,000 nodes, 80 flows", HERE / "random1000", 0.1, 5),
    ):
        files = folder / topology.name
        files.mkdir()
        scale.Layout.read(topology, spacing).write(files)

        def both(seconds: float, files: Path = files) -> tuple[Command, Theirs]:
            return lambda seed: scale.ours(files, seed, seconds), lambda seed, *how: scale.theirs(
                files, seed, seconds, *how
            )

        found.append(Case(name, *both(seconds), both(scale.NO_LENGTH)))
    several: list[tuple[str, zhou.Timed]] = [
        ("five connections over wires", zhou.Run("newreno", 0.01)),
        ("classroom, 130 connections", classroom.Run("reno", "aodv")),
        ("twenty walkers", walkers.Run("newreno", 20.0, folder)),
    ]
    for name, timed_run in several:

        def theirs_of(seed: int, headers: str, scheduler: str, run: zhou.Timed = timed_run) -> list[str]:
            return [*run.theirs(seed, zhou.DEFAULT)[:-2], headers, scheduler]

        found.append(Case(name, timed_run.ours, theirs_of))
    return found


def net(command: list[str], before: list[str] | None) -> float:
    """User CPU time of a command without that of another one [s]."""
    return timed(command)[1] - (timed(before)[1] if before else 0.0)


def ratios(case: Case) -> str:
    """Measures a run with both; the row of the table."""
    ours: list[float] = []
    each: dict[tuple[str, str], list[float]] = {way: [] for way in (STOCK, *FEW)}
    for seed in range(1, TIMES + 1):
        ours.append(net(case.ours(seed), case.before and case.before[0](seed)))
        for way, times in each.items():
            times.append(net(case.theirs(seed, *way), case.before and case.before[1](seed, *way)))
    fastest = min(FEW, key=lambda way: median(each[way]))

    def ratio(way: tuple[str, str]) -> str:
        all_ratios = [theirs / own for own, theirs in zip(ours, each[way], strict=True)]
        return f"{median(all_ratios):.1f} ({min(all_ratios):.1f} to {max(all_ratios):.1f})"

    return (
        f"| {case.name} | {median(ours):.3f} | {median(each[STOCK]):.2f} | {ratio(STOCK)} "
        f"| {median(each[fastest]):.2f}, {fastest[1]} | {ratio(fastest)} |"
    )


def growth(folder: Path, nodes: int) -> list[float]:
    """CPU time of a frame [us], and peak memory [MiB]."""
    flows = max(10, nodes * 8 // 100)
    scale.Layout.draw(nodes, flows, 8 / flows).write(folder, f"routing.aodv.net_diameter = {scale.FEW_HOPS}")
    seconds = 4 if nodes > 10_000 else 10
    before = timed(scale.ours(folder, 1, scale.NO_LENGTH))[1]
    # By a process of its own: a child begins with the memory of its parent, and this one has loaded polars.
    program = "import json, sys; from compare import measured; print(json.dumps(measured(sys.argv[1:])))"
    done = output([sys.executable, "-c", program, *scale.ours(folder, 1, seconds)])
    printed, cpu, memory = json.loads(done)
    return [(cpu - before) / frames(printed) * 1e6, memory / 1024]


def waiting() -> list[str]:
    """CPU time of commands; rows of the table."""

    def once(command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "chappe.cli", *command.split()], cwd=HERE.parent, check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return [f"| `chappe {command}` | {median(once(command) for _ in range(5)):.2f} |" for command in COMMANDS]


def recorded() -> tuple[float, float]:
    """CPU time of a frame without and with five recorded tables, with the results written to files [us]."""
    scenario = chappe.Scenario.chain(7, stop="11000 delivered", extends="ns2-2.35")
    each: list[list[float]] = [[], []]
    for _ in range(2 * TIMES):
        for times, tables in zip(each, ([], list(TABLES)), strict=True):
            run = scenario.with_settings({"run.record": tables})
            with tempfile.TemporaryDirectory() as folder:
                begin = time.process_time()
                results = chappe.run(run, out=folder)
                times.append((time.process_time() - begin) / results.frames_sent * 1e6)
    return median(each[0]), median(each[1])


def output(command: list[str]) -> str:
    """Output of a command."""
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False).stdout


def machine() -> str:
    """Processor, compiler and versions."""
    cpu = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", cpu.read_text()) if cpu.exists() else None
    rustc = json.loads(BASELINE.read_text())["rustc"].split(" (")[0]
    processor = named[1] if named else platform.processor()
    return f"{processor}, {platform.system()}, {rustc}, CPython {platform.python_version()}"


def reading() -> tuple[int, float]:
    """Instructions of a process that reads a scenario, and of a frame."""
    run = RUNS[0]
    none, _ = instructions([*run.command(1, 1)[:-1], f"run.stop={scale.NO_LENGTH} s"])
    (few, short), (many, long) = (instructions(run.command(1, seconds)) for seconds in (20, 60))
    return none, (many - few) / (frames(long) - frames(short))


TEXT = """# Performance

**Stock ns-2.35 takes {stock} times the CPU time of Chappe for the networks below, and the fastest configuration of
ns-2.35 takes {fastest} times (medians of {times} pairs).**

[benches/yardstick.py](../benches/yardstick.py) writes this page: `make bench-yardstick`.

Machine: {machine}. Times are user CPU time of one thread. Other work may
have run beside it: ratios of runs made in turn say more than times.

## Compared with ns-2.35

*Stock* is ns-2 as it comes: packets with the headers of everything that it knows, and the scheduler Calendar. *Fastest*
has only the headers that the run needs, which a script can ask for and few do, and the fastest of the schedulers List,
Calendar and Heap. All traces are off, except where a paper takes its results from them. A ratio is the median of
{times} pairs, with the least and the greatest. `make bench` and `make bench-scale` also check that both do the same: as
many frames or deliveries.

| run | Chappe [s] | stock [s] | stock / Chappe | fastest [s] | fastest / Chappe |
|---|---:|---:|---:|---:|---:|
{compared}

## Growth and memory

Networks of one density with short flows (`make bench-scale`): what happens around a node is the same in all of them,
and what grows is the time that the processor waits for memory.

| nodes | CPU time of a frame [us] | relative to 1,000 nodes | peak memory [MiB] |
|---:|---:|---:|---:|
{grown}

## Instructions

On the chain (NewReno, 2 Mbit/s) a MAC frame takes {per_frame:,.0f} instructions (`make bench-gate`). A process that
reads the scenario and stops at once takes {none:.1f} million.

## Waiting

| command | CPU time [s] |
|---|---:|
{started}

NumPy, with which results are measured, is the largest part of `run`; the other commands do not load it, and only tables
that are asked for need polars (`tests/test_start.py`; [design.md](design.md#start-of-a-run) has what each takes).

Five recorded tables ({tables}), written to files, raise the time of a frame from {plain:.2f} to
{with_tables:.2f} us.

A study of short runs (`make bench-study`):

{study}
"""


def page(kept: dict[str, Any]) -> str:
    """The page of what was measured."""
    sizes = [(nodes, kept[f"{nodes:,} nodes"]) for nodes in SIZES if f"{nodes:,} nodes" in kept]
    first = dict(sizes).get(1000, [math.nan])[0]
    grown = [f"| {nodes:,} | {each:.2f} | {each / first:.1f} | {memory:.0f} |" for nodes, (each, memory) in sizes]
    none, per_frame = kept["instructions"]
    plain, with_tables = kept["tables"]
    rows = [row for row in kept.values() if isinstance(row, str)]

    def ratios_in(column: int) -> str:
        medians = [float(row.split("|")[column].split()[0]) for row in rows]
        return f"{min(medians):.0f} to {max(medians):.0f}"

    return TEXT.format(
        stock=ratios_in(4),
        fastest=ratios_in(6),
        machine=machine(),
        times=TIMES,
        compared="\n".join(rows),
        grown="\n".join(grown),
        per_frame=per_frame,
        none=none / 1e6,
        started="\n".join(kept["start"]),
        tables=", ".join(f"`{table}`" for table in TABLES),
        plain=plain,
        with_tables=with_tables,
        study="\n".join(f"- {line}" for line in kept["study"]),
    )


def main() -> int:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help="parts to measure anew; all without any")
    wanted = parser.parse_args().parts
    if shutil.which("ns") is None:
        fail("`ns` is not installed (Debian: apt install ns2)")
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Any]] = {case.name: partial(ratios, case) for case in cases(folder)}
        parts |= {f"{nodes:,} nodes": partial(growth, folder, nodes) for nodes in SIZES}
        parts |= {"instructions": reading, "start": waiting, "tables": recorded}
        parts["study"] = lambda: output([sys.executable, str(HERE / "study.py")]).strip().splitlines()
        if unknown := set(wanted) - set(parts):
            parser.error(f"there is no part {', '.join(unknown)}; known: {', '.join(parts)}")
        for part in wanted or parts:
            kept[part] = parts[part]()
            print(part, kept[part], flush=True)
            kept = {name: kept[name] for name in parts if name in kept}
            KEPT.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
