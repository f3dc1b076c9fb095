"""Figures."""

from collections.abc import Sequence

from chappe.plot import Mark
from chappe_papers.pages.figures import Chart, Legend, Panel, panel

from small_paper.design import DESIGN, Point


def _goodput(hops: Sequence[int]) -> Sequence[Panel]:
    paper = (Mark((600.0, 700.0), 2),)
    of = DESIGN.measures["goodput_bps"]
    return [panel(hops, lambda v, h: (Point(v, int(h)), "goodput_bps"), of, marks=paper)]


LEGEND = Legend({"newreno": "NewReno", "vegas": "Vegas"}, {"newreno": 0, "vegas": 1})
FIGURES = {1: Chart("goodput", "hops", "hops", ("newreno", "vegas"), _goodput)}
KEY = FIGURES[1]
