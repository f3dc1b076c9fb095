"""Other readings of a paper: the claims that one of them reverses, with the effects of both."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import Answer, Observation
from chappe_papers.judging.words import Verdict
from chappe_papers.runs.estimates import Estimates

Change = Callable[[Any], Any]
"""Maps a point of the main reading to one of another, or to ``None``."""


class Reversal(NamedTuple):
    """A claim that another reading reverses."""

    reading: str
    claim: str
    main: Answer
    other: Answer

    @property
    def said(self) -> str:
        """Both verdicts with their effects, that of the other reading first."""
        return f"{self.claim}: {_said(self.other)}; main reading: {_said(self.main)}"


def _said(a: Answer) -> str:
    return f"{a.verdict.value}, {a.effects}"


def reversals(
    claims: Iterable[Claim], data: Estimates, readings: Mapping[str, Change], answers: Mapping[str, Answer]
) -> Iterator[Reversal]:
    """The claims that readings reverse; what more runs alone would decide otherwise is none."""
    claims = list(claims)
    for title, change in readings.items():
        seen = data.seen_as(change)
        for c in claims:
            other = c.judged(seen, answers[c.id].short).alone
            main = _at_the_same(answers[c.id].alone, other)
            if reverses(main, other):
                yield Reversal(title, c.id, main, other)


def _at_the_same(main: Answer, other: Answer) -> Answer:
    """The answer of the points that another reading has, too: readings have fewer."""
    places = {(o.where, o.sub_claim) for o in other.observations}
    return replace(main, observations=tuple(o for o in main.observations if (o.where, o.sub_claim) in places))


def reverses(main: Answer, other: Answer) -> bool:
    """True if both are decided, and otherwise, or if most effects have the other sign."""
    kinds = [_kind(a.verdict) for a in (main, other)]
    if None not in kinds and kinds[0] != kinds[1]:
        return True
    own = {(o.where, o.sub_claim): side(o) for o in main.observations}
    pairs = [(own[o.where, o.sub_claim], side(o)) for o in other.observations if (o.where, o.sub_claim) in own]
    return 2 * sum(a * b < 0 for a, b in pairs) > len(pairs)


def _kind(verdict: Verdict) -> str | None:
    """Kind of a verdict: the claim holds, fails, or does both; ``None`` if the verdict decides nothing."""
    if verdict.confirms:
        return "holds"
    return "fails" if verdict.fails else "both" if verdict is Verdict.MIXED else None


def side(o: Observation) -> int:
    """Sign of an effect: 1 or -1 if its 95 % interval has one sign, 0 if it has both."""
    none = o.limits[0]
    if o.test not in ("more", "less"):
        return 0
    low, high = o.effect.interval()
    return 1 if low > none else -1 if high < none else 0


COLUMNS = ("reading", "claim", "main reading", "its effects", "verdict", "effects")
"""Header of the table of reversals."""


def rows(claims: Sequence[Claim], data: Estimates, readings: Mapping[str, Change]) -> list[list[str]]:
    """The table of reversals."""
    answers = {c.id: c.judged(data) for c in claims}
    return [
        [r.reading, r.claim, r.main.verdict.value, r.main.effects, r.other.verdict.value, r.other.effects]
        for r in reversals(claims, data, readings, answers)
    ]
