"""Additions to the figures and tables of the paper: readings side by side, effects of DSR's queue, Vegas, overhead."""

from collections.abc import Iterable, Sequence

from chappe_papers.estimates import Estimates
from chappe_papers.extras import Extra
from chappe_papers.figures import Rows, Sheet
from chappe_papers.ramarathinam2003.claims import LOADS, TABLE_I, TABLE_II
from chappe_papers.ramarathinam2003.design import (
    BITS,
    DESIGN,
    HANDLED,
    LAST,
    ROUTING,
    ROUTING_BYTES,
    ROUTING_HEADERS,
    SEGMENTS,
    Length,
)
from chappe_papers.ramarathinam2003.points import CMU_QUEUE, COMBINATIONS, MAIN, READINGS, ROUTINGS, VARIANTS, Point

_MEASURES = {**dict.fromkeys(LAST.values(), 1), **dict.fromkeys((SEGMENTS[load] for load in LOADS), 0)}
"""Times of last packets, and segments; how many places are printed."""

_COLUMNS = (*(f"last packet of node {n} [s]" for n in LAST), *(f"segments, {load}" for load in LOADS))


def _range(values: Iterable[float], places: int) -> str:
    printed = [f"{v:,.{places}f}" for v in sorted(values)]
    return "-" if not printed else printed[0] if printed[0] == printed[-1] else f"{printed[0]} to {printed[-1]}"


def _among(data: Estimates, points: Sequence[Point]) -> list[str]:
    """Times and segments: the smallest and the largest median of some combinations."""
    return [_range((e.mean for p in points if (e := data.get(p, m))), places) for m, places in _MEASURES.items()]


def _readings(length: Length) -> list[Point]:
    """All combinations in all readings; of short runs one combination."""
    points = COMBINATIONS if length is DESIGN.full else [Point("reno")]
    return [p._replace(reading=reading) for reading in (MAIN, *READINGS) for p in points]


def _reading_rows(ours: Estimates, ns2: Estimates) -> Rows:
    paper = [_range((row[n] for row in TABLE_II.values()), 1) for n in range(len(LAST))]
    paper += [_range((row[n] for row in TABLE_I.values()), 0) for n in range(len(LOADS))]
    rows = [["the paper", *paper], ["ns-2.35, the main reading", *_among(ns2, COMBINATIONS)]]
    for reading in (MAIN, *READINGS):
        title = READINGS[reading][0] if reading in READINGS else "the main reading"
        rows.append([title, *_among(ours, [p._replace(reading=reading) for p in COMBINATIONS])])
    return rows


def _queue_points(_length: Length) -> list[Point]:
    return [p for v in VARIANTS for p in (Point(v, "dsdv"), Point(v, "dsdv", CMU_QUEUE), Point(v, "dsr"))]


def _queue_rows(ours: Estimates, ns2: Estimates) -> Rows:
    """The long transfer: DSDV, the same over the queue of DSR, and DSR."""
    points = (("dsdv", MAIN), ("dsdv", CMU_QUEUE), ("dsr", MAIN))
    rows = []
    for v, title in VARIANTS.items():
        segments = [t.get(Point(v, *p), SEGMENTS["internet"]) for p in points for t in (ns2, ours)]
        rows.append([title, *("-" if e is None else f"{e.mean:.0f}" for e in segments)])
    return rows


def _vegas_points(_length: Length) -> list[Point]:
    return [Point(v, r) for r in ROUTINGS for v in ("vegas", *VARIANTS)]


def _vegas_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for r, title in ROUTINGS.items():
        rows.append([f"Vegas with {title}", *_among(ours, [Point("vegas", r)])])
        rows.append([f"the four with {title}", *_among(ours, [Point(v, r) for v in VARIANTS])])
    return rows


def _overhead_points(_length: Length) -> list[Point]:
    return list(COMBINATIONS)


def _means(data: Estimates, routing: str, measure: str, places: int, scale: float = 1.0, by: str = "") -> str:
    """The smallest and the largest mean of the four versions of TCP, as a share of another measure if it is named."""
    means = []
    for v in VARIANTS:
        e, of = data.get(Point(v, routing), measure), data.get(Point(v, routing), by or measure)
        if e is not None and of is not None:
            means.append(scale * e.mean / (of.mean if by else 1.0))
    return _range(means, places)


def _overhead_rows(ours: Estimates, ns2: Estimates) -> Rows:
    """Cost of each routing protocol."""
    return [
        [
            title,
            _means(ns2, r, ROUTING, 0),
            _means(ours, r, ROUTING, 0),
            _means(ours, r, ROUTING, 2, 100, HANDLED),
            _means(ours, r, ROUTING_BYTES, 1, 1e-3),
            _means(ours, r, ROUTING_HEADERS, 1, 1e-3),
            _means(ours, r, ROUTING_BYTES, 3, 800, BITS),
        ]
        for r, title in ROUTINGS.items()
    ]


EXTRAS = {
    "readings": Extra("readings", _readings, None, None, {"readings": Sheet(
        "other readings: the smallest and the largest median of the twelve combinations",
        ("reading", *_COLUMNS), _reading_rows, shown=True,
    )}),
    "queue": Extra("queue", _queue_points, None, None, {"queue": Sheet(
        "segments of the long transfer with DSDV over DSR's queue, medians",
        ("TCP", *(f"{what}: {who}" for what in ("DSDV", "DSDV, queue of DSR", "DSR") for who in ("ns-2", "here"))),
        _queue_rows, shown=True,
    )}),
    "vegas": Extra("vegas", _vegas_points, None, None, {"vegas": Sheet(
        "TCP Vegas and the four versions of the paper: medians, of the four the smallest and the largest",
        ("TCP and routing", *_COLUMNS), _vegas_rows, shown=True,
    )}),
    "overhead": Extra("overhead", _overhead_points, None, None, {"overhead": Sheet(
        "costs of routing in a run: means, the smallest and the largest of the four versions of TCP",
        ("routing", "packets: ns-2", "packets: here", "of all packets [%]", "bytes [1000]",
         "bytes added to other packets [1000]", "bytes by those delivered [%]"),
        _overhead_rows, shown=True,
    )}),
}  # fmt: skip
"""Additions by name."""
