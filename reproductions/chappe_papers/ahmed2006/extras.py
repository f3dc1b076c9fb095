"""Additions to the figures: readings side by side, sources of the gain, three definitions of loss."""

from chappe_papers.ahmed2006.claims import ALL, LOST_REPORTED, OURS, READINGS
from chappe_papers.ahmed2006.design import DELAY, DESIGN, EVENTS, FRAMES, LOST, MEASURES, THROUGHPUT, WHY, Length
from chappe_papers.ahmed2006.points import (
    LONE,
    LOSSES,
    MAIN,
    OUTLOOK,
    QUEUES,
    ROUTING,
    TCPS,
    VARIANTS,
    Point,
    same,
)
from chappe_papers.ahmed2006.points import READINGS as READINGS_OF
from chappe_papers.extras import Extra, percent
from chappe_papers.judging import readings
from chappe_papers.pages.figures import Rows, Sheet, cell
from chappe_papers.runs.estimates import Estimates

# ---- readings side by side ----

_TITLES = {MAIN: "the main reading", **{n: title for n, (title, _) in READINGS_OF.items()}}


def _readings(length: Length) -> list[Point]:
    speeds = length.few if length is DESIGN.full else length.few[1:2]
    main = [Point(v, s, loss) for v in VARIANTS for s in speeds for loss in LOSSES]
    changed = (change(p) for change in READINGS.values() for p in main)
    return main + [p for p in changed if p is not None]


def _relative(data: Estimates, a: Point, b: Point, measure: str = THROUGHPUT) -> str:
    both = list(data.both(a, b, measure))
    return percent(*both[0]) if both else "-"


def _reading_rows(ours: Estimates, ns2: Estimates) -> Rows:
    rows = []
    for r, title in _TITLES.items():
        for loss in LOSSES:
            for speed in DESIGN.full.few:
                newreno = Point("newreno", speed, loss, r)
                has_runs = ours.get(newreno, THROUGHPUT) is not None
                if not has_runs or all(same(newreno._replace(variant=v)).reading != r for v in VARIANTS):
                    continue
                # Only the settings that differ.
                rivals = [newreno._replace(variant=v) for v in VARIANTS if v != "newreno"]
                shown = [p if same(p) == p else None for p in rivals]
                theirs = cell(ns2.get(newreno, THROUGHPUT))
                rows.append([title, f"{loss:g} %", f"{speed:g}", theirs, cell(ours.get(newreno, THROUGHPUT)),
                             *("-" if p is None else _relative(ours, p, newreno) for p in shown)])  # fmt: skip
    return rows


def _verdict_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    answers = {c.id: c.judged(ours) for c in ALL}
    return readings.rows(readings.compared(ALL, ours, READINGS, answers))


# ---- where the gain comes from ----

_GAINERS = (OURS, "e_answer", "e_segment", "e_holes", "e_backoff", "e_often", "elfn", "veno", "ecn", "newreno_red")
_AT = 10.0


def _gain_points(_length: Length) -> list[Point]:
    together = [Point(v, _AT, loss) for loss in LOSSES for v in ("newreno", *_GAINERS)]
    return together + [Point(v, _AT, 0.0, LONE) for v in ("newreno", *_GAINERS[:-2])]


def _gain_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for flows, reading, loss in (("20", MAIN, 0.0), ("20", MAIN, 1.0), ("1", LONE, 0.0)):
        for v in ("newreno", *_GAINERS):
            p, newreno = Point(v, _AT, loss, reading), Point("newreno", _AT, loss, reading)
            if ours.get(p, THROUGHPUT) is None:
                continue
            gain = _relative(ours, p, newreno) if v != "newreno" else cell(ours.get(p, THROUGHPUT))
            names = ("timeouts", *WHY)
            values = [cell(ours.get(p, n), (MEASURES | WHY)[n].scale).partition(" ")[0] for n in names]
            rows.append([TCPS[v][0], flows, f"{loss:g} %", gain, *values])
    return rows


# ---- three definitions of loss ----


def _loss_points(length: Length) -> list[Point]:
    return [Point(v, s, loss) for v in VARIANTS for s in length.few for loss in LOSSES]


def _loss_rows(ours: Estimates, ns2: Estimates) -> Rows:
    rows = []
    for v, title in VARIANTS.items():
        for loss in LOSSES:
            for speed in DESIGN.full.few:
                p = Point(v, speed, loss)
                reported = LOST_REPORTED[loss] if (v, speed) == (OURS, 0.0) else None
                of = ((ns2, LOST), (ours, LOST), (ours, EVENTS), (ours, FRAMES))
                numbers = (cell(t.get(p, n), 100) for t, n in of)
                rows.append(
                    [title, f"{loss:g} %", f"{speed:g}", "-" if reported is None else f"{100 * reported:g}", *numbers]
                )
    return rows


# ---- the outlook ----


def _outlook_points(_length: Length) -> list[Point]:
    return [Point(v, _AT, 0.0, network) for network in OUTLOOK for v in ("newreno", OURS)]


def _outlook_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for protocol, routing in ROUTING.items():
        for queue, (title, _) in QUEUES.items():
            newreno = Point("newreno", _AT, 0.0, f"{protocol}, {queue}")
            rows.append([routing, title, *(cell(ours.get(newreno, name), MEASURES[name].scale) for name in _OUTLOOK),
                         _relative(ours, newreno._replace(variant=OURS), newreno)])  # fmt: skip
    return rows


_OUTLOOK = (THROUGHPUT, LOST, DELAY)


# ---- losses told from congestion ----

_TELLING = ("veno", "e_veno")
_ABOVE = "loss_above"


def _places(length: Length, reading: str) -> list[Point]:
    """NewReno where frames are damaged."""
    return [Point("newreno", s, 1.0, reading) for s in length.few]


def _telling_points(length: Length) -> list[Point]:
    places = _places(length, MAIN) + _places(length, _ABOVE)
    return [p._replace(variant=v) for p in places for v in ("newreno", OURS, *_TELLING)]


def _telling_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for reading, title in ((MAIN, "repaired by the MAC"), (_ABOVE, "not repaired")):
        for p in _places(DESIGN.full, reading):
            if ours.get(p, THROUGHPUT) is None:
                continue
            both = p._replace(variant="e_veno")
            rows.append([title, f"{p.speed:g}", cell(ours.get(p, THROUGHPUT)),
                         *(_relative(ours, p._replace(variant=v), p) for v in (OURS, *_TELLING)),
                         _relative(ours, both, p._replace(variant=OURS))])  # fmt: skip
    return rows


# ---- source quench ----


def _quench_points(length: Length) -> list[Point]:
    return [Point(v, s, loss) for v in ("ecn", "ecn_quench") for s in length.few for loss in LOSSES]


def _quench_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for loss in LOSSES:
        for s in DESIGN.full.few:
            ecn, quench = Point("ecn", s, loss), Point("ecn_quench", s, loss)
            if ours.get(quench, THROUGHPUT) is not None:
                measures = (_relative(ours, quench, ecn, name) for name in _OUTLOOK)
                rows.append([f"{loss:g} %", f"{s:g}", cell(ours.get(ecn, THROUGHPUT)), *measures])
    return rows


# ---- what E-NewReno resends ----

_HOLES = "e_holes"
_RESENT = (LOST, DELAY, "resent")
_RIVALS = ("newreno", "westwood")
"""Older variants over the same queue: SACK is much like NewReno, and ECN has another queue."""


def _holes_points(length: Length) -> list[Point]:
    return [Point(v, s, loss) for v in (*_RIVALS, OURS, _HOLES) for s in length.x for loss in LOSSES]


def _holes_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for name in _RESENT:
        for loss in LOSSES:
            for s in DESIGN.full.x:
                for rival in _RIVALS:
                    own = (_relative(ours, Point(v, s, loss), Point(rival, s, loss), name) for v in (OURS, _HOLES))
                    rows.append([(MEASURES | WHY)[name].label, f"{loss:g} %", f"{s:g}", VARIANTS[rival], *own])
    return rows


EXTRAS = {
    "readings": Extra("readings", _readings, None, None, {
        "readings": Sheet(
            "throughput of NewReno, and of the others compared with it, in each reading",
            ("reading", "link loss", "speed [m/s]", "NewReno: ns-2 [1/s]", "here [1/s]",
             *(t for v, t in VARIANTS.items() if v != "newreno")),
            _reading_rows,
        ),
        "readings_claims": Sheet(
            "claims that another reading reverses, at 0, 10 and 20 m/s", readings.COLUMNS, _verdict_rows,
        ),
    }),
    "gain": Extra("gain", _gain_points, None, None, {"gain": Sheet(
        "where a gain comes from, at 10 m/s",
        ("TCP", "flows", "loss", "segments/s, gain", "timeouts (ns-2)", *(m.label for m in WHY.values())),
        _gain_rows, shown=True,
    )}),
    "losses": Extra("losses", _loss_points, None, None, {"losses": Sheet(
        "loss by three definitions [%]",
        ("TCP", "link loss", "speed [m/s]", "paper", "lost segments: ns-2", "here", "all drops", "and frames"),
        _loss_rows,
    )}),
    "outlook": Extra("outlook", _outlook_points, None, None, {"outlook": Sheet(
        "routing protocols and queues under motion, at 10 m/s",
        ("routing", "queue", *(f"NewReno: {MEASURES[n].label}" for n in _OUTLOOK), "E-NewReno, throughput compared"),
        _outlook_rows, shown=True,
    )}),
    "discrimination": Extra("discrimination", _telling_points, None, None, {"discrimination": Sheet(
        "E-NewReno with Veno's rule, which tells losses from congestion, where 1 % of the frames are damaged",
        ("losses", "speed [m/s]", "NewReno [1/s]", *(f"{TCPS[v][0]} compared" for v in (OURS, *_TELLING)),
         "the last compared with E-NewReno"),
        _telling_rows, shown=True,
    )}),
    "quench": Extra("quench", _quench_points, None, None, {"quench": Sheet(
        "ECN with a source quench that takes no time, needs no air and is never lost, compared with ECN",
        ("link loss", "speed [m/s]", "ECN [1/s]", "throughput", "segments lost", "delay"),
        _quench_rows,
    )}),
    "holes": Extra("holes", _holes_points, None, None, {"holes": Sheet(
        "E-NewReno that resends whole windows, and E-NewReno that resends holes only, compared with the others",
        ("measure", "link loss", "speed [m/s]", "compared with", "whole windows", "holes only"),
        _holes_rows,
    )}),
}  # fmt: skip
"""Additions by name."""
