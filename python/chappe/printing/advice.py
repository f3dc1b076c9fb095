"""Output of ``chappe advise``."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from chappe import text as show
from chappe._common.words import count
from chappe.stats.doubts import meant
from chappe.study.advise import MEASURES, WORDS, Advice
from chappe.study.trials.trial import WHO


def advice(a: Advice) -> None:
    """Prints the answer, tables of changes by who can make them, the screen, and what was left out."""
    for text in a.findings:
        show.say(text)
    measures = [m for m in MEASURES if m in a.table["measure"].to_list()]
    heads = [f">{WORDS[m]} [%]" for m in measures]
    for who in (*WHO, None):
        of_who = a.table.filter(pl.col("who").eq_missing(who))
        if of_who.is_empty():
            continue
        show.say("")
        title = f"For {WHO[who]}" if who else "Given changes"
        t = show.table("change", *heads, "doubt", title=f"{title}, relative to the network as it is")
        for of_change in of_who.partition_by("change", maintain_order=True):
            rows = {row["measure"]: row for row in of_change.iter_rows(named=True)}
            words = dict.fromkeys(word for row in rows.values() for word in (row["doubt"] or "").split(", ") if word)
            t.add_row(of_change["change"][0], *(_cell(rows.get(m)) for m in measures), ", ".join(words))
        show.write(t)
    for text in meant(a.table["doubt"]):
        show.say(text)
    _others(a)
    show.say("")
    show.say(f"{count(len(a.study.runs), 'run')} in {a.study.folder}.")


def _others(a: Advice) -> None:
    """Prints changes that only the screen tried, and those that were not tried."""
    if not (others := a.screened.filter(~pl.col("kept"))).is_empty():
        show.say("")
        t = show.table("change", ">goodput [%]", ">delay [%]", "who", title="Screened only: means of few runs")
        for row in others.iter_rows(named=True):
            t.add_row(row["change"], _percent(row["goodput"]), _percent(row["delay"]), row["who"] or "")
        show.write(t)
    for n, (reason, changes) in enumerate(a.left_out.group_by("reason", maintain_order=True)):
        if n == 0:
            show.say("")
        show.say(f"Left out: {', '.join(changes['change'])}: {reason[0]}.")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.0f}"


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["relative"] is None:
        return "-"
    return f"{show.relative(row, 0).removesuffix(' %')} {row['verdict']}"
