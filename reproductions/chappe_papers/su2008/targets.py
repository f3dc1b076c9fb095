"""The numbers of the paper, each with its role, and what they are here: ``targets.csv``.

Four were used to calibrate, the others are predicted, or asked for their order, or computed for reading.
"""

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from chappe.stats import Estimate
from chappe.stats.quantiles import Quantile

from chappe_papers.judging.judge import times
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.best_subset import Among, choose
from chappe_papers.statistics.pairs import Paired, common
from chappe_papers.su2008.design import AGGREGATE, DELAY, JAIN, LARGEST, MEDIAN, RESENT, RTT, SLOW_START, WINDOW
from chappe_papers.su2008.points import HOPS, LIMITS, Point

CALIBRATE, PREDICT, ORDER, CONTEXT = "calibrate", "predict", "order", "context"


class Target(NamedTuple):
    """A number of the paper."""

    id: str
    source: str
    quantity: str
    hops: str
    """Length of the path, where the quantity names one."""
    paper: str
    unit: str
    role: str
    group: str
    """The target that a prediction belongs to."""
    range: str
    """Unit of the ends of the target range: percent of the number, apart from it, a factor of it, or a value."""
    low: str
    high: str
    below: str
    """Numbers below which this one is to lie."""
    against: str
    """The number of Reno with which its sign is compared."""
    impressive: str
    """Number that would impress."""
    note: str

    @property
    def number(self) -> float:
        """Value of the paper; NaN where the paper has words, or several numbers."""
        match = re.fullmatch(r"(?:> |about )?([\d.]+)", self.paper)
        return float(match[1]) if match else math.nan

    @property
    def is_exceeded(self) -> bool:
        """True if the paper says no more than that its number is exceeded."""
        return self.paper.startswith("> ")


@cache
def targets() -> tuple[Target, ...]:
    """All of them, in the order of the file."""
    text = files(__package__).joinpath("targets.csv").read_text(encoding="utf-8")
    return tuple(Target(**row) for row in csv.DictReader(text.splitlines()))


def printed(name: str) -> float:
    """The number of the paper with an id, or the first of several in one cell, in its unit."""
    target = next(t for t in targets() if t.id == name)
    return float(target.paper.split(" / ")[0])


SCHEMES = {"Reno": "reno", "Clamping 3": "clamp3", "Clamping 4": "clamp4", "Vegas": "vegas", "Buf 2": "buf2"}
BUFFERS = {"2": "buf2", "4": "buf4", "50": "reno"}
LATER = {"US": "mesh_us", "EU": "mesh_europe_later"}
BEST = {"all wireless": "", "Europe": "mesh_europe", "US": "mesh_us"}

Value = Callable[[Estimates], Estimate | None]


def _of(point: Point, measure: str, scale: float = 1.0) -> Value:
    def value(data: Estimates) -> Estimate | None:
        e = data.get(point, measure)
        return None if e is None else scaled(e, scale)

    return value


def scaled(e: Estimate, by: float) -> Estimate:
    """An estimate in another unit."""
    if by == 1.0:
        return e
    if isinstance(e, Quantile):
        return Quantile.at([by * v for v in e.ordered], e.q)
    if isinstance(e, Paired):
        return Paired.at({unit: by * v for unit, v in e.values})
    return Estimate(by * e.mean, by * by * e.variance, e.df, skewness=e.skewness)


def _ratio(a: Point, b: Point, measure: str = AGGREGATE) -> Value:
    def value(data: Estimates) -> Estimate | None:
        return next((times(x, y) for x, y in data.both(a, b, measure)), None)

    return value


def best_limit(data: Estimates, host: str) -> Estimate | None:
    """Autorate's window limit of the greatest throughput, chosen on every other path, with those not told from it."""
    by_limit = {n: data.get(Point("path", limit=n, host=host), AGGREGATE) for n in LIMITS}
    paired = {n: e for n, e in by_limit.items() if isinstance(e, Paired)}
    if not paired:
        return next((e for e in by_limit.values() if e is not None), None)
    values = common(list(paired.values()))
    if len(values) < 4:
        return None
    return Among.of_choice(choose({n: values[:, i] for i, n in enumerate(paired)}))


def _near_one(data: Estimates) -> Estimate | None:
    """Of one and two hops the ratio of medians that is farther from 1."""
    ratios = [_ratio(Point("path", h), Point("path", h, "fixed"), MEDIAN)(data) for h in (1, 2)]
    measured = [e for e in ratios if e is not None]
    return max(measured, key=lambda e: abs(e.mean - 1)) if len(measured) == len(ratios) else None


def _least_gain(data: Estimates) -> Estimate | None:
    """Of two to five hops the smallest ratio of fixed rates to autorate on disjoint paths."""
    ratios = [_ratio(Point("rows", h, "fixed"), Point("rows", h))(data) for h in HOPS[1:]]
    measured = [e for e in ratios if e is not None]
    return min(measured, key=lambda e: e.mean) if len(measured) == len(ratios) else None


def _ping(data: Estimates) -> Estimate | None:
    """There and back: twice the delay of a datagram of 1500 bytes on an idle path [ms]."""
    return _of(Point("ping", 5, "fixed"), DELAY, 2e3)(data)


_KBPS = 1e-3
_AUTO, _FIXED = Point("path"), Point("path", 5, "fixed")

_SINGLE: dict[str, Value] = {
    "C1": _of(Point("shared", 1, scheme="clamp3"), AGGREGATE, _KBPS),
    "C2": _of(_FIXED._replace(host="mesh_europe"), AGGREGATE, _KBPS),
    "C3": _ratio(_AUTO, _FIXED, MEDIAN),
    "C4": _of(Point("rows", 1, "fixed"), AGGREGATE, _KBPS),
    "T1-11": _of(_FIXED, RESENT),
    "T1-auto": _of(_AUTO, RESENT),
    "T1-thr": _ratio(_AUTO, _FIXED),
    "F6-rts": _ratio(_AUTO._replace(rts=1), _AUTO),
    "F6-rts11": _ratio(_FIXED._replace(rts=1), _FIXED),
    "F1-12": _near_one,
    "F4-25": _least_gain,
    "F2-cwnd11": _of(_FIXED, LARGEST),
    "F2-ss": _of(_AUTO, SLOW_START),
    "T4-rtt": _ping,
    "T4-us": _of(_FIXED._replace(host="us_mesh"), AGGREGATE, _KBPS),
    "T4-eum": _of(_FIXED._replace(host="europe_mesh"), AGGREGATE, _KBPS),
    "T4-mus": _of(_FIXED._replace(host="mesh_us"), AGGREGATE, _KBPS),
}


def value_of(t: Target) -> Value | None:
    """Our value of a number of the paper; ``None`` where the paper has several numbers in one cell."""
    if t.id in _SINGLE:
        return _SINGLE[t.id]
    kind, *rest = t.id.split("-")
    if kind in ("T6", "T6J"):
        return _of(Point("rows", int(rest[1]), scheme=SCHEMES[rest[0]]), *_table(kind))
    if kind in ("T7", "T7J"):
        return _of(Point("shared", int(rest[1]), scheme=SCHEMES[rest[0]]), *_table(kind))
    if kind == "T2":
        return _of(Point("rows", int(rest[1]), "fixed" if rest[0] == "11" else "auto"), JAIN)
    if kind == "T8":
        return _of(Point("path", int(rest[2]), scheme=SCHEMES[rest[1]], host=LATER[rest[0]]), AGGREGATE, _KBPS)
    if kind in ("T9", "L"):
        point = Point("path", int(rest[2]), scheme=BUFFERS[rest[1]], host=LATER[rest[0]])
        return _of(point, WINDOW) if kind == "T9" else _of(point, RTT, 1e3)
    if t.id.startswith("F6-opt-"):
        return lambda data: best_limit(data, BEST[t.id.removeprefix("F6-opt-")])
    return None


def _table(kind: str) -> tuple[str, float]:
    return (JAIN, 1.0) if kind.endswith("J") else (AGGREGATE, _KBPS)


class Prediction(NamedTuple):
    """A number of the paper with ours."""

    target: Target
    ours: Estimate

    @property
    def ratio(self) -> float:
        """Ours by theirs."""
        return self.ours.mean / self.target.number if self.target.number else math.nan

    @property
    def error(self) -> float:
        """Error as a share: the same for half and for double, less one.

        A number that is exceeded, as the paper says, is off only by what ours falls short of it.
        """
        if self.target.is_exceeded and self.ratio > 1:
            return 0.0
        return math.exp(abs(math.log(self.ratio))) - 1 if self.ratio > 0 else math.nan


KINDS = {"T4": "Table IV", "T6": "Table VI", "T7": "Table VII", "T7J": "Table VII, Jain's index", "T8": "Table VIII",
         "T9": "Table IX", "F4": "Figure 4"}  # fmt: skip
"""Tables and figures by the beginning of the names of their numbers."""

BUFFERS_OF_2 = "buffers of 2"
CALIBRATED = "used to calibrate"


def kind_of(t: Target) -> str:
    """Of which table a number is; what was used to calibrate and buffers of 2 are kinds of their own."""
    if t.role == CALIBRATE:
        return CALIBRATED
    if "Buf 2" in t.quantity or "buffer 2" in t.quantity:
        return BUFFERS_OF_2
    return KINDS.get(t.id.split("-")[0], "others")


def predictions(data: Estimates, roles: Iterable[str] = (PREDICT,)) -> Iterator[Prediction]:
    """Our values of the numbers with some roles."""
    for t in targets():
        value = value_of(t) if t.role in roles else None
        e = value(data) if value is not None else None
        if e is not None:
            yield Prediction(t, e)
