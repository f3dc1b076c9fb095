"""Claims and findings."""

from collections.abc import Callable, Iterator

from chappe_papers.judging.claims import Claims, Finding
from chappe_papers.judging.judge import Observation, equal, more
from chappe_papers.runs.estimates import Estimates

from small_paper.design import Point

CLAIMS = Claims()


@CLAIMS.claim("S-1", "Vegas has a higher goodput than NewReno", section="1", figures=(1,))
def _(data: Estimates) -> Iterator[Observation]:
    for hops in data.x:
        for vegas, newreno in data.both(Point("vegas", hops), Point("newreno", hops), "goodput_bps"):
            yield more(f"{hops} hops", vegas, newreno, smallest=0.01)


@CLAIMS.claim("S-2", "Over two hops NewReno has twice as much", section="2", fresh=2)
def _(data: Estimates) -> Iterator[Observation]:
    vegas, newreno = data.several([Point("vegas", 2), Point("newreno", 2)], "goodput_bps")
    yield equal("2 hops", newreno, type(vegas)(2 * vegas.mean, 4 * vegas.variance, vegas.df))


ALL = CLAIMS.all
FINDINGS = (
    Finding("Vegas has a higher goodput", "more", ("S-1",), "its packets have no header", of="goodput"),
    Finding("NewReno has twice as much", "twice", ("S-2",), "nothing is lost"),
)
READINGS: dict[str, Callable[[Point], Point]] = {"NewReno alone": lambda p: p._replace(variant="newreno")}
