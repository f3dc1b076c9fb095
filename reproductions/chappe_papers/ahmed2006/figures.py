"""The figures."""

import math
from collections.abc import Sequence
from dataclasses import replace

from chappe.plot import Mark
from chappe.stats import Estimate

from chappe_papers.ahmed2006.claims import GAIN_REPORTED, LOST_REPORTED, OURS, THROUGHPUT_REPORTED
from chappe_papers.ahmed2006.design import DELAY, LOST, MEASURES, THROUGHPUT
from chappe_papers.ahmed2006.points import LOSSES, MAIN, VARIANTS, Point
from chappe_papers.judging.judge import READING, times
from chappe_papers.pages.figures import Chart, Legend, Panel, Panels, panel
from chappe_papers.runs.estimates import Estimates

X_NAME, X_LABEL = "speed_mps", "speed of the nodes [m/s]"

LEGEND = Legend(VARIANTS, {v: n for n, v in enumerate(VARIANTS)})
"""Versions of TCP in legends, and one color for each."""

_REPORTED = {THROUGHPUT: THROUGHPUT_REPORTED, LOST: {loss: 100 * y for loss, y in LOST_REPORTED.items()}}


def _chart(title: str, panels: Panels, variants: Sequence[str] = tuple(VARIANTS)) -> Chart:
    return Chart(title, X_NAME, X_LABEL, tuple(variants), panels, left=None)


def over_speeds(x: Sequence[float], measure: str, loss: float, title: str = "") -> Panel:
    """Versions of TCP over the speed of the nodes, with the numbers of the paper, which are of one pattern."""
    reported = _REPORTED.get(measure, {}).get(loss)
    marks = () if reported is None else (Mark((reported, reported), 0.0, "the paper, E-NewReno", LEGEND.colors[OURS]),)
    return panel(x, lambda v, s: (Point(v, s, loss), measure), MEASURES[measure], title, f"{loss:g}", marks=marks)


def _figure(title: str, measure: str, loss: float) -> Chart:
    with_loss = f", {loss:g} % link loss" if loss else ""
    return _chart(f"{title} and speed{with_loss}", lambda x: [over_speeds(x, measure, loss)])


FIGURES: dict[int, Chart] = {
    1 + 3 * n + i: _figure(title, measure, loss)
    for n, loss in enumerate(LOSSES)
    for i, (title, measure) in enumerate((("throughput", THROUGHPUT), ("lost segments", LOST), ("delay", DELAY)))
}
"""The figures by number."""


def relative_to_newreno(loss: float, title: str, marks: Sequence[Mark] = (), x: Sequence[float] = ()) -> Panel:
    """Throughput of the others relative to NewReno on the same walks."""

    def gain(data: Estimates, v: str, speed: float) -> Estimate | None:
        both = list(data.both(Point(v, speed, loss, MAIN), Point("newreno", speed, loss, MAIN), THROUGHPUT))
        if not both:
            return None
        e = times(*both[0])
        return Estimate(e.mean - 1, e.variance, e.df)

    label = "throughput relative to NewReno [%]"
    return Panel(x, None, label, title, f"relative to NewReno, {loss:g} %", marks=marks, derived=gain, scale=100,
                 ends=(-1.0, math.inf))  # fmt: skip


def _key(x: Sequence[float]) -> list[Panel]:
    panels = []
    for loss in LOSSES:
        title = f"{loss:g} % link loss" if loss else "no link loss"
        low, high = (100 * (GAIN_REPORTED[loss] * by - 1) for by in (1 - READING, 1 + READING))
        reported = Mark((low, high), None, "the paper, E-NewReno, mean over the speeds, give or take 5 %")
        rivals = tuple(v for v in VARIANTS if v != "newreno")
        panels += [over_speeds(x, THROUGHPUT, loss, title),
                  replace(relative_to_newreno(loss, title, (reported,), x), variants=rivals)]  # fmt: skip
    return panels


KEY = _chart("throughput, absolute and relative to NewReno with the same movements, and the paper's numbers", _key)
"""The figure that says most, with the numbers of the paper."""
