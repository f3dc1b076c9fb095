"""Recorded runs of ns-2, each with batches: the same runs here, number by number, and single runs of either."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from chappe import Scenario
from chappe import text as show
from chappe.stats import Estimate, quantile_t
from chappe.study import RunCache

from chappe_papers.runs import reference
from chappe_papers.runs.estimates import NS2, Measure
from chappe_papers.runs.reference import FURTHER, Record
from chappe_papers.validation.compare import yes
from chappe_papers.validation.paper import Comparison, OfPaper, run

SEEDS = range(1, 11)
MANY = range(1, 41)
"""Seeds where a run of ns-2 is compared with single runs of Chappe, and where runs have two states."""

RunKey = tuple[Any, int, int]
"""Key that our runs share with a run of ns-2, all but the seed: point, batches, packets in each."""


def run_key(r: Record) -> RunKey:
    """The key of our runs of a run of ns-2."""
    return r.point, r.batches, r.packets_per_batch


def packets(r: Record) -> int:
    """Packets that a run delivered."""
    return (r.batches + 1) * r.packets_per_batch


@dataclass(frozen=True)
class Recorded(Comparison):
    """A number of ns-2 and ours, both as means over batches.

    Attributes:
        record: The run of ns-2.
        singly: True if it is compared with single runs of Chappe where it does not agree.
        rows: Our runs.
        further: Further seeds of ns-2, where there are any.
        every: Ours one by one, each with the error of its batch means.
        more: Our runs with many seeds, where there are any.
    """

    record: Record = field(kw_only=True)
    singly: bool = False
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    further: Estimate | None = None
    every: Sequence[Estimate] = ()
    more: pl.DataFrame | None = None

    @property
    def strangers(self) -> int:
        """Number of our own runs that do not agree with the others when taken for the run of ns-2."""
        count = 0
        for i, one in enumerate(self.every):
            rest = Estimate.of([e.mean for j, e in enumerate(self.every) if j != i])
            count += not self.agrees_with(one, rest)
        return count

    def agrees_with(self, ns2: Estimate, ours: Estimate) -> bool:
        """True if other numbers agree by the same rule."""
        return Comparison(self.row, self.part, self.point, self.name, self.measure, ns2, ours).agrees

    @property
    def one_run(self) -> bool:
        """True if it is compared with single runs of Chappe: a run of ns-2 is one run, whatever its batches promise."""
        return self.singly and not self.agrees


class OfRecords(OfPaper):
    """A comparison with recorded runs, under their number of batches and packets in each.

    Attributes:
        singly: Measures whose numbers, where they do not agree, are set among single runs.
        unkept: Measures of whose batches the records have nothing: how many would not agree by chance is not known.
    """

    written = ("ns2_seed",)
    also = ("further seeds", "agrees with these", "strangers")
    singly: Sequence[str]
    unkept: Sequence[str] = ()

    @abstractmethod
    def scenario(self, r: Record) -> Scenario:
        """The scenario of a run of ns-2."""

    @abstractmethod
    def compared(self, r: Record) -> Sequence[str]:
        """The measures that it is compared in."""

    @abstractmethod
    def column(self, name: str) -> str:
        """A measure as ns-2's records have it, in a row of our runs."""

    @abstractmethod
    def measure(self, r: Record, name: str) -> Measure:
        """Format and tolerance of a measure."""

    @abstractmethod
    def place(self, r: Record) -> tuple[str, str]:
        """The run in some words, and the part of the page that it belongs to."""

    @abstractmethod
    def two_states(self, r: Record) -> bool:
        """True if runs are known to fall from one state into another."""

    def records(self) -> list[Record]:
        """The runs of ns-2 that are repeated."""
        return [r for r in reference.of(NS2, self.design.records()) if r.packets_per_batch]

    def further_seeds(self) -> dict[tuple[Any, str], Estimate]:
        """Further seeds of stock ns-2.35 for some points, by point and measure: independent replications."""
        values: dict[tuple[Any, str], list[float]] = {}
        for r in reference.of(FURTHER, self.design.records()):
            for name, e in r.values.items():
                values.setdefault((r.point, name), []).append(e.mean)
        return {key: Estimate.of(means) for key, means in values.items() if key[1] in self.design.measures}

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Values of a run."""
        return self.design.of_run(tables)

    def repeat(self, records: Sequence[Record], seeds: Iterable[int], runs: RunCache) -> dict[RunKey, pl.DataFrame]:
        """Runs what ns-2 was run on."""
        cases = {run_key(r): self.scenario(r) for r in records}
        return run(self.design, {c: (c[0], s, seeds) for c, s in cases.items()}, runs, self.of_run)

    def compare(self, runs: RunCache) -> list[Recorded]:
        """Runs what ns-2 was run on; where numbers do not agree, or runs have two states, with many seeds."""
        records = self.records()
        tables = self.repeat(records, SEEDS, runs)
        first = [c for r in records for c in self.comparisons(r, tables[run_key(r)])]
        unlike = {run_key(c.record) for c in first if c.one_run}
        many = self.repeat([r for r in records if run_key(r) in unlike or self.two_states(r)], MANY, runs)
        return [c for r in records for c in self.comparisons(r, tables[run_key(r)], many.get(run_key(r)))]

    def comparisons(self, r: Record, rows: pl.DataFrame, many: pl.DataFrame | None = None) -> list[Recorded]:
        """The numbers of a run of ns-2 with ours."""
        further = self.further_seeds()
        t = quantile_t(0.95, r.batches - 1)
        compared = []
        for name in self.compared(r):
            column = self.column(name)
            values = [v for v in rows[column].to_list() if v is not None and not math.isnan(v)]
            halves = [] if name in self.unkept else rows[f"{column}_half_width"].to_list()
            one_by_one = [Estimate(v, (h / t) ** 2, r.batches - 1) for v, h in zip(rows[column], halves, strict=False)]
            single = [] if many is None else many[column].to_list()
            compared.append(
                Recorded(
                    *self.place(r), r.point, name, self.measure(r, name), r.values[name], Estimate.of(values),
                    many=single, record=r, singly=name in self.singly, rows=rows, further=further.get((r.point, name)),
                    every=one_by_one, more=many,
                )
            )  # fmt: skip
        return compared

    def summary(self, comparisons: Sequence[Recorded]) -> tuple[list[str], list[str]]:
        """Number of values that do not agree, and the number expected by chance."""
        complete = all(c.every for c in comparisons)
        expected = f"{sum(c.strangers for c in comparisons) / len(SEEDS):.1f}" if complete else "-"
        return ["do not agree", "expected"], [str(sum(not c.agrees for c in comparisons)), expected]

    def more(self, c: Recorded) -> list[str]:
        """Further seeds of ns-2, and strangers among ours."""
        strangers = f"{c.strangers} of {len(c.every)}" if c.every else "-"
        if c.further is None:
            return ["-", "-", strangers]
        scale = c.measure.scale
        agrees = yes(c.agrees_with(c.further, c.ours))
        return [show.with_error(c.further.mean, c.further.half_width(), scale), agrees, strangers]

    def of_file(self, c: Recorded) -> list[object]:
        """The seed of ns-2."""
        return [c.record.seed]
