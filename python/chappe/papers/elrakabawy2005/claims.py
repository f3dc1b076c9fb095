"""What the paper says about Figures 6 to 9, as checks. The ids are those of the figures and their statements."""

import itertools
from collections.abc import Sequence

from chappe.papers.paper import Claim, Data, about, above
from chappe.show import number, with_error
from chappe.stats import Estimate, difference, ratio

Look = tuple[str, Sequence[bool | None]] | None

LONGEST = 40


def _both(data: Data, measure: str, shortest: int = 4) -> dict[int, tuple[Estimate, Estimate]]:
    """NewReno and Vegas by hops, where both were run."""
    found = {}
    for h in data.hops("newreno"):
        newreno, vegas = data.get("newreno", h, measure), data.get("vegas2", h, measure)
        if newreno is not None and vegas is not None and h >= shortest:
            found[h] = (newreno, vegas)
    return found


def _percent(e: Estimate) -> str:
    """A ratio as a gain."""
    half = e.half_width() * 100
    return f"{(e.mean - 1) * 100:+.0f} % (± {half:.0f})"


def _fewer(newreno: Estimate, vegas: Estimate) -> Estimate:
    """How many per cent less Vegas has than NewReno."""
    r = ratio(vegas, newreno)
    return Estimate(100 * (1 - r.mean), 1e4 * r.variance, r.df)


def _gain(data: Data) -> Look:
    pairs = _both(data, "goodput_kbps")
    if 8 not in pairs:
        return None
    gains = {h: ratio(v, n) for h, (n, v) in pairs.items()}
    best = max(gains, key=lambda h: gains[h].mean)
    text = f"at most {_percent(gains[best])}, at {best} hops; {_percent(gains[8])} at 8 hops"
    return text, [about(gains[best], 1.83, 0.05), about(gains[8], 1.75, 0.05)]


def _gain_at_the_ends(data: Data) -> Look:
    pairs = _both(data, "goodput_kbps")
    if not {4, 32} <= pairs.keys():
        return None
    short, long = (ratio(pairs[h][1], pairs[h][0]) for h in (4, 32))
    text = f"{_percent(short)} at 4 hops, {_percent(long)} at 32 hops"
    return text, [about(short, 1.07, 0.05), about(long, 1.30, 0.05)]


def _slower_fall(data: Data) -> Look:
    pairs = _both(data, "goodput_kbps")
    if not {4, 10, 20} <= pairs.keys():
        return None
    parts, checks = [], []
    for h in (10, 20):
        newreno, vegas = ratio(pairs[h][0], pairs[4][0]), ratio(pairs[h][1], pairs[4][1])
        parts.append(
            f"of the goodput at 4 hops Vegas keeps {100 * vegas.mean:.0f} % "
            f"and NewReno {100 * newreno.mean:.0f} % at {h} hops"
        )
        checks.append(above(difference(vegas, newreno), 0))
    return "; ".join(parts), checks


def _fewer_retransmissions(data: Data) -> Look:
    pairs = _both(data, "retransmitted_pkts_per_10000")
    if not pairs:
        return None
    fewer = {h: _fewer(n, v) for h, (n, v) in pairs.items()}
    best, worst = max(fewer, key=lambda h: fewer[h].mean), min(fewer, key=lambda h: fewer[h].mean)
    most = max((v.mean, h) for h, (_, v) in pairs.items())
    text = (
        f"{fewer[worst].mean:.0f} % ({worst} hops) to {fewer[best].mean:.1f} % ({best} hops) fewer; "
        f"Vegas never more than {number(most[0], 3)} per 10,000"
    )
    return text, [about(fewer[best], 99, 0.02), above(fewer[worst], 57)]


def _retransmission_peak(data: Data) -> Look:
    values = {h: n for h, (n, _) in _both(data, "retransmitted_pkts_per_10000").items()}
    if not {6, 8, 10, 20} <= values.keys():
        return None
    rise = ratio(values[8], values[6])
    peak = max(values, key=lambda h: values[h].mean)
    text = (
        f"{number(values[6].mean, 3)} per 10,000 at 6 hops, {number(values[8].mean, 3)} at 8 ({_percent(rise)}), "
        f"peak {number(values[peak].mean, 3)} at {peak} hops, {number(values[20].mean, 3)} at 20"
    )
    others = [above(difference(values[8], values[h]), 0) for h in values if h != 8]
    is_peak = True if all(others) else False if False in others else None
    return text, [about(rise, 1.9, 0.1), is_peak, above(difference(values[8], values[20]), 0)]


def _vegas_window(data: Data) -> Look:
    windows = {h: v for h, (_, v) in _both(data, "mean_window_pkts").items() if h <= LONGEST}
    if not windows:
        return None
    low, high = min(windows, key=lambda h: windows[h].mean), max(windows, key=lambda h: windows[h].mean)
    text = f"{windows[low].mean:.1f} ({low} hops) to {windows[high].mean:.1f} ({high} hops) packets"
    checks = [above(e, 3.5) and above(Estimate(-e.mean, e.variance, e.df), -5.5) for e in windows.values()]
    return text, checks


def _window_near_optimum(data: Data) -> Look:
    pairs = _both(data, "mean_window_pkts")
    if 32 not in pairs:
        return None
    window = pairs[32][1]
    text = f"{with_error(window.mean, window.half_width())} packets at 32 hops, where h/4 = 8"
    return text, [about(window, 8, 0.25)]


def _fewer_failures(data: Data) -> Look:
    pairs = _both(data, "false_route_failures_per_10000")
    if not pairs:
        return None
    fewer = {h: _fewer(n, v) for h, (n, v) in pairs.items()}
    best, worst = max(fewer, key=lambda h: fewer[h].mean), min(fewer, key=lambda h: fewer[h].mean)
    text = f"{fewer[worst].mean:.0f} % ({worst} hops) to {fewer[best].mean:.0f} % ({best} hops) fewer"
    return text, [above(e, 93) for e in fewer.values()]


def _failures_fall(data: Data) -> Look:
    pairs = _both(data, "false_route_failures_per_10000", shortest=8)
    if len(pairs) < 3:
        return None
    parts, checks = [], []
    for name, which in (("NewReno", 0), ("Vegas", 1)):
        hops = sorted(pairs)
        values = [pairs[h][which] for h in hops]
        parts.append(
            f"{name} {number(values[0].mean, 3)} per 10,000 at {hops[0]} hops, "
            + ", ".join(f"{number(v.mean, 3)} at {h}" for h, v in zip(hops[1:], values[1:], strict=True))
        )
        checks.append(above(difference(values[0], values[-1]), 0))
        checks += [above(difference(b, a), 0) is not True for a, b in itertools.pairwise(values)]
    return "; ".join(parts), checks


CLAIMS: tuple[Claim, ...] = (
    Claim("P0-F6-1", 6, "Vegas has up to 83 % more goodput than NewReno; about 75 % more at 8 hops", _gain),
    Claim(
        "P0-F6-2, -3",
        6,
        "Vegas lies 23 % (4 hops) to 52 % (32 hops) below paced UDP, NewReno 28 % to 63 %: hence Vegas 7 % above "
        "NewReno at 4 hops and 30 % at 32",
        _gain_at_the_ends,
    ),
    Claim("P0-F6-5", 6, "The goodput of Vegas falls much more slowly with the hops than that of NewReno", _slower_fall),
    Claim(
        "P0-F7-1",
        7,
        "Vegas has up to 99 % fewer retransmissions (57 % to 99 % over all experiments), very few at any length",
        _fewer_retransmissions,
    ),
    Claim(
        "P0-F7-2",
        7,
        "Retransmissions of NewReno almost double from 6 to 8 hops, peak there, and then fall gradually",
        _retransmission_peak,
    ),
    Claim("P0-F8-1", 8, "The mean window of Vegas lies between 3.5 and 5.5 for 4 to 40 hops", _vegas_window),
    Claim("P0-F8-2", 8, "The window of Vegas is near the optimum h/4 for 32 hops", _window_near_optimum),
    Claim("P0-F9-1", 9, "Vegas has 93 % to 100 % fewer false route failures than NewReno", _fewer_failures),
    Claim("P0-F9-3", 9, "The number of false route failures falls with the number of hops", _failures_fall),
)
"""Claims on NewReno and Vegas over chains at 2 Mbit/s."""
