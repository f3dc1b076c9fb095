"""Vegas with ACK thinning over 7 hops has two states: how long does the first one last, and does it come back?

``python reproductions/experiments/papers/thinning_bistable.py`` runs it at 5.5 and 11 Mbit/s with twenty seeds, 110,000
packets each in batches of 500, and prints when each run leaves the window of 4.
"""

import statistics

import chappe
from chappe_papers.elrakabawy2005.points import Point, scenario

SEEDS = range(1, 21)


def main() -> None:
    """Prints both goodputs, when the runs fall, and how many come back."""
    for rate in (5.5, 11.0):
        vegas = scenario(Point("vegas2_thin", 7, rate), "110000 delivered", batches=220)
        falls, high, low, returns, windows = [], [], [], 0, {True: [0.0], False: [0.0]}
        for seed in SEEDS:
            batches = chappe.run(vegas, seed=seed).batches.filter("used")
            goodput = (batches["goodput_bps"] / 1e3).to_list()
            # Half way between the two states.
            top = max(goodput)
            up = [g > 0.75 * top for g in goodput]
            first = up.index(False) if False in up else None
            falls.append(batches["started_at_s"][first] if first is not None else None)
            high += [g for g, u in zip(goodput, up, strict=True) if u]
            low += [g for g, u in zip(goodput, up, strict=True) if not u]
            for w, u in zip(batches["mean_window_segments"], up, strict=True):
                windows[u].append(w)
            if first is not None:
                # Some batches hold the fall itself.
                returns += any(up[first + 2 :])
        fallen = sorted(t for t in falls if t is not None)
        print(
            f"{rate:g} Mbit/s: {statistics.median(high):.0f} kbit/s (window {statistics.median(windows[True]):.2f}), "
            f"after the fall {statistics.median(low) if low else float('nan'):.0f} "
            f"(window {statistics.median(windows[False]):.2f}); {len(fallen)} of {len(SEEDS)} runs fall, "
            f"at {', '.join(f'{t:.0f}' for t in fallen)} s; {returns} of them come back"
        )


if __name__ == "__main__":
    main()
