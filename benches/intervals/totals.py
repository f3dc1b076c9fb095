"""Errors of a mean of the rates of batches: every measure that way, and as totals by totals.

``python benches/intervals/totals.py`` runs NewReno and Vegas over 8 hops as ns-2.35 does it, 12
seeds, 1,100 packets each, and says by how much Vegas is better in the end.
"""

import chappe
import numpy as np
from chappe.measures import MEASURES, quotients
from chappe.stats import quotient

SEEDS = 12


def both(variant: str) -> dict[str, tuple[float, float]]:
    """Each measure as the mean over all batches of its values in them, and of totals."""
    scenario = chappe.Scenario.chain(8, {"tcp.variant": variant}, stop="1100 delivered", extends="ns2-2.35")
    study = chappe.sweep(scenario, seeds=SEEDS)
    batches = study.table("batches").filter("used")
    found = {}
    for m in MEASURES:
        each = quotient(quotients(batches, m.name))
        if not np.isnan(each).all():
            (row,) = study.summary(m.name).to_dicts()
            found[m.name] = (float(np.nanmean(each)) * m.scale, row["estimate"] * m.scale)
    return found


def main() -> None:
    """Prints the table."""
    print(f"{'measure':<30} {'variant':<10} {'of batches':>12} {'of totals':>12} {'error':>8}")
    goodput = {}
    for variant in ("newreno", "vegas"):
        found = both(variant)
        goodput[variant] = found["goodput_bps"]
        for m in MEASURES:
            if m.name in found:
                wrong, right = found[m.name]
                error = f"{wrong / right - 1:+.1%}".replace("%", " %") if right else "-"
                print(f"{m.label:<30} {variant:<10} {wrong:>12.4g} {right:>12.4g} {error:>8}  {m.unit}")
    gains = [f"{v / n - 1:+.0%}".replace("%", " %") for v, n in zip(goodput["vegas"], goodput["newreno"], strict=True)]
    print(f"Vegas compared with NewReno: {gains[0]} of batches, {gains[1]} of totals.")


if __name__ == "__main__":
    main()
