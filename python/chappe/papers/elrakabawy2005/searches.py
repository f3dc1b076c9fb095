"""The curves of the searches: which window of NewReno, which time between datagrams of paced UDP is best."""

import csv
import math
from pathlib import Path

from chappe.papers.elrakabawy2005.experiments import WINDOWS
from chappe.papers.elrakabawy2005.lab import Lab
from chappe.papers.elrakabawy2005.points import UDP

FILE = "searches.csv"
COLUMNS = ("setting", "hops", "rate_mbps", "value", "runs", "goodput_kbps", "half_width_95")

Row = tuple[str, int, float, float, int, float, float]


def curves(lab: Lab) -> list[Row]:
    """Every value that was tried, with the goodput of its runs.

    The short runs of a search are single ones, without an interval (NaN).
    """
    windows = {f"newreno_maxwin{w}": float(w) for w in WINDOWS}
    found: list[Row] = []
    for p, runs in lab.runs.items():
        e = lab.get(p, "goodput_kbps")
        measured = (len(runs), e.mean, e.half_width())
        if p.variant in windows:
            found.append(("tcp.window", p.hops, p.rate_mbps, windows[p.variant], *measured))
        elif p.variant == UDP and (p.hops, p.rate_mbps) in lab.tried:
            found.append(("cbr.interval_ms", p.hops, p.rate_mbps, p.interval_ms, *measured))
    for chain, tried in lab.tried.items():
        found += [("cbr.interval_ms", *chain, interval, 1, goodput, math.nan) for interval, goodput in tried.items()]
    return sorted(found, key=lambda row: row[:5])


def write(lab: Lab, folder: Path) -> None:
    """Writes the curves of what was searched, if anything was."""
    rows = curves(lab)
    if rows:
        with (folder / FILE).open("w", encoding="utf-8", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(COLUMNS)
            out.writerows(rows)
