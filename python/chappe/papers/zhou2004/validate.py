"""Everything that ns-2.35 was run on, run here: how far off is each number?"""

import csv
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from chappe import show
from chappe.papers.kept import Kept
from chappe.papers.zhou2004 import lab, ns2, validation_page
from chappe.papers.zhou2004.lab import GOODPUT, SEGMENTS, UNFAIRNESS, unfairness
from chappe.papers.zhou2004.points import FLOWS, LOSSY, Point
from chappe.stats import Estimate, difference

SEEDS = range(1, 11)
MANY = range(1, 101)
"""Seeds where numbers do not agree."""

DRAWS = 9999
"""How often a sample as large as that of ns-2 is drawn from our runs."""

TOLERANCE = 0.03
"""Of goodput."""

AS_NS2 = {
    # ns-2 counts what is acknowledged after 100 s. The way back takes 26.26 ms.
    "run.stop": "99.97374 s",
    # Its two LANs take 8.832 us each for a segment, and 0.832 us for an acknowledgement.
    f"link.{LOSSY}.delay": "4.017664 ms",
    f"link.{LOSSY}.back.delay": "4.001664 ms",
}
"""How ns-2 was set up and what it counts, to the segment."""


@dataclass(frozen=True)
class Comparison:
    """A number of ns-2 and ours."""

    point: Point
    measure: str
    ns2: Estimate
    ours: Estimate
    runs: int
    """Of ns-2."""
    among: float | None = None
    """Where they do not agree: how probable it is that as many runs of ours are as far out, on either side."""

    @property
    def off(self) -> float:
        """Relative difference."""
        return self.ours.mean / self.ns2.mean - 1

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference; NaN when ns-2 has one run."""
        return difference(self.ours, self.ns2).half_width()

    @property
    def agrees(self) -> bool:
        """Whether they agree: goodput within 3 % or the half width, unfairness within the half width.

        Without losses there is one run, and nothing is random: unfairness is the same or it is not.
        """
        apart = abs(self.ours.mean - self.ns2.mean)
        near = self.measure != UNFAIRNESS and apart <= TOLERANCE * self.ns2.mean
        return near or apart <= self.half_width or math.isclose(apart, 0, abs_tol=1e-12)


def _ours(rows: pl.DataFrame) -> dict[str, list[float]]:
    """Goodput and unfairness of runs as ns-2's are reckoned: segments in 100 s, whenever a flow begins."""
    flows = [[n * ns2.SEGMENT_KBIT / ns2.SECONDS for n in run] for run in _delivered(rows)]
    return {GOODPUT: [sum(f) / FLOWS for f in flows], UNFAIRNESS: [unfairness(f) for f in flows]}


def _delivered(rows: pl.DataFrame) -> list[tuple[float, ...]]:
    return rows.select([f"delivered_{f}" for f in range(FLOWS)]).rows()


def probability(value: float, runs: Sequence[float], n: int) -> float:
    """How probable it is that the mean of ``n`` of these runs is at least as far out as ``value``, on either side."""
    draw = random.Random(1)
    means = [sum(draw.sample(runs, n)) / n for _ in range(DRAWS)]
    beyond = min(sum(m <= value for m in means), sum(m >= value for m in means))
    return min(1.0, 2 * (1 + beyond) / (1 + DRAWS))


def compare(points: Mapping[Point, Sequence[ns2.Record]], runs: Kept) -> list[Comparison]:
    """Runs what ns-2 was run on; where numbers do not agree and losses are random, with many seeds."""
    alone = ns2.lone()
    tables = lab.run(dict.fromkeys(points, SEEDS), runs, AS_NS2) | lab.run(dict.fromkeys(alone, SEEDS), runs)
    found = []
    for p, own in points.items():
        theirs, ours = ns2.estimates(own), _ours(tables[p])
        found += [Comparison(p, m, theirs[m], lab.mean(ours[m]), len(own)) for m in (GOODPUT, UNFAIRNESS)]
    for p, values in alone.items():
        ours_alone = lab.estimates(tables[p])
        found.append(Comparison(p, SEGMENTS, values[SEGMENTS], ours_alone[SEGMENTS], ns2.LONE_RUNS))
    unlike = {c.point for c in found if not c.agrees and c.point.per_percent and c.measure != SEGMENTS}
    many = lab.run(dict.fromkeys(unlike, MANY), runs, AS_NS2)
    return [
        replace(c, among=probability(c.ns2.mean, _ours(many[c.point])[c.measure], c.runs))
        if c.point in many and not c.agrees
        else c
        for c in found
    ]


@dataclass(frozen=True)
class Start:
    """A run without losses whose flows begin at drawn times: segments of each flow."""

    mechanism: str
    starts: tuple[float, ...]
    ns2: tuple[int, ...]
    ours: tuple[int, ...]


def compare_starts(runs: Kept) -> list[Start]:
    """Runs without losses."""
    found = []
    for mechanism, starts, theirs in ns2.starts():
        point = Point("newreno", mechanism)
        begin = {f"flow.{i}.start": f"{1e6 * t:.0f} us" for i, t in enumerate(starts)}
        rows = lab.run({point: [1]}, runs, AS_NS2 | begin)[point]
        found.append(Start(mechanism, starts, theirs, tuple(int(n) for n in _delivered(rows)[0])))
    return found


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with lab.kept(folder, jobs) as runs:
        found = compare(ns2.by_point(ns2.records()), runs)
        begun = compare_starts(runs)
    with (folder / "validation.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(
            ["reading", "variant", "mechanism", "per_percent", "window", "measure", "ns2_runs", "ns2", "ours",
             "half_width_95", "agrees", "p_among_ours"]
        )  # fmt: skip
        for c in found:
            p = c.point
            numbers = map(repr, (c.ns2.mean, c.ours.mean, c.half_width))
            among = repr(c.among) if c.among is not None else ""
            out.writerow([p.reading, p.variant, p.mechanism, f"{p.per_percent:g}", p.window, c.measure, c.runs,
                          *numbers, c.agrees, among])  # fmt: skip
    (folder / "validation.md").write_text(validation_page.page(found, begun), encoding="utf-8")
    t = show.table("", "measure", ">agree", ">of", title="Ours beside ns-2.35", keys=2)
    for reading in dict.fromkeys(c.point.reading for c in found):
        for measure in (GOODPUT, UNFAIRNESS, SEGMENTS):
            own = [c for c in found if c.point.reading == reading and c.measure == measure]
            if own:
                t.add_row(validation_page.TITLES[reading], lab.LABELS[measure], str(sum(c.agrees for c in own)),
                          str(len(own)))  # fmt: skip
    show.write(t)
    t = show.table("does not agree", "measure", ">ns-2", ">ours", ">half width", ">p among ours", keys=2)
    for c in found:
        if not c.agrees:
            t.add_row(*validation_page.cells(c))
    show.write(t)
    show.say(f"Written to {folder}: validation.md with every value and the reasons of the differences, validation.csv.")
    return 0
