"""Additions to the figures: reasons that the paper gives, connected placements, and its outlook, ELFN and DOOR."""

import math
from itertools import combinations

import numpy as np
from chappe.stats import Estimate, Share, total

from chappe_papers.elrakabawy2005.design import (
    FAILED,
    FAILURES,
    GIVEN_UP,
    GOODPUT,
    JAIN,
    MEASURES,
    RETRANSMISSIONS,
    Length,
)
from chappe_papers.elrakabawy2005.figures import MULTI
from chappe_papers.elrakabawy2005.points import (
    GRIDS,
    MOVING,
    MOVING_DSR,
    NAMES,
    PLACES,
    RANGE_M,
    RATES,
    Point,
    hidden_senders,
    scenario,
)
from chappe_papers.extras import Extra, percent
from chappe_papers.judging.judge import times
from chappe_papers.pages.figures import SHARE, Rows, Sheet, cell
from chappe_papers.runs.estimates import Estimates

Answers = list[tuple[str, str]]
"""Questions with their answers."""

# ---- control frames at 1 Mbit/s ----

_CONTROL = {
    "control frames at 1 Mbit/s, as in the paper": ("long", 1.0),
    "control frames at the data rate": ("long", None),
    "and a short preamble": ("short", None),
}
"""Preamble, and rate of control frames [Mbit/s]; ``None``: the data rate."""

_GROWN = ("newreno", "vegas2")


def _control_point(variant: str, rate: float, how: str) -> Point:
    preamble, basic = _CONTROL[how]
    return Point(variant, 7, rate, preamble=preamble, basic_mbps=basic or rate)


def _control_points(_length: Length) -> list[Point]:
    return [_control_point(v, r, how) for v in _GROWN for how in _CONTROL for r in RATES]


def _growth(ours: Estimates, variant: str, rate: float, how: str) -> Estimate | None:
    """Growth of goodput from the lowest rate on, as a share of the growth of the rate."""
    low = RATES[0]
    for a, b in ours.both(_control_point(variant, rate, how), _control_point(variant, low, how), GOODPUT):
        return total([times(a, b)], by=rate / low)
    return None


def _control_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for v in _GROWN:
        for how in _CONTROL:
            goodput = [cell(ours.get(_control_point(v, r, how), GOODPUT), 1e-3) for r in RATES]
            rows.append([NAMES[v], how, *goodput, *(cell(_growth(ours, v, r, how)) for r in RATES[1:])])
    return rows


_MOSTLY, _HARDLY = 0.5, 0.25
"""Shares of the missing growth, above which control frames explain it mostly, and below which hardly."""


def _explained(grown: Estimate, more: Estimate) -> Estimate:
    """Share of the missing growth, to one like that of the rate, that a change gives (delta method)."""
    lacking = 1 - grown.mean
    variance = more.variance / lacking**2 + grown.variance * (1 - more.mean) ** 2 / lacking**4
    return Estimate((more.mean - grown.mean) / lacking, variance, min(grown.df, more.df))


def how_much(share: Estimate) -> str:
    """Word for the share of the missing growth that control frames explain, by its interval."""
    low, high = share.interval()
    if low > _MOSTLY:
        return "mostly"
    if high < _HARDLY:
        return "hardly"
    return "in part" if low > 0 else "not decided"


def _control_answers(ours: Estimates) -> Answers:
    parts = []
    for v in _GROWN:
        grown = [e for how in _CONTROL if (e := _growth(ours, v, RATES[-1], how)) is not None]
        if len(grown) < len(_CONTROL):
            return []
        control, both = (_explained(grown[0], e) for e in grown[1:])
        parts.append(
            f"{NAMES[v].split(',')[0]}: {how_much(control)}. Its goodput grows {cell(grown[0])} times as much as the "
            f"rate; with control frames at the data rate, {cell(grown[1])} times; with a short preamble as well, "
            f"{cell(grown[2])} times. Control frames account for {_percent(control)} of the missing growth, together "
            f"with the preamble for {_percent(both)}."
        )
    question = (
        "Does goodput grow less than the rate because control frames are sent at 1 Mbit/s (section 4.3; from "
        f"{RATES[0]:g} to {RATES[-1]:g} Mbit/s over 7 hops)?"
    )
    return [(question, " ".join(parts))]


def _percent(e: Estimate) -> str:
    return f"{100 * e.mean:.0f} ± {100 * e.half_width():.0f} %"


# ---- hidden senders ----

_HIDDEN_HOPS = (4, 5, 6, 7, 8, 10)
_LOST = (*FAILED.values(), *GIVEN_UP.values(), "hidden_per_10000", RETRANSMISSIONS)
_SIX, _EIGHT = 6, 8
"""Lengths between which the retransmissions of the paper double [hops]."""


def _hidden_points(_length: Length) -> list[Point]:
    return [Point("newreno", h) for h in _HIDDEN_HOPS]


def hidden_counts(hops: int, *, acks: bool) -> list[int]:
    """Number of hidden senders of each node of a chain: of data, or with the last one, which sends acknowledgements."""
    x_m = scenario(Point("newreno", hops), "1100 delivered").nodes["x_m"].to_list()
    return [len(hidden_senders(n, x_m, range(hops + acks))) for n in range(hops + 1)]


def _hidden_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for h in _HIDDEN_HOPS:
        counts = [hidden_counts(h, acks=acks) for acks in (False, True)]
        values = [cell(ours.get(Point("newreno", h), name), MEASURES[name].scale) for name in _LOST]
        rows.append([str(h), " ".join(map(str, counts[0])), *(str(of.count(2)) for of in counts), *values])
    return rows


def _hidden_answers(ours: Estimates) -> Answers:
    with_two = [h for h in _HIDDEN_HOPS if 2 in hidden_counts(h, acks=False)]
    ratios = {}
    for measure in (FAILED, GIVEN_UP):
        pairs = [
            (ours.get(Point("newreno", h), measure[2]), ours.get(Point("newreno", h), measure[1])) for h in with_two
        ]
        ratios[measure[2]] = [times(a, b) for a, b in pairs if a is not None and b is not None]
    if not all(ratios.values()):
        return []
    failed, given_up = ratios.values()
    grown = [
        times(a, b)
        for name in (RETRANSMISSIONS, "hidden_per_10000")
        for a, b in ours.both(Point("newreno", _EIGHT), Point("newreno", _SIX), name)
    ]
    above = min(e.interval()[0] for e in failed) > 1
    text = (
        f"Yes, if only senders of data count: up to {with_two[0] - 1} hops no node has two hidden terminals; from "
        f"{with_two[0]} hops on every further hop adds a node with two hidden terminals (from "
        f"{min(h for h in _HIDDEN_HOPS if 2 in hidden_counts(h, acks=True))} hops on if the last node, which sends "
        "acknowledgements, counts as well). "
        f"{'They matter' if above else 'It is not shown that they matter'}: with NewReno an RTS of a relay with two "
        f"hidden terminals fails {_times(failed)} times as often as an RTS of a relay with one, and relays with two "
        f"give up packets {_times(given_up)} times as often. Over {_EIGHT} hops there are {_one(grown[0])} times as "
        f"many retransmissions as over {_SIX}, in the paper twice as many, and {_one(grown[1])} times as many packets "
        "are lost to hidden senders."
    )
    return [("Do two hidden terminals disturb one node from seven hops on (section 4.3)?", text)]


def _one(e: Estimate) -> str:
    low, high = e.interval()
    return f"{e.mean:.2f} ({low:.2f} to {high:.2f})"


def _times(several: list[Estimate]) -> str:
    """Ratios over several lengths: the smallest and the largest, with the ends of all intervals."""
    means, ends = [e.mean for e in several], [end for e in several for end in e.interval()]
    return f"{min(means):.2f} to {max(means):.2f} (intervals {min(ends):.2f} to {max(ends):.2f})"


# ---- fairness against aggregate goodput ----


def _tradeoff_points(_length: Length) -> list[Point]:
    return [Point(v, 0, r, place) for place in GRIDS for r in RATES for v in MULTI]


_GROUPS = [(place, r) for place in GRIDS for r in RATES]


def _measured(ours: Estimates, place: str, rate: float) -> list[tuple[float, float]]:
    """Aggregate goodput [bit/s] and Jain's index of the variants in one layout at one rate."""
    points = [Point(v, 0, rate, place) for v in MULTI]
    pairs = [(ours.get(p, GOODPUT), ours.get(p, JAIN)) for p in points]
    return [(a.mean, b.mean) for a, b in pairs if a is not None and b is not None]


def correlation(groups: list[list[tuple[float, float]]]) -> tuple[float, float, float]:
    """Correlation within groups of positive values, by the logarithm of the first, with its 95 % interval (Fisher)."""
    deviations = []
    for group in groups:
        x = np.array([[math.log(a), b] for a, b in group])
        deviations.append(x - x.mean(axis=0))
    x, y = np.concatenate(deviations).T
    r = float(x @ y / math.sqrt((x @ x) * (y @ y)))
    half = 1.96 / math.sqrt(len(x) - len(groups) - 2)
    return r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def _tradeoff_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for place, rate in _GROUPS:
        for v in MULTI:
            p = Point(v, 0, rate, place)
            rows.append([PLACES[place], f"{rate:g} Mbit/s", NAMES[v], cell(ours.get(p, GOODPUT), 1e-3),
                         cell(ours.get(p, JAIN), limits=SHARE)])  # fmt: skip
    return rows


def _tradeoff_answers(ours: Estimates) -> Answers:
    groups = {key: _measured(ours, *key) for key in _GROUPS}
    if any(len(group) < len(MULTI) for group in groups.values()):
        return []
    r, low, high = correlation(list(groups.values()))
    pairs = [(a, b) for group in groups.values() for a, b in combinations(group, 2)]
    opposed = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    word = "Yes" if high < 0 else "The opposite" if low > 0 else "Not shown"
    layouts = []
    for place in GRIDS:
        of = correlation([group for key, group in groups.items() if key[0] == place])
        layouts.append(f"{PLACES[place]} {of[0]:+.2f} ({of[1]:+.2f} to {of[2]:+.2f})")
    text = (
        f"{word}: among the variants of one layout at one rate, the logarithm of aggregate goodput and Jain's index "
        f"have a correlation of {r:+.2f} ({low:+.2f} to {high:+.2f}). In {opposed} of {len(pairs)} pairs of variants "
        f"the fairer variant has less goodput. By layout: {'; '.join(layouts)}."
    )
    return [("Does more fairness cost aggregate goodput (section 4.4.1, the grid)?", text)]


# ---- connected placements ----

NODES, WIDTH_M, HEIGHT_M = 120, 2500.0, 1000.0
PLACEMENTS = 2000
"""Placements that are drawn: a share has an interval of two percent."""


def components(placements_m: np.ndarray, range_m: float) -> list[list[int]]:
    """Sizes of the sets of nodes that reach each other over one or more hops, for each placement.

    Args:
        placements_m: For each placement a row for each node [m].
        range_m: Range of a radio [m].
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    many, nodes, _ = placements_m.shape
    # One graph of all placements, far from each other: a call for each takes most of its time to check its arguments.
    apart_m = np.ptp(placements_m[..., 0]) + 2 * range_m
    placed_m = placements_m + np.arange(many)[:, None, None] * (apart_m, 0.0)
    one, other = KDTree(placed_m.reshape(-1, 2)).query_pairs(range_m, output_type="ndarray").T
    graph = csr_array((np.ones(len(one), bool), (one, other)), shape=(many * nodes, many * nodes))
    _, numbers = connected_components(graph, directed=False)
    return [np.unique(of_one, return_counts=True)[1].tolist() for of_one in numbers.reshape(many, nodes)]


def _connected_rows(_ours: Estimates, _ns2: Estimates) -> Rows:
    random = np.random.default_rng(1)
    placements = random.random((PLACEMENTS, NODES, 2)) * (WIDTH_M, HEIGHT_M)
    sizes = components(placements, RANGE_M)
    whole = [len(of_one) == 1 for of_one in sizes]
    pairs = [sum(n * (n - 1) for n in of_one) / (NODES * (NODES - 1)) for of_one in sizes]
    low, high = Share.of(whole).interval()
    return [
        ["placements in which all nodes are connected", "99.9 %", f"{100 * np.mean(whole):.1f} %",
         f"{100 * low:.1f} to {100 * high:.1f} %"],
        ["pairs of nodes that are connected", "-", f"{100 * np.mean(pairs):.1f} %",
         "{:.1f} to {:.1f} %".format(*(100 * end for end in Estimate.of(pairs).interval()))],
    ]  # fmt: skip


def _connected_answers(ours: Estimates) -> Answers:
    [(_, paper, here, interval), (_, _, pairs, _)] = _connected_rows(ours, ours)
    text = (
        f"In {here} of the placements ({interval}); in the paper in {paper}. Of the pairs of nodes {pairs} are "
        "connected."
    )
    return [(f"How often are all of {NODES} random nodes connected?", text)]


# ---- ELFN and DOOR under motion ----

_ADDED = {"elfn": "ELFN", "door": "DOOR"}
_MOVED = {f"{v}{end}": f"{NAMES[v]}{name}" for v in ("newreno", "vegas2")
          for end, name in (("", ""), *((f"_{k}", f", {t}") for k, t in _ADDED.items()))}  # fmt: skip
_ROUTED = {MOVING: "AODV", MOVING_DSR: "DSR"}
_SHOWN = (GOODPUT, RETRANSMISSIONS, FAILURES, JAIN)


def _gain(ours: Estimates, p: Point, plain: Point) -> Estimate | None:
    """Goodput compared with that of another variant on the same walks."""
    return next((times(*both) for both in ours.both(p, plain, GOODPUT)), None)


def _change(e: Estimate) -> str:
    """A ratio as a change with its interval."""
    low, high = e.interval()
    return f"{_whole(e.mean)} % ({_whole(low)} to {_whole(high)})"


def _whole(ratio: float) -> str:
    """A ratio as a change in whole percent, without a negative zero; "-" where it is not known."""
    return f"{round(100 * (ratio - 1)) or 0:+d}" if math.isfinite(ratio) else "-"


def _motion_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for place, routing in _ROUTED.items():
        for v, title in _MOVED.items():
            p, plain = Point(v, place=place), Point(v.split("_")[0], place=place)
            gain = [percent(*both) for both in ours.both(p, plain, GOODPUT)] if p != plain else []
            shown = (cell(ours.get(p, name), MEASURES[name].scale) for name in _SHOWN)
            rows.append([routing, title, *shown, *(gain or ["-"])])
    return rows


def _motion_points(_length: Length) -> list[Point]:
    return [Point(v, place=p) for p in _ROUTED for v in _MOVED]


def _motion_answers(ours: Estimates) -> Answers:
    """Gains, with intervals that hold together at 95 % (Bonferroni)."""
    gains = {
        (added, v, place): e
        for added in _ADDED
        for v in ("newreno", "vegas2")
        for place in _ROUTED
        if (e := _gain(ours, Point(f"{v}_{added}", place=place), Point(v, place=place))) is not None
    }
    lead = {p: _gain(ours, Point("vegas2", place=p), Point("newreno", place=p)) for p in _ROUTED}
    if not gains:
        return []
    at = 1 - 0.05 / len(gains)
    most = 100 * (max(e.interval(at)[1] for e in gains.values()) - 1)
    bound = f"no gain above {most:.0f} %" if math.isfinite(most) else "a gain of any size is possible"
    better = [key for key, e in gains.items() if e.interval(at)[0] > 1]
    parts = []
    for added, title in _ADDED.items():
        own = [e.mean for key, e in gains.items() if key[0] == added]
        parts.append(f"{_whole(min(own))} to {_whole(max(own))} % with {title}")
    vegas = "; ".join(f"{_change(e)} over {_ROUTED[p]}" for p, e in lead.items() if e is not None)
    text = (
        f"{'Yes, in part' if better else 'No gain is shown'}: compared walk by walk, goodput changes by "
        f"{' and by '.join(parts)}, over AODV and DSR, with NewReno and Vegas; {bound} (all "
        f"{len(gains)} intervals together at 95 %). Goodput of Vegas compared with NewReno's: {vegas}."
    )
    return [("Do ELFN or DOOR help under motion (the paper's outlook)?", text)]


EXTRAS = {
    "control": Extra("control", _control_points, None, None, {"control": Sheet(
        "goodput over 7 hops with control frames at 1 Mbit/s and at the data rate [kbit/s], and its growth as a share "
        "of that of the rate",
        ("variant", "control frames", *(f"{r:g} Mbit/s" for r in RATES), *(f"growth, {r:g} Mbit/s" for r in RATES[1:])),
        _control_rows,
    )}, answers=_control_answers),
    "hidden": Extra("hidden", _hidden_points, None, None, {"hidden": Sheet(
        "hidden senders of each node of a chain, and what NewReno loses at them, at 2 Mbit/s",
        ("hops", "hidden senders of data, by node", "nodes with two", "with the last node",
         *(MEASURES[name].label for name in _LOST)),
        _hidden_rows,
    )}, answers=_hidden_answers),
    "tradeoff": Extra("tradeoff", _tradeoff_points, None, None, {"tradeoff": Sheet(
        "aggregate goodput and Jain's index of the variants in the grid",
        ("layout", "rate", "variant", MEASURES[GOODPUT].label, MEASURES[JAIN].label), _tradeoff_rows,
    )}, answers=_tradeoff_answers),
    "connected": Extra("connected", lambda _: [], None, None, {"connected": Sheet(
        f"how often {NODES} random nodes are connected, in {PLACEMENTS:,} placements",
        ("quantity", "paper", "here", "95 % interval"), _connected_rows,
    )}, answers=_connected_answers),
    "motion": Extra("motion", _motion_points, None, None, {"motion": Sheet(
        "NewReno and Vegas with ELFN and DOOR under motion, on the same walks: five flows among 30 nodes at 10 m/s",
        ("routing", "variant", *(MEASURES[name].label for name in _SHOWN), "goodput compared with neither"),
        _motion_rows,
    )}, answers=_motion_answers),
}  # fmt: skip
"""Additions by name."""
