"""Search for the best of many equidistant values: a grid that is refined where the best may be."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from chappe.study.analysis.analysis import Sample, verdicts_of

GRID = 8
"""Parts of the interval of a round."""

ERROR = 0.05
"""Probability with which a search leaves out any value that is as good as the best, if there is one peak."""

End = Literal["resolution", "max_points", "max_runs", "undefined"]
"""Reason for the end of a search: neighboring values were measured, a limit was reached, or no run has a value."""

Sampled = Callable[[Mapping[int, int]], dict[int, Sample]]
"""Function from the number of runs of each step to the samples of these runs."""


@dataclass(frozen=True)
class Explored:
    """Result of a search.

    Attributes:
        runs: Number of runs of each measured step.
        best: Step with the best mean.
        tied: First and last of the adjacent steps around the best that may be as good.
        end: Reason for the end.
    """

    runs: dict[int, int]
    best: int
    tied: tuple[int, int]
    end: End


def explore(steps: int, first_runs: int, sampled: Sampled, *, sign: int, max_points: int, max_runs: int) -> Explored:
    """Measures on a grid, and refines it around the best, with further runs where values are indistinguishable.

    Every look at the results leaves out the values that are significantly worse than the best, and all values beyond
    them. The looks share :data:`ERROR` (1/2, 1/6, 1/12, ...), so that, of a measure with one peak, a value as good as
    the best is left out with at most this probability, however many looks there are.

    Args:
        steps: Number of steps from the smallest value to the largest.
        first_runs: Runs of each value of the first round.
        sampled: Function that makes the runs.
        sign: 1 when the highest mean is best, -1 when the lowest is.
        max_points: Number of values after which no round begins.
        max_runs: Largest number of runs; the first round is always made.
    """
    low, high = 0, steps
    runs = dict.fromkeys(_grid(low, high), first_runs)
    left_out: set[int] = set()
    look = 0
    while True:
        look += 1
        samples = sampled(runs)
        if all(math.isnan(sample.together.value) for sample in samples.values()):
            # More runs would have none, either.
            return Explored(runs, low, (low, high), "undefined")
        places = sorted(runs)
        best, (first, last) = around_the_best(samples, left_out, sign, 1 - ERROR / (look * (look + 1)))
        tied = [s for s in places if first <= s <= last]
        left_out |= {s for s in places if not first <= s <= last}
        below, above = _neighbor(places, first, -1), _neighbor(places, last, 1)
        resolved = above - below < sum(below <= s <= above for s in places)
        if resolved and left_out:
            return Explored(runs, best, (first, last), "resolution")
        more = dict(runs)
        if not resolved and above - below < high - low:
            if len(places) >= max_points:
                return Explored(runs, best, (first, last), "max_points")
            low, high = below, above
            new = [s for s in _grid(low, high) if s not in runs]
            # Half of the remaining runs at most, so that some are left to tell the new values apart.
            affordable = (max_runs - sum(runs.values())) // (2 * len(new)) if new else 0
            more |= dict.fromkeys(new, min(min(runs[s] for s in tied), max(first_runs, affordable)))
        if more.keys() == runs.keys():
            extra = min(max_runs - sum(runs.values()), sum(runs[s] for s in tied))
            more |= allocated({s: samples[s] for s in tied}, {s: runs[s] for s in tied}, best, extra, sign)
        if sum(more.values()) > max_runs or more == runs:
            return Explored(runs, best, (first, last), "max_runs")
        runs = more


def _grid(low: int, high: int) -> list[int]:
    return sorted({low + round((high - low) * k / GRID) for k in range(GRID + 1)})


def _neighbor(places: Sequence[int], step: int, by: int) -> int:
    return places[min(max(places.index(step) + by, 0), len(places) - 1)]


def around_the_best(
    samples: Mapping[int, Sample], left_out: set[int], sign: int, confidence: float
) -> tuple[int, tuple[int, int]]:
    """The step with the best mean, and the first and last adjacent steps that are not significantly worse.

    Args:
        samples: Samples by step.
        left_out: Steps that are known to be worse.
        sign: 1 when the highest mean is best, -1 when the lowest is.
        confidence: 1 - confidence is the probability of leaving out any step that is as good as the best.
    """
    places = sorted(samples)
    open_ = [s for s in places if s not in left_out]
    (verdicts,) = verdicts_of([[samples[s] for s in open_]], sign, confidence)
    means = {s: sign * samples[s].together.value for s in open_}
    best = max(open_, key=lambda s: -math.inf if math.isnan(means[s]) else means[s])
    # The best is kept, although its verdict may be that of a lucky run of another value.
    kept = {s for s, v in zip(open_, verdicts, strict=True) if v.can_be_best} | {best}
    first = last = places.index(best)
    while first > 0 and places[first - 1] in kept:
        first -= 1
    while last < len(places) - 1 and places[last + 1] in kept:
        last += 1
    return best, (places[first], places[last])


def allocated(
    samples: Mapping[int, Sample], runs: Mapping[int, int], best: int, extra: int, sign: int
) -> dict[int, int]:
    """Numbers of runs after ``extra`` runs more, where they decide most on the best.

    One half of the runs is divided equally, because the variance of few runs may be too small by chance, the other half
    by the optimal computing budget allocation (Chen, Lin, Yücesan and Chick, *Simulation budget allocation for further
    enhancing the efficiency of ordinal optimization*, Discrete Event Dynamic Systems 10, 2000): in proportion to
    variance by squared distance from the best.
    """
    if extra <= 0:
        return dict(runs)
    weights = _weights(samples, runs, best, sign)
    whole = sum(weights.values())
    total = sum(runs.values()) + extra
    lacking = {s: max(0.0, total * w / whole - runs[s]) if whole > 0 else 1.0 for s, w in weights.items()}
    short = sum(lacking.values())
    shares = {
        s: extra * (0.5 / len(runs) + 0.5 * (lack / short if short else 1 / len(runs))) for s, lack in lacking.items()
    }
    more = {s: math.floor(share) for s, share in shares.items()}
    # The rest goes to the largest remainders.
    for s in sorted(shares, key=lambda s: more[s] - shares[s])[: extra - sum(more.values())]:
        more[s] += 1
    return {s: runs[s] + more[s] for s in runs}


def _weights(samples: Mapping[int, Sample], runs: Mapping[int, int], best: int, sign: int) -> dict[int, float]:
    estimates = {s: sample.estimate for s, sample in samples.items()}
    variances = {s: e.variance * runs[s] if math.isfinite(e.variance) else 0.0 for s, e in estimates.items()}
    leader = estimates[best]
    weights: dict[int, float] = {}
    for s, e in estimates.items():
        if s == best:
            continue
        # A distance below its standard error is not known, and would take all runs.
        distance2 = max((sign * (leader.mean - e.mean)) ** 2, leader.variance + e.variance)
        weights[s] = variances[s] / distance2 if distance2 > 0 and math.isfinite(distance2) else 0.0
    squares = sum(w**2 / variances[s] for s, w in weights.items() if w > 0)
    weights[best] = math.sqrt(variances[best] * squares)
    return weights
