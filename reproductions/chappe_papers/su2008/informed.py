"""The informed model: facts that the text of the paper supports, the numbers that chose them, and what they predict.

The predictions were made with the frozen model, and stay. Whoever chose the facts had seen all of the paper's numbers:
how much each fact predicts of a table that did not choose it is asked by leaving out one table after the other.
"""

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from chappe.stats import Share
from chappe.stats.quantiles import Quantile

from chappe_papers.judging.claims import needs
from chappe_papers.runs.estimates import Asked, Estimates, RequestedPoints, Traced
from chappe_papers.su2008.points import BUFFERS, FROZEN, INFORMED, ROWS_NEAR, RTS_APART, WINDOWS, Point
from chappe_papers.su2008.targets import CALIBRATE, PREDICT, Prediction, Target, predictions, targets, value_of


class Fact(NamedTuple):
    """A fact of the informed model.

    Attributes:
        says: What the model has.
        frozen: What the frozen model has in its place.
        text: What the paper says, by which the fact is supported.
        against: What of the paper speaks against it.
        chose: Beginnings of the names of the numbers it was chosen by, which no longer count.
    """

    says: str
    frozen: str
    text: str
    against: str
    chose: tuple[str, ...]


FACTS: dict[str, Fact] = {
    ROWS_NEAR: Fact(
        "rows a quarter of a hop apart (2.5 m)", "9.4 m",
        '"4x24 grid", "< 6 hops", stations "are chosen so only adjacent stations can directly communicate"',
        "over 1 hop 11 Mbit/s has 2.8 times the throughput of autorate", ("T6-", "F4-"),
    ),
    RTS_APART: Fact(
        "an unanswered RTS does not blame the rate", "it counts as a lost frame",
        '"significantly improves the TCP throughput for three out of five paths"', "nothing", ("F6-rts",),
    ),
    WINDOWS: Fact(
        "uploads have windows of 64 KiB", "wires with the rates of Table IV",
        'rate x round-trip time is 68 to 70 kB for every upload; "the BDP of the path is 45 MSS"',
        "mean windows of 48 to 69 (Table IX)", ("T8-US-Reno-1",),
    ),
    BUFFERS: Fact(
        "a buffer of 2 counts the packet that is sent", "two in addition to it",
        'so small a buffer, "i.e., 1 packet", reduces "the number of backlogged nodes"; 2 for both directions',
        "2,736 kbit/s to Europe over 1 hop", ("T8-US-Buf 2-1", "T8-EU-Buf 2-1", "T9-US-2-1", "T9-EU-2-1"),
    ),
}  # fmt: skip
"""Facts by name."""

WITHIN = 0.25
"""A number within this share of the paper's is hoped for."""

ALL = "all predictions"


def frozen(p: Point) -> Point:
    """A point in the frozen model."""
    return p._replace(model=FROZEN)


def chose(t: Target) -> bool:
    """True if a number has chosen a fact."""
    return any(t.id.startswith(name) for fact in FACTS.values() for name in fact.chose)


def _measures(t: Target) -> frozenset[Asked]:
    """The measures from which our value of a number is made."""
    traced = Traced({}, (), RequestedPoints({}))
    value = value_of(t)
    if value is not None:
        value(traced)
    return traced.taken()


@cache
def _chosen() -> tuple[list[frozenset[Asked]], list[frozenset[Asked]]]:
    """The measures of each number that chose a fact, and those of each that was used to calibrate."""
    own = [m for t in targets() if chose(t) and (m := _measures(t))]
    return own, [m for t in targets() if t.role == CALIBRATE and (m := _measures(t))]


def judges_nothing(asked: frozenset[Asked]) -> bool:
    """True if a comparison of these measures has among them a number that chose a fact, or is part of one.

    It judges nothing either if it is itself a number that was used to calibrate.
    """
    facts, calibrated = _chosen()
    return any(number <= asked or asked <= number for number in facts) or asked in calibrated


def is_within(p: Prediction) -> bool:
    """True if ours lies within :data:`WITHIN` of the paper's, or exceeds a number that is exceeded."""
    return abs(p.ratio - 1) <= WITHIN or p.error == 0


class Score(NamedTuple):
    """Closeness of some numbers.

    Attributes:
        errors: The error of each.
        within: Whether each is within :data:`WITHIN`.
    """

    errors: tuple[float, ...]
    within: tuple[bool, ...]

    @classmethod
    def of(cls, numbers: Sequence[Prediction]) -> "Score":
        """The score of some numbers."""
        return cls(tuple(p.error for p in numbers), tuple(map(is_within, numbers)))

    @property
    def share(self) -> str:
        """Number within, with the interval of their share (Clopper and Pearson)."""
        n = len(self.within)
        e = Share(sum(self.within) / n, 0.0, n - 1)
        low, high = e.interval()
        return f"{sum(self.within)}: {100 * e.mean:.0f} % ({100 * low:.0f} to {100 * high:.0f})"

    @property
    def median(self) -> float:
        """The median error."""
        return statistics.median(self.errors)

    @property
    def error(self) -> str:
        """The median error with its interval."""
        low, high = Quantile.at(list(self.errors), 0.5).interval()
        return f"{100 * self.median:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def of_model(data: Estimates, model: str) -> dict[str, Prediction]:
    """The predicted numbers with a model, by name."""
    return {p.target.id: p for p in predictions(data.seen_as(lambda p: p._replace(model=model)))}


def table_of(t: Target) -> str:
    """The table or figure of a number: ``Table VI``, ``Fig. 4``."""
    match = re.match(r"Table \w+|Fig\. \d+", t.source)
    return match[0] if match else t.source


def counted(numbers: Mapping[str, Prediction]) -> list[Prediction]:
    """The numbers that chose nothing."""
    return [p for p in numbers.values() if not chose(p.target)]


# ---- leaving out a table ----


def facts_of(t: Target) -> frozenset[str]:
    """The facts on which our value of a number rests."""
    value = value_of(t)
    points = needs(lambda data: [value(data)] if value else [], ())
    return frozenset[str]().union(*(p.facts for p in points))


def _models() -> Iterator[frozenset[str]]:
    """Every combination of the facts, the smallest first."""
    for n in range(len(FACTS) + 1):
        yield from map(frozenset, combinations(FACTS, n))


def _name(facts: frozenset[str]) -> str:
    return INFORMED if facts == frozenset(FACTS) else "+".join(sorted(facts)) or FROZEN


class LeftOut(NamedTuple):
    """A table that was left out: the facts that all other numbers choose, and its numbers with them, and without any.

    Attributes:
        table: The table or figure.
        facts: The chosen facts, of those that bear on the table.
        before: Its numbers with the frozen model.
        after: The same with these facts.
    """

    table: str
    facts: tuple[str, ...]
    before: list[Prediction]
    after: list[Prediction]


def left_out(data: Estimates) -> Iterator[LeftOut]:
    """Leaves out each table in turn, and predicts it with the facts of the least error of the numbers of all others.

    The error to choose by is the mean of the logarithms: a median does not notice a few numbers. Of equal combinations
    the one with fewest facts is chosen: a fact on which no other number rests stays out.
    """
    with_facts = {facts: of_model(data, _name(facts)) for facts in _models()}
    tables: dict[str, list[Target]] = {}
    for t in (p.target for p in with_facts[frozenset()].values()):
        tables.setdefault(table_of(t), []).append(t)
    for table, members in tables.items():
        bearing = frozenset[str]().union(*(facts_of(t) for t in members))
        if not bearing:
            continue
        rest = [t.id for name, others in tables.items() if name != table for t in others]

        def error(facts: frozenset[str], names: Sequence[str] = rest) -> float:
            logs = (math.log1p(with_facts[facts][name].error) for name in names)
            return round(math.fsum(log for log in logs if math.isfinite(log)), 9)

        best = min(with_facts, key=error)
        yield LeftOut(
            table,
            tuple(name for name in FACTS if name in best & bearing),
            [with_facts[frozenset()][t.id] for t in members],
            [with_facts[best][t.id] for t in members],
        )


def all_numbers(data: Estimates) -> Iterator[Prediction]:
    """Input of the three sheets below: every prediction, with every combination of facts that bears on it."""
    for facts in _models():
        yield from of_model(data, _name(facts)).values()


# ---- sheets ----

Rows = list[list[str]]


def fact_rows(_: Estimates, __: Estimates) -> Rows:
    """The facts, each with its sentence and with the numbers that chose it."""
    rows = []
    for fact in FACTS.values():
        names = [t.id for t in targets() if t.role == PREDICT and t.id.startswith(fact.chose)]
        shown = ", ".join(names) if len(names) <= 4 else f"{len(names)} of {', '.join(fact.chose)}"
        rows.append([fact.says, fact.frozen, fact.text, fact.against, shown])
    return rows


def score_rows(ours: Estimates, _: Estimates) -> Rows:
    """Numbers within 25 %, and median errors, with the frozen model and with the informed one."""
    before, after = (of_model(ours, model) for model in (FROZEN, INFORMED))
    folds = list(left_out(ours))
    untouched = [p for p in before.values() if table_of(p.target) not in {f.table for f in folds}]
    parts: list[tuple[str, Iterable[Prediction], Iterable[Prediction]]] = [
        ("that chose nothing", counted(before), counted(after)),
        ("that chose", [p for p in before.values() if chose(p.target)], [p for p in after.values() if chose(p.target)]),
        (ALL, before.values(), after.values()),
        (f"{ALL}, each table left out", before.values(), [*untouched, *(p for f in folds for p in f.after)]),
    ]
    rows = []
    for name, *both in parts:
        scores = [Score.of(list(numbers)) for numbers in both]
        cells = [x for pair in zip(*((s.share, s.error) for s in scores), strict=True) for x in pair]
        rows.append([name, str(len(scores[0].errors)), *cells])
    return rows


def left_out_rows(ours: Estimates, _: Estimates) -> Rows:
    """Each table left out: what the others choose, and how many of its numbers that predicts."""
    rows = []
    for f in left_out(ours):
        within = [f"{sum(map(is_within, numbers))} of {len(numbers)}" for numbers in (f.before, f.after)]
        errors = [f"{100 * Score.of(numbers).median:.0f} %" for numbers in (f.before, f.after)]
        rows.append([f.table, ", ".join(f.facts) or "none", *within, *errors])
    return rows


def number_rows(ours: Estimates, _: Estimates) -> Rows:
    """Every predicted number with both models."""
    before, after = (of_model(ours, model) for model in (FROZEN, INFORMED))
    rows = []
    for name, p in after.items():
        t, was = p.target, before[name]
        rows.append([
            name, t.quantity, t.hops, t.paper, t.unit, f"{was.ours.mean:.4g}", f"{was.ratio:.2f}", f"{p.ours.mean:.4g}",
            f"{p.ratio:.2f}", "yes" if is_within(p) else "no", "yes" if chose(t) else "no",
        ])  # fmt: skip
    return rows


def outside_rows(ours: Estimates, hops: Sequence[int]) -> Rows:
    """Numbers of the informed model outside 25 %, by length of the path: the paper's, ours, their ratio."""
    rows: dict[str, dict[int, str]] = {}
    for p in of_model(ours, INFORMED).values():
        if not is_within(p):
            t = p.target
            what = f"{t.source}: {t.quantity.replace(f', {t.hops} hops', '').removesuffix(': aggregate')}"
            cell = f"{t.paper} / {p.ours.mean:,.{0 if p.ours.mean >= 10 else 2}f} ({p.ratio:.2f})"
            rows.setdefault(what, {})[int(t.hops or hops[-1])] = cell
    return [[what, *(by_hops.get(h, "") for h in hops)] for what, by_hops in rows.items()]
