"""Measures the recovery of a TCP flow over AODV when a relay fails and returns.

A TCP flow crosses four nodes in a row. At 20 s the only node between the second and the fourth is switched off, and at
40 s on again. The program drives the run second by second and records the delivered bytes.

python examples/control_a_run.py [FOLDER]   table and figure are written to FOLDER (default: results/control_a_run)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot

SECONDS = 90
RELAY = 2
DOWN, UP = 20, 40


def main(folder: Path) -> None:
    """Drives a run, prints the goodput around the outage and draws it over time."""
    changes = {"run.batches": 1, "run.warmup_batches": 0, "run.sample_interval": "1 s"}
    scenario = chappe.Scenario.chain(3, changes, stop=f"{SECONDS} s")
    rows = []
    delivered = 0
    with chappe.start(scenario, seed=1) as sim:
        for second in range(1, SECONDS):
            sim.run_until(second)
            flow = sim.results().flows.row(0, named=True)
            rows.append({"time_s": second, "goodput_bps": 8 * (flow["bytes_delivered"] - delivered)})
            delivered = flow["bytes_delivered"]
            if second == DOWN:
                sim.apply("node_down", node=RELAY)
            if second == UP:
                sim.apply("node_up", node=RELAY)
        results = sim.finish()
    table = pl.DataFrame(rows)
    before = table.filter(pl.col("time_s").is_between(2, DOWN))["goodput_bps"]
    after = table.filter((pl.col("time_s") > UP) & (pl.col("goodput_bps") > 0))["time_s"]
    mean = before.sum() / len(before)
    print(f"Mean goodput until {DOWN} s: {mean:,.0f} bit/s. Node {RELAY} was off from {DOWN} to {UP} s.")
    print(f"Deliveries resumed in the second before {after.item(0)} s: the retransmission timer had backed off.")
    lost = int(results.packet_outcomes.filter(pl.col("packet_class") == "data")["dropped_node_off"].sum())
    print(f"The failure lost {lost} data packets; the sender had {results.flows['timeouts'].item()} timeouts.")

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "goodput.csv")
    plot.save(results.plot("goodput"), folder, "goodput")
    print(f"Written to {folder}: goodput.csv, goodput.pdf, goodput.svg, goodput.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/control_a_run"))
