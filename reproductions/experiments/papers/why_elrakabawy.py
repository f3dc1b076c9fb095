"""Reasons for differences from ElRakabawy, Lindemann and Vernon (2005): an experiment for each open question.

``python reproductions/experiments/papers/why_elrakabawy.py NAME`` prints a table; NAME is one of

- ``attempts``: how often the MAC sends an RTS before it gives up, and what follows from it: the window of Vegas, its
  lead, false route failures;
- ``habits``: the same with one habit of ns-2.35's MAC after the other given up for the rule of the standard;
- ``thinned``: what NewReno with ACK thinning would need to have no false route failures;
- ``grid``: Jain's index in the grid without corners, by the routes that flows take;
- ``paced``: paced UDP over 32 hops, and what a run keeps after a collapse;
- ``falls``: how many runs of Vegas with ACK thinning over 7 hops fall for good, by attempts of an RTS (use
  ``--packets 110000 --seeds 24``);
- ``vegas``: Vegas as in ns-2.35, with four of its defects corrected, and with all of them corrected;
- ``slow_start``: how much of its time in slow start NewReno waits for a timer;
- ``unknowns``: claims on Vegas with one more attempt of an RTS, and with a corrected Vegas (use ``--seeds 3``); it
  writes ``attempts.csv`` in the same folder;
- ``corrected``: what a corrected Vegas keeps of its goodput over 40 hops, compared with NewReno;
- ``windows``: NewReno's mean window with and without ACK thinning, over time and over the lines of a trace of the
  window; it writes ``windows.csv`` in ``reproductions/docs/papers/elrakabawy2005``.

``--packets`` and ``--seeds`` make runs shorter or fewer. Numbers are means over the runs.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import chappe
import polars as pl
from chappe.stats import Estimate, ratio
from chappe.stats.states import absorbing
from chappe.study import measure
from chappe_papers.elrakabawy2005.claims import ALL as CLAIMS
from chappe_papers.elrakabawy2005.claims import READINGS
from chappe_papers.elrakabawy2005.design import DESIGN, FULL, GOODPUT, ElRakabawy, Length
from chappe_papers.elrakabawy2005.points import GRIDS, RATES, UDP, Point, scenario
from chappe_papers.judging.judge import more
from chappe_papers.judging.words import listed
from chappe_papers.pages.files import write_csv
from chappe_papers.runs import runner
from chappe_papers.statistics.quotients import Quotient

PUBLISHED = Path(__file__).parents[2] / "docs" / "papers" / "elrakabawy2005"

WINDOW_COLUMNS = ("hops", "mean over", "runs", "NewReno", "thinned", "change [%]", "low [%]", "high [%]")

Changes = Mapping[str, Any]
Flows = Sequence[tuple[int, int]]

ALL = {
    "tcp.vegas.ns2.bare_segments": False,
    **{
        f"tcp.vegas.ns2.{name}": False
        for name in (
            "send_time_sentinels",
            "inflation_stays",
            "backoff_on_fast_retransmit",
            "timeout_when_idle",
            "clearing_stops_at_wrap",
            "base_rtt_grows",
            "rounded_difference",
            "mark_survives_timeout",
            "restart_at_two",
        )
    },
}
"""All defects of ns-2's Vegas that are known to matter here; ``vegas2_fix`` corrects four of them."""


class Runs:
    """Makes runs of some length.

    Attributes:
        packets: Packets that a run delivers.
        seeds: Runs of each scenario.
    """

    def __init__(self, packets: int, seeds: int):
        self.packets = packets
        self.seeds = list(range(1, seeds + 1))

    def of(self, point: Point, changes: Changes, flows: Flows = ()) -> pl.DataFrame:
        """A row for each run of a point, with other flows where there are any."""
        made = scenario(point, f"{self.packets} delivered", changes=changes)
        if flows:
            listed = [{"src": a, "dst": b, "start": f"{n + 1} s"} for n, (a, b) in enumerate(flows)]
            made = chappe.Scenario(made.settings | {"flow": listed})
        return measure({0: made}, self.seeds, also=_of_run)[0]


def _of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Goodput of each flow and in each batch, and how many hops a delivered segment took."""
    goodput = tables["flows"]["goodput_bps"].fill_null(math.nan).to_list()
    used, begin = tables["batches"].filter("used"), tables["batches"].filter("used")["started_at_s"].min()
    series = tables["samples"].filter(pl.col("time_s") >= begin)
    delivered = int(used["packets_delivered"].sum())
    sent = int(tables["nodes"]["mac_data_packets"].sum())
    flows = {f"flow{n}": g / 1e3 for n, g in enumerate(goodput)}
    flows |= {f"batch{n}": g / 1e3 for n, g in enumerate(used["goodput_bps"].fill_null(math.nan).to_list())}
    waited, measured = (float(tables["flows"][name].sum()) for name in ("timeout_wait_s", "measured_s"))
    return flows | {
        "hops": sent / delivered if delivered else math.nan,
        "slow_start": float((series["cwnd_segments"] < series["ssthresh_segments"]).mean() or math.nan),
        "waiting": waited / measured,
    }


def mean(runs: pl.DataFrame, measure: str) -> float:
    """A measure over the runs."""
    values = [v for v in runs[measure].to_list() if v is not None and not math.isnan(v)]
    return sum(values) / len(values) if values else math.nan


def line(*cells: object) -> None:
    """Prints a row."""
    print("  ".join(f"{c:>9.2f}" if isinstance(c, float) else f"{c!s:>9}" for c in cells), flush=True)


def attempts(runs: Runs) -> None:
    """The paper: Vegas has 93 to 100 % fewer false route failures than NewReno and a window of 3.5 to 5.5."""
    line("attempts", "minimum", "hops", "goodput", "Vegas by", "fewer", "window", "window,", "failures,")
    line("", "RTO", "", "NewReno", "NewReno", "failures", "stock", "corrected", "thinned")
    for limit, rto in ((7, "0.2 s"), (8, "0.2 s"), (9, "0.2 s"), (11, "0.2 s"), (7, "1 s"), (8, "1 s")):
        for hops in (4, 7, 8, 20, 32):
            change = {"wlan.short_retry_limit": limit, "tcp.rto.min": rto}
            newreno, vegas, fixed, thinned = (
                runs.of(Point(v, hops), change) for v in ("newreno", "vegas2", "vegas2_fix", "newreno_thin")
            )
            failures = [mean(r, "route_failures_per_10000") for r in (newreno, vegas, thinned)]
            goodput = mean(newreno, "goodput_bps")
            line(
                limit, rto, hops, goodput / 1e3, mean(vegas, "goodput_bps") / goodput,
                f"{100 * (1 - failures[1] / failures[0]):.1f} %" if failures[0] else "-",
                mean(vegas, "mean_window_segments"), mean(fixed, "mean_window_segments"), failures[2],
            )  # fmt: skip


HABITS = {
    "wlan.retry_counts": "mpdu",
    "wlan.backoff_range": "inclusive",
    "wlan.first_access": "immediate",
    "wlan.backoff_clock": "slotted",
    "wlan.post_backoff_after_failure": True,
    "wlan.eifs": "instead_of_difs",
    "wlan.captured_frame": "busy",
    "wlan.response_timeout": "rx_start",
    "wlan.data_needs_idle": False,
    "wlan.nav_reset": True,
}
"""Rules of the standard from which ns-2.35's MAC departs."""


def habits(runs: Runs) -> None:
    """The MAC of ns-2 has changed between 2003 and 2.35. Which of its habits decide?"""
    hops = (4, 7, 8, 20)
    print("goodput of Vegas by NewReno; window of Vegas; failures per 10,000: NewReno, Vegas, NewReno thinned")
    for name, value in {"": "", **HABITS}.items():
        changes = {name: value} if name else {}
        for h in hops:
            found = [runs.of(Point(v, h), changes) for v in ("newreno", "vegas2", "newreno_thin")]
            gain = mean(found[1], "goodput_bps") / mean(found[0], "goodput_bps")
            print(f"{f'{name} = {value}' if name else 'as in ns-2.35':<44}{h:>2} hops", end="")
            line(gain, mean(found[1], "mean_window_segments"), *(mean(r, "route_failures_per_10000") for r in found))


def thinned(runs: Runs) -> None:
    """The paper: NewReno with thinning has no false route failures below 8 hops, and then they increase sharply."""
    tried: dict[str, Changes] = {
        "as it is": {},
        "window of at most 3": {"tcp.receive_window": 3},
        "window of at most 4": {"tcp.receive_window": 4},
        "window of at most 5": {"tcp.receive_window": 5},
        "8 attempts": {"wlan.short_retry_limit": 8},
        "14 attempts": {"wlan.short_retry_limit": 14},
        "window of at most 4, 8 attempts": {"tcp.receive_window": 4, "wlan.short_retry_limit": 8},
        "window of at most 4, 9 attempts": {"tcp.receive_window": 4, "wlan.short_retry_limit": 9},
        "minimum RTO 1 s": {"tcp.rto.min": "1 s"},
        "ACKs held up to 50 ms": {"tcp.ack_thinning.timeout": "50 ms"},
        "ACKs held up to 200 ms": {"tcp.ack_thinning.timeout": "200 ms"},
        "duplicate ACKs held, too": {"tcp.ack_thinning.thin_dup_acks": True},
    }
    hops = (4, 6, 7, 8, 10)
    print(f"{'false route failures per 10,000 at hops':<40}", end="")
    line(*hops)
    for name, changes in tried.items():
        print(f"{name:<40}", end="")
        line(*(mean(runs.of(Point("newreno_thin", h), changes), "route_failures_per_10000") for h in hops))


def _upward(flows: Flows) -> Flows:
    """Flows of the grid with those along columns turned round."""
    return [*flows[:3], *((b, a) for a, b in flows[3:])]


def grid(runs: Runs) -> None:
    """The paper: Jain's index .32, .40, .54, .69 at 2 Mbit/s and .52, .63, .73, .94 at 11; NewReno's flows 1, 6 win."""
    place = "grid5x5c"
    straight = {"routing.protocol": "shortest_path"}
    tried: dict[str, Changes] = {
        "AODV": {},
        "AODV, 8 attempts": {"wlan.short_retry_limit": 8},
        "AODV after the 2nd failure": {"wlan.short_retry_limit": 14, "wlan.long_retry_limit": 8},
        "AODV after the 3rd failure": {"wlan.short_retry_limit": 21, "wlan.long_retry_limit": 12},
        "AODV by HELLO alone": {
            "wlan.short_retry_limit": "unlimited", "wlan.long_retry_limit": "unlimited", "routing.aodv.hello": True,
        },
        "AODV, no local repair": {"routing.aodv.local_repair": "never"},
        "AODV, queues of 10": {"queue.limit": 10},
        "fixed": straight,
        "fixed, queues of 10": straight | {"queue.limit": 10},
        "fixed, minimum RTO 1 s": straight | {"tcp.rto.min": "1 s"},
    }  # fmt: skip
    for upward in (False, True):
        flows = _upward(GRIDS[place].flows) if upward else GRIDS[place].flows
        print(f"layout A, flows along columns {'upward' if upward else 'downward'}: Jain's index of NewReno, thinned, ")
        print("Vegas, thinned; hops of a segment and goodput of each flow [kbit/s] of NewReno")
        for name, changes in tried.items():
            for rate in (2.0, 11.0):
                found = [
                    runs.of(Point(v, 0, rate, place), changes, flows)
                    for v in ("newreno", "newreno_thin", "vegas2", "vegas2_thin")
                ]
                each = ", ".join(f"{mean(found[0], f'flow{n}'):.0f}" for n in range(6))
                print(f"{name:<28}{rate:>4g} Mbit/s", end="")
                line(*(mean(r, "jain_index") for r in found), mean(found[0], "hops"), f"  {each}")


def paced(runs: Runs) -> None:
    """The paper implies about 164 kbit/s over 32 hops, if its TCP has our goodput; 11,680 bits in 71 ms."""
    print("goodput of each run [kbit/s] over 32 hops")
    for limit in (7, 8):
        for ms in (20, 28, 36, 40, 42, 44, 46, 48, 52, 60, 71.4):
            own = runs.of(Point(UDP, 32, interval_ms=ms), {"wlan.short_retry_limit": limit})
            each = ", ".join(f"{g / 1e3:.0f}" for g in sorted(own["goodput_bps"].to_list()))
            print(f"{limit} attempts, {ms:g} ms: {11_680 / ms:.0f} sent; {each}", flush=True)


def falls(runs: Runs) -> None:
    """The paper: thinning gives Vegas up to 25 % at 5.5 and 11 Mbit/s. Of ours that is so until a run falls."""
    for rate in RATES[1:]:
        for limit, variant in ((7, "vegas2_thin"), (7, "vegas2_fix_thin"), (8, "vegas2_thin"), (9, "vegas2_thin")):
            own = runs.of(Point(variant, 7, rate), {"wlan.short_retry_limit": limit})
            named = f"{rate:g} Mbit/s, {limit} attempts, {'stock' if variant == 'vegas2_thin' else 'four corrected'}"
            batches = [name for name in own.columns if name.startswith("batch")]
            found = absorbing(list(own.select(batches).to_numpy()))
            if found is None:
                print(f"{named}: {mean(own, 'goodput_bps') / 1e3:.0f} kbit/s; no run of {len(own)} is seen to fall")
                continue
            share, (low, high) = found.share(), found.share().interval()
            print(
                f"{named}: {100 * share.mean:.0f} % ({100 * low:.0f} to {100 * high:.0f} %) of {len(own)} runs fall, "
                f"from {found.before.mean:.0f} to {found.after.mean:.0f} kbit/s",
                flush=True,
            )


def vegas(runs: Runs) -> None:
    """The paper corrected "several subtle bugs" of ns-2's Vegas, and does not say which."""
    kinds: dict[str, tuple[str, Changes]] = {
        "as in ns-2.35": ("vegas2", {}),
        "four corrected": ("vegas2_fix", {}),
        "all corrected": ("vegas2", ALL),
    }
    wanted = [(h, 2.0) for h in (4, 8, 20, 32)] + [(7, rate) for rate in RATES]
    for thin in ("", "_thin"):
        print(f"Vegas {'with ACK thinning' if thin else 'without thinning'}: goodput [kbit/s], window")
        for hops, rate in wanted:
            cells = []
            for name, (variant, changes) in kinds.items():
                own = runs.of(Point(variant + thin, hops, rate), changes)
                window = mean(own, "mean_window_segments")
                cells.append(f"{name} {mean(own, 'goodput_bps') / 1e3:.0f}, {window:.1f}")
            print(f"{hops} hops, {rate:g} Mbit/s: {'; '.join(cells)}", flush=True)


def slow_start(runs: Runs) -> None:
    """The paper: from 7 hops on NewReno is more than 40 % of its time in slow start, its cwnd below ssthresh."""
    print("shares of the time [%]: in slow start, waiting for a timer; timeouts per 10,000 packets")
    for hops in (7, 8, 10, 12, 16, 20, 32, 40):
        own = runs.of(Point("newreno", hops), {"run.sample_interval": "500 ms"})
        shares = (100 * mean(own, name) for name in ("slow_start", "waiting"))
        line(f"{hops} hops", *shares, mean(own, "timeouts_per_10000"))


def _means_of_window(run: chappe.Results) -> tuple[float, float]:
    """The mean window over time, and over the lines of its trace, which has one for each change."""
    begin = run.tables["batches"].filter("used")["started_at_s"].min()
    lines = run.tables["cwnd"].filter(pl.col("time_s") >= begin)
    return run.tables["flows"]["mean_window_segments"][0], float(lines["cwnd_segments"].mean() or math.nan)


def windows(runs: Runs) -> None:
    """The paper: thinning makes NewReno's average window smaller. It does not say over what the average is taken."""
    rows = []
    for hops in (4, 6, 8, 12, 20, 32):
        means = []
        for variant in ("newreno", "newreno_thin"):
            made = scenario(Point(variant, hops), f"{runs.packets} delivered", changes={"run.record": ["cwnd"]})
            means.append(zip(*(_means_of_window(chappe.run(made, seed=seed)) for seed in runs.seeds), strict=True))
        for kind, plain, thin in zip(("time", "lines of the trace"), *means, strict=True):
            a, b = Estimate.of(plain), Estimate.of(thin)
            change = Quotient.between(b, a)
            numbers = (a.mean, b.mean, *(100 * (v - 1) for v in (change.mean, *change.interval())))
            rows.append((hops, kind, len(runs.seeds), *(f"{n:.3g}" for n in numbers)))
            line(*rows[-1])
    write_csv(PUBLISHED / "windows.csv", WINDOW_COLUMNS, rows)


CHAINS = (4, 8, 20, 32, 40)
WITHIN = (4, 8, 10)
"""Lengths of chains among which the window of Vegas is in the paper's range over some."""


class Changed(ElRakabawy):
    """The runs of the paper, as long and as many, with other settings, and with another Vegas."""

    full = FULL._replace(x=CHAINS)

    def __init__(self, changes: Changes, is_corrected: bool):
        self._changes, self._is_corrected = changes, is_corrected

    def scenario(self, point: Point, length: Length) -> chappe.Scenario:
        """The scenario of a point with the changes."""
        vegas = READINGS[CORRECTED](point) if self._is_corrected else point
        return super().scenario(vegas, length).with_settings(self._changes)


CORRECTED = "Vegas with four of its defects in ns-2.35 corrected"
ON_VEGAS = ("P0-A-5", "P0-F2-2", "P0-F5-1", "P0-F5-2", "P0-F6-4", "P0-F8-1", "P0-F8-2", "P0-F11-4", "P0-W-4")
"""Claims whose notes name the attempts of an RTS, or defects of Vegas."""

EIGHT = {"8 attempts of an RTS": False, "8 attempts, four defects of Vegas corrected": True}

CLAIM_COLUMNS = ("reading", "claim", "verdict", "points", "effects")


def unknowns(_runs: Runs) -> None:
    """The paper names neither the attempts of an RTS in its ns-2 nor the bugs of Vegas that it corrected.

    Runs are as long and as many as those of the main reading, whatever ``--packets`` and ``--seeds`` say.
    """
    rows = []
    claims = [c for c in CLAIMS if c.id in ON_VEGAS]
    for (title, is_corrected), chains in product(EIGHT.items(), (CHAINS, WITHIN)):
        design = Changed({"wlan.short_retry_limit": 8}, is_corrected)
        asked = claims if chains is CHAINS else [c for c in claims if c.id == "P0-F8-1"]
        points = {p: None for c in asked for p in c.needs(chains)}
        with design.run_cache(Path("results") / "why_elrakabawy" / title.replace(" ", "_"), None) as cache:
            data = runner.run(design, points, design.full._replace(x=chains), cache).table(points)
        for c in asked:
            a = c.judged(data).alone
            # Runs of a corrected Vegas record no airtime of data and ACKs (P0-W-4).
            if not a.observations:
                continue
            name = c.id if chains is CHAINS else f"{c.id} over {listed([f'{h} hops' for h in chains])}"
            rows.append((title, name, a.reported, a.counts, a.effects))
            line(*rows[-1])
    write_csv(PUBLISHED / "attempts.csv", CLAIM_COLUMNS, rows)


def corrected(_runs: Runs) -> None:
    """The paper: goodput of Vegas falls less with the hops than NewReno's; ns-2's falls more over 40 hops (P0-F6-5).

    Runs are those of the paper's claims, but ten of Vegas over 40 hops, which differ more than the others.
    """
    near, far = (READINGS[CORRECTED](Point("vegas2", hops)) for hops in (4, 40))
    planned = [near, *(Point("newreno", hops) for hops in (4, 40))]
    with DESIGN.run_cache(Path("results") / "why_elrakabawy" / "corrected", None) as cache:
        done = runner.run(DESIGN, planned, FULL, cache)
        rows = done.rows({far: DESIGN.scenario(far, FULL)}, FULL.many)[far]
    vegas_4, *newreno = done.table(planned).several(planned, GOODPUT)
    vegas_40 = DESIGN.estimates(far, rows, False)[GOODPUT]
    o = more("40 hops", ratio(vegas_40, vegas_4), ratio(newreno[1], newreno[0]))
    line(*(100 * (v - 1) for v in (o.effect.mean, *o.effect.interval())), f"p = {o.p_contradicts:.1g}")


EXPERIMENTS = {
    "attempts": attempts,
    "habits": habits,
    "thinned": thinned,
    "grid": grid,
    "paced": paced,
    "falls": falls,
    "vegas": vegas,
    "slow_start": slow_start,
    "corrected": corrected,
    "windows": windows,
    "unknowns": unknowns,
}


def main(arguments: list[str] | None = None) -> None:
    """Prints the table of an experiment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--packets", type=int, default=11_000, help="packets that a run delivers")
    parser.add_argument("--seeds", type=int, default=4, help="runs of each scenario")
    args = parser.parse_args(arguments)
    experiment = EXPERIMENTS[args.name]
    print(experiment.__doc__)
    experiment(Runs(args.packets, args.seeds))


if __name__ == "__main__":
    main()
