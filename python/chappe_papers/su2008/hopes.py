"""What was hoped of the predictions, and what came of it.

A hope is judged as a claim is: a number is met or missed where its interval says so, of all numbers of the hope
together (Holm), and else it is open.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from chappe import show
from chappe.stats import Estimate

from chappe_papers.judge import Answer, Case, Check, inside, less, more, times
from chappe_papers.su2008.points import HOPS
from chappe_papers.su2008.targets import Prediction, Target, predictions, targets, value_of
from chappe_papers.table import Table

WORDS: dict[Check, str] = {True: "met", False: "missed", None: "open"}

APART = 0.05
"""Schemes whose throughputs differ by more than this in the paper were hoped to come out in the same order."""


class Outcome(NamedTuple):
    """What came of a number, or of the order of two schemes.

    Attributes:
        id: Of the number; empty for an order.
        what: What it is, whatever the length of the path is.
        hops: Length of the path; the longest where it is not of one length.
        paper: The paper's.
        ours: The same here.
        ratio: Ours by theirs.
        inside: Whether ours as it is, whatever its interval, is as was hoped.
        check: Whether it is as was hoped; ``None`` when that is open.
    """

    id: str
    what: str
    hops: int
    paper: str
    ours: str
    ratio: float
    inside: bool
    check: Check


_LENGTH = r", (\d) hops"


def _series(t: Target) -> str:
    return f"{t.source}: {re.sub(_LENGTH, '', t.quantity).removesuffix(': aggregate')}"


def _hops(t: Target) -> int:
    found = re.search(_LENGTH, t.quantity)
    return int(found[1]) if found else HOPS[-1]


def range_of(t: Target) -> tuple[float, float]:
    """Where a number was hoped to lie, both ends among it.

    Raises:
        ValueError: Where it cannot be told from what was hoped for.
    """
    n, text = t.number, t.impressive

    def said(pattern: str) -> list[float]:
        found = re.search(pattern, text)
        return [float(x) for x in found.groups()] if found else []

    if of_one := said(rf"within ([\d.]+) of {n:g}\b"):
        # Limits are whole numbers.
        return n - of_one[0] - 0.5, n + of_one[0] + 0.5
    if share := said(r"^within ([\d.]+) %"):
        return n * (1 - share[0] / 100), n * (1 + share[0] / 100)
    if apart := said(rf"{n:g} within ([\d.]+)") or said(r"^within ([\d.]+)(?:;| and)"):
        return n - apart[0], n + apart[0]
    if factor := said(r"^factor ([\d.]+)"):
        return n / factor[0], n * factor[0]
    if ends := said(r"^([\d.]+) to ([\d.]+)"):
        return ends[0], ends[1]
    if least := said(r"^above ([\d.]+)"):
        return least[0], math.inf
    if most := said(r"^below ([\d.]+)"):
        return -math.inf, most[0]
    raise ValueError(text)


def _above(t: Target) -> list[Target]:
    """The numbers below which one was hoped to be."""
    kind, *_, last = t.id.split("-")
    if t.impressive.endswith("below every other scheme"):
        return [u for u in targets() if u.id.startswith(f"{kind}-") and u.id.endswith(f"-{last}") and u is not t]
    return [u for u in targets() if u.id == "T1-11"] if t.impressive.endswith("below fixed") else []


def _others(data: Table, p: Prediction) -> list[tuple[Target, Estimate]]:
    """What a number was hoped to be below."""
    values = ((t, value(data)) for t in _above(p.target) if (value := value_of(t)) is not None)
    return [(t, other) for t, other in values if other is not None]


def _cases(data: Table, p: Prediction) -> Iterator[Case]:
    yield inside(p.target.id, p.ours, *range_of(p.target))
    for t, other in _others(data, p):
        yield less(f"{p.target.id} below {t.id}", p.ours, other)


def _is_inside(data: Table, p: Prediction) -> bool:
    """Whether the number as it is, whatever its interval, is as was hoped."""
    low, high = range_of(p.target)
    return low <= p.ours.mean <= high and all(p.ours.mean < other.mean for _, other in _others(data, p))


def _numbers(names: str) -> Callable[[Table], list[Outcome]]:
    """A hope about the predictions with some names."""

    def found(data: Table) -> list[Outcome]:
        known = [p for p in predictions(data) if re.fullmatch(names, p.target.id)]
        cases = [list(_cases(data, p)) for p in known]
        checks = iter(Answer(tuple(c for own in cases for c in own)).checks)
        told = []
        for p, own in zip(known, cases, strict=True):
            t = p.target
            several = [next(checks) for _ in own]
            check = False if False in several else None if None in several else True
            ours = show.number(p.ours.mean, 2)
            told.append(Outcome(t.id, _series(t), _hops(t), t.paper, ours, p.ratio, _is_inside(data, p), check))
        return told

    return found


def _orders(pairs: Callable[[], Iterable[tuple[Target, Target]]]) -> Callable[[Table], list[Outcome]]:
    """A hope about the order of the schemes of some pairs."""

    def found(data: Table) -> list[Outcome]:
        cases, told = [], []
        for a, b in pairs():
            x, y = (value(data) for t in (a, b) if (value := value_of(t)) is not None)
            theirs = a.number / b.number
            if x is not None and y is not None and abs(theirs - 1) > APART:
                ours = times(x, y).mean
                what = f"{_series(a)}, beside {_scheme(b)}"
                case = (more if theirs > 1 else less)(what, x, y)
                cases.append(case)
                same = (ours > 1) == (theirs > 1)
                told.append(Outcome("", what, _hops(a), f"{theirs:.2f}", f"{ours:.2f}", ours / theirs, same, None))
        checks = Answer(tuple(cases)).checks
        return [o._replace(check=check) for o, check in zip(told, checks, strict=True)]

    return found


def _scheme(t: Target) -> str:
    return t.id.split("-")[-2]


def _beside_reno() -> Iterator[tuple[Target, Target]]:
    """Vegas and a buffer of 2, each with Reno."""
    known = {t.id: t for t in targets()}
    for t in targets():
        if re.fullmatch(r"T[678]-.*(Vegas|Buf 2)-\d", t.id):
            yield t, known[t.id.replace(_scheme(t), "Reno")]


def _disjoint() -> Iterator[tuple[Target, Target]]:
    """Each two schemes of Table VI at each length."""
    for h in HOPS:
        own = [t for t in targets() if re.fullmatch(rf"T6-.*-{h}", t.id)]
        yield from ((b, a) for a, b in combinations(own, 2))


_FAR = f"where the paper's differ by more than {100 * APART:.0f} %"

SAID: dict[str, Callable[[Table], list[Outcome]]] = {
    "Table VII, 2 to 4 hops: within 10 %": _numbers(r"T7-.*-[234]"),
    "Table VIII: within 15 %, with a buffer of 2 within 25 %": _numbers(r"T8-.*"),
    "Table IX: within 15 %": _numbers(r"T9-.*"),
    f"Vegas and a buffer of 2: the sign beside Reno, {_FAR}": _orders(_beside_reno),
    "Best window limits: within 1 of 4, 2 of 7, 3 of 13": _numbers(r"F6-opt-.*"),
    "Gain by RTS and CTS: 1.2 to 1.7": _numbers(r"F6-rts"),
    "Table VI, all flows together: within 25 %": _numbers(r"T6-.*"),
    f"Table VI: the order of each two schemes, {_FAR}": _orders(_disjoint),
    "Table VII, 1 and 5 hops: within 10 %": _numbers(r"T7-.*-[15]"),
    "Table VII, Jain's index: within 0.05 or 0.1, with a buffer of 2 below all others": _numbers(r"T7J-.*"),
    "Other numbers: each as the table of predictions says": _numbers(r"T1-.*|T4-.*|F1-.*|F2-.*|F4-.*"),
}
"""Hopes in words, each with what came of it. The numbers of all of them are the predictions, each once."""


def outcomes(data: Table) -> dict[str, list[Outcome]]:
    """What came of each hope for which there are runs."""
    return {says: found for says, of in SAID.items() if (found := of(data))}


def predicted(data: Table) -> list[Outcome]:
    """What came of what was hoped of each prediction."""
    return [o for found in outcomes(data).values() for o in found if o.id]


def tally(found: Iterable[Outcome]) -> list[int]:
    """How many are met, missed and open."""
    checks = [o.check for o in found]
    return [checks.count(check) for check in WORDS]
