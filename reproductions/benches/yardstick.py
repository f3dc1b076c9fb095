"""Writes reproductions/docs/performance.md: speed, memory and waiting times of this machine, ours and those of ns-2.

Every run is made with ours and with ns-2 in turn: as it comes, and with few headers under each of three schedulers, of
which the fastest counts. Ratios are of user CPU time, pair by pair, without that of a run of no length. Neither writes
what the run does not need, and both must deliver as many segments. What was measured is kept in yardstick.json beside
this file, so that a part can be measured anew:
``PYTHONPATH=benches:reproductions/benches/ns2 python reproductions/benches/yardstick.py "twenty walkers" study``.

Exit status 2: it could not be measured.
"""

import argparse
import json
import math
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
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
import wires
import zhou
from compare import DEFAULT, ns_command, timed
from gate import BASELINE, fail, instructions
from runs import HERE as BENCHES
from runs import NO_LENGTH, RUNS, Run, frames, program

HERE = Path(__file__).resolve().parent
KEPT = HERE / "yardstick.json"
PAGE = HERE.parent / "docs" / "performance.md"
STOCK = ("all", "Calendar")
FEW = [("few", scheduler) for scheduler in ("List", "Calendar", "Heap")]
COMMANDS = ("run scenarios/one-hop.toml", "check scenarios/one-hop.toml", "explain --list", "--help")
QUICK = "paper elrakabawy2005 --quick"
TABLE = "import chappe; chappe.run('scenarios/one-hop.toml').flows"
TABLES = ("packets", "frames", "cwnd", "queue", "routes")
TIMES = 5
CHAIN_SECONDS = 1000
ENOUGH = 1000
"""Segments that a run of the first sentence delivers."""

SIZES = (120, 1000, 10_000, 100_000)


@dataclass(frozen=True)
class Case:
    """A run that both make: commands by seed, length [s], and headers and scheduler of ns-2."""

    name: str
    seconds: float
    ours: Callable[[int, float], list[str]]
    theirs: Callable[[int, float, str, str], list[str]]


def cases(folder: Path) -> list[Case]:
    """All comparisons, with the files that they need in a folder."""
    found = []
    for run in RUNS[:2]:

        def ours_of(seed: int, seconds: float, run: Run = run) -> list[str]:
            return run.command(seed, seconds)

        def of_chain(seed: int, seconds: float, headers: str, scheduler: str, run: Run = run) -> list[str]:
            return [*ns_command(run, seed, DEFAULT)[:-3], str(seconds), headers, scheduler]

        found.append(Case(f"chain of 7 hops, {run}", CHAIN_SECONDS, ours_of, of_chain))
    for name, topology, spacing, length, routing in (
        ("120 nodes, 10 flows", scale.PAPER / "random120_1", 1.0, 40, "aodv"),
        ("120 nodes with DSR, 10 flows", scale.PAPER / "random120_1", 1.0, 40, "dsr"),
        ("1,000 nodes, 80 flows", BENCHES / "random1000", 0.1, 5, "aodv"),
    ):
        files = folder / topology.name
        files.mkdir(exist_ok=True)
        scale.Layout.read(topology, spacing).write(files)
        found.append(
            Case(
                name,
                length,
                partial(scale.ours, files, routing=routing),
                partial(scale.theirs, files, routing=routing),
            )
        )
    several: list[tuple[str, float, zhou.Timed]] = [
        ("wires: 5 flows, lossy link", 10 * zhou.SECONDS, zhou.Run("newreno", 0.01)),
        *((f"wires: {run}", run.seconds, run) for run in wires.runs(folder)),
        ("classroom, 130 connections", classroom.SECONDS, classroom.Run("reno", "aodv")),
        ("twenty walkers", walkers.points.SECONDS, walkers.Run("newreno", 20.0, folder)),
    ]
    for name, length, timed_run in several:

        def ours_alike(seed: int, seconds: float, run: zhou.Timed = timed_run) -> list[str]:
            return run.ours(seed, seconds)

        def theirs_of(
            seed: int, seconds: float, headers: str, scheduler: str, run: zhou.Timed = timed_run
        ) -> list[str]:
            return [*run.theirs(seed, zhou.DEFAULT, seconds)[:-2], headers, scheduler]

        found.append(Case(name, length, ours_alike, theirs_of))
    return found


def ratios(case: Case) -> str:
    """Measures a run with both; the row of the table."""
    ours: list[float] = []
    each: dict[tuple[str, str], list[float]] = {way: [] for way in (STOCK, *FEW)}
    segments: tuple[list[int], list[int]] = ([], [])
    candidates = FEW
    for seed in range(1, TIMES + 1):
        printed, cpu = zhou.net(case.ours(seed, case.seconds), case.ours(seed, NO_LENGTH))
        segments[0].append(zhou.delivered(printed))
        ours.append(cpu)
        for way in (STOCK, *candidates):
            printed, cpu = zhou.net(case.theirs(seed, case.seconds, *way), case.theirs(seed, NO_LENGTH, *way))
            each[way].append(cpu)
        segments[1].append(zhou.delivered(printed))
        # A scheduler that takes twice as long as another will not be the fastest.
        least = min(each[way][0] for way in FEW)
        candidates = [way for way in FEW if each[way][0] < 2 * least]
    difference, is_wrong = zhou.apart(*segments)
    if is_wrong:
        fail(f"{case.name}: segments delivered differ by {difference:+.1%}: {segments[0]} and {segments[1]}")
    fastest = min(candidates, key=lambda way: median(each[way]))

    def ratio(way: tuple[str, str]) -> str:
        all_ratios = [theirs / own for own, theirs in zip(ours, each[way], strict=True)]
        digits = 1 if median(all_ratios) >= 2 else 2
        return f"{median(all_ratios):.{digits}f} ({min(all_ratios):.{digits}f} to {max(all_ratios):.{digits}f})"

    delivered = " / ".join(f"{median(each_of):,.0f}" for each_of in segments)
    return (
        f"| {case.name} | {delivered} | {median(ours):.3f} | {median(each[STOCK]):.2f} | {ratio(STOCK)} "
        f"| {median(each[fastest]):.3f}, {fastest[1]} | {ratio(fastest)} |"
    )


def growth(folder: Path, nodes: int) -> list[float]:
    """CPU time of a frame [us], and peak memory [MiB]."""
    flows = max(10, nodes * 8 // 100)
    scale.Layout.draw(nodes, flows, 8 / flows).write(folder, f"routing.aodv.net_diameter = {scale.FEW_HOPS}")
    seconds = 4 if nodes > 10_000 else 10
    before = timed(scale.ours(folder, 1, NO_LENGTH))[1]
    # By a process of its own: a child begins with the memory of its parent, and this one has loaded polars.
    program = "import json, sys; from compare import measured; print(json.dumps(measured(sys.argv[1:])))"
    done = output([sys.executable, "-c", program, *scale.ours(folder, 1, seconds)])
    printed, cpu, memory = json.loads(done)
    return [(cpu - before) / frames(printed) * 1e6, memory / 1024]


def spent(*arguments: str) -> float:
    """CPU time of a command of Python [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=BENCHES.parent, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def waiting() -> list[str]:
    """CPU time of commands; rows of the table."""
    rows = [(f"chappe {command}", ("-m", "chappe.cli", *command.split())) for command in COMMANDS]
    rows += [(program, ("-c", program)) for program in (TABLE, "import polars")]
    return [f"| `{name}` | {median(spent(*arguments) for _ in range(5)):.2f} |" for name, arguments in rows]


def paper() -> list[str]:
    """CPU time of a paper with short runs: all to be made, with the runs kept, with all kept; rows of the table."""
    with tempfile.TemporaryDirectory() as name:
        command = ("-m", "chappe.cli", *QUICK.split(), "--jobs", "1", "--out", f"{name}/paper")
        times = [spent(*command)]
        for path in Path(name, "paper").iterdir():
            if path.is_file():
                path.unlink()
        times += [spent(*command), spent(*command)]
    states = ("", ", its runs kept", ", all kept")
    return [f"| `chappe {QUICK}`{state} | {took:.2f} |" for state, took in zip(states, times, strict=True)]


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
    none, _ = instructions([*run.command(1, 1)[:-1], f"run.stop={NO_LENGTH} s"])
    (few, short), (many, long) = (instructions(run.command(1, seconds)) for seconds in (20, 60))
    return none, (many - few) / (frames(long) - frames(short))


def per(command: Callable[[float], list[str]], seconds: float, of: Callable[[str], int]) -> float:
    """Instructions for each frame or segment: the difference of two lengths."""
    (few, short), (many, long) = (instructions(command(length)) for length in (seconds, 2 * seconds))
    return (many - few) / (of(long) - of(short))


def of_linux(folder: Path, control: str) -> Callable[[float], list[str]]:
    """Ten flows of a congestion control of Linux over a bottleneck."""

    def command(seconds: float) -> list[str]:
        run = wires.Long(10, 100, 250, seconds, folder).ours(1)
        text = Path(run[1]).read_text(encoding="utf-8")
        text = re.sub("^extends = .*", 'extends = "linux"', text, flags=re.M)
        text = re.sub("^tcp = .*", f'tcp = {{ congestion_control = "{control}" }}', text, flags=re.M)
        return wires.written(folder / f"{control}.toml", text, 1, seconds)

    return command


def stations(number: int, *, down: bool) -> Callable[[float], list[str]]:
    """Saturated stations of 802.11n within 20 m of each other, or a station that sends to all others."""

    def command(seconds: float) -> list[str]:
        ends = [(number, i) if down else (i, number) for i in range(number)]
        flows = ", ".join(f'{{ src = {a}, dst = {b}, app = "cbr" }}' for a, b in ends)
        places = [f"topology.hops={number}", f"topology.spacing={20 / number} m"]
        return [
            *(program(), str(HERE / "ns3" / "wifi.toml"), "1", f"run.stop={seconds} s", *places),
            *(f"cbr.interval={180 * number} us", f"flow=[{flows}]"),
        ]

    return command


def counted(folder: Path) -> list[str]:
    """Instructions of parts of runs; rows of the table."""
    flow = wires.Long(1, 10, 50, 0, folder)
    segments: list[tuple[str, Callable[[float], list[str]], float]] = [
        ("a segment, 1 flow over three wires", lambda seconds: flow.ours(1, seconds), 10),
        (
            "the same in ns-2, few headers, List",
            lambda seconds: [*flow.theirs(1, zhou.DEFAULT, seconds)[:-2], "few", "List"],
            10,
        ),
        ("a segment, 10 flows of CUBIC of Linux over wires", of_linux(folder, "cubic"), 2),
        ("a segment, 10 flows of BBR of Linux over wires", of_linux(folder, "bbr"), 2),
    ]
    rows = [(what, per(command, seconds, zhou.delivered)) for what, command, seconds in segments]
    for number in (50, 100):
        rows += [
            (f"a frame, {number} saturated stations of 802.11n", per(stations(number, down=False), 0.3, frames)),
            (f"a frame to one of {number} stations of 802.11n", per(stations(number, down=True), 0.3, frames)),
        ]
    for name, preset in (("ns-2's reception", "ns2-2.35"), ("SINR", "standard"), ("802.11n", "802.11n")):
        text = f'extends = "{preset}"\nrun = {{ stop = "1 s", batches = 2 }}\ntopology.hops = 1\n'
        command = wires.written(folder / "short.toml", text, 1, NO_LENGTH)
        rows.append((f"a process that starts one hop with {name}, and ends", instructions(command)[0]))
    return [f"| {what} | {number:,.0f} |" for what, number in rows]


TEXT = """# Performance

**{worst_first}**

[yardstick.py](../benches/yardstick.py) writes this page: `make bench-yardstick`.

Machine: {machine}. Times are user CPU time of one thread. Other work may
have run at the same time (load {load}): ratios of runs made in turn say more than times.

## Compared with ns-2.35

*Stock* is ns-2 as it comes: packets with the headers of everything that it knows, and the scheduler Calendar. *Fastest*
has only the headers that the run needs, which a script can ask for and few do, and the fastest of the schedulers List,
Calendar and Heap. Neither program writes traces, and the time of a run of no length is left out. A ratio is the median
of {times} pairs, with the least and the greatest; where Chappe is slowest comes first. Both must deliver as many
segments, within 3 % or the 95 % interval of the seeds. Runs of fewer than {enough:,} segments are not in the sentence
above.

| run | segments, Chappe / ns-2 | Chappe [s] | stock [s] | stock / Chappe | fastest [s] | fastest / Chappe |
|---|---:|---:|---:|---:|---:|---:|
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

| instructions of | number |
|---|---:|
{counted}

## Waiting

| command | CPU time [s] |
|---|---:|
{started}

NumPy, with which results are measured, is the largest part of `run`; the other commands do not load it, and only tables
that are asked for need polars (`tests/cli/test_start.py`; the log has [what each
takes](measurements.md#start-of-a-run)).

Five recorded tables ({tables}), written to files, raise the time of a frame from {plain:.2f} to
{with_tables:.2f} us.

A study of short runs (`make bench-study`):

{study}
"""


def says_much(row: str) -> bool:
    """Returns true if both delivered so many segments in the median run that chance hardly moves the ratio."""
    return all(int(each.replace(",", "")) >= ENOUGH for each in row.split("|")[2].split("/"))


def ratio_in(column: int, row: str) -> float:
    """The median in a column of a row of the table."""
    return float(row.split("|")[column].split()[0])


def summary(rows: list[str]) -> str:
    """Sentence on the ratios of the rows that say much."""
    rows = [row for row in rows if says_much(row)]

    def span(chosen: list[str], column: int) -> str:
        medians = [ratio_in(column, row) for row in chosen]
        low, high = (f"{m:.1f}" if m < 10 else f"{m:.0f}" for m in (min(medians), max(medians)))
        return low if low == high else f"{low} to {high}"

    long_flows = [row for row in rows if "wires" in row and "short" not in row]
    short_flows = [row for row in rows if "short" in row]
    radio = [row for row in rows if "wires" not in row]
    sentences = []
    for what, chosen in (
        ("long flows over wires", long_flows),
        ("short flows over wires", short_flows),
        ("networks with radios", radio),
    ):
        if chosen:
            sentences.append(f"{span(chosen, 7)} times for {what} (as distributed {span(chosen, 5)})")
    said = (
        f"The fastest configuration of ns-2.35 takes, as a multiple of the CPU time of Chappe, {'; '.join(sentences)}."
    )
    return textwrap.fill(said, 114)


def page(kept: dict[str, Any]) -> str:
    """The page of what was measured."""
    sizes = [(nodes, kept[f"{nodes:,} nodes"]) for nodes in SIZES if f"{nodes:,} nodes" in kept]
    first = dict(sizes).get(1000, [math.nan])[0]
    grown = [f"| {nodes:,} | {each:.2f} | {each / first:.1f} | {memory:.0f} |" for nodes, (each, memory) in sizes]
    none, per_frame = kept["instructions"]
    plain, with_tables = kept["tables"]
    rows = sorted((row for row in kept.values() if isinstance(row, str)), key=partial(ratio_in, 7))
    return TEXT.format(
        worst_first=summary(rows),
        load=f"{os.getloadavg()[0]:.0f}",
        machine=machine(),
        times=TIMES,
        enough=ENOUGH,
        compared="\n".join(rows),
        grown="\n".join(grown),
        per_frame=per_frame,
        none=none / 1e6,
        counted="\n".join(kept["counted"]),
        started="\n".join([*kept["start"], *kept["paper"]]),
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
        parts |= {"instructions": reading, "counted": partial(counted, folder)}
        parts |= {"start": waiting, "paper": paper, "tables": recorded}
        parts["study"] = lambda: output([sys.executable, str(BENCHES / "studies" / "study.py")]).strip().splitlines()
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
