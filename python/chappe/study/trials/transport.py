"""Trials of TCP: congestion control, acknowledgements, windows."""

from collections.abc import Iterator

from chappe.study.trials.network import Network
from chappe.study.trials.trial import SENDER, LeftOut, Trial

_CONTROL = "sysctl -w net.ipv4.tcp_congestion_control"
_IP_SYSCTL = "ip-sysctl.rst of the kernel"
_RECEIVER = "ip-route(8), at the receiver, MSS 1460 B"


def trials(network: Network) -> Iterator[Trial | LeftOut]:
    """Changes of TCP."""
    # A scenario that sets the congestion control has a loss recovery that suits it, as `linux` has.
    if network.scenario["tcp.congestion_control"] == "variant":
        for name in ("newreno", "vegas", "westwood", "cubic"):
            command = f"{_CONTROL}={'reno' if name == 'newreno' else name}"
            yield Trial({"tcp.variant": name}, SENDER, "", command, _IP_SYSCTL)
    else:
        for name in ("reno", "cubic", "bbr"):
            yield Trial({"tcp.congestion_control": name}, SENDER, "", f"{_CONTROL}={name}", _IP_SYSCTL)
    yield Trial({"tcp.ack_policy": "delayed"}, SENDER, source="Linux delays acknowledgements by itself")
    yield Trial({"tcp.ack_policy": "thinning"}, SENDER)
    for segments in (4, 8):
        window = f"ip route change ROUTE window {1460 * segments}"
        yield Trial({"tcp.receive_window": segments}, SENDER, "", window, _RECEIVER)
    yield Trial({"tcp.small_queue": "auto"}, SENDER, source="Linux always has it")
