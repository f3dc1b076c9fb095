"""Synthetic runs with known true values, in the form that the rules for the number of runs need."""

from typing import Any

import numpy as np
import polars as pl
from chappe.stats import Estimate
from chappe_papers.runs import replication
from numpy.typing import NDArray


def runs_of(batches: Any) -> pl.DataFrame:
    """Table of runs from the values of their batches, one run per row."""
    rows = []
    for values in np.asarray(batches, dtype=float):
        half = float(2.2622 * np.std(values, ddof=1) / np.sqrt(len(values)))
        row = replication.of_batches({"goodput_bps": values.tolist(), "mean_window_segments": [1.0] * len(values)})
        row |= {"goodput_bps": float(values.mean()), "goodput_bps_half_width": half, "mean_window_segments": 1.0,
                "goodput_bps_over": float(values.sum()), "goodput_bps_under": float(len(values)),
                "mean_window_segments_half_width": 0.0}  # fmt: skip
        rows.append(row)
    return pl.DataFrame(rows)


def by_the_rule(runs: pl.DataFrame) -> Estimate:
    """Goodput by the complete rule, with three runs at first: from batches, from three runs, or from all runs."""
    first = runs[:3]
    if replication.doubtful(first):
        return Estimate.of(runs["goodput_bps"].to_list())
    return replication.together(first, "goodput_bps") or Estimate.of(first["goodput_bps"].to_list())


def correlated(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Runs with correlated batches."""
    noise = rng.normal(size=shape)
    for k in range(1, shape[1]):
        noise[:, k] = 0.8 * noise[:, k - 1] + 0.6 * noise[:, k]
    return noise
