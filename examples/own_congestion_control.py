"""Compares a congestion control of your own with those of Chappe: AIMD with a target for the delay, over 3 hops.

The window grows by one segment per round trip while segments come back sooner than TARGET_MS, and shrinks by a fifth,
once per round trip, when they come back later. A loss halves it.

python examples/own_congestion_control.py [FOLDER]   writes to FOLDER (default: results/own_congestion_control)
"""

import sys
from pathlib import Path

import chappe

HOPS = 3
SEEDS = 5
TARGET_MS = 60


class DelayTarget:
    """Additive increase while the delay is below the target, multiplicative decrease above it."""

    def __init__(self) -> None:
        self.reduced_ns = 0

    def on_ack(self, ack: chappe.CongestionEvent) -> float | None:
        """Returns the window after an acknowledgement."""
        if ack.rtt_ns is None or ack.rtt_ns < TARGET_MS * 1_000_000:
            return ack.cwnd + ack.acked / ack.cwnd
        if ack.time_ns - ack.rtt_ns < self.reduced_ns:
            return None  # the segment was sent before the last reduction
        self.reduced_ns = ack.time_ns
        return 0.8 * ack.cwnd

    def on_congestion(self, signal: chappe.CongestionEvent) -> float:
        """Returns the window to go on with after a loss."""
        return max(2.0, signal.cwnd / 2)


def main(folder: Path) -> None:
    """Runs a study, and prints goodput and delay of each congestion control with their 95 % intervals."""
    base = chappe.Scenario.chain(HOPS, stop="60 s")
    axes = {"tcp.congestion_control": [DelayTarget, "reno", "cubic"]}
    study = chappe.sweep(base, axes, seeds=SEEDS)

    goodput, delay = (study.summary(measure).iter_rows(named=True) for measure in ("goodput_bps", "mean_delay_s"))
    for g, d in zip(goodput, delay, strict=True):
        kbps = " to ".join(f"{g[name] / 1e3:,.0f}" for name in ("ci_low", "ci_high"))
        ms = " to ".join(f"{d[name] * 1e3:.0f}" for name in ("ci_low", "ci_high"))
        print(f"{g['tcp.congestion_control']}: goodput {kbps} kbit/s, delay {ms} ms")
    gains = study.compare("mean_delay_s", "tcp.congestion_control", baseline="reno")
    for row in gains.iter_rows(named=True):
        print(f"Delay of {row['tcp.congestion_control']}: {100 * row['relative']:+.0f} % of Reno's")

    folder.mkdir(parents=True, exist_ok=True)
    study.runs.write_csv(folder / "runs.csv")
    print(f"Written to {folder}: runs.csv.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/own_congestion_control"))
