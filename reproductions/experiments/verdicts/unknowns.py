"""Details that the papers leave open and that reverse claims: ``unknowns.csv`` in the package of each paper.

``python reproductions/experiments/verdicts/unknowns.py`` takes the effects of both readings from published tables.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import chappe_papers
from chappe_papers import summary
from chappe_papers.pages.files import write_csv
from chappe_papers.zhou2004.claims import ACKNOWLEDGEMENTS, BUFFER, HEADER, MECHANISM

DOCS = Path(__file__).parents[2] / "docs" / "papers"

COLUMNS = ("unknown", "claim", "of", "main_reading", "main", "other_reading", "other", "source")

Row = dict[str, str]


def table(paper: str, name: str) -> list[Row]:
    """A published table."""
    return list(csv.DictReader((DOCS / paper / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def span(numbers: Iterable[float]) -> str:
    """A range of effects."""
    values = list(numbers)
    low, high = f"{min(values):+.0f}", f"{max(values):+.0f}"
    return f"{low if low == high else f'{low} to {high}'} %"


def group(paper: str, claim: str, is_in: Callable[[Row], bool]) -> str:
    """The effects of some points of a claim in its published runs, those of the first unit."""
    rows = [r for r in table(paper, "claims") if r["claim"] == claim and r["effect"] and is_in(r)]
    return span(float(r["effect"]) for r in rows if r["unit"] == rows[0]["unit"])


# ---- Ahmed ----

_LOST, _DELAY, _RESENT = "segments lost [%]", "mean delay [ms]", "resent [%]"


def _holes(what: str, losses: tuple[str, ...], speeds: tuple[str, ...] = ()) -> tuple[str, str]:
    """Effects of E-NewReno compared with others that resends whole windows, and that resends holes."""
    rows = [
        r
        for r in table("ahmed2006", "holes")
        if r["measure"] == what and r["link loss"] in losses and (not speeds or r["speed [m/s]"] in speeds)
    ]
    whole, holes = ([float(r[n].split(" %")[0]) for r in rows] for n in ("whole windows", "holes only"))
    return span(whole), span(holes)


def ahmed() -> Iterator[tuple[str, ...]]:
    """Two details: the segments that E-NewReno resends, and the queue of ECN."""
    moving = ("5", "10", "15", "20", "25")
    for claim, of, what, losses, speeds in (
        ("P4-F2-1", "loss of E-NewReno compared with NewReno and Westwood, 5 to 25 m/s", _LOST, ("0 %",), moving),
        ("P4-F2-3", "loss compared with NewReno and Westwood, 10 and 20 m/s", _LOST, ("0 %",), ("10", "20")),
        ("P4-F3-1", "delay compared with NewReno and Westwood, 15 and 25 m/s", _DELAY, ("0 %",), ("15", "25")),
        ("P4-F6-1", "delay compared with NewReno and Westwood, 0 m/s, 1 % link loss", _DELAY, ("1 %",), ("0",)),
        ("P4-F6-2", "delay compared with NewReno and Westwood, 5 to 25 m/s, 1 % link loss", _DELAY, ("1 %",), moving),
        ("P4-W-2", "segments resent compared with NewReno and Westwood, 5 to 25 m/s", _RESENT, ("0 %",), moving),
    ):
        main, other = _holes(what, losses, speeds)
        source = "holes.csv" if claim != "P4-F6-1" else "holes.csv; ten runs at rest do not suffice, some hundred would"
        yield "what E-NewReno resends", claim, of, "whole windows", main, "holes only", other, source
    why = "nothing marks in a drop-tail queue, so that ECN is NewReno"
    for claim, of in (
        ("P4-F2-2", "loss of ECN compared with NewReno"),
        ("P4-F3-2", "delay of ECN compared with NewReno"),
        ("P4-F1-5", "throughput of ECN compared with NewReno"),
    ):
        main = group("ahmed2006", claim, lambda r: r["where"].endswith("against NewReno") and "(" not in r["unit"])
        yield "RED or drop-tail for ECN", claim, of, "RED for ECN", main, "drop-tail", "0 %", why
    main = group("ahmed2006", "P4-F6-3", lambda r: r["where"] == "ECN")
    other = group("ahmed2006", "P4-F6-3", lambda r: r["where"] == "NewReno")
    of = "delay of ECN compared with SACK at 5 m/s"
    yield "RED or drop-tail for ECN", "P4-F6-3", of, "RED for ECN", main, "drop-tail", other, why
    above, then = (
        next(r for r in table("ahmed2006", "readings_claims") if r["claim"] == "P4-F4-4" and r["reading"].startswith(b))
        for b in ("link loss above the MAC", "all of these, and TCP as in ns-2.26")
    )
    of = "throughput of ECN compared with NewReno, 20 m/s, 1 % link loss"
    others = "loss above the MAC; or ns-2.26, 2 Mbit/s, setdest of then", f"{above['effects']}; {then['effects']}"
    sides = "loss at the radio, ns-2.35, 11 Mbit/s", above["its effects"], *others
    yield "the place of link loss, or ns-2's release", "P4-F4-4", of, *sides, "readings_claims.csv"


# ---- ElRakabawy ----


def elrakabawy() -> Iterator[tuple[str, ...]]:
    """The grid, the attempts of an RTS, and the mean of a window."""
    layout = "the grid's layout and routes"
    straight = "why_elrakabawy.py grid: Jain's index .60 and .44, .83 and .79"
    yield (layout, "P0-A-3", "Jain's index of Vegas compared with NewReno's, layout A, 2 and 11 Mbit/s", "AODV",
           group("elrakabawy2005", "P0-A-3", lambda r: re.match(r"layout A, (2|11) ", r["where"]) is not None),
           "fixed routes", span((100 * (0.60 / 0.44 - 1), 100 * (0.83 / 0.79 - 1))), straight)  # fmt: skip
    for claim, of, sub_claim in (
        ("P0-A-9", "goodput of thinned Vegas compared with thinned NewReno", "in goodput"),
        ("P0-F16-1", "aggregate of NewReno compared with Vegas, 2 Mbit/s", ""),
        ("P0-F16-2", "aggregate of Vegas compared with NewReno, 5.5 and 11 Mbit/s", ""),
        ("P0-F16-3", "gain of thinned Vegas compared with the next lower rate", "of the gain"),
        ("P0-F17-1", "share of flows 2 to 5 of NewReno, 11 Mbit/s", "for the others"),
        ("P0-F17-2", "aggregate of Vegas compared with NewReno, 11 Mbit/s", "in all"),
        ("P0-F17-3", "aggregate of thinned Vegas compared with thinned NewReno, 11 Mbit/s", "in all"),
    ):
        a, c = (
            group("elrakabawy2005", claim, lambda r, n=name, s=sub_claim: r["group"] == n and r["sub_claim"] == s)
            for name in ("layout A", "layout C")
        )
        yield layout, claim, of, "layout C", c, "layout A", a, "claims.csv"
    attempts = {(r["reading"], r["claim"]): r for r in table("elrakabawy2005", "attempts")}
    eight = "8 attempts of an RTS"
    for claim, of, is_in in (
        ("P0-A-5", "goodput of Vegas with thinning compared with that without, 5.5 and 11 Mbit/s",
         lambda r: r["unit"] == "%"),
        ("P0-W-4", "air time for data of Vegas with thinning compared with that without, 5.5 and 11 Mbit/s",
         lambda r: r["where"].startswith("data")),
    ):  # fmt: skip
        main = group("elrakabawy2005", claim, is_in)
        other = attempts[eight, claim]["effects"]
        yield "how often an RTS is sent", claim, of, "seven times", main, "eight times", other, "attempts.csv"
    windows = table("elrakabawy2005", "windows")
    time, lines = (
        span(float(r["change [%]"]) for r in windows if r["mean over"] == kind)
        for kind in ("time", "lines of the trace")
    )
    for claim in ("P0-F8-3", "P0-W-2"):
        yield ("how the window is averaged", claim,
               "NewReno's window with thinning, 4, 6, 8, 12, 20 and 32 hops", "over time", time,
               "over lines of a trace", lines, "windows.csv")  # fmt: skip


# ---- Zhou and Su ----


def others() -> Iterator[tuple[str, str, str, str, str, str, str, str, str]]:
    """The paper, and a row."""
    rows = table("zhou2004", "readings_claims")
    vegas = "throughput of Vegas compared with the best other"
    for claim, reading, unknown, of, main, other in (
        ("P3-F2-2", "header", HEADER, f"{vegas}, below 0.5 % loss", "none, as in ns-2", "40 bytes"),
        ("P3-F2-3", "header", HEADER, f"{vegas}, TCP only, up to 2 % loss", "none, as in ns-2", "40 bytes"),
        ("P3-F3-1", "acknowledgements", ACKNOWLEDGEMENTS,
         "throughput with Snoop or ELN compared with TCP only, 4 to 10 % loss", "data only", "both ways"),
        ("P3-F4-2", "buffer", BUFFER, "unfairness of Tahoe compared with 0.1 % loss", "50 packets", "20 packets"),
        ("P3-F5-1", "authors", MECHANISM, "unfairness with Snoop compared with TCP only, Tahoe and Vegas",
         "that of ns-2.35", "that of its authors"),
    ):  # fmt: skip
        [r] = [r for r in rows if r["claim"] == claim and reading in r["reading"]]
        yield ("zhou2004", unknown, claim, of, main, r["its effects"], other, r["effects"], "readings_claims.csv")
    of_su = table("su2008", "readings_claims")
    [r] = [r for r in of_su if r["claim"] == "P2-T2-1"]
    yield ("su2008", "the places of the four paths", r["claim"], "Jain's index with autorate compared with 11 Mbit/s",
           "rows 2.5 m apart", r["its effects"], "rows 9.4 m apart, as in the frozen model", r["effects"],
           "readings_claims.csv")  # fmt: skip
    by_claim = {r["claim"]: r for r in of_su if r["reading"].startswith("A buffer of 2")}
    for claim, where in (("P2-T7-2", "four flows over 1 and 2 hops"), ("P2-T8-2", "one flow over hybrid paths")):
        r = by_claim[claim]
        yield ("su2008", "what a buffer of 2 holds", claim, f"throughput with a buffer of 2, {where}",
               "two packets, with the one that is sent", r["its effects"], "two packets beside that one", r["effects"],
               "readings_claims.csv")  # fmt: skip


def main() -> None:
    """Writes the files."""
    rows: dict[str, list[tuple[str, ...]]] = {"ahmed2006": list(ahmed()), "elrakabawy2005": list(elrakabawy())}
    for paper, *row in others():
        rows.setdefault(paper, []).append(tuple(row))
    for name, lines in rows.items():
        [paper_] = [p for p in chappe_papers.PAPERS if p.name == name]
        write_csv(Path(str(paper_.folder)) / summary.UNKNOWNS, COLUMNS, lines)


if __name__ == "__main__":
    main()
