"""Trials of queues: those of interfaces, and those of Linux's Wi-Fi with their limits on airtime (AQL)."""

from collections.abc import Iterator

from chappe.study.trials.network import Network
from chappe.study.trials.trial import OPERATOR, VENDOR, LeftOut, Trial

_DEBUGFS, _DEBUGFS_C = "/sys/kernel/debug/ieee80211/phy0", "net/mac80211/debugfs.c of the kernel"
_ABOVE_MAC = "no packet waits there above the queues of mac80211"


def trials(network: Network) -> Iterator[Trial | LeftOut]:
    """Changes of queues."""
    if network.scenario["wlan.queues"] == "mac80211":
        # Those of wires are not the command's.
        yield LeftOut("queue", "queues of mac80211 leave no queue of the radio to `tc`")
    else:
        shorter = ("tc qdisc replace dev wlan0 root pfifo limit 10", f"tc-pfifo(8); {_ABOVE_MAC}")
        fair = ("tc qdisc replace dev wlan0 root fq_codel", f"tc-fq_codel(8); {_ABOVE_MAC}")
        yield Trial({"queue.limit": 10}, OPERATOR, "", *shorter)
        yield Trial({"queue.discipline": "fq_codel"}, OPERATOR, "", *fair)
    queues = {"wlan.queues": "mac80211"}
    yield Trial(queues, VENDOR, source="all drivers of mac80211 have these queues since Linux 6.2")
    yield Trial(
        {**queues, "wlan.mac80211.limit_low": "1500 us", "wlan.mac80211.limit_high": "5 ms"},
        OPERATOR,
        "",
        f"for ac in 0 1 2 3; do echo $ac 1500 5000 > {_DEBUGFS}/aql_txq_limit; done",
        _DEBUGFS_C,
    )
    unfair = {**queues, "wlan.mac80211.airtime_fairness": False}
    yield Trial(unfair, OPERATOR, "", f"echo 0 > {_DEBUGFS}/airtime_flags", _DEBUGFS_C)
