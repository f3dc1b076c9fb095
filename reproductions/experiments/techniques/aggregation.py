"""TCP over chains of 802.11n with aggregates of 1, 8 and 32 frames: does aggregation mend what the five papers found?

``python reproductions/experiments/techniques/aggregation.py`` makes the runs and writes
``reproductions/docs/aggregation.md``.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from statistics import fmean
from textwrap import wrap
from typing import Any

import chappe
from chappe import text as show
from chappe.stats import Estimate, Jackknife
from chappe.study import Relative

PAGE = Path(__file__).parents[2] / "docs" / "aggregation.md"
VARIANTS = {"newreno": "NewReno", "cubic": "CUBIC", "vegas": "Vegas"}
HOPS = range(1, 6)
AGGREGATES = (1, 8, 32)
WINDOWS = (16, 64)
RTS = ("never", "3000 B")
SEEDS = range(1, 16)

Key = tuple[str, int, int, int, str]


def scenario(variant: str, hops: int, mpdus: int, window: int, rts: str) -> chappe.Scenario:
    """A chain of which neighbors decode each other, the next but one senses, and the third is hidden."""
    noise_dbm = -93.97
    return chappe.Scenario(
        {
            "extends": "802.11n",
            "topology": {"hops": hops, "spacing": "200 m"},
            "radio": {
                "propagation": "log_distance",
                "log_distance": {"exponent": 5.0, "distance": "200 m", "loss": "100 dB"},
                "transmit_power": f"{noise_dbm + 100 + 27} dBm",
                "sinr": {"energy_detection": f"{noise_dbm + 4} dBm"},
            },
            "wlan": {
                "ppdu": {"mcs": 7},
                "aggregation": {"max_mpdus": mpdus},
                "rts_threshold": rts if mpdus > 1 else {"never": "never"}.get(rts, "500 B"),
            },
            "routing": {"protocol": "fixed", "fixed": {"routes": _routes(hops)}},
            "tcp": {"variant": variant, "receive_window": window, "ack_policy": "every"},
            "flow": [{"src": 0, "dst": hops}],
            "run": {"stop": "11 s", "batches": 11, "warmup_batches": 1},
        }
    )


def _routes(hops: int) -> list[dict[str, int]]:
    there = [{"node": i, "dst": hops, "next_hop": i + 1} for i in range(hops)]
    return there + [{"node": i, "dst": 0, "next_hop": i - 1} for i in range(1, hops + 1)]


def measure(key: Key) -> dict[str, list[float]]:
    """Values of each seed: goodput [Mbit/s], round-trip time [ms], share of segments sent again [%]."""
    of_runs = []
    for seed in SEEDS:
        flow = chappe.run(scenario(*key), seed=seed).flows.row(0, named=True)
        sent = flow["packets_sent"] or 1
        again = 100 * flow["retransmissions"] / sent
        of_runs.append((flow["goodput_bps"] / 1e6, 1e3 * flow["mean_rtt_s"], again))
    return dict(zip(("goodput", "rtt", "again"), map(list, zip(*of_runs, strict=True)), strict=True))


def between(values: Sequence[float]) -> str:
    """A mean with its 95 % interval, which ends at zero."""
    e = Estimate.of(values)
    low, high = e.interval()
    return show.estimate({"estimate": e.mean, "ci_low": max(low, 0.0), "ci_high": high})


def page(found: dict[Key, dict[str, list[float]]]) -> str:
    """The page."""

    def values(name: str, keep: Callable[[Key], bool]) -> list[float]:
        """Of each seed, the mean over some scenarios."""
        return [fmean(of_seed) for of_seed in zip(*(v[name] for k, v in found.items() if keep(k)), strict=True)]

    def mean(name: str, keep: Callable[[Key], bool]) -> str:
        return between(values(name, keep))

    def ratio(one: Callable[[Key], bool], other: Callable[[Key], bool]) -> str:
        a, b = (Jackknife.mean(values("goodput", keep)) for keep in (one, other))
        change = Relative.of(a, b, is_paired=False, least=0.0)
        low, high = change.interval(0.95)
        return f"{100 * change.value:+.0f} % ({100 * low:+.0f} to {100 * high:+.0f})"

    def at(variant: str | None = None, hops: int | None = None, mpdus: int | None = None, window: int = 64,
           rts: str = "never") -> Callable[[Key], bool]:  # fmt: skip
        def keep(k: Key) -> bool:
            same = (variant in (None, k[0])) and (hops in (None, k[1])) and (mpdus in (None, k[2]))
            return same and k[3:] == (window, rts)

        return keep

    def mbps(variant: str, hops: int) -> str:
        one, eight, many = (mean("goodput", at(variant, hops, mpdus)) for mpdus in AGGREGATES)
        return f"{one} Mbit/s with single frames, {eight} with aggregates of 8, {many} with 32"

    def compared(variant: str, hops: int) -> str:
        one, eight, many = (ratio(at(variant, hops, m), at("newreno", hops, m)) for m in AGGREGATES)
        return f"{one} with single frames, {eight} with 8, {many} with 32"

    def again(variant: str, hops: int) -> str:
        return ", ".join(mean("again", at(variant, hops, mpdus)) for mpdus in AGGREGATES)

    def changed(window: int, rts: str) -> str:
        one, many = (ratio(at("newreno", 5, m, window, rts), at("newreno", 5, m)) for m in (1, 32))
        return f"{one} with single frames, {many} with 32"

    rtt = [mean("rtt", at("newreno", 5, 32, window)) for window in WINDOWS]
    one, five = (
        ", ".join(f"{ratio(at(hops=h, mpdus=m), at(hops=h, mpdus=1))} with aggregates of {m}" for m in AGGREGATES[1:])
        for h in (1, 5)
    )
    answer = (
        "**Goodput of all variants with a window of 64, compared with single frames: over one hop"
        f" {one}; over five hops {five}.** Vegas"
        f" compared with NewReno over five hops: {compared('vegas', 5)}."
        " 95 % intervals of 15 runs are in brackets."
    )
    lines = [
        "# TCP over 802.11n: what aggregation changes",
        "",
        *wrap(answer, 120),
        "",
        "One flow over 1 to 5 hops of HT20, MCS 7; neighbors decode each other, the next but one senses, the third is",
        f"hidden. Means of {len(SEEDS)} runs of 10 s with 95 % intervals.",
        "`python reproductions/experiments/techniques/aggregation.py` writes this page.",
        "",
        f"1. One hop, window 64, NewReno: {mbps('newreno', 1)}.",
        f"2. Five hops: {mbps('newreno', 5)}.",
        f"3. Vegas compared with NewReno over five hops, window 64: {compared('vegas', 5)}.",
        f"4. The same over four hops: {compared('vegas', 4)}.",
        f"5. CUBIC compared with NewReno over five hops: {compared('cubic', 5)}.",
        f"6. A window of 16 instead of 64, NewReno, five hops: {changed(16, 'never')}; with 32 the round-trip time is",
        f"   {rtt[0]} instead of {rtt[1]} ms.",
        f"7. RTS before long frames, NewReno, five hops, window 64: {changed(64, RTS[1])}.",
        f"8. Retransmission rate \\[%\\], five hops, with 1, 8 and 32: NewReno {again('newreno', 5)}; Vegas",
        f"   {again('vegas', 5)}.",
        "9. The papers found that a smaller window, such as Vegas', delivers more over a chain. Over five",
        f"   hops Vegas delivers {mean('goodput', at('vegas', 5, 8))} Mbit/s with aggregates of 8 and"
        f" {mean('goodput', at('vegas', 5, 32))} with 32: its few",
        "   segments fill no larger aggregate (lines 3 and 4). A limited window of NewReno (line 6) does.",
        "",
    ]
    header = ["TCP", "window", "RTS", *(f"{h} hop{'s' * (h > 1)}" for h in HOPS)]
    for mpdus in AGGREGATES:
        lines += [
            f"## {'Single frames' if mpdus == 1 else f'Aggregates of {mpdus}'}: goodput \\[Mbit/s\\]",
            "",
            f"| {' | '.join(header)} |",
            f"|{'---|' * len(header)}",
        ]
        for variant, window, rts in product(VARIANTS, WINDOWS, RTS):
            cells = [between(found[variant, hops, mpdus, window, rts]["goodput"]) for hops in HOPS]
            row = [VARIANTS[variant], str(window), "no" if rts == "never" else "yes", *cells]
            lines.append(f"| {' | '.join(row)} |")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def keys() -> Iterable[Key]:
    """All cases."""
    return product(VARIANTS, HOPS, AGGREGATES, WINDOWS, RTS)


def main() -> None:
    """Makes the runs and writes the page."""
    all_keys = list(keys())
    with ThreadPoolExecutor(2) as pool:
        found: dict[Any, dict[str, float]] = dict(zip(all_keys, pool.map(measure, all_keys), strict=True))
    PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
