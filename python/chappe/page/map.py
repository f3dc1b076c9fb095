"""Map of the nodes of a scenario, as SVG."""

from html import escape

from chappe._common.words import node_label
from chappe.scenario.scenario import Scenario

_WIDTH = 460
_MOST_LINKS, _NUMBERED = 1500, 40
"""Links that are drawn at most, and nodes that have a number at most."""

_TIP = (
    '<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 6 3 0 6z" fill="context-stroke"/></marker></defs>'
)


def drawn(scenario: Scenario, most_links: int = _MOST_LINKS) -> str:
    """The nodes with a radio to scale, with their links, unless these are too many, and flows; empty without radios."""
    xs, ys = scenario._core.places()
    names = scenario.names
    if not xs:
        return ""
    wide, high = max(max(xs) - min(xs), 1.0), max(max(ys) - min(ys), 1.0)
    scale = min((_WIDTH - 60) / wide, 0.75 * _WIDTH / high)
    height = max(high * scale, 1) + 60

    def place(node: int) -> tuple[float, float]:
        return 30 + (xs[node] - min(xs)) * scale, 30 + (ys[node] - min(ys)) * scale

    def line(x0: float, y0: float, x1: float, y1: float) -> str:
        return f'<line class="link" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'

    parts = [
        f'<svg class="map" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="Map of {len(xs)} nodes">',
        _TIP,
    ]
    links = scenario._core.links()
    for a, b, _, rate in links if len(links) < 2 * most_links else ():
        if a < b and rate is not None:
            parts.append(line(*place(a), *place(b)))
    for src, dst, _ in scenario._core.flows()[:_NUMBERED]:
        if max(src, dst) < len(xs):
            (x0, y0), (x1, y1) = place(src), place(dst)
            bend = 0.12 * ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
            way = f"M{x0:.1f} {y0:.1f}Q{(x0 + x1) / 2:.1f} {(y0 + y1) / 2 - bend:.1f} {x1:.1f} {y1:.1f}"
            parts.append(f'<path class="flow" marker-end="url(#tip)" d="{way}"/>')
    for node in range(len(xs)):
        x, y = place(node)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if len(xs) <= _NUMBERED else 3}"/>')
        if len(xs) <= _NUMBERED:
            parts.append(f'<text x="{x + 7:.1f}" y="{y - 5:.1f}">{escape(node_label(node, names))}</text>')
    bar = 10 ** (len(str(int(wide / 4))) - 1) if wide >= 4 else 1
    parts.append(line(30, height - 12, 30 + bar * scale, height - 12))
    return "".join([*parts, f'<text x="{36 + bar * scale:.1f}" y="{height - 8:.0f}">{bar} m</text></svg>'])
