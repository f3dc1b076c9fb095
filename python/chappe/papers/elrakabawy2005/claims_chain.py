"""Claims on chains at 2 Mbit/s: Figures 2, 3 and 5 to 9."""

import itertools

from chappe.papers.elrakabawy2005.looks import FAILURES, GOODPUT, RETRANSMISSIONS, WINDOW, chain, fewer, lengths, under
from chappe.papers.elrakabawy2005.points import UDP, Point
from chappe.papers.looks import MissingError, look, percent, sorted_out
from chappe.papers.paper import (
    Check,
    Claim,
    Table,
    about,
    above,
    alike,
    below,
    between,
    every,
    more,
    most,
    negated,
)
from chappe.show import number
from chappe.stats import Estimate, difference, ratio

Found = tuple[str, list[Check]]

LONGEST = 40


def _hops(checks: dict[int, Check]) -> str:
    return sorted_out({str(h): c for h, c in checks.items()}) + " hops"


@look
def _alpha_2_best(data: Table) -> Found:
    found = {
        h: every([more(chain(data, "vegas2", h, GOODPUT), chain(data, f"vegas{a}", h, GOODPUT)) for a in (3, 4)])
        for h in lengths(data, "vegas2", "vegas3", "vegas4", high=20)
    }
    return f"alpha = 2 above 3 and 4: {_hops(found)}", list(found.values())


@look
def _alphas_alike(data: Table) -> Found:
    checks: list[Check] = []
    parts = []
    for h in lengths(data, "vegas2", "vegas3", "vegas4", low=21):
        v2, *others = (chain(data, f"vegas{a}", h, GOODPUT) for a in (2, 3, 4))
        parts.append(f"alpha = 3, 4 against 2: {', '.join(percent(ratio(v, v2)) for v in others)} at {h} hops")
        checks += [alike(v, v2, 0.1) for v in others]
    return "; ".join(parts), checks


@look
def _windows_grow(data: Table) -> Found:
    found = {}
    for h in lengths(data, "vegas2", "vegas3", "vegas4"):
        w = [chain(data, f"vegas{a}", h, WINDOW) for a in (2, 3, 4)]
        found[h] = every([more(b, a) for a, b in itertools.pairwise(w)])
    return f"window larger with every step of alpha: {_hops(found)}", list(found.values())


_THIN = ("vegas2_thin", "vegas3_thin", "vegas4_thin")


@look
def _unthinned_best(data: Table) -> Found:
    found: dict[int, Check] = {}
    for h in lengths(data, "vegas2", "vegas2_thin"):
        plain = chain(data, "vegas2", h, GOODPUT)
        thin = [e for v in _THIN if (e := data.get(Point(v, h), GOODPUT)) is not None]
        best = every([more(plain, t) for t in thin])
        found[h] = negated(best) if h == 4 else best
    if 4 not in found:
        raise MissingError
    above_4 = {h: c for h, c in found.items() if h != 4}
    at_4 = {True: "not best", False: "best", None: "open"}[found[4]]
    return f"plain Vegas (alpha = 2) above all with thinning: {_hops(above_4)}; at 4 hops {at_4}", list(found.values())


@look
def _thinning_costs(data: Table) -> Found:
    hops = lengths(data, "vegas2", "vegas2_thin", low=7)
    pairs = {h: (chain(data, "vegas2_thin", h, GOODPUT), chain(data, "vegas2", h, GOODPUT)) for h in hops}
    parts = [f"{percent(ratio(t, v))} at {h}" for h, (t, v) in pairs.items()]
    return f"with thinning {', '.join(parts)} hops", [more(v, t) for t, v in pairs.values()]


@look
def _gain(data: Table) -> Found:
    hops = lengths(data, "newreno", "vegas2")
    gains = {h: ratio(chain(data, "vegas2", h, GOODPUT), chain(data, "newreno", h, GOODPUT)) for h in hops}
    if 8 not in gains:
        raise MissingError
    best = max(gains, key=lambda h: gains[h].mean)
    text = f"at most {percent(gains[best])}, at {best} hops; {percent(gains[8])} at 8 hops"
    return text, [about(gains[best], 1.83, 0.05), about(gains[8], 1.75, 0.05)]


def _below_udp(data: Table, variant: str, at_4: float, at_32: float) -> Found:
    parts: list[str] = []
    checks: list[Check] = []
    for h, share in ((4, at_4), (32, at_32)):
        best, own = data.get(Point(UDP, h), GOODPUT), chain(data, variant, h, GOODPUT)
        if best is None:
            parts.append(f"no best paced UDP at {h} hops")
            checks.append(None)
        else:
            parts.append(f"{under(own, best)} at {h} hops")
            checks.append(about(ratio(own, best), 1 - share, 0.05))
    if all(p.startswith("no ") for p in parts):
        raise MissingError
    return "; ".join(parts), checks


@look
def _vegas_below_udp(data: Table) -> Found:
    return _below_udp(data, "vegas2", 0.23, 0.52)


@look
def _newreno_below_udp(data: Table) -> Found:
    return _below_udp(data, "newreno", 0.28, 0.63)


@look
def _thinned_below_vegas(data: Table) -> Found:
    found = {
        h: more(chain(data, "vegas2", h, GOODPUT), chain(data, "newreno_thin", h, GOODPUT))
        for h in lengths(data, "vegas2", "newreno_thin")
    }
    return f"NewReno with thinning below Vegas: {_hops(found)}", [most(list(found.values()))]


@look
def _slower_fall(data: Table) -> Found:
    parts, checks = [], []
    for h in (10, 20):
        kept = {
            v: ratio(chain(data, v, h, GOODPUT), chain(data, v, 4, GOODPUT))
            for v in ("vegas2", "newreno_thin", "newreno")
        }
        v, t, n = (f"{100 * e.mean:.0f} %" for e in kept.values())
        parts.append(f"at {h} hops Vegas keeps {v}, NewReno with thinning {t}, NewReno {n} of its goodput at 4")
        checks += [above(difference(kept[name], kept["newreno"]), 0) for name in ("vegas2", "newreno_thin")]
    return "; ".join(parts), checks


@look
def _fewer_retransmissions(data: Table) -> Found:
    both = {
        h: (chain(data, "vegas2", h, RETRANSMISSIONS), chain(data, "newreno", h, RETRANSMISSIONS))
        for h in lengths(data, "newreno", "vegas2")
    }
    less = {h: fewer(v, n) for h, (v, n) in both.items()}
    best, worst = max(less, key=lambda h: less[h].mean), min(less, key=lambda h: less[h].mean)
    most_of_all = max(v.mean for v, _ in both.values())
    text = (
        f"{less[worst].mean:.0f} % ({worst} hops) to {less[best].mean:.1f} % ({best} hops) fewer; "
        f"Vegas never more than {number(most_of_all, 3)} per 10,000"
    )
    return text, [about(less[best], 99, 0.02), above(less[worst], 57)]


@look
def _retransmission_peak(data: Table) -> Found:
    values = {h: chain(data, "newreno", h, RETRANSMISSIONS) for h in lengths(data, "newreno")}
    if not {6, 8, 20} <= values.keys():
        raise MissingError
    rise = ratio(values[8], values[6])
    peak = max(values, key=lambda h: values[h].mean)
    text = (
        f"{number(values[6].mean, 3)} per 10,000 at 6 hops, {number(values[8].mean, 3)} at 8 ({percent(rise)}), "
        f"peak {number(values[peak].mean, 3)} at {peak} hops, {number(values[20].mean, 3)} at 20"
    )
    is_peak = every([more(values[8], values[h]) for h in values if h != 8])
    return text, [about(rise, 1.9, 0.1), is_peak, more(values[8], values[20])]


@look
def _fewer_with_thinning(data: Table) -> Found:
    less = {
        h: ratio(chain(data, "newreno_thin", h, RETRANSMISSIONS), chain(data, "newreno", h, RETRANSMISSIONS))
        for h in lengths(data, "newreno", "newreno_thin")
    }
    text = ", ".join(f"{percent(r)} at {h}" for h, r in less.items())
    return f"with thinning {text} hops", [below(r, 0.75) for r in less.values()]


@look
def _vegas_window(data: Table) -> Found:
    windows = {h: chain(data, "vegas2", h, WINDOW) for h in lengths(data, "vegas2", high=LONGEST)}
    low, high = min(windows, key=lambda h: windows[h].mean), max(windows, key=lambda h: windows[h].mean)
    text = f"{windows[low].mean:.1f} ({low} hops) to {windows[high].mean:.1f} ({high} hops) packets"
    return text, [between(e, 3.5, 5.5) for e in windows.values()]


@look
def _window_near_optimum(data: Table) -> Found:
    e = chain(data, "vegas2", 32, WINDOW)
    longer = chain(data, "vegas2", LONGEST, WINDOW)
    text = f"{e.mean:.1f} packets at 32 hops (h/4 = 8), {longer.mean:.1f} at 40 (h/4 = 10)"
    return text, [about(e, 8, 0.25), below(longer, 0.75 * LONGEST / 4)]


@look
def _smaller_window_with_thinning(data: Table) -> Found:
    found = {
        h: more(chain(data, "newreno", h, WINDOW), chain(data, "newreno_thin", h, WINDOW))
        for h in lengths(data, "newreno", "newreno_thin")
    }
    return f"window smaller with thinning: {_hops(found)}", list(found.values())


@look
def _fewer_failures(data: Table) -> Found:
    less = {
        h: fewer(chain(data, "vegas2", h, FAILURES), chain(data, "newreno", h, FAILURES))
        for h in lengths(data, "newreno", "vegas2")
    }
    best, worst = max(less, key=lambda h: less[h].mean), min(less, key=lambda h: less[h].mean)
    text = f"{less[worst].mean:.0f} % ({worst} hops) to {less[best].mean:.1f} % ({best} hops) fewer"
    return text, [between(e, 93, 100) for e in less.values()]


@look
def _sharp_increase(data: Table) -> Found:
    values = {h: chain(data, "newreno_thin", h, FAILURES) for h in lengths(data, "newreno_thin", high=8)}
    if not {7, 8} <= values.keys():
        raise MissingError
    text = ", ".join(f"{number(e.mean, 3)} at {h}" for h, e in values.items())
    twice = Estimate(2 * values[7].mean, 4 * values[7].variance, values[7].df)
    none = every([below(e, 1) for h, e in values.items() if h < 8])
    return f"NewReno with thinning {text} hops, per 10,000 packets", [none, more(values[8], twice)]


@look
def _failures_fall(data: Table) -> Found:
    parts, checks = [], []
    for variant, name, low in (("newreno", "NewReno", 4), ("vegas2", "Vegas", 4), ("newreno_thin", "with thinning", 8)):
        hops = lengths(data, variant, low=low)
        values = [chain(data, variant, h, FAILURES) for h in hops]
        parts.append(f"{name} " + ", ".join(f"{number(v.mean, 3)} at {h}" for h, v in zip(hops, values, strict=True)))
        checks.append(more(values[0], values[-1]))
        checks += [more(b, a) is not True for a, b in itertools.pairwise(values)]
    return "; ".join(parts) + " hops, per 10,000 packets", checks


CHAIN_CLAIMS: tuple[Claim, ...] = (
    Claim("P0-F2-1", "Vegas with alpha = 2 has the highest goodput for 4 to 20 hops", _alpha_2_best, (2,)),
    Claim("P0-F2-2", "Over longer chains the goodput is almost equal for all alpha", _alphas_alike, (2,)),
    Claim("P0-F3-1", "The mean window grows with alpha; it is smallest for alpha = 2", _windows_grow, (3,)),
    Claim(
        "P0-F5-1",
        "Except over 4 hops, Vegas (alpha = 2) without thinning is slightly better than Vegas with thinning for any "
        "alpha",
        _unthinned_best,
        (5,),
    ),
    Claim(
        "P0-F5-2",
        "For more than 6 hops Vegas (alpha = 2) with thinning is slightly worse than without: its window often falls "
        "to 3, and the sink waits for a fourth packet",
        _thinning_costs,
        (5,),
    ),
    Claim("P0-F6-1", "Vegas has up to 83 % more goodput than NewReno; about 75 % more at 8 hops", _gain, (6,)),
    Claim(
        "P0-F6-2", "Vegas lies 23 % (4 hops) to 52 % (32 hops) below the best paced UDP", _vegas_below_udp, (6,)
    ),
    Claim(
        "P0-F6-3", "NewReno lies 28 % (4 hops) to 63 % (32 hops) below the best paced UDP", _newreno_below_udp, (6,)
    ),
    Claim("P0-F6-4", "For most lengths NewReno with thinning is slightly below Vegas", _thinned_below_vegas, (6,)),
    Claim(
        "P0-F6-5",
        "The goodput of Vegas, and of NewReno with thinning, falls much more slowly with the hops than that of NewReno",
        _slower_fall,
        (6,),
    ),
    Claim(
        "P0-F7-1",
        "Vegas has up to 99 % fewer retransmissions (57 % to 99 % over all experiments), very few at any length",
        _fewer_retransmissions,
        (7,),
    ),
    Claim(
        "P0-F7-2",
        "Retransmissions of NewReno almost double from 6 to 8 hops, peak there, and then fall gradually",
        _retransmission_peak,
        (7,),
    ),
    Claim("P0-F7-3", "NewReno with thinning has considerably fewer retransmissions", _fewer_with_thinning, (7,)),
    Claim("P0-F8-1", "The mean window of Vegas lies between 3.5 and 5.5 for 4 to 40 hops", _vegas_window, (8,)),
    Claim(
        "P0-F8-2",
        "The window of Vegas is near the optimum h/4 for 32 hops, and too small for longer chains",
        _window_near_optimum,
        (8,),
    ),
    Claim("P0-F8-3", "Thinning makes the window of NewReno smaller", _smaller_window_with_thinning, (8,)),
    Claim("P0-F9-1", "Vegas has 93 % to 100 % fewer false route failures than NewReno", _fewer_failures, (9,)),
    Claim(
        "P0-F9-2",
        "NewReno with thinning has no false route failures below 8 hops, and then they increase sharply",
        _sharp_increase,
        (9,),
    ),
    Claim(
        "P0-F9-3",
        "The number of false route failures falls with the number of hops, except for NewReno with thinning below 8",
        _failures_fall,
        (9,),
    ),
)  # fmt: skip
"""Claims on Figures 2, 3 and 5 to 9."""
