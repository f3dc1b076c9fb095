"""Rate control over MCS: each algorithm against the best fixed MCS at a signal-to-noise ratio."""

import math
from typing import Any

import chappe
import pytest

NOISE_DBM = 10 * math.log10(1.380649e-23 * 290 * 20e6) + 30 + 7
"""In a channel of 20 MHz, with a noise figure of 7 dB."""


def goodput(snr_db: float, wlan: dict[str, Any]) -> float:
    """Goodput of a saturated link at a ratio of signal to noise [Mbit/s]."""
    links = "".join(f"{a},{b},{NOISE_DBM + snr_db:.3f}\n" for a, b in ((0, 1), (1, 0)))
    run = chappe.run(
        {
            "extends": "802.11n",
            "run": {"stop": "6 s", "batches": 1, "warmup_batches": 0},
            "radio": {"propagation": "links", "links_table": f"src,dst,signal_dbm\n{links}"},
            "topology": {"kind": "list", "positions": [["0 m", "0 m"], ["1 m", "0 m"]]},
            "routing.protocol": "shortest_path",
            "wlan.block_ack.agreement": "established",
            "flow": [{"dst": 1, "app": "cbr"}],
            "cbr": {"interval": "180 us", "payload": "1472 B"},
            **{f"wlan.{name}": value for name, value in wlan.items()},
        }
    )
    return float(run.flows["goodput_bps"].item()) / 1e6


@pytest.mark.parametrize(("snr_db", "mcs"), [(8, 1), (20, 4)])
def test_algorithms_find_the_best_mcs(snr_db: float, mcs: int) -> None:
    """NIST's bound: 10 % of the MPDUs of MCS 1, 2, 4 and 5 are lost at 7.0, 9.9, 16.6 and 21.4 dB."""
    slower, best = (goodput(snr_db, {"ppdu.mcs": m}) for m in (mcs - 1, mcs))
    assert slower < 0.8 * best
    with pytest.raises(chappe.ScenarioError, match="cannot be reached"):
        goodput(snr_db, {"ppdu.mcs": mcs + 1})
    chosen = {
        algorithm: goodput(snr_db, {"ppdu.mcs": 0, "rate_control.algorithm": algorithm}) / best
        for algorithm in ("arf", "aarf", "minstrel_ht", "minstrel_ht_ns3", "ideal")
    }
    # ARF tries the next rate after every ten successes, AARF ever more rarely, Minstrel-HT with one MPDU every 20 ms,
    # that of ns-3 with every twentieth to seventieth aggregate, ideal rate control never.
    assert 0.8 < chosen["arf"] < chosen["aarf"]
    assert chosen["aarf"] > 0.93
    assert chosen["minstrel_ht"] > 0.9
    assert chosen["minstrel_ht_ns3"] > 0.9
    assert chosen["ideal"] == pytest.approx(1, abs=0.01)
