"""Additions to the figures: how often random nodes are connected; the paper's outlook, ELFN and DOOR under motion."""

import numpy as np
from chappe.stats import Estimate, Share

from chappe_papers.elrakabawy2005.design import FAILURES, GOODPUT, JAIN, MEASURES, RETRANSMISSIONS, Length
from chappe_papers.elrakabawy2005.points import MOVING, MOVING_DSR, NAMES, Point
from chappe_papers.extras import Extra, percent
from chappe_papers.pages.figures import Rows, Sheet, cell
from chappe_papers.runs.estimates import Estimates

# ---- connected placements ----

NODES, WIDTH_M, HEIGHT_M, RANGE_M = 120, 2500.0, 1000.0, 250.0
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


# ---- ELFN and DOOR under motion ----

_MOVED = {f"{v}{with_}": f"{NAMES[v]}{name}" for v in ("newreno", "vegas2")
          for with_, name in (("", ""), ("_elfn", ", ELFN"), ("_door", ", DOOR"))}  # fmt: skip
_ROUTED = {MOVING: "AODV", MOVING_DSR: "DSR"}
_SHOWN = (GOODPUT, RETRANSMISSIONS, FAILURES, JAIN)


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


EXTRAS = {
    "connected": Extra("connected", lambda _: [], None, None, {"connected": Sheet(
        f"how often {NODES} random nodes are connected, in {PLACEMENTS:,} placements",
        ("quantity", "paper", "here", "95 % interval"), _connected_rows, shown=True,
    )}),
    "motion": Extra("motion", _motion_points, None, None, {"motion": Sheet(
        "NewReno and Vegas with ELFN and DOOR under motion: five flows among 30 nodes at 10 m/s",
        ("routing", "variant", *(MEASURES[name].label for name in _SHOWN), "goodput compared with neither"),
        _motion_rows,
    )}),
}  # fmt: skip
"""Additions by name."""
