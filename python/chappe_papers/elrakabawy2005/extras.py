"""Additions to the figures: how often random nodes are connected, and the outlook of the paper, ELFN under motion."""

import numpy as np
from chappe.stats import Estimate, Share

from chappe_papers.elrakabawy2005.design import FAILURES, GOODPUT, JAIN, MEASURES, RETRANSMISSIONS
from chappe_papers.elrakabawy2005.points import MOVING, NAMES, Point
from chappe_papers.estimates import Estimates
from chappe_papers.extras import Extra
from chappe_papers.figures import Rows, Sheet, cell

# ---- connected placements ----

NODES, WIDTH_M, HEIGHT_M, RANGE_M = 120, 2500.0, 1000.0, 250.0
PLACEMENTS = 2000
"""Placements that are drawn: a share has an interval of two per cent."""


def components(xy_m: np.ndarray, range_m: float) -> list[int]:
    """Sizes of the sets of nodes that reach each other over one or more hops.

    Args:
        xy_m: A row for each node [m].
        range_m: Range of a radio [m].
    """
    from scipy.sparse.csgraph import connected_components

    apart = ((xy_m[:, None] - xy_m[None]) ** 2).sum(axis=2)
    _, number = connected_components(apart <= range_m**2, directed=False)
    sizes: list[int] = np.bincount(number).tolist()
    return sizes


def _connected_rows(_ours: Estimates, _ns2: Estimates) -> Rows:
    random = np.random.default_rng(1)
    whole, pairs = [], []
    for _ in range(PLACEMENTS):
        sizes = components(random.random((NODES, 2)) * (WIDTH_M, HEIGHT_M), RANGE_M)
        whole.append(len(sizes) == 1)
        pairs.append(sum(n * (n - 1) for n in sizes) / (NODES * (NODES - 1)))
    low, high = Share.of(whole).interval()
    return [
        ["placements in which all nodes are connected", "99.9 %", f"{100 * np.mean(whole):.1f} %",
         f"{100 * low:.1f} to {100 * high:.1f} %"],
        ["pairs of nodes that are connected", "-", f"{100 * np.mean(pairs):.1f} %",
         "{:.1f} to {:.1f} %".format(*(100 * end for end in Estimate.of(pairs).interval()))],
    ]  # fmt: skip


# ---- ELFN under motion ----

_MOVED = {"newreno": NAMES["newreno"], "newreno_elfn": "NewReno with ELFN", "vegas2": NAMES["vegas2"],
          "vegas2_elfn": "Vegas, alpha = 2, with ELFN"}  # fmt: skip
_SHOWN = (GOODPUT, RETRANSMISSIONS, FAILURES, JAIN)


def _motion_rows(ours: Estimates, _ns2: Estimates) -> Rows:
    rows = []
    for v, title in _MOVED.items():
        p = Point(v, place=MOVING)
        rows.append([title, *(cell(ours.get(p, name), MEASURES[name].scale) for name in _SHOWN)])
    return rows


EXTRAS = {
    "connected": Extra("connected", lambda _: [], None, None, {"connected": Sheet(
        f"how often {NODES} random nodes are connected, in {PLACEMENTS:,} placements",
        ("quantity", "paper", "here", "95 % interval"), _connected_rows, shown=True,
    )}),
    "motion": Extra("motion", lambda _: [Point(v, place=MOVING) for v in _MOVED], None, None, {"motion": Sheet(
        "NewReno and Vegas with ELFN under motion: five flows among 30 nodes at 10 m/s",
        ("variant", *(MEASURES[name].label for name in _SHOWN)), _motion_rows, shown=True,
    )}),
}  # fmt: skip
"""Additions by name."""
