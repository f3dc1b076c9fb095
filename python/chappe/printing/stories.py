"""Output of ``chappe follow``."""

import polars as pl

from chappe import text as show
from chappe._common.words import count, node_label
from chappe.stories.overview import Overview
from chappe.stories.story import Story, place

_TOLD = 8
"""Rows of a table."""


def story(s: Story, lines: pl.DataFrame, most: int) -> None:
    """Prints what was found, the tables behind it, and some lines of the story."""
    summary(s)
    if lines.is_empty():
        show.say("Nothing happened in this time.")
        return
    for row in lines.head(most).iter_rows(named=True):
        show.say(f"{row['time_s']:12.6f} s  {row['text']}")
    if len(lines) > most:
        show.say(
            f"{len(lines) - most:,} further lines: `--lines` prints more, `--from`, `--until` and `--only` choose."
        )


def overview(of_flows: Overview) -> None:
    """Prints the stories of flows, and the lines of the others."""
    if of_flows.stories or of_flows.others:
        show.say("")
    for s in of_flows.stories.values():
        summary(s)
    for text in of_flows.others:
        show.say(text)
    if of_flows.note:
        show.say(f"{of_flows.note} {of_flows.more}".strip())


def summary(s: Story) -> None:
    """Prints what was found, and the tables behind it."""
    for text in s.findings:
        show.say(text)
    show.say("")
    _delays(s, int(s.paths["packets"].sum()))
    _paths(s.paths)


def _delays(s: Story, packets: int) -> None:
    delays = s.delays
    if delays.is_empty():
        return
    t = show.table(
        "Delay", ">node", ">mean", ">share", title=f"Mean delay of {count(packets, 'delivered packet')}, by place"
    )
    rows = delays.sort("mean_s", descending=True, maintain_order=True)
    for row in rows.head(_TOLD).iter_rows(named=True):
        t.add_row(
            place(row, s.names), node_label(row["node"], s.names), _ms(row["mean_s"]), f"{100 * row['share']:.1f} %"
        )
    if len(rest := rows.slice(_TOLD)):
        t.add_row("elsewhere", "", _ms(float(rest["mean_s"].sum())), f"{100 * float(rest['share'].sum()):.1f} %")
    t.add_row("all", "", _ms(float(rows["mean_s"].sum())), "100.0 %")
    show.write(t)


def _paths(paths: pl.DataFrame) -> None:
    if len(paths) < 2:
        return
    t = show.table("Path", ">packets", ">first", ">last", title="Paths of delivered packets")
    for row in paths.head(_TOLD).iter_rows(named=True):
        t.add_row(row["path"], f"{row['packets']:,}", f"{row['first_at_s']:.3f} s", f"{row['last_at_s']:.3f} s")
    show.write(t)
    if len(paths) > _TOLD:
        show.say(f"{len(paths) - _TOLD:,} further paths.")
        show.say("")


def _ms(seconds: float) -> str:
    return f"{show.number(1e3 * seconds, 3)} ms"
