"""Advice: the recommendation of a paper, and ours, each line of which follows from verdicts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chappe_papers.judging.words import Verdict

FILE = "advice.md"
"""Of a paper, in its package."""

_CLAIM = re.compile(r"\{(P?[\w-]+) (holds|fails|hangs|unproven)\}")

_MEANS: Mapping[str, Callable[[Verdict], bool]] = {
    "holds": lambda v: v.confirms,
    "fails": lambda v: v.fails,
    "hangs": lambda v: v in (Verdict.DEPENDS, Verdict.MIXED),
    "unproven": lambda v: not v.confirms,
}
"""Verdicts with which a line remains true, by the word after the name of the claim."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a claim: the word of its verdict, and its effects as they are printed."""

    verdict: str
    effects: str


@dataclass(frozen=True)
class Advice:
    """The advice of a paper.

    Attributes:
        paper: Recommendation of the paper.
        ours: Our lines. ``{P0-A-1 holds}`` stands for the verdict and the effects of a claim, and says what the line
            needs: that the claim is confirmed (``holds``), that it does not hold (``fails``), that it is mixed or
            depends on a detail that the paper leaves open (``hangs``), or that it is not confirmed (``unproven``).
    """

    paper: str
    ours: Sequence[str]

    @classmethod
    def read(cls, text: str) -> "Advice":
        """Advice from a file: a line ``paper: ...``, and ours as a list; lines that go on are indented."""
        paper, *ours = re.split(r"\n- ", re.sub(r"\n +", " ", text.strip()))
        return cls(paper.strip().removeprefix("paper: "), ours)

    @property
    def claims(self) -> list[str]:
        """Names of the claims on which our lines rest."""
        return [name for line in self.ours for name, _ in _CLAIM.findall(line)]

    def lines(self, outcomes: Mapping[str, Outcome]) -> list[str]:
        """The recommendation of the paper, and our lines with verdicts and effects."""
        return [f"The paper: {self.paper}", *(_filled(line, outcomes) for line in self.ours)]


def _filled(line: str, outcomes: Mapping[str, Outcome]) -> str:
    """A line with the outcomes of its claims; without advice if one of them has another verdict than it needs."""
    for name, needed in _CLAIM.findall(line):
        if name not in outcomes:
            return f"No advice: {name} was not judged."
        if not _MEANS[needed](Verdict.of(outcomes[name].verdict)):
            return f"No advice until it is reviewed: {name} is {outcomes[name].verdict}."
    return _CLAIM.sub(lambda m: f"{m[1]} {outcomes[m[1]].verdict}, {outcomes[m[1]].effects}", line)
