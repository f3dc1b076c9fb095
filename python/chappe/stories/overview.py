"""Stories of the flows of a run: of the worst flows in full, of the others in a line each."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from chappe import text as show
from chappe._common.progress import Progress
from chappe._common.words import count
from chappe.errors import LimitError
from chappe.results.budgets import USES
from chappe.results.results import Results
from chappe.results.silent_flows import unused
from chappe.stories.story import RECORDED, Story, is_watched, story_of, titled, watched

QUICK = 1_000_000
"""Frames, and packets over point-to-point links, of a run that is repeated for stories at most: some seconds."""


class Overview(NamedTuple):
    """Stories of the flows of a run.

    Attributes:
        stories: Stories of the worst flows, by number, from the worst on.
        others: A line for each other flow.
        note: Which flows are told in full, and why not all; empty if all are.
        more: Command that tells others; empty if there is none.
    """

    stories: dict[int, Story]
    others: list[str]
    note: str = ""
    more: str = ""


_MORE = "`--flows` tells the stories of chosen flows."


def overview(results: Results, most: int, *, progress: Progress = False) -> Overview:
    """Tells the stories of the flows of a run, which is repeated if it did not record what they need.

    A flow is the worse the smaller its goodput is compared with the mean of the flows of its transport. Flows that did
    not begin come last.

    Args:
        results: Results of the run.
        most: Number of stories at most.
        progress: As in :func:`chappe.run`.
    """
    if not (sent := results.frames_sent + int(results.wired_links["packets_sent"].sum())):
        return Overview({}, [])
    alike = pl.col("goodput_bps").mean().over("transport")
    has_begun = (pl.col("started_at_s") < results.simulated_s).fill_null(False)
    share = (pl.col("goodput_bps") / alike).fill_nan(None)
    begun = results.flows.filter(has_begun).sort(share, "flow", nulls_last=True)
    first = begun["flow"].head(most).to_list()
    rows = results.flows.to_dicts()
    left_out = unused(rows)
    lines = {row["flow"]: f"{titled(row)}: it did not begin." for row in rows if row["flow"] not in left_out}
    lines |= {row["flow"]: _line(row) for row in begun.iter_rows(named=True)}
    if not is_watched(results) and results._is_of_program:
        note = (
            "Stories of a run with external flows, which cannot be repeated without its program, need "
            f"`run.airtime = true` and `run.record = {json.dumps(RECORDED)}`."
        )
        return Overview({}, _in_order(lines), note)
    if not is_watched(results) and sent > QUICK:
        return Overview({}, _in_order(lines), f"Stories are told of runs of at most {count(QUICK, 'frame')}.", _MORE)
    try:
        repeated = results if is_watched(results) else watched(results.scenario, progress)
    except LimitError:
        note = "Stories of flows need more memory than `run.max_memory`: a shorter run has them."
        return Overview({}, _in_order(lines), note)
    stories = {flow: story_of(repeated, flow) for flow in first}
    others = {flow: line for flow, line in lines.items() if flow not in stories}
    if not others:
        return Overview(stories, [])
    note = (
        f"Of {count(len(lines), 'flow')} the {len(first)} with the least goodput, compared with that of their "
        "transport, are told in full."
    )
    return Overview(stories, _in_order(others), note, _MORE)


def _in_order(lines: dict[int, str]) -> list[str]:
    return [lines[flow] for flow in sorted(lines)]


def _line(row: dict[str, Any]) -> str:
    """A flow in a line, from its row of the table ``flows``."""
    return f"{titled(row)}: {'; '.join(_facts(row))}."


def _facts(row: dict[str, Any]) -> Sequence[str]:
    facts = [show.rate(row["goodput_bps"], 3)]
    if row["mean_delay_s"] is not None:
        facts.append(f"a packet takes {show.number(1e3 * row['mean_delay_s'], 3)} ms")
    if row["transport"] == "udp":
        return facts
    times = {use: row[f"{use}_s"] or 0.0 for use in USES}
    if whole := sum(times.values()):
        use = max(times, key=lambda name: times[name])
        facts.append(f"{100 * times[use] / whole:.0f} % of its time in {USES[use]}")
    if row["timeouts"]:
        facts.append(count(row["timeouts"], "timeout"))
    return facts
