"""Trials of gateways: a second uplink at the far end of the longest way, or amid it."""

from collections.abc import Iterator

from chappe.study.trials.network import Network
from chappe.study.trials.trial import COMMIT_NETWORK, OPERATOR, LeftOut, Trial

_ABOUT = "a second gateway"


def trials(network: Network) -> Iterator[Trial | LeftOut]:
    """Uplinks like the first one, at other nodes."""
    if not network.uplinks:
        yield LeftOut(_ABOUT, "no flow has its end behind a gateway, a node with a wire")
        return
    gateway, wire = network.uplinks[0]
    have = {node for node, _ in network.uplinks}
    ways = [[n for n in path if n < network.radios] for path in network.paths]
    longest = max(ways, key=len, default=[])
    far = longest[-1:] if longest[:1] == [gateway] or (longest[:1] and longest[0] in have) else longest[:1]
    places = dict.fromkeys([*far, *longest[len(longest) // 2 : len(longest) // 2 + 1]])
    for node in places:
        if node not in have:
            end = "dst" if network.number(wire["dst"]) == gateway else "src"
            command, source, uci = _commands(network)
            at_end = ", an end of a flow," if node in far else ""
            yield Trial(
                {"wired_link": [*network.scenario["wired_link"], {**wire, end: node}]},
                OPERATOR,
                f"a gateway at {network.label(node)}{at_end} with an uplink like that of {network.label(gateway)}",
                command,
                source,
                uci,
            )


def _commands(network: Network) -> tuple[str, str, str]:
    """Commands by which a host announces itself as a gateway: one with its source, and one of OpenWrt."""
    batctl = "batctl gw_mode server", "batctl(8)", f"uci set network.bat0.gw_mode=server; {COMMIT_NETWORK}"
    babeld = "redistribute ip 0.0.0.0/0 le 0", "configuration of babeld, babeld(8)", ""
    olsrd = "Hna4 { 0.0.0.0 0.0.0.0 }", "configuration of olsrd, olsrd.conf(5)", ""
    protocol, metric = network.scenario["routing.protocol"], network.scenario["routing.metric"]
    for words, commands in ((("batman_adv", "tq"), batctl), (("babel",), babeld), (("olsr", "etx"), olsrd)):
        if protocol in words or (protocol == "shortest_path" and metric in words):
            return commands
    return batctl[0], f"batctl(8); babeld: `{babeld[0]}`, olsrd: `{olsrd[0]}`", batctl[2]
