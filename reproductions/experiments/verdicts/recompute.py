"""Verdicts of twelve claims recomputed from ``claims.csv`` alone, by the rules of ``reproductions/docs/papers.md``.

``python reproductions/experiments/verdicts/recompute.py results/zhou2004 results/su2008`` reads effects, intervals,
standard errors and degrees of freedom, recomputes probabilities, decisions (Holm), sizes and verdicts, and compares
them with those of the file; exit code 1 if any differs. Without folders it reads the published ones; ``--quick`` is for
short runs. It imports nothing of Chappe, so that a mistake there is not repeated here.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy import optimize, stats

PUBLISHED = Path(__file__).parents[2] / "docs" / "papers"

READING = 0.05
"""Reading tolerance of a number of the paper."""


@dataclass(frozen=True)
class Point:
    """A row of the file, as a plain number: +12 % is 1.12, of a share 0.12."""

    where: str
    group: str
    sub_claim: str
    effect: float
    low: float
    high: float
    error: float
    df: float
    paper: tuple[float, float] | None
    is_upto: bool
    answer: str
    skewness: float = 0.0

    def variance_at(self, value: float) -> float:
        """Squared error of the difference from a value: the parabola through the effect and the ends of the interval.

        Of a quotient a / b it is (var a + value^2 var b - 2 value cov) / b^2; each end of Fieller's interval is as
        many errors away as the corrected t says. Of other intervals the parabola is a constant.
        """
        if self.error == 0:
            return 0.0
        below, above = self.reach(1), self.reach(-1)
        if not all(math.isfinite(x) for x in (below, above, self.low, self.high)):
            return math.nan
        x = np.array([self.effect, self.low, self.high])
        y = np.array([self.error, (self.effect - self.low) / below, (self.high - self.effect) / above]) ** 2
        scaled = (x - self.effect) / (self.high - self.low)
        return float(np.polyval(np.polyfit(scaled, y, 2), (value - self.effect) / (self.high - self.low)))

    def reach(self, sign: int) -> float:
        """Errors from the effect to an end: t, or farther where it is corrected for skewness (Hall), at most 2 t."""
        t = float(stats.t.ppf(0.975, self.df))
        if not math.isfinite(t):
            return math.nan
        return float(optimize.brentq(lambda z: self.corrected(z, sign) - t, t, 2.001 * t, xtol=1e-14, rtol=1e-14))

    def corrected(self, z: float, sign: int) -> float:
        """A t without the part that the skewness of the error explains, at most half of it; above a value, or below."""
        skewness = sign * self.skewness
        hall = z + skewness * z**2 / 3 + skewness**2 * z**3 / 27 + skewness / 6
        return min(z, max(hall, z / 2))

    def above(self, value: float) -> float:
        """Probability (two-sided) of such an effect if it is not above a value, which may be infinite."""
        if math.isinf(value):
            return 1.0
        variance = self.variance_at(value)
        if variance == 0:
            return float(2.0**-self.df) if self.effect > value else 1.0
        return min(1.0, 2 * float(stats.t.sf(self.corrected((self.effect - value) / math.sqrt(variance), 1), self.df)))

    def below(self, value: float) -> float:
        """The same if it is not below."""
        if math.isinf(value):
            return 0.0
        variance = self.variance_at(value)
        if variance == 0:
            return float(2.0**-self.df) if self.effect < value else 1.0
        return min(1.0, 2 * float(stats.t.sf(self.corrected((value - self.effect) / math.sqrt(variance), -1), self.df)))


Test = Callable[[Point], tuple[float, float]]
"""Probabilities of a point if the claim is false, and if it is true."""


def more(needed: float, none: float = 1.0) -> Test:
    """A difference above none, of at least this size."""
    return lambda p: (p.above(none), p.below(none + needed))


def less(needed: float) -> Test:
    """The same in the other direction."""
    return lambda p: (p.below(1.0), p.above(1.0 - needed))


def level(value: float) -> Test:
    """Above a value."""
    return lambda p: (p.above(value), p.below(value))


def equal(within: float) -> Test:
    """The same, give or take a share."""
    return lambda p: (max(p.above(1 - within), p.below(1 + within)), min(p.below(1 - within), p.above(1 + within)))


def never(p: Point) -> tuple[float, float]:
    """Not a single time."""
    return (float(2.0**-p.df), 1.0) if p.effect == 0 else (1.0, 0.0)


def chosen(low: float, high: float) -> Test:
    """A chosen value lies in a range: so do all that are as good."""
    low, high = low * (1 - READING), high * (1 + READING)

    def test(p: Point) -> tuple[float, float]:
        return (0.0 if low < p.low and p.high < high else 1.0), (0.0 if p.high < low or p.low > high else 1.0)

    return test


GAIN, SHARE, PLAIN = "gain", "share", "plain"
"""Ways to print an effect: +12 % is 1.12; 12 % is 0.12; 12 is 12."""


@dataclass(frozen=True)
class Rule:
    """The rule of a claim: how its effects are printed, and a test for each of its sub-claims."""

    form: str
    tests: Sequence[Test]


RULES = {
    "P0-A-1": Rule(GAIN, [more(0.15 / 2)]),
    "P0-A-2": Rule(SHARE, [more(0.57 / 2, none=0.0)]),
    "P0-A-6": Rule(PLAIN, [never]),
    "P0-A-8": Rule(SHARE, [level(0.4)]),
    "P0-F4-3": Rule(GAIN, [equal(0.05)]),
    "P2-F4-2": Rule(GAIN, [level(1.91)]),
    "P2-F6-1": Rule(PLAIN, [chosen(3, 5)]),
    "P2-F6-5": Rule(GAIN, [less(0.05)]),
    "P3-F2-2": Rule(GAIN, [more(0.0)]),
    "P3-F3-3": Rule(GAIN, [more(0.05)]),
    "P4-F1-6": Rule(GAIN, [more(0.05)]),
    "P4-F5-2": Rule(GAIN, [more(0.5 / 2), more(0.05)]),
}
"""Rules by claim: half of the paper's smallest effect, or 5 %; "slightly" needs none, "drastically" is 1.5 times."""


def points(rows: pl.DataFrame, form: str) -> list[Point]:
    """The points of a claim."""
    scale = 1.0 if form == PLAIN else 100.0
    offset = 1.0 if form == GAIN else 0.0
    found = []
    for r in rows.iter_rows(named=True):
        effect, low, high, paper_low, paper_high = (
            None if r[c] is None else r[c] / scale + offset
            for c in ("effect", "low_95", "high_95", "paper_low", "paper_high")
        )
        # A chosen value has none: its interval alone decides.
        error = math.nan if r["standard_error"] is None else r["standard_error"] / scale
        low, high = (math.nan if end is None else end for end in (low, high))
        # "At least" has no upper end; "up to" one number at both.
        highest = math.inf if paper_high is None else paper_high
        paper = (
            None if paper_low is None and paper_high is None else (highest if paper_low is None else paper_low, highest)
        )
        found.append(
            Point(
                r["where"], r["group"] or "", r["sub_claim"] or "", effect, low, high, error,
                r["degrees_of_freedom"], paper, paper_low is None, r["answer"], r.get("skewness") or 0.0,
            )
        )  # fmt: skip
    return found


def holm(p: Sequence[float]) -> list[float]:
    """Probabilities adjusted for the number of tests (Holm 1979)."""
    adjusted, highest = [math.nan] * len(p), 0.0
    order = [i for i in np.argsort(p, kind="stable") if not math.isnan(p[i])]
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, p[i] * (len(order) - rank)))
        adjusted[i] = highest
    return adjusted


WORDS = {True: "as the paper says", False: "contrary", None: "open"}


def decisions(of: Sequence[Point], rule: Rule, alpha: float) -> list[bool | None]:
    """Decision of each point: it agrees, contradicts, or is undecided."""
    tests = dict(zip(dict.fromkeys(p.sub_claim for p in of), rule.tests, strict=True))
    pairs = [tests[p.sub_claim](p) for p in of]
    found: list[bool | None] = []
    for (supports, contradicts), adjusted in zip(pairs, holm([min(pair) for pair in pairs]), strict=True):
        if not adjusted < alpha:
            found.append(None)
        else:
            found.append(not (contradicts <= supports or contradicts * len(of) < alpha))
    return found


def word(yes: int, no: int, n: int, is_short: bool) -> str:
    """The verdict by numbers of points that agree, contradict, and of all."""
    if no and (2 * no >= n or (2 * no > yes + no and 3 * (yes + no) >= n and not is_short)):
        return "refuted"
    if 2 * yes > n:
        return "confirmed with exceptions" if no else "confirmed"
    return "undecided"


def depends(of: Sequence[Point], checks: Sequence[bool | None], is_short: bool) -> bool:
    """True if the claim holds in some groups, or points without groups, and fails in others, a third or more."""
    if len({p.sub_claim for p in of}) > 1 or len({bool(p.group) for p in of}) > 1:
        return False
    names = [p.group or p.where for p in of]
    words = []
    for name in dict.fromkeys(names):
        own = [c for n, c in zip(names, checks, strict=True) if n == name]
        words.append(word(own.count(True), own.count(False), len(own), is_short))
    good, bad = sum(w.startswith("confirmed") for w in words), words.count("refuted")
    return good + bad == len(words) and 3 * min(good, bad) >= len(words) and min(good, bad) > 0


def size_of(of: Sequence[Point], alpha: float) -> str:
    """Size of the effects compared with the range of the paper, with the reading tolerance; empty without a range."""
    ranged = [
        (p, p.paper[0] - READING * abs(p.paper[0]), p.paper[1] + READING * abs(p.paper[1])) for p in of if p.paper
    ]
    if not ranged:
        return ""
    over, under = [p.above(high) for p, _, high in ranged], [p.below(low) for p, low, _ in ranged]
    beyond = holm([min(pair) for pair in zip(over, under, strict=True)])
    is_over = any(p < alpha and o < u for p, o, u in zip(beyond, over, under, strict=True))
    lower = [(p < alpha and u < o, at.is_upto) for p, o, u, (at, *_) in zip(beyond, over, under, ranged, strict=True)]
    upto = [is_lower for is_lower, is_upto in lower if is_upto]
    is_under = any(is_lower for is_lower, is_upto in lower if not is_upto) or (bool(upto) and all(upto))
    if is_over or is_under:
        return "larger and smaller" if is_over and is_under else "larger" if is_over else "smaller"
    # Each interval lies inside when both ends are excluded at the level of Bonferroni.
    within = alpha / len(ranged)
    is_inside = all(p.below(high) <= within and (p.is_upto or p.above(low) <= within) for p, low, high in ranged)
    is_reached = not upto or any(p.above(low) <= within for p, low, _ in ranged if p.is_upto)
    return "inside" if is_inside and is_reached else "undecided"


def verdict_of(of: Sequence[Point], checks: Sequence[bool | None], size: str, is_short: bool) -> str:
    """The verdict: sub-claims are judged each by itself, and count as points."""
    words = []
    for name in dict.fromkeys(p.sub_claim for p in of):
        own = [c for p, c in zip(of, checks, strict=True) if p.sub_claim == name]
        words.append(word(own.count(True), own.count(False), len(own), is_short))
    joined = words[0]
    if len(words) > 1:
        joined = word(sum(w.startswith("confirmed") for w in words), words.count("refuted"), len(words), is_short)
        if joined == "confirmed" and "confirmed with exceptions" in words:
            joined = "confirmed with exceptions"
    if joined != "confirmed":
        return "depends" if depends(of, checks, is_short) else joined
    return "confirmed, effect size differs" if size in ("larger", "smaller", "larger and smaller") else joined


def compare(claims: pl.DataFrame, is_short: bool) -> list[tuple[str, ...]]:
    """Of each claim: verdict and size in the file and recomputed, and the number of points with another decision."""
    rows = []
    alpha = 0.01 if is_short else 0.05
    for name, rule in RULES.items():
        own = claims.filter(pl.col("claim") == name, pl.col("effect").is_not_null())
        if own.is_empty():
            continue
        of = points(own, rule.form)
        checks = decisions(of, rule, alpha)
        size = size_of(of, alpha)
        others = sum(WORDS[c] != p.answer for c, p in zip(checks, of, strict=True))
        theirs = own.row(0, named=True)
        rows.append((name, theirs["verdict"], verdict_of(of, checks, size, is_short), theirs["size"] or "", size,
                     f"{others} of {len(of)}"))  # fmt: skip
    return rows


HEADER = ("claim", "verdict in the file", "recomputed", "size in the file", "recomputed", "points decided otherwise")


def read(folder: Path) -> pl.DataFrame:
    """The claims of a folder of results; empty columns are numbers, too."""
    numbers = ("effect", "low_95", "high_95", "standard_error", "degrees_of_freedom", "paper_low", "paper_high")
    rows = pl.read_csv(folder / "claims.csv", infer_schema=False)
    if missing := set(numbers) - set(rows.columns):
        raise SystemExit(f"{folder / 'claims.csv'} has no {', '.join(sorted(missing))}")
    # Files of tests without the correction have no skewness.
    return rows.with_columns(pl.col(*numbers, *({"skewness"} & set(rows.columns))).cast(pl.Float64))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with claims.csv")
    parser.add_argument("--quick", action="store_true", help="the runs are short")
    chosen_ = parser.parse_args(arguments)
    folders = chosen_.folders or sorted(f.parent for f in PUBLISHED.glob("*/claims.csv"))
    rows = [row for folder in folders for row in compare(read(folder), chosen_.quick)]
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    for row in (HEADER, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    differing = [row[0] for row in rows if row[1] != row[2] or row[3] != row[4] or not row[5].startswith("0 ")]
    print(f"{len(rows)} claims, {len(differing)} differ{': ' + ', '.join(differing) if differing else ''}.")
    return 1 if differing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
