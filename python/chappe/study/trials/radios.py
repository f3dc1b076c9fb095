"""Trials of radios: channels, power, antennas, nodes that are moved."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from chappe.errors import ScenarioError
from chappe.scenario.scenario import Scenario
from chappe.study.trials.network import Network
from chappe.study.trials.trial import COMMIT, OPERATOR, OWNER, LeftOut, Trial

_BUSY = 2
"""Busiest hops that get a channel of their own, each in a trial."""

_RATES = (1, 2, 3, 4, 6, 8, 9, 10)
"""Rates of MCS 0 to 7, relative to that of MCS 0."""

_TX_POWER = ("iw dev wlan0 set txpower fixed MILLI_BEL_MILLIWATTS", "`iw help`")
_UCI_POWER = f"uci set wireless.radio0.txpower=DBM; {COMMIT}"


def trials(network: Network) -> Iterator[Trial | LeftOut]:
    """Changes of radios."""
    yield from _channels(network)
    yield from _powers(network)
    yield from _places(network)


def _channels(network: Network) -> Iterator[Trial | LeftOut]:
    """A second radio at both ends of a busy hop, on a channel of its own."""
    nodes = network.scenario["node"]
    if any(node["radio"].get("channels") for node in nodes) or len(network.scenario["radio.channels"]) > 1:
        yield LeftOut("a channel for a hop", "nodes have radios on several channels already: `--change` can move them")
        return
    (channel,) = network.scenario["radio.channels"]
    if len(network.hops) < 2:
        yield LeftOut("a channel for a hop", "flows have fewer than two hops over the air, which could share a channel")
        return
    for a, b in network.hops[:_BUSY]:
        ends = {"nodes": f"{a}, {b}", "radio": {"channels": [channel + 5, channel]}}
        yield Trial(
            network.with_nodes(ends),
            OWNER,
            f"a second radio and channel between {network.label(a)} and {network.label(b)}",
            "iw dev wlan1 set channel CHANNEL",
            "`iw help`; both nodes need a second radio",
            f"uci set wireless.radio1.channel=CHANNEL; {COMMIT}",
        )


def _powers(network: Network) -> Iterator[Trial | LeftOut]:
    """More power at the ends of the weakest hop, less power everywhere."""
    if (hop := network.weakest) is None:
        yield LeftOut("power", "no flow has a hop over the air")
        return
    labels = " and ".join(network.label(n) for n in hop)
    everywhere = [(a, b) for a, b, _, _ in network.scenario._core.links()]
    if network.is_measured:
        more = network.with_signals(3, [pair for pair in everywhere if pair[0] in hop])
        less = network.with_signals(-3, everywhere)
    else:
        power = network.scenario["radio.transmit_power"]
        milliwatts = 10 ** (float(power.split()[0]) / 10) if power.endswith("dBm") else _milliwatts(power)
        entry = {"nodes": f"{hop[0]}, {hop[1]}", "radio": {"transmit_power": f"{2 * milliwatts:g} mW"}}
        more, less = network.with_nodes(entry), {"radio.transmit_power": f"{milliwatts / 2:g} mW"}
    yield Trial(_faster(network, more), OWNER, f"3 dB more power at {labels}", *_TX_POWER, _UCI_POWER)
    yield Trial(_faster(network, less), OPERATOR, "3 dB less power at all nodes", *_TX_POWER, _UCI_POWER)


def _milliwatts(power: str) -> float:
    number, unit = power.split()
    return float(number) * {"W": 1e3, "mW": 1.0, "uW": 1e-3, "nW": 1e-6, "pW": 1e-9}[unit]


def _places(network: Network) -> Iterator[Trial | LeftOut]:
    """A better antenna where signals are measured, or a node that is moved; both for the weakest hop."""
    hop, scenario = network.weakest, network.scenario
    if hop is None:
        return
    a, b = hop
    if network.is_measured:
        yield LeftOut("moving a node", "measured signals hold for the places where they were measured")
        better = _faster(network, network.with_signals(6, [(a, b), (b, a)]))
        yield Trial(better, OWNER, f"antennas with 6 dB more between {network.label(a)} and {network.label(b)}")
        return
    if scenario["topology.kind"] != "list":
        yield LeftOut("moving a node", "nodes have no places of their own: `topology.kind` is not `list` or `file`")
        return
    xs, ys = scenario._core.places()
    ends = {end for flow in network.flows for end in flow} | {node for node, _ in network.uplinks}
    moved, fixed = (a, b) if a not in ends else (b, a)
    x, y = (of[moved] + 0.25 * (of[fixed] - of[moved]) for of in (xs, ys))
    places = [[f"{x_m} m", f"{y_m} m"] for x_m, y_m in zip(xs, ys, strict=True)]
    places[moved] = [f"{x:.1f} m", f"{y:.1f} m"]
    how = f"{network.label(moved)} moved a quarter of the way towards {network.label(fixed)}"
    yield Trial({"topology.positions": places}, OWNER, how)


def _faster(network: Network, change: Mapping[str, Any]) -> dict[str, Any]:
    """A change of signals, with the MCS of `wlan.link_rate` moved as far as the fastest one that is decoded."""
    scenario = network.scenario
    rates, (data_bps, mcs) = scenario["wlan.link_rate"], scenario._core.data_rate()
    if not rates or mcs is None:
        return dict(change)
    try:
        changed = scenario.with_settings(dict(change))
    except ScenarioError:
        return dict(change)
    first_bps = data_bps / _RATES[mcs[0]] / mcs[1]
    before, after = _fastest(scenario, first_bps), _fastest(changed, first_bps)
    entries = []
    for entry in rates:
        pair = network.number(entry["src"]), network.number(entry["dst"])
        step = after.get(pair, 0) - before.get(pair, 0)
        is_mcs = isinstance(entry.get("mcs"), int)
        entries.append({**entry, "mcs": max(0, min(7, entry["mcs"] + step))} if is_mcs else entry)
    return {**change, "wlan.link_rate": entries}


def _fastest(scenario: Scenario, first_bps: float) -> dict[tuple[int, int], int]:
    """The fastest MCS of one stream of each link."""
    return {
        (a, b): bisect_right(_RATES, rate / first_bps + 0.01) - 1
        for a, b, _, rate in scenario._core.links()
        if rate is not None
    }
