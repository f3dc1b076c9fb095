"""Reasons for differences from Su, Steenkiste and Gross (2008): an experiment for each of the largest differences.

``python reproductions/experiments/papers/why_su.py NAME`` prints a table; NAME is one of

- ``grid``: one flow, by the grid in which the paths lie, and along a row;
- ``hidden``: one flow over two hops, by whether its two ends hear each other;
- ``exponent``: one flow, by the path-loss exponent, with which nodes two hops apart hear each other or not;
- ``rows``: four flows on disjoint paths, by the distance of the rows;
- ``one_hop``: the schemes on such paths, with one row reversed, and with a SampleRate that gives a rate up earlier;
- ``impatient``: one flow, and four on one path, with that SampleRate;
- ``attempts``: one flow over five hops, by how often the MAC tries;
- ``limits``: the same by the window limit, at both rates;
- ``rts``: the same with autorate, without RTS and CTS, and with them by what an unanswered RTS counts;
- ``ping``: a datagram of 1500 bytes there and back on an idle path, whole and in the two fragments of a ping;
- ``wire``: buffers of 2, 4 and 50 on the way to the US over one and five hops, by what limits the wire;
- ``window``: one flow over five hops to Europe, by what else loses frames, and by the attempts of the chain.

What a buffer of 2 may be is part of the paper's page: ``chappe paper su2008 --extra buffers``. ``--paths`` says on how
many paths runs are made. Numbers are means over the paths, in some tables with their 95 % intervals.
"""

import argparse
import math
from collections.abc import Mapping
from typing import Any

import polars as pl
from chappe.stats import jain_index
from chappe.study import measure
from chappe_papers.pages.figures import cell
from chappe_papers.runs.measured import share
from chappe_papers.statistics.pairs import Paired
from chappe_papers.su2008.paths import Paths
from chappe_papers.su2008.paths import paths as drawn
from chappe_papers.su2008.points import (
    BUFFERS,
    COLUMNS,
    FROZEN,
    NEAR_ROW_M,
    PAPERS,
    RATES,
    ROW_M,
    ROWS,
    WINDOW,
    Point,
    scenario,
)


class Runs:
    """Makes runs.

    Attributes:
        paths: Paths of each scenario.
        on: The paths.
    """

    def __init__(self, paths: int, on: Paths | None = None):
        self.paths = paths
        self.on = on or drawn()

    def of(self, p: Point, changes: Mapping[str, Any] | None = None, row_m: float | None = None) -> dict[str, float]:
        """Measures of a point, the mean over the paths."""
        return {name: e.mean for name, e in self.paired(p, changes, row_m).items()}

    def paired(
        self, p: Point, changes: Mapping[str, Any] | None = None, row_m: float | None = None
    ) -> dict[str, Paired]:
        """Measures of a point, path by path."""
        own = scenario(p, dict(changes or {}), row_m)
        seeds = range(1, self.paths + 1)
        # Over one hop nothing but the seed of a run tells two paths apart.
        rows = {n: measure({n: self.on.on(n, p, own)}, [n], also=_of_run)[n] for n in seeds}
        names = [name for name in rows[1].columns if name.startswith("own_")]
        return {name: Paired.at({n: float(rows[n][name].fill_null(math.nan)[0]) for n in seeds}) for name in names}


def _of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Goodput of all [kbit/s], fairness, segments sent again, timeouts, window, mean delay, frames at 11 Mbit/s."""
    flows = tables["flows"]
    goodput = flows["goodput_bps"].to_list()
    first = tables["rates"].filter((pl.col("packet_class") == "data") & (pl.col("node") == 0))
    fast = first.filter(pl.col("rate_bps") == 11_000_000)
    resent, sent = float(flows["retransmissions"].sum()), float(flows["packets_sent"].sum())
    return {
        "own_kbps": sum(goodput) / 1e3,
        "own_jain": jain_index(goodput),
        "own_resent": 100 * resent / sent,
        "own_fast": 100 * share(float(fast["data_frames_sent"].sum()), float(first["data_frames_sent"].sum())),
        "own_timeouts": float(flows["timeouts"].sum()),
        "own_window": sum(flows["mean_window_segments"].fill_null(math.nan).to_list()) / len(flows),
        "own_delay_ms": 1e3 * max(flows["mean_delay_s"].fill_null(math.nan).to_list()),
    }


def grid(runs: Runs) -> None:
    """Grid, hops: throughput at 11 Mbit/s and with autorate [kbit/s], the second by the first, window at 11 Mbit/s."""
    grids = [(f"grid {seed}", Runs(runs.paths, Paths(grid_seed=seed))) for seed in (1, 2, 3)]
    for name, own in [*grids, ("along a row", Runs(runs.paths, Paths(grid_seed=0)))]:
        for hops in (2, 3, 5):
            fixed, auto = (own.paired(Point("path", hops, rate)) for rate in ("fixed", "auto"))
            kbps, other = fixed["own_kbps"], auto["own_kbps"]
            line(name, f"{hops}", cell(kbps), cell(other), cell(other.over(kbps)), cell(fixed["own_window"]))


def hidden(runs: Runs) -> None:
    """Over two hops, the ends: paths, kbit/s at 11 Mbit/s and with autorate, the second by the first."""
    fixed, auto = (runs.paired(Point("path", 2, rate))["own_kbps"] for rate in ("fixed", "auto"))
    for name, heard in (("hear each other", True), ("do not", False)):
        own = [n for n, _ in fixed.values if ends_hear(runs.on, n) == heard]
        if own:
            kbps, other = (Paired.at({n: v for n, v in e.values if n in own}) for e in (fixed, auto))
            line(name, f"{len(own)}", cell(kbps), cell(other), cell(other.over(kbps)))


def ends_hear(on: Paths, number: int) -> bool:
    """True if the ends of two hops sense each other where nobody else sends."""
    first = on.on(number, Point("path", 2), scenario(Point("path", 2), {}, ROW_M))
    # The preset has one threshold for preambles and for energy.
    sensed = float(str(first.settings["radio"]["sinr"]["energy_detection"]).removesuffix(" dBm"))
    ends = pl.col("src").is_in([0, 2]) & pl.col("dst").is_in([0, 2])
    signals = first.links.filter(ends)["signal_dbm"].to_list()
    return len(signals) == 2 and min(signals) >= sensed


def exponent(runs: Runs) -> None:
    """Exponent, paths on which the ends of two hops hear each other, autorate by 11 Mbit/s over two and five hops."""
    for n in (2.2, 2.6, 3.0, 3.4, 3.8):
        own = Runs(runs.paths, Paths({"radio.log_distance.exponent": n}))
        heard = sum(ends_hear(own.on, number) for number in range(1, own.paths + 1))
        quotients = []
        for hops in (2, 5):
            fixed, auto = (own.paired(Point("path", hops, rate))["own_kbps"] for rate in ("fixed", "auto"))
            quotients.append(cell(auto.over(fixed)))
        line(f"{n:g}", f"{heard}", *quotients)


def rows(runs: Runs) -> None:
    """Distance of the rows, hops, at 11 Mbit/s and with autorate: kbit/s, Jain's index; the first by the second."""
    for row_m in (1.0, NEAR_ROW_M, 3.5, 5.0, 7.0, ROW_M, 14.0):
        for hops in (1, 3, 5):
            own = [runs.of(Point("rows", hops, rate), None, row_m) for rate in RATES]
            cells = [x for o in own for x in (o["own_kbps"], o["own_jain"])]
            auto, fixed = (o["own_kbps"] for o in own)
            line(f"{row_m:g} m", f"{hops}", *cells, fixed / auto)


IMPATIENT = {"wlan.rate_control.sample_rate.max_failures": 1}
"""SampleRate gives a rate up after two frames in a row that were lost, instead of four."""


def one_hop(runs: Runs) -> None:
    """Layout, hops, scheme of Table VI: all flows together [kbit/s], Jain's index."""
    for hops in (1, 3):
        # Packets of the last row go the other way: its sender is at the other end of its path.
        reverse = {f"flow.{ROWS - 1}.src": COLUMNS * ROWS - 1, f"flow.{ROWS - 1}.dst": COLUMNS * ROWS - 1 - hops}
        for name, changes in (("as it is", {}), ("one reversed", reverse), ("impatient", IMPATIENT)):
            for scheme in PAPERS:
                own = runs.of(Point("rows", hops, scheme=scheme), changes)
                line(name, f"{hops}", scheme, own["own_kbps"], own["own_jain"])


def impatient(runs: Runs) -> None:
    """Layout, hops: autorate by 11 Mbit/s, with SampleRate as it is and with an impatient one."""
    for layout in ("path", "shared"):
        for hops in (1, 2, 5):
            fixed = runs.paired(Point(layout, hops, "fixed"))["own_kbps"]
            both = (runs.paired(Point(layout, hops), changes)["own_kbps"] for changes in ({}, IMPATIENT))
            line(layout, f"{hops}", *(cell(auto.over(fixed)) for auto in both))


def attempts(runs: Runs) -> None:
    """Attempts of the MAC, at 11 Mbit/s: throughput [kbit/s], segments sent again [%], timeouts, window [segments]."""
    for n in (11, 7, 5, 4, 3):
        limits = {"wlan.short_retry_limit": n, "wlan.long_retry_limit": n}
        own = runs.of(Point("path", 5, "fixed"), limits)
        line(f"{n}", own["own_kbps"], own["own_resent"], own["own_timeouts"], own["own_window"])


def limits(runs: Runs) -> None:
    """Limit: kbit/s at 11 Mbit/s and with autorate, paths on which that is more than at 2, frames at 11 Mbit/s [%]."""
    two: Paired | None = None
    for n in (2, 3, 4, 5, 7):
        fixed, auto = (runs.paired(Point("path", 5, rate, limit=n)) for rate in ("fixed", "auto"))
        kbps = auto["own_kbps"]
        two = two or kbps
        more = sum(a > b for (_, a), (_, b) in zip(kbps.values, two.values, strict=True))
        line(f"{n}", cell(fixed["own_kbps"]), cell(kbps), f"{more}", cell(auto["own_fast"]))


def rts(runs: Runs) -> None:
    """Autorate: throughput [kbit/s], the same without RTS, frames of data of the first node at 11 Mbit/s [%]."""
    none = runs.paired(Point("path"))
    names = ("no RTS", "RTS, an unanswered one uses up an attempt", "RTS, an unanswered one uses up none")
    points = (Point("path"), Point("path", rts=1, model=FROZEN), Point("path", rts=1))
    for p, name in zip(points, names, strict=True):
        own = runs.paired(p) if p.rts else none
        times = own["own_kbps"].over(none["own_kbps"])
        line(name, cell(own["own_kbps"]), cell(times), cell(own["own_fast"]))


def ping(runs: Runs) -> None:
    """Whole, or in two fragments of 1500 and 48 bytes: there and back [ms]."""
    whole = runs.of(Point("ping", 5, "fixed"))
    flow = {"app": "cbr", "src": 0, "dst": 5}
    parts = [{**flow, "cbr": {"payload": size, "interval": "200 ms"}} for size in ("1472 B", "20 B")]
    both = runs.of(Point("ping", 5, "fixed"), {"flow": parts})
    for name, own in (("1500 B", whole), ("1500 and 48 B", both)):
        line(name, 2 * own["own_delay_ms"])


def window(runs: Runs) -> None:
    """Frames lost whatever the signal is, or attempts of the chain: kbit/s, sent again [%], window, at both rates."""
    chain = "wlan.rate_control.sample_rate"
    tried = {f"{n} % lost": {"wlan.error.model": "uniform", "wlan.error.rate": n / 100} for n in (10, 20, 30)}
    tried |= {f"{2 + best + last} attempts": {f"{chain}.best_tries": best, f"{chain}.last_tries": last}
              for best, last in ((2, 1), (1, 1), (1, 0))}  # fmt: skip
    for name, changes in ({"as it is": {}} | tried).items():
        for rate, title in RATES.items():
            own = runs.of(Point("path", 5, rate, host="mesh_europe_later"), changes)
            line(name, title, own["own_kbps"], own["own_resent"], own["own_window"])


def wire(runs: Runs) -> None:
    """Buffer, rate of the wire and window, hops: throughput [kbit/s], window."""
    rates = {rate: {"wired_link.0.rate": rate} for rate in ("4719 kbit/s", "6 Mbit/s", "100 Mbit/s")}
    limits = rates | {f"100 Mbit/s, {WINDOW} segments": rates["100 Mbit/s"] | {"tcp.receive_window": WINDOW}}
    for scheme in ("buf2", "buf2_beside", "buf4", "buf4_beside", "reno"):
        for name, changes in limits.items():
            for hops in (1, 5):
                # Of the models it takes the buffer alone: the wire is changed here.
                p = Point("path", hops, scheme=scheme, host="mesh_us", model=BUFFERS)
                own = runs.of(p, changes)
                line(scheme, name, f"{hops}", own["own_kbps"], own["own_window"])


def line(*cells: object) -> None:
    """A row of a table."""
    print("  ".join(c if isinstance(c, str) else f"{c:.4g}" for c in cells), flush=True)


EXPERIMENTS = {
    "grid": grid,
    "hidden": hidden,
    "exponent": exponent,
    "rows": rows,
    "one_hop": one_hop,
    "impatient": impatient,
    "attempts": attempts,
    "limits": limits,
    "rts": rts,
    "ping": ping,
    "wire": wire,
    "window": window,
}


def main(arguments: list[str] | None = None) -> None:
    """Makes an experiment."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--paths", type=int, default=20, help="paths of each scenario (20)")
    args = parser.parse_args(arguments)
    print(EXPERIMENTS[args.name].__doc__)
    EXPERIMENTS[args.name](Runs(args.paths))


if __name__ == "__main__":
    main()
