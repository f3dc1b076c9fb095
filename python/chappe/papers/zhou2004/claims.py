"""The claims of the paper, in the order of its figures."""

from collections.abc import Callable, Mapping, Sequence

from chappe.papers.looks import MissingError, look, percent, take
from chappe.papers.paper import Check, Claim, Table, about, above, alike, below, between, every, more, most
from chappe.papers.zhou2004.lab import GOODPUT, UNFAIRNESS
from chappe.papers.zhou2004.points import MECHANISMS, VARIANTS, Point
from chappe.show import number
from chappe.stats import Estimate, difference, ratio

Found = tuple[str, list[Check]]

ALIKE = ("tahoe", "reno", "newreno")
"""The variants that the paper finds very similar."""

_PAPERS = ("none", "eln", "snoop", "both")
_MUCH = 1.5
"""From this ratio on, something is "much" more, or falls "much more quickly"."""


def _at(data: Table, variant: str, mechanism: str, rate: float, name: str = GOODPUT) -> Estimate:
    return take(data, Point(variant, mechanism, rate), name)


def _rates(data: Table, variants: Sequence[str], mechanisms: Sequence[str], low: float, high: float) -> list[float]:
    """Error rates above ``low`` and up to ``high`` [%] at which all of these were run."""
    sets = [
        {p.per_percent for p in data.values if p == Point(v, m, p.per_percent) and low < p.per_percent <= high}
        for v in variants
        for m in mechanisms
    ]
    found = sorted(set.intersection(*sets))
    if not found:
        raise MissingError
    return found


def _best(data: Table, mechanism: str, rate: float) -> Estimate:
    """The best of the variants that are much alike."""
    return max((_at(data, v, mechanism, rate) for v in ALIKE), key=lambda e: e.mean)


def _vegas(data: Table, mechanism: str, rate: float) -> Estimate:
    """How much more Vegas has than the best of the others."""
    return ratio(_at(data, "vegas", mechanism, rate), _best(data, mechanism, rate))


def _per_cent(rates: Sequence[float]) -> str:
    return ", ".join(f"{r:g} %" for r in rates)


def _each(data: Table, found: Callable[[Table, str], Found], labels: Mapping[str, str], names: Sequence[str]) -> Found:
    """The same with each of these that was run."""
    parts, checks = [], []
    for name in names:
        try:
            text, own = found(data, name)
        except MissingError:
            continue
        parts.append(f"{labels[name]}: {text}")
        checks += own
    if not parts:
        raise MissingError
    return "; ".join(parts), checks


def _mechanisms(data: Table, found: Callable[[Table, str], Found], mechanisms: Sequence[str] = _PAPERS) -> Found:
    return _each(data, found, MECHANISMS, mechanisms)


def _variants(data: Table, found: Callable[[Table, str], Found], variants: Sequence[str]) -> Found:
    return _each(data, found, VARIANTS, variants)


# ---- Figure 2 ----


@look
def _similar(data: Table) -> Found:
    def one(data: Table, m: str) -> Found:
        pairs = {
            (v, r): (_at(data, v, m, r), _at(data, "newreno", m, r))
            for v in ALIKE[:2]
            for r in _rates(data, ALIKE, (m,), 0, 100)
        }
        ratios = {key: ratio(*pair) for key, pair in pairs.items()}
        v, r = max(ratios, key=lambda key: abs(ratios[key].mean - 1))
        text = f"{VARIANTS[v]} up to {percent(ratios[v, r])} on NewReno (at {r:g} %)"
        return text, [every([alike(*pair) for pair in pairs.values()])]

    return _mechanisms(data, one)


@look
def _better_at_first(data: Table) -> Found:
    def one(data: Table, m: str) -> Found:
        rates = [r for r in _rates(data, (*ALIKE, "vegas"), (m,), 0, 0.5) if r < 0.5]
        gains = {r: _vegas(data, m, r) for r in rates}
        low, high = rates[0], rates[-1]
        where = f"{percent(gains[low])} at {low:g} %, {percent(gains[high])} at {high:g} %"
        return where, [every([above(g, 1) for g in gains.values()])]

    return _mechanisms(data, one)


@look
def _until_two(data: Table) -> Found:
    all_of = (*ALIKE, "vegas")
    until, beyond = _rates(data, all_of, ("none",), 0, 2), _rates(data, all_of, ("none",), 2, 100)
    gains = {r: _vegas(data, "none", r) for r in (*until, *beyond)}
    text = ", ".join(f"{percent(gains[r])} at {r:g} %" for r in (until[-1], *beyond))
    worse = [every([more(_at(data, v, "none", r), _at(data, "vegas", "none", r)) for v in ALIKE]) for r in beyond]
    return f"Vegas {text}", [every([above(gains[r], 1) for r in until]), every(worse)]


def _fall(data: Table, variant: str, mechanism: str, low: float) -> Estimate:
    """How much goodput falls from an error rate to 10 %."""
    return difference(_at(data, variant, mechanism, low), _at(data, variant, mechanism, 10.0))


@look
def _eln_crossing(data: Table) -> Found:
    rates = _rates(data, (*ALIKE, "vegas"), ("eln",), 0, 0.4)
    first = every([above(_vegas(data, "eln", r), 1) for r in rates])
    fall = _fall(data, "vegas", "eln", 0.6)
    others = {v: _fall(data, v, "eln", 0.6) for v in ALIKE}
    worst = max(others, key=lambda v: others[v].mean)
    faster = ratio(fall, others[worst])
    text = (
        f"Vegas {percent(_vegas(data, 'eln', rates[-1]))} at {rates[-1]:g} %; from 0.6 % to 10 % it falls by "
        f"{number(fall.mean, 3)} kbit/s, {VARIANTS[worst]} by {number(others[worst].mean, 3)}"
    )
    return text, [first, above(faster, _MUCH)]


@look
def _consistently(data: Table) -> Found:
    def one(data: Table, m: str) -> Found:
        rates = _rates(data, (*ALIKE, "vegas"), (m,), 0, 100)
        gains = {r: _vegas(data, m, r) for r in rates}
        text = ", ".join(f"{percent(gains[r])} at {r:g} %" for r in (rates[0], *(r for r in rates if r >= 2)))
        return text, [every([above(gains[r], 1) for r in rates if r < 10]), about(gains[10.0], 1, 0.05)]

    text, checks = _mechanisms(data, one, ("snoop", "both"))
    return f"Vegas, {text}", checks


# ---- Figure 3 ----


@look
def _improve(data: Table) -> Found:
    def one(data: Table, v: str) -> Found:
        parts: list[str] = []
        checks: list[Check] = []
        for m in ("snoop", "eln"):
            try:
                rates = _rates(data, (v,), (m, "none"), 0.1, 100)
            except MissingError:
                continue
            gains = {r: ratio(_at(data, v, m, r), _at(data, v, "none", r)) for r in rates}
            parts.append(f"{MECHANISMS[m]} {', '.join(percent(gains[r]) for r in (2.0, 10.0) if r in gains)}")
            checks.append(most([above(g, 1) for g in gains.values()]))
        if not parts:
            raise MissingError
        return " and ".join(parts), checks

    text, checks = _variants(data, one, (*ALIKE, "vegas"))
    return f"at 2 % and 10 %, {text}", checks


@look
def _snoop_beside_eln(data: Table) -> Found:
    def one(data: Table, v: str) -> Found:
        below_two = [r for r in _rates(data, (v,), ("snoop", "eln"), 0, 2) if r < 2]
        over_two = _rates(data, (v,), ("snoop", "eln"), 2, 100)
        gains = {r: ratio(_at(data, v, "snoop", r), _at(data, v, "eln", r)) for r in (*below_two, *over_two)}
        slower = ratio(_fall(data, v, "eln", 2.0), _fall(data, v, "snoop", 2.0))
        text = f"Snoop {', '.join(f'{percent(gains[r])} at {r:g} %' for r in (below_two[-1], *over_two))} on ELN"
        alikes = every([about(gains[r], 1, 0.05) for r in below_two])
        return text, [alikes, every([above(gains[r], 1) for r in over_two]), above(slower, _MUCH)]

    return _variants(data, one, ("tahoe", "vegas"))


@look
def _both_best(data: Table) -> Found:
    def one(data: Table, v: str) -> Found:
        rates = _rates(data, (v,), _PAPERS, 0, 100)
        others = {r: {m: _at(data, v, m, r) for m in _PAPERS[:3]} for r in rates}
        gains = {
            r: ratio(_at(data, v, "both", r), max(own.values(), key=lambda e: e.mean)) for r, own in others.items()
        }
        best = [every([more(_at(data, v, "both", r), e) for e in own.values()]) for r, own in others.items()]
        where = ", ".join(f"{percent(gains[r])} at {r:g} %" for r in rates if r in (0.1, 2.0, 10.0))
        return f"both {where} on the best of the others", [most(best)]

    return _variants(data, one, ALIKE)


# ---- Figures 4 and 5 ----


def _unfair(data: Table, variant: str, mechanism: str, rate: float) -> Estimate:
    return _at(data, variant, mechanism, rate, UNFAIRNESS)


@look
def _vegas_unfair(data: Table) -> Found:
    rates = _rates(data, ("tahoe", "vegas"), ("none",), 0, 100)
    times = {r: ratio(_unfair(data, "vegas", "none", r), _unfair(data, "tahoe", "none", r)) for r in rates}
    top = _unfair(data, "vegas", "none", 10.0)
    much = [r for r in rates if times[r].mean >= _MUCH]
    where = f"at {_per_cent(much)}" if len(much) < len(rates) else "at all rates"
    text = f"Vegas at least {_MUCH:g} times as unfair as Tahoe {where}; {number(top.mean, 2)} at 10 %"
    return text, [most([above(t, _MUCH) for t in times.values()]), about(top, 3.0, 0.2)]


@look
def _tahoe_unfair(data: Table) -> Found:
    rates = _rates(data, ("tahoe",), ("none",), 0, 100)
    top, low = _unfair(data, "tahoe", "none", 10.0), _unfair(data, "tahoe", "none", rates[0])
    parts = [
        f"{number(_unfair(data, 'tahoe', 'none', r).mean, 2)} at {r:g} %" for r in rates if r in (0.1, 1, 2, 6, 10)
    ]
    return f"Tahoe {', '.join(parts)}", [more(top, low), about(top, 0.7, 0.2)]


def _sum(data: Table, variant: str, mechanism: str, rates: Sequence[float]) -> Estimate:
    """Unfairness, summed over error rates."""
    own = [_unfair(data, variant, mechanism, r) for r in rates]
    return Estimate(sum(e.mean for e in own), sum(e.variance for e in own), min(e.df for e in own))


def _compared(data: Table, v: str, mechanism: str, beside: str) -> Estimate:
    """How much more unfair a mechanism is than another, over all error rates from 0.1 % on."""
    rates = [r for r in _rates(data, (v,), (mechanism, beside), 0, 100) if r >= 0.1]
    return ratio(_sum(data, v, mechanism, rates), _sum(data, v, beside, rates))


@look
def _snoop_unfair(data: Table) -> Found:
    def one(data: Table, v: str) -> Found:
        share = _compared(data, v, "snoop", "none")
        ends = ratio(_unfair(data, v, "snoop", 10.0), _unfair(data, v, "none", 10.0))
        text = f"unfairness {percent(share)} with Snoop over all rates, {percent(ends)} at 10 %"
        # Less unfair, and not by more than a half.
        return text, [below(share, 1), between(share, 0.5, 1)]

    return _variants(data, one, ("tahoe", "vegas"))


@look
def _snoop_values(data: Table) -> Found:
    vegas, tahoe = _unfair(data, "vegas", "snoop", 0.8), _unfair(data, "tahoe", "snoop", 0.8)
    text = f"{number(vegas.mean, 2)} and {number(tahoe.mean, 2)} at 0.8 %"
    return text, [about(vegas, 0.5, 0.2), about(tahoe, 0.08, 0.2)]


@look
def _others_like_snoop(data: Table) -> Found:
    def one(data: Table, v: str) -> Found:
        parts: list[str] = []
        checks: list[Check] = []
        for m in ("eln", "both"):
            try:
                share = _compared(data, v, m, "snoop")
            except MissingError:
                continue
            parts.append(f"{MECHANISMS[m]} {percent(share)}")
            checks.append(about(share, 1, 0.25))
        if not parts:
            raise MissingError
        return ", ".join(parts), checks

    text, checks = _variants(data, one, ("tahoe", "vegas"))
    return f"unfairness beside that with Snoop over all rates: {text}", checks


CLAIMS: tuple[Claim, ...] = (
    Claim("P3-F2-1", "Tahoe, Reno and NewReno have very similar throughput, with all mechanisms", _similar, (2,)),
    Claim("P3-F2-2", "Vegas is better while less than about 0.5 % of the packets are lost", _better_at_first, (2,)),
    Claim("P3-F2-3", "TCP only: Vegas is better until 2 %, and worse above", _until_two, (2,)),
    Claim(
        "P3-F2-4",
        "ELN: Vegas is better below about 0.4 %, and falls much more quickly than the others after 0.6 %",
        _eln_crossing,
        (2,),
    ),
    Claim(
        "P3-F2-5",
        "Snoop, with and without ELN: Vegas is consistently better, insignificantly towards 10 %",
        _consistently,
        (2,),
    ),
    Claim("P3-F3-1", "Snoop and ELN improve the throughput of every TCP", _improve, (2, 3)),
    Claim(
        "P3-F3-2",
        "Snoop and ELN are similar below 2 %; above, Snoop is better and drops much more slowly",
        _snoop_beside_eln,
        (3,),
    ),
    Claim("P3-F3-3", "Tahoe, Reno and NewReno are best with Snoop and ELN together", _both_best, (2, 3)),
    Claim("P3-F4-1", "Vegas is much less fair in general; its unfairness is 3.0 at 10 %", _vegas_unfair, (4,)),
    Claim("P3-F4-2", "Tahoe becomes less fair as the error rate grows; its unfairness is 0.7 at 10 %", _tahoe_unfair,
          (4,)),
    Claim("P3-F5-1", "Snoop makes it only slightly fairer", _snoop_unfair, (4, 5)),
    Claim("P3-F5-2", "With Snoop at 0.8 %, the unfairness of Vegas is 0.5 and that of Tahoe 0.08", _snoop_values, (5,)),
    Claim("P3-F5-3", "ELN, and ELN with Snoop, are as unfair as Snoop", _others_like_snoop, (2, 5)),
)  # fmt: skip
"""All claims."""
