"""Minstrel-HT compared with the best fixed MCS and with ideal rate control, and that of 2012 compared with ns-3.37.

``python reproductions/experiments/techniques/minstrel_ht.py`` makes the runs and writes
``reproductions/docs/minstrel-ht.md``.
"""

import csv
import math
import textwrap
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import chappe
from chappe.stats import Estimate
from chappe_papers.validation.wifi_n.cases import HERE, Case, scenario

PAGE = Path(__file__).parents[2] / "docs" / "minstrel-ht.md"
DISTANCES_M = range(20, 181, 20)
CHOICE = range(1, 3)
"""Seeds of the runs that choose the best MCS."""

SEEDS = range(11, 21)
"""Seeds of the runs that measure, also the best MCS."""

CHOOSING = {"ideal": "ideal", "aarf": "AARF", "minstrel_ht_ns3": "Minstrel-HT of 2012", "minstrel_ht": "Minstrel-HT"}
BATCH_S = 0.05
LEAST_DIFFERENCE = 0.03
TRIED: dict[str, dict[str, Any]] = {
    "seven attempts of each MPDU": {"wlan.block_ack.mpdu_attempts": 7},
    "the aggregate sent again after a missed block acknowledgement": {"wlan.block_ack.after_missed": "repeat"},
}
"""Rules of stations of ns-3 that may explain a difference over chains."""

NOISE_DBM = 10 * math.log10(1.380649e-23 * 290 * 20e6) + 30 + 7
"""Of a channel of 20 MHz."""


def link(distance_m: int, wlan: dict[str, Any], **changes: Any) -> chappe.Scenario:
    """A saturated link of the preset `802.11n`, with log-distance propagation."""
    return chappe.Scenario(
        {
            "extends": "802.11n",
            "topology": {"hops": 1, "spacing": f"{distance_m} m"},
            "radio": {"propagation": "log_distance", "log_distance": {"exponent": 3, "loss": "47 dB"}},
            "wlan": wlan,
            "routing": {
                "protocol": "fixed",
                "fixed.routes": [{"node": n, "dst": 1 - n, "next_hop": 1 - n} for n in (0, 1)],
            },
            "cbr": {"interval": "170 us", "payload": "1460 B"},
            "flow": [{"dst": 1, "app": "cbr"}],
            "run": {"stop": "5 s", "batches": 5, "warmup_batches": 1},
            **changes,
        }
    )


def goodput(distance_m: int, wlan: dict[str, Any], seeds: Iterable[int] = SEEDS) -> Estimate:
    """Goodput over the seeds [Mbit/s]; 0 beyond the reach of an MCS."""
    try:
        scenario = link(distance_m, wlan)
    except chappe.ScenarioError:
        return Estimate(0.0, 0.0, 1)
    return Estimate.of([float(chappe.run(scenario, seed=s).flows["goodput_bps"].item()) / 1e6 for s in seeds])


def fixed(distance_m: int) -> int:
    """The best MCS: the slower ones are not asked once one is slower than the one above it."""
    best = (7, 0.0)
    for mcs in range(7, -1, -1):
        of_mcs = goodput(distance_m, {"ppdu.mcs": mcs}, CHOICE).mean
        if best[1] > of_mcs:
            break
        best = (mcs, of_mcs)
    return best[0]


def between(e: Estimate) -> str:
    """A goodput with half of its 95 % interval."""
    return f"{e.mean:.2f} ± {e.half_width():.2f}"


def walk(algorithm: str) -> tuple[Estimate, float]:
    """Goodput of walks from 10 to 160 m and back at 5 m/s [Mbit/s], and the longest time without a packet [s]."""
    there, back = ["160 m", "0 m"], ["10 m", "0 m"]
    move = {"action": "node_move", "node": 1, "speed": "5 m/s"}
    scenario = link(
        10,
        {"rate_control.algorithm": algorithm},
        run={"stop": "60 s", "batches": round(60 / BATCH_S), "warmup_batches": 0},
        event=[{"at": "0 s", "destination": there, **move}, {"at": "30 s", "destination": back, **move}],
    )
    goodputs, silences = [], [0]
    for seed in SEEDS:
        results = chappe.run(scenario, seed=seed)
        delivered = results.flow_batches["packets_delivered"].to_list()
        silences += [len(list(batches)) for silent, batches in groupby(delivered, lambda n: n == 0) if silent]
        goodputs.append(float(results.flows["goodput_bps"].item()) / 1e6)
    return Estimate.of(goodputs), BATCH_S * max(silences)


def as_ns3(case: str, agg_limit: int, hops: int, snr_db: float, window: int, seconds: float) -> chappe.Scenario:
    """The scenario of rows of ns-3: a link, or a chain of 50 m hops in which all nodes sense each other."""
    table = "tcp" if case == "tcp" else "snr"
    of_rows = Case(
        table, "n", 20, 800, 7, 1, "5", agg_limit, 0, 1, hops, 50, 0, "be", "default", "nist",
        snr_db, window, 1, seconds,
    )  # fmt: skip
    nodes = range(hops + 1)
    signals = {(a, b): NOISE_DBM + snr_db - 30 * math.log10(abs(a - b)) for a in nodes for b in nodes if a != b}
    links = "".join(f"{a},{b},{signal:.6f}\n" for (a, b), signal in signals.items())
    return scenario(of_rows).with_settings(
        {
            "radio.links_table": f"src,dst,signal_dbm\n{links}",
            "radio.sinr.preamble_detection": "-20 dB",
            "radio.sinr.energy_detection": "-120 dBm",
            "wlan.rate_control.algorithm": "minstrel_ht_ns3",
        }
    )


def mean_of_seeds(scenario: chappe.Scenario, seeds: Iterable[int]) -> float:
    """Mean goodput [Mbit/s]."""
    return fmean(float(chappe.run(scenario, seed=seed).flows["goodput_bps"].item()) / 1e6 for seed in seeds)


def _agreement(differences: list[float]) -> str:
    """Number of differences that are small, and their range."""
    small = sum(abs(d) <= LEAST_DIFFERENCE for d in differences)
    return f"{small} of {len(differences)} ({100 * min(differences):+.1f} to {100 * max(differences):+.1f} %)"


def compared_with_ns3() -> list[str]:
    """The section on the Minstrel-HT of 2012."""
    lines = [
        "",
        "## The Minstrel-HT of 2012",
        "",
        "`minstrel_ht_ns3` compared with ns-3.37, goodput \\[Mbit/s\\], means of three runs each: datagrams over a",
        "link of HT20 with a fixed ratio of signal to noise, and TCP over chains in which all nodes sense each other.",
        "Errors are those of the NIST bound.",
        "",
        "| case | ratio in one hop | ns-3.37 | Chappe | difference |",
        "|---|---|---|---|---|",
    ]
    text = HERE.joinpath("minstrel.csv").read_text(encoding="utf-8")
    rows = [
        ((row["case"], int(row["agg_limit"]), int(row["hops"]), float(row["snr_db"]), int(row["window"]),
          float(row["seconds"])), int(row["seed"]), float(row["goodput_bps"]) / 1e6)
        for row in csv.DictReader(text.splitlines())
    ]  # fmt: skip
    differences: dict[bool, list[float]] = {False: [], True: []}
    of_tries: dict[str, list[float]] = {name: [] for name in TRIED}
    for of_rows, runs in groupby(sorted(rows), lambda row: row[0]):
        case, agg_limit, hops, snr_db, *_ = of_rows
        seeds, goodputs = zip(*((seed, mbps) for _, seed, mbps in runs), strict=True)
        of_case = as_ns3(*of_rows)
        ours = mean_of_seeds(of_case, seeds)
        difference = ours / fmean(goodputs) - 1
        differences[hops > 1].append(difference)
        if hops > 1:
            for name, changes in TRIED.items():
                of_tries[name].append(mean_of_seeds(of_case.with_settings(changes), seeds) / fmean(goodputs) - 1)
        frames = "A-MPDUs" if agg_limit else "single frames"
        title = f"TCP, {hops} hop{'s' if hops > 1 else ''}, {frames}" if case == "tcp" else f"a link, {frames}"
        cells = [title, f"{snr_db:g} dB", f"{fmean(goodputs):.2f}", f"{ours:.2f}"]
        lines.append(f"| {' | '.join(cells)} | {round(100 * difference, 1) + 0:+.1f} % |")
        print(lines[-1], flush=True)
    one_hop, chains = (_agreement(found) for found in (differences[False], differences[True]))
    tries = ", and ".join(f"with {name} {_agreement(found)}" for name, found in of_tries.items())
    said = (
        f"Within {100 * LEAST_DIFFERENCE:.0f} % are {one_hop} over one hop and {chains} over chains, where collisions "
        f"count as losses of a rate; {tries}. With a fixed MCS goodput over 2 hops of 100 m agrees within 2 % "
        "([validation-wifi-n.md](validation-wifi-n.md)). Why Minstrel-HT of ns-3 has less at 15 dB, and more above, is "
        "not known: the algorithm is validated over single links only."
    )
    return [*lines, "", *textwrap.wrap(said, 118)]


def page() -> str:
    """The page."""
    table = [
        "| distance | best fixed MCS | its goodput | " + " | ".join(CHOOSING.values()) + " | of the best |",
        "|---|---|---|" + "---|" * (len(CHOOSING) + 1),
    ]
    shares = {}
    for distance_m in DISTANCES_M:
        mcs = fixed(distance_m)
        best = goodput(distance_m, {"ppdu.mcs": mcs})
        if not best.mean:
            table.append(f"| {distance_m} m | none reaches | {' | '.join(['-'] * (len(CHOOSING) + 2))} |")
            continue
        chosen = [goodput(distance_m, {"rate_control.algorithm": word}) for word in CHOOSING]
        shares[distance_m] = chosen[-1].mean / best.mean
        cells = [f"{distance_m} m", str(mcs), *map(between, (best, *chosen))]
        table.append(f"| {' | '.join(cells)} | {100 * shares[distance_m]:.0f} % |")
        print(table[-1], flush=True)
    walks = [
        "| rate control | goodput \\[Mbit/s\\] | longest time without a packet \\[s\\] |",
        "|---|---|---|",
    ]
    for word, name in CHOOSING.items():
        of_walk, silence = walk(word)
        longest = f"{silence:.2f}" if silence else f"below {2 * BATCH_S:.2f}"
        walks.append(f"| {name} | {between(of_walk)} | {longest} |")
        print(walks[-1], flush=True)
    least, most = (end(shares, key=lambda distance_m: shares[distance_m]) for end in (min, max))
    answer = (
        f"**Minstrel-HT has {100 * shares[least]:.0f} to {100 * shares[most]:.0f} % of the goodput of the best fixed "
        f"MCS; least {least} m away.** The rest is lost to samples, and in the 50 ms after a few lucky samples at a "
        "rate that is too fast. Linux sends a sample as a single MPDU, and a failed sample again at the second-best "
        "rate, after RTS. The slower this rate is, the longer this takes: up to three times in 50 ms, 2 ms each at MCS "
        "0. Ideal rate control asks for a bit error rate of 1e-6, and so leaves an MCS too early."
    )
    method = (
        "Datagrams over one link of the preset `802.11n`, more than it can carry, with log-distance propagation of "
        f"exponent 3: goodput \\[Mbit/s\\], means of {len(SEEDS)} runs of 4 s with intervals of 95 %. The best MCS was "
        "chosen by other runs. `python reproductions/experiments/techniques/minstrel_ht.py` writes this page."
    )
    paragraphs = [textwrap.fill(p, 118, break_long_words=False, break_on_hyphens=False) for p in (answer, method)]
    head = ["# Minstrel-HT compared with the best fixed MCS", "", paragraphs[0], "", paragraphs[1], ""]
    walked = ["", f"{len(SEEDS)} walks from 10 to 160 m and back at 5 m/s:", ""]
    return "\n".join([*head, *table, *walked, *walks, *compared_with_ns3()]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
