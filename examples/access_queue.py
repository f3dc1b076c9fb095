"""Compares queues of a slow access link: the delay of a call and the goodput of file transfers.

Four bulk transfers and one thin flow (a datagram of 200 B every 20 ms, like a telephone call) share 10 Mbit/s. A long
drop-tail queue fills, and the call waits behind it; CoDel keeps the delay near its target of 5 ms; FQ-CoDel gives the
call its own queue. With ECN the transfers slow down without losses.

python examples/access_queue.py [FOLDER]    table and figure are written to FOLDER (default: results/access_queue)
"""

import sys
import tomllib
from pathlib import Path

import chappe
import polars as pl
from chappe import plot

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
LOST = "lost = sum(packet_outcomes.dropped_queue_full) + sum(packet_outcomes.dropped_aqm)"
MEASURES = ("mean_delay_s of udp", "goodput_bps of tcp", LOST)


def main(folder: Path) -> None:
    """Runs each queue with and without ECN, prints the delay of the call, goodput and losses, and draws the delay."""
    axes = {"wired_link.1.queue.discipline": QUEUES, "tcp.ecn.enabled": [False, True]}
    study = chappe.sweep(tomllib.loads(SCENARIO), axes, seeds=5)
    table = study.summary(MEASURES)
    with pl.Config(tbl_rows=-1, tbl_cols=-1):
        print(table.select(*study.axes, "measure", "estimate", "ci_low", "ci_high"))

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "queues.csv")
    figure = study.plot("wired_link.1.queue.discipline", "mean_delay_s of udp", by="tcp.ecn.enabled")
    plot.save(figure, folder, "delay")
    print(f"Written to {folder}: queues.csv, delay.pdf, delay.svg, delay.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/access_queue"))
