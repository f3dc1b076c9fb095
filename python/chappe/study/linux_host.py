"""Changes that advice tries unless others are given, and the commands that make them on a Linux host."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Trial(NamedTuple):
    """A change, and how a Linux host is told.

    Attributes:
        change: Settings that differ.
        command: Command for a host; empty: Linux has no switch.
        source: What documents the command, or why there is none.
        uci: Command for a host with OpenWrt, where it has one of its own.
    """

    change: dict[str, Any]
    command: str
    source: str
    uci: str = ""

    @property
    def said(self) -> str:
        """The commands with their sources."""
        command = f"`{self.command}`" if self.command else "no switch"
        more = "; ".join([*([self.source] if self.source else []), *([f"OpenWrt: `{self.uci}`"] if self.uci else [])])
        return f"{command} ({more})" if more else command


_CONTROL = "sysctl -w net.ipv4.tcp_congestion_control"
_IP_SYSCTL, _IP_ROUTE, _IW = "ip-sysctl.rst of the kernel", "ip-route(8)", "`iw help`"
_DEBUGFS, _DEBUGFS_C = "/sys/kernel/debug/ieee80211/phy0", "net/mac80211/debugfs.c of the kernel"
_ABOVE_MAC = "no packet waits there above the queues of mac80211"
_RTS, _COMMIT = "wireless.radio0.rts", "uci commit wireless; wifi"

LOWEST_RATE = {"wlan.basic_rate": "24 Mbit/s"}
"""A rate of OFDM: it is tried where access is by EDCA."""

TRIALS = (
    Trial({"tcp.variant": "newreno"}, f"{_CONTROL}=reno", _IP_SYSCTL),
    *(Trial({"tcp.variant": name}, f"{_CONTROL}={name}", _IP_SYSCTL) for name in ("vegas", "westwood", "cubic")),
    Trial({"tcp.ack_policy": "delayed"}, "", "Linux delays acknowledgements by itself"),
    Trial({"tcp.ack_policy": "thinning"}, "", ""),
    Trial({"tcp.receive_window": 4}, "ip route change ROUTE window 5840", f"{_IP_ROUTE}, at the receiver, MSS 1460 B"),
    Trial({"tcp.receive_window": 8}, "ip route change ROUTE window 11680", f"{_IP_ROUTE}, at the receiver, MSS 1460 B"),
    Trial({"tcp.small_queue": "auto"}, "", "Linux always has it"),
    Trial({"queue.limit": 10}, "tc qdisc replace dev wlan0 root pfifo limit 10", f"tc-pfifo(8); {_ABOVE_MAC}"),
    Trial(
        {"queue.discipline": "fq_codel"}, "tc qdisc replace dev wlan0 root fq_codel", f"tc-fq_codel(8); {_ABOVE_MAC}"
    ),
    Trial({"wlan.rts_threshold": "always"}, "iw phy phy0 set rts 0", _IW, f"uci set {_RTS}=0; {_COMMIT}"),
    Trial({"wlan.rts_threshold": "never"}, "iw phy phy0 set rts off", _IW, f"uci delete {_RTS}; {_COMMIT}"),
    Trial({"wlan.aggregation.max_mpdus": 8}, "", ""),
    Trial({"wlan.aggregation.max_airtime": "2 ms"}, "", ""),
    Trial({"wlan.queues": "mac80211"}, "", "all drivers of mac80211 have these queues since Linux 6.2"),
    Trial(
        {"wlan.queues": "mac80211", "wlan.mac80211.limit_low": "1500 us", "wlan.mac80211.limit_high": "5 ms"},
        f"for ac in 0 1 2 3; do echo $ac 1500 5000 > {_DEBUGFS}/aql_txq_limit; done",
        _DEBUGFS_C,
    ),
    Trial(
        {"wlan.queues": "mac80211", "wlan.mac80211.airtime_fairness": False},
        f"echo 0 > {_DEBUGFS}/airtime_flags",
        _DEBUGFS_C,
    ),
    Trial(
        LOWEST_RATE,
        "iw dev wlan0 set mcast_rate 24",
        f"{_IW}, mesh points and ad hoc; at an access point `basic_rates` of hostapd.conf",
        f"uci set wireless.default_radio0.mcast_rate=24000; {_COMMIT}",
    ),
)
"""Changes of TCP, queues and the MAC."""


def named(change: Mapping[str, Any]) -> str:
    """Name of a change: its settings."""
    return ", ".join(
        f"{name} = {str(value).lower() if isinstance(value, bool) else value}" for name, value in change.items()
    )


ON_LINUX = {named(trial.change): trial.said for trial in TRIALS}
"""Commands with their sources, by the name of the change."""
