"""Finds what Su, Steenkiste and Gross (2008) do not say of their testbed, from four of their numbers in turn.

``python reproductions/experiments/papers/calibrate_ivynet.py`` makes four searches, each with the values found by the
earlier ones, and prints all values that were tried, on paths along a row; ``--write`` keeps them as the table that the
paper's page shows.
The result is the preset ``ivynet`` and the distance of the rows of the frozen model in ``chappe_papers.su2008.points``.

1. Preambles and the rate of ACKs: four flows, one hop, window limit 3.
2. Signal over one hop and threshold of sensing: one flow at 11 Mbit/s, five hops and a wire to Europe. Of the pairs
   within 1 % of the number the one nearest to 12 and 4 dB.
3. Path-loss exponent and margin of re-locking: autorate compared with 11 Mbit/s over five hops, medians. Of the pairs
   within 1 % the one nearest to 2.2 and 5 dB (a decibel counts as much as 0.1 of the exponent).
4. Distance of the rows: four flows at 11 Mbit/s over one hop each.

``--paths`` makes runs fewer.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import chappe_papers.su2008
import polars as pl
from chappe import Scenario
from chappe.study import measure
from chappe_papers.pages.figures import write_csv
from chappe_papers.su2008.paths import Paths
from chappe_papers.su2008.points import FROZEN, Point, scenario

NOISE_DBM = -93.555
"""In 22 MHz with a noise figure of 7 dB."""

WANTED = {1: 5594.0, 2: 1077.0, 3: 0.64, 4: 10_217.0}
FILE = Path(chappe_papers.su2008.__file__).parent / "calibration.csv"
HEADER = ("step", "number", "wanted", "settings", "found", "of", "chosen")
NUMBERS = {
    1: "4 flows, 1 hop, Clamping 3 [kbit/s]",
    2: "1 flow, 5 hops, 11 Mbit/s, Mesh-Europe [kbit/s]",
    3: "autorate / 11 Mbit/s, 5 hops, medians",
    4: "4 rows, 1 hop, 11 Mbit/s, together [kbit/s]",
}
WITHIN = 0.01

Tried = list[tuple[str, float]]


def radio(signal_db: float, sensed_db: float, exponent: float, relock_db: float | None) -> dict[str, Any]:
    """Settings of the radio: signal over one hop and what is sensed, both above the noise."""
    return {
        "radio.log_distance.loss": f"{-NOISE_DBM - signal_db:.3f} dB",
        "radio.sinr.preamble_detection": f"{sensed_db:.3f} dB",
        "radio.sinr.energy_detection": f"{NOISE_DBM + sensed_db:.3f} dBm",
        "radio.log_distance.exponent": exponent,
        "radio.sinr.relock": "never" if relock_db is None else f"{relock_db:g} dB",
    }


def goodput(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Of all flows together [kbit/s]."""
    return {"own": sum(tables["flows"]["goodput_bps"].to_list()) / 1e3}


def over_paths(
    points: Mapping[str, Point], settings: Mapping[str, Any], paths: int, row_m: float
) -> dict[str, list[float]]:
    """Measures of points on as many paths, which are drawn with these settings."""
    drawn = Paths(settings, row_m, grid_seed=0)
    made: dict[Any, Scenario] = {}
    for name, p in points.items():
        own = scenario(p, dict(settings), row_m)
        made |= {(name, n): drawn.on(n + 1, p, own) for n in range(paths)}
    found = measure(made, [1], also=goodput)
    return {name: [float(found[name, n]["own"][0]) for n in range(paths)] for name in points}


def first() -> Tried:
    """Preambles, and the rates of ACKs."""
    made = {}
    for preamble, basic in (("long", "long"), ("short", "long"), ("short", "short")):
        for rates in (["1 Mbit/s"], ["1 Mbit/s", "2 Mbit/s"], ["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s"],
                      ["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]):  # fmt: skip
            settings = {"wlan.preamble": preamble, "wlan.basic_preamble": basic, "wlan.response_rates": rates}
            name = f"data {preamble}, ACK {basic} at up to {rates[-1]}"
            made[name] = scenario(Point("shared", 1, scheme="clamp3"), settings)
    found = measure(made, [1, 2, 3], also=goodput)
    return [(name, fmean(rows["own"].to_list())) for name, rows in found.items()]


def second(paths: int) -> Tried:
    """Signal and threshold of sensing."""
    point = {"own": Point("path", 5, "fixed", host="mesh_europe", model=FROZEN)}
    tried = []
    for signal in (11.8, 12.0, 12.2, 12.4):
        for sensed in (3.4, 3.6, 3.8, 4.0, 4.2):
            values = over_paths(point, radio(signal, sensed, 2.2, 5.0), paths, 10.0)["own"]
            tried.append((f"signal {signal:g} dB, sensed from {sensed:g} dB", fmean(values)))
    return tried


def third(paths: int, signal: float, sensed: float) -> Tried:
    """Exponent and margin of re-locking."""
    points = {"auto": Point("path"), "fixed": Point("path", rate="fixed")}
    tried = []
    for exponent in (2.0, 2.2, 2.4, 2.6, 2.8, 3.0, 3.2, 3.4):
        for relock in (5.0, 10.0, None):
            found = over_paths(points, radio(signal, sensed, exponent, relock), paths, 10.0)
            name = "none" if relock is None else f"{relock:g} dB"
            tried.append((f"exponent {exponent:g}, re-lock {name}", median(found["auto"]) / median(found["fixed"])))
    return tried


def fourth(paths: int, settings: Mapping[str, Any]) -> Tried:
    """Distance of the rows."""
    point = {"own": Point("rows", 1, "fixed", model=FROZEN)}
    return [(f"rows {m:g} m apart", fmean(over_paths(point, settings, paths, m)["own"])) for m in
            (8.0, 9.0, 9.2, 9.3, 9.4, 9.6, 10.0, 11.0)]  # fmt: skip


def numbers(name: str) -> list[float]:
    """The numbers in the name of a setting; what has none is infinite."""
    found = [w.rstrip(",") for w in name.split()]
    return [math.inf if w == "none" else float(w) for w in found if w == "none" or w.replace(".", "").isdigit()]


def chosen(step: int, tried: Tried) -> str:
    """The nearest to the number; of steps 2 and 3 the nearest to where the search began, of those within 1 %."""
    wanted = WANTED[step]
    nearest = min(tried, key=lambda t: abs(t[1] / wanted - 1))[0]
    begin = {2: (12.0, 4.0, 1.0), 3: (2.2, 5.0, 0.1)}.get(step)
    if begin is None:
        return nearest
    a, b, scale = begin

    def away(name: str) -> float:
        x, y = numbers(name)
        return math.hypot((x - a) / scale, min(abs(y - b), 20.0))

    return min((n for n, v in tried if abs(v / wanted - 1) <= WITHIN), key=away, default=nearest)


def main(arguments: Sequence[str] | None = None) -> None:
    """Makes the searches."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paths", type=int, default=50, help="paths of each number (50)")
    parser.add_argument("--write", action="store_true", help=f"keep what was tried as {FILE.name}")
    args = parser.parse_args(arguments)
    lines: list[tuple[str, ...]] = []

    def took(step: int, tried: Tried, of: str) -> list[float]:
        best = chosen(step, tried)
        for name, value in tried:
            shown = f"{value:.3f}" if value < 10 else f"{value:.0f}"
            row = (str(step), NUMBERS[step], f"{WANTED[step]:g}", name, shown, of, "yes" if name == best else "")
            lines.append(row)
            print("  ".join(row), flush=True)
        return numbers(best)

    of = f"{args.paths} paths"
    took(1, first(), "3 runs")
    signal, sensed = took(2, second(args.paths), of)
    exponent, relock = took(3, third(args.paths, signal, sensed), of)
    settings = radio(signal, sensed, exponent, None if math.isinf(relock) else relock)
    took(4, fourth(args.paths, settings), of)
    if args.write:
        write_csv(FILE, HEADER, lines)


if __name__ == "__main__":
    main()
