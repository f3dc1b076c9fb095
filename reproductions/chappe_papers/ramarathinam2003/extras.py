"""Additions to the paper: readings and their likelihoods, ranks by load, effects of DSR's queue, Vegas, overhead."""

from collections.abc import Iterable, Sequence

import numpy as np

from chappe_papers.extras import Extra, percent
from chappe_papers.judging.judge import times
from chappe_papers.pages.figures import SHARE, Rows, Sheet, cell
from chappe_papers.ramarathinam2003 import likelihood
from chappe_papers.ramarathinam2003.consistency import Medians, ranks
from chappe_papers.ramarathinam2003.design import (
    ACKS_LOST,
    BITS,
    DESIGN,
    HANDLED,
    LAST,
    ROUTING,
    ROUTING_BYTES,
    ROUTING_HEADERS,
    SEGMENTS,
    TCP_BITS,
    UDP_BITS,
    UDP_LOST,
    UDP_SENT_BITS,
    Length,
)
from chappe_papers.ramarathinam2003.points import (
    CMU_QUEUE,
    COMBINATIONS,
    MAIN,
    NS2_RATE,
    OUTLOOK,
    RATE,
    ROOM,
    ROUTINGS,
    UDP_KBPS,
    UDP_ROOM,
    VARIANTS,
    WALKING,
    Point,
)
from chappe_papers.ramarathinam2003.printed import LOADS, TABLE_I, TABLE_II, places_of_segments
from chappe_papers.runs.estimates import Estimates

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
    return [p._replace(reading=kind, rate_mbps=rate) for kind, rate in likelihood.ALL for p in points]


def _under(reading: likelihood.Reading) -> list[Point]:
    kind, rate = reading
    return [p._replace(reading=kind, rate_mbps=rate) for p in COMBINATIONS]


def _reading_rows(ours: Estimates, ns2: Estimates) -> Rows:
    paper = [_range((row[n] for row in TABLE_II.values()), 1) for n in range(len(LAST))]
    paper += [_range((row[n] for row in TABLE_I.values()), 0) for n in range(len(LOADS))]
    rows = [["the paper", *paper], [f"ns-2.35, {NS2_RATE:g} Mbit/s", *_among(ns2, _under((MAIN, NS2_RATE)))]]
    return rows + [[_title(reading), *_among(ours, _under(reading))] for reading in likelihood.ALL]


def _title(reading: likelihood.Reading) -> str:
    """A reading in words; the main one is marked."""
    return likelihood.title(reading) + (", the main reading" if reading == (MAIN, RATE) else "")


def _likelihood_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    """The readings by their likelihood, and a look at the numbers that have not chosen."""
    of = {r: values for r in likelihood.ALL if len(values := likelihood.likelihoods(ours, r))}
    if not of:
        return []
    p = likelihood.distinguished(of)
    chosen, most = likelihood.chosen(of), max(v.sum() for v in of.values())
    rows = []
    for r in sorted(of, key=lambda r: -of[r].sum()):
        change = dict(zip(COMBINATIONS, _under(r), strict=True))
        rows.append([
            _title(r),
            f"{of[r].sum():.1f}",
            f"{of[r].sum() - most:.1f}",
            _probability(p[r]) if r in p else "-",
            str(likelihood.departures(r)),
            "chosen" if r == chosen else "",
            *_of_segments(ours.seen_as(change.get)),
        ])  # fmt: skip
    return rows


def _probability(p: float) -> str:
    return f"{p:.3f}" if p >= 1e-3 else "< 0.001"


def _of_segments(data: Estimates) -> list[str]:
    """Mean places of the segments of the paper among ours by load, and the probability that ours lie as unevenly."""
    found = places_of_segments(data)
    return ["-"] * 2 if found is None else [_whole(100 * found[0].mean(axis=0)), _probability(found[1])]


def _whole(values: np.ndarray) -> str:
    return ", ".join(f"{v:.0f}" for v in values)


def _rank_points(_length: Length) -> list[Point]:
    return list(COMBINATIONS)


def _rank_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    """Ranks of the combinations by load, in the order of their mean ranks here."""
    medians = Medians.of(ours, COMBINATIONS)
    if medians is None:
        return []
    printed = ranks(np.array([TABLE_I[p[:2]] for p in COMBINATIONS], dtype=float))
    here, means = ranks(medians.observed), medians.mean_ranks()
    rows = []
    for p in sorted(means, key=lambda p: means[p].mean):
        n = COMBINATIONS.index(p)
        low, high = means[p].interval()
        rows.append([
            f"{VARIANTS[p.variant]} with {ROUTINGS[p.routing]}",
            ", ".join(f"{r:g}" for r in printed[n]), f"{printed[n].mean():.1f}",
            ", ".join(f"{r:g}" for r in here[n]), f"{means[p].mean:.1f} ({low:.1f} to {high:.1f})",
            f"{100 * medians.share_best(p):.0f}",
        ])  # fmt: skip
    return rows


_QUEUES = (("dsdv", MAIN), ("dsdv", CMU_QUEUE), ("dsr", MAIN))
"""DSDV, the same over the queue of DSR, and DSR."""


def _queue_points(_length: Length) -> list[Point]:
    return [Point(v, *q, rate) for v in VARIANTS for rate in (NS2_RATE, RATE) for q in _QUEUES]


def _queue_rows(ours: Estimates, ns2: Estimates) -> Rows:
    """The long transfer over both queues, at ns-2's data rate and that of the main reading."""
    rows = []
    for rate in (NS2_RATE, RATE):
        for v, title in VARIANTS.items():
            segments = [t.get(Point(v, *q, rate), SEGMENTS["internet"]) for q in _QUEUES for t in (ns2, ours)]
            rows.append([f"{title}, {rate:g} Mbit/s", *("-" if e is None else f"{e.mean:.0f}" for e in segments)])
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
    return [*COMBINATIONS, *_under((MAIN, NS2_RATE))]


def _means(
    data: Estimates, routing: str, measure: str, places: int, scale: float = 1.0, by: str = "", rate: float = RATE
) -> str:
    """The smallest and the largest mean of the four versions of TCP, as a share of another measure if it is named."""
    means = []
    for v in VARIANTS:
        p = Point(v, routing, MAIN, rate)
        e, of = data.get(p, measure), data.get(p, by or measure)
        if e is not None and of is not None:
            means.append(scale * e.mean / (of.mean if by else 1.0))
    return _range(means, places)


def _overhead_rows(ours: Estimates, ns2: Estimates) -> Rows:
    """Cost of each routing protocol."""
    return [
        [
            title,
            _means(ns2, r, ROUTING, 0, rate=NS2_RATE),
            _means(ours, r, ROUTING, 0, rate=NS2_RATE),
            _means(ours, r, ROUTING, 0),
            _means(ours, r, ROUTING, 2, 100, HANDLED),
            _means(ours, r, ROUTING_BYTES, 1, 1e-3),
            _means(ours, r, ROUTING_HEADERS, 1, 1e-3),
            _means(ours, r, ROUTING_BYTES, 3, 800, BITS),
        ]
        for r, title in ROUTINGS.items()
    ]


_BESIDE = ("aodv", "dsr")
"""Routing protocols that are tried with datagrams."""

_UDP_NETWORKS = (MAIN, *OUTLOOK, UDP_ROOM)


def _udp_points(_length: Length) -> list[Point]:
    return [Point("reno", r, reading) for r in _BESIDE for reading in _UDP_NETWORKS]


def _udp_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    """Transfers with more and more datagrams; the mesh of the paper is TCP."""
    rows = []
    for r in _BESIDE:
        for reading in _UDP_NETWORKS:
            p = Point("reno", r, reading)
            segments, tcp = [cell(ours.get(p, SEGMENTS[load])) for load in LOADS], cell(ours.get(p, TCP_BITS), 1e-6)
            acks = f"{cell(ours.get(p, ACKS_LOST), 100.0, SHARE)} %"
            if reading == MAIN:
                rows.append([ROUTINGS[r], "none: the mesh is TCP", *segments, tcp, "-", "-", acks])
                continue
            sent, delivered, lost = (
                cell(ours.get(p, name), scale)
                for name, scale in ((UDP_SENT_BITS, 1e-6), (UDP_BITS, 1e-6), (UDP_LOST, 100.0))
            )
            queue = f" (queues of {ROOM})" if reading == UDP_ROOM else ""
            rows.append([ROUTINGS[r], sent + queue, *segments, tcp, delivered, lost, acks])
    return rows


def _udp_answers(ours: Estimates) -> list[tuple[str, str]]:
    """Bits that TCP and all flows deliver, and the reason why short transfers stop beside few datagrams."""
    most, least = list(OUTLOOK)[-1], next(iter(OUTLOOK))
    kept, lost, stopped = [], [], []
    grows = True
    for r in _BESIDE:
        alone, full = Point("reno", r), Point("reno", r, most)
        few, room = Point("reno", r, least), Point("reno", r, UDP_ROOM)
        if any(ours.get(p, TCP_BITS) is None for p in (alone, full, few, room)):
            return []
        tcp, rest, udp = (
            1e-6 * ours.take(p, m).mean for p, m in ((alone, TCP_BITS), (full, TCP_BITS), (full, UDP_BITS))
        )
        grows &= rest + udp > tcp
        kept.append(
            f"with {ROUTINGS[r]} all flows together deliver {rest + udp:,.0f} Mbit in a run; TCP delivers "
            f"{tcp:,.0f} Mbit without datagrams, {cell(ours.take(full, TCP_BITS), 1e-6)} Mbit beside them"
        )
        lost.append(f"{100 * ours.take(full, UDP_LOST).mean:.0f} %")
        acks = [f"{100 * ours.take(p, ACKS_LOST).mean:.0f}" for p in (alone, few, room)]
        short = [f"{ours.take(p, SEGMENTS['heavy']).mean:,.0f}" for p in (alone, few, room)]
        stopped.append(
            f"with {ROUTINGS[r]} the transfer reaches {short[0]} segments without datagrams, {short[1]} beside them, "
            f"and {short[2]} with queues of {ROOM} packets; {', '.join(acks[:-1])} and {acks[-1]} % of the "
            "acknowledgements find a full queue"
        )
    collapse = (
        f"{'No collapse, but TCP gives way' if grows else 'A collapse'}: beside the most datagrams (90 sources of "
        f"{UDP_KBPS[-1]} kbit/s that send a fifth of the time) {'; '.join(kept)}. "
        f"{' and '.join(lost)} of the datagrams are lost."
    )
    stop = (
        f"The student's transfer under heavy load, beside sources of {UDP_KBPS[0]} kbit/s: {'; '.join(stopped)}. No "
        "mesh of TCP slows the ten uploads any more, and their acknowledgements fill the queue of the professor, who "
        "also sends the short transfers. DSR's queue sends acknowledgements before data, however long it is."
    )
    return [
        ("Does UDP starve TCP or cause congestion collapse (the paper's outlook)?", collapse),
        ("Why do short transfers stop beside few datagrams?", stop),
    ]


def _walking_points(_length: Length) -> list[Point]:
    return [Point("reno", r, reading) for r in ROUTINGS for reading in (MAIN, WALKING)]


def _walking_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    """Reno while everybody walks through the room, by what it has while nobody moves."""
    rows = []
    for r, title in ROUTINGS.items():
        sits, walks = Point("reno", r), Point("reno", r, WALKING)
        measures = (*(SEGMENTS[load] for load in LOADS), TCP_BITS)
        gains = [percent(*both) for m in measures for both in ours.both(walks, sits, m)]
        if len(gains) == len(measures):
            rows.append([title, cell(ours.get(sits, TCP_BITS), 1e-6), *gains])
    return rows


_CHANGED = {**{name: f"the segments of {load}" for load, name in SEGMENTS.items()}, TCP_BITS: "the bits of TCP"}


def _walking_answers(ours: Estimates) -> list[tuple[str, str]]:
    """Changes while all walk, with intervals that hold together at 95 % (Bonferroni)."""
    changes = {
        (m, r): times(*pair)
        for m in (*(SEGMENTS[load] for load in LOADS), TCP_BITS)
        for r in ROUTINGS
        for pair in ours.both(Point("reno", r, WALKING), Point("reno", r), m)
    }
    if not changes:
        return []
    at = 1 - 0.05 / len(changes)

    def said(measures: Sequence[str]) -> str:
        own = [e for (m, _), e in changes.items() if m in measures]
        means, ends = [e.mean for e in own], [end for e in own for end in e.interval(at)]
        low, high, least, most = (100 * (v - 1) for v in (min(means), max(means), min(ends), max(ends)))
        return f"{low:+.0f} to {high:+.0f} % (intervals {least:+.0f} to {most:+.0f})"

    changed = [f"{_CHANGED[m]} with {ROUTINGS[r]}" for (m, r), e in changes.items()
               if not e.interval(at)[0] <= 1 <= e.interval(at)[1]]  # fmt: skip
    few = f"only {', '.join(changed)} change significantly" if changed else "none of them changes significantly"
    text = (
        "In this classroom all nodes stay in range of each other. While all walk at 1 m/s, the bits that TCP delivers "
        f"change by {said([TCP_BITS])}, and the segments of the student's transfers by "
        f"{said(list(SEGMENTS.values()))}; {few} (all {len(changes)} intervals together at 95 %)."
    )
    return [("Does walking change the results (the paper names the static setting as a reason)?", text)]


EXTRAS = {
    "readings": Extra("readings", _readings, None, None, {"readings": Sheet(
        "other readings: the smallest and the largest median of the twelve combinations",
        ("reading", *_COLUMNS), _reading_rows, shown=True,
    ), "likelihoods": Sheet(
        "likelihood of Table II, which chooses the reading, and places of Table I, which has not, among our runs",
        ("reading", "log-likelihood", "difference", "p", "settings not ns-2's", "by the rule",
         "Table I: places by load [%]", "p"),
        _likelihood_rows, shown=True,
    )}),
    "ranks": Extra("ranks", _rank_points, None, None, {"ranks": Sheet(
        "ranks by load (light, moderate, heavy, to the Internet) of the twelve combinations, 1 is the best",
        ("TCP and routing", "paper", "mean", "here", "mean (95 %)", "best of all with probability [%]"),
        _rank_rows, shown=True,
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
        ("routing", f"packets: ns-2, {NS2_RATE:g} Mbit/s", f"here, {NS2_RATE:g} Mbit/s", "here", "of all [%]",
         "bytes [1000]", "bytes added to others [1000]", "by those delivered [%]"),
        _overhead_rows, shown=True,
    )}),
    "udp": Extra("udp", _udp_points, None, None, {"udp": Sheet(
        "Reno beside datagrams: medians of segments, and what all flows together deliver in a run [Mbit]",
        ("routing", "UDP sent", *(f"segments, {load}" for load in LOADS), "TCP delivered", "UDP delivered",
         "UDP lost [%]", "ACKs lost"),
        _udp_rows, shown=True,
    )}, answers=_udp_answers),
    "walking": Extra("walking", _walking_points, None, None, {"walking": Sheet(
        "Reno while all walk through the classroom at 1 m/s, compared with the static classroom",
        ("routing", "all TCP, static [Mbit]", *(f"segments, {load}" for load in LOADS), "all TCP"),
        _walking_rows, shown=True,
    )}, answers=_walking_answers),
}  # fmt: skip
"""Additions by name."""
