"""Answers to the claims of a paper from its published ``claims.csv``, without any run.

What a claim says at its points comes from the paper's package, the numbers from the file. A quotient is known at every
value from its effect, its standard error, and the slope and the curvature of the square of that error; decisions of
tests that need all runs (ranks, single runs, resamples, shares, choices) are those of the file.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from chappe.stats import Estimate, Share, Skewed, quantile_t
from chappe.stats.quantiles import Quantile
from chappe.study import Relative
from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import BY_T, LEVEL, Answer, Check, Observation, Size, _beyond, doubt_of, inside
from chappe_papers.judging.judge import UNKNOWN as NOT_KNOWN
from chappe_papers.judging.words import Decided, Decision
from chappe_papers.paper import Paper
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.counted import Counted
from chappe_papers.statistics.pairs import Paired
from chappe_papers.statistics.quotients import Quotient

Row = dict[str, str]

DOCS = Path(__file__).parents[2] / "docs" / "papers"


@dataclass(frozen=True)
class Recorded(Quotient):
    """A number of the file, with its test at any value.

    Attributes:
        low: Lower end of its interval.
        high: Upper end.
        slope: Slope of its variance over the value that is tested.
        curvature: Curvature of its variance.
    """

    low: float = math.nan
    high: float = math.nan
    slope: float = 0.0
    curvature: float = 0.0

    def beyond(self, value: float) -> Skewed:
        """Difference from a value, with the variance that it has there."""
        x = value - self.mean
        variance = max(self.variance + self.slope * x + self.curvature * x * x, 0.0)
        return Skewed(-x, variance, self.df, skewness=self.skewness)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Ends of the interval; the published ones at 95 %."""
        if confidence == 0.95 or not self.variance:
            return self.low, self.high
        ends = []
        for reach, end in zip(Skewed.by(self).reach(confidence), (min, max), strict=True):
            square = reach**2
            if not 1 - square * self.curvature > 0:
                return -math.inf, math.inf
            roots = np.roots([1 - square * self.curvature, -square * self.slope, -square * self.variance])
            ends.append(self.mean + float(end(roots.real)))
        return ends[0], ends[1]


@dataclass(frozen=True)
class RecordedAnswer(Answer):
    """An answer with the decisions of the file for points without a standard error.

    Attributes:
        kept: Decisions of the file, by the number of the point.
        recorded_size: The size in the file.
        spreads: What single runs have, by the number of the point.
    """

    kept: Mapping[int, Check] = field(default_factory=dict)
    recorded_size: str = ""
    spreads: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Decisions of the points."""
        return tuple(self.kept.get(n, check) for n, check in enumerate(super().checks))

    @cached_property
    def decided(self) -> tuple[Decided, ...]:
        """The points with their decisions."""
        return tuple(replace(d, spread=self.spreads.get(n, "")) for n, d in enumerate(super().decided))

    @cached_property
    def size(self) -> Size | None:
        """The size; that in the file where a range is compared with points whose tests need all runs."""
        ranged = [n for n, o in enumerate(self.observations) if o.paper is not None and not o.chose]
        is_kept = self.recorded_size and any(n in self.kept for n in ranged)
        return Size(self.recorded_size) if is_kept else super().size


class Pretended(Estimates):
    """Estimates of one kind at every point, to learn what claims say there."""

    def __init__(self, kind: str, x: tuple[Any, ...], runs: Callable[[Any], float], draws: int):
        super().__init__({}, x)
        object.__setattr__(self, "_made", (kind, runs, draws))

    def get(self, point: Any, _measure: str, /) -> Estimate | None:
        """An estimate, equal for all measures, and for all points with so many runs."""
        kind, runs, _ = self._made  # type: ignore[attr-defined]
        n = runs(point)
        if kind == "mean":
            return Counted(1.0, 0.01, n - 1, n)
        values = [1 + k / 1000 for k in range(int(n))]
        return Paired.at(dict(enumerate(values))) if kind == "pairs" else Quantile.at(values)

    def has_runs(self, point: Any, /) -> bool:
        """True for so many drawn places of each kind: a search of more would have no end."""
        _, _, draws = self._made  # type: ignore[attr-defined]
        return 0 < getattr(point, "draw", 0) <= draws


def _said(claim: Claim, x: tuple[Any, ...], runs: Callable[[Any], float], draws: int) -> list[list[Observation]]:
    """The observations of a claim on pretended numbers of each kind."""
    found = []
    for kind in ("mean", "pairs", "runs"):
        try:
            found.append(claim.observations(Pretended(kind, x, runs, draws)))
        except (AttributeError, TypeError, ValueError, ZeroDivisionError):
            continue
    return found


def _key(rows: Iterator[tuple[str, str, str]]) -> Iterator[tuple[str, str, str, int]]:
    """Places with a number for those that are alike."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        yield (*row, seen[row])
        seen[row] += 1


def _number(text: str, o: Observation) -> float:
    """A printed number as it is compared."""
    return (float(text) - o.form.offset) / o.form.scale if text else math.nan


def _effect(row: Row, o: Observation) -> Recorded:
    """The effect of a row."""
    mean, low, high = (_number(row[name], o) for name in ("effect", "low_95", "high_95"))
    error, df = float(row["standard_error"] or "nan") / o.form.scale, float(row["degrees_of_freedom"] or "nan")
    skewness, slope, curvature = (float(row[name] or 0) for name in ("skewness", "error_slope", "error_curvature"))
    slope /= o.form.scale
    # An effect tested by ranks has no standard error: its interval stands for the error.
    if math.isnan(error):
        error, df = max(high - mean, mean - low) / 1.96, math.inf
        slope, curvature = _through(low - mean, high - mean, error**2)
    nothing = Relative(*[Counted.by(UNKNOWN, float(row.get("runs") or "nan"))] * 2)
    return Recorded(
        mean, error * error, df, skewness=skewness, relative=nothing, low=low, high=high, slope=slope,
        curvature=curvature,
    )  # fmt: skip


def _through(below: float, above: float, variance: float) -> tuple[float, float]:
    """Slope and curvature of the variance of an effect whose ends, at these distances, are those of a normal one."""
    ends = np.array([below, above])
    if not np.isfinite(ends).all() or not ends.all():
        return 0.0, 0.0
    slope, curvature = np.linalg.solve(
        np.stack([ends, ends**2], axis=1), (ends / quantile_t(0.95, math.inf)) ** 2 - variance
    )
    return float(slope), float(curvature)


def _tested(o: Observation) -> Observation:
    """The observation with the probabilities that follow from its effect."""
    if o.test in ("more", "less"):
        return _beyond(o, *o.limits)
    if o.test == "inside":
        tested = inside(o.where, o.effect, *o.limits, o.form)
        return replace(o, p_supports=tested.p_supports, p_contradicts=tested.p_contradicts)
    return o


def _doubt(row: Row, o: Observation) -> str:
    """Doubts about a point; without its skewness, few runs are the only one that can be known."""
    if not row.get("runs") and row.get("doubt"):
        return row["doubt"]
    return doubt_of(o) or ("" if row["skewness"] or o.test not in BY_T else NOT_KNOWN)


UNKNOWN = Estimate(math.nan, math.nan, 0)

CHECKS = {Decision.AGREES.value: True, Decision.OPEN.value: None, Decision.CHOSE.value: None}
"""Decisions of the file; all others contradict."""


def matched(
    claim: Claim, rows: Sequence[Row], x: tuple[Any, ...], runs: Callable[[Any], float] = lambda _: 40, draws: int = 2
) -> list[Observation]:
    """What a claim says at the points of some rows, on pretended numbers.

    Args:
        claim: The claim.
        rows: The rows.
        x: Values along which the curves of the paper are drawn.
        runs: Number of runs of a point.
        draws: Number of drawn places of each kind.
    """
    said: dict[tuple[str, str, str, int], Observation] = {}
    in_order: dict[tuple[str, str, int], Observation] = {}
    for observations in _said(claim, x, runs, draws):
        places = ((o.where, o.sub_claim, o.group) for o in observations)
        for key, o in zip(_key(places), observations, strict=True):
            if key not in said or (o.test and not said[key].test):
                said[key] = o
        numbered = (("", o.sub_claim, o.group) for o in observations)
        for (_, sub_claim, group, n), o in zip(_key(numbered), observations, strict=True):
            in_order.setdefault((sub_claim, group, n), o)
    parts = [(r["where"], "" if r["sub_claim"] == claim.first else r["sub_claim"], r["group"]) for r in rows]
    keys = _key(iter(parts))
    numbers = ((s, g, n) for _, s, g, n in _key(("", s, g) for _, s, g in parts))
    found = []
    for row, key, number in zip(rows, keys, numbers, strict=True):
        o = said.get(key) or in_order.get(number) or Observation("", UNKNOWN, 1.0, 1.0)
        o = replace(o, form=replace(o.form, unit=row["unit"]))
        found.append(replace(o, where=row["where"], group=row["group"], sub_claim=key[1]))
    return found


def answer(claim: Claim, rows: list[Row], x: tuple[Any, ...]) -> RecordedAnswer:
    """The answer to a claim from its rows."""
    own = [r for r in rows if r["answer"]]
    observations, kept = [], {}
    for n, (row, said) in enumerate(zip(own, matched(claim, own, x), strict=True)):
        o = _tested(replace(said, effect=_effect(row, said)))
        # Tests of ranks and choices have no standard error, those of shares do not use it.
        is_by_t = bool(row["standard_error"]) and not isinstance(said.effect, Share)
        o = replace(o, doubt=_doubt(row, o) if is_by_t else "")
        if not float(row["standard_error"] or 0) or not o.test or o.test == "never":
            kept[n] = check = None if o.chose else CHECKS.get(row["answer"], False)
            o = replace(o, p_supports=float(check is not True), p_contradicts=float(check is not False))
        observations.append(o)
    size = rows[0]["size"]
    spreads = {n: row["single_runs"] for n, row in enumerate(own) if row.get("single_runs")}
    looks = round(100 * LEVEL / float(rows[0]["level_percent"]))
    return RecordedAnswer(tuple(observations), False, looks, claim.first, claim.hangs, kept, size, spreads)


def read(path: Path) -> list[Row]:
    """The rows of a file of claims."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def published(paper: Paper, folder: Path = DOCS) -> dict[str, list[Row]]:
    """The rows of each claim of a paper."""
    rows: dict[str, list[Row]] = {}
    for row in read(folder / paper.name / "claims.csv"):
        rows.setdefault(row["claim"], []).append(row)
    return rows


START = "Undecided claims have further runs (`--decide`)."
"""Beginning of the paragraph of a page on claims that were looked at more than once."""


def further(text: str) -> dict[str, int]:
    """Runs of claims that had further ones, relative to those planned, by the paragraph of a page."""
    [_, after] = text.split(START)
    return {c: int(n) for c, n in re.findall(r"(P\d-\w+-\d+) (\d+) times", after.partition("\n")[0])}


def answers(paper: Paper, folder: Path = DOCS) -> dict[str, RecordedAnswer]:
    """The answers to all claims of a paper."""
    rows = published(paper, folder)
    return {c.id: answer(c, rows[c.id], paper.design.full.x) for c in paper.all_claims}
