"""Finds the best receiver's window for NewReno on 8 hops. Fu et al. (INFOCOM 2003) recommend a quarter of the hops: 2.

python examples/window_sweep.py [FOLDER]      table and figure are written to FOLDER (default: results/window_sweep)
"""

import sys
from pathlib import Path

import chappe
from chappe import plot

WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16)


def main(folder: Path) -> None:
    """Runs the chain with each window, prints, writes and draws the goodput."""
    chain = chappe.Scenario.chain(8, stop="5500 delivered", extends="ns2-2.35")
    study = chappe.sweep(chain, {"tcp.receive_window": WINDOWS}, seeds=5)
    print(study.summary("goodput_bps"))

    folder.mkdir(parents=True, exist_ok=True)
    study.summary("goodput_bps").write_csv(folder / "goodput.csv")
    plot.save(study.plot(), folder, "goodput")
    print(f"Written to {folder}: goodput.csv, goodput.pdf, goodput.svg, goodput.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/window_sweep"))
