"""Runs of ns-2.35 and ours under the same stop rule: do their numbers agree?"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from chappe.papers.elrakabawy2005 import ns2
from chappe.papers.elrakabawy2005.lab import items, labelled, measured
from chappe.papers.elrakabawy2005.measures import GOODPUT, JAIN, Measure, means_of_batches
from chappe.papers.elrakabawy2005.points import CHAIN, GRIDS, UDP, Point, scenario
from chappe.papers.kept import Kept
from chappe.scenario import Scenario
from chappe.stats import Estimate, difference, quantile_t

SEEDS = range(1, 11)
MANY = range(1, 41)
"""Seeds where a run of ns-2 is compared with single runs of ours, and where runs have two states."""

Case = tuple[Point, int, int]
"""What runs of ours have in common with a run of ns-2, which is all but the seed: point, batches, packets in each."""


@dataclass(frozen=True)
class Comparison:
    """A number of ns-2 and ours, both as means over batches."""

    record: ns2.Record
    measure: Measure
    ours: Estimate
    runs: Sequence[Estimate] = ()
    """Ours one by one, each with the error of its batch means."""
    further: Estimate | None = None
    """Further seeds of ns-2, where there are any."""

    @property
    def ns2(self) -> Estimate:
        """The number of ns-2; its error is that of its batch means."""
        return self.record.values[self.measure.name]

    @property
    def off(self) -> float:
        """Relative difference; infinite when only ns-2 has none of it."""
        if self.ns2.mean == self.ours.mean:
            return 0.0
        return self.ours.mean / self.ns2.mean - 1 if self.ns2.mean else math.inf

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference."""
        return difference(self.ours, self.ns2).half_width()

    @property
    def agrees(self) -> bool:
        """Whether they differ by at most the tolerance, or by no more than the half width."""
        return _agree(self.ours, self.ns2, self.measure)

    @property
    def agrees_with_further(self) -> bool | None:
        """The same about the further seeds of ns-2."""
        return None if self.further is None else _agree(self.ours, self.further, self.measure)

    @property
    def strangers(self) -> int:
        """How many of our own runs do not agree with the others when taken for the run of ns-2."""
        count = 0
        for i, one in enumerate(self.runs):
            others = Estimate.of([e.mean for j, e in enumerate(self.runs) if j != i])
            count += not _agree(others, one, self.measure)
        return count


def within(ours: Estimate, ns2: Estimate, measure: Measure) -> bool:
    """Whether they differ by at most the tolerance."""
    tolerance = measure.tolerance if measure.absolute else measure.tolerance * ns2.mean
    return abs(ours.mean - ns2.mean) <= tolerance


def _agree(ours: Estimate, ns2: Estimate, measure: Measure) -> bool:
    return within(ours, ns2, measure) or abs(ours.mean - ns2.mean) <= difference(ours, ns2).half_width()


def case(r: ns2.Record) -> Case:
    """What runs of ours have in common with a run of ns-2."""
    return r.point, r.batches, r.packets_per_batch


def packets(r: ns2.Record) -> int:
    """Packets that a run delivered."""
    return (r.batches + 1) * r.packets_per_batch


def _scenario(r: ns2.Record) -> Scenario:
    return scenario(r.point, f"{packets(r)} delivered", batches=r.batches + 1)


def compare(
    records: Sequence[ns2.Record], runs: Kept, seeds: Iterable[int] = SEEDS
) -> tuple[list[Comparison], dict[Case, pl.DataFrame]]:
    """Runs what ns-2 was run on, with its number of batches and packets per batch.

    Returns:
        The numbers, and our runs.
    """
    tables = run(records, list(seeds), runs)
    further = ns2.further_seeds()
    found = []
    for r in records:
        own = tables[case(r)]
        t = quantile_t(0.95, r.batches - 1)
        for m in r.measures:
            pairs = zip(own[m.of_batches], own[f"{m.of_batches}_half_width"], strict=True)
            one_by_one = [Estimate(mean * m.scale, (half * m.scale / t) ** 2, r.batches - 1) for mean, half in pairs]
            found.append(Comparison(r, m, means_of_batches(own, m), one_by_one, further.get((r.point, m.name))))
    return found, tables


def run(records: Sequence[ns2.Record], seeds: Sequence[int], runs: Kept) -> dict[Case, pl.DataFrame]:
    """Runs what ns-2 was run on."""
    cases = {case(r): labelled(r.point, _scenario(r)) for r in records}
    expected = runs.missing([i for own in cases.values() for i in items(own, seeds)])
    with runs.progress(expected), runs.stage(expected):
        return measured(cases, seeds, runs)


@dataclass(frozen=True)
class AmongOurs:
    """A number of ns-2 among those of single runs of ours."""

    comparison: Comparison
    values: Sequence[float]
    """Of our runs."""

    @property
    def beyond(self) -> int:
        """How many of our runs are at least as far out on the side of ns-2."""
        value = self.comparison.ns2.mean
        return min(sum(v <= value for v in self.values), sum(v >= value for v in self.values))

    @property
    def p(self) -> float:
        """Probability that a run of ours is at least as far out, on either side (rank test)."""
        return min(1.0, 2 * (1 + self.beyond) / (1 + len(self.values)))


def one_by_one(found: Sequence[Comparison], tables: Mapping[Case, pl.DataFrame]) -> list[AmongOurs]:
    """Goodput and Jain's index, where they do not agree: a run of ns-2 is one run, whatever its batches promise."""
    return [
        AmongOurs(c, [v * c.measure.scale for v in tables[case(c.record)][c.measure.of_batches]])
        for c in found
        if one_run(c)
    ]


def one_run(c: Comparison) -> bool:
    """Whether a number is compared with single runs of ours."""
    return c.measure.name in (GOODPUT.name, JAIN.name) and not c.agrees


def two_states(r: ns2.Record) -> bool:
    """Whether runs are known to fall from one state into another: near the cliff, and Vegas with ACK thinning."""
    p = r.point
    if p.place != CHAIN or p.hops != 7:
        return False
    near = p.variant == UDP and p.rate_mbps == 2.0 and 34.0 <= p.interval_ms <= 36.5
    return near or (p.variant.startswith("vegas") and "_thin" in p.variant and p.rate_mbps > 2.0)


def kind(point: Point) -> str:
    """The part of the validation that a run belongs to."""
    if point.variant == UDP:
        return "paced UDP over chains"
    if point.place == CHAIN:
        return "chains, ACK thinning" if "_thin" in point.variant else "chains"
    return "grids" if point.place in GRIDS else "random topologies"


KINDS = ("chains", "chains, ACK thinning", "paced UDP over chains", "grids", "random topologies")


def row(r: ns2.Record) -> str:
    """A run of ns-2 in some words."""
    p = r.point
    where = f"{p.hops} hops" if p.place == CHAIN else p.place
    paced = f", {p.interval_ms:g} ms" if p.variant == UDP else ""
    return f"{p.variant}{paced}, {where}, {p.rate_mbps:g} Mbit/s, seed {r.seed}"


def off(c: Comparison) -> str:
    """A relative difference, for people."""
    return "+inf" if math.isinf(c.off) else f"{c.off:+.1%}".replace("%", " %")
