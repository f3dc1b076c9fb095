"""Additions to the paper: its readings side by side, the mechanisms as their authors describe them, formulas."""

from collections.abc import Callable

from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.extras import Extra, median, percent
from chappe_papers.judging import readings
from chappe_papers.pages.figures import Chart, Legend, Panel, Rows, Sheet, cell, panel
from chappe_papers.runs.estimates import Estimates
from chappe_papers.zhou2004.claims import ALL
from chappe_papers.zhou2004.design import GOODPUT, MEASURES, PRINTED, SEGMENTS, UNFAIRNESS, Length, of_alike
from chappe_papers.zhou2004.fairness import FAIRNESS
from chappe_papers.zhou2004.figures import LEGEND, LOG_FROM, READING, TICKS, X_LABEL, X_NAME, over_variants
from chappe_papers.zhou2004.formulas import mathis, padhye
from chappe_papers.zhou2004.points import ALIKE, LONE, MECHANISMS, PAPERS, READINGS, VARIANTS, Point

# ---- readings ----


def _of_readings(length: Length) -> list[Point]:
    return [
        Point(v, m, r, reading) for reading in READINGS for m in PAPERS for v in (*ALIKE, "vegas") for r in length.few
    ]


def in_reading(data: Estimates, reading: str, x: tuple[float, ...] | None = None) -> Estimates:
    """Estimates of one reading, as if it were the main one; at some error rates only."""
    seen = data.seen_as(lambda p: p._replace(reading=reading))
    return Estimates({p._replace(reading=READING): v for p, v in data.values.items() if p.reading == reading},
                 seen.x if x is None else x)  # fmt: skip


def _other(name: str) -> Callable[[Point], Point]:
    return lambda p: p._replace(reading=name)


def _verdict_rows(ours: Estimates, _: Estimates) -> Rows:
    """After the fact: which reading gives most of what the paper says cannot tell which one its authors had."""
    others = {r.title: _other(name) for name, r in READINGS.items() if name != READING}
    answers = {c.id: c.judged(ours) for c in ALL}
    return readings.rows(readings.compared(ALL, ours, others, answers))


def _crossing(data: Estimates, mechanism: str) -> str:
    """The error rates between which Vegas falls behind the best of the others."""
    ahead = None
    for r in sorted({p.per_percent for p in data.values}):
        vegas, best = data.get(Point("vegas", mechanism, r), GOODPUT), of_alike(data, mechanism, r)
        if vegas is None or best is None:
            continue
        if vegas.mean < best.mean:
            return f"{ahead:g} to {r:g} %" if ahead is not None else f"below {r:g} %"
        ahead = r
    return "never" if ahead is not None else "-"


_ON_ELN = (("snoop", 10.0), ("both", 2.0))
"""Points compared with ELN alone, with their error rates [%]."""


def _number_rows(ours: Estimates, _: Estimates) -> Rows:
    printed = [f"{e:g}" if e < 1 else f"{e:.1f}" for e in PRINTED.values()]
    rows = [["the paper", "2 %", "0.4 to 0.6 %", *printed, "more than 0", "more than 0"]]
    for name in READINGS:
        here = in_reading(ours, name)
        unfair = [median(here.get(Point(*point), UNFAIRNESS)) for point in PRINTED]
        on_eln = (here.both(Point("tahoe", m, r), Point("tahoe", "eln", r), GOODPUT) for m, r in _ON_ELN)
        gains = [next((percent(a, b) for a, b in pair), "-") for pair in on_eln]
        rows.append([name, _crossing(here, "none"), _crossing(here, "eln"), *unfair, *gains])
    return rows


_SHOWN = ("2003", "ns2", "2003_both_ways", "both_ways", "buffer20", "header")


def _reading_chart(length: Length) -> Chart:
    rates = [r for r in length.few if r]

    def one(variant: str, name: str) -> Panel:
        def of(reading: str, r: float) -> tuple[Point, str]:
            return Point(variant, "none", r, reading), name

        return panel(rates, of, MEASURES[name], f"{VARIANTS[variant]}, TCP only", f"{variant} {name}")

    panels = [one(v, name) for name in (GOODPUT, UNFAIRNESS) for v in ("tahoe", "vegas")]
    return Chart("readings side by side", X_NAME, X_LABEL, _SHOWN, lambda _: panels, (0.1, 1.0, 10.0), None, 0.1)


# ---- the mechanisms as their authors describe them ----


def _of_authors(length: Length) -> list[Point]:
    readings = ("ns2", "authors")
    return [Point(v, m, r, q) for q in readings for m in ("eln", "snoop", "both") for v in VARIANTS for r in length.x]


def _authors_chart(length: Length) -> Chart:
    panels = [over_variants(m, length.x, GOODPUT, MECHANISMS[m], "authors") for m in ("eln", "snoop", "both")]
    panels.append(over_variants("snoop", length.x, UNFAIRNESS, MECHANISMS["snoop"], "authors"))
    title = "Snoop and ELN as their authors describe them"
    return Chart(title, X_NAME, X_LABEL, tuple(VARIANTS), lambda _: panels, TICKS, None, LOG_FROM)


def _shortcut_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for m in ("eln", "snoop", "both"):
        for v in VARIANTS:
            for r in (0.0, 0.1, 2.0, 6.0, 10.0):
                p, q = (Point(v, m, r, reading) for reading in ("ns2", "authors"))
                fair = [median(ours.get(point, UNFAIRNESS)) for point in (p, q)]
                for a, b in ours.both(p, q, GOODPUT):
                    both = (cell(a, 1e-3), cell(b, 1e-3))
                    rows.append([MECHANISMS[m], VARIANTS[v], f"{r:g} %", *both, percent(b, a), *fair])
    return rows


# ---- formulas ----

RTT_S, TIMEOUT_S = 0.1, 0.2
"""Round-trip time of the lone flow without transmission times, and the smallest retransmission timeout of ns-2.35."""

LOSSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Shares of lost packets of the lone flow [%]."""

_FORMULAS = {"padhye": "Padhye et al., full formula", "mathis": "Mathis et al."}


def _lone(variant: str, loss: float, window: int) -> Point:
    return Point(variant, "none", loss, LONE, window)


def _of_formulas(_: Length) -> list[Point]:
    points = [_lone("newreno", loss, 1000) for loss in LOSSES]
    return points + [_lone(v, loss, w) for w in (1000, 10) for loss in (1.0, 10.0) for v in VARIANTS]


def with_formulas(data: Estimates) -> Estimates:
    """Estimates with the values of the formulas, as if these had been measured without an error."""
    values = dict(data.values)
    for loss in LOSSES:
        for name, value in (("padhye", _padhye(loss, 1000)), ("mathis", mathis(RTT_S, loss / 100))):
            values[_lone(name, loss, 1000)] = {SEGMENTS: Estimate(value, 0.0, 1)}
    return Estimates(values, data.x)


def _padhye(loss: float, window: int) -> float:
    return padhye(RTT_S, loss / 100, TIMEOUT_S, window)


def _formula_chart(_: Length) -> Chart:
    axes = panel(LOSSES, lambda v, loss: (_lone(v, loss, 1000), SEGMENTS), MEASURES[SEGMENTS], "window 1000")
    title = "a lone flow compared with formulas: 100 Mbit/s, 50 ms each way"
    variants = ("newreno", *_FORMULAS)
    return Chart(title, X_NAME, X_LABEL, variants, lambda _: [axes], (0.1, 0.2, 0.5, 1, 2, 5, 10), None, 0.1)


def _formula_rows(ours: Estimates, ns2: Estimates) -> Rows:
    rows = []
    for w in (1000, 10):
        for loss in LOSSES:
            for v in VARIANTS:
                e = ours.get(_lone(v, loss, w), SEGMENTS)
                if e is None:
                    continue
                theirs, formula = ns2.get(_lone(v, loss, w), SEGMENTS), _padhye(loss, w)
                difference = "-" if theirs is None else percent(e, theirs)
                off = percent(e, Estimate(formula, 0.0, 1)) if v in ("reno", "newreno", "sack") else "-"
                values = [cell(e), cell(theirs), difference, show.number(formula), off]
                rows.append([VARIANTS[v], str(w), f"{loss:g} %", *values, show.number(mathis(RTT_S, loss / 100))])
    return rows


EXTRAS: dict[str, Extra] = {
    "fairness": FAIRNESS,
    "readings": Extra(
        "readings",
        _of_readings,
        _reading_chart,
        Legend({n: READINGS[n].title for n in _SHOWN}, {n: i for i, n in enumerate(_SHOWN)}),
        {
            "readings_claims": Sheet(
                "claims that another reading reverses",
                readings.COLUMNS,
                _verdict_rows,
            ),
            "readings_numbers": Sheet(
                "which reading gives the paper's numbers (after the fact)",
                ("reading", "Vegas falls behind at", "with ELN at", "unfairness at 10 %: Vegas", "Tahoe",
                 "with Snoop at 0.8 %: Vegas", "Tahoe", "Tahoe at 10 %: Snoop on ELN", "at 2 %: both on ELN"),
                _number_rows,
            ),
        },
    ),
    "authors": Extra(
        "authors",
        _of_authors,
        _authors_chart,
        LEGEND,
        {"authors_table": Sheet(
            "effects of the shortcuts of ns-2",
            ("mechanism", "variant", "lost", "ns-2's [kbit/s]", "its authors' [kbit/s]", "change",
             "ns-2's, unfairness", "its authors', unfairness"),
            _shortcut_rows,
        )},
    ),
    "formulas": Extra(
        "formulas",
        _of_formulas,
        _formula_chart,
        Legend(VARIANTS | _FORMULAS, {**LEGEND.colors, "padhye": 6, "mathis": 7}),
        {"formulas_table": Sheet(
            "a lone flow [segments/s]",
            ("variant", "window", "lost", "ours", "ns-2", "against ns-2", "Padhye et al.", "against Padhye et al.",
             "Mathis et al."),
            _formula_rows,
        )},
        with_formulas,
    ),
}  # fmt: skip
"""Additions by name."""
