"""Additions: predictions of the frozen model, the informed model, the use of four numbers, and other buffers of 2."""

import csv
from importlib.resources import files

from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.extras import Extra, gain
from chappe_papers.judging.claims import needs
from chappe_papers.pages.figures import CHANGE, SHARE, Rows, Sheet, cell
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.pairs import Paired
from chappe_papers.su2008 import informed
from chappe_papers.su2008.design import AGGREGATE, JAIN, WINDOW, Length
from chappe_papers.su2008.figures import median_error
from chappe_papers.su2008.outcomes import WORDS, outcomes, predicted, tally
from chappe_papers.su2008.points import FROZEN, HOPS, INFORMED, OUTLOOK, SCHEMES, Point
from chappe_papers.su2008.targets import (
    BUFFERS_OF_2,
    CALIBRATE,
    CONTEXT,
    KINDS,
    LATER,
    ORDER,
    PREDICT,
    Prediction,
    kind_of,
    predictions,
    printed,
)

ROLES = (CALIBRATE, PREDICT, ORDER, CONTEXT)

# ---- predictions ----


def _predicted(length: Length) -> list[Point]:
    return list(needs(lambda data: predictions(_frozen(data), ROLES), length.x))


def _frozen(data: Estimates) -> Estimates:
    """The numbers of the model of the predictions."""
    return data.seen_as(informed.frozen)


def _rows_of(ours: Estimates, roles: tuple[str, ...]) -> Rows:
    rows = []
    for p in predictions(ours, roles):
        t, (low, high) = p.target, p.ours.interval()
        numbers = (show.number(v, 2) for v in (p.ours.mean, low, high))
        ratio = "-" if p.ratio != p.ratio else f"{p.ratio:.2f}"
        rows.append([t.id, t.source, t.quantity, t.role, t.paper, *numbers, t.unit, ratio, t.impressive])
    return rows


def _predicted_rows(ours: Estimates, _: Estimates) -> Rows:
    """Calibration numbers and predictions, each with its outcome."""
    came = {o.id: WORDS[o.check] for o in predicted(_frozen(ours))}
    return [[*row, came.get(row[0], "-")] for row in _rows_of(_frozen(ours), (CALIBRATE, PREDICT))]


def _error_rows(ours: Estimates, _: Estimates) -> Rows:
    """The median error of each kind of numbers, of all, and of all without the two that are farthest off."""
    known_numbers = [p for p in predictions(_frozen(ours)) if p.ratio > 0]
    kinds: dict[str, list[Prediction]] = {}
    for p in known_numbers:
        kinds.setdefault(kind_of(p.target), []).append(p)
    rest = [p for name, members in kinds.items() if name not in (BUFFERS_OF_2, KINDS["T6"]) for p in members]
    parts = [*sorted(kinds.items()), ("all", known_numbers), (f"all but {BUFFERS_OF_2} and {KINDS['T6']}", rest)]
    return [[name, str(len(members)), f"{100 * median_error(members):.0f} %"] for name, members in parts if members]


def _outcome_rows(ours: Estimates, _: Estimates) -> Rows:
    """Counts for each target: numbers, those inside, and those met, missed and open."""
    data = _frozen(ours)
    by_target = outcomes(data) | {"All predictions": predicted(data)}
    return [
        [says, *map(str, (len(members), sum(o.inside for o in members), *tally(members)))]
        for says, members in by_target.items()
    ]


def _outside_rows(ours: Estimates, _: Estimates) -> Rows:
    """Numbers outside their target range, by length of the path: the paper's, ours, their ratio, marked where open."""
    rows: dict[str, dict[int, str]] = {}
    for o in (o for members in outcomes(_frozen(ours)).values() for o in members if not o.inside):
        mark = " ?" if o.check is None else ""
        rows.setdefault(o.what, {})[o.hops] = f"{o.paper} / {o.ours} ({o.ratio:.2f}){mark}"
    return [[what, *(by_hops.get(h, "") for h in HOPS)] for what, by_hops in rows.items()]


_HEADER = ("name", "source", "what", "role", "paper", "here", "low_95", "high_95", "unit", "here / paper", "target")

# ---- calibration ----


def _calibration_rows(_: Estimates, __: Estimates) -> Rows:
    text = files(__package__).joinpath("calibration.csv").read_text(encoding="utf-8")
    return [list(row.values()) for row in csv.DictReader(text.splitlines())]


# ---- a buffer of 2 ----

_TWO = ("buf2", "buf2_beside", "buf2_lost", "buf2_beside_lost", "buf2_ring", "buf3_ring")


def _of_buffers(_: Length) -> list[Point]:
    shared = [Point("shared", h, scheme=s) for s in _TWO for h in HOPS]
    return shared + [Point("path", h, scheme=s, host=host) for s in _TWO for host in LATER.values() for h in HOPS]


def _buffer_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for s in _TWO:
        for h in HOPS:
            shared = Point("shared", h, scheme=s)
            cells = [cell(ours.get(shared, AGGREGATE), 1e-3), cell(ours.get(shared, JAIN), limits=SHARE)]
            for host in LATER.values():
                p = Point("path", h, scheme=s, host=host)
                cells += [cell(ours.get(p, AGGREGATE), 1e-3), cell(ours.get(p, WINDOW))]
            rows.append([SCHEMES[s][0], str(h), *cells])
    return rows


# ---- the informed model ----

_LENGTHS = ("1 hop", *(f"{h} hops" for h in HOPS[1:-1]), f"{HOPS[-1]} hops, or several")


def _informed(length: Length) -> list[Point]:
    return list(needs(informed.all_numbers, length.x))


# ---- the outlook of the paper ----

_TABLES = {
    "Table VI": Point("rows"),
    "Table VII": Point("shared"),
    **{f"Table VIII, {name}": Point("path", host=host) for name, host in LATER.items()},
}
"""Points of Reno over five hops, by table."""


def _of_outlook(_: Length) -> list[Point]:
    schemes = ("reno", *OUTLOOK)
    return [p._replace(hops=h, scheme=s) for s in schemes for p in _TABLES.values() for h in HOPS]


def _outlook_rows(ours: Estimates, _: Estimates) -> Rows:
    """Throughput compared with Reno's, with its interval, and Jain's index of four flows over five hops."""
    rows = []
    for scheme in OUTLOOK:
        for table, reno in _TABLES.items():
            points = [reno._replace(hops=h, scheme=scheme) for h in HOPS]
            cells = [_gain(ours, p, p._replace(scheme="reno")) for p in points]
            jain = " / ".join(cell(ours.get(reno._replace(scheme=s), JAIN)).partition(" ")[0] for s in (scheme, "reno"))
            rows.append([SCHEMES[scheme][0], table, *cells, "-" if "VIII" in table else jain])
    return rows


def _gain(ours: Estimates, a: Point, b: Point) -> str:
    """A gain of throughput with its interval [%]."""
    return next((gain(x, y) for x, y in ours.both(a, b, AGGREGATE)), "-")


# ---- clamping and fairness ----

_CLAMPED = ("clamp3", "clamp4")
_CLAMPED_AT = [*((h, INFORMED) for h in HOPS), (1, FROZEN)]
"""Lengths of Table VI and their model; over one hop also in the frozen one, in which the rows are farther apart."""


def _clamped(hops: int, model: str, scheme: str) -> Point:
    return Point("rows", hops, scheme=scheme, model=model)


def _of_clamping(_: Length) -> list[Point]:
    return [_clamped(*at, s) for at in _CLAMPED_AT for s in ("reno", *_CLAMPED)]


def _fairer(ours: Estimates, hops: int, model: str, scheme: str) -> Estimate | None:
    """Jain's index compared with Reno's, run by run: every run has its own shadowing, the same for all schemes."""
    a, b = (ours.get(_clamped(hops, model, s), JAIN) for s in (scheme, "reno"))
    return a.minus(b) if isinstance(a, Paired) and isinstance(b, Paired) else None


def _clamping_rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for hops, model in _CLAMPED_AT:
        for s in _CLAMPED:
            indices = [cell(ours.get(_clamped(hops, model, t), JAIN), limits=SHARE) for t in ("reno", s)]
            rows.append([str(hops), model, SCHEMES[s][0], *indices, cell(_fairer(ours, hops, model, s), limits=CHANGE)])
    return rows


def _clamping_answers(ours: Estimates) -> list[tuple[str, str]]:
    parts, shown = [], []
    for model in (INFORMED, FROZEN):
        reno, more = ours.get(_clamped(1, model, "reno"), JAIN), [_fairer(ours, 1, model, s) for s in _CLAMPED]
        if reno is None or None in more:
            return []
        known = [e for e in more if e is not None]
        shown += [e.interval()[0] > 0 for e in known]
        gains = " and ".join(f"{_signed(e)} with {SCHEMES[s][0]}" for s, e in zip(_CLAMPED, known, strict=True))
        parts.append(f"{cell(reno)} with Reno, and changes by {gains} ({model} model)")
    theirs = (f"{printed(f'T6J-{name}-1'):g} with {name}" for name in ("Reno", "Clamping 3", "Clamping 4"))
    word = "Yes" if all(shown) else "In part" if any(shown) else "Not shown"
    longer = [e for h in HOPS[1:] for s in _CLAMPED if (e := _fairer(ours, h, INFORMED, s)) is not None]
    fairer = sum(e.interval()[0] > 0 for e in longer)
    text = (
        f"{word}: Jain's index of the four flows is {'; '.join(parts)}. The paper has {', '.join(theirs)}, "
        f"on four paths. Over 2 to {HOPS[-1]} hops the index changes by {min(e.mean for e in longer):+.3f} to "
        f"{max(e.mean for e in longer):+.3f}, "
        f"and rises significantly in {fairer} of {len(longer)} cases."
    )
    return [("Does clamping improve fairness over 1 hop (Table VI)?", text)]


def _signed(e: Estimate) -> str:
    low, high = e.interval()
    return f"{e.mean:+.4f} ({low:+.4f} to {high:+.4f})"


EXTRAS = {
    "informed": Extra("informed", _informed, None, None, {
        "scores": Sheet("numbers within 25 % of the paper's, and median errors, with their intervals",
                        ("numbers", "how many", "within, frozen", "within, informed", "error, frozen",
                         "error, informed"), informed.score_rows, True),
        "facts": Sheet("facts of the informed model",
                       ("fact", "frozen", "by the paper", "against it", "chosen by"), informed.fact_rows),
        "left_out": Sheet("facts chosen by all other tables, and the numbers within 25 % of a table with them",
                          ("left out", "facts", "frozen", "with them", "error, frozen", "error, with them"),
                          informed.left_out_rows),
        "misses": Sheet("numbers of the informed model outside 25 %: paper / here (here by paper)",
                        ("outside", *_LENGTHS), lambda a, _: informed.outside_rows(a, HOPS)),
        "informed": Sheet("all predicted numbers with both models",
                          ("name", "what", "hops", "paper", "unit", "frozen", "frozen / paper", "informed",
                           "informed / paper", "within 25 %", "chose"), informed.number_rows),
    }),
    "outlook": Extra("outlook", _of_outlook, None, None, {"outlook": Sheet(
        "what the paper hopes for: throughput compared with Reno's [%]",
        ("scheme", "of", *(f"{h} hops" if h > 1 else "1 hop" for h in HOPS), "Jain, 5 hops / Reno's"),
        _outlook_rows, True,
    )}),
    "predictions": Extra("predictions", _predicted, None, None, {
        "outcomes": Sheet("outcomes of the frozen predictions",
                       ("target", "numbers", "inside", *WORDS.values()), _outcome_rows),
        "outside": Sheet("frozen predictions outside their ranges: paper / here (here by paper), ? where undecided",
                         ("outside", *_LENGTHS),
                         _outside_rows),
        "errors": Sheet("errors of the frozen predictions", ("numbers of", "how many", "median error"), _error_rows),
        "predictions": Sheet("all frozen predictions", (*_HEADER, "outcome"), _predicted_rows),
        "other_numbers": Sheet("numbers compared by their order only, or given for context", _HEADER,
                               lambda a, _: _rows_of(_frozen(a), (ORDER, CONTEXT))),
    }),
    "clamping": Extra("clamping", _of_clamping, None, None, {"clamping": Sheet(
        "four flows on disjoint paths: Jain's index with clamping and its difference from Reno's, run by run",
        ("hops", "model", "scheme", "Reno", "clamping", "difference"), _clamping_rows,
    )}, answers=_clamping_answers),
    "calibration": Extra("calibration", lambda _: [], None, None, {"calibration": Sheet(
        "four numbers used to calibrate what the paper does not give",
        ("step", "number of the paper", "wanted", "settings", "here", "of", "chosen"), _calibration_rows,
    )}),
    "buffers": Extra("buffers", _of_buffers, None, None, {"buffers": Sheet(
        "readings of a buffer of 2",
        ("buffer", "hops", "four flows [kbit/s]", "Jain", "to the US [kbit/s]", "window",
         "to Europe [kbit/s]", "window, EU"),
        _buffer_rows,
    )}),
}  # fmt: skip
"""Additions by name."""
