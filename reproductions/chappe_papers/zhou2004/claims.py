"""The claims of the paper, in the order of its figures, and its conclusions."""

from collections.abc import Callable, Sequence

from chappe.stats import Estimate

from chappe_papers.judging.claims import Claims, Finding, Observations, compare
from chappe_papers.judging.judge import MUCH, SLIGHTLY, TIMES, Observation, above, among, equal, less, more, times
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.counted import difference, ratio
from chappe_papers.zhou2004.design import GOODPUT, PRINTED, UNFAIRNESS, of_alike
from chappe_papers.zhou2004.points import ALIKE, MECHANISMS, PAPERS, VARIANTS, Point
from chappe_papers.zhou2004.points import READINGS as READINGS_OF

CLAIMS = Claims()
claim = CLAIMS.claim

THROUGHPUT, FAIRNESS = "III A: throughput", "III B: unfairness"

HEADER = "whether Vegas' packets have a header"
ACKNOWLEDGEMENTS = "whether acknowledgements are lost, too"
BUFFER = "the buffer before the lossy link"
MECHANISM = "whose Snoop it is"
"""Details that the paper leaves open and that reverse claims: ``unknowns.csv`` has the effects."""

MATTER = (4.0, 6.0, 8.0, 10.0)
"""Error rates at which losses matter [%]: a flow has, by the formula of Padhye et al., less than 90 % of its share."""

_RATES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, *MATTER)
"""Error rates at which claims are judged [%], the same for short runs; below them a flow loses four packets at most."""

_DRAWN = ("tahoe", "vegas")
"""The variants of Figures 3 to 5: Reno and NewReno are much like Tahoe."""


def _rates(low: float = 0.0, high: float = 10.0) -> list[float]:
    """Error rates above `low` and up to `high` [%]."""
    return [r for r in _RATES if low < r <= high]


def _vegas(
    data: Estimates,
    says: Callable[..., Observation],
    mechanism: str,
    rates: Sequence[float],
    *paper: object,
    which: Callable[..., Estimate] = max,
) -> Observations:
    """Observations of Vegas compared with the best, or the worst, of the others."""
    for r in rates:
        vegas, other = data.get(Point("vegas", mechanism, r), GOODPUT), of_alike(data, mechanism, r, which)
        if vegas is not None and other is not None:
            yield says(f"{r:g} %", vegas, other, *paper).of(MECHANISMS[mechanism])


def _mechanisms(
    data: Estimates,
    says: Callable[..., Observation],
    v: str,
    m: str,
    rival: str,
    rates: Sequence[float],
    name: str = GOODPUT,
    *paper: object,
) -> Observations:
    """Observations of a measure of a variant with one mechanism compared with another, at some error rates."""
    pairs = [(f"{r:g} %", Point(v, m, r), Point(v, rival, r)) for r in rates]
    return (c.of(VARIANTS[v]) for c in compare(data, says, pairs, name, *paper))


@claim("P3-F2-1", "Tahoe, Reno and NewReno are very similar with every mechanism", section=THROUGHPUT, figures=(2,))
def _(data: Estimates) -> Observations:
    for m in PAPERS:
        for v in ALIKE[:2]:
            pairs = [(f"{VARIANTS[v]} at {r:g} %", Point(v, m, r), Point("newreno", m, r)) for r in MATTER]
            yield from (c.of(MECHANISMS[m]) for c in compare(data, equal, pairs, GOODPUT))


@claim("P3-F2-2", "Vegas is slightly better below 0.5 % loss", hangs=HEADER, section=THROUGHPUT, figures=(2,))
def _(data: Estimates) -> Observations:
    for m in PAPERS:
        yield from _vegas(data, more, m, _rates(high=0.4), (1.0, 1 + SLIGHTLY))


@claim(
    "P3-F2-3",
    "TCP only: Vegas is better up to 2 %, worse than all others above",
    first="up to 2 %",
    hangs=HEADER,
    section=THROUGHPUT,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    yield from _vegas(data, more, "none", _rates(high=2.0))
    worse = _vegas(data, less, "none", MATTER, which=min)
    yield from (c.called("above 2 %") for c in worse)


def _fall(data: Estimates, variant: str, mechanism: str, low: float) -> Estimate | None:
    """Loss of goodput from an error rate to 10 %."""
    falls = data.both(Point(variant, mechanism, low), Point(variant, mechanism, 10.0), GOODPUT)
    return next((difference(first, last) for first, last in falls), None)


def _falls_faster(where: str, fast: Estimate | None, slow: Estimate | None) -> Observations:
    """One falls much faster than the other."""
    if fast is not None and slow is not None:
        yield above(where, ratio(fast, slow), MUCH, form=TIMES)


@claim(
    "P3-F2-4",
    "ELN: Vegas is better below 0.4 %, and falls much faster from 0.6 %",
    first="below 0.4 %",
    section=THROUGHPUT,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    yield from (c.of("below 0.4 %") for c in _vegas(data, more, "eln", _rates(high=0.2)))
    vegas = _fall(data, "vegas", "eln", 0.6)
    for v in ALIKE:
        faster = _falls_faster(f"against {VARIANTS[v]}", vegas, _fall(data, v, "eln", 0.6))
        yield from (c.of("fall from 0.6 %").called("in the fall") for c in faster)


@claim(
    "P3-F2-5",
    "With Snoop Vegas is better, but insignificantly towards 10 %",
    first="below 10 %",
    section=THROUGHPUT,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    for m in ("snoop", "both"):
        yield from _vegas(data, more, m, _rates(high=9.0))
        yield from (c.called("at 10 %") for c in _vegas(data, equal, m, [10.0]))


@claim("P3-F3-1", "Snoop and ELN improve every TCP", hangs=ACKNOWLEDGEMENTS, section=THROUGHPUT, figures=(2, 3))
def _(data: Estimates) -> Observations:
    for v in (*ALIKE, "vegas"):
        for m in ("snoop", "eln"):
            yield from (c.of(MECHANISMS[m]) for c in _mechanisms(data, more, v, m, "none", MATTER))


@claim("P3-F3-2", "Above 2 % Snoop beats ELN, falls more slowly; else alike",
       first="above 2 %", section=THROUGHPUT, figures=(3,))  # fmt: skip
def _(data: Estimates) -> Observations:
    for v in _DRAWN:
        yield from (c.of("above 2 %") for c in _mechanisms(data, more, v, "snoop", "eln", MATTER))
        for m in ("eln", "none"):
            falls = _fall(data, v, m, 2.0), _fall(data, v, "snoop", 2.0)
            slower = _falls_faster(f"{VARIANTS[v]}, against {MECHANISMS[m]}", *falls)
            yield from (c.of("fall from 2 %").called("in the fall") for c in slower)
        similar = _mechanisms(data, equal, v, "snoop", "eln", _rates(high=1.9), GOODPUT, SLIGHTLY)
        yield from (c.of("below 2 %").called("below 2 %") for c in similar)


@claim("P3-F3-3", "Tahoe, Reno and NewReno are best with both together", section=THROUGHPUT, figures=(2, 3))
def _(data: Estimates) -> Observations:
    for v in ALIKE:
        for r in MATTER:
            both, *others = (data.get(Point(v, m, r), GOODPUT) for m in ("both", *PAPERS[:3]))
            known = [e for e in others if e is not None]
            if both is not None and len(known) == len(others):
                yield more(f"{r:g} %", both, max(known, key=lambda e: e.mean)).of(VARIANTS[v])


# ---- unfairness ----


def _single(data: Estimates, variant: str, mechanism: str, rate: float) -> Observations:
    """The unfairness that the paper prints, of a single run, among single runs of Chappe."""
    if (e := data.get(Point(variant, mechanism, rate), UNFAIRNESS)) is not None:
        one = PRINTED[variant, mechanism, rate]
        yield among(f"{VARIANTS[variant]}, {one:g} in a run at {rate:g} %", e, one)


@claim("P3-F4-1", "Vegas is much less fair than Tahoe in general: 3.0 at 10 %", section=FAIRNESS, figures=(4,))
def _(data: Estimates) -> Observations:
    for r in _rates():
        for vegas, tahoe in data.both(Point("vegas", "none", r), Point("tahoe", "none", r), UNFAIRNESS):
            yield above(f"{r:g} %", times(vegas, tahoe), MUCH, form=TIMES)
    yield from _single(data, "vegas", "none", 10.0)


@claim("P3-F4-2", "Tahoe becomes less fair with more loss: 0.7 at 10 %", hangs=BUFFER, section=FAIRNESS, figures=(4,))
def _(data: Estimates) -> Observations:
    first = Point("tahoe", "none", _RATES[0])
    pairs = [(f"{r:g} %", Point("tahoe", "none", r), first) for r in _rates(low=0.5)]
    yield from compare(data, more, pairs, UNFAIRNESS)
    yield from _single(data, "tahoe", "none", 10.0)


@claim("P3-F4-3", "Vegas is much less fair than Reno and NewReno, too", section=FAIRNESS, figures=(4,))
def _(data: Estimates) -> Observations:
    for v in ("reno", "newreno"):
        for r in _rates():
            for vegas, other in data.both(Point("vegas", "none", r), Point(v, "none", r), UNFAIRNESS):
                yield above(f"{r:g} %", times(vegas, other), MUCH, form=TIMES).of(f"by that of {VARIANTS[v]}")


@claim("P3-F5-1", "Snoop makes TCP slightly fairer", hangs=MECHANISM, section=FAIRNESS, figures=(4, 5))
def _(data: Estimates) -> Observations:
    for v in _DRAWN:
        yield from _mechanisms(data, less, v, "snoop", "none", _rates(), UNFAIRNESS, (1 - SLIGHTLY, 1.0))


@claim("P3-F5-2", "With Snoop at 0.8 % unfairness is 0.5 (Vegas) and 0.08 (Tahoe)", section=FAIRNESS, figures=(5,))
def _(data: Estimates) -> Observations:
    for v in ("vegas", "tahoe"):
        yield from _single(data, v, "snoop", 0.8)


@claim("P3-F5-3", "ELN, and ELN with Snoop, are about as unfair as Snoop", section=FAIRNESS, figures=(2, 5))
def _(data: Estimates) -> Observations:
    for m in ("eln", "both"):
        for v in _DRAWN:
            own = _mechanisms(data, equal, v, m, "snoop", _rates(), UNFAIRNESS, SLIGHTLY)
            yield from (c.of(MECHANISMS[m]) for c in own)


@claim("P3-F5-4", "No mechanism guarantees fairness: at 0.8 % one flow of Vegas gets over 10 % more", section=FAIRNESS,
       figures=(5,))  # fmt: skip
def _(data: Estimates) -> Observations:
    for m in ("snoop", "eln", "both"):
        if (e := data.get(Point("vegas", m, 0.8), UNFAIRNESS)) is not None:
            yield above(MECHANISMS[m], e, SLIGHTLY)


@claim("P3-F5-5", "With different round-trip times unfairness becomes worse", section=FAIRNESS)
def _(data: Estimates) -> Observations:
    for m in ("none", "snoop"):
        for v in _DRAWN:
            pairs = [(f"{r:g} %", Point(v, m, r, "rtts"), Point(v, m, r)) for r in _rates()]
            name = f"{VARIANTS[v]}, {MECHANISMS[m]}"
            yield from (c.of(name) for c in compare(data, more, pairs, UNFAIRNESS))


ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding(
        "Tahoe, Reno and NewReno have very similar throughput",
        "no difference seen, taken as -5 to +5 %",
        ("P3-F2-1",),
        "at the highest error rates Reno waits for more timeouts",
        of="throughput of Tahoe and Reno compared with NewReno's",
    ),
    Finding(
        "Vegas has slightly more throughput at low loss",
        "slightly, taken as up to +10 %, below 0.5 % loss",
        ("P3-F2-2",),
        "ns-2's Vegas sends packets without a header",
        of="throughput of Vegas compared with the best other",
    ),
    Finding(
        "Snoop and ELN improve throughput",
        "more with every TCP, no number",
        ("P3-F3-1",),
        "Snoop and ELN help only where losses cost throughput",
        of="throughput with Snoop or ELN compared with TCP only",
    ),
    Finding(
        "Snoop is better than ELN at high loss",
        "more above 2 % loss, no number",
        ("P3-F3-2",),
        "",
        of="throughput with Snoop compared with ELN",
    ),
    Finding(
        "Snoop and ELN together are best",
        "more with Tahoe, Reno, NewReno, no number",
        ("P3-F3-3",),
        "Snoop's local timer can be shorter than the queueing delay, and ELN reacts to the copies that Snoop sends",
        of="throughput with both compared with the best other",
    ),
    Finding(
        "Vegas is much less fair than Tahoe",
        "4.3 times at 10 % (3.0, 0.7)",
        ("P3-F4-1",),
        "the last Vegas flow measures its base RTT with a full queue; from 1 % loss on this effect is gone",
        of="unfairness of Vegas divided by that of Tahoe",
    ),
    Finding(
        "No variant or mechanism guarantees fairness",
        "0.5 with Snoop",
        ("P3-F5-4",),
        "Vegas is unfair even without losses",
        of="unfairness of Vegas at 0.8 % loss",
    ),
    Finding(
        "Different round-trip times make unfairness worse",
        "more, no number",
        ("P3-F5-5",),
        "",
        of="unfairness compared with that of equal round-trip times",
    ),
)
"""Conclusions of the paper."""


def _reading(name: str) -> Callable[[Point], Point]:
    return lambda p: p._replace(reading=name)


READINGS = {
    READINGS_OF[n].title: _reading(n) for n in ("ns2", "2003_buffer20", "2003_header", "2003_both_ways", "authors_2003")
}
"""Readings that change one thing of the main one; the addition ``readings`` has all of them."""
