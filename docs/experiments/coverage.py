"""Coverage of 95 % intervals of goodput: of several runs, and of the batches of a single run.

``python docs/experiments/coverage.py`` runs NewReno and Vegas over 8 hops as ns-2.35 does it, prints a table, and warns
of what covers less than 90 %. With ``--quick`` it makes a hundredth of the runs. The truth is that of all runs
together: delivered bits by time. ``--out`` keeps the runs, and a second command goes on.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import chappe
import numpy as np
from chappe.measures import Totals
from chappe.stats import Share, quotient
from numpy.typing import NDArray

GROUP = 12
"""Runs of an interval."""

PROMISED, ENOUGH = 0.95, 0.90

POINTS = {
    ("newreno", 1_100): 1000 * GROUP,
    ("vegas", 1_100): 250 * GROUP,
    ("newreno", 11_000): 50 * GROUP,
    ("vegas", 11_000): 50 * GROUP,
}
"""Variant and packets of a run, and how many runs there are."""


class Row(NamedTuple):
    """Share of intervals that contain the true value."""

    what: str
    truth_bps: float
    bias: float
    """Mean of the estimates by the truth, less 1."""
    coverage: Share


def covered(what: str, truth: float, estimates: NDArray[np.float64], half_widths: NDArray[np.float64]) -> Row:
    """Counts the intervals that hold the truth."""
    held = np.abs(estimates - truth) <= half_widths
    share = Share.of(held.astype(float))
    assert isinstance(share, Share)
    return Row(what, truth, float(estimates.mean() / truth - 1), share)


def rows(variant: str, packets: int, runs: int, out: str | None) -> Iterator[Row]:
    """Makes the runs of a point and says how often their intervals hold the truth."""
    scenario = chappe.Scenario.chain(8, {"tcp.variant": variant}, stop=f"{packets} delivered", extends="ns2-2.35")
    folder = f"{out}/{variant}-{packets}" if out else None
    study = chappe.sweep(scenario, seeds=runs, out=folder, progress=True, title=f"{variant}, {packets:,} packets")
    table = study.runs
    totals = study.table("totals").filter(measure="goodput_bps").select("numerator", "denominator").to_numpy()
    truth = float(quotient(totals.sum(axis=0)))
    groups = totals.reshape(-1, GROUP, 2)
    found = [Totals(own, quotient).together.estimate for own in groups]
    of_runs = np.array([(e.mean, e.half_width()) for e in found])
    name = f"{variant}, {packets:,} packets"
    yield covered(f"{name}: {GROUP} runs", truth, *of_runs.T)
    means = table["goodput_bps"].to_numpy().reshape(-1, GROUP)
    by_means = [chappe.stats.Estimate.of(own) for own in means]
    yield covered(
        f"{name}: mean of the rates of {GROUP} runs", truth, *np.array([(e.mean, e.half_width()) for e in by_means]).T
    )
    value, half = table["goodput_bps"].to_numpy(), (table["goodput_ci_high_bps"] - table["goodput_bps"]).to_numpy()
    yield covered(f"{name}: 10 batches of one run", truth, value, half)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the runs")
    parser.add_argument("--out", help="folder in which runs are kept")
    args = parser.parse_args()
    found: list[Row] = []
    for (variant, packets), runs in POINTS.items():
        n = max(runs // 100 // GROUP, 2) * GROUP if args.quick else runs
        found += rows(variant, packets, n, args.out)
    print(f"{'interval of 95 %':<78} {'truth':>12} {'bias':>8}  holds the truth")
    for row in found:
        low, high = row.coverage.interval()
        print(
            f"{row.what:<78} {row.truth_bps / 1e3:>5.1f} kbit/s {row.bias:>+7.1%}  "
            f"{row.coverage.mean:.1%} of {row.coverage.df + 1:,.0f} ({low:.1%} to {high:.1%})".replace("%", " %")
        )
    for row in found:
        if row.coverage.mean < ENOUGH:
            print(f"warning: {row.what}: less than {ENOUGH:.0%} where {PROMISED:.0%} are promised".replace("%", " %"))


if __name__ == "__main__":
    main()
