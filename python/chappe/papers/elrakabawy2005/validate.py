"""The recorded runs of ns-2.35, run here under the same stop rule; where runs have states, many of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from chappe import show
from chappe.papers import reference
from chappe.papers.elrakabawy2005.design import (  # fmt: skip
    COLLAPSED,
    COMPARED,
    DESIGN,
    FAILURES,
    GOODPUT,
    JAIN,
    MEASURES,
    absorbing,
)
from chappe.papers.elrakabawy2005.points import CHAIN, GRIDS, UDP, Point, scenario
from chappe.papers.kept import Kept
from chappe.papers.measured import OF_BATCHES
from chappe.papers.reference import FURTHER, Record
from chappe.papers.table import NS2
from chappe.papers.validate import LEVEL, Comparison, Validation, probability, run, singles, trust
from chappe.report.page import table
from chappe.stats import Estimate, fisher, quantile_t

SEEDS = range(1, 11)
MANY = range(1, 41)
"""Seeds where a run of ns-2 is compared with single runs of ours, and where runs have two states."""

Case = tuple[Point, int, int]
"""What runs of ours have in common with a run of ns-2, which is all but the seed: point, batches, packets in each."""


@dataclass(frozen=True)
class Recorded(Comparison):
    """A number of ns-2 and ours, both as means over batches.

    Attributes:
        record: The run of ns-2.
        rows: Our runs.
        further: Further seeds of ns-2, where there are any.
        every: Ours one by one, each with the error of its batch means.
        more: Our runs with many seeds, where there are any.
    """

    record: Record = field(kw_only=True)
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    further: Estimate | None = None
    every: Sequence[Estimate] = ()
    more: pl.DataFrame | None = None

    @property
    def strangers(self) -> int:
        """How many of our own runs do not agree with the others when taken for the run of ns-2."""
        count = 0
        for i, one in enumerate(self.every):
            others = Estimate.of([e.mean for j, e in enumerate(self.every) if j != i])
            count += not self.beside(one, others)
        return count

    def beside(self, ns2: Estimate, ours: Estimate) -> bool:
        """Whether other numbers agree by the same rule."""
        return Comparison(self.row, self.part, self.point, self.name, self.measure, ns2, ours).agrees

    @property
    def one_run(self) -> bool:
        """Whether it is compared with single runs of ours: a run of ns-2 is one run, whatever its batches promise."""
        return self.name in (GOODPUT, JAIN) and not self.agrees


def _column(name: str) -> str:
    """A measure as ns-2's records have it, in a row of our runs: a mean over batches."""
    return name if name == JAIN else name + OF_BATCHES


def compared(r: Record) -> Sequence[str]:
    """The measures that a run of ns-2 is compared in."""
    if r.point.variant == UDP:
        return (GOODPUT, "link_drop_probability", FAILURES)
    return COMPARED if r.point.place == CHAIN else (GOODPUT, JAIN, *COMPARED[1:])


def case(r: Record) -> Case:
    """What runs of ours have in common with a run of ns-2."""
    return r.point, r.batches, r.packets_per_batch


def packets(r: Record) -> int:
    """Packets that a run delivered."""
    return (r.batches + 1) * r.packets_per_batch


def two_states(r: Record) -> bool:
    """Whether runs are known to fall from one state into another: near the cliff, and Vegas with ACK thinning."""
    p = r.point
    near = p.variant == UDP and (p.place, p.hops, p.rate_mbps) == (CHAIN, 7, 2.0) and 34.0 <= p.interval_ms <= 36.5
    return near or (absorbing(p) and p.hops == 7)


def kind(point: Point) -> str:
    """The part of the page that a run belongs to."""
    if point.variant == UDP:
        return "paced UDP over chains"
    if point.place == CHAIN:
        return "chains, ACK thinning" if "_thin" in point.variant else "chains"
    return "grids" if point.place in GRIDS else "random topologies"


def row(r: Record) -> str:
    """A run of ns-2 in some words."""
    p = r.point
    where = f"{p.hops} hops" if p.place == CHAIN else p.place
    paced = f", {p.interval_ms:g} ms" if p.variant == UDP else ""
    return f"{p.variant}{paced}, {where}, {p.rate_mbps:g} Mbit/s, seed {r.seed}"


def further_seeds() -> dict[tuple[Point, str], Estimate]:
    """Further seeds of stock ns-2.35 for some points, by point and measure: independent replications."""
    values: dict[tuple[Point, str], list[float]] = {}
    for r in reference.of(FURTHER, DESIGN.records()):
        for name, e in r.values.items():
            values.setdefault((r.point, name), []).append(e.mean)
    return {key: Estimate.of(found) for key, found in values.items() if key[1] in MEASURES}


class OfRuns(Validation):
    """The comparison."""

    design = DESIGN
    title = "Validation against ns-2.35"
    columns = ("variant", "place", "hops", "rate_mbps", "interval_ms")
    written = ("ns2_seed",)
    also = ("further seeds", "agrees with these", "strangers")

    def records(self) -> list[Record]:
        """The runs of ns-2 that are repeated."""
        return [r for r in reference.of(NS2, DESIGN.records()) if r.packets_per_batch]

    def compare(self, runs: Kept) -> list[Recorded]:
        """Runs what ns-2 was run on, with its number of batches and packets per batch."""
        records = self.records()
        tables = repeat(records, SEEDS, runs)
        first = [c for r in records for c in comparisons(r, tables[case(r)])]
        unlike = {case(c.record) for c in first if c.one_run}
        many = repeat([r for r in records if case(r) in unlike or two_states(r)], MANY, runs)
        return [c for r in records for c in comparisons(r, tables[case(r)], many.get(case(r)))]

    def head(self, found: Sequence[Recorded]) -> list[str]:
        """What a reader must know."""
        own = [c for c in found if c.name in (GOODPUT, JAIN)]
        own_runs = [c for c in own if c.one_run]
        unlike = [c for c in own_runs if c.p is not None and c.p < LEVEL]
        return [
            f"{len({id(c.record) for c in found})} runs of ns-2.35 are set beside runs of ours under the same stop "
            f"rule, {len(SEEDS)} seeds each. A value agrees when it differs by at most 3 % (goodput over chains "
            "without ACK thinning), 5 % (other goodput), 0.05 (Jain's index) or 10 % (all others), or by no more than "
            "the half width of the 95 % Welch interval of the difference. The records of ns-2 are means over batches, "
            "so ours are taken in the same way here; everywhere else ours are totals by totals. The error of ns-2 is "
            "that of its batch means, ours that of the seeds.",
            "How many would not agree by chance? A run of ours is of the same kind as a run of ns-2, so each of them "
            f"was taken for ns-2 and compared with the other {len(SEEDS) - 1} by the same rule. The column *expected* "
            "says how many values would not agree if ns-2 and we had drawn from the same distribution; of Jain's "
            "index, whose batches are not kept, it is not known.",
            f"Of the {len(own)} values of goodput and of Jain's index, {sum(c.agrees for c in own)} agree. For each of "
            f"the other {len(own_runs)}, the run of ns-2 was set among {len(MANY)} single runs of ours: "
            f"{len(own_runs) - len(unlike)} are like runs of ours, {len(unlike)} are not at 5 % "
            "([below](#goodput-and-jains-index-where-they-do-not-agree)).",
        ]

    def summary(self, found: Sequence[Recorded]) -> tuple[list[str], list[str]]:
        """How many do not agree, and how many would not by chance."""
        known = all(c.every for c in found)
        expected = f"{sum(c.strangers for c in found) / len(SEEDS):.1f}" if known else "-"
        return ["do not agree", "expected"], [str(sum(not c.agrees for c in found)), expected]

    def more(self, c: Recorded) -> list[str]:
        """Further seeds of ns-2, and strangers among ours."""
        strangers = f"{c.strangers} of {len(c.every)}" if c.every else "-"
        if c.further is None:
            return ["-", "-", strangers]
        scale = c.measure.scale
        agrees = "yes" if c.beside(c.further, c.ours) else "**no**"
        return [show.with_error(c.further.mean, c.further.half_width(), scale), agrees, strangers]

    def of_file(self, c: Recorded) -> list[object]:
        """The seed of ns-2."""
        return [c.record.seed]

    def sections(self, found: Sequence[Recorded]) -> list[str]:
        """How far batches can be trusted; single runs; runs with two states."""
        unlike = [c for c in found if c.one_run]
        among = singles(unlike, "Goodput and Jain's index where they do not agree")
        return [*trust(_groups(found), len(SEEDS)), *among, *_states(found)]


VALIDATION = OfRuns()


def repeat(records: Sequence[Record], seeds: Iterable[int], runs: Kept) -> dict[Case, pl.DataFrame]:
    """Runs what ns-2 was run on."""
    cases = {case(r): scenario(r.point, f"{packets(r)} delivered", batches=r.batches + 1) for r in records}
    return run(DESIGN, {c: (c[0], s, seeds) for c, s in cases.items()}, runs)


def comparisons(r: Record, rows: pl.DataFrame, many: pl.DataFrame | None = None) -> list[Recorded]:
    """The numbers of a run of ns-2 beside ours."""
    further = further_seeds()
    t = quantile_t(0.95, r.batches - 1)
    found = []
    for name in compared(r):
        m = MEASURES[name]
        if name == GOODPUT and (r.point.place != CHAIN or "_thin" in r.point.variant or r.point.variant == UDP):
            # Where the runs of ns-2 are short, or flows take turns for longer than a batch.
            m = type(m)(m.label, m.scale, 0.05)
        column = _column(name)
        values = [v for v in rows[column].to_list() if v is not None and not math.isnan(v)]
        halves = rows[f"{column}_half_width"].to_list() if name != JAIN else []
        one_by_one = [Estimate(v, (h / t) ** 2, r.batches - 1) for v, h in zip(rows[column], halves, strict=False)]
        singly = [] if many is None else many[column].to_list()
        found.append(
            Recorded(
                row(r), kind(r.point), r.point, name, m, r.values[name], Estimate.of(values), many=singly, record=r,
                rows=rows, further=further.get((r.point, name)), every=one_by_one, more=many,
            )
        )  # fmt: skip
    return found


def _groups(found: Sequence[Recorded]) -> dict[str, dict[Case, pl.DataFrame]]:
    """Our runs by kinds of points."""
    groups: dict[str, dict[Case, pl.DataFrame]] = {}
    for c in found:
        variant = "Vegas" if c.point.variant.startswith("vegas") else "the others"
        name = c.part if c.point.variant == UDP else f"{c.part}: {variant}"
        groups.setdefault(name, {})[case(c.record)] = c.rows
    return groups


def _states(found: Sequence[Recorded]) -> list[str]:
    """Runs that fall from one state into another."""
    further: dict[object, list[Record]] = {}
    for r in reference.of(FURTHER, DESIGN.records()):
        if "last_bps" in r.values:
            further.setdefault(r.point, []).append(r)
    rows = []
    for c in found:
        if c.name == GOODPUT and two_states(c.record) and c.more is not None:
            p = c.point
            last, goodput = c.more["last_bps"].to_list(), c.more[GOODPUT].to_list()
            top = 1460 * 8e3 / p.interval_ms if p.variant == UDP else max(*last, *goodput)
            numbers = (top, c.ns2.mean, sum(goodput) / len(goodput))
            fallen = sum(v < COLLAPSED * top for v in last)
            cells = [c.row, f"{packets(c.record):,}", *(show.number(v / 1e3) for v in numbers)]
            cells += [f"{fallen} of {len(last)}", "-", "-"]
            if p in further:
                theirs = [r.values["last_bps"].mean < COLLAPSED * top for r in further[p]]
                chance = fisher(fallen, len(last), sum(theirs), len(theirs))
                cells[-2:] = f"{sum(theirs)} of {len(theirs)}", probability(chance)
            rows.append(cells)
    return [
        "## Runs with two states",
        "",
        "How many runs have fallen into the lower state when they end: their goodput in the last batch is below "
        f"{100 * COLLAPSED:.0f} % of that in the upper state. Ours are {len(MANY)}; of ns-2 there is the recorded run, "
        "and further seeds of stock ns-2.35 (`docs/experiments/ns2_states.py`), which knows no ACK thinning. *p* is "
        "the probability of shares that are at least as different when both fall as often (Fisher's exact test).",
        "",
        *table(
            (
                "run",
                "packets",
                "upper state",
                "ns-2",
                "ours: mean",
                "ours: fallen",
                "further seeds of ns-2: fallen",
                "p",
            ),
            rows,
        ),
    ]
