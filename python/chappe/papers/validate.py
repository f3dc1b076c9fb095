"""Everything that ns-2.35 was run on, run here: how far off is each number? The command, and what its page has."""

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.design import Design
from chappe.papers.figures import write_csv
from chappe.papers.kept import Kept
from chappe.papers.replication import MEASURES as JUDGED
from chappe.papers.replication import doubtful, spread
from chappe.papers.table import Measure
from chappe.report.page import table
from chappe.stats import Estimate, difference

LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """A number of ns-2 and ours.

    Attributes:
        row: The run in some words.
        part: The part of the page that it belongs to.
        point: What was run.
        name: Of the measure.
        measure: How it is printed and when it agrees.
        ns2: The number of ns-2.
        ours: Ours.
    """

    row: str
    part: str
    point: Any
    name: str
    measure: Measure
    ns2: Estimate
    ours: Estimate

    @property
    def off(self) -> float:
        """Relative difference; infinite when only ns-2 has none of it."""
        if self.ns2.mean == self.ours.mean:
            return 0.0
        return self.ours.mean / self.ns2.mean - 1 if self.ns2.mean else math.inf

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference; NaN when ns-2 has one run."""
        return difference(self.ours, self.ns2).half_width()

    @property
    def within(self) -> bool:
        """Whether they differ by at most the tolerance."""
        m = self.measure
        return abs(self.ours.mean - self.ns2.mean) <= (m.tolerance if m.absolute else m.tolerance * self.ns2.mean)

    @property
    def agrees(self) -> bool:
        """Whether they differ by at most the tolerance, or by no more than the half width."""
        apart = abs(self.ours.mean - self.ns2.mean)
        return self.within or apart <= self.half_width or math.isclose(apart, 0, abs_tol=1e-12)

    @property
    def numbers(self) -> list[str]:
        """Row, measure, both numbers in the unit of the measure, their difference, and the half width."""
        m = self.measure
        values = [show.number(e.mean * m.scale) for e in (self.ns2, self.ours)]
        return [self.row, m.label, *values, off(self), show.number(self.half_width * m.scale, 2)]


def off(c: Comparison) -> str:
    """A relative difference, for people."""
    return "+inf" if math.isinf(c.off) else f"{c.off:+.1%}".replace("%", " %")


def probability(p: float) -> str:
    """A probability, for people: bold below 5 %."""
    return f"**{p:.3f}**" if p < LEVEL else f"{p:.2f}"


DRAWS = 9999
"""How many means of as many runs as ns-2 has are drawn from ours."""


def probability_of(value: float, runs: Sequence[float], n: int) -> float:
    """How probable it is that the mean of ``n`` of these runs is at least as far out as ``value``, on either side."""
    draw = random.Random(1)
    means = [sum(draw.sample(runs, n)) / n for _ in range(DRAWS)]
    beyond = min(sum(m <= value for m in means), sum(m >= value for m in means))
    return min(1.0, 2 * (1 + beyond) / (1 + DRAWS))


def mean(values: Sequence[float]) -> Estimate:
    """The mean of runs; infinite, with an unknown error, when a flow of one of them got nothing."""
    return Estimate(math.inf, math.nan, len(values) - 1) if math.inf in values else Estimate.of(values)


class Validation(ABC):
    """What a paper's comparison with ns-2 has of its own; its module ``validate`` has one as ``VALIDATION``.

    Attributes:
        design: What the paper runs.
        title: Of the page.
        columns: Fields of the points that are written.
        also: Further columns of the values that do not agree.
        written: Further columns of the file.
    """

    design: Design
    title: str
    columns: Sequence[str]
    also: Sequence[str] = ()
    written: Sequence[str] = ()

    @abstractmethod
    def compare(self, runs: Kept) -> Sequence[Any]:
        """Runs what ns-2 was run on; returns comparisons."""

    @abstractmethod
    def head(self, found: Sequence[Any]) -> list[str]:
        """What a reader must know, in paragraphs."""

    def sections(self, _found: Sequence[Any], /) -> list[str]:
        """Sections between the summary and the values that do not agree, as lines."""
        return []

    def summary(self, _found: Sequence[Any], /) -> tuple[list[str], list[str]]:
        """Further columns of the summary, and their cells for these comparisons."""
        return [], []

    def more(self, _c: Any, /) -> list[str]:
        """The cells of ``also``."""
        return []

    def of_file(self, _c: Any, /) -> list[object]:
        """The cells of ``written``."""
        return []


def validate(validation: Validation, folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with validation.design.kept(folder, jobs) as runs:
        found = validation.compare(runs)
    rows = (
        [
            *(_plain(getattr(c.point, name)) for name in validation.columns),
            *(c.name, repr(c.ns2.mean), repr(c.ours.mean), repr(c.half_width), c.agrees),
            *validation.of_file(c),
        ]
        for c in found
    )
    header = (*validation.columns, "measure", "ns2", "ours", "half_width_95", "agrees", *validation.written)
    write_csv(folder / "validation.csv", header, rows)
    (folder / "validation.md").write_text(page(validation, found), encoding="utf-8")
    t = show.table("", "measure", ">agree", ">of", title="Ours beside ns-2.35", keys=2)
    for part, own in parts(found).items():
        for label, mine in by_measure(own).items():
            t.add_row(part, label, str(sum(c.agrees for c in mine)), str(len(mine)))
    show.write(t)
    t = show.table("does not agree", "measure", ">ns-2", ">ours", ">difference", ">half width", keys=2)
    for c in found:
        if not c.agrees:
            t.add_row(*c.numbers)
    show.write(t)
    show.say(f"Written to {folder}: validation.md with every value and the reasons of the differences, validation.csv.")
    return 0


def _plain(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def parts(found: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    """The comparisons by parts of the page."""
    own: dict[str, list[Comparison]] = {}
    for c in found:
        own.setdefault(c.part, []).append(c)
    return own


def by_measure(found: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    """The comparisons by what their measure is called."""
    own: dict[str, list[Comparison]] = {}
    for c in found:
        own.setdefault(c.measure.label, []).append(c)
    return own


def page(validation: Validation, found: Sequence[Comparison]) -> str:
    """The page: every number of ns-2 beside ours."""
    design = validation.design
    agreeing = sum(c.agrees for c in found)
    lines = [
        f"# {validation.title}",
        "",
        f"Written by `chappe paper {design.name} --validate` with Chappe {__version__}, results epoch {RESULTS_EPOCH}.",
        "",
        f"**{agreeing} of {len(found)} values agree.**",
        "",
        *(line for text in validation.head(found) for line in (text, "")),
    ]
    for part, own in parts(found).items():
        further, _ = validation.summary(own)
        header = ["measure", "agree", "of", "within the tolerance", "mean difference", "largest", *further]
        lines += [f"## {part[:1].upper()}{part[1:]}", "", *table(header, _summary(validation, own))]
    lines += [design.text("validation_notes.md").strip(), "", *validation.sections(found)]
    differing = [[*c.numbers, *validation.more(c)] for c in found if not c.agrees]
    header = ["run", "measure", "ns-2", "ours", "difference", "half width"]
    lines += ["## Values that do not agree", "", *table([*header, *validation.also], differing)]
    every = [[*c.numbers, "yes" if c.agrees else "**no**"] for c in found]
    lines += ["## All values", "", *table([*header, "agrees"], every)]
    return "\n".join(lines).rstrip() + "\n"


def _summary(validation: Validation, found: Sequence[Comparison]) -> list[list[str]]:
    rows = []
    for label, mine in by_measure(found).items():
        finite = [c.off for c in mine if math.isfinite(c.off) and c.ns2.mean > 0]
        counts = (sum(c.agrees for c in mine), len(mine), sum(c.within for c in mine))
        mean, worst = sum(finite) / max(len(finite), 1), max(finite, key=abs, default=0.0)
        rows.append([label, *map(str, counts), f"{mean:+.1%}", f"{worst:+.1%}", *validation.summary(mine)[1]])
    return rows


def trust(groups: Mapping[str, Mapping[Any, pl.DataFrame]], seeds: int) -> list[str]:
    """A section that says whether batches of one run say what other runs are like.

    Args:
        groups: Our runs of points, by the name of a group.
        seeds: How many runs a point has.
    """
    rows = []
    for name, own in groups.items():
        cells = [name, str(len(own))]
        for measure in JUDGED:
            known = sorted(v for t in own.values() if not math.isnan(v := spread(t, measure)[0]))
            middle, top = (known[len(known) // 2], known[-1]) if known else (math.nan, math.nan)
            cells += [show.number(middle, 2), show.number(top, 2)]
        rows.append([*cells, str(sum(doubtful(t) for t in own.values()))])
    return [
        "## How far the batches of one run can be trusted",
        "",
        f"The variance of our {seeds} runs divided by that which the batches of one run promise: 1 when batches "
        "are independent and a run has no memory. Given are the median over the points and the largest, and at how "
        "many points batches are doubtful by the rule of [the paper's page](papers.md#how-many-runs).",
        "",
        *table(("runs", "points", "goodput: median", "largest", "window: median", "largest", "doubtful"), rows),
    ]
