"""Warnings about the results of a run, as records."""

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


_IN_BATCHES = {
    "correlated": ("correlated_batches", "are correlated: their interval is too narrow"),
    "trend": ("trend", "have a trend: there is no steady state, and their interval is too narrow"),
}
"""Codes and texts of warnings, by words of the column ``doubt``."""


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
    for word, (code, text) in _IN_BATCHES.items():
        for name in summary.filter(pl.col("doubt").str.contains(word, literal=True))["measure"]:
            yield Notice(code, "run.stop", f"batches of {name} {text}. Use longer batches or several seeds")
