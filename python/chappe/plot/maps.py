"""Map of a scenario as a figure of matplotlib."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chappe import plot
from chappe._common.words import count
from chappe.scenario.map import INK, LOOKS, WIDTH, laid_out
from chappe.scenario.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(scenario: Scenario, only: Iterable[int] | None = None) -> "Figure":
    """The map of a scenario at the beginning of a run, with the routes of the flows ``only``; ``None``: of all.

    Raises:
        ValueError: If no node has a radio, or there is no such flow.
    """
    import matplotlib as mpl
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    from chappe.plot.figure import Figure

    flows, chosen = len(scenario._core.flows()), None if only is None else list(only)
    if wrong := [n for n in chosen or () if not 0 <= n < flows]:
        raise ValueError(f"there is no flow {wrong[0]}: the scenario has {count(flows, 'flow')}, from 0 on")
    m = laid_out(scenario, only=chosen)
    if m is None:
        raise ValueError("there is no map: no node has a radio")
    with mpl.rc_context(plot.STYLE):
        made = Figure(figsize=(WIDTH / 72, m.height / 72))
        axes = made.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(m.height, 0)
        axes.set_axis_off()
        for order, (name, look) in enumerate(LOOKS.items()):
            ends = [((x0, y0), (x1, y1)) for x0, y0, x1, y1 in m.lines[name]]
            dashes = (0, look.dashes) if look.dashes else "solid"
            z = 1 + 0.01 * order
            axes.add_collection(
                LineCollection(ends, colors=look.color, linewidths=look.width, linestyles=[dashes], zorder=z)
            )
            for x0, y0, x1, y1, x, y in m.curves if name == "flow" else ():
                way = Path([(x0, y0), (x, y), (x1, y1)], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
                axes.add_patch(
                    PathPatch(way, fill=False, edgecolor=look.color, linewidth=look.width, linestyle=dashes, zorder=z)
                )
        axes.add_collection(PolyCollection([list(tip) for tip in m.tips], facecolors=INK, zorder=2))
        for node in (*m.nodes, *m.marks):
            marker, face, more = ("s", INK, 1.5) if node.is_gateway else ("o", "#ffffff", 0.0)
            side = 2 * (node.radius + more)
            axes.plot(
                node.x,
                node.y,
                marker,
                markersize=side,
                markerfacecolor=face,
                markeredgecolor=INK,
                markeredgewidth=1,
                zorder=3,
            )
        paper = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.6}
        for x, y, anchor, words, size in (*m.labels, *m.texts):
            across = {"start": "left", "middle": "center", "end": "right"}[anchor]
            axes.text(x, y, words, fontsize=0.9 * size, ha=across, va="center_baseline", bbox=paper, zorder=2.5)
        return made
