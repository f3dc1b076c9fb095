"""Claims whose verdict skewness could change, from ``claims.csv`` alone.

Points of 28 November 2026 have no skewness in the file, and are judged by Student's t alone. The correction of today
divides a t by two at most, and only on one side. ``python reproductions/experiments/verdicts/skewness.py`` lets it do
so at each of these points, on each side, or not: a claim whose verdict is always the same cannot change, whatever the
skewness is. Verdicts are those without regard to details that a paper leaves open. It reads the published files, or
those of given folders; like ``recompute.py``, it imports nothing of Chappe.
"""

import argparse
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

import recompute
from recompute import AGREES, CHOSE, NONE, OPEN, OPPOSITE, PUBLISHED, Point


class Doubted(Point):
    """A point as unfavorable as the correction may make it."""

    def corrected(self, z: float, sign: int) -> float:
        """Half of a t, on both sides; a known skewness is taken as it is."""
        return super().corrected(z, sign) if self.skewness else min(z, z / 2)


def doubted(p: Point) -> Point:
    """A point without its correction, doubted."""
    return Doubted(*(getattr(p, f.name) for f in fields(p)))


def decisions(of: Sequence[Point], doubts: Sequence[Point], alpha: float) -> list[set[str]]:
    """Decisions that each point may have.

    What Holm's rule rejects with the largest probabilities it rejects with all smaller ones, too, and what it does not
    reject with the smallest, it never does.
    """
    judged = [pair for pair in zip(of, doubts, strict=True) if pair[0].answer != CHOSE]
    n = len(judged)
    least, most = (recompute.holm([min(pair[i].p) for pair in judged]) for i in (0, 1))
    found = []
    for (p, worst), low, high in zip(judged, least, most, strict=True):
        (supports, contradicts), (weak_support, weak_contradiction) = p.p, worst.p
        possible = set() if high < alpha else {OPEN}
        if low < alpha and weak_contradiction > supports and not weak_contradiction * n < alpha:
            possible.add(AGREES)
        if low < alpha and (contradicts <= weak_support or contradicts * n < alpha):
            possible |= {OPPOSITE if q.is_opposite(n, alpha) else NONE for q in (p, worst)}
        found.append({p.answer} if p.is_given else possible)
    known = iter(found)
    return [{CHOSE} if p.answer == CHOSE else next(known) for p in of]


Counts = tuple[int, ...]
"""Numbers of points that agree, that say the opposite, and that have no effect."""


def counts(possible: Iterable[set[str]]) -> set[Counts]:
    """Numbers of points that there may be of each decision."""
    sums: set[Counts] = {(0, 0, 0)}
    for words in possible:
        steps = {tuple(int(word == of) for of in (AGREES, OPPOSITE, NONE)) for word in words}
        sums = {tuple(map(sum, zip(total, step, strict=True))) for total in sums for step in steps}
    return sums


def listed(points: Sequence[Point], numbers: Counts) -> list[str]:
    """Decisions of such numbers; verdicts follow from numbers, not from their order."""
    words = itertools.chain.from_iterable([w] * n for w, n in zip((AGREES, OPPOSITE, NONE), numbers, strict=True))
    return [CHOSE if p.answer == CHOSE else next(words, OPEN) for p in points]


def verdicts(rows: Sequence[dict[str, str]]) -> set[str]:
    """Verdicts that a claim may have."""
    own = [r for r in rows if r["answer"]]
    of = recompute.points(own)
    doubts = [p if r["skewness"] else doubted(p) for r, p in zip(own, of, strict=True)]
    alpha = float(rows[0]["level_percent"]) / 100
    said = rows[0]["size"] in recompute.SIZES
    sizes = {said if d is None else d for d in (recompute.differs(points, alpha) for points in (of, doubts))}
    possible = list(zip(of, decisions(of, doubts, alpha), strict=True))
    parts = [
        [pair for pair in possible if pair[0].sub_claim == name] for name in dict.fromkeys(p.sub_claim for p in of)
    ]
    found = set()
    for numbers in itertools.product(*(counts(words for _, words in part) for part in parts)):
        points = [[p for p, _ in part] for part in parts]
        words = itertools.chain.from_iterable(map(listed, points, numbers))
        flat, decided = list(itertools.chain.from_iterable(points)), list(words)
        found |= {recompute.verdict_of(flat, decided, size, "") for size in sizes}
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the claims that could change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with claims.csv")
    chosen = parser.parse_args(arguments)
    claims: dict[str, list[dict[str, str]]] = {}
    for folder in chosen.folders or sorted(f.parent for f in PUBLISHED.glob("*/claims.csv")):
        for row in recompute.read(folder):
            claims.setdefault(row["claim"], []).append(row)
    unsure = {name: found for name, rows in claims.items() if len(found := verdicts(rows)) > 1}
    for name, found in unsure.items():
        print(f"{name}: {claims[name][0]['verdict']}; {' or '.join(sorted(found))}")
    print(f"{len(claims)} claims, {len(claims) - len(unsure)} cannot change, {len(unsure)} could.")
    return 0


if __name__ == "__main__":
    main()
