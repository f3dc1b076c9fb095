"""The claims of the paper, in the order of its figures, and its conclusions."""

from collections.abc import Callable, Iterable, Iterator

from chappe.stats import Estimate

from chappe_papers.ahmed2006.design import DELAY, DESIGN, LOST, THROUGHPUT
from chappe_papers.ahmed2006.points import LOSSES, MAIN, OLDER, SPEEDS, TCPS, VARIANTS, Point
from chappe_papers.ahmed2006.points import READINGS as READINGS_OF
from chappe_papers.judging.claims import Claims, Finding
from chappe_papers.judging.judge import AT_LEAST_MUCH, SLIGHTLY, Observation, among, less, more
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.pairs import Paired, common, mean_of, single

CLAIMS = Claims()
claim = CLAIMS.claim
Observations = Iterator[Observation]

MOBILITY, LOSSY, WHY = "5.1: mobility", "5.2: mobility and link loss", "6: why"
OURS = "e_newreno"

RESENT, QUEUE, THEN = "what E-NewReno resends", "RED or drop-tail for ECN", "the place of link loss, or ns-2's release"
"""Details that the paper leaves open and that reverse claims: ``unknowns.csv`` has the effects."""

FAST = (10.0, 20.0, 25.0)
"""Speeds of "10 m/s, 20 m/s and above" [m/s]."""

THROUGHPUT_REPORTED = {0.0: 230.0, 1.0: 215.0}
"""Segments per second of E-NewReno when nothing moves, by link loss [%]: of one pattern."""
LOST_REPORTED = {0.0: 0.05, 1.0: 0.09}
"""Share of segments that E-NewReno loses when nothing moves, by link loss [%]."""
GAIN_REPORTED = {0.0: 1.21, 1.0: 1.23}
"""Gain over NewReno, the mean over the speeds."""


def _all(data: Estimates, a: str, others: Iterable[str], measure: str, says: Callable[..., Observation], loss: float,
         speeds: Iterable[float] = SPEEDS, paper: object = None) -> Observations:  # fmt: skip
    """One has more, or less, than each of others at some speeds."""
    for speed in speeds:
        for other in others:
            if other != a and speed in data.x:
                for x, y in data.both(Point(a, speed, loss), Point(other, speed, loss), measure):
                    yield says(f"{speed:g} m/s, against {TCPS[other][0]}", x, y, paper)


def _mean(data: Estimates, v: str, measure: str, loss: float) -> Estimate:
    """A measure in the mean over the speeds."""
    return mean_of(data.several([Point(v, s, loss) for s in data.x], measure))


def _evenness(data: Estimates, v: str, loss: float) -> Estimate:
    """Least by largest throughput over the speeds, by movement pattern."""
    throughputs = data.several([Point(v, s, loss) for s in data.x], THROUGHPUT)
    walks = [e for e in throughputs if isinstance(e, Paired)]
    if len(walks) < len(throughputs):
        return throughputs[0]
    table = common(walks)
    return Paired.at(dict(enumerate((table.min(axis=1) / table.max(axis=1)).tolist())))


def _single(data: Estimates, measure: str, reported: float, loss: float) -> Observations:
    """The paper's number of E-NewReno where nothing moves, among single runs of Chappe."""
    e = data.get(Point(OURS, 0.0, loss), measure)
    if e is not None:
        yield among(f"the paper's {reported:g}", single(e), reported)


def _gain(data: Estimates, loss: float) -> Observations:
    gain = GAIN_REPORTED[loss]
    a, b = (_mean(data, v, THROUGHPUT, loss) for v in (OURS, "newreno"))
    yield more("mean over the speeds", a, b, (gain, gain))


# ---- Figure 1: throughput ----


@claim("P4-F1-1", "When nothing moves, Westwood is the best of the four older variants", section=MOBILITY, figures=(1,))
def _(data: Estimates) -> Observations:
    yield from _all(data, "westwood", OLDER, THROUGHPUT, more, 0.0, (0.0,))


@claim("P4-F1-2", "From 5 m/s on Westwood degrades", first="with speed", section=MOBILITY, figures=(1,))
def _(data: Estimates) -> Observations:
    for speed in data.x[1:]:
        for x, y in data.both(Point("westwood", speed), Point("westwood"), THROUGHPUT):
            yield less(f"{speed:g} m/s, against 0 m/s", x, y)
    rest = _all(data, "westwood", ("newreno",), THROUGHPUT, less, 0.0, SPEEDS[1:])
    yield from (c.called("against NewReno") for c in rest)


@claim("P4-F1-3", "E-NewReno has 21 % more throughput than NewReno on average", section=MOBILITY, figures=(1,))
def _(data: Estimates) -> Observations:
    yield from _gain(data, 0.0)


@claim(
    "P4-F1-6", "E-NewReno has more throughput than each of the others at every speed", section=MOBILITY, figures=(1,)
)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, VARIANTS, THROUGHPUT, more, 0.0)


@claim("P4-F1-7", "E-NewReno is the most even over the speeds, with link loss too", section=MOBILITY,
       figures=(1, 4))  # fmt: skip
def _(data: Estimates) -> Observations:
    for loss in LOSSES:
        own = _evenness(data, OURS, loss)
        for v in OLDER:
            against = f"{loss:g} % link loss, against {VARIANTS[v]}"
            yield more(against, own, _evenness(data, v, loss)).called("in evenness over the speeds")


@claim(
    "P4-F1-4",
    "E-NewReno delivers nearly 230 packets when nothing moves (a second, we assume)",
    section=MOBILITY,
    figures=(1,),
)
def _(data: Estimates) -> Observations:
    yield from _single(data, THROUGHPUT, THROUGHPUT_REPORTED[0.0], 0.0)


@claim("P4-F1-5", "ECN is slightly better than the other older variants",
       hangs=QUEUE, section=MOBILITY, figures=(1,), fresh=16)  # fmt: skip
def _(data: Estimates) -> Observations:
    yield from _all(data, "ecn", OLDER, THROUGHPUT, more, 0.0, paper=(1.0, 1 + SLIGHTLY))


# ---- Figure 2: loss ----


@claim(
    "P4-F2-1",
    "E-NewReno loses least at all speeds: 5 % when nothing moves, more when nodes do",
    first="against the others",
    hangs=RESENT,
    section=MOBILITY,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, VARIANTS, LOST, less, 0.0)
    yield from (c.called("[share lost]") for c in _single(data, LOST, LOST_REPORTED[0.0], 0.0))
    for speed in data.x[1:]:
        for x, y in data.both(Point(OURS, speed), Point(OURS), LOST):
            yield more(f"{speed:g} m/s", x, y).called("against 0 m/s")


@claim(
    "P4-F2-2",
    "ECN loses least of the older variants, Westwood much at 10 and 20 m/s",
    first="ECN",
    hangs=QUEUE,
    section=MOBILITY,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    yield from _all(data, "ecn", OLDER, LOST, less, 0.0)
    rest = _all(data, "westwood", ("newreno",), LOST, more, 0.0, FAST)
    yield from (c.called("(Westwood)") for c in rest)


@claim(
    "P4-F2-3",
    "At 10 and 20 m/s E-NewReno loses more, because it sends more",
    hangs=RESENT,
    section=MOBILITY,
    figures=(2,),
)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, ("newreno",), LOST, more, 0.0, (10.0, 20.0))


# ---- Figure 3: delay ----


@claim(
    "P4-F3-1",
    "E-NewReno has the least delay, except at 10 and 20 m/s",
    first="at the other speeds",
    hangs=RESENT,
    section=MOBILITY,
    figures=(3,),
)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, VARIANTS, DELAY, less, 0.0, (0.0, 5.0, 15.0, 25.0))
    rest = _all(data, OURS, ("ecn",), DELAY, more, 0.0, (10.0, 20.0))
    yield from (c.called("at 10 and 20 m/s") for c in rest)


@claim("P4-F3-2", "Of the older variants ECN has the least delay, SACK more; Westwood from 10 m/s on",
       first="ECN", hangs=QUEUE, section=MOBILITY, figures=(3,))  # fmt: skip
def _(data: Estimates) -> Observations:
    yield from _all(data, "ecn", OLDER, DELAY, less, 0.0)
    for v, speeds in (("westwood", FAST), ("sack", SPEEDS)):
        rest = _all(data, v, ("newreno",), DELAY, more, 0.0, speeds)
        yield from (c.called(f"({VARIANTS[v]})") for c in rest)


# ---- Figures 4 to 6: with link loss ----


@claim(
    "P4-F4-1", "When nothing moves, E-NewReno delivers 6.5 % less than without link loss", section=LOSSY, figures=(4,)
)
def _(data: Estimates) -> Observations:
    reported = THROUGHPUT_REPORTED[1.0] / THROUGHPUT_REPORTED[0.0]
    for x, y in data.both(Point(OURS, 0.0, 1.0), Point(OURS), THROUGHPUT):
        yield less("0 m/s", x, y, (reported, reported))


@claim(
    "P4-F4-6", "E-NewReno delivers 215 packets when nothing moves (a second, we assume)", section=LOSSY, figures=(4,)
)
def _(data: Estimates) -> Observations:
    yield from _single(data, THROUGHPUT, THROUGHPUT_REPORTED[1.0], 1.0)


@claim("P4-F4-2", "E-NewReno has 23 % more throughput than NewReno on average", section=LOSSY, figures=(4,))
def _(data: Estimates) -> Observations:
    yield from _gain(data, 1.0)


@claim("P4-F4-5", "E-NewReno has more throughput than each of the others at every speed", section=LOSSY, figures=(4,))
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, VARIANTS, THROUGHPUT, more, 1.0)


@claim(
    "P4-F4-3", "NewReno is the best and the most even of the older variants", first="best", section=LOSSY, figures=(4,)
)
def _(data: Estimates) -> Observations:
    except_at = {15.0: "westwood", 20.0: "ecn"}
    for speed in data.x:
        others = [v for v in OLDER if v != except_at.get(speed)]
        yield from _all(data, "newreno", others, THROUGHPUT, more, 1.0, (speed,))
    own = _evenness(data, "newreno", 1.0)
    for v in OLDER[1:]:
        yield more(f"all speeds, against {VARIANTS[v]}", own, _evenness(data, v, 1.0)).called(
            "in evenness over the speeds"
        )


@claim("P4-F4-4", "Westwood is better than NewReno at 15 m/s, ECN at 20 m/s", hangs=THEN, section=LOSSY, figures=(4,))
def _(data: Estimates) -> Observations:
    yield from _all(data, "westwood", ("newreno",), THROUGHPUT, more, 1.0, (15.0,))
    yield from _all(data, "ecn", ("newreno",), THROUGHPUT, more, 1.0, (20.0,))


@claim(
    "P4-F5-1",
    "E-NewReno loses 9 % instead of 5 % when nothing moves, and more the faster nodes are",
    first="with link loss",
    section=LOSSY,
    figures=(5,),
    fresh=16,
)
def _(data: Estimates) -> Observations:
    reported = LOST_REPORTED[1.0] / LOST_REPORTED[0.0]
    for x, y in data.both(Point(OURS, 0.0, 1.0), Point(OURS), LOST):
        yield more("0 m/s", x, y, (reported, reported))
    yield from (c.called("[share lost]") for c in _single(data, LOST, LOST_REPORTED[1.0], 1.0))
    for slow, fast in zip(data.x, data.x[1:], strict=False):
        for x, y in data.both(Point(OURS, fast, 1.0), Point(OURS, slow, 1.0), LOST):
            yield more(f"{fast:g} m/s against {slow:g}", x, y).called("with speed")


@claim("P4-F5-2", "Westwood's loss rises drastically at 10 m/s", first="from 5 to 10 m/s", section=LOSSY, figures=(5,))
def _(data: Estimates) -> Observations:
    for x, y in data.both(Point("westwood", 10.0, 1.0), Point("westwood", 5.0, 1.0), LOST):
        yield more("10 m/s against 5 m/s", x, y, AT_LEAST_MUCH)
    rest = _all(data, "westwood", ("newreno",), LOST, more, 1.0, (10.0,))
    yield from (c.called("against others") for c in rest)


@claim(
    "P4-F6-1", "When nothing moves, E-NewReno has less delay than all others", hangs=RESENT, section=LOSSY, figures=(6,)
)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, VARIANTS, DELAY, less, 1.0, (0.0,))


@claim(
    "P4-F6-2", "E-NewReno has the least delay in the mean over the speeds", hangs=RESENT, section=LOSSY, figures=(6,)
)
def _(data: Estimates) -> Observations:
    own = _mean(data, OURS, DELAY, 1.0)
    for v in OLDER:
        yield less(f"all speeds, against {VARIANTS[v]}", own, _mean(data, v, DELAY, 1.0))


@claim("P4-F6-3", "At 5 m/s ECN, NewReno and Westwood have less delay and loss, more throughput than SACK",
       first="delay", hangs=QUEUE, section=LOSSY, figures=(6,))  # fmt: skip
def _(data: Estimates) -> Observations:
    for measure, says, what in ((DELAY, less, ""), (THROUGHPUT, more, "throughput"), (LOST, less, "loss")):
        for v in ("ecn", "newreno", "westwood"):
            for x, y in data.both(Point(v, 5.0, 1.0), Point("sack", 5.0, 1.0), measure):
                yield says(VARIANTS[v], x, y).called(what)


@claim("P4-F6-4", "NewReno has the least delay of the older ones, ECN at 20 m/s; Westwood more from 10 m/s",
       first="NewReno", section=LOSSY, figures=(6,))  # fmt: skip
def _(data: Estimates) -> Observations:
    for speed in data.x:
        others = [v for v in OLDER if (v, speed) != ("ecn", 20.0)]
        yield from _all(data, "newreno", others, DELAY, less, 1.0, (speed,))
    rest = _all(data, "ecn", ("newreno",), DELAY, less, 1.0, (20.0,))
    yield from (c.called("(ECN at 20 m/s)") for c in rest)
    rest = _all(data, "westwood", ("newreno",), DELAY, more, 1.0, FAST)
    yield from (c.called("(Westwood)") for c in rest)


# ---- reasons ----


@claim("P4-W-1", "After timeouts E-NewReno does not begin in slow start, and uses links better", section=WHY)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, ("newreno",), "slow_start", less, 0.0, SPEEDS[1:])


@claim(
    "P4-W-2", "E-NewReno loses only probes after timeouts: fewer segments are retransmitted", hangs=RESENT, section=WHY
)
def _(data: Estimates) -> Observations:
    yield from _all(data, OURS, ("newreno",), "resent", less, 0.0, SPEEDS[1:])


@claim("P4-W-3", "SACK retransmits data that have arrived: more than NewReno", section=WHY)
def _(data: Estimates) -> Observations:
    yield from _all(data, "sack", ("newreno",), "duplicates", more, 0.0)


@claim("P4-W-4", "Westwood works well only with RED: it has more throughput than without", section=WHY)
def _(data: Estimates) -> Observations:
    yield from _all(data, "westwood_red", ("westwood",), THROUGHPUT, more, 0.0)


ALL = CLAIMS.all
"""All claims."""

FINDINGS = (
    Finding(
        "E-NewReno has the highest throughput while nodes move",
        "+21 %",
        ("P4-F1-3", "P4-F1-6"),
        "E-NewReno saves slow start, 4 % of the time, and waits as long as NewReno",
        of="throughput of E-NewReno compared with NewReno's",
    ),
    Finding(
        "E-NewReno has the highest throughput with link loss, too",
        "+23 %",
        ("P4-F4-2", "P4-F4-5"),
        "as without link loss, because the MAC repairs nearly all lost frames",
        of="throughput of E-NewReno compared with NewReno's",
    ),
    Finding(
        "E-NewReno loses least, because only probes are lost",
        "less, no number",
        ("P4-F2-1", "P4-W-2"),
        "after an answer E-NewReno resends a whole window at once; resending only holes would lose less",
        of="lost share of segments compared with others",
    ),
    Finding(
        "E-NewReno has the least delay",
        "less, except at 10 and 20 m/s",
        ("P4-F3-1", "P4-F6-2"),
        "the larger window of E-NewReno fills the queues, unless E-NewReno resends only holes",
        of="delay compared with others",
    ),
    Finding(
        "ECN is the best older variant while nodes move",
        "slightly, up to +10 %",
        ("P4-F1-5", "P4-F2-2", "P4-F3-2"),
        "RED without ECN, too, gives the shorter delay and nearly half of the reduction in loss",
        of="throughput of ECN compared with other older variants",
    ),
    Finding(
        "NewReno is the best older variant with link loss",
        "more, except at 15 and 20 m/s",
        ("P4-F4-3", "P4-F4-4"),
        "with the same movement patterns all variants are within a few percent",
        of="throughput of NewReno compared with other older variants",
    ),
    Finding(
        "Westwood is good only while nothing moves",
        "more, no number",
        ("P4-F1-1", "P4-F1-2"),
        "with the same movement patterns Westwood is as good as NewReno at all speeds; patterns differ much more",
        of="throughput of Westwood at 0 m/s compared with other older variants",
    ),
    Finding(
        "SACK retransmits segments that have arrived",
        "more, no number",
        ("P4-W-3",),
        "SACK retransmits as many as NewReno, 1 to 2 % of the segments",
        of="duplicates with SACK compared with NewReno",
    ),
    Finding(
        "A link loss of 1 % costs little",
        "-6.5 %",
        ("P4-F4-1",),
        "the MAC repairs it",
        of="throughput at 0 m/s compared with that without link loss",
    ),
)
"""Conclusions of the paper."""

_WITHOUT_LOSS = ("rto_1s", "setdest")
"""Readings that are run without link loss only."""


def _reading(reading: str) -> Callable[[Point], Point | None]:
    few, most = DESIGN.full.few, 0.0 if reading in _WITHOUT_LOSS else 1.0
    return lambda p: p._replace(reading=reading) if p.reading == MAIN and p.speed in few and p.loss <= most else None


def _holes(p: Point) -> Point | None:
    other = p._replace(variant="e_holes") if p.variant == OURS else p
    return other if p.reading == MAIN and p.speed in DESIGN.full.few else None


READINGS = {title: _reading(n) for n, (title, _) in READINGS_OF.items()} | {TCPS["e_holes"][0]: _holes}
"""Readings that change one thing of the main one, at a few speeds."""
