"""Walks in ns-2, with forty runs of Chappe each: the ratio of the means of every column."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chappe import text as show
from chappe.stats import Estimate, fisher, ratio, total
from chappe.study import Item, Point, RunCache
from chappe.text import Table

from chappe_papers.validation.compare import finish
from chappe_papers.validation.dsr import page
from chappe_papers.validation.dsr.cases import WALKS, Row, of_run, reference, scenario

SEEDS = range(1, 41)

NEAR = (0.9, 1.1)
"""A column agrees if the interval of its ratio over all walks overlaps this one."""


WIDE = 0.2
"""Half width of an interval that decides little."""

LEVEL = 0.05
"""Level of the test of columns of which one simulator has nothing."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of our mean to that of ns-2.

    Attributes:
        ours: Mean of our runs.
        ns2: Mean of the runs of ns-2.
        seen: Runs in which a column is not 0, and runs: of Chappe, and of ns-2.
    """

    ours: Estimate
    ns2: Estimate
    seen: tuple[tuple[int, int], tuple[int, int]] = ((1, 1), (1, 1))

    @property
    def estimate(self) -> Estimate:
        """The ratio; NaN where ns-2 has nothing."""
        return ratio(self.ours, self.ns2)

    @property
    def is_empty(self) -> bool:
        """True if no run of either has any."""
        return self.ours.mean == self.ns2.mean == 0

    @property
    def is_wide(self) -> bool:
        """True if the interval reaches further than 20 % to each side, or there is no ratio."""
        return not self.estimate.half_width() <= WIDE

    @property
    def agrees(self) -> bool:
        """True if the interval overlaps 0.9 to 1.1.

        Where one simulator has none there is no ratio: the shares of runs that have any are compared, by Fisher's exact
        test at 5 %. Packets of one run come in bursts, so that their number is no count of independent events.
        """
        if 0 in (self.ours.mean, self.ns2.mean):
            (a, of_a), (b, of_b) = self.seen
            return fisher(a, of_a, b, of_b) >= LEVEL
        low, high = self.estimate.interval()
        return low <= NEAR[1] and high >= NEAR[0]


@dataclass(frozen=True)
class Column:
    """A column: its ratio on each walk, and over all of them."""

    name: str
    walks: Mapping[str, Ratio]
    together: Ratio


def mean(walks: Sequence[Sequence[Row]], name: str) -> Estimate:
    """The mean over walks of the means of their runs (Welch, Satterthwaite)."""
    means = [Estimate.of([row[name] for row in rows if not math.isnan(row[name])]) for rows in walks]
    return total(means, len(means))


def seen(walks: Sequence[Sequence[Row]], name: str) -> tuple[int, int]:
    """Runs in which a column is not 0, and runs."""
    values = [row[name] for rows in walks for row in rows]
    return sum(v != 0 for v in values), len(values)


def compare(ours: Mapping[str, Sequence[Row]], ns2: Mapping[str, Sequence[Row]]) -> list[Column]:
    """The ratios of all columns."""

    def of(name: str, walks: Sequence[str]) -> Ratio:
        a, b = [ours[w] for w in walks], [ns2[w] for w in walks]
        return Ratio(mean(a, name), mean(b, name), (seen(a, name), seen(b, name)))

    return [
        Column(name, {w: of(name, [w]) for w in ours}, of(name, list(ours))) for name in next(iter(ours.values()))[0]
    ]


def run_cache(folder: Path | str, jobs: int | None) -> RunCache:
    """The runs, in a folder below that for the results."""
    return RunCache(folder, scenario("newreno", "walk1"), ("walk",), jobs=jobs, title="DSR against ns-2")


def run(runs: RunCache, seeds: Sequence[int]) -> dict[str, dict[str, list[Row]]]:
    """Runs the walks of all cases, or finds their runs."""
    items = {
        (case, w): [Item(Point({"walk": w}, scenario(case, w)), seed) for seed in seeds]
        for case, walks in WALKS.items()
        for w in walks
    }
    tables = runs.make(items, of_run)
    names = list(next(iter(reference("newreno").values()))[0])
    return {
        case: {w: list(tables[case, w].select(names).iter_rows(named=True)) for w in walks}
        for case, walks in WALKS.items()
    }


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with run_cache(folder, jobs) as runs:
        columns_of = {case: compare(ours, reference(case)) for case, ours in run(runs, SEEDS).items()}
    rows: list[list[object]] = []
    for case, columns in columns_of.items():
        for c in columns:
            for walk, r in [*c.walks.items(), ("all", c.together)]:
                numbers = map(repr, (r.ns2.mean, r.ours.mean, r.estimate.mean, r.estimate.half_width()))
                rows.append([case, c.name, walk, *numbers, r.agrees if walk == "all" else ""])
    header = ["case", "column", "walk", "ns2", "ours", "ratio", "half_width_95", "agrees"]
    return finish(folder, header, rows, page.page(columns_of), summary(columns_of), page.answers(columns_of))


def summary(columns_of: Mapping[str, Sequence[Column]]) -> Iterator[Table]:
    """A table of the columns that do not agree."""
    if unlike := [(case, c) for case, columns in columns_of.items() for c in columns if not c.together.agrees]:
        t = show.table(
            "flows", "does not agree", ">ns-2", ">ours", ">ratio", title="DSR between mobile nodes against ns-2.35"
        )
        for case, c in unlike:
            t.add_row(case, c.name, page.number(c.together.ns2), page.number(c.together.ours), page.ratio(c.together))
        yield t
