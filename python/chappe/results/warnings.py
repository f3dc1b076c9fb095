"""Warnings about the results of a run, as records."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from chappe._common.notices import Notice
from chappe._common.words import count, times
from chappe.measures import short_batches
from chappe.results.silent_flows import TOLD, Silence
from chappe.stats.doubts import CORRELATED, TREND

if TYPE_CHECKING:
    from chappe.results.storage.columns import Rows, Table

ENDS = {
    "limit": "reached run.time_limit before the stop rule was met",
    "idle": "ended early: no events were left",
}
"""Early ends of runs, as predicates."""


SLOW_HANDOVER_S = 1.0
"""Shortest time without a gateway that is reported [s]."""

STEADY = ("bulk", "cbr")
"""Applications that do not pause: a time without data is one without a gateway."""


def of_results(
    end: str, flows: "Rows", silences: Sequence[Silence], batches: "Table", certain: Mapping[str, Sequence[str]]
) -> Iterator[Notice]:
    """Yields the warnings about a run.

    Args:
        end: Reason for the end of the run.
        flows: Table ``flows`` of the run.
        silences: Flows that delivered nothing.
        batches: Table ``batches`` of the run.
        certain: Measures by word that the tests of batches find (:func:`chappe.stats.doubts.certain`).
    """
    if end in ENDS:
        yield Notice("early_end", "run.stop", f"the run {ENDS[end]}")
    for silence in silences[:TOLD]:
        yield Notice("silent_flow", f"flow.{silence.flow}", str(silence))
    if (more := len(silences) - TOLD) > 0:
        yield Notice("silent_flow", "flow", f"{count(more, 'more flow')} delivered nothing")
    yield from _slow_handovers(flows)
    if short := short_batches(batches):
        yield Notice("short_batches", "run.stop", short)
    for word, names in certain.items():
        for name in names:
            yield of_batches(name, word)


def _slow_handovers(flows: "Rows") -> Iterator[Notice]:
    """Flows without pauses whose data went through no gateway for long before they went through another one."""
    steady = [f for f in flows if f["app"] in STEADY]
    slow = [f for f in steady if (f.get("longest_handover_s") or 0.0) >= SLOW_HANDOVER_S]
    for f in slow[:TOLD]:
        text = (
            f"data of flow {f['flow']} went through no gateway for {f['longest_handover_s']:,.3g} s between one and "
            f"another; the gateway changed {times(f['gateway_changes'])}, last at {f['gateway_changed_at_s']:,.4g} s "
            f"to node {f['gateway']}"
        )
        yield Notice("slow_handover", f"flow.{f['flow']}", text)
    if (more := len(slow) - TOLD) > 0:
        yield Notice("slow_handover", "flow", f"{count(more, 'more flow')} changed the gateway as slowly")


def of_batches(measure: str, word: str, where: str = "", runs: int = 1) -> Notice:
    """Warning about the batches of a measure.

    Args:
        measure: Name of the measure.
        word: Word of the column ``doubt``.
        where: Points of a study, and further facts.
        runs: Number of runs that the warning is about.
    """
    intervals = "their interval is" if runs == 1 else "their intervals are"
    code, text = {
        CORRELATED: ("correlated_batches", f"are correlated{where}: {intervals} too narrow"),
        TREND: ("trend", f"have a trend{where}: there is no steady state, and {intervals} too narrow"),
    }[word]
    return Notice(code, "run.stop", f"batches of {measure} {text}. Use longer batches or several seeds")
