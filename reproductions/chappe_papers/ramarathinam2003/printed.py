"""Numbers that the paper prints, and a test of all its segments together: do they come from single runs like ours?"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from chappe.stats import Estimate
from scipy.stats import rankdata

from chappe_papers.judging.judge import Form, Observation, inside
from chappe_papers.ramarathinam2003.design import SEGMENTS
from chappe_papers.ramarathinam2003.points import COMBINATIONS, Point
from chappe_papers.ramarathinam2003.single_runs import SingleRuns
from chappe_papers.runs.estimates import Estimates

LOADS = ("light", "moderate", "heavy", "internet")
"""The transfers, in the order of Table I."""

TABLE_I = {
    ("tahoe", "aodv"): (500, 350, 285, 850), ("tahoe", "dsr"): (300, 300, 300, 850),
    ("tahoe", "dsdv"): (250, 350, 225, 950), ("reno", "dsr"): (400, 370, 300, 1000),
    ("reno", "aodv"): (200, 300, 225, 1000), ("reno", "dsdv"): (200, 300, 190, 1000),
    ("newreno", "aodv"): (450, 250, 170, 1000), ("newreno", "dsr"): (325, 275, 200, 1000),
    ("newreno", "dsdv"): (325, 310, 150, 1200), ("sack", "dsr"): (475, 250, 210, 900),
    ("sack", "aodv"): (280, 340, 300, 1400), ("sack", "dsdv"): (225, 360, 240, 800),
}  # fmt: skip
"""Segments that the paper's runs reach: light, moderate and heavy load, and to the Internet."""

TABLE_II = {
    ("tahoe", "dsr"): (466.60, 465.75), ("tahoe", "dsdv"): (468.35, 467.56), ("tahoe", "aodv"): (467.13, 467.07),
    ("reno", "dsr"): (466.28, 465.70), ("reno", "dsdv"): (470.00, 468.78), ("reno", "aodv"): (468.58, 467.15),
    ("newreno", "dsr"): (467.24, 465.84), ("newreno", "dsdv"): (470.00, 467.53), ("newreno", "aodv"): (468.65, 466.76),
    ("sack", "dsr"): (470.00, 465.92), ("sack", "dsdv"): (468.20, 467.46), ("sack", "aodv"): (468.48, 467.00),
}  # fmt: skip
"""Time of the last packet that the paper's nodes 0 and 4 send or receive [s]."""

DRAWS = 9_999
"""Sets of single runs that are drawn."""

PLACE = Form(100, unit="% mean place among our runs", places=0)
"""A place from 0 to 1."""

_SEED = 1
_MIDDLE = (0.25, 0.75)
"""The mean rank of the paper's numbers must be in this part of ours."""


def segments(data: Estimates, point: Point) -> np.ndarray | None:
    """Segments that the runs of a point reach: a row for each run, a column for each load; ``None`` without runs."""
    values = [e.values for load in LOADS if isinstance(e := data.get(point, SEGMENTS[load]), SingleRuns)]
    return np.array(values).T if len(values) == len(LOADS) else None


def places(runs: np.ndarray) -> np.ndarray:
    """Place of each run among all, from 0 to 1, by each of its values; equal values share a place.

    Args:
        runs: A row for each run, a column for each value.
    """
    return np.asarray((rankdata(runs, axis=0) - 0.5) / len(runs))


def distance_from_uniform(several: np.ndarray) -> np.ndarray:
    """Distance of places from the uniform distribution (Anderson and Darling 1954): one for each row."""
    u = np.sort(several, axis=-1)
    n = u.shape[-1]
    weights = (2 * np.arange(1, n + 1) - 1) / n
    return np.asarray(-n - ((np.log(u) + np.log1p(-u[..., ::-1])) * weights).sum(axis=-1))


def exchange_p(theirs: list[np.ndarray], ours: list[np.ndarray], draws: int = DRAWS) -> tuple[np.ndarray, float]:
    """Places of single runs of the paper among ours, and the probability that ours lie as unevenly.

    If the paper's run of a combination is one like ours, each of these runs, its own and ours, is equally likely to be
    the one that was printed. Drawing one of each combination gives the distribution of the distance, whatever the
    distributions of the values are, however many are equal, and however values of one run depend on each other: the
    level is exact, which it is not for tests that take all numbers for independent. The distances of the loads add up:
    of all numbers together, one load that differs would be lost among the others.

    Args:
        theirs: For each combination the values of the paper's run.
        ours: For each combination our runs, a row for each.
        draws: Sets that are drawn.
    """
    of_all = [places(np.vstack([one, runs])) for one, runs in zip(theirs, ours, strict=True)]
    printed = np.array([p[0] for p in of_all])
    draw = np.random.default_rng(_SEED)
    drawn = np.stack([p[draw.integers(len(p), size=draws)] for p in of_all], axis=1)
    distance, distances = (distance_from_uniform(np.moveaxis(p, -1, 0)).sum(axis=0) for p in (printed, drawn))
    # 1e-9 against rounding: the printed set is among those that can be drawn.
    p = (1 + int((distances >= distance - 1e-9).sum())) / (draws + 1)
    return printed, p


def places_of_segments(data: Estimates) -> tuple[np.ndarray, float] | None:
    """Places of the numbers of Table I and the probability, a row for each combination, a column for each load.

    ``None`` unless two combinations have runs.
    """
    ours = {p: of_point for p in COMBINATIONS if (of_point := segments(data, p)) is not None}
    theirs = [np.array(TABLE_I[p[:2]], dtype=float) for p in ours]
    return exchange_p(theirs, list(ours.values())) if len(ours) > 1 else None


def segments_of_single_runs(data: Estimates, where: str) -> Iterator[Observation]:
    """All numbers of Table I come from single runs like ours; the effect is their mean place among ours.

    As the paper says: this mean, over the combinations, is certainly in the middle half of our runs. Contrary: by
    :func:`exchange_p`.
    """
    if (found := places_of_segments(data)) is not None:
        printed, p_contradicts = found
        agrees = inside(where, Estimate.of(printed.mean(axis=1).tolist()), *_MIDDLE, PLACE)
        yield replace(agrees, p_contradicts=p_contradicts)
