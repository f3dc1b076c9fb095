"""Output of ``chappe compare`` and ``chappe rank``, and of the baseline of a study."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from chappe import text as show
from chappe._common.words import count
from chappe.measures import measure_of
from chappe.stats.doubts import meant
from chappe.stats.verdicts import verdict
from chappe.study.analysis.analysis import SAME


def compared(rows: pl.DataFrame, measure: str, axes: Sequence[str], by: str, within: float = SAME) -> None:
    """Prints a comparison of the values of an axis with one of them: what was found, then the table."""
    m = measure_of(measure)
    every = rows.to_dicts()
    baseline = every[0]["baseline"] if every else "-"
    verdicts = [verdict(row, within) for row in every]
    found = Counter(v.partition(":")[0] for v in verdicts)
    said = "; ".join(f"{v} at {n} of {count(len(every), 'point')}" for v, n in found.most_common())
    show.say(f"{m.label[0].upper()}{m.label[1:]} compared with {by} = {baseline}: {said or 'nothing to compare'}.")
    t = show.table(
        *axes, f">{baseline}", "", ">this", "", ">difference", "verdict", "doubt",
        title="95 % confidence of all differences together", keys=len(axes),
    )  # fmt: skip
    for row, of_row in zip(every, verdicts, strict=True):
        t.add_row(
            *(str(row[name]) for name in axes),
            *_with_unit(row["estimate_b"], m.scale, m.unit),
            *_with_unit(row["estimate_a"], m.scale, m.unit),
            show.relative(row),
            of_row,
            row["doubt"] or "",
        )
    show.write(t)
    for text in meant(rows["doubt"] if every else ()):
        show.say(text)


def ranked(rows: pl.DataFrame, measure: str, axes: Sequence[str], by: Sequence[str]) -> None:
    """Prints a ranking: the best settings, then the table."""
    m = measure_of(measure)
    others = [name for name in axes if name not in by]
    for of_one in rows.partition_by(others, maintain_order=True) if others else [rows]:
        every = of_one.to_dicts()
        best = [", ".join(str(row[name]) for name in by) for row in every if row["can_be_best"]]
        at = ", ".join(f"{name} = {every[0][name]}" for name in others)
        told = f"best: {best[0]}" if len(best) == 1 else f"indistinguishable as the best: {'; '.join(best) or 'none'}"
        show.say(f"{m.label[0].upper()}{m.label[1:]}{f' at {at}' if at else ''}, {told}.")
    t = show.table(
        *others, *by, f">{m.label}", "", ">n", "letters", "note", "doubt",
        title="95 % confidence of all intervals together; settings that share a letter are indistinguishable",
        keys=len(axes),
    )  # fmt: skip
    for row in rows.to_dicts():
        t.add_row(
            *(str(row[name]) for name in (*others, *by)),
            show.estimate(row, m.scale),
            m.unit,
            str(row["n"]),
            row["letters"] or "",
            row["note"] or "",
            row["doubt"] or "",
        )
    show.write(t)
    for text in meant(rows["doubt"]):
        show.say(text)


def _with_unit(value: float | None, scale: float, unit: str) -> tuple[str, str]:
    return show.number(None if value is None else value * scale), unit
