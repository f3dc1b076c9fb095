"""Finds the best receiver's window for NewReno on 8 hops. Fu et al. (INFOCOM 2003) recommend a quarter of the hops: 2.

python examples/window_sweep.py [FOLDER]      table and figure are written to FOLDER (default: results/window_sweep)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot, study
from chappe.stats import Estimate

WINDOWS = (1, 2, 3, 4, 6, 8, 12, 16)
SEEDS = range(1, 6)


def main(folder: Path) -> None:
    """Runs the chain with each window, prints and writes the goodput."""
    chain = chappe.Scenario.chain(8, stop="5500 delivered", extends="ns2-2.35")
    points = {window: chain.with_settings({"tcp.receive_window": window}) for window in WINDOWS}
    rows = []
    for window, runs in study.measure(points, list(SEEDS)).items():
        goodput = Estimate.of((runs["goodput_bps"] / 1e3).to_list())
        rows.append({"window": window, "goodput_kbps": goodput.mean, "half_width_95": goodput.half_width()})
    table = pl.DataFrame(rows)
    print(table)

    folder.mkdir(parents=True, exist_ok=True)
    table.write_csv(folder / "goodput.csv")
    curve = plot.Curve("NewReno", WINDOWS, table["goodput_kbps"].to_list(), table["half_width_95"].to_list(), 0)
    figure = plot.lines(
        [curve], x_label="receiver's window [segments]", y_label="goodput [kbit/s]", title="Chain of 8 hops"
    )
    plot.save(figure, folder, "goodput")
    print(f"Written to {folder}: goodput.csv, goodput.pdf, goodput.svg, goodput.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/window_sweep"))
