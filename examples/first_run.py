"""Runs a chain once and shows the goodput of the flow, the packet losses and the congestion window.

python examples/first_run.py [FOLDER]      tables and figure are written to FOLDER (default: results/first_run)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot


def main(folder: Path) -> None:
    """Runs a 7-hop chain with TCP NewReno, prints a few tables and saves all of them."""
    scenario = chappe.Scenario.chain(
        7,
        {"tcp.variant": "newreno", "tcp.receive_window": 64, "run.sample_interval": "1 s"},
        stop="11000 delivered",
        extends="ns2-2.35",
    )
    results = chappe.run(scenario, seed=1)

    print(results)
    print(results.summary())
    with pl.Config(tbl_rows=-1, tbl_cols=-1):
        print(
            results.nodes.select(
                "node", "rts_frames_sent", "rts_frames_failed", "mac_data_given_up", "link_drop_probability"
            )
        )

    window = results.samples["cwnd_segments"].to_list()
    print(f"cwnd between {min(window):.2f} and {max(window):.2f} segments in {len(window)} samples")

    results.save(folder)
    plot.save(results.plot("cwnd", until_s=100), folder, "cwnd")
    print(f"Written to {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/first_run"))
