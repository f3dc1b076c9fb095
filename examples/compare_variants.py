"""Compares the goodput of TCP Vegas and NewReno over chains of 2 to 16 hops.

python examples/compare_variants.py [FOLDER]      the figure is written to FOLDER (default: results/compare_variants)
"""

import sys
from pathlib import Path

import chappe
import polars as pl
from chappe import plot, study
from chappe.stats import Estimate, ratio

HOPS = (2, 4, 6, 8, 12, 16)
VARIANTS = {"NewReno": "newreno", "Vegas": "vegas"}
SEEDS = range(1, 6)


def goodput(runs: pl.DataFrame) -> Estimate:
    """Goodput over independent runs [kbit/s]."""
    return Estimate.of((runs["goodput_bps"] / 1e3).to_list())


def main(folder: Path) -> None:
    """Runs both variants over chains of several lengths, prints the gain and draws the goodput."""
    points = {
        (hops, label): chappe.Scenario.chain(
            hops, {"tcp.variant": variant, "tcp.receive_window": 64}, stop="5500 delivered", extends="ns2-2.35"
        )
        for hops in HOPS
        for label, variant in VARIANTS.items()
    }
    found = {point: goodput(runs) for point, runs in study.measure(points, list(SEEDS)).items()}

    for hops in HOPS:
        gain = ratio(found[hops, "Vegas"], found[hops, "NewReno"])
        low, high = gain.interval()
        print(f"{hops:2} hops: Vegas / NewReno = {gain.mean:.2f}, 95 % interval {low:.2f} to {high:.2f}")

    curves = []
    for group, label in enumerate(VARIANTS):
        estimates = [found[hops, label] for hops in HOPS]
        curves.append(plot.Curve(label, HOPS, [e.mean for e in estimates], [e.half_width() for e in estimates], group))
    folder.mkdir(parents=True, exist_ok=True)
    figure = plot.lines(
        curves, x_label="hops", y_label="goodput [kbit/s]", title="NewReno and Vegas over chains", ticks=HOPS
    )
    plot.save(figure, folder, "goodput")
    print(f"Written to {folder}: goodput.pdf, goodput.svg, goodput.png.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/compare_variants"))
