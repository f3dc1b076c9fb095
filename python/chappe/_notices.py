"""Warnings about the results of a run, as records."""

import math
from collections.abc import Iterator, Sequence

import polars as pl

from chappe._notice import Notice
from chappe._silence import TOLD, Silence
from chappe._words import count
from chappe.measures import short_batches

_ENDS = {
    "limit": "the run reached run.time_limit before its stop rule was met",
    "idle": "the run ended early: no events were left",
}


def of_results(end: str, silences: Sequence[Silence], batches: pl.DataFrame, summary: pl.DataFrame) -> Iterator[Notice]:
    """Yields the warnings about a run.

    Args:
        end: Reason for the end of the run.
        silences: Flows that delivered nothing.
        batches: Table ``batches`` of the run.
        summary: Measures of the run, of which all are checked.
    """
    if end in _ENDS:
        yield Notice("early_end", "run.stop", _ENDS[end])
    for silence in silences[:TOLD]:
        yield Notice("silent_flow", f"flow.{silence.flow}", str(silence))
    if (more := len(silences) - TOLD) > 0:
        yield Notice("silent_flow", "flow", f"{count(more, 'more flow')} delivered nothing")
    if short := short_batches(batches):
        yield Notice("short_batches", "run.stop", short)
    for row in summary.iter_rows(named=True):
        if is_correlated(row["autocorrelation"], row["n"]):
            yield Notice(
                "correlated_batches",
                "run.stop",
                f"batches of {row['measure']} are correlated (autocorrelation {row['autocorrelation']:.2f}): their "
                "interval is too narrow. Use longer batches or several seeds",
            )


def is_correlated(autocorrelation: float | None, batches: int) -> bool:
    """True if neighbouring batches are so alike that the interval is too narrow."""
    return autocorrelation is not None and autocorrelation > 2 / math.sqrt(batches)
