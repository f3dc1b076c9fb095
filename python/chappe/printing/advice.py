"""Output of ``chappe advise``."""

from collections.abc import Mapping
from typing import Any

from chappe import text as show
from chappe._common.words import count
from chappe.stats.doubts import meant
from chappe.study.advise import MEASURES, WORDS, Advice


def advice(a: Advice) -> None:
    """Prints the advice and its table."""
    for text in a.findings:
        show.say(text)
    show.say("")
    measures = [m for m in MEASURES if m in a.table["measure"].to_list()]
    heads = (f">{WORDS[m]} [%]" for m in measures)
    t = show.table("change", *heads, "doubt", title="Relative to the network as it is")
    for of_change in a.table.partition_by("change", maintain_order=True):
        rows = {row["measure"]: row for row in of_change.iter_rows(named=True)}
        words = dict.fromkeys(word for row in rows.values() for word in (row["doubt"] or "").split(", ") if word)
        t.add_row(of_change["change"][0], *(_cell(rows.get(m)) for m in measures), ", ".join(words))
    show.write(t)
    for text in meant(a.table["doubt"]):
        show.say(text)
    show.say(f"{count(len(a.study.runs), 'run')} in {a.study.folder}.")


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["relative"] is None:
        return "-"
    return f"{show.relative(row, 0).removesuffix(' %')} {row['verdict']}"
