"""Compares queues of a slow access link: the delay of a call and the goodput of file transfers.

Four bulk transfers and one thin flow (a datagram of 200 B every 20 ms, like a telephone call) share 10 Mbit/s. A long
drop-tail queue fills, and the call waits behind it; CoDel keeps the delay near its target of 5 ms; FQ-CoDel gives the
call its own queue. With ECN the transfers slow down without losses.

python examples/access_queue.py [FOLDER]    table and figure are written to FOLDER (default: results/access_queue)
"""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import chappe
import polars as pl
from chappe import plot, study
from chappe.stats import Estimate

SCENARIO = """
extends = "standard"
run = { stop = "60 s", batches = 6 }
topology.kind = "none"
topology.wired_nodes = 4
wired = { rate = "100 Mbit/s", delay = "10 ms" }
tcp = { variant = "sack", receive_window = 500 }
cbr = { payload = "200 B", interval = "20 ms" }
wired_link = [
    { src = 0, dst = 1 },
    { src = 1, dst = 2, rate = "10 Mbit/s", queue = { limit = 1000 } },
    { src = 2, dst = 3 },
]
flow = [
    { src = 0, dst = 3, app = "cbr" },
    { src = 0, dst = 3, start = "100 ms" },
    { src = 0, dst = 3, start = "200 ms" },
    { src = 0, dst = 3, start = "300 ms" },
    { src = 0, dst = 3, start = "400 ms" },
]
"""
QUEUES = ("droptail", "red", "codel", "fq_codel")
SEEDS = range(1, 6)


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Delay of the call, goodput and losses of the transfers."""
    flows, outcomes = tables["flows"], tables["packet_outcomes"]
    return {
        "call_ms": float(flows["mean_delay_s"][0]) * 1e3,
        "goodput_mbps": float(flows["goodput_bps"][1:].sum()) / 1e6,
        "lost_packets": float(outcomes.select(pl.sum_horizontal("dropped_queue_full", "dropped_aqm").sum()).item()),
    }


def main(folder: Path) -> None:
    """Runs each queue with and without ECN, prints the results and draws the delay."""
    base = chappe.Scenario(tomllib.loads(SCENARIO))
    points = {
        (queue, ecn): base.with_settings({"wired_link.1.queue.discipline": queue, "tcp.ecn.enabled": ecn})
        for queue in QUEUES
        for ecn in (False, True)
    }
    runs = study.measure(points, SEEDS, also=of_run)
    names = ("call_ms", "goodput_mbps", "lost_packets")
    found = {point: {name: Estimate.of(own[name].to_list()) for name in names} for point, own in runs.items()}
    table = pl.DataFrame(
        [
            {"queue": queue, "ecn": ecn} | {name: e.mean for name, e in measures.items()}
            for (queue, ecn), measures in found.items()
        ]
    )
    with pl.Config(tbl_rows=-1, float_precision=2):
        print(table)

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "queues.csv")
    curves = [
        plot.Curve(
            "with ECN" if ecn else "without ECN",
            range(len(QUEUES)),
            [found[queue, ecn]["call_ms"].mean for queue in QUEUES],
            [found[queue, ecn]["call_ms"].half_width() for queue in QUEUES],
            int(ecn),
        )
        for ecn in (False, True)
    ]
    panel = plot.Panel(curves, "queue of the access link", "mean delay of the call [ms]", names=QUEUES)
    plot.save(plot.draw([panel], title="A call with four transfers over 10 Mbit/s"), folder, "delay")
    print(f"Written to {folder}: queues.csv, delay.pdf, delay.svg, delay.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/access_queue"))
