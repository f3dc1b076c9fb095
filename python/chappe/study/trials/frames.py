"""Trials of frames: RTS, sizes of aggregates, the lowest rate."""

from collections.abc import Iterator

from chappe.stories.story import has_aggregates
from chappe.study.trials.network import Network
from chappe.study.trials.trial import COMMIT, OPERATOR, VENDOR, LeftOut, Trial

_IW, _RTS = "`iw help`", "wireless.radio0.rts"


def trials(network: Network) -> Iterator[Trial | LeftOut]:
    """Changes of the MAC."""
    rts = {"always": ("0", f"uci set {_RTS}=0; {COMMIT}"), "never": ("off", f"uci delete {_RTS}; {COMMIT}")}
    for word, (threshold, uci) in rts.items():
        yield Trial({"wlan.rts_threshold": word}, OPERATOR, "", f"iw phy phy0 set rts {threshold}", _IW, uci)
    yield Trial({"wlan.aggregation.max_mpdus": 8}, VENDOR)
    yield Trial({"wlan.aggregation.max_airtime": "2 ms"}, VENDOR)
    # Without `wlan.response_rates` the basic rate is also that of responses, which no command changes.
    if not (has_aggregates(network.scenario) and network.scenario["wlan.response_rates"]):
        yield LeftOut(
            "wlan.basic_rate", "without `wlan.response_rates` it is the rate of ACKs, too, which no command sets"
        )
        return
    for mbps in (12, 24):
        yield Trial(
            {"wlan.basic_rate": f"{mbps} Mbit/s"},
            OPERATOR,
            "",
            f"iw dev wlan0 set mcast_rate {mbps}",
            f"{_IW}, mesh points and ad hoc; at an access point `basic_rates` of hostapd.conf",
            f"uci set wireless.default_radio0.mcast_rate={1000 * mbps}; {COMMIT}",
        )
