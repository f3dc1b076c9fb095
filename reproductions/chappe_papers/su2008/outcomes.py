"""Outcomes of the predictions: which numbers lie in their target ranges.

A target is judged as a claim is: a number is met or missed where its interval says so, of all numbers of the target
together (Holm), and open otherwise.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from chappe import text as show
from chappe.stats import Estimate

from chappe_papers.judging.judge import Answer, Check, Observation, inside, less, more, times
from chappe_papers.runs.estimates import Estimates
from chappe_papers.su2008.points import HOPS
from chappe_papers.su2008.targets import Prediction, Target, predictions, targets, value_of

WORDS: dict[Check, str] = {True: "met", False: "missed", None: "open"}

APART = 0.05
"""Schemes whose throughputs differ by more than this in the paper are to have the same order here."""


class Outcome(NamedTuple):
    """Outcome of a number, or of the order of two schemes.

    Attributes:
        id: Of the number; empty for an order.
        what: The quantity, without the length of the path.
        hops: Length of the path; the longest where it is not of one length.
        paper: The paper's.
        ours: The same here.
        ratio: Ours by theirs.
        inside: True if our number, whatever its interval, lies in the target range.
        check: True if it significantly lies in the target range; ``None`` when undecided.
    """

    id: str
    what: str
    hops: int
    paper: str
    ours: str
    ratio: float
    inside: bool
    check: Check


def _series(t: Target) -> str:
    return f"{t.source}: {t.quantity.replace(f', {t.hops} hops', '').removesuffix(': aggregate')}"


def _hops(t: Target) -> int:
    return int(t.hops or HOPS[-1])


def range_of(t: Target) -> tuple[float, float]:
    """Target range of a number, both ends included."""
    n, low, high = t.number, float(t.low or -math.inf), float(t.high or math.inf)
    if t.range == "percent":
        return n * (1 + low / 100), n * (1 + high / 100)
    if t.range == "apart":
        return n + low, n + high
    return (n * low, n * high) if t.range == "factor" else (low, high)


def _named(names: str) -> list[Target]:
    """Numbers by their names, with a semicolon between two."""
    ids = names.split(";")
    return [t for t in targets() if t.id in ids]


def _others(data: Estimates, p: Prediction) -> list[tuple[Target, Estimate]]:
    """Numbers that are to be larger than this one."""
    values = ((t, value(data)) for t in _named(p.target.below) if (value := value_of(t)) is not None)
    return [(t, other) for t, other in values if other is not None]


def _observations(data: Estimates, p: Prediction) -> Iterator[Observation]:
    yield inside(p.target.id, p.ours, *range_of(p.target))
    for t, other in _others(data, p):
        yield less(f"{p.target.id} below {t.id}", p.ours, other)


def _is_inside(data: Estimates, p: Prediction) -> bool:
    """True if the number, whatever its interval, lies in its target range."""
    low, high = range_of(p.target)
    return low <= p.ours.mean <= high and all(p.ours.mean < other.mean for _, other in _others(data, p))


def _numbers(group: str) -> Callable[[Estimates], list[Outcome]]:
    """A target of predictions: those whose group it is in the file."""

    def judged(data: Estimates) -> list[Outcome]:
        numbers = [p for p in predictions(data) if p.target.group == group]
        observations = [list(_observations(data, p)) for p in numbers]
        checks = iter(Answer(tuple(c for of_number in observations for c in of_number)).checks)
        results = []
        for p, of_number in zip(numbers, observations, strict=True):
            t = p.target
            several = [next(checks) for _ in of_number]
            check = False if False in several else None if None in several else True
            ours = show.number(p.ours.mean, 2)
            results.append(Outcome(t.id, _series(t), _hops(t), t.paper, ours, p.ratio, _is_inside(data, p), check))
        return results

    return judged


def _orders(pairs: Callable[[], Iterable[tuple[Target, Target]]]) -> Callable[[Estimates], list[Outcome]]:
    """A target for the order of the schemes of some pairs."""

    def judged(data: Estimates) -> list[Outcome]:
        observations, results = [], []
        for a, b in pairs():
            x, y = (value(data) for t in (a, b) if (value := value_of(t)) is not None)
            theirs = a.number / b.number
            if x is not None and y is not None and abs(theirs - 1) > APART:
                ours = times(x, y).mean
                what = f"{_series(a)}, against {_scheme(b)}"
                observation = (more if theirs > 1 else less)(what, x, y)
                observations.append(observation)
                same = (ours > 1) == (theirs > 1)
                results.append(Outcome("", what, _hops(a), f"{theirs:.2f}", f"{ours:.2f}", ours / theirs, same, None))
        checks = Answer(tuple(observations)).checks
        return [o._replace(check=check) for o, check in zip(results, checks, strict=True)]

    return judged


def _scheme(t: Target) -> str:
    return t.id.split("-")[-2]


def _against_reno() -> Iterator[tuple[Target, Target]]:
    """Vegas and a buffer of 2, each with Reno."""
    yield from ((t, reno) for t in targets() for reno in _named(t.against))


def _disjoint() -> Iterator[tuple[Target, Target]]:
    """Each two schemes of Table VI at each length."""
    for h in HOPS:
        of_length = [t for t in targets() if t.id.startswith("T6-") and t.hops == str(h)]
        yield from ((b, a) for a, b in combinations(of_length, 2))


_FAR = f"where the paper's differ by more than {100 * APART:.0f} %"

TARGETS: dict[str, Callable[[Estimates], list[Outcome]]] = {
    "Table VII, 2 to 4 hops: within 10 %": _numbers("table 7, 2 to 4 hops"),
    "Table VIII: within 15 %, with a buffer of 2 within 25 %": _numbers("table 8"),
    "Table IX: within 15 %": _numbers("table 9"),
    f"Vegas and a buffer of 2: the sign against Reno, {_FAR}": _orders(_against_reno),
    "Best window limits: within 1 of 4, 2 of 7, 3 of 13": _numbers("best limit"),
    "Gain by RTS and CTS: 1.2 to 1.7": _numbers("RTS"),
    "Table VI, all flows together: within 25 %": _numbers("table 6"),
    f"Table VI: the order of each two schemes, {_FAR}": _orders(_disjoint),
    "Table VII, 1 and 5 hops: within 10 %": _numbers("table 7, 1 and 5 hops"),
    "Table VII, Jain's index: within 0.05 or 0.1, with a buffer of 2 below all others": _numbers("Jain"),
    "Other numbers: each as the table of predictions says": _numbers("others"),
}
"""Targets in words, each with its outcomes. The numbers of all of them are the predictions, each once."""


def outcomes(data: Estimates) -> dict[str, list[Outcome]]:
    """Outcomes of each target with runs."""
    return {says: results for says, of in TARGETS.items() if (results := of(data))}


def predicted(data: Estimates) -> list[Outcome]:
    """Outcomes of all predictions."""
    return [o for results in outcomes(data).values() for o in results if o.id]


def tally(results: Iterable[Outcome]) -> list[int]:
    """Number met, missed and open."""
    checks = [o.check for o in results]
    return [checks.count(check) for check in WORDS]
