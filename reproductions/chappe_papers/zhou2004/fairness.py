"""Addition that answers the paper's call for throughput and fairness together: FQ-CoDel before the lossy link."""

import math
from collections.abc import Sequence

from chappe.stats import Estimate

from chappe_papers.extras import Extra, percent
from chappe_papers.judging.judge import times
from chappe_papers.pages.answers import LEADING
from chappe_papers.pages.figures import Chart, Legend, Panel, Rows, Sheet, cell, panel
from chappe_papers.runs.estimates import Estimates
from chappe_papers.zhou2004.design import GOODPUT, MEASURES, UNFAIRNESS, Length
from chappe_papers.zhou2004.figures import LOG_FROM, TICKS, X_LABEL, X_NAME
from chappe_papers.zhou2004.points import ALIKE, MECHANISMS, VARIANTS, Point

ENOUGH = 1.0
"""Losses up to which a mechanism must be fair to be an answer [%]: the paper shows unfairness at 0.8 %."""

FAIR = 0.1
"""Unfairness that the paper finds too large: with Snoop, one flow of Vegas gets over 10 % more than another."""

NETWORKS = {
    "2003": ("equal", "fq_codel"),
    "rtts": ("52 to 132 ms", "rtts_fq_codel"),
    "authors_2003": ("equal, Snoop as its authors describe it", "fq_codel_authors"),
}
"""Networks with drop-tail queues: their round-trip times, and the same with FQ-CoDel."""

_PLAIN, _RTTS, _AUTHORS = NETWORKS
_TRIED = ("none", "snoop")
"""Mechanisms with both queues."""

_TCPS = (*ALIKE, "vegas")
"""The variants of the paper."""


def _mechanisms(network: str) -> tuple[str, ...]:
    return ("snoop",) if network == _AUTHORS else _TRIED


def _rates(network: str, length: Length) -> tuple[float, ...]:
    return length.few if network == _AUTHORS else length.x


def _points(length: Length) -> list[Point]:
    return [
        Point(v, m, r, reading)
        for network, (_, fair) in NETWORKS.items()
        for reading in (network, fair)
        for m in _mechanisms(network)
        for v in _TCPS
        for r in _rates(network, length)
    ]


def _panels(length: Length) -> list[Panel]:
    def one(variant: str, network: str, measure: str) -> Panel:
        def of(curve: str, rate: float) -> tuple[Point, str]:
            mechanism, _, fair = curve.partition(" ")
            return Point(variant, mechanism, rate, NETWORKS[network][1] if fair else network), measure

        title = f"{VARIANTS[variant]}, round-trip times {NETWORKS[network][0]}"
        return panel(length.x, of, MEASURES[measure], title, f"{variant} {network} {measure}")

    return [one(v, n, m) for m in (UNFAIRNESS, GOODPUT) for v in ("vegas", "newreno") for n in (_PLAIN, _RTTS)]


_CURVES = {
    "none": "TCP only, drop-tail",
    "snoop": "Snoop, drop-tail",
    "none fair": "TCP only, FQ-CoDel",
    "snoop fair": "Snoop, FQ-CoDel",
}


def _chart(length: Length) -> Chart:
    title = "FQ-CoDel before the lossy link, with and without Snoop"
    return Chart(title, X_NAME, X_LABEL, tuple(_CURVES), lambda _: _panels(length), TICKS, None, LOG_FROM)


def _span(e: Estimate) -> str:
    """A median with its interval, which is not centered on it."""
    low, high = e.interval()
    return f"{e.mean:.3f} ({low:.3f} to {high:.3f})" if math.isfinite(high - low) else f"{e.mean:.3f}"


def _rows(ours: Estimates, _: Estimates) -> Rows:
    rows = []
    for network, (title, fair) in NETWORKS.items():
        for m in _mechanisms(network):
            for v in _TCPS:
                for r in sorted({p.per_percent for p in ours.values if p.reading == fair}):
                    p = Point(v, m, r, network)
                    q = p._replace(reading=fair)
                    unfair = [_span(e) for pair in ours.both(p, q, UNFAIRNESS) for e in pair]
                    for a, b in ours.both(p, q, GOODPUT):
                        goodput = [cell(a, 1e-3), cell(b, 1e-3), percent(b, a)]
                        rows.append([title, MECHANISMS[m], VARIANTS[v], f"{r:g} %", *goodput, *unfair])
    return rows


# ---- the answer ----


def _from_to(printed: Sequence[tuple[float, str]]) -> str:
    """The smallest and the largest of some values as they are printed, once if these are alike."""
    return " to ".join(dict.fromkeys((min(printed)[1], max(printed)[1])))


def _rates_of(ours: Estimates, network: str) -> list[float]:
    return sorted({p.per_percent for p in ours.values if p.reading == NETWORKS[network][1]})


def _until(ours: Estimates, network: str, mechanism: str) -> float:
    """The largest rate up to which the median of unfairness is below :data:`FAIR` with all variants and FQ-CoDel."""
    reached = -1.0
    for r in _rates_of(ours, network):
        if max(ours.take(Point(v, mechanism, r, NETWORKS[network][1]), UNFAIRNESS).mean for v in _TCPS) >= FAIR:
            break
        reached = r
    return reached


def _said(ours: Estimates, network: str, until: float) -> str:
    """Unfairness and throughput with Snoop, with drop-tail and with FQ-CoDel, up to an error rate."""
    rates = [r for r in _rates_of(ours, network) if r <= until]
    fair = NETWORKS[network][1]
    parts = []
    for v in ("vegas", "newreno"):
        medians = ([ours.take(Point(v, "snoop", r, q), UNFAIRNESS).mean for r in rates] for q in (network, fair))
        before, after = (_from_to([(m, f"{m:.2f}") for m in of_queue]) for of_queue in medians)
        parts.append(f"the unfairness of {VARIANTS[v]} is {after} instead of {before}")
    points = [Point(v, "snoop", r, network) for v in _TCPS for r in rates]
    sure = sum(ours.take(p._replace(reading=fair), UNFAIRNESS).interval()[1] < FAIR for p in points)
    changes = [times(ours.take(p._replace(reading=fair), GOODPUT), ours.take(p, GOODPUT)).mean - 1 for p in points]
    cost = _from_to([(c, f"{round(100 * c) or 0:+d}") for c in changes])
    return (
        f"{', and '.join(parts)}; throughput changes by {cost} %; the whole interval of unfairness is below {FAIR:g} "
        f"at {sure} of {len(points)} points"
    )


def answers(ours: Estimates) -> list[tuple[str, str]]:
    """Names what gives throughput and fairness together."""
    plain, rtts, authors = (_until(ours, n, "snoop") for n in (_PLAIN, _RTTS, _AUTHORS))
    without = min(_until(ours, n, "none") for n in (_PLAIN, _RTTS))
    word = "Yes" if min(plain, rtts) >= ENOUGH else "Only with equal round-trip times" if plain >= ENOUGH else "No"
    brings = f"brings every variant below this value only up to {without:g} % loss"
    alone = brings if without >= 0 else "does not bring every variant below this value, even without loss"
    text = (
        f"{word}: Snoop with FQ-CoDel in the queue before the lossy link. The median of unfairness is below {FAIR:g} "
        f"(the paper finds 0.5 with Vegas at 0.8 % loss) with every variant up to {_share(plain)}, with round-trip "
        f"times of {NETWORKS[_RTTS][0]} up to {_share(rtts)}, and with Snoop as its authors describe it up to "
        f"{_share(authors)}. FQ-CoDel alone {alone}."
    )
    if plain >= 0:
        text += f" Up to {_share(plain)}, compared with Snoop and drop-tail, {_said(ours, _PLAIN, plain)}."
    if rtts >= 0:
        text += f" With different round-trip times, up to {_share(rtts)}, {_said(ours, _RTTS, rtts)}."
    return [("Does any mechanism give throughput and fairness together, as the paper calls for?", text)]


def _share(rate: float) -> str:
    return f"{rate:g} % loss" if rate >= 0 else "no loss at all"


FAIRNESS = Extra(
    "fairness",
    _points,
    _chart,
    Legend(_CURVES, {name: n for n, name in enumerate(_CURVES)}),
    {"fairness_table": Sheet(
        "drop-tail and FQ-CoDel before the lossy link",
        ("round-trip times", "mechanism", "variant", "lost", "drop-tail [kbit/s]", "FQ-CoDel [kbit/s]", "change",
         "unfairness: drop-tail", "unfairness: FQ-CoDel"),
        _rows,
    )},
    answers=answers,
    place=LEADING,
)  # fmt: skip
"""The addition."""
