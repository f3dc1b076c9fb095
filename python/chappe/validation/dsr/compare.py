"""The walks of ns-2, with forty runs of ours each: the ratio of the means of every column."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chappe import show
from chappe.papers.kept import Kept
from chappe.stats import Estimate, ratio
from chappe.study.axes import Item, Point
from chappe.validation.dsr import page
from chappe.validation.dsr.cases import WALKS, Row, of_run, reference, scenario

SEEDS = range(1, 41)

NEAR = (0.9, 1.1)
"""A column agrees if the interval of its ratio over all walks overlaps this one."""


@dataclass(frozen=True)
class Ratio:
    """The mean of ours beside that of ns-2."""

    ours: Estimate
    ns2: Estimate

    @property
    def estimate(self) -> Estimate:
        """The ratio; NaN where ns-2 has nothing."""
        return ratio(self.ours, self.ns2)

    @property
    def agrees(self) -> bool:
        """True if the interval overlaps 0.9 to 1.1; where one has none of something, the other may have a few."""
        if 0 in (self.ours.mean, self.ns2.mean):
            return max(self.ours.mean, self.ns2.mean) < FEW
        low, high = self.estimate.interval()
        return low <= NEAR[1] and high >= NEAR[0]


FEW = 5.0
"""Of what one simulator has none, the other may have less than so many a run."""


@dataclass(frozen=True)
class Column:
    """A column: its ratio on each walk, and over all of them."""

    name: str
    walks: Mapping[str, Ratio]
    together: Ratio


def mean(walks: Sequence[Sequence[Row]], name: str) -> Estimate:
    """The mean over walks of the means of their runs (Welch, Satterthwaite)."""
    own = [Estimate.of([row[name] for row in rows if not math.isnan(row[name])]) for rows in walks]
    variance = sum(e.variance for e in own)
    spread = sum(e.variance**2 / e.df for e in own)
    n = len(own)
    df = variance**2 / spread if spread else float(sum(e.df for e in own))
    return Estimate(sum(e.mean for e in own) / n, variance / n**2, df)


def compare(ours: Mapping[str, Sequence[Row]], ns2: Mapping[str, Sequence[Row]]) -> list[Column]:
    """The ratios of all columns."""

    def of(name: str, walks: Sequence[str]) -> Ratio:
        return Ratio(mean([ours[w] for w in walks], name), mean([ns2[w] for w in walks], name))

    return [
        Column(name, {w: of(name, [w]) for w in ours}, of(name, list(ours))) for name in next(iter(ours.values()))[0]
    ]


def kept(folder: Path | str, jobs: int | None) -> Kept:
    """The runs, in a folder below that for the results."""
    return Kept(folder, scenario(WALKS[0]), ("walk",), jobs=jobs, title="DSR beside ns-2")


def run(runs: Kept, seeds: Sequence[int]) -> dict[str, list[Row]]:
    """Runs the walks, or finds their runs."""
    items = {w: [Item(Point({"walk": w}, scenario(w)), seed) for seed in seeds] for w in WALKS}
    expected = runs.missing([i for own in items.values() for i in own])
    with runs.progress(expected), runs.stage(expected):
        tables = runs.measure(items, of_run)
    names = list(next(iter(reference().values()))[0])
    return {w: list(tables[w].select(names).iter_rows(named=True)) for w in items}


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with kept(folder, jobs) as runs:
        found = compare(run(runs, SEEDS), reference())
    with (folder / "validation.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["column", "walk", "ns2", "ours", "ratio", "half_width_95", "agrees"])
        for c in found:
            for walk, r in [*c.walks.items(), ("all", c.together)]:
                numbers = map(repr, (r.ns2.mean, r.ours.mean, r.estimate.mean, r.estimate.half_width()))
                out.writerow([c.name, walk, *numbers, r.agrees if walk == "all" else ""])
    (folder / "validation.md").write_text(page.page(found), encoding="utf-8")
    if unlike := [c for c in found if not c.together.agrees]:
        t = show.table("does not agree", ">ns-2", ">ours", ">ratio", title="DSR between walking nodes beside ns-2.35")
        for c in unlike:
            t.add_row(c.name, page.number(c.together.ns2), page.number(c.together.ours), page.ratio(c.together))
        show.write(t)
    print(page.answer(found))
    print(f"Written to {folder}: validation.md with every value, validation.csv.")
    return 0
