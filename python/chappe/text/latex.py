"""Tables of results as LaTeX, for the packages booktabs and siunitx."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from chappe._common.arguments import quoted
from chappe.measures import measure_of
from chappe.stats import check_confidence
from chappe.stats.doubts import meant
from chappe.stats.verdicts import place, word
from chappe.text import number
from chappe.text.labels import Labels

if TYPE_CHECKING:
    import polars as pl

_INTERVAL = ("estimate", "ci_low", "ci_high")
_QUANTILES = {"q10": r"10\,\%", "median": "median", "q90": r"90\,\%"}
_SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


class _Column(NamedTuple):
    """A column of the table.

    Attributes:
        head: Its head, as LaTeX.
        cells: Its cells: texts as LaTeX, or numbers in digits where ``is_number``.
        is_number: Whether siunitx aligns its numbers.
        over: Head that it shares with the columns beside it; empty: none.
    """

    head: str
    cells: list[str]
    is_number: bool = False
    over: str = ""

    @property
    def form(self) -> str:
        """Its column in the preamble of ``tabular``."""
        if not self.is_number:
            return "l"
        numbers = [found for cell in self.cells if (found := re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?", cell))]
        sign = "-" if any(n[1] for n in numbers) else ""
        whole = max((len(n[2]) for n in numbers), default=1)
        return f"S[table-format={sign}{whole}.{max((len(n[3] or '') for n in numbers), default=0)}]"


def latex(
    table: "pl.DataFrame",
    measure: str | None = None,
    *,
    confidence: float = 0.95,
    labels: Mapping[str, str] | Labels | None = None,
) -> str:
    """A table of a run or a study as LaTeX, with the packages booktabs and siunitx.

    Each interval has both ends in columns of their own, because siunitx has no asymmetric ones, rounded to the second
    digit of half its width. Comments above the table name the packages and explain its words.

    Args:
        table: What ``summary``, ``curve``, ``compare`` or ``rank`` returns.
        measure: Measure of a comparison, a ranking or a curve, whose tables do not name it; its unit is in the heads.
        confidence: Confidence of the intervals, for their head.
        labels: Words to print in place of names of settings and of their values.

    Raises:
        ValueError: If the table is none of these, its measure is missing, the confidence is none, or a label is for
            nothing in it.
    """
    check_confidence(confidence)
    if not hasattr(table, "columns"):
        raise TypeError(f"the table is a data frame, not {quoted(table)}")
    words = labels if isinstance(labels, Labels) else Labels(labels)
    columns, said = _columns(table, measure, f"{100 * confidence:g}" r"\,\% interval", words)
    words.refuse_unused()
    lines = [
        r"% \usepackage{booktabs,siunitx}",
        *(f"% {text}" for text in said),
        rf"\begin{{tabular}}{{{' '.join(c.form for c in columns)}}}",
        r"\toprule",
        *_heads(columns),
        r"\midrule",
        *(
            _line(starmap(_cell, zip(columns, row, strict=True)))
            for row in zip(*(c.cells for c in columns), strict=True)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _columns(
    table: "pl.DataFrame", measure: str | None, interval: str, labels: Labels
) -> tuple[list[_Column], list[str]]:
    """Columns of a table, and sentences about it."""
    known = _kind(table.columns)
    rows = table.to_dicts()
    keys = [
        _text(labels.setting(name), [labels.value(row[name]) for row in rows])
        for name in table.columns
        if name not in known
    ]
    if "measure" in known:
        names = [row["measure"] for row in rows]
    elif measure is None:
        raise ValueError("name the measure of this table: latex(table, measure)")
    else:
        names = [measure] * len(rows)
    heads = {name: _quantity(name) for name in dict.fromkeys(names)}
    value = next(iter(heads.values())) if len(heads) == 1 else "estimate"
    if len(heads) > 1:
        keys.append(_text("measure", [heads[name] for name in names], is_latex=True))
    scales = [measure_of(name).scale for name in names]
    doubts = _text("doubt", [row["doubt"] or "" for row in rows])
    if "baseline" in known:
        found = _compared(rows, value, interval, scales, labels)
    else:
        found = [
            *_estimates(rows, value, interval, scales),
            _number("$n$", [str(row["n"]) for row in rows]),
            *_quantiles(rows, scales),
            *(_text(name, [row[name] or "" for row in rows]) for name in ("letters", "note") if name in known),
            *([_text("note", map(place, rows))] if "is_best" in known else []),
        ]
    shown = [c for c in [*keys, *found, doubts] if c.is_number or any(c.cells)]
    return shown, list(meant(row["doubt"] for row in rows))


def _kind(columns: Sequence[str]) -> set[str]:
    """Columns of a table that are no settings."""
    kinds = {
        "letters": {"rank", "can_be_best", "letters", "note"},
        "relative": {"baseline", "test", "correlation", "estimate_a", "estimate_b", "relative", "relative_ci_low",
                     "relative_ci_high", "effect", "p", "p_adjusted", "p_same", "same", "difference", "significant"},
        "is_best": {"is_best", "is_tied", "end"},
        "measure": {"measure", "of", "unseen", "met", "correlated",
                    *(f"{q}{end}" for q in _QUANTILES for end in ("", "_low", "_high")),
                    "autocorrelation"},
    }  # fmt: skip
    for mark, of_kind in kinds.items():
        if mark in columns and "doubt" in columns:
            return {*of_kind, *_INTERVAL, "n", "doubt"}
    raise ValueError("the table is no summary, curve, comparison or ranking")


def _quantity(name: str) -> str:
    """A measure with its unit, as LaTeX."""
    m = measure_of(name)
    return _escaped(f"{m.label} ({m.unit})" if m.unit else m.label)


def _estimates(
    rows: Sequence[Mapping[str, Any]], head: str, interval: str, scales: Sequence[float]
) -> Iterable[_Column]:
    """An estimate and both ends of its interval, rounded alike."""
    cells = [_rounded([row[name] for name in _INTERVAL], scale) for row, scale in zip(rows, scales, strict=True)]
    yield _number(head, [c[0] for c in cells])
    yield _number("from", [c[1] for c in cells], interval)
    yield _number("to", [c[2] for c in cells], interval)


def _quantiles(rows: Sequence[Mapping[str, Any]], scales: Sequence[float]) -> Iterable[_Column]:
    for name, head in _QUANTILES.items():
        if any(row.get(name) is not None for row in rows):
            cells = [_rounded([row[name], row[f"{name}_low"], row[f"{name}_high"]], scale)[0]
                     for row, scale in zip(rows, scales, strict=True)]  # fmt: skip
            yield _number(head, cells)


def _compared(
    rows: Sequence[Mapping[str, Any]], value: str, interval: str, scales: Sequence[float], labels: Labels
) -> list[_Column]:
    """Both estimates, and the relative difference with its interval."""
    ends = ("relative", "relative_ci_low", "relative_ci_high")
    cells = [_rounded([row[name] for name in ends], 100.0) for row in rows]
    first = labels.value(rows[0]["baseline"]) if rows else "baseline"
    digits = [[_digits(row[f"estimate_{x}"], scale) for x in "ba"] for row, scale in zip(rows, scales, strict=True)]
    return [
        _number(_escaped(first), [d[0] for d in digits], value),
        _number("this", [d[1] for d in digits], value),
        _number(r"difference (\%)", [c[0] for c in cells]),
        _number("from", [c[1] for c in cells], interval),
        _number("to", [c[2] for c in cells], interval),
        _text("verdict", map(word, rows)),
    ]


def _rounded(values: Sequence[float | None], scale: float) -> list[str]:
    """An estimate and both ends in digits, to the second digit of half the width of the interval."""
    mean, low, high = (math.nan if v is None else v * scale for v in values)
    half = (high - low) / 2
    if not half > 1e-5 * abs(mean):
        return [_digits(v, scale) for v in values]
    places = min(max(0, 1 - math.floor(math.log10(half))), 9)
    return ["" if math.isnan(v) else f"{v:.{places}f}" for v in (mean, low, high)]


def _digits(value: float | None, scale: float) -> str:
    """Four significant digits; empty for a value that is missing."""
    return "" if value is None or not math.isfinite(value) else number(value * scale).replace(",", "")


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)


def _text(head: str, cells: Iterable[str], *, is_latex: bool = False) -> _Column:
    return _Column(_escaped(head), [c if is_latex else _escaped(c) for c in cells])


def _number(head: str, cells: Iterable[str], over: str = "") -> _Column:
    return _Column(head, list(cells), is_number=True, over=over)


def _cell(column: _Column, cell: str) -> str:
    return "{--}" if column.is_number and not cell else cell


def _line(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _heads(columns: Sequence[_Column]) -> list[str]:
    """The lines of heads: those that columns share, rules below these, and their own."""
    own = _line(f"{{{c.head}}}" if c.is_number else c.head for c in columns)
    if not any(c.over for c in columns):
        return [own]
    cells, rules, at = [], [], 0
    while at < len(columns):
        wide = 1
        while columns[at].over and at + wide < len(columns) and columns[at + wide].over == columns[at].over:
            wide += 1
        cells.append(rf"\multicolumn{{{wide}}}{{c}}{{{columns[at].over}}}" if columns[at].over else "")
        rules += [rf"\cmidrule(lr){{{at + 1}-{at + wide}}}"] if columns[at].over else []
        at += wide
    return [_line(cells), "".join(rules), own]
