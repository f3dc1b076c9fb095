"""Measures the gain of Snoop when the last hop is 802.11 with retries.

The gain is small: the MAC repairs losses before TCP can detect them, until so many frames are lost that the MAC gives
packets up. If losses occur above the MAC, as on the lossy link of many studies, Snoop raises goodput several times.

python examples/snoop_last_hop.py [FOLDER]      table and figure are written to FOLDER (default: results/snoop_last_hop)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot, study
from chappe.stats import Estimate, ratio

RATES = (0.0, 0.02, 0.1, 0.2, 0.3, 0.5)
HOPS: dict[str, dict[str, object]] = {
    "802.11": {},
    "802.11, losses above the MAC": {"wlan.error.layer": "net"},
    "lossy wire": {
        "topology": {"kind": "none", "wired_nodes": 3},
        "wired_link": [
            {"src": 2, "dst": 0, "rate": "10 Mbit/s", "delay": "40 ms"},
            {"src": 0, "dst": 1, "rate": "2 Mbit/s", "delay": "1 ms", "back": {"error": {"model": "none"}}},
        ],
    },
}
SEEDS = range(1, 4)


def losses(hop: str, rate: float) -> dict[str, object]:
    """Settings with which the last hop loses this share of its frames."""
    if hop == "lossy wire":
        return {"wired_link.1.error": {"model": "uniform", "rate": rate}}
    return {"wlan.error.rate": rate}


def goodput(runs: pl.DataFrame) -> Estimate:
    """Goodput over independent runs [kbit/s]."""
    return Estimate.of((runs["goodput_bps"] / 1e3).to_list())


def main(folder: Path) -> None:
    """Runs each last hop with and without Snoop, prints the gain and draws the goodput."""
    base = chappe.Scenario.load("scenarios/last-hop.toml")
    boxes = {"TCP alone": [], "Snoop": [{"kind": "snoop", "node": 0}]}
    points = {
        (hop, rate, box): base.with_settings({**settings, **losses(hop, rate), "middlebox": boxes[box]})
        for hop, settings in HOPS.items()
        for rate in RATES
        for box in boxes
    }
    found = {point: goodput(runs) for point, runs in study.measure(points, list(SEEDS)).items()}
    rows = [
        {
            "last_hop": hop,
            "loss_rate": rate,
            "tcp_kbps": found[hop, rate, "TCP alone"].mean,
            "snoop_kbps": found[hop, rate, "Snoop"].mean,
            "gain": ratio(found[hop, rate, "Snoop"], found[hop, rate, "TCP alone"]).mean,
        }
        for hop in HOPS
        for rate in RATES
    ]
    table = pl.DataFrame(rows)
    with pl.Config(tbl_rows=-1, float_precision=2):
        print(table)

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "goodput.csv")
    curves = [
        plot.Curve(f"{hop}: {box}", RATES, [e.mean for e in estimates], [e.half_width() for e in estimates], group)
        for group, hop in enumerate(HOPS)
        for box in boxes
        for estimates in [[found[hop, rate, box] for rate in RATES]]
    ]
    figure = plot.lines(
        curves, x_label="share of frames lost", y_label="goodput [kbit/s]", title="Snoop at the base station"
    )
    plot.save(figure, folder, "goodput")
    print(f"Written to {folder}: goodput.csv, goodput.pdf, goodput.svg, goodput.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/snoop_last_hop"))
