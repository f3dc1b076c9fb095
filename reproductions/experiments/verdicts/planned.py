"""Numbers of runs of published points that were written without them: from the design of a paper, or from errors.

A point has the planned runs of its settings, times those of the last look at its claim. Where the first runs decide
how many there are, over the chains of ``elrakabawy2005``, the degrees of freedom of a quotient tell them: Welch's
formula gives those of the file for one choice of both numbers only. Numbers that are known in neither way stay empty,
but those of points that have ten runs at most are few.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import recorded
from chappe_papers.elrakabawy2005.points import CHAIN, DRAWN, UDP
from chappe_papers.judging.claims import Claim
from chappe_papers.paper import Paper
from chappe_papers.statistics.counted import runs_of
from recorded import Row

FEW = 14
"""Runs below which the library says *few runs*."""

Runs = Callable[[Any], float]
"""Number of runs of a point; NaN if the first ones decide."""


def fill(paper: Paper, claim: Claim, rows: list[Row], times: int) -> None:
    """Completes the rows of a claim.

    Args:
        paper: The paper.
        claim: The claim.
        rows: Its rows; those with a number of runs stay.
        times: Number of runs, relative to the planned ones.
    """
    own = [r for r in rows if r["answer"] and r["test"]]
    if all(r.get("runs") for r in own):
        return
    draws = getattr(paper.design.full, "draws", 0) * times
    said, most = (
        recorded.matched(claim, own, paper.design.full.x, _by_design(paper, times, doubted), draws)
        for doubted in (math.nan, getattr(paper.design.full, "doubted", 0) * times)
    )
    for r, o, bound in zip(own, said, most, strict=True):
        n = runs_of(o.effect)
        if math.isnan(n):
            n = _by_error(r, times, paper.design.full)
        elif r["standard_error"] and (most := float(r["degrees_of_freedom"]) + 1) < n:
            # A best value is measured in the half of the runs that has not chosen it.
            n = most if most.is_integer() else math.nan
        r["runs"] = r.get("runs") or ("" if math.isnan(n) else f"{n:g}")
        if math.isnan(n) and runs_of(bound.effect) < FEW:
            r["doubt"] = "few runs" if float(r["standard_error"] or 1) else "few runs, no spread"


def _by_design(paper: Paper, times: int, doubted: float) -> Runs:
    """Numbers of runs that do not depend on their results.

    Args:
        paper: The paper.
        times: Number of runs, relative to the planned ones.
        doubted: Number of runs of a point that has more if the first ones are doubtful. The page of the paper lists all
            others that have more, but those of paced UDP.
    """
    design, length = paper.design, paper.design.full

    def of_chains(point: Any) -> float:
        if point.place in DRAWN and not point.draw:
            return length.draws * times
        seeds = design.seeds(point, length)
        if point.place != CHAIN or seeds == length.states:
            return seeds * times
        return length.states * times if point.variant == UDP and doubted == doubted else doubted

    def of_others(point: Any) -> float:
        return design.seeds(design.same(point), length) * times

    return of_chains if paper.name == "elrakabawy2005" else of_others


def _by_error(row: Mapping[str, str], times: int, length: Any) -> float:
    """The runs of the side with fewer, from degrees of freedom: those of runs, or of ten batches of the first runs."""
    numbers = {n * times: (n * times - 1,) for n in (length.doubted, length.states)}
    few = length.seeds * times
    numbers[few] = (few - 1, 10 * few - 1)
    df = float(row["degrees_of_freedom"] or "nan")
    if not float(row["standard_error"] or 0):
        return math.nan
    if not row["error_curvature"]:
        found = {n for n, of_n in numbers.items() if df in of_n}
    else:
        each = [(n, d) for n, of_n in numbers.items() for d in of_n]
        found = {
            min(n, m)
            for a, b in _variances(row)
            for n, d in each
            for m, f in each
            if math.isclose(df, (a + b) ** 2 / (a**2 / d + b**2 / f), rel_tol=1e-7)
        }
    return found.pop() if len(found) == 1 else math.nan


def _variances(row: Mapping[str, str]) -> Iterator[tuple[float, float]]:
    """Variances of both sides of a quotient, which is shown as a gain, or as the share that is missing."""
    effect, zero = float(row["effect"]), float(row["zero"])
    error, curvature = float(row["standard_error"]), float(row["error_curvature"])
    for times in (effect - zero, 100 - effect):
        b = times**2 * curvature
        if 0 <= b <= error**2:
            yield error**2 - b, b
