"""Other readings of a paper: the claims that one of them reverses, with the effects of both."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import Answer, Observation
from chappe_papers.judging.words import Verdict
from chappe_papers.runs.estimates import Estimates

Change = Callable[[Any], Any]
"""Maps a point of the main reading to one of another, or to ``None``."""


class Compared(NamedTuple):
    """A claim in another reading, beside the main reading at the same points."""

    reading: str
    claim: str
    main: Answer
    other: Answer

    @property
    def is_reversed(self) -> bool:
        """True if both readings decide the claim, and otherwise, or if most effects have the other sign."""
        kinds = self._kinds
        if None not in kinds and kinds[0] != kinds[1]:
            return True
        own = {(o.where, o.sub_claim): side(o) for o in self.main.observations}
        places = ((own.get((o.where, o.sub_claim)), side(o)) for o in self.other.observations)
        pairs = [(a, b) for a, b in places if a is not None]
        return 2 * sum(a * b < 0 for a, b in pairs) > len(pairs)

    @property
    def is_undecided(self) -> bool:
        """True if the main reading decides the claim, and the other neither decides nor reverses it."""
        main, other = self._kinds
        return main is not None and other is None and not self.is_reversed

    @property
    def said(self) -> str:
        """Both verdicts with their effects, that of the other reading first."""
        return f"{self.claim}: {_said(self.other)}; main reading: {_said(self.main)}"

    @property
    def _kinds(self) -> tuple[str | None, str | None]:
        return _kind(self.main.verdict), _kind(self.other.verdict)


def _said(a: Answer) -> str:
    return f"{a.verdict.value}, {a.effects}"


def compared(
    claims: Iterable[Claim], data: Estimates, readings: Mapping[str, Change], answers: Mapping[str, Answer]
) -> Iterator[Compared]:
    """All claims in all readings."""
    claims = list(claims)
    for title, change in readings.items():
        seen = data.seen_as(change)
        for c in claims:
            other = c.judged(seen, answers[c.id].short).alone
            yield Compared(title, c.id, _at_the_same(answers[c.id].alone, other), other)


def paragraph(reading: str, asked: Iterable[Compared]) -> str:
    """Claims that a reading reverses, with both effects, and claims that its runs do not decide."""
    of_reading = [c for c in asked if c.reading == reading]
    found = "; ".join(c.said for c in of_reading if c.is_reversed) or "reverses nothing"
    undecided = ", ".join(c.claim for c in of_reading if c.is_undecided)
    return f"**{reading}**: {found}{'; undecided: ' * bool(undecided)}{undecided}."


def _at_the_same(main: Answer, other: Answer) -> Answer:
    """The answer of the points that another reading has, too: readings have fewer."""
    places = {(o.where, o.sub_claim) for o in other.observations}
    return replace(main, observations=tuple(o for o in main.observations if (o.where, o.sub_claim) in places))


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


def rows(asked: Iterable[Compared]) -> list[list[str]]:
    """The table of reversals."""
    return [
        [c.reading, c.claim, c.main.verdict.value, c.main.effects, c.other.verdict.value, c.other.effects]
        for c in asked
        if c.is_reversed
    ]
