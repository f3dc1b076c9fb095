"""Compares the goodput of TCP Vegas and NewReno over chains of 2 to 16 hops.

python examples/compare_variants.py [FOLDER]      the figure is written to FOLDER (default: results/compare_variants)
"""

import sys
from pathlib import Path

import chappe
from chappe import plot

AXES = {"topology.hops": [2, 4, 6, 8, 12, 16], "tcp.variant": ["newreno", "vegas"]}


def main(folder: Path) -> None:
    """Runs both variants over chains of several lengths, prints the gain and draws the goodput."""
    base = chappe.Scenario({"extends": "ns2-2.35", "run.stop": "5500 delivered", "tcp.receive_window": 64})
    study = chappe.sweep(base, AXES, seeds=5, progress=True)

    for row in study.compare("goodput_bps", "tcp.variant", baseline="newreno").iter_rows(named=True):
        gain, low, high = (100 * row[name] for name in ("relative", "relative_ci_low", "relative_ci_high"))
        print(f"{row['topology.hops']:2} hops: Vegas {gain:+.0f} %, 95 % interval {low:+.0f} to {high:+.0f} %")

    folder.mkdir(parents=True, exist_ok=True)
    plot.save(study.plot("topology.hops", "goodput_bps", by="tcp.variant"), folder, "goodput")
    print(f"Written to {folder}: goodput.pdf, goodput.svg, goodput.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/compare_variants"))
