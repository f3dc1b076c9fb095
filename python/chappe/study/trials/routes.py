"""Trials of routes: metrics, and links or nodes that are not used."""

from collections.abc import Iterator

from chappe.study.trials.network import Network
from chappe.study.trials.trial import COMMIT, COMMIT_NETWORK, OPERATOR, LeftOut, Trial

_METRICS = {
    "hops": ("", "olsrd.conf: `LinkQualityLevel 0`", ""),
    "etx": ("", 'olsrd.conf: `LinkQualityAlgorithm "etx_ff"`', ""),
    "ett": ("", "no daemon of OpenWrt has it; OLSRv2 of OONF is near", ""),
    "airtime": ("", "802.11s of the standard, not of Linux", ""),
    "linux_airtime": ("iw dev wlan0 interface add mesh0 type mp mesh_id ID", "`iw help`: 802.11s of Linux", ""),
    "babel": ("babeld mesh0", "babeld(8), type wireless", "opkg install babeld"),
    "tq": (
        "batctl routing_algo BATMAN_IV",
        "batctl(8)",
        f"uci set network.bat0.routing_algo=BATMAN_IV; {COMMIT_NETWORK}",
    ),
}
"""Command, source and command of OpenWrt by metric."""

_UNDECODABLE = -95.0
"""Signal of a link that is not used, which is still in the air: no frame of 20 MHz is decoded [dBm]."""


def trials(network: Network) -> Iterator[Trial | LeftOut]:
    """Changes of routes."""
    scenario = network.scenario
    if scenario["routing.protocol"] == "shortest_path":
        for metric, (command, source, uci) in _METRICS.items():
            if metric != scenario["routing.metric"]:
                yield Trial({"routing.metric": metric}, OPERATOR, "", command, source, uci)
    else:
        protocol = scenario["routing.protocol"]
        yield LeftOut("routing.metric", f"it belongs to `shortest_path`, and `routing.protocol` is `{protocol}`")
    yield from _links(network)
    yield from _nodes(network)


def _links(network: Network) -> Iterator[Trial | LeftOut]:
    """The weakest hop is not used."""
    if (hop := network.weakest) is None:
        return
    if not network.is_measured:
        yield LeftOut("a link not used", "places decide which links there are: only a table of links can lack one")
        return
    a, b = hop
    signals = {(src, dst): dbm for src, dst, dbm, _ in network.scenario._core.links()}
    weaker = _UNDECODABLE - max(signals.get(pair, _UNDECODABLE) for pair in ((a, b), (b, a)))
    yield Trial(
        network.with_signals(weaker, [(a, b), (b, a)]),
        OPERATOR,
        f"the link between {network.label(a)} and {network.label(b)} not used",
        "iw dev mesh0 station set MAC plink_action block",
        "`iw help`, 802.11s; olsrd.conf: `LinkQualityMult`",
    )


def _nodes(network: Network) -> Iterator[Trial | LeftOut]:
    """The busiest relay is off: it is alone on a channel."""
    gateways = {node for node, _ in network.uplinks}
    if not (relays := [node for node in network.relays if node not in gateways]):
        yield LeftOut("a node switched off", "all nodes on ways of flows are their ends or gateways")
        return
    alone = {"nodes": str(relays[0]), "radio": {"channels": [max(network.scenario["radio.channels"]) + 90]}}
    yield Trial(
        network.with_nodes(alone),
        OPERATOR,
        f"{network.label(relays[0])} switched off",
        "ip link set wlan0 down",
        "ip-link(8)",
        f"uci set wireless.radio0.disabled=1; {COMMIT}",
    )
