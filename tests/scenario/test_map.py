"""The map of a scenario: qualities of links, routes, gateways, names without overlap, scale."""

import itertools
import math
import random
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import chappe
import numpy as np
import pytest
from chappe.page import map as page_map
from chappe.scenario.map import LOOKS, WIDTH, Label, Map, laid_out


def mesh(nodes: int, side_m: float) -> chappe.Scenario:
    """Named nodes of 802.11n at random places."""
    rng = random.Random(nodes)
    places = [[f"{rng.uniform(0, 1.3 * side_m):.0f} m", f"{rng.uniform(0, side_m):.0f} m"] for _ in range(nodes)]
    return chappe.Scenario(
        {
            "extends": "802.11n",
            "run.stop": "1 s",
            "topology": {"kind": "list", "positions": places},
            "radio": {"propagation": "log_distance", "transmit_power": "17 dBm"},
            "node": [{"nodes": n, "name": f"station-{n:03d}"} for n in range(nodes)],
            "routing.protocol": "aodv",
            "wlan.ppdu.mcs": 0,
            "flow": [{"src": 0, "dst": 1}],
        }
    )


SIGNALS = ((0, 1, -60), (1, 2, -60), (0, 2, -84), (2, 3, -70))
"""Node 2 is in reach of node 0, but better by node 1."""


def measured() -> chappe.Scenario:
    """Four nodes on a square with measured links, and a gateway, node 0, with the host 4."""
    rows = "".join(f"{a},{b},{dbm}\n{b},{a},{dbm - 2}\n" for a, b, dbm in SIGNALS)
    places = [[f"{x} m", f"{y} m"] for x, y in ((0, 0), (100, 0), (100, 100), (0, 100))]
    return chappe.Scenario(
        {
            "extends": "802.11n",
            "run.stop": "1 s",
            "topology": {"kind": "list", "positions": places, "wired_nodes": 1},
            "radio": {"propagation": "links", "links_table": f"src,dst,signal_dbm\n{rows}"},
            "wlan": {"rate_control.algorithm": "ideal", "ppdu.mcs": 0},
            "routing.protocol": "shortest_path",
            "wired_link": [{"src": 4, "dst": 0}],
            "node": [{"nodes": 4, "name": "internet"}],
            "flow": [{"src": 4, "dst": 3}, {"src": 1, "dst": 2}],
        }
    )


def map_of(scenario: chappe.Scenario, **how: Any) -> Map:
    found = laid_out(scenario, **how)
    assert found is not None
    return found


def ends(label: Label) -> tuple[float, float, float, float]:
    return label.left, label.y - label.size / 2, label.left + label.wide, label.y + label.size / 2


def overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize(("nodes", "side_m", "named"), [(25, 300, 25), (250, 1500, 150)])
def test_names_do_not_overlap(nodes: int, side_m: float, named: int) -> None:
    m = map_of(mesh(nodes, side_m))
    assert len(m.nodes) == nodes
    assert named <= len(m.labels) <= nodes
    boxes = [ends(label) for label in m.labels]
    assert not any(overlap(a, b) for a, b in itertools.combinations(boxes, 2))
    circles = [(n.x - n.radius, n.y - n.radius, n.x + n.radius, n.y + n.radius) for n in m.nodes]
    assert not any(overlap(box, circle) for box in boxes for circle in circles)
    assert all(x0 >= 0 and x1 <= WIDTH and y0 >= 0 and y1 <= m.height for x0, y0, x1, y1 in boxes)
    left_out = [label.text for label in m.texts if "had no room" in label.text]
    assert left_out == ([f"{nodes - len(m.labels)} names had no room."] if len(m.labels) < nodes else [])


def test_names_of_a_figure_do_not_overlap() -> None:
    """The letters of the figure may be wider than the map assumes."""
    figure = mesh(25, 300).plot()
    texts = [text for text in figure.axes[0].texts if text.get_text().startswith("station-")]
    boxes = [text.get_window_extent().extents for text in texts]
    assert len(boxes) == 25
    assert not any(overlap(a, b) for a, b in itertools.combinations(boxes, 2))


def test_links_have_the_rate_of_their_worse_direction() -> None:
    scenario = measured()
    rates = {(a, b): rate for a, b, rate in scenario.links.select("src", "dst", "rate_bps").iter_rows()}
    worse = [min(rates[a, b], rates[b, a]) for a, b, _ in SIGNALS]
    m = map_of(scenario)
    assert worse[0] > worse[2]
    words = [label.text for label in m.texts]
    assert [word for word in words if "Mbit/s" in word] == [
        f"{rate / 1e6:g} Mbit/s" for rate in sorted(set(worse), reverse=True)
    ]
    # One line more stands in the legend.
    drawn = {look: len(m.lines[look]) - 1 for look in ("l0", "l1", "l2", "l3", "l4") if m.lines[look]}
    assert sum(drawn.values()) == len(SIGNALS)
    assert drawn["l0"] == worse.count(min(worse))
    assert drawn["l4"] == worse.count(max(worse))


def test_a_direction_without_the_other_is_dashed() -> None:
    rows = "src,dst,signal_dbm\n0,1,-60\n1,0,-60\n1,2,-60\n"
    scenario = measured().with_settings({"radio.links_table": rows, "flow": [{"src": 0, "dst": 1}]})
    m = map_of(scenario)
    assert len(m.lines["one_way"]) == 2
    assert "decoded in one direction only" in [label.text for label in m.texts]


def test_routes_and_gateways() -> None:
    scenario = measured()
    assert scenario._core.paths() == [[4, 0, 2, 3], [1, 2]]
    by_airtime = scenario.with_settings({"routing.metric": "airtime"})
    assert by_airtime._core.paths() == [[4, 0, 1, 2, 3], [1, 2]]
    assert by_airtime.with_settings({"routing.protocol": "aodv"})._core.paths() == [None, None]
    fixed = {"routing.protocol": "fixed", "routing.fixed.routes": [{"node": 1, "dst": 2, "next_hop": 2}]}
    assert scenario.with_settings({**fixed, "flow": [{"src": 1, "dst": 2}]})._core.paths() == [[1, 2]]
    m = map_of(by_airtime)
    # Both flows share the hop from 1 to 2; the legend has a line, too.
    assert len(m.lines["route"]) == 4
    assert [node.is_gateway for node in m.nodes] == [True, False, False, False]
    words = {label.text for label in m.texts}
    assert {"has a wire to internet", "routes of 2 flows"} <= words
    one = map_of(by_airtime, only=[1])
    assert (len(one.lines["route"]), len(one.tips)) == (2, 1)
    seen = map_of(by_airtime.with_settings({"routing.protocol": "aodv"}), paths={1: [1, 0, 2]})
    # A flow from a wire has no place to begin, and no route before a run.
    assert len(seen.lines["route"]) == 3
    assert not seen.curves
    with pytest.raises(ValueError, match=r"there is no flow 2: the scenario has 2 flows, from 0 on"):
        scenario.plot(only=[2])


def test_north_is_up_and_the_scale_is_true() -> None:
    m = map_of(measured())
    low, right, high, _ = m.nodes
    assert high.y < low.y
    per_m = (right.x - low.x) / 100
    assert low.y - high.y == pytest.approx(100 * per_m)
    bar, *_ = m.lines["bar"]
    (text,) = [label.text for label in m.texts if re.fullmatch(r"[\d,]+ m", label.text)]
    assert bar[2] - bar[0] == pytest.approx(float(text.removesuffix(" m")) * per_m)


def test_of_many_links_the_best_are_drawn() -> None:
    scenario = mesh(60, 200)
    m = map_of(scenario)
    table = scenario.links.drop_nulls("rate_bps")
    links = len(table.filter(table["src"] < table["dst"]))
    drawn = sum(len(m.lines[f"l{n}"]) for n in range(5))
    assert links > 1000
    assert 60 * 4 / 2 <= drawn < 60 * 4 + 5
    assert any(text.text.startswith("Of 1,") and "the best 4 of each node" in text.text for text in m.texts)


def test_flows_of_a_protocol_are_curves() -> None:
    m = map_of(mesh(25, 300))
    assert len(m.curves) == 1
    svg = page_map.drawn(mesh(25, 300))
    assert svg.count("<circle") == 25
    assert "1 flow, whose route a protocol finds" in svg
    assert 'style="' not in svg, "the page forbids styles of its own"


# Linear RGB of protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009).
BLIND = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def lab(color: str, sight: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of a color as it is seen."""
    srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(
        sight @ linear, 0, 1
    )
    f = np.cbrt(np.maximum(xyz / np.array([0.9505, 1.0, 1.089]), 216 / 24389))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


CSS = resources.files("chappe.page").joinpath("page.css").read_text(encoding="utf-8")
LIGHT, DARK = (dict(re.findall(r"--(l\d): (#\w{6});", part)) for part in CSS.split("@media", 2)[:2])
"""Colors of the levels in light and in dark pages."""


def test_maps_and_players_have_the_same_colors() -> None:
    assert {name: LOOKS[name].color for name in ("l0", "l1", "l2", "l3", "l4")} == LIGHT


@pytest.mark.parametrize("sight", list(BLIND))
@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_levels_differ_for_all_kinds_of_color_vision(sight: str, colors: dict[str, str]) -> None:
    """Neighbors differ by 10 in L*a*b*, where 2.3 is just noticeable, and lightness grows or falls with the level."""
    seen = [lab(colors[f"l{n}"], BLIND[sight]) for n in range(5)]
    assert all(math.dist(a, b) > 10 for a, b in itertools.combinations(seen, 2))
    steps = np.diff([color[0] for color in seen])
    assert (steps > 0).all() or (steps < 0).all()
