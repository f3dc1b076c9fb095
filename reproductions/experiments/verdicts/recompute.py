"""Verdicts of all claims recomputed from ``claims.csv`` alone, by the rules of ``reproductions/docs/papers.md``.

``python reproductions/experiments/verdicts/recompute.py results/zhou2004 results/su2008`` reads effects, standard
errors and degrees of freedom, recomputes probabilities, decisions (Holm) and verdicts, and compares them with
those of the file; exit code 1 if any differs. Without folders it reads the published ones. Tests that need all runs
(ranks, single runs, resamples, equal values) are taken from the file, and counted. It imports nothing of Chappe, so
that a mistake there is not repeated here.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

PUBLISHED = Path(__file__).parents[2] / "docs" / "papers"

READING = 0.05
"""Reading tolerance of a number of the paper."""

AGREES, OPPOSITE, NONE, OPEN, CHOSE = "as the paper says", "opposite", "no effect", "open", "calibration"


@dataclass(frozen=True)
class Point:
    """A row of the file; all numbers in the unit in which they are printed."""

    where: str
    group: str
    sub_claim: str
    effect: float
    error: float
    slope: float
    curvature: float
    df: float
    paper: tuple[float, float]
    zero: float
    test: str
    limits: tuple[float, float]
    answer: str
    skewness: float = 0.0

    @property
    def is_given(self) -> bool:
        """True if its test needs all runs."""
        return self.test not in ("more", "less", "inside") or not self.error > 0

    def variance_at(self, value: float) -> float:
        """Squared error of the difference from a value.

        Of a quotient a / b it is the parabola (var a + value^2 var b - 2 value cov) / b^2, otherwise a constant.
        """
        x = value - self.effect
        return self.error**2 + self.slope * x + self.curvature * x**2

    def corrected(self, z: float, sign: int) -> float:
        """A t without the part that the skewness of the error explains, at most half of it; above a value, or below."""
        skewness = sign * self.skewness
        hall = z + skewness * z**2 / 3 + skewness**2 * z**3 / 27 + skewness / 6
        return min(z, max(hall, z / 2))

    def above(self, value: float) -> float:
        """Probability (two-sided) of such an effect if it is not above a value, which may be infinite."""
        return 1.0 if math.isinf(value) else self._beyond(self.effect - value, self.variance_at(value), 1)

    def below(self, value: float) -> float:
        """Probability (two-sided) of such an effect if it is not below a value, which may be infinite."""
        return 0.0 if math.isinf(value) else self._beyond(value - self.effect, self.variance_at(value), -1)

    def _beyond(self, difference: float, variance: float, sign: int) -> float:
        """Probability (two-sided) of such a difference if it is not positive; of equal values that of their signs."""
        if variance <= 0:
            return float(2.0**-self.df) if difference > 0 else 1.0
        return min(1.0, 2 * float(stats.t.sf(self.corrected(difference / math.sqrt(variance), sign), self.df)))

    @property
    def p(self) -> tuple[float, float]:
        """Probabilities if the claim is false, and if it is true."""
        if self.is_given:
            return float(self.answer != AGREES), float(self.answer not in (OPPOSITE, NONE))
        a, b = self.limits
        if self.test == "inside":
            return max(self.above(a), self.below(b)), min(self.below(a), self.above(b))
        return (self.above(a), self.below(b)) if self.test == "more" else (self.below(a), self.above(b))

    def is_opposite(self, points: int, alpha: float) -> bool:
        """True if it is certainly on the other side of none; always where a claim needs no size."""
        none, needed = self.limits
        if self.test == "inside" or none == needed:
            return True
        return (self.above(none) if self.test == "less" else self.below(none)) * points < alpha

    @property
    def outside(self) -> tuple[float, float] | None:
        """Probabilities if it is not above the paper's range, and not below, with the reading tolerance."""
        low, high = self.paper
        if self.is_given or math.isnan(high):
            return None
        low = high if math.isnan(low) else low
        wide = [end + sign * READING * abs(end - self.zero) for end, sign in ((low, -1), (high, 1))]
        return self.above(wide[1]), self.below(wide[0])


def number(text: str, empty: float = math.nan) -> float:
    """A number of the file."""
    return float(text) if text else empty


def points(rows: Iterable[dict[str, str]]) -> list[Point]:
    """The points of a claim."""
    found = []
    for r in rows:
        # "At least" has no upper end.
        high = number(r["paper_high"], math.inf if r["paper_low"] else math.nan)
        found.append(
            Point(
                r["where"], r["group"], r["sub_claim"], number(r["effect"]), number(r["standard_error"]),
                number(r["error_slope"], 0.0), number(r["error_curvature"], 0.0), number(r["degrees_of_freedom"]),
                (number(r["paper_low"]), high), number(r["zero"]), r["test"], (number(r["from"]), number(r["to"])),
                r["answer"], number(r["skewness"], 0.0),
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


def decisions(of: Sequence[Point], alpha: float) -> list[str]:
    """Decision of each point; numbers that have chosen the model are no tests."""
    judged = [p for p in of if p.answer != CHOSE]
    found = {}
    adjusted = holm([min(p.p) for p in judged])
    for p, of_all in zip(judged, adjusted, strict=True):
        supports, contradicts = p.p
        if p.is_given or not of_all < alpha:
            found[id(p)] = p.answer if p.is_given else OPEN
        elif contradicts <= supports or contradicts * len(judged) < alpha:
            found[id(p)] = OPPOSITE if p.is_opposite(len(judged), alpha) else NONE
        else:
            found[id(p)] = AGREES
    return [found.get(id(p), CHOSE) for p in of]


def word(agree: float, opposite: float, none: float, n: int) -> str:
    """The verdict by numbers of points that agree, of both that contradict, and of all."""
    if agree and opposite + none:
        return "mixed"
    if agree > n / 2:
        return "confirmed"
    if opposite + none > n / 2:
        return "opposite" if opposite > n / 2 else "no effect"
    return "undecided"


def counts(decided: Sequence[str]) -> tuple[int, int, int, int]:
    """Numbers of points that agree, of both that contradict, and of all that are judged."""
    return decided.count(AGREES), decided.count(OPPOSITE), decided.count(NONE), len(decided) - decided.count(CHOSE)


def verdict_of(of: Sequence[Point], decided: Sequence[str], differs: bool, hangs_on: str) -> str:
    """The verdict: sub-claims are judged each by itself, and count as points."""
    words = []
    for name in dict.fromkeys(p.sub_claim for p in of):
        own = counts([d for p, d in zip(of, decided, strict=True) if p.sub_claim == name])
        words.append(word(*own) if own[3] else CHOSE)
    if CHOSE in words:
        return CHOSE
    joined = words[0] if words else "undecided"
    if len(words) > 1:
        mixed = words.count("mixed")
        failing = words.count("opposite") + mixed, words.count("no effect")
        joined = word(words.count("confirmed") + mixed, *failing, len(words))
        _, opposite, none, n = counts(decided)
        if joined in ("opposite", "no effect") and opposite + none < n / 2:
            joined = "undecided"
    if hangs_on:
        return "depends"
    return "confirmed, effect size differs" if joined == "confirmed" and differs else joined


def differs(of: Sequence[Point], alpha: float) -> bool | None:
    """True if an effect is certainly outside of the paper's range; ``None`` where that needs all runs."""
    ranged = [p for p in of if not math.isnan(p.paper[1]) and p.answer != CHOSE]
    if any(p.is_given for p in ranged):
        return None
    pairs = [(p, *pair) for p in ranged if (pair := p.outside) is not None]
    beyond = holm([min(over, under) for _, over, under in pairs])
    found = [(p, b < alpha, over < under) for (p, over, under), b in zip(pairs, beyond, strict=True)]
    # "Up to": nothing is too small by itself, all together may be.
    upto = [is_out and not over for p, is_out, over in found if math.isnan(p.paper[0])]
    others = [is_out and (over or not math.isnan(p.paper[0])) for p, is_out, over in found]
    return any(others) or (bool(upto) and all(upto))


SIZES = ("larger", "smaller", "larger and smaller")


def compare(rows: Sequence[dict[str, str]]) -> list[tuple[str, ...]]:
    """Of each claim: verdict in the file and recomputed, whether the size differs, and the points decided otherwise."""
    found = []
    for name in dict.fromkeys(r["claim"] for r in rows):
        own = [r for r in rows if r["claim"] == name]
        of = points(r for r in own if r["answer"])
        alpha = float(own[0]["level_percent"]) / 100
        decided = decisions(of, alpha)
        said = own[0]["size"] in SIZES
        size = differs(of, alpha)
        others = sum(d != p.answer for d, p in zip(decided, of, strict=True))
        verdict = verdict_of(of, decided, said if size is None else size, own[0]["hangs_on"])
        is_size = "given" if size is None else "yes" if size == said else "no"
        given = sum(p.is_given for p in of)
        found.append((name, own[0]["verdict"], verdict, is_size, f"{others} of {len(of)}", str(given)))
    return found


HEADER = (
    "claim",
    "verdict in the file",
    "recomputed",
    "size agrees",
    "points decided otherwise",
    "taken from the file",
)

COLUMNS = {"effect", "standard_error", "error_slope", "error_curvature", "degrees_of_freedom", "paper_low",
           "paper_high", "zero", "test", "from", "to", "hangs_on", "skewness", "level_percent"}  # fmt: skip


def read(folder: Path) -> list[dict[str, str]]:
    """The claims of a folder of results."""
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        if missing := COLUMNS - set(table.fieldnames or ()):
            raise SystemExit(f"{folder / 'claims.csv'} has no {', '.join(sorted(missing))}")
        return list(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with claims.csv")
    chosen = parser.parse_args(arguments)
    folders = chosen.folders or sorted(f.parent for f in PUBLISHED.glob("*/claims.csv"))
    rows = [row for folder in folders for row in compare(read(folder))]
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    for row in (HEADER, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    differing = [row[0] for row in rows if row[1] != row[2] or row[3] == "no" or not row[4].startswith("0 ")]
    print(f"{len(rows)} claims, {len(differing)} differ{': ' + ', '.join(differing) if differing else ''}.")
    return 1 if differing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
