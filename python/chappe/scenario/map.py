"""Map of a scenario in the units of a figure: places, links by their quality, routes, names without overlap, scale."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from chappe._common.words import count, node_label
from chappe.scenario.scenario import Scenario

WIDTH = 640.0
"""Width of a map; its height follows from the places. One unit is a point of a figure, or a pixel of a page."""

LEVELS = 5
"""Levels of the quality of links."""


class Look(NamedTuple):
    """Color on white, width and dashes of lines."""

    color: str
    width: float
    dashes: tuple[int, int] | None = None


INK = "#1b1b1f"

LOOKS = {
    "one_way": Look("#6b6b76", 0.8, (2, 3)),
    "l0": Look("#e0701a", 0.9),
    "l1": Look("#cc4778", 1.2),
    "l2": Look("#9a3fb0", 1.5),
    "l3": Look("#5b3bc4", 1.9),
    "l4": Look("#1f1a8a", 2.4),
    "wire": Look(INK, 3.4),
    "route": Look(INK, 1.3),
    "flow": Look(INK, 1.3, (5, 3)),
    "bar": Look(INK, 1.5),
    "leader": Look("#6b6b76", 0.6),
}
"""Lines of a map, in the order of drawing. Levels of links, the weakest first, differ in hue, lightness and width, for
all kinds of color vision (after the map plasma of matplotlib)."""

_EDGE, _ROW, _SIZE = 36.0, 17.0, 11.0
"""Margin of a map; height of a row of its legend, and the size of its letters."""
_TALLEST = 560.0
_FEW = 60
"""Nodes that are drawn large."""
_LINKS, _BEST = 150, 4
"""Links that are drawn without a choice, and those of each node that are drawn of more."""
_MOST = 2000
"""Nodes whose links are drawn at most."""
_CELL = 3.0
"""Size of a cell of the grid by which names are placed."""
_EM = 0.6
"""Mean width of a letter, relative to its size."""
_LONGEST = 24
"""Letters of a name at most."""
_GAP = 2.6
"""Distance of a route from its link, on the right in its direction."""

Line = tuple[float, float, float, float]
"""Both ends: x0, y0, x1, y1."""


class Node(NamedTuple):
    """A node with a radio: its place, size and name, and whether it has a wire."""

    x: float
    y: float
    radius: float
    is_gateway: bool
    name: str


class Label(NamedTuple):
    """A text: place of the middle of its height, alignment (``start``, ``middle``, ``end``), and size."""

    x: float
    y: float
    anchor: str
    text: str
    size: float

    @property
    def left(self) -> float:
        """Left end of the text, by the mean width of letters."""
        return self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * self.wide

    @property
    def wide(self) -> float:
        """Its width, by the mean width of letters."""
        return _EM * self.size * len(self.text)


class Map(NamedTuple):
    """A map; y grows downward, and north is up.

    Attributes:
        height: Height, with the legend.
        lines: Lines by their look, with those of the legend.
        curves: Flows whose routes are not known before a run: both ends, and the point that bends the curve.
        tips: Corners of the arrows of routes and flows.
        nodes: Nodes with a radio.
        labels: Names of nodes; those that have no room are left out.
        marks: Signs of nodes in the legend.
        texts: Texts of the legend, and below it what is left out and what the colors say.
    """

    height: float
    lines: Mapping[str, Sequence[Line]]
    curves: Sequence[tuple[float, float, float, float, float, float]]
    tips: Sequence[Sequence[tuple[float, float]]]
    nodes: Sequence[Node]
    labels: Sequence[Label]
    marks: Sequence[Node]
    texts: Sequence[Label]


Paths = Mapping[int, Sequence[int]]
"""Nodes on the ways of flows, by flow."""


def laid_out(scenario: Scenario, paths: Paths | None = None, only: Iterable[int] | None = None) -> Map | None:
    """The map of a scenario at the beginning of a run; ``None`` without radios.

    Args:
        scenario: The scenario.
        paths: Ways of flows that a run showed, in addition to those that are known before.
        only: Flows whose routes are drawn; ``None``: all.
    """
    xs, ys = scenario._core.places()
    if not xs:
        return None
    wide, high = max(max(xs) - min(xs), 1.0), max(max(ys) - min(ys), 1.0)
    scale = min((WIDTH - 2 * _EDGE) / wide, _TALLEST / high)
    left = (WIDTH - wide * scale) / 2
    # A chain has no height of its own, but its names and arrows have.
    above = max(_EDGE, (0.16 * WIDTH - high * scale) / 2)
    places = [(left + (x - min(xs)) * scale, above + (max(ys) - y) * scale) for x, y in zip(xs, ys, strict=True)]
    bottom = 2 * above + (max(ys) - min(ys)) * scale

    wires = {(min(a, b), max(a, b)) for a, b in _wires(scenario)}
    gateways = {n for ends in wires for n in ends if n < len(xs)}
    flows = scenario._core.flows()
    chosen = set(range(len(flows)) if only is None else only)
    known = {n: path for n, path in enumerate(scenario._core.paths()) if path} | dict(paths or {})
    ways = [known[n] for n in sorted(chosen) if n in known]
    hops = Counter(hop for way in ways for hop in itertools.pairwise(way) if max(hop) < len(xs))
    unknown = [flows[n][:2] for n in sorted(chosen) if n not in known and max(flows[n][:2]) < len(xs)]
    on_routes = {(min(hop), max(hop)) for hop in hops}

    found, one_way = _qualities(scenario)
    drawn = _chosen(found, len(xs), on_routes)
    levels = list(_leveled(drawn))
    radius, size = (5.0, 11.0) if len(xs) <= _FEW else (3.0, 8.0)
    nodes = [Node(x, y, radius, n in gateways, node_label(n, scenario.names)) for n, (x, y) in enumerate(places)]

    def between(pairs: Iterable[tuple[int, int]]) -> list[Line]:
        return [(*places[a], *places[b]) for a, b in pairs]

    curves = [_bent(places[a], places[b]) for a, b in unknown[:_FEW]]
    lines = {
        "one_way": between(one_way) if len(drawn) == len(found) else [],
        **{f"l{level}": between(pairs) for level, _, pairs in levels},
        "wire": between(ends for ends in sorted(wires) if max(ends) < len(xs)),
        "route": [_beside(places[a], places[b], _GAP) for a, b in sorted(hops)],
    }
    ends = {n for flow in chosen for n in flows[flow][:2] if n < len(xs)}
    order = sorted(range(len(xs)), key=lambda n: (n not in gateways, n not in ends, n))
    tips = [*(_tip(line, 0.62) for line in lines["route"]), *(_tip((*c[4:], *c[2:4]), 1.0) for c in curves)]
    taken = {cell for n in nodes for cell in _cells(n.x - n.radius, n.y - n.radius, 2 * n.radius, 2 * n.radius)}
    taken |= {cell for tip in tips for x, y in tip for cell in _cells(x - 1, y - 1, 2, 2)}
    labels, leaders = _labels(nodes, order, size, [line for of in lines.values() for line in of], bottom, taken)
    keys = [("bar", _bar(wide) * scale, f"{_bar(wide):,} m")]
    keys += [(f"l{level}", 24.0, text) for level, text, _ in reversed(levels)]
    keys += [("one_way", 24.0, "decoded in one direction only")] if lines["one_way"] else []
    keys += [("wire", 24.0, "wire")] if lines["wire"] else []
    keys += [("gateway", 10.0, _behind(scenario, wires, len(xs)))] if gateways else []
    keys += [("route", 24.0, "route of 1 flow" if len(ways) == 1 else f"routes of {len(ways):,} flows")] if hops else []
    keys += [("flow", 24.0, f"{count(len(unknown), 'flow')}, whose route a protocol finds")] if unknown else []
    signs, marks, texts, below = _legend(keys, bottom + 6)
    said = _said(bool(levels), len(found), len(drawn), len(nodes) - len(labels))
    texts += [Label(_EDGE, below + _ROW * (n + 0.5), "start", text, _SIZE) for n, text in enumerate(said)]
    lines["leader"] = leaders
    return Map(
        height=below + _ROW * len(said) + 6,
        lines={look: [*lines.get(look, []), *signs.get(look, [])] for look in LOOKS},
        curves=curves,
        tips=tips,
        nodes=nodes,
        labels=labels,
        marks=marks,
        texts=texts,
    )


def _wires(scenario: Scenario) -> Iterator[tuple[int, int]]:
    """Ends of the point-to-point links."""
    numbers = {name: n for n, name in scenario.names.items()}
    for link in scenario["wired_link"]:
        ends = [numbers.get(link[end], link[end]) for end in ("src", "dst")]
        if all(isinstance(end, int) for end in ends):
            yield ends[0], ends[1]


# ---- links ----


def _qualities(scenario: Scenario) -> tuple[dict[tuple[int, int], tuple[int, float]], list[tuple[int, int]]]:
    """Rate and signal of the worse direction of each pair of nodes, and pairs with one direction only."""
    directed: dict[tuple[int, int], tuple[int, float]] = {}
    for a, b, signal_dbm, rate in scenario._core.links():
        if rate is not None:
            directed[a, b] = max((rate, signal_dbm), directed.get((a, b), (0, 0.0)))
    both = {(a, b): min(of, directed[b, a]) for (a, b), of in directed.items() if a < b and (b, a) in directed}
    return both, sorted((a, b) for a, b in directed if (b, a) not in directed)


def _chosen(
    found: Mapping[tuple[int, int], tuple[int, float]], nodes: int, on_routes: set[tuple[int, int]]
) -> dict[tuple[int, int], int]:
    """Rates of the links that are drawn: of many the best of each node, and those of routes."""
    if len(found) <= _LINKS:
        return {pair: rate for pair, (rate, _) in found.items()}
    of_node: Counter[int] = Counter()
    kept = {}
    for pair in sorted(found, key=lambda pair: (pair not in on_routes, *(-x for x in found[pair]), pair)):
        if pair in on_routes or (nodes <= _MOST and min(of_node[n] for n in pair) < _BEST):
            kept[pair] = found[pair][0]
            of_node.update(pair)
    return kept


def _leveled(found: Mapping[tuple[int, int], int]) -> Iterator[tuple[int, str, list[tuple[int, int]]]]:
    """Levels of the rates: each rate, or neighbors of many together."""
    rates = sorted(set(found.values()))
    groups = min(len(rates), LEVELS)
    for group in range(groups):
        part = rates[group * len(rates) // groups : (group + 1) * len(rates) // groups]
        level = LEVELS - 1 if groups == 1 else round(group * (LEVELS - 1) / (groups - 1))
        names = [f"{rate / 1e6:g}" for rate in (part[0], part[-1])]
        text = f"{' to '.join(dict.fromkeys(names))} Mbit/s"
        yield level, text, [pair for pair, rate in found.items() if rate in part]


# ---- lines ----


def _beside(a: tuple[float, float], b: tuple[float, float], gap: float) -> Line:
    """A line moved to the right of its direction, on the screen."""
    (x0, y0), (x1, y1) = a, b
    far = math.hypot(x1 - x0, y1 - y0) or 1.0
    dx, dy = -gap * (y1 - y0) / far, gap * (x1 - x0) / far
    return x0 + dx, y0 + dy, x1 + dx, y1 + dy


def _tip(line: Line, at: float) -> list[tuple[float, float]]:
    """Corners of an arrow at this share of a line."""
    x0, y0, x1, y1 = line
    far = math.hypot(x1 - x0, y1 - y0) or 1.0
    ux, uy = (x1 - x0) / far, (y1 - y0) / far
    x, y = x0 + at * (x1 - x0), y0 + at * (y1 - y0)
    return [(x, y), (x - 7 * ux - 3.2 * uy, y - 7 * uy + 3.2 * ux), (x - 7 * ux + 3.2 * uy, y - 7 * uy - 3.2 * ux)]


def _bent(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float, float, float, float, float]:
    """A curve: both ends, which keep a distance from the nodes, and the point that bends it."""
    far = math.hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    middle = _beside(a, b, -0.16 * far)
    bend = (middle[0] + middle[2]) / 2, (middle[1] + middle[3]) / 2

    def short(end: tuple[float, float]) -> tuple[float, float]:
        way = math.hypot(bend[0] - end[0], bend[1] - end[1]) or 1.0
        return end[0] + 6 * (bend[0] - end[0]) / way, end[1] + 6 * (bend[1] - end[1]) / way

    return (*short(a), *short(b), *bend)


# ---- names ----


def _labels(
    nodes: Sequence[Node],
    order: Sequence[int],
    size: float,
    lines: Sequence[Line],
    bottom: float,
    taken: set[tuple[int, int]],
) -> tuple[list[Label], list[Line]]:
    """Names beside their nodes, where no other name or node is and the fewest lines are; without room, left out.

    Returns:
        The names, and lines to those that are farther from their nodes. The cells of a grid are ``taken`` or free.
    """
    crossed: Counter[tuple[int, int]] = Counter()
    for x0, y0, x1, y1 in lines:
        steps = max(1, round(math.hypot(x1 - x0, y1 - y0) / _CELL))
        points = ((x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps + 1))
        crossed.update({(int(x // _CELL), int(y // _CELL)) for x, y in points})
    labels, leaders = [], []
    for node in (nodes[n] for n in order):
        near = node.radius + (5 if node.is_gateway else 3)
        for far in (near, near + 12):
            free: list[tuple[int, int, Label, set[tuple[int, int]]]] = []
            for label in _around(node, far, size):
                cells = _cells(label.left, label.y - size / 2, label.wide, size)
                is_inside = 0 <= label.left <= WIDTH - label.wide and size / 2 <= label.y <= bottom - size / 2
                if is_inside and taken.isdisjoint(cells):
                    free.append((sum(crossed[cell] for cell in cells), len(free), label, cells))
            if free:
                _, _, label, cells = min(free)
                labels.append(label)
                taken |= cells
                leaders += [(node.x, node.y, label.x, label.y)] if far > near else []
                break
    return labels, leaders


def _around(node: Node, far: float, size: float) -> Iterator[Label]:
    """Places of a name at a distance from its node, the most usual first."""
    text = node.name if len(node.name) <= _LONGEST else f"{node.name[: _LONGEST - 1]}…"
    for dx, dy in ((0.7, -0.7), (1, 0), (0.7, 0.7), (0, -1), (0, 1), (-0.7, -0.7), (-1, 0), (-0.7, 0.7)):
        anchor = "start" if dx > 0 else "end" if dx < 0 else "middle"
        yield Label(node.x + far * dx, node.y + dy * (far + (2 if dx else size / 2)), anchor, text, size)


def _cells(left: float, top: float, wide: float, high: float) -> set[tuple[int, int]]:
    """Cells that a rectangle touches."""
    columns = range(int(left // _CELL), int((left + wide) // _CELL) + 1)
    rows = range(int(top // _CELL), int((top + high) // _CELL) + 1)
    return {(x, y) for x in columns for y in rows}


# ---- legend ----


def _bar(wide: float) -> int:
    """Length of the scale: 1, 2 or 5 times a power of ten, at most a quarter of the width [m]."""
    power = 10 ** max(0, math.floor(math.log10(max(wide / 4, 1))))
    return max((m * power for m in (1, 2, 5) if m * power <= wide / 4), default=1)


def _behind(scenario: Scenario, wires: Iterable[tuple[int, int]], radios: int) -> str:
    """Names of the nodes to which the wires of the gateways lead."""
    numbers = sorted({n for ends in wires for n in ends if n >= radios})
    to = [scenario.names[n] for n in numbers if n in scenario.names]
    return f"has a wire to {' or '.join(to)}" if 0 < len(to) == len(numbers) <= 3 else "has a wire"


def _legend(
    keys: Sequence[tuple[str, float, str]], top: float
) -> tuple[dict[str, list[Line]], list[Node], list[Label], float]:
    """Lines by their look, signs of nodes and texts of the entries in rows, and where they end."""
    lines: dict[str, list[Line]] = {}
    nodes, texts = [], []
    x, y = _EDGE, top + _ROW / 2
    for kind, length, text in keys:
        label = Label(x + length + 5, y, "start", text, _SIZE)
        if x > _EDGE and label.x + label.wide > WIDTH - 10:
            x, y = _EDGE, y + _ROW
            label = label._replace(x=x + length + 5, y=y)
        if kind == "gateway":
            nodes.append(Node(x + length / 2, y, 3.5, True, text))
        else:
            lines[kind] = [(x, y, x + length, y)]
        if kind == "bar":
            lines[kind] += [(end, y - 4, end, y + 4) for end in (x, x + length)]
        texts.append(label)
        x = label.x + label.wide + 14
    return lines, nodes, texts, y + _ROW / 2


def _said(has_links: bool, links: int, drawn: int, unnamed: int) -> list[str]:
    """Sentences below the legend."""
    said = []
    if has_links:
        said.append("Links: fastest rate that the model decodes in the worse direction, without other traffic.")
    if drawn < links:
        which = f"the best {_BEST} of each node and those of routes" if drawn else "none"
        said.append(f"Of {count(links, 'link')} {which} {'are' if drawn else 'is'} drawn.")
    if unnamed:
        said.append(f"{count(unnamed, 'name')} had no room.")
    return said
