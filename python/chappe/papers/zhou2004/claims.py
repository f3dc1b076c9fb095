"""The claims of the paper, in the order of its figures, and its conclusions."""

from collections.abc import Callable, Iterator, Sequence

from chappe.papers.claims import Claims, Finding
from chappe.papers.judge import GAIN, MUCH, SLIGHTLY, Case, Range, above, among, equal, less, more, times  # fmt: skip
from chappe.papers.table import Table
from chappe.papers.zhou2004.design import GOODPUT, PRINTED, UNFAIRNESS
from chappe.papers.zhou2004.points import ALIKE, MECHANISMS, PAPERS, VARIANTS, Point
from chappe.papers.zhou2004.points import READINGS as READINGS_OF
from chappe.stats import Estimate, difference, ratio

CLAIMS = Claims()
claim = CLAIMS.claim
Cases = Iterator[Case]

THROUGHPUT, FAIRNESS = "III A: throughput", "III B: unfairness"

_MATTERS = 0.9
"""Losses matter where TCP alone has less than this share of what it has without any."""


def _at(data: Table, variant: str, mechanism: str, rate: float, name: str = GOODPUT) -> Estimate | None:
    return data.get(Point(variant, mechanism, rate), name)


def _best(data: Table, mechanism: str, rate: float) -> Estimate | None:
    """The best of the variants that are much alike."""
    known = [_at(data, v, mechanism, rate) for v in ALIKE]
    return max((e for e in known if e is not None), key=lambda e: e.mean) if None not in known else None


def _rates(data: Table, low: float = 0.0, high: float = 10.0) -> list[float]:
    """Error rates above one and up to another [%]."""
    return [r for r in data.x if low < r <= high]


def _vegas(data: Table, mechanism: str, rates: Sequence[float], paper: Range | None = None) -> Cases:
    """Vegas is better than the best of the others."""
    for r in rates:
        vegas, best = _at(data, "vegas", mechanism, r), _best(data, mechanism, r)
        if vegas is not None and best is not None:
            yield more(f"{r:g} %", vegas, best, paper).of(MECHANISMS[mechanism])


@claim("P3-F2-1", "Tahoe, Reno and NewReno are very similar, with everything", section=THROUGHPUT, figures=(2,))
def _(data: Table) -> Cases:
    for m in PAPERS:
        for v in ALIKE[:2]:
            for r in _rates(data):
                own, newreno = _at(data, v, m, r), _at(data, "newreno", m, r)
                if own is not None and newreno is not None:
                    yield equal(f"{VARIANTS[v]} at {r:g} %", own, newreno).of(MECHANISMS[m])


@claim("P3-F2-2", "Vegas is better while less than 0.5 % is lost", section=THROUGHPUT, figures=(2,))
def _(data: Table) -> Cases:
    for m in PAPERS:
        yield from _vegas(data, m, _rates(data, high=0.4))


@claim("P3-F2-3", "TCP only: Vegas is better until 2 %, worse above", section=THROUGHPUT, figures=(2,))
def _(data: Table) -> Cases:
    for c in _vegas(data, "none", _rates(data, high=2.0)):
        yield c.of("")
    for r in _rates(data, low=2.0):
        vegas, best = _at(data, "vegas", "none", r), _best(data, "none", r)
        if vegas is not None and best is not None:
            yield less(f"{r:g} %", vegas, best)


def _fall(data: Table, variant: str, mechanism: str, low: float) -> Estimate | None:
    """How much goodput falls from an error rate to 10 %."""
    first, last = _at(data, variant, mechanism, low), _at(data, variant, mechanism, 10.0)
    return difference(first, last) if first is not None and last is not None else None


@claim("P3-F2-4", "ELN: Vegas is better below 0.4 %, falls much faster from 0.6 %", section=THROUGHPUT, figures=(2,))
def _(data: Table) -> Cases:
    yield from (c.of("below 0.4 %") for c in _vegas(data, "eln", _rates(data, high=0.4)))
    vegas = _fall(data, "vegas", "eln", 0.6)
    for v in ALIKE:
        if vegas is not None and (other := _fall(data, v, "eln", 0.6)) is not None:
            yield above(f"beside {VARIANTS[v]}", ratio(vegas, other), MUCH, form=GAIN).of("fall from 0.6 %")


@claim("P3-F2-5", "With Snoop Vegas is better, insignificantly towards 10 %", section=THROUGHPUT, figures=(2,))
def _(data: Table) -> Cases:
    for m in ("snoop", "both"):
        yield from _vegas(data, m, _rates(data, high=9.0))
        vegas, best = _at(data, "vegas", m, 10.0), _best(data, m, 10.0)
        if vegas is not None and best is not None:
            yield equal("10 %", vegas, best).of(MECHANISMS[m])


@claim("P3-F3-1", "Snoop and ELN improve every TCP (where losses matter)", section=THROUGHPUT, figures=(2, 3))
def _(data: Table) -> Cases:
    for v in (*ALIKE, "vegas"):
        whole = _at(data, v, "none", 0.0)
        for r in _rates(data):
            alone = _at(data, v, "none", r)
            helped = {m: _at(data, v, m, r) for m in ("snoop", "eln")}
            if whole is not None and alone is not None and alone.mean < _MATTERS * whole.mean:
                for m, e in helped.items():
                    if e is not None:
                        yield more(f"{VARIANTS[v]} at {r:g} %", e, alone).of(MECHANISMS[m])


def _beside_eln(data: Table, v: str, rates: Sequence[float]) -> Iterator[tuple[str, Estimate, Estimate]]:
    for r in rates:
        snoop, eln = _at(data, v, "snoop", r), _at(data, v, "eln", r)
        if snoop is not None and eln is not None:
            yield f"{VARIANTS[v]} at {r:g} %", snoop, eln


@claim("P3-F3-2", "They are similar below 2 %; above, Snoop is better", section=THROUGHPUT, figures=(3,))
def _(data: Table) -> Cases:
    for v in ("tahoe", "vegas"):
        for where, snoop, eln in _beside_eln(data, v, _rates(data, high=1.9)):
            yield equal(where, snoop, eln, SLIGHTLY).of("below 2 %")
        for where, snoop, eln in _beside_eln(data, v, _rates(data, low=2.0)):
            yield more(where, snoop, eln).of("above 2 %")
        falls = [_fall(data, v, m, 2.0) for m in ("eln", "snoop")]
        if falls[0] is not None and falls[1] is not None:
            yield above(f"{VARIANTS[v]}, fall from 2 %", ratio(falls[0], falls[1]), MUCH, form=GAIN).of("above 2 %")


@claim("P3-F3-3", "Tahoe, Reno and NewReno are best with both together", section=THROUGHPUT, figures=(2, 3))
def _(data: Table) -> Cases:
    for v in ALIKE:
        for r in _rates(data):
            both, *others = (_at(data, v, m, r) for m in ("both", *PAPERS[:3]))
            known = [e for e in others if e is not None]
            if both is not None and len(known) == len(others):
                best = max(known, key=lambda e: e.mean)
                yield more(f"{r:g} %", both, best).of(VARIANTS[v])


# ---- unfairness ----


def _unfair(data: Table, variant: str, mechanism: str, rate: float) -> Estimate | None:
    return _at(data, variant, mechanism, rate, UNFAIRNESS)


@claim("P3-F4-1", "Vegas is much less fair than Tahoe in general", section=FAIRNESS, figures=(4,))
def _(data: Table) -> Cases:
    for r in _rates(data):
        vegas, tahoe = _unfair(data, "vegas", "none", r), _unfair(data, "tahoe", "none", r)
        if vegas is not None and tahoe is not None:
            yield above(f"{r:g} %", times(vegas, tahoe), MUCH)
    yield from _single(data, "vegas", "none", 10.0)


def _single(data: Table, variant: str, mechanism: str, rate: float) -> Cases:
    """The unfairness that the paper prints, of a single run, among single runs of ours."""
    if (e := _unfair(data, variant, mechanism, rate)) is not None:
        one = PRINTED[variant, mechanism, rate]
        yield among(f"{VARIANTS[variant]}, {one:g} in a run at {rate:g} %", e, one)


@claim("P3-F4-2", "Tahoe becomes less fair as more is lost", section=FAIRNESS, figures=(4,))
def _(data: Table) -> Cases:
    first = _unfair(data, "tahoe", "none", _rates(data)[0])
    for r in _rates(data, low=0.5):
        if first is not None and (e := _unfair(data, "tahoe", "none", r)) is not None:
            yield more(f"{r:g} %", e, first)
    yield from _single(data, "tahoe", "none", 10.0)


def _compared(data: Table, v: str, mechanism: str, beside: str) -> Iterator[tuple[str, Estimate, Estimate]]:
    for r in _rates(data, low=0.05):
        own, other = _unfair(data, v, mechanism, r), _unfair(data, v, beside, r)
        if own is not None and other is not None:
            yield f"{r:g} %", own, other


@claim("P3-F5-1", "Snoop makes it slightly fairer", section=FAIRNESS, figures=(4, 5))
def _(data: Table) -> Cases:
    for v in ("tahoe", "vegas"):
        for where, snoop, alone in _compared(data, v, "snoop", "none"):
            yield less(where, snoop, alone, (1 - SLIGHTLY, 1.0)).of(VARIANTS[v])


@claim("P3-F5-2", "With Snoop at 0.8 % unfairness is 0.5 (Vegas) and 0.08 (Tahoe)", section=FAIRNESS, figures=(5,))
def _(data: Table) -> Cases:
    for v in ("vegas", "tahoe"):
        yield from _single(data, v, "snoop", 0.8)


@claim("P3-F5-3", "ELN, and ELN with Snoop, are as unfair as Snoop", section=FAIRNESS, figures=(2, 5))
def _(data: Table) -> Cases:
    for m in ("eln", "both"):
        for v in ("tahoe", "vegas"):
            for where, own, snoop in _compared(data, v, m, "snoop"):
                yield equal(f"{MECHANISMS[m]}, {where}", own, snoop, SLIGHTLY).of(VARIANTS[v])


ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding(
        "Tahoe, Reno and NewReno have very similar throughput",
        "no difference seen",
        ("P3-F2-1",),
        "they differ where windows lose several packets, at the highest error rates",
    ),
    Finding(
        "Vegas has slightly more throughput",
        "until 2 % are lost",
        ("P3-F2-3", "P3-F2-2"),
        "ns-2's Vegas sends packets without a header",
    ),
    Finding(
        "Snoop and ELN improve throughput",
        "every TCP",
        ("P3-F3-1",),
        "where losses cost throughput at all",
    ),
    Finding(
        "Snoop is better than ELN where much is lost",
        "above 2 %",
        ("P3-F3-2", "P3-F2-5"),
        "it repairs losses on the link, within a round-trip time",
    ),
    Finding(
        "Both together are best",
        "Tahoe, Reno, NewReno",
        ("P3-F3-3",),
        "ELN answers duplicates that Snoop lets pass, with needless copies",
    ),
    Finding(
        "Vegas is much less fair than Tahoe",
        "unfairness 3.0 beside 0.7 at 10 %",
        ("P3-F4-1", "P3-F4-2"),
        "single runs have a heavy tail",
    ),
    Finding(
        "None of them makes it fair",
        "slightly better with Snoop",
        ("P3-F5-1", "P3-F5-3", "P3-F5-2"),
        "fairness follows the errors that each flow happens to meet",
    ),
)
"""What the paper concludes."""


def _reading(name: str) -> Callable[[Point], Point]:
    return lambda p: p._replace(reading=name)


READINGS = {READINGS_OF[n].title: _reading(n) for n in ("ns2", "2003_header", "2003_both_ways")}
"""Readings that change one thing of the main one; the addition ``readings`` has all of them."""
