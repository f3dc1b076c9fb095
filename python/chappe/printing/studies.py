"""Output of ``chappe sweep``."""

import json
import warnings as python_warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import chappe
from chappe import text as show
from chappe._common.words import count, plain, tell
from chappe.errors import ChappeWarning
from chappe.measures import measure_of
from chappe.printing.results import pooled
from chappe.results.storage.folder import FORMAT
from chappe.scenario import flow_selection
from chappe.stats.doubts import meant
from chappe.stats.verdicts import place
from chappe.study.study import Study, named
from chappe.text.layout import Table

_TOLD = 10
"""Failed runs that are told of one by one."""

_QUANTILES = {"q10": "10 %", "median": "median", "q90": "90 %"}
"""Columns of quantiles, with their names in print."""


def study(s: Study, measures: Sequence[str], flows: str | None = None) -> None:
    """Prints the means of a study, of all flows or of chosen ones, or the curve of a search."""
    if s.is_search:
        rows = s.curve().to_dicts()
        show.write(_curve(s, rows))
        for text in meant(row["doubt"] for row in rows):
            show.say(text)
    else:
        rows = s.summary(measures, flows=flows).to_dicts()
        show.write(_summary(s, rows))
        for text in _meaning(rows):
            show.say(text)
        if drawn := s._drawn:
            show.say(f"Drawn anew for each seed, alike at all points: {', '.join(drawn)}.")
        kinds = s._kinds
        if len(kinds) > 1 and any(flow_selection.OF not in row["measure"] for row in rows):
            show.say(pooled(kinds))
    show.say(f"{count(len(s.runs), 'run')} in {s.folder}.")


@contextmanager
def told_at_once() -> Iterator[None]:
    """Prints warnings of Chappe on standard error at once."""
    with python_warnings.catch_warnings():
        python_warnings.simplefilter("always", ChappeWarning)
        previous = python_warnings.showwarning

        def shown(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:
            if issubclass(category, ChappeWarning):
                tell(f"warning: {plain(message)}")
            else:
                previous(message, category, *where, **how)

        python_warnings.showwarning = shown
        yield


def warnings(s: Study, measures: Sequence[str], ignored: Sequence[str] = ()) -> None:
    """Prints failed runs, and warnings except for those of ignored codes, on standard error."""
    for notice in s._notices(measures):
        if notice.code not in ignored:
            tell(f"warning: {plain(notice)}")
    for failed in s.failed[:_TOLD]:
        at = named({**failed.item.point.labels, "seed": failed.item.seed})
        tell(plain(f"error: the run with {at} failed: {failed}"))
    if (more := len(s.failed) - _TOLD) > 0:
        tell(f"error: {count(more, 'more run')} failed; `--json` lists all")
    if s.failed:
        tell(f"\n{count(len(s.failed), 'run')} failed; finished runs are kept in {plain(s.folder)}.")


def as_json(
    s: Study,
    measures: Sequence[str],
    ignored: Sequence[str] = (),
    flows: str | None = None,
    baseline: tuple[str, Any] | None = None,
) -> str:
    """All printed results, as JSON."""
    rows = s.summary(measures, flows=flows).to_dicts()
    compared = {m: s.compare(m, baseline[0], baseline=baseline[1]).to_dicts() for m in measures if baseline}
    return json.dumps(
        {
            "format": FORMAT,
            "version": chappe.__version__,
            "results_epoch": chappe.RESULTS_EPOCH,
            "folder": str(s.folder),
            "axes": s.axes,
            "seeds": s.seeds,
            "run_count": len(s.runs),
            "failed": [{**f.item.point.labels, "seed": f.item.seed, "message": str(f)} for f in s.failed],
            "warnings": [notice._asdict() for notice in s._notices(measures) if notice.code not in ignored],
            "expected_misses": round((1 - 0.95) * len(rows), 2),
            "summary": rows,
            "comparisons": compared,
            **({"curve": s.curve().to_dicts()} if s.is_search else {}),
        },
        indent=2,
        allow_nan=False,
    )


def _confidence(intervals: int) -> str:
    """Title of a table: how many of its intervals may miss."""
    missing = round((1 - 0.95) * intervals)
    each = "95 % confidence"
    return f"{each} each: about {missing} of {intervals} intervals miss{'es' * (missing == 1)}" if missing else each


def _summary(s: Study, rows: Sequence[Mapping[str, Any]]) -> Table:
    of = rows[0]["of"] if rows else "runs"
    axes = s._own_axes
    quantiles = {q: name for q, name in _QUANTILES.items() if any(row[q] is not None for row in rows)}
    columns = ("measure", f">all {of}", "", ">n", ">unseen", *(f">{name}" for name in quantiles.values()), "doubt")
    told = [row["met"] for row in rows if row["met"] is not None]
    marks = ("precision",) if told else ()
    t = show.table(*axes, *columns, *marks, title=_confidence(len(rows)), keys=len(axes) + 1)
    for row in rows:
        m = measure_of(row["measure"]).near(row["estimate"])
        t.add_row(
            *(str(row[name]) for name in axes),
            m.label,
            show.estimate(row, m.scale),
            m.unit,
            str(row["n"]),
            "-" if row["unseen"] is None else f"{100 * row['unseen']:.0f} %",
            *(show.number(None if row[q] is None else row[q] * m.scale) for q in quantiles),
            row["doubt"] or "",
            *(({True: "met", False: "missed", None: ""}[row["met"]],) if told else ()),
        )
    return t


def _meaning(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Explanations of the words and bounds in a summary."""
    if any(row["unseen"] is not None for row in rows):
        yield "unseen: a state of up to this share of all runs may not have occurred in any of the n runs."
    yield from meant(row["doubt"] for row in rows)


def _curve(s: Study, rows: Sequence[Mapping[str, Any]]) -> Table:
    m = measure_of(s.measure_of_search)
    t = show.table(*s.axes, f">{m.label}", "", ">n", "", "doubt", title=_confidence(len(rows)), keys=len(s.axes))
    for row in rows:
        t.add_row(
            *(str(row[name]) for name in s.axes),
            show.estimate(row, m.scale),
            m.unit,
            str(row["n"]),
            place(row),
            row["doubt"] or "",
        )
    return t
