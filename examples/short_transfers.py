"""Measures completion times of short transfers as the load grows.

Files with Pareto-distributed sizes, most small and a few very large, arrive at random at a point-to-point link of
10 Mbit/s with a round-trip time of 20 ms. One run at each load carries 10,000 files; the output shows median, mean and
99th percentile of the completion times.

python examples/short_transfers.py [FOLDER]  table and figure are written to FOLDER (default: results/short_transfers)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot

LOADS = (0.2, 0.4, 0.6, 0.8)
TRANSFERS = 10_000
MEAN = 30_000
RATE = 10e6
SHOWN = {"p50_s": "median", "mean_s": "mean", "p99_s": "99th percentile"}


def scenario(load: float) -> chappe.Scenario:
    """The link with transfers that use this share of its rate."""
    per_second = load * RATE / (MEAN * 8 * 1500 / 1460)
    return chappe.Scenario(
        {
            # Long enough for all transfers to arrive and to complete.
            "run": {"stop": f"{1.2 * TRANSFERS / per_second:.0f} s", "batches": 1, "warmup_batches": 0},
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"limit": 100}},
            "wired_link": [{"src": 0, "dst": 1}],
            "tcp": {"variant": "sack", "receive_window": 64},
            "arrival_process": [
                {
                    "src": 0,
                    "dst": 1,
                    "rate": per_second,
                    "count": TRANSFERS,
                    "size": {"distribution": "pareto", "mean": f"{MEAN} B", "shape": 1.5},
                }
            ],
        }
    )


def main(folder: Path) -> None:
    """Runs every load, prints the quantiles and draws them."""
    rows = []
    for load in LOADS:
        results = chappe.run(scenario(load), seed=1)
        times = results.completions(quantiles=[0.5, 0.99]).row(0, named=True)
        last_s = (results.short_flows["started_at_s"] + results.short_flows["completion_time_s"]).max()
        used = results.wired_links["utilization"].item(0) * results.simulated_s / last_s
        rows.append({"load": load, "utilization": used, **{k: v for k, v in times.items() if k != "what"}})
    table = pl.DataFrame(rows)
    with pl.Config(tbl_cols=-1, float_precision=3):
        print(table)

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "completion.csv")
    curves = [
        plot.Curve(label, LOADS, (table[name] * 1e3).to_list(), [0.0] * len(LOADS), i)
        for i, (name, label) in enumerate(SHOWN.items())
    ]
    panel = plot.Panel(curves, "load", "completion time [ms]")
    plot.save(plot.draw([panel], title=f"{TRANSFERS:,} transfers over 10 Mbit/s"), folder, "completion")
    print(f"Written to {folder}: completion.csv, completion.pdf, completion.svg, completion.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/short_transfers"))
