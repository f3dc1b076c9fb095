"""The claims of the paper, in the order of its figures and tables, and its conclusions."""

from collections.abc import Callable, Iterable, Iterator

from chappe.stats import Estimate, Share, exact_share
from chappe.text import count

from chappe_papers.judging.claims import Claims, Finding, compare
from chappe_papers.judging.judge import (
    PERCENT,
    PLAIN,
    SLIGHTLY,
    TIMES,
    Form,
    Observation,
    above,
    among,
    at_least,
    below,
    equal,
    less,
    lies,
    more,
    times,
)
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.pairs import Paired, common, single
from chappe_papers.su2008.design import (
    AGGREGATE,
    JAIN,
    LARGEST,
    MEDIAN,
    PEAK,
    RESENT,
    RTT,
    SETTLED,
    SLOW_START,
    SMALLEST,
    TIMEOUTS,
    WINDOW,
    by_path,
    mix,
)
from chappe_papers.su2008.informed import frozen, judges_nothing
from chappe_papers.su2008.points import BESIDE, HOSTS, LIMITS, RATES, SCHEMES, Point
from chappe_papers.su2008.targets import best_limit, printed

CLAIMS = Claims(judges_nothing)
claim = CLAIMS.claim
Observations = Iterator[Observation]

SINGLE, SEVERAL, CYCLE = "IV A: one flow", "IV B: four flows", "V A: the interaction cycle"
CLAMPED, HYBRID, BETTER = "V B: clamping, RTS and CTS", "VI: hybrid paths", "VII: possible solutions"

ROWS, BUFFER = "the places of the four paths", "what a buffer of 2 holds"
"""Details that the paper leaves open and that reverse claims: ``unknowns.csv`` has the effects."""

AUTO, FIXED = Point("path"), Point("path", rate="fixed")
SATURATED = (16, 20, 30, 50)
"""Window limits above which the network is saturated [segments]."""
OPTIMUM = {"": 4, "mesh_europe": 7, "mesh_us": 13}
"""Window limit of the greatest throughput, by host [segments]."""
BACK = {"mesh_europe": "europe_mesh", "mesh_us": "us_mesh"}
"""Hosts of the same paths in the other direction."""
LATER = {"mesh_us": "US", "mesh_europe_later": "Europe"}
"""Hosts of Section VII."""
SMALL_DROP = 0.9
"""Smallest share of the greatest throughput that counts as a small drop."""


def _quotient(data: Estimates, a: Point, b: Point) -> Estimate | None:
    """Throughput of one point relative to another, path by path."""
    both = next(data.both(a, b, AGGREGATE), None)
    if both is None:
        return None
    return _by_path(*both)


def _by_path(x: Estimate, y: Estimate) -> Estimate:
    """The quotient, path by path."""
    if not (isinstance(x, Paired) and isinstance(y, Paired)):
        return x
    units = sorted(dict(x.values).keys() & dict(y.values).keys())
    values = common([x, y])
    return Paired.at(dict(zip(units, (values[:, 0] / values[:, 1]).tolist(), strict=True)))


def _lengths(data: Estimates, first: int = 1, last: int = 5) -> list[int]:
    return [h for h in data.x if first <= h <= last]


def _on_one_path(
    data: Estimates, where: str, point: Point, measure: str, one: float, form: Form = PLAIN
) -> Observations:
    """The paper's number of its one path, among our paths."""
    if (e := data.get(point, measure)) is not None:
        yield among(where, single(e), one, form)


# ---- IV A: one flow ----


@claim("P2-F1-1", "Over 1 and 2 hops autorate and 11 Mbit/s are nearly the same", section=SINGLE, figures=(1,))
def _(data: Estimates) -> Observations:
    pairs = [(count(h, "hop"), AUTO._replace(hops=h), FIXED._replace(hops=h)) for h in (1, 2)]
    yield from compare(data, equal, pairs, MEDIAN)


@claim(
    "P2-F1-2",
    "Over 5 hops autorate has 64 % of the throughput of 11 Mbit/s",
    section=SINGLE,
    figures=(1,),
)
def _(data: Estimates) -> Observations:
    yield from compare(data, less, [("5 hops", AUTO, FIXED)], MEDIAN, (0.64, 0.64))


@claim("P2-F1-3", "Autorate is less efficient over longer paths", section=SINGLE, figures=(1,))
def _(data: Estimates) -> Observations:
    for h in _lengths(data, first=2):
        own = [_quotient(data, AUTO._replace(hops=n), FIXED._replace(hops=n)) for n in (h, h - 1)]
        if own[0] is not None and own[1] is not None:
            yield less(f"{h} hops against {h - 1}", own[0], own[1])


@claim("P2-F2-1", "11 Mbit/s: the window stays at 30 or below after slow start", section=SINGLE, figures=(2,),
       fresh=16)  # fmt: skip
def _(data: Estimates) -> Observations:
    yield from _on_one_path(data, "the largest window", FIXED, LARGEST, printed("F2-cwnd11"), Form(unit="segments"))


@claim("P2-F2-2", "Autorate: a larger window, and a longer round-trip time", section=SINGLE, figures=(2,))
def _(data: Estimates) -> Observations:
    yield from compare(data, more, [("mean window", AUTO, FIXED)], WINDOW)
    yield from compare(data, more, [("round-trip time", AUTO, FIXED)], RTT)


@claim(
    "P2-F2-3",
    "Slow start lasts 1.2 s with both, and ends at more than 40 packets",
    first="its length",
    section=SINGLE,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    for rate, title in RATES.items():
        yield from _on_one_path(data, title, AUTO._replace(rate=rate), SLOW_START, printed("F2-ss"), Form(unit="s"))
        if (e := data.get(AUTO._replace(rate=rate), PEAK)) is not None:
            yield above(title, e, 40.0).called("segments")


@claim("P2-F2-4", "Autorate: after slow start throughput is lower", section=SINGLE, figures=(2,))
def _(data: Estimates) -> Observations:
    yield from compare(data, less, [("after a quarter of the time", AUTO, FIXED)], SETTLED)


@claim("P2-F2-5", "11 Mbit/s: losses that the link does not repair cause timeouts", section=SINGLE, figures=(2,))
def _(data: Estimates) -> Observations:
    yield from compare(data, more, [("timeouts", FIXED, AUTO)], TIMEOUTS)


@claim(
    "P2-T1-1",
    "Autorate: fewer segments are retransmitted, 0.5 % instead of 1.4 %",
    first="the mean",
    section=SINGLE,
    tables=(1,),
)
def _(data: Estimates) -> Observations:
    shares = printed("T1-auto"), printed("T1-11")
    yield from compare(data, less, [("one flow", AUTO, FIXED)], RESENT, (shares[0] / shares[1],) * 2)
    for rate, share in zip(RATES, shares, strict=True):
        path = _on_one_path(data, RATES[rate], AUTO._replace(rate=rate), by_path(RESENT), share, PERCENT)
        yield from (o.called("on one path") for o in path)


# ---- IV B: four flows ----


@claim("P2-F4-1", "1 hop: 11 Mbit/s has 180 % more total throughput than autorate", section=SEVERAL, figures=(4,))
def _(data: Estimates) -> Observations:
    yield from compare(data, more, [("1 hop", Point("rows", 1, "fixed"), Point("rows", 1))], AGGREGATE, (2.8, 2.8))


@claim("P2-F4-2", "Longer paths: over 91 % more total throughput", section=SEVERAL, figures=(4,))
def _(data: Estimates) -> Observations:
    pairs = [(count(h, "hop"), Point("rows", h, "fixed"), Point("rows", h)) for h in _lengths(data, 2)]
    yield from compare(data, at_least, pairs, AGGREGATE, 1.91)


@claim("P2-T2-1", "Autorate is fairer at every length", hangs=ROWS, section=SEVERAL, tables=(2,))
def _(data: Estimates) -> Observations:
    pairs = [(count(h, "hop"), Point("rows", h), Point("rows", h, "fixed")) for h in _lengths(data)]
    yield from compare(data, more, pairs, JAIN)


# ---- V A ----


@claim("P2-T3-1", "The first two hops are mostly at 5.5 and 2 Mbit/s", section=CYCLE, tables=(3,), figures=(5,))
def _(data: Estimates) -> Observations:
    yield from _at_11(data, (0, 1))


@claim("P2-T3-2", "The last hops stay at 11 Mbit/s", section=CYCLE, tables=(3,), figures=(5,))
def _(data: Estimates) -> Observations:
    yield from _at_11(data, (2, 3, 4))


def _at_11(data: Estimates, nodes: Iterable[int]) -> Observations:
    """Shares of the packets of nodes at 11 Mbit/s: those of Table III, which are of one path, among our paths."""
    for node in nodes:
        share = by_path(mix("packets", node, "11"))
        yield from _on_one_path(data, f"node {node}", AUTO, share, printed(f"T3-{node}") / 100, PERCENT)


# ---- V B ----


def _limited(limit: int, rate: str = "auto", host: str = "", rts: int = 0) -> Point:
    return Point("path", 5, rate, "reno", limit, rts, host)


@claim("P2-F6-1", "Autorate: the best window limit is 4 segments", section=CLAMPED, figures=(6,))
def _(data: Estimates) -> Observations:
    if (e := best_limit(data, "")) is not None:
        yield lies("all wireless", e, 3, 5)


@claim("P2-F6-2", "Beyond the best limit 11 Mbit/s loses little, autorate more", section=CLAMPED, figures=(6,))
def _(data: Estimates) -> Observations:
    yield from _drops(data, "")


def _drops(data: Estimates, host: str) -> Observations:
    """Throughput without a limit relative to that at the best limit, which is chosen on every other path."""
    for rate, says in (("fixed", above), ("auto", below)):
        if (best_and_ends := _ends(data, rate, host)) is not None:
            best, *ends = best_and_ends
            observation = says(f"{RATES[rate]}, from {best}", times(*ends), SMALL_DROP, form=TIMES)
            yield observation.of(HOSTS[host].title) if host else observation


def _ends(data: Estimates, rate: str, host: str) -> tuple[int, Estimate, Estimate] | None:
    """The best limit, and throughput without one and at that one, on the paths that have not told which it is."""
    by_limit = {n: e for n in LIMITS if (e := data.get(_limited(n, rate, host), AGGREGATE)) is not None}
    if max(LIMITS) not in by_limit:
        return None
    best = max(by_limit, key=lambda n: _of_paths(by_limit[n], 1).mean)
    return best, _of_paths(by_limit[max(LIMITS)], 0), _of_paths(by_limit[best], 0)


def _of_paths(e: Estimate, odd: int) -> Estimate:
    """The mean over the paths with odd numbers, or with even ones."""
    return Paired.at({n: v for n, v in e.values if n % 2 == odd}) if isinstance(e, Paired) else e


@claim("P2-F6-3", "Above 10 segments throughput no longer changes", section=CLAMPED, figures=(6,))
def _(data: Estimates) -> Observations:
    for rate, title in RATES.items():
        pairs = [(f"limit {n}", _limited(n, rate), _limited(13, rate)) for n in SATURATED]
        yield from (c.of(title) for c in compare(data, equal, pairs, AGGREGATE, SLIGHTLY))


@claim(
    "P2-F6-4", "Autorate: RTS and CTS gain up to 45 % at large windows", first="the mean", section=CLAMPED, figures=(6,)
)
def _(data: Estimates) -> Observations:
    yield from compare(data, more, [("no limit", AUTO._replace(rts=1), AUTO)], AGGREGATE, (None, 1.45))
    if (e := _quotient(data, AUTO._replace(rts=1), AUTO)) is not None:
        yield among("no limit", single(e), printed("F6-rts"), TIMES).called("on one path")


@claim("P2-F6-5", "11 Mbit/s: RTS and CTS always cost throughput", section=CLAMPED, figures=(6,))
def _(data: Estimates) -> Observations:
    pairs = [(f"limit {n}", _limited(n, "fixed", rts=1), _limited(n, "fixed")) for n in (4, 13, 50)]
    yield from compare(data, less, pairs, AGGREGATE)


@claim("P2-F6-6", "Autorate: RTS and CTS help three of five paths at large windows", section=CLAMPED, figures=(6,))
def _(data: Estimates) -> Observations:
    e = _quotient(data, AUTO._replace(rts=1), AUTO)
    if isinstance(e, Paired):
        gains = [gain > 1 + SLIGHTLY for _, gain in e.values]
        helped = Share(sum(gains) / len(gains), 0.0, len(gains) - 1)
        yield lies("paths that gain more than 10 %", helped, *exact_share(3, 5), form=PERCENT)
    elif e is not None:
        yield lies("paths that gain more than 10 %", e, *exact_share(3, 5), form=PERCENT)


# ---- VI ----


@claim("P2-F7-1", "Beyond an optimum autorate loses throughput, 11 Mbit/s little", section=HYBRID, figures=(7, 8))
def _(data: Estimates) -> Observations:
    for host in BACK:
        yield from _drops(data, host)


@claim("P2-F7-2", "The best limit is the bandwidth-delay product: 7 to Europe, 13 to the US", section=HYBRID,
       figures=(7, 8))  # fmt: skip
def _(data: Estimates) -> Observations:
    for host, within in (("mesh_europe", 2), ("mesh_us", 3)):
        if (e := best_limit(data, host)) is not None:
            yield lies(HOSTS[host].title, e, OPTIMUM[host] - within, OPTIMUM[host] + within)


@claim("P2-F9-1", "Downstream the drop beyond the optimum is milder", section=HYBRID, figures=(7, 8, 9, 10))
def _(data: Estimates) -> Observations:
    for up, down in BACK.items():
        a, b = (_ends(data, "auto", host) for host in (down, up))
        if a is not None and b is not None:
            yield more(HOSTS[down].title, _by_path(a[1], a[2]), _by_path(b[1], b[2]))


@claim("P2-A-1", "Hybrid paths: autorate is fairer to several flows, too", section=HYBRID)
def _(data: Estimates) -> Observations:
    for host in ("mesh_europe", "mesh_us"):
        pairs = [
            (count(h, "hop"), Point("shared", h, host=host), Point("shared", h, "fixed", host=host))
            for h in _lengths(data)
        ]
        yield from (c.of(HOSTS[host].title) for c in compare(data, more, pairs, JAIN))


# ---- VII ----


def _schemes(
    data: Estimates,
    says: Callable[..., Observation],
    layout: str,
    scheme: str,
    hops: list[int],
    measure: str,
    *paper: object,
) -> Observations:
    """Observations of a scheme compared with Reno at some lengths."""
    pairs = [(count(h, "hop"), Point(layout, h, scheme=scheme), Point(layout, h)) for h in hops]
    return (c.of(SCHEMES[scheme][0]) for c in compare(data, says, pairs, measure, *paper))


@claim("P2-T6-1", "Disjoint paths, 1 hop: Vegas has 60 % and Buf 2 46 % more throughput", section=BETTER, tables=(6,))
def _(data: Estimates) -> Observations:
    for scheme, gain in (("vegas", 1.60), ("buf2", 1.46)):
        yield from _schemes(data, more, "rows", scheme, [1], AGGREGATE, (gain, gain))


@claim(
    "P2-T6-2",
    "Longer disjoint paths: Buf 2 and Clamping 3 deliver more, and are fairer",
    first="throughput",
    section=BETTER,
    tables=(6,),
)
def _(data: Estimates) -> Observations:
    for scheme, sizes in (("buf2", (1.11, 1.21)), ("clamp3", (1.12, 1.20))):
        yield from _schemes(data, more, "rows", scheme, _lengths(data, 2), AGGREGATE, sizes)
    for scheme in ("buf2", "clamp3"):
        observations = _schemes(data, more, "rows", scheme, _lengths(data, 2), JAIN)
        yield from (c.called("fairer") for c in observations)


@claim("P2-T6-3", "Disjoint paths from 3 hops on: one path starves", section=BETTER, tables=(6,))
def _(data: Estimates) -> Observations:
    for h in _lengths(data, 3):
        if (e := data.get(Point("rows", h), SMALLEST)) is not None:
            yield below(f"share of the smallest, {count(h, 'hop')}", e, 0.05)


@claim(
    "P2-T7-1",
    "One path: Reno is fair; clamping and Vegas have only slightly more throughput",
    first="Jain's index",
    section=BETTER,
    tables=(7,),
)
def _(data: Estimates) -> Observations:
    for h in _lengths(data):
        if (e := data.get(Point("shared", h), JAIN)) is not None:
            yield above(f"Jain's index, {count(h, 'hop')}", e, 0.95)
    for scheme in ("clamp3", "vegas"):
        observations = _schemes(data, equal, "shared", scheme, _lengths(data), AGGREGATE, SLIGHTLY)
        yield from (c.called("in all") for c in observations)


@claim(
    "P2-T7-2",
    "One path: Buf 2 costs 20 % over 1 and 2 hops, gains 40 % over 5, and is unfair",
    first="over 1 and 2 hops",
    hangs=BUFFER,
    section=BETTER,
    tables=(7,),
)
def _(data: Estimates) -> Observations:
    yield from _schemes(data, less, "shared", "buf2", [1, 2], AGGREGATE, (0.79, 0.80))
    longest = _schemes(data, more, "shared", "buf2", [5], AGGREGATE, (1.40, 1.40))
    yield from (c.called("over 5 hops") for c in longest)
    yield from (c.called("in fairness") for c in _schemes(data, less, "shared", "buf2", _lengths(data), JAIN))


def _hybrid(
    data: Estimates, says: Callable[..., Observation], scheme: str, hops: int, ratios: dict[str, float]
) -> Observations:
    """Observations of a scheme compared with Reno on the path to each host."""
    for host, ratio in ratios.items():
        reno = Point("path", hops, host=host)
        pairs = [(f"{LATER[host]}, {count(hops, 'hop')}", reno._replace(scheme=scheme), reno)]
        yield from compare(data, says, pairs, AGGREGATE, (ratio, ratio))


@claim(
    "P2-T8-1",
    "Hybrid paths: Vegas has less throughput over 1 hop, and more over 5",
    first="over 1 hop",
    section=BETTER,
    tables=(8,),
)
def _(data: Estimates) -> Observations:
    yield from _hybrid(data, less, "vegas", 1, {"mesh_us": 0.76, "mesh_europe_later": 0.90})
    longest = _hybrid(data, more, "vegas", 5, {"mesh_us": 1.15, "mesh_europe_later": 1.20})
    yield from (c.called("over 5 hops") for c in longest)


@claim(
    "P2-T8-2",
    "Hybrid paths: Buf 2 always has less throughput, to the US over 1 hop 11 %",
    hangs=BUFFER,
    section=BETTER,
    tables=(8,),
)
def _(data: Estimates) -> Observations:
    for host, title in LATER.items():
        for h in _lengths(data):
            size = (0.11, 0.11) if (host, h) == ("mesh_us", 1) else None
            pairs = [(count(h, "hop"), Point("path", h, scheme="buf2", host=host), Point("path", h, host=host))]
            yield from (c.of(title) for c in compare(data, less, pairs, AGGREGATE, size))


@claim("P2-F11-1", "The harm of small buffers shrinks with the number of hops", section=BETTER,
       figures=(11, 12, 13, 14))  # fmt: skip
def _(data: Estimates) -> Observations:
    for host in (*LATER, "us_mesh", "europe_mesh_later"):
        ends = (Point("path", h, host=host) for h in (5, 1))
        own = [_quotient(data, p._replace(scheme="buf2"), p) for p in ends]
        if own[0] is not None and own[1] is not None:
            yield more(f"{HOSTS[host].title}, 5 hops against 1", own[0], own[1])


@claim("P2-T9-1", "With a buffer of 2 the window is far below the bandwidth-delay product of 45", section=BETTER,
       tables=(9,))  # fmt: skip
def _(data: Estimates) -> Observations:
    if (e := data.get(Point("path", 1, scheme="buf2", host="mesh_us"), WINDOW)) is not None:
        yield below("US, 1 hop [segments]", e, 45 / 2)


ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding("Rate adaptation is less efficient over longer paths", "-36 % from 2 to 5 hops, used to calibrate",
            ("P2-F1-3", "P2-F1-2"), "the first two nodes of a path use slower rates (Table III)",
            of="autorate relative to 11 Mbit/s, compared with one hop less"),
    Finding("Rate adaptation hides losses from TCP, so that TCP's window grows",
            "-64 % (0.5 and 1.4 %)", ("P2-T1-1", "P2-F2-2"),
            "at fixed 11 Mbit/s the MAC repairs more here than in the testbed",
            of="retransmissions with autorate compared with 11 Mbit/s"),
    Finding("Four flows on disjoint paths have far more throughput at a fixed rate", "+180 %",
            ("P2-F4-1", "P2-F4-2"),
            "rows near each other share one channel; over 2 to 5 hops the gain is +65 to +85 % "
            "(these numbers have chosen the distance of the rows)",
            of="throughput at 11 Mbit/s compared with autorate, 1 hop"),
    Finding("Rate adaptation is fairer to several flows", "+8 to +87 %", ("P2-T2-1",),
            "",
            of="Jain's index with autorate compared with 11 Mbit/s"),
    Finding("Over the Internet the best window limit is the bandwidth-delay product", "7 and 13",
            ("P2-F7-2", "P2-F7-1"), "it fills the path without a queue",
            of="best limit [segments]"),
    Finding("On wireless paths alone the best window limit is 4", "4", ("P2-F6-1",),
            "with more than two segments in flight autorate uses slower rates here",
            of="best limit [segments]"),
    Finding("RTS and CTS help rate adaptation at large windows", "up to +45 %", ("P2-F6-4",),
            "an RTS takes the collision, and the rate is not lowered; if it were, RTS and CTS would cost 15 %",
            of="throughput with RTS and CTS compared with that without"),
    Finding("Small buffers help over long wireless paths", "-20 % over 1 and 2 hops, +40 % over 5",
            ("P2-T7-2", "P2-T6-2"),
            "nodes with few packets contend less", "over 5 hops",
            of="throughput with a buffer of 2 compared with 50"),
    Finding("Hybrid paths: Vegas is slower over 1 hop, faster over 5", "-24 %, +15 % over 5 hops (US)",
            ("P2-T8-1",), "", "over 5 hops",
            of="throughput of Vegas compared with Reno's"),
)  # fmt: skip
"""Conclusions of the paper."""


READINGS = {
    "The frozen model, with which all numbers were predicted": frozen,
    "A buffer of 2 holds two packets in addition to the one that is sent": lambda p: (
        p._replace(scheme=BESIDE[p.scheme]) if p.scheme in BESIDE else p
    ),
    "An unanswered RTS uses up an attempt, and counts against the rate": lambda p: frozen(p) if p.rts else p,
}
"""Other readings of the paper."""
