"""What is added to the paper: its readings side by side, the mechanisms as their authors describe them, formulas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chappe import show
from chappe.papers.charts import Chart, Legend, Panel, Rows, Sheet, cell
from chappe.papers.looks import percent
from chappe.papers.paper import Table, Verdict, judge
from chappe.papers.zhou2004.charts import LEGEND, LOG_FROM, TICKS, X_LABEL, X_NAME, over_variants
from chappe.papers.zhou2004.claims import ALIKE, CLAIMS
from chappe.papers.zhou2004.formulas import RTT_S, TIMEOUT_S, mathis, padhye
from chappe.papers.zhou2004.lab import GOODPUT, LABELS, SEGMENTS, UNFAIRNESS, Length, in_reading
from chappe.papers.zhou2004.points import LONE, MECHANISMS, READINGS, VARIANTS, Point
from chappe.stats import Estimate, ratio

PAPERS_MECHANISMS = ("none", "eln", "snoop", "both")
PAPERS_VARIANTS = (*ALIKE, "vegas")


@dataclass(frozen=True)
class Extra:
    """Figures and tables that are added.

    Attributes:
        points: What is run at most, given the length.
        few: Whether it is run as often as readings that are compared.
        chart: Its figure.
        legend: How the variants of the figure are called.
        sheets: Its tables by the names of their files.
    """

    points: Callable[[Length], list[Point]]
    few: bool
    chart: Callable[[Length], Chart]
    legend: Legend
    sheets: Mapping[str, Sheet]


# ---- readings ----

_SHORT = {Verdict.HOLDS: "yes", Verdict.PARTLY: "partly", Verdict.FAILS: "no", Verdict.OPEN: "open"}


def _of_readings(length: Length) -> list[Point]:
    return [
        Point(v, m, r, reading)
        for reading in READINGS
        for m in PAPERS_MECHANISMS
        for v in PAPERS_VARIANTS
        for r in length.few
    ]


def _checked(ours: Table, reading: str) -> tuple[list[Verdict], list[int]]:
    """The verdicts on all claims in a reading, and how many of their checks are so, not so, open."""
    looks = [c.look(in_reading(ours, reading)) for c in CLAIMS]
    verdicts = [judge(look[1]) if look is not None else Verdict.OPEN for look in looks]
    checks = [check for look in looks if look is not None for check in look[1]]
    return verdicts, [sum(check is value for check in checks) for value in (True, False, None)]


def _verdict_rows(ours: Table, _: Table) -> Rows:
    rows = []
    for name, reading in READINGS.items():
        verdicts, counts = _checked(ours, name)
        rows.append([name, reading.title, *(_SHORT[v] for v in verdicts), *map(str, counts)])
    return rows


def closest(ours: Table) -> str:
    """Which reading gives most of what the paper claims, in a sentence."""
    counts = {name: _checked(ours, name)[1] for name in READINGS}
    most = max(so for so, _, _ in counts.values())
    best = [name for name, (so, _, _) in counts.items() if so == most]
    named = " and ".join(f"{name!r} ({READINGS[name].title})" for name in best)
    return (
        f"Most of the paper's claims come out with the reading {named}: {most} of {sum(counts[best[0]])} checks are so."
    )


def _crossing(data: Table, mechanism: str) -> str:
    """The error rates between which Vegas falls behind the best of the others."""
    rates = sorted({p.per_percent for p in data.values})
    ahead = None
    for r in rates:
        vegas = data.get(Point("vegas", mechanism, r), GOODPUT)
        others = data.all([Point(v, mechanism, r) for v in ALIKE], GOODPUT)
        if vegas is None or others is None:
            continue
        if vegas.mean < max(e.mean for e in others):
            return f"{ahead:g} to {r:g} %" if ahead is not None else f"below {r:g} %"
        ahead = r
    return "never" if ahead is not None else "-"


def _number_rows(ours: Table, _: Table) -> Rows:
    rows = [["the paper", "2 %", "0.4 to 0.6 %", "3.0", "0.7", "0.5", "0.08", "more than 0", "more than 0"]]
    for name in READINGS:
        own = in_reading(ours, name)
        asked = (("vegas", "none", 10.0), ("tahoe", "none", 10.0), ("vegas", "snoop", 0.8), ("tahoe", "snoop", 0.8))
        unfair = [cell(own.get(Point(*point), UNFAIRNESS)) for point in asked]
        gains = []
        for better, rate in (("snoop", 10.0), ("both", 2.0)):
            tahoe = [own.get(Point("tahoe", m, rate), GOODPUT) for m in (better, "eln")]
            gains.append("-" if tahoe[0] is None or tahoe[1] is None else percent(ratio(tahoe[0], tahoe[1])))
        rows.append([name, _crossing(own, "none"), _crossing(own, "eln"), *unfair, *gains])
    return rows


_SHOWN = ("ns2", "2003", "both_ways", "2003_both_ways", "buffer20", "header", "authors")


def _reading_chart(length: Length) -> Chart:
    rates = [r for r in length.few if r]

    def panel(variant: str, name: str) -> Panel:
        title = f"{VARIANTS[variant]}, TCP only"
        return Panel(
            rates,
            lambda reading, r: (Point(variant, "none", r, reading), name),
            LABELS[name],
            title,
            f"{variant} {name}",
        )

    panels = [panel(v, name) for name in (GOODPUT, UNFAIRNESS) for v in ("tahoe", "vegas")]
    shown = _SHOWN[:-1]
    return Chart("readings side by side", (), X_NAME, X_LABEL, shown, lambda _: panels, (0.1, 1.0, 10.0), None, 0.1)


_READING_LEGEND = Legend({n: READINGS[n].title for n in _SHOWN}, {n: i for i, n in enumerate(_SHOWN)})

# ---- the mechanisms as their authors describe them ----


def _of_authors(length: Length) -> list[Point]:
    readings = ("ns2", "authors")
    return [
        Point(v, m, r, q) for q in readings for m in ("eln", "snoop", "both") for v in VARIANTS for r in length.rates
    ]


def _authors_chart(length: Length) -> Chart:
    panels = [over_variants(m, length.rates, GOODPUT, MECHANISMS[m], "authors") for m in ("eln", "snoop", "both")]
    panels.append(over_variants("snoop", length.rates, UNFAIRNESS, MECHANISMS["snoop"], "authors"))
    title = "Snoop and ELN as their authors describe them"
    return Chart(title, (), X_NAME, X_LABEL, tuple(VARIANTS), lambda _: panels, TICKS, None, LOG_FROM)


def _shortcut_rows(ours: Table, _: Table) -> Rows:
    rows = []
    for m in ("eln", "snoop", "both"):
        for v in VARIANTS:
            for r in (0.0, 0.1, 2.0, 6.0, 10.0):
                two = [ours.get(Point(v, m, r, q), GOODPUT) for q in ("ns2", "authors")]
                fair = [ours.get(Point(v, m, r, q), UNFAIRNESS) for q in ("ns2", "authors")]
                if two[0] is not None and two[1] is not None:
                    change = percent(ratio(two[1], two[0]))
                    rows.append([MECHANISMS[m], VARIANTS[v], f"{r:g} %", *map(cell, two), change, *map(cell, fair)])
    return rows


# ---- formulas ----

LOSSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Shares of lost packets of the lone flow [%]."""

_FORMULAS = {"padhye": "Padhye et al., full formula", "mathis": "Mathis et al."}


def _lone(variant: str, loss: float, window: int) -> Point:
    return Point(variant, "none", loss, LONE, window)


def _of_formulas(_: Length) -> list[Point]:
    found = [_lone("newreno", loss, 1000) for loss in LOSSES]
    return found + [_lone(v, loss, w) for w in (1000, 10) for loss in (1.0, 10.0) for v in VARIANTS]


def with_formulas(data: Table) -> Table:
    """The same with what the formulas say, as if it had been measured without an error."""
    values = dict(data.values)
    for loss in LOSSES:
        for name, value in (("padhye", _padhye(loss, 1000)), ("mathis", mathis(RTT_S, loss / 100))):
            values[_lone(name, loss, 1000)] = {SEGMENTS: Estimate(value, 0.0, 1)}
    return Table(values)


def _padhye(loss: float, window: int) -> float:
    return padhye(RTT_S, loss / 100, TIMEOUT_S, window)


def _formula_chart(_: Length) -> Chart:
    panel = Panel(LOSSES, lambda v, loss: (_lone(v, loss, 1000), SEGMENTS), LABELS[SEGMENTS], "window 1000")
    title = "a lone flow beside formulas: 100 Mbit/s, 50 ms each way"
    variants = ("newreno", *_FORMULAS)
    return Chart(title, (), X_NAME, X_LABEL, variants, lambda _: [panel], (0.1, 0.2, 0.5, 1, 2, 5, 10), None, 0.1)


def _formula_rows(ours: Table, ns2: Table) -> Rows:
    rows = []
    for w in (1000, 10):
        for loss in LOSSES:
            for v in VARIANTS:
                e = ours.get(_lone(v, loss, w), SEGMENTS)
                if e is None:
                    continue
                theirs, formula = ns2.get(_lone(v, loss, w), SEGMENTS), _padhye(loss, w)
                beside = "-" if theirs is None else percent(ratio(e, theirs))
                reno = v in ("reno", "newreno", "sack")
                off = percent(Estimate(e.mean / formula, e.variance / formula**2, e.df)) if reno else "-"
                values = [cell(e), cell(theirs), beside, show.number(formula), off]
                rows.append([VARIANTS[v], str(w), f"{loss:g} %", *values, show.number(mathis(RTT_S, loss / 100))])
    return rows


EXTRAS: dict[str, Extra] = {
    "readings": Extra(
        _of_readings,
        True,
        _reading_chart,
        _READING_LEGEND,
        {
            "readings_claims": Sheet(
                "which reading gives the paper's claims",
                (),
                ("reading", "what it is", *(c.id for c in CLAIMS), "checks that are so", "not", "open"),
                _verdict_rows,
            ),
            "readings_numbers": Sheet(
                "which reading gives the paper's numbers",
                (),
                ("reading", "Vegas falls behind at", "with ELN at", "unfairness at 10 %: Vegas", "Tahoe",
                 "with Snoop at 0.8 %: Vegas", "Tahoe", "Tahoe at 10 %: Snoop on ELN", "at 2 %: both on ELN"),
                _number_rows,
            ),
        },
    ),
    "authors": Extra(
        _of_authors,
        False,
        _authors_chart,
        LEGEND,
        {"authors_table": Sheet(
            "what the shortcuts of ns-2 change",
            (),
            ("mechanism", "variant", "lost", "ns-2's [kbit/s]", "its authors' [kbit/s]", "change",
             "ns-2's, unfairness", "its authors', unfairness"),
            _shortcut_rows,
        )},
    ),
    "formulas": Extra(
        _of_formulas,
        False,
        _formula_chart,
        Legend(VARIANTS | _FORMULAS, {**LEGEND.colours, "padhye": 6, "mathis": 7}),
        {"formulas_table": Sheet(
            "a lone flow [segments/s]",
            (),
            ("variant", "window", "lost", "ours", "ns-2", "beside ns-2", "Padhye et al.", "beside it", "Mathis et al."),
            _formula_rows,
        )},
    ),
}  # fmt: skip
"""Additions by name."""


BESIDE = "Beside the paper: "
"""Titles of what is added begin with this."""


def needed(names: Sequence[str], length: Length) -> tuple[list[Point], list[Point]]:
    """What additions need: points with all runs, and with as many as readings have that are compared."""
    all_runs = [p for n in names if not EXTRAS[n].few for p in EXTRAS[n].points(length)]
    return all_runs, [p for n in names if EXTRAS[n].few for p in EXTRAS[n].points(length)]
