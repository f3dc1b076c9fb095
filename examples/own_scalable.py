"""Writes Scalable TCP from its paper, and checks it against the one of Chappe: the same window after each event.

T. Kelly, "Scalable TCP: improving performance in highspeed wide area networks", CCR 33(2), 2003: each acknowledgement
increases the window by 0.01 segments, a loss reduces it by an eighth. Slow start is that of TCP. The loss recovery is
NewReno's in both runs, over a chain of 3 hops whose frames are lost at random.

python examples/own_scalable.py [FOLDER]   the windows are written to FOLDER (default: results/own_scalable)
"""

import sys
from pathlib import Path

import chappe
import polars as pl


class Scalable:
    """Scalable TCP: it needs no state of its own."""

    def on_ack(self, ack: chappe.CongestionEvent) -> float:
        """Returns the window after an acknowledgement."""
        return ack.cwnd + (1.0 if ack.cwnd < ack.ssthresh else 0.01)

    def on_congestion(self, signal: chappe.CongestionEvent) -> float:
        """Returns the window to go on with after a loss; after a timeout slow start leads to it."""
        return max(2.0, 0.875 * signal.cwnd)


def windows(congestion_control: object) -> pl.DataFrame:
    """The window of a run, with a row for each change."""
    lossy = {"model": "uniform", "rate": 0.2, "frames": "data"}
    changes = {"tcp.congestion_control": congestion_control, "wlan.error": lossy, "run.record": ["cwnd"]}
    return chappe.run(chappe.Scenario.chain(3, changes, stop="120 s"), seed=1).recorded["cwnd"]


def main(folder: Path) -> None:
    """Runs both, compares their windows, and writes them."""
    own, built_in = windows(Scalable), windows("scalable")
    largest = own.select(pl.col("cwnd_segments").max()).item()
    print(f"{len(own):,} changes of the window, the largest {largest:.2f} segments")
    print("The windows are equal." if own.equals(built_in) else "The windows differ.")

    folder.mkdir(parents=True, exist_ok=True)
    own.write_csv(folder / "windows.csv")
    print(f"Written to {folder}: windows.csv.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/own_scalable"))
