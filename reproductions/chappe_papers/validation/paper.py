"""Comparison of a paper's runs of ns-2.35 with those of Chappe: the difference of each number, and the page."""

import math
import random
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from chappe import Scenario
from chappe import text as show
from chappe.stats import Estimate, difference, holm
from chappe.stats.quantiles import rank_p
from chappe.study import Also, RunCache
from chappe.text import Table

from chappe_papers.pages.page import table
from chappe_papers.runs.design import Design
from chappe_papers.runs.estimates import Measure
from chappe_papers.runs.replication import MEASURES as JUDGED
from chappe_papers.runs.replication import doubtful, spread
from chappe_papers.validation.compare import Validation, agreement, counted, groups, origin, percent, relative, yes

LEVEL = 0.05

K = TypeVar("K")


@dataclass(frozen=True)
class Comparison:
    """A number of ns-2 and ours.

    Attributes:
        row: The run in some words.
        part: The part of the page that it belongs to.
        point: The point that was run.
        name: Name of the measure.
        measure: Format and tolerance.
        ns2: The number of ns-2.
        ours: Our number.
        runs: Number of runs of ns-2 whose mean is ``ns2``.
        many: Single runs of Chappe, in which the values of these runs are looked up, where there are any.
    """

    row: str
    part: str
    point: Any
    name: str
    measure: Measure
    ns2: Estimate
    ours: Estimate
    runs: int = 1
    many: Sequence[float] = ()

    @property
    def off(self) -> float:
        """Relative difference."""
        return relative(self.ours.mean, self.ns2.mean)

    @property
    def is_certain(self) -> bool:
        """True if the relative difference is finite, and of a positive number."""
        return math.isfinite(self.off) and self.ns2.mean > 0

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference; NaN when ns-2 has one run."""
        return difference(self.ours, self.ns2).half_width()

    @property
    def within(self) -> bool:
        """True if the numbers differ by at most the tolerance."""
        m = self.measure
        return abs(self.ours.mean - self.ns2.mean) <= (m.tolerance if m.absolute else m.tolerance * self.ns2.mean)

    @property
    def agrees(self) -> bool:
        """True if the numbers differ by at most the tolerance, or by no more than the half width."""
        apart = abs(self.ours.mean - self.ns2.mean)
        return self.within or apart <= self.half_width or math.isclose(apart, 0, abs_tol=1e-12)

    @property
    def beyond(self) -> int:
        """Number of our single runs that are at least as far out, on the side of ns-2."""
        return min(sum(v <= self.ns2.mean for v in self.many), sum(v >= self.ns2.mean for v in self.many))

    @cached_property
    def p(self) -> float | None:
        """Probability that the mean of as many runs of Chappe is as far out, on either side; of one: by rank."""
        if not self.many:
            return None
        one = self.runs == 1
        return rank_p(self.many, self.ns2.mean) if one else probability_of(self.ns2.mean, self.many, self.runs)

    @property
    def numbers(self) -> list[str]:
        """Row, measure, both numbers in the unit of the measure, their difference, and the half width.

        The number of ns-2 is followed by the number of its runs, when there are several.
        """
        m = self.measure
        ns2, ours = (show.number(e.mean * m.scale) for e in (self.ns2, self.ours))
        several = f" ({self.runs})" if self.runs > 1 else ""
        return [
            self.row,
            m.label,
            f"{ns2}{several}",
            ours,
            percent(self.off),
            show.number(self.half_width * m.scale, 2),
        ]


@dataclass(frozen=True)
class Tested(Comparison):
    """A number of ns-2 and ours, and a test of the hypothesis that they differ by chance.

    Attributes:
        chance: Probability of so large a difference by chance.
        adjusted: This probability by Holm's rule, over all numbers of the page.
    """

    chance: float = math.nan
    adjusted: float = math.nan

    @property
    def p(self) -> float:
        """The probability of chance, which needs no drawing of runs of Chappe."""
        return self.chance

    @property
    def agrees(self) -> bool:
        """True if the numbers differ by at most the tolerance, or by an amount that chance explains."""
        return self.within or not self.adjusted < LEVEL


T = TypeVar("T", bound=Tested)


def over_the_page(comparisons: Sequence[T]) -> list[T]:
    """Numbers with their probabilities by Holm's rule."""
    return [replace(c, adjusted=a) for c, a in zip(comparisons, holm([c.chance for c in comparisons]), strict=True)]


def largest(comparisons: Sequence[Comparison]) -> str:
    """The largest relative difference, for people; "-" without comparisons."""
    return percent(max((c.off for c in comparisons), key=abs)) if comparisons else "-"


def probability(p: float | None) -> str:
    """A probability, for people: bold below 5 %."""
    return "-" if p is None else f"**{p:.3f}**" if p < LEVEL else f"{p:.2f}"


def run(
    design: Design,
    wanted: Mapping[K, tuple[Any, Scenario, Iterable[int]]],
    runs: RunCache,
    of_run: Also | None = None,
) -> dict[K, pl.DataFrame]:
    """Runs scenarios of points with seeds, or finds their runs; shows the progress.

    Args:
        design: The runs of the paper.
        wanted: Points, scenarios and seeds by any key.
        runs: The kept runs.
        of_run: Values of a run; ``None``: those of the design.
    """
    items = {key: design.items(*point_scenario_seeds) for key, point_scenario_seeds in wanted.items()}
    return runs.make(items, of_run or design.of_run)


DRAWS = 9999
"""Number of means, each of as many runs as ns-2 has, that are drawn from ours."""


def probability_of(value: float, runs: Sequence[float], n: int) -> float:
    """Probability that the mean of ``n`` of these runs is at least as far out as ``value``, on either side."""
    draw = random.Random(1)
    means = [sum(draw.sample(runs, n)) / n for _ in range(DRAWS)]
    beyond = min(sum(m <= value for m in means), sum(m >= value for m in means))
    return min(1.0, 2 * (1 + beyond) / (1 + DRAWS))


def mean(values: Sequence[float]) -> Estimate:
    """The mean of runs; infinite, with an unknown error, when a flow of one of them got nothing."""
    return Estimate(math.inf, math.nan, len(values) - 1) if math.inf in values else Estimate.of(values)


class OfPaper(Validation):
    """A comparison of a paper's runs with ns-2; the module ``validate`` of the paper names it ``VALIDATION``.

    Attributes:
        design: The runs of the paper.
        title: Title of the page.
        columns: Fields of the points that are written to the file.
        evidence: What lets values agree beyond the tolerance.
        also: Further columns of the values that do not agree.
        written: Further columns of the file.
    """

    design: Design
    columns: Sequence[str]
    evidence = "the interval"
    also: Sequence[str] = ("p",)
    written: Sequence[str] = ()

    @abstractmethod
    def head(self, comparisons: Sequence[Any]) -> list[str]:
        """Notes for readers, in paragraphs."""

    def headline(self, comparisons: Sequence[Any]) -> str:
        """Summary in one sentence."""
        return agreement(comparisons, "values", self.evidence)

    @abstractmethod
    def exceptions(self, comparisons: Sequence[Any]) -> str:
        """Values that do not agree: their kinds, their sizes, and the share of chance in them."""

    def sections(self, _found: Sequence[Any], /) -> list[str]:
        """Sections between the summary and the values that do not agree, as lines."""
        return []

    def summary(self, _found: Sequence[Any], /) -> tuple[list[str], list[str]]:
        """Further columns of the summary, and their cells for these comparisons."""
        return [], []

    def more(self, c: Any, /) -> list[str]:
        """The cells of ``also``: the probability of such runs of ns-2 among our runs."""
        return [probability(c.p)]

    def of_file(self, _c: Any, /) -> list[object]:
        """The cells of ``written``."""
        return []

    def run_cache(self, folder: Path | str, jobs: int | None) -> RunCache:
        """The runs, in a folder below that for the results."""
        return self.design.run_cache(folder, jobs)

    @property
    def header(self) -> Sequence[str]:
        """The fields of the point, the numbers, and the further columns of the paper."""
        numbers = ("measure", "ns2", "ours", "half_width_95", "agrees", "ns2_runs", "p")
        return (*self.columns, *numbers, *self.written)

    def rows(self, comparisons: Sequence[Any], /) -> Iterator[Sequence[object]]:
        """A line for each number."""
        for c in comparisons:
            yield (
                *(_plain(getattr(c.point, name)) for name in self.columns),
                *(c.name, repr(c.ns2.mean), repr(c.ours.mean), repr(c.half_width), c.agrees),
                *(c.runs, "" if c.p is None else repr(c.p)),
                *self.of_file(c),
            )

    def tables(self, comparisons: Sequence[Any], /) -> Iterator[Table]:
        """Tables with the counts of numbers that agree, and with the numbers that do not."""
        agree = show.table("", "measure", ">agree", ">of", title="Ours against ns-2.35", keys=2)
        for part, of_part in parts(comparisons).items():
            for label, of_measure in by_measure(of_part).items():
                agree.add_row(part, label, str(sum(c.agrees for c in of_measure)), str(len(of_measure)))
        yield agree
        unlike = show.table("does not agree", "measure", ">ns-2", ">ours", ">difference", ">half width", keys=2)
        for c in comparisons:
            if not c.agrees:
                unlike.add_row(*c.numbers)
        yield unlike

    def page(self, comparisons: Sequence[Any], _jobs: int | None, /) -> str:
        """The page: every number of ns-2 with ours."""
        lines = [
            f"# {self.title}",
            "",
            f"**{self.headline(comparisons)}** {self.exceptions(comparisons)}",
            "",
            *(line for text in self.head(comparisons) for line in (text, "")),
            origin(f"paper {self.design.name} --compare"),
            "",
        ]
        for part, of_part in parts(comparisons).items():
            further, _ = self.summary(of_part)
            header = ["measure", "agree", "of", f"only by {self.evidence}", "mean difference", "largest", *further]
            lines += [f"## {part[:1].upper()}{part[1:]}", "", *table(header, self._summary(of_part))]
        lines += [self.design.text("validation_notes.md").strip(), "", *self.sections(comparisons)]
        differing = [[*c.numbers, *self.more(c)] for c in comparisons if not c.agrees]
        header = ["run", "measure", "ns-2", "ours", "difference", "half width"]
        lines += ["## Values that do not agree", "", *table([*header, *self.also], differing)]
        every = [[*c.numbers, yes(c.agrees)] for c in comparisons]
        lines += ["## All values", "", *table([*header, "agrees"], every)]
        return "\n".join(lines).rstrip() + "\n"

    def _summary(self, comparisons: Sequence[Comparison]) -> list[list[str]]:
        measures = by_measure(comparisons).items()
        return [[label, *counted(of_measure), *self.summary(of_measure)[1]] for label, of_measure in measures]


class OfTests(OfPaper):
    """A comparison of :class:`Tested` numbers, whose probabilities are adjusted over the page."""

    evidence = "the test"
    also = ("p", "p, Holm")
    written = ("p_holm",)

    def more(self, c: Tested) -> list[str]:
        """Both probabilities."""
        return [probability(c.p), probability(c.adjusted)]

    def of_file(self, c: Tested) -> list[object]:
        """The probability by Holm's rule."""
        return [repr(c.adjusted)]


def _plain(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


C = TypeVar("C", bound=Comparison)


def parts(comparisons: Iterable[C]) -> dict[str, list[C]]:
    """The comparisons by parts of the page."""
    return groups(comparisons, lambda c: c.part)


def by_measure(comparisons: Iterable[C]) -> dict[str, list[C]]:
    """The comparisons by the label of their measure."""
    return groups(comparisons, lambda c: c.measure.label)


def trust(groups: Mapping[str, Mapping[Any, pl.DataFrame]], seeds: int) -> list[str]:
    """A section that says whether batches of one run say what other runs are like.

    Args:
        groups: Our runs of points, by the name of a group.
        seeds: Number of runs of a point.
    """
    rows = []
    for name, by_point in groups.items():
        cells = [name, str(len(by_point))]
        for measure in JUDGED:
            spreads = sorted(v for t in by_point.values() if not math.isnan(v := spread(t, measure)[0]))
            middle, top = (spreads[len(spreads) // 2], spreads[-1]) if spreads else (math.nan, math.nan)
            cells += [show.number(middle, 2), show.number(top, 2)]
        rows.append([*cells, str(sum(doubtful(t) for t in by_point.values()))])
    return [
        "## How far the batches of one run can be trusted",
        "",
        f"The variance of our {seeds} runs divided by that predicted by the batches of one run: 1 when batches "
        "are independent and a run has no memory. Given are the median over the points and the largest, and at how "
        "many points batches are doubtful by the rule of [the paper's page](papers.md#how-many-runs).",
        "",
        *table(("runs", "points", "goodput: median", "largest", "window: median", "largest", "doubtful"), rows),
    ]


def singles(comparisons: Sequence[Comparison], title: str) -> list[str]:
    """A section in which runs of ns-2 are set among single runs of Chappe, which all of them have."""
    rows, many = [], max((len(c.many) for c in comparisons), default=0)
    for c in comparisons:
        values, scale = sorted(c.many), c.measure.scale
        numbers = [show.number(v * scale) for v in (c.ns2.mean, values[0], values[len(values) // 2], values[-1])]
        rows.append([c.row, c.measure.label, *numbers, f"{c.beyond} of {len(values)}", probability(c.p)])
    return [
        f"## {title}",
        "",
        f"A record of ns-2 is a single run. Here it is compared with {many} single runs of Chappe. *p* is the "
        "probability that a run of Chappe is at least as far out, on either side (rank test); below 5 % the run of "
        "ns-2 is not like those of Chappe.",
        "",
        *table(("run", "measure", "ns-2", "ours: smallest", "median", "largest", "at least as far out", "p"), rows),
    ]
