"""Map of a scenario as SVG: its attributes are those of white paper, the style sheet of a page adds the dark."""

from collections.abc import Iterable
from html import escape

from chappe.scenario.map import INK, LOOKS, WIDTH, Label, Node, Paths, laid_out
from chappe.scenario.scenario import Scenario


def drawn(scenario: Scenario, paths: Paths | None = None) -> str:
    """The map of a scenario; empty without radios.

    Args:
        scenario: The scenario.
        paths: Ways of flows that a run showed.
    """
    m = laid_out(scenario, paths)
    if m is None:
        return ""
    parts = []
    for name, look in LOOKS.items():
        ways = [f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" for x0, y0, x1, y1 in m.lines[name]]
        if name == "flow":
            ways += [f"M{x0:.1f} {y0:.1f}Q{x:.1f} {y:.1f} {x1:.1f} {y1:.1f}" for x0, y0, x1, y1, x, y in m.curves]
        if ways:
            dashes = f' stroke-dasharray="{look.dashes[0]} {look.dashes[1]}"' if look.dashes else ""
            shown = f'fill="none" stroke="{look.color}" stroke-width="{look.width}"{dashes}'
            parts.append(f'<path class="{name}" {shown} d="{"".join(ways)}"/>')
    if m.tips:
        tips = "".join(f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in tip)}z" for tip in m.tips)
        parts.append(f'<path class="tip" fill="{INK}" d="{tips}"/>')
    parts += [_node(node) for node in (*m.nodes, *m.marks)]
    parts += _texts((*m.labels, *m.texts))
    words = f'role="img" aria-label="Map of {len(m.nodes)} nodes"'
    return f'<svg class="map" viewBox="0 0 {WIDTH:.0f} {m.height:.0f}" {words}>{"".join(parts)}</svg>'


def _node(node: Node) -> str:
    """A square for a node with a wire, otherwise a circle; pointing at it shows its name."""
    x, y, r, title = node.x, node.y, node.radius, f"<title>{escape(node.name)}</title>"
    if node.is_gateway:
        r += 1.5
        at = f'x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}"'
        return f'<rect fill="{INK}" {at}>{title}</rect>'
    return f'<circle fill="#fff" stroke="{INK}" cx="{x:.1f}" cy="{y:.1f}" r="{r}">{title}</circle>'


def _texts(labels: Iterable[Label]) -> Iterable[str]:
    """Texts on a border of the color of the background, so that no line crosses them."""
    look = f'fill="{INK}" stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    yield f"<g {look}>"
    for x, y, anchor, text, size in labels:
        aligned = "" if anchor == "start" else f' text-anchor="{anchor}"'
        yield f'<text x="{x:.1f}" y="{y + 0.36 * size:.1f}" font-size="{size:g}"{aligned}>{escape(text)}</text>'
    yield "</g>"
