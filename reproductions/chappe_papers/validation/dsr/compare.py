"""Walks in ns-2, with forty runs of Chappe each: the ratio of the means of every column."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chappe import Scenario
from chappe import text as show
from chappe.stats import Estimate, fisher, ratio, total
from chappe.study import Item, Point, RunCache
from chappe.text import Table

from chappe_papers.pages.page import table
from chappe_papers.validation.compare import OfSimulator, yes
from chappe_papers.validation.dsr.cases import HERE, WALKS, Row, of_run, reference, scenario

TITLES = {"newreno": "NewReno flows among 15 nodes", "vegas": "Vegas flows among 18 nodes"}
"""Title of each case."""

NEAR = (0.9, 1.1)
"""A column agrees if the interval of its ratio over all walks overlaps this one."""


WIDE = 0.2
"""Half width of an interval that decides little."""

LEVEL = 0.05
"""Level of the test of columns that are 0 in one simulator."""


@dataclass(frozen=True)
class Ratio:
    """The ratio of our mean to that of ns-2.

    Attributes:
        ours: Mean of our runs.
        ns2: Mean of the runs of ns-2.
        seen: Number of runs in which the column is not 0, and number of runs: of Chappe, and of ns-2.
    """

    ours: Estimate
    ns2: Estimate
    seen: tuple[tuple[int, int], tuple[int, int]] = ((1, 1), (1, 1))

    @property
    def estimate(self) -> Estimate:
        """The ratio; NaN where the column is 0 in ns-2."""
        return ratio(self.ours, self.ns2)

    @property
    def is_empty(self) -> bool:
        """True if the column is 0 in every run of both."""
        return self.ours.mean == self.ns2.mean == 0

    @property
    def is_wide(self) -> bool:
        """True if the interval reaches further than 20 % to each side, or there is no ratio."""
        return not self.estimate.half_width() <= WIDE

    @property
    def agrees(self) -> bool:
        """True if the interval overlaps 0.9 to 1.1.

        Where one simulator has none there is no ratio: the shares of runs that have any are compared, by Fisher's exact
        test at 5 %. Packets of one run come in bursts, so their number is no count of independent events.
        """
        if 0 in (self.ours.mean, self.ns2.mean):
            (a, of_a), (b, of_b) = self.seen
            return fisher(a, of_a, b, of_b) >= LEVEL
        low, high = self.estimate.interval()
        return low <= NEAR[1] and high >= NEAR[0]

    def __str__(self) -> str:
        """The ratio with its interval."""
        e = self.estimate
        if math.isnan(e.mean):
            return "-"
        low, high = e.interval()
        return f"{e.mean:.2f}" if low == high else f"{e.mean:.2f} ({low:.2f} to {high:.2f})"

    @property
    def cells(self) -> tuple[str, str, str]:
        """Both means, and the ratio."""
        return show.number(self.ns2.mean), show.number(self.ours.mean), str(self)


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
    """Number of runs in which a column is not 0, and number of runs."""
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


Columns = Mapping[str, Sequence[Column]]
"""The columns of each case."""


class OfDsr(OfSimulator):
    """The comparison."""

    name = "dsr"
    title = "DSR between mobile nodes against ns-2.35"
    subject = "DSR against ns-2"
    folder = HERE
    labels = ("walk",)
    of_run = staticmethod(of_run)
    seeds = range(1, 41)
    rule = (
        "Each number is a mean of runs of 200 s: forty of Chappe with each movement pattern, and eight (NewReno) or",
        "forty (Vegas) of ns-2. A column agrees when the 95 % interval of the ratio of the means, over the patterns",
        "of its flows, overlaps 0.9 to 1.1. Where one simulator has none, the shares of runs that have any are",
        "compared (Fisher's exact test, 5 %).",
    )
    header = ("case", "column", "walk", "ns2", "ours", "ratio", "half_width_95", "agrees")

    def base(self) -> Scenario:
        """The scenario of the first walk."""
        return scenario("newreno", "walk1")

    def run(self, runs: RunCache) -> dict[str, dict[str, list[Row]]]:
        """Runs the walks of all cases, or finds their runs."""
        items = {
            (case, w): [Item(Point({"walk": w}, scenario(case, w)), seed) for seed in self.seeds]
            for case, walks in WALKS.items()
            for w in walks
        }
        tables = runs.make(items, self.of_run)
        names = list(next(iter(reference("newreno").values()))[0])
        return {
            case: {w: list(tables[case, w].select(names).iter_rows(named=True)) for w in walks}
            for case, walks in WALKS.items()
        }

    def compare(self, runs: RunCache) -> Columns:
        """Runs the walks of ns-2."""
        return {case: compare(ours, reference(case)) for case, ours in self.run(runs).items()}

    def rows(self, columns_of: Columns, /) -> Iterator[Sequence[object]]:
        """A line for each walk, and one for all walks."""
        for case, columns in columns_of.items():
            for c in columns:
                for walk, r in [*c.walks.items(), ("all", c.together)]:
                    numbers = map(repr, (r.ns2.mean, r.ours.mean, r.estimate.mean, r.estimate.half_width()))
                    yield (case, c.name, walk, *numbers, r.agrees if walk == "all" else "")

    def answers(self, columns_of: Columns, /) -> Sequence[str]:
        """A line for each case."""
        return [f"{TITLES[case]}: {answer(columns)}" for case, columns in columns_of.items()]

    def sections(self, columns_of: Columns, _jobs: int | None, /) -> Iterable[Sequence[str]]:
        """The columns of each case."""
        return (_section(case, columns) for case, columns in columns_of.items())

    def tables(self, columns_of: Columns, /) -> Iterator[Table]:
        """A table of the columns that do not agree."""
        if unlike := [(case, c) for case, columns in columns_of.items() for c in columns if not c.together.agrees]:
            t = show.table("flows", "does not agree", ">ns-2", ">ours", ">ratio", title=self.subject)
            for case, c in unlike:
                t.add_row(case, c.name, *c.together.cells)
            yield t


def answer(columns: Sequence[Column]) -> str:
    """Number of columns that agree, of those with wide intervals, ratios of the others, and number of empty columns."""
    judged = [c for c in columns if not c.together.is_empty]
    agree = [c for c in judged if c.together.agrees]
    wide = sum(c.together.is_wide for c in agree)
    unlike = ", ".join(f"`{c.name}` {_ratio(c.together)}" for c in judged if not c.together.agrees)
    sentence = [f"{len(agree)} of {len(judged)} columns agree, {wide} of them with intervals of more than ± 20 %."]
    sentence += [f"These do not (ours divided by that of ns-2): {unlike}."] if unlike else []
    if empty := len(columns) - len(judged):
        sentence.append(f"Columns that are 0 in every run of both: {empty}.")
    return " ".join(sentence)


def _ratio(r: Ratio) -> str:
    """A ratio without its interval; "-" where ns-2 has none of the column."""
    return "-" if math.isnan(r.estimate.mean) else f"{r.estimate.mean:.2f}"


def _section(case: str, columns: Sequence[Column]) -> list[str]:
    """Section on the columns of a case."""
    rows = []
    for c in columns:
        agrees = "0" if c.together.is_empty else yes(c.together.agrees)
        rows.append([f"`{c.name}`", *(str(r) for r in c.walks.values()), *c.together.cells, agrees])
    header = ("column", *WALKS[case], "ns-2", "ours", "together", "agrees")
    return [f"## {TITLES[case]}", "", *table(header, rows)]


VALIDATION = OfDsr()
