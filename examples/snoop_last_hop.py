"""Measures the gain of Snoop when the last hop is 802.11 with retries.

The gain is small: the MAC repairs losses before TCP can detect them, until so many frames are lost that the MAC gives
packets up. If losses occur above the MAC, as on the lossy link of many studies, Snoop raises goodput several times.

python examples/snoop_last_hop.py [FOLDER]      table and figure are written to FOLDER (default: results/snoop_last_hop)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot

RATES = (0.0, 0.02, 0.1, 0.2, 0.3, 0.5)
BOXES: dict[str, dict[str, object]] = {
    "TCP alone": {"middlebox": []},
    "Snoop": {"middlebox": [{"kind": "snoop", "node": 0}]},
}
WIRE = {
    "topology": {"kind": "none", "wired_nodes": 3},
    "wired_link": [
        {"src": 2, "dst": 0, "rate": "10 Mbit/s", "delay": "40 ms"},
        {
            "src": 0,
            "dst": 1,
            "rate": "2 Mbit/s",
            "delay": "1 ms",
            "error": {"model": "uniform"},
            "back": {"error": {"model": "none"}},
        },
    ],
}


def main(folder: Path) -> None:
    """Runs each last hop with and without Snoop, prints the gain and draws the goodput."""
    base = chappe.Scenario.load("scenarios/last-hop.toml")
    radio = chappe.sweep(base, {"wlan.error.layer": ["phy", "net"], "wlan.error.rate": RATES}, cases=BOXES, seeds=3)
    over_wire = chappe.sweep(base.with_settings(WIRE), {"wired_link.1.error.rate": RATES}, cases=BOXES, seeds=3)

    folder.mkdir(parents=True, exist_ok=True)
    for name, study in (("radio", radio), ("wire", over_wire)):
        gains = study.compare("goodput_bps", "case", baseline="TCP alone")
        gains.write_csv(folder / f"{name}.csv")
        with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=2):
            axes = [axis for axis in study.axes if axis != "case"]
            print(gains.select(*axes, "estimate_a", "estimate_b", "relative", "significant"))
    plot.save(radio.plot("wlan.error.rate", by="case", across="wlan.error.layer"), folder, "radio")
    plot.save(over_wire.plot("wired_link.1.error.rate", by="case"), folder, "wire")
    print(f"Written to {folder}: radio and wire as csv, pdf, svg and png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/snoop_last_hop"))
