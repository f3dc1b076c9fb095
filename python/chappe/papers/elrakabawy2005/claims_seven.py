"""Claims on the chain of 7 hops: Figures 4 and 10 to 14."""

import itertools

from chappe.papers.elrakabawy2005.experiments import WINDOWS
from chappe.papers.elrakabawy2005.looks import GOODPUT, RETRANSMISSIONS, WINDOW, seven, under
from chappe.papers.elrakabawy2005.points import RATES, UDP, Point
from chappe.papers.elrakabawy2005.udp import OPTIMUM
from chappe.papers.looks import MissingError, look, percent, sorted_out, take
from chappe.papers.paper import Check, Claim, Table, about, above, alike, below, every, more, negated
from chappe.show import number
from chappe.stats import Estimate, ratio

Found = tuple[str, list[Check]]

_ALPHAS = ("vegas2", "vegas3", "vegas4")
_ALL = ("newreno", "newreno_maxwin3", "newreno_thin", "vegas2", "vegas2_thin")
_SHORT = {
    "newreno": "NewReno",
    "newreno_maxwin3": "MaxWin = 3",
    "newreno_thin": "NewReno thinned",
    "vegas2": "Vegas",
    "vegas2_thin": "Vegas thinned",
    "vegas3": "alpha = 3",
    "vegas4": "alpha = 4",
}


def _mbps(rate: float) -> str:
    return f"{rate:g} Mbit/s"


def _alphas(data: Table, rate: float) -> tuple[str, list[Estimate]]:
    found = [seven(data, v, rate) for v in _ALPHAS]
    return ", ".join(f"alpha = {a}: {number(e.mean, 4)}" for a, e in zip((2, 3, 4), found, strict=True)), found


@look
def _highest_at_2(data: Table) -> Found:
    text, (v2, v3, v4) = _alphas(data, 2.0)
    return f"{text} kbit/s", [more(v2, v3), more(v2, v4)]


@look
def _slightly_higher(data: Table) -> Found:
    text, (v2, v3, v4) = _alphas(data, 5.5)
    return f"{text} kbit/s", [more(v2, v3), more(v2, v4), alike(v3, v2, 0.1), alike(v4, v2, 0.1)]


@look
def _all_equal(data: Table) -> Found:
    text, (v2, v3, v4) = _alphas(data, 11.0)
    return f"{text} kbit/s", [alike(v3, v2), alike(v4, v2)]


def _sublinear(data: Table, variants: tuple[str, ...]) -> Found:
    parts, checks = [], []
    for v in variants:
        grown = [ratio(seven(data, v, r), seven(data, v, 2.0)) for r in (5.5, 11.0)]
        parts.append(f"{_SHORT.get(v, v)} x {grown[0].mean:.2f} and x {grown[1].mean:.2f}")
        checks += [below(grown[0], 2.75), below(grown[1], 5.5)]
    return f"rates x 2.75 and x 5.5 give {'; '.join(parts)}", checks


@look
def _sublinear_vegas(data: Table) -> Found:
    return _sublinear(data, _ALPHAS)


@look
def _sublinear_all(data: Table) -> Found:
    return _sublinear(data, _ALL)


@look
def _optimum(data: Table) -> Found:
    e = data.get(OPTIMUM, "interval_ms")
    if e is None:
        swept = [p for p in data.values if p == Point(UDP, 7, interval_ms=p.interval_ms) and p.interval_ms > 0]
        if not swept:
            raise MissingError
        e = Estimate.of([max(swept, key=lambda p: take(data, p, GOODPUT).mean).interval_ms])
    best = take(data, Point(UDP, 7), GOODPUT) if Point(UDP, 7) in data.values else None
    goodput = f" ({number(best.mean, 4)} kbit/s)" if best is not None else ""
    half = e.half_width()
    error = f" ± {half:.2f}" if half == half else ""
    return f"{e.mean:.2f}{error} ms{goodput}", [about(e, 35.7, 0.02)]


@look
def _cliff(data: Table) -> Found:
    def goodput(t: float) -> Estimate:
        return take(data, Point(UDP, 7, interval_ms=t), GOODPUT)

    top = goodput(36.0)
    low = ratio(goodput(34.0), top)
    parts, checks = [f"at 34 ms {percent(low)} of that at 36 ms"], [below(low, 0.75)]
    for t in (42.0, 50.0, 60.0):
        arrived = ratio(goodput(t), Estimate(1460 * 8 / t, 0, 1))
        parts.append(f"{100 * arrived.mean:.1f} % of what is sent arrives at {t:g} ms")
        checks.append(about(arrived, 1, 0.02))
    shares = {
        p.interval_ms: e
        for p in sorted(data.values, key=lambda p: p.interval_ms)
        if p.variant == UDP and p.hops == 7 and 34.4 < p.interval_ms < 36.3 and p.interval_ms % 0.25 == 0
        if (e := data.get(p, "collapsed")) is not None
    }
    if shares:
        listed = ", ".join(f"{100 * e.mean:.0f} % at {t:g} ms" for t, e in shares.items())
        runs = int(next(iter(shares.values())).df) + 1
        parts.append(f"collapsed of {runs} runs each: {listed}")
    return "; ".join(parts), checks


@look
def _best_window(data: Table) -> Found:
    parts, checks = [], []
    for rate in RATES:
        known = {w: e for w in WINDOWS if (e := data.get(Point(f"newreno_maxwin{w}", 7, rate), GOODPUT)) is not None}
        if len(known) < 2:
            raise MissingError
        best = max(known, key=lambda w: known[w].mean)
        parts.append(f"{best} at {_mbps(rate)} (3: {percent(ratio(known[3], known[best]))})")
        checks.append(alike(known[3], known[best], 0.02))
    return f"best MaxWin {', '.join(parts)}", checks


@look
def _as_good_as_best_window(data: Table) -> Found:
    parts, checks = [], []
    for rate in RATES:
        newreno, best, vegas = (seven(data, v, rate) for v in ("newreno", "newreno_maxwin3", "vegas2"))
        parts.append(
            f"{_mbps(rate)}: {percent(ratio(vegas, newreno))} on NewReno, {percent(ratio(vegas, best))} on MaxWin = 3"
        )
        checks += [more(vegas, newreno), alike(vegas, best)]
    return "; ".join(parts), checks


def _thinning_gains(data: Table, variant: str) -> list[Estimate]:
    return [ratio(seven(data, f"{variant}_thin", r), seven(data, variant, r)) for r in RATES]


@look
def _thinning(data: Table) -> Found:
    vegas, newreno = _thinning_gains(data, "vegas2"), _thinning_gains(data, "newreno")
    words = [f"{n}: {', '.join(percent(g) for g in gains)}" for n, gains in (("Vegas", vegas), ("NewReno", newreno))]
    checks = [negated(above(vegas[0], 1.05))]
    checks += [more(b, a) for gains in (vegas, newreno) for a, b in itertools.pairwise(gains)]
    return f"gain of thinning at 2, 5.5 and 11 Mbit/s: {'; '.join(words)}", checks


@look
def _below_thinned(data: Table) -> Found:
    vegas = seven(data, "vegas2", 11.0)
    thinned = {v: seven(data, v, 11.0) for v in ("vegas2_thin", "newreno_thin")}
    text = ", ".join(f"{under(vegas, e)} {_SHORT[v]}" for v, e in thinned.items())
    others = [f"Vegas thinned with alpha = {v[5]}: {number(e.mean, 4)} kbit/s" for v in ("vegas3_thin", "vegas4_thin")
              if (e := data.get(Point(v, 7, 11.0), GOODPUT)) is not None]  # fmt: skip
    return "; ".join([text, *others]), [about(ratio(vegas, e), 0.8, 0.05) for e in thinned.values()]


@look
def _near_udp(data: Table) -> Found:
    parts, checks = [], []
    for rate, share in ((2.0, 0.32), (11.0, 0.23)):
        best = take(data, Point(UDP, 7, rate), GOODPUT)
        thinned = {v: seven(data, v, rate) for v in ("newreno_thin", "vegas2_thin")}
        parts.append(f"{_mbps(rate)}: " + ", ".join(f"{_SHORT[v]} {under(e, best)}" for v, e in thinned.items()))
        checks += [above(ratio(e, best), 1 - share) for e in thinned.values()]
    return "; ".join(parts), checks


@look
def _same_bars(data: Table) -> Found:
    names = ("newreno", "vegas2", "newreno_thin")
    values = [seven(data, v, 2.0) for v in names]
    # Nothing could differ, so that nothing is decided.
    return "they are the same runs: " + ", ".join(f"{number(e.mean, 4)} kbit/s" for e in values), [None]


def _falls(data: Table, name: str) -> dict[str, Check]:
    found = {}
    for v in _ALL:
        values = [seven(data, v, r, name) for r in RATES]
        found[_SHORT[v]] = every([more(a, b) for a, b in itertools.pairwise(values)])
    return found


@look
def _retransmissions(data: Table) -> Found:
    falls = _falls(data, RETRANSMISSIONS)
    plain, thin = (seven(data, v, 2.0, RETRANSMISSIONS) for v in ("vegas2", "vegas2_thin"))
    text = f"fewer with every rate: {sorted_out(falls).replace(' at ', ' for ')}; at 2 Mbit/s Vegas "
    text += f"{number(plain.mean, 3)} per 10,000, thinned {number(thin.mean, 3)}"
    return text, [*falls.values(), more(thin, plain)]


@look
def _windows(data: Table) -> Found:
    found, checks = [], []
    for rate in RATES:
        vegas = seven(data, "vegas2", rate, WINDOW)
        others = [seven(data, v, rate, WINDOW) for v in ("newreno", "newreno_thin")]
        found.append(f"{_mbps(rate)}: {vegas.mean:.1f} against {' and '.join(f'{e.mean:.1f}' for e in others)}")
        checks += [more(e, vegas) for e in others]
    return f"Vegas against NewReno and NewReno thinned: {'; '.join(found)} packets", checks


@look
def _drops(data: Table) -> Found:
    own = data.get(Point("vegas2", 7), "intermediate_drops") is not None
    name = "intermediate_drops" if own else "mac_drop_prob_per_packet"
    falls = _falls(data, name)
    plain, thin = (seven(data, v, 2.0, name) for v in ("vegas2", "vegas2_thin"))
    least = {
        _mbps(r): every([more(seven(data, v, r, name), seven(data, "vegas2_thin", r, name)) for v in _ALL[:-1]])
        for r in RATES
    }
    which = "" if own else " (over all nodes)"
    text = f"falls with every rate{which}: {sorted_out(falls).replace(' at ', ' for ')}; at 2 Mbit/s Vegas "
    text += (
        f"{100 * plain.mean:.3f} %, thinned {100 * thin.mean:.3f} %; Vegas thinned least of all: {sorted_out(least)}"
    )
    return text, [*falls.values(), more(plain, thin), *least.values()]


SEVEN_CLAIMS: tuple[Claim, ...] = (
    Claim("P0-F4-1", "At 2 Mbit/s Vegas with alpha = 2 has the highest goodput", _highest_at_2, (4,)),
    Claim("P0-F4-2", "At 5.5 Mbit/s alpha = 2 is only slightly higher than 3 and 4", _slightly_higher, (4,)),
    Claim("P0-F4-3", "At 11 Mbit/s all three are equal", _all_equal, (4,)),
    Claim("P0-F4-4", "Goodput grows less than the rate", _sublinear_vegas, (4,)),
    Claim("P0-F10-1", "The best time between datagrams is 35.7 ms", _optimum, (10,)),
    Claim(
        "P0-F10-2",
        "Below the best time goodput falls rapidly, above it gracefully, as 1/t",
        _cliff,
        (10,),
    ),
    Claim(
        "P0-F11-1",
        "The best bound of NewReno's window is MaxWin = 3 at all rates",
        _best_window,
        (11,),
        needs=("windows",),
    ),
    Claim("P0-F11-2", "Goodput grows less than the rate", _sublinear_all, (11,)),
    Claim(
        "P0-F11-3",
        "Vegas is significantly above NewReno and as good as NewReno with MaxWin = 3 at all rates",
        _as_good_as_best_window,
        (11,),
    ),
    Claim(
        "P0-F11-4",
        "Thinning does not help Vegas at 2 Mbit/s; its benefit for Vegas and NewReno grows with the rate",
        _thinning,
        (11,),
    ),
    Claim(
        "P0-F11-5",
        "At 11 Mbit/s Vegas is about 20 % below both Vegas and NewReno with thinning",
        _below_thinned,
        (11,),
    ),
    Claim(
        "P0-F11-6",
        "The variants with thinning are at most 32 % below paced UDP at 2 Mbit/s, 23 % at 11 Mbit/s",
        _near_udp,
        (11,),
    ),
    Claim("P0-F11-7", "The bars at 2 Mbit/s are the points of Figures 6 to 8 at 7 hops", _same_bars, (11, 12, 13)),
    Claim(
        "P0-F12-1",
        "Retransmissions decrease with the rate; Vegas with thinning has more of them at 2 Mbit/s than without",
        _retransmissions,
        (12,),
    ),
    Claim("P0-F13-1", "The window of Vegas is smaller than those of the variants of NewReno", _windows, (13,)),
    Claim(
        "P0-F14-1",
        "The link-layer drop probability falls with the rate; thinning reduces it for Vegas at 2 Mbit/s; Vegas with "
        "thinning has the least of all",
        _drops,
        (14,),
    ),
)
"""Claims on Figures 4 and 10 to 14."""
