"""Ranks of the combinations by load, and what is certain of them: a bootstrap over runs.

The paper calls consistent "the combination that performs better in the majority of the scenarios" (IV A). Which one it
is follows from ranks over the loads, not from how little the loads differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from chappe.stats import Estimate, check_confidence
from scipy.stats import rankdata

from chappe_papers.judging.judge import PLAIN, Form, Observation
from chappe_papers.ramarathinam2003.points import Point
from chappe_papers.ramarathinam2003.printed import LOADS, segments
from chappe_papers.runs.estimates import Estimates

DRAWS = 4_999
"""Resamples; the smallest probability (two-sided) is 2 / (n + 1)."""

_SEED = 1


@dataclass(frozen=True)
class Resampled(Estimate):
    """A quantity with its values in bootstrap resamples of the runs (Efron 1979); percentiles bound its interval.

    Attributes:
        draws: The values.
    """

    draws: tuple[float, ...] = ()

    @classmethod
    def around(cls, value: float, draws: np.ndarray) -> "Resampled":
        """The value of the runs themselves, and those of resamples."""
        return cls(value, float("nan"), len(draws) - 1, tuple(draws.tolist()))

    def p_not(self, holds: np.ndarray) -> float:
        """Probability (two-sided) of resamples in which a statement does not hold."""
        return min(1.0, 2 * (1 + int((~holds).sum())) / (len(self.draws) + 1))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Percentiles of the resamples."""
        tail = (1 - check_confidence(confidence)) / 2
        low, high = np.quantile(self.draws, (tail, 1 - tail))
        return float(low), float(high)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of this interval."""
        low, high = self.interval(confidence)
        return (high - low) / 2


def ahead(where: str, behind: Resampled, form: Form = PLAIN) -> Observation:
    """One is ahead of another, which is so far behind it; contrary: the other is ahead."""
    draws = np.array(behind.draws)
    return Observation(where, behind, behind.p_not(draws > 0), behind.p_not(draws < 0), None, form)


def at_most(where: str, e: Resampled, value: float, form: Form = PLAIN) -> Observation:
    """A quantity is at most this in resamples; contrary: above it."""
    draws = np.array(e.draws)
    return Observation(where, e, e.p_not(draws <= value), e.p_not(draws > value), None, form)


@dataclass(frozen=True)
class Medians:
    """Medians of combinations by load.

    Attributes:
        points: The combinations.
        observed: Of all runs: a row for each combination, a column for each load.
        drawn: The same of each resample; whole runs are drawn, with all their loads.
    """

    points: tuple[Point, ...]
    observed: np.ndarray
    drawn: np.ndarray

    @classmethod
    def of_runs(cls, runs: Mapping[Point, np.ndarray], draws: int = DRAWS) -> "Medians":
        """Of the runs of each combination: a row for each run, a column for each load."""
        draw = np.random.default_rng(_SEED)
        drawn = [np.median(r[draw.integers(len(r), size=(draws, len(r)))], axis=1) for r in runs.values()]
        return cls(tuple(runs), np.array([np.median(r, axis=0) for r in runs.values()]), np.stack(drawn, axis=1))

    @classmethod
    def of(cls, data: Estimates, points: Sequence[Point]) -> "Medians | None":
        """Of combinations, all of which must have runs."""
        runs = {p: of_point for p in points if (of_point := segments(data, p)) is not None}
        return cls.of_runs(runs) if len(runs) == len(points) else None

    def mean_ranks(self) -> dict[Point, Resampled]:
        """Mean over the loads of the rank of each combination; 1 is the best."""
        observed, drawn = (ranks(m).mean(axis=-1) for m in (self.observed, self.drawn))
        return {p: Resampled.around(float(observed[n]), drawn[:, n]) for n, p in enumerate(self.points)}

    def behind(self, best: Point) -> dict[Point, Resampled]:
        """Distance of the mean rank of each other combination from that of one; positive behind it."""
        all_ranks = self.mean_ranks()
        own = all_ranks.pop(best)
        return {p: Resampled.around(e.mean - own.mean, np.subtract(e.draws, own.draws)) for p, e in all_ranks.items()}

    def share_best(self, point: Point) -> float:
        """Share of resamples in which a combination has the best mean rank of all; a tie counts in parts."""
        drawn = np.array([e.draws for e in self.mean_ranks().values()])
        best = np.isclose(drawn, drawn.min(axis=0))
        return float((best[self.points.index(point)] / best.sum(axis=0)).mean())

    def ahead_of(self, variant: str) -> dict[str, Resampled]:
        """By load, how many versions of TCP are better than one; each version with its best routing."""
        observed, drawn = (versions_ahead(m, self.points, variant) for m in (self.observed, self.drawn))
        return {load: Resampled.around(float(observed[n]), drawn[:, n]) for n, load in enumerate(LOADS)}


def ranks(medians: np.ndarray) -> np.ndarray:
    """Rank of each combination (last axis but one) by load (last axis); 1 has most, equal ones share a rank."""
    return np.asarray(rankdata(-medians, axis=-2))


def versions_ahead(medians: np.ndarray, points: Sequence[Point], variant: str) -> np.ndarray:
    """By load, how many other versions of TCP have more than one, each with its best routing."""
    own = [p.variant == variant for p in points]
    best = medians[..., own, :].max(axis=-2)
    others = dict.fromkeys(p.variant for p in points if p.variant != variant)
    better = [medians[..., [p.variant == v for p in points], :].max(axis=-2) > best for v in others]
    return np.asarray(np.sum(better, axis=0))
