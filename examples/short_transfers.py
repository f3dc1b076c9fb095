"""Measures completion times of short transfers as the load grows.

Files with Pareto-distributed sizes, most small and a few very large, arrive at random at a point-to-point link of
10 Mbit/s with a round-trip time of 20 ms. One run at each load carries 10,000 files; the output shows median, mean and
99th percentile of the completion times.

python examples/short_transfers.py [FOLDER]  table and figure are written to FOLDER (default: results/short_transfers)
"""

import sys
from pathlib import Path
from typing import Any

import chappe
import polars as pl
from chappe import plot

LOADS = (20, 40, 60, 80)
TRANSFERS = 10_000
MEAN = 30_000
RATE = 10e6
TIMES = {
    "median_s": "quantile(short_flows.completion_time_s, 0.5)",
    "mean_s": "mean(short_flows.completion_time_s)",
    "p99_s": "quantile(short_flows.completion_time_s, 0.99)",
}
LINK = {
    "run": {"stop": "1 h", "batches": 1, "warmup_batches": 0},
    "topology": {"kind": "none", "wired_nodes": 2},
    "wired": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"limit": 100}},
    "wired_link": [{"src": 0, "dst": 1}],
    "tcp": {"variant": "sack", "receive_window": 64},
}


def arrivals(load: int) -> dict[str, Any]:
    """Changes with which transfers use this share of the rate [%], and the run lasts until all have completed."""
    per_second = load / 100 * RATE / (MEAN * 8 * 1500 / 1460)
    size = {"distribution": "pareto", "mean": f"{MEAN} B", "shape": 1.5}
    process = {"src": 0, "dst": 1, "rate": per_second, "count": TRANSFERS, "size": size}
    return {"arrival_process": [process], "run.stop": f"{1.2 * TRANSFERS / per_second:.0f} s"}


def main(folder: Path) -> None:
    """Runs every load, prints the completion times and draws them."""
    study = chappe.sweep(LINK, cases={f"{load} %": arrivals(load) for load in LOADS}, measures=TIMES)
    completed = pl.col("completion_time_s").count().alias("completed")
    counts = study.table("short_flows").group_by("case", maintain_order=True).agg(pl.len().alias("began"), completed)
    times = study.summary(list(TIMES)).pivot("measure", index="case", values="estimate")
    table = counts.join(times, on="case", maintain_order="left")
    print(table)

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "completion.csv")
    plot.save(study.plot("case", list(TIMES)), folder, "completion")
    print(f"Written to {folder}: completion.csv, completion.pdf, completion.svg, completion.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/short_transfers"))
