"""The words of verdicts, and the rule by which they follow from the decisions about the points of a claim.

The rule is symmetric: what confirms a claim and what contradicts it need the same share of points.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum


class Decision(Enum):
    """Decision about a point."""

    AGREES = "as the paper says"
    OPPOSITE = "opposite"
    NONE = "no effect"
    OPEN = "open"
    CHOSE = "calibration"

    @property
    def contradicts(self) -> bool:
        """True if it contradicts the claim."""
        return self in (Decision.OPPOSITE, Decision.NONE)


class Verdict(Enum):
    """Outcome of a claim."""

    CONFIRMED = "confirmed"
    SIZE = "confirmed, effect size differs"
    MIXED = "mixed"
    DEPENDS = "depends"
    OPPOSITE = "opposite"
    NONE = "no effect"
    OPEN = "undecided"
    CHOSE = "calibration"

    @property
    def confirms(self) -> bool:
        """True if the claim holds."""
        return self in (Verdict.CONFIRMED, Verdict.SIZE)

    @property
    def fails(self) -> bool:
        """True if the claim does not hold."""
        return self in (Verdict.OPPOSITE, Verdict.NONE)

    @classmethod
    def of(cls, said: str) -> "Verdict":
        """The verdict of a text that begins with its word."""
        return max((v for v in cls if said.startswith(v.value)), key=lambda v: len(v.value))


SHOWN, SHORT = 4, 30
"""A verdict names so many points, or all whose names are short together [characters]; all are in the file."""


@dataclass(frozen=True)
class Decided:
    """A point with its decision.

    Attributes:
        where: The point, in words.
        decision: The decision.
        group: Group of the point: a layout, a placement, a variant.
        sub_claim: Name of the sub-claim; the first one has no name.
        least: The smallest effect that supports the claim, in its unit, and whose number that is; empty without one.
        spread: What single runs have, where these spread so far that agreement says nothing.
    """

    where: str
    decision: Decision
    group: str = ""
    sub_claim: str = ""
    least: str = ""
    spread: str = ""


@dataclass(frozen=True)
class Word:
    """A verdict with its condition.

    Attributes:
        verdict: The word.
        condition: What it depends on, where it holds and where not, or the effect that is excluded.
        parts: The word of each sub-claim, by its name; empty for a claim with one statement.
    """

    verdict: Verdict
    condition: str = ""
    parts: tuple[tuple[str, "Word"], ...] = ()

    @property
    def said(self) -> str:
        """The verdict in words."""
        between = {Verdict.DEPENDS: " on ", Verdict.NONE: " above "}.get(self.verdict, ": ")
        if self.verdict is Verdict.NONE and len({w.verdict for _, w in self.parts}) > 1:
            between = ": "
        return f"{self.verdict.value}{between}{self.condition}" if self.condition else self.verdict.value


def word_of(agree: int, opposite: int, none: int, points: int) -> Verdict:
    """The verdict, from the numbers of points that agree, of both that contradict, and of all; the rest is undecided.

    A word needs more than half of the points, whether it confirms or contradicts, and none on the other side.
    """
    if agree and (opposite or none):
        return Verdict.MIXED
    if 2 * agree > points:
        return Verdict.CONFIRMED
    if 2 * (opposite + none) > points:
        return Verdict.OPPOSITE if 2 * opposite > points else Verdict.NONE
    return Verdict.OPEN


def word(points: Sequence[Decided], *, differs: bool = False, first: str = "", hangs: str = "") -> Word:
    """The verdict of a claim.

    Args:
        points: Its points.
        differs: True if the size of the effect is certainly another than the paper's.
        first: Name of its first sub-claim.
        hangs: Detail that the paper leaves open and that reverses the sign or the verdict; empty if none is known.
    """
    names = tuple(dict.fromkeys(p.sub_claim for p in points))
    parts = tuple((name.strip("()[]") or first, _of_part([p for p in points if p.sub_claim == name])) for name in names)
    whole = _joined(parts, points) if len(parts) > 1 else parts[0][1] if parts else Word(Verdict.OPEN)
    if whole.verdict is Verdict.CONFIRMED and differs:
        whole = replace(whole, verdict=Verdict.SIZE)
    if hangs and points and whole.verdict is not Verdict.CHOSE:
        whole = replace(whole, verdict=Verdict.DEPENDS, condition=hangs)
    return whole


def _counts(points: Iterable[Decided]) -> tuple[int, int, int, int]:
    """Numbers of points that agree, that say the opposite, that have no effect, and of all that are judged."""
    decisions: list[Decision] = [p.decision for p in points if p.decision is not Decision.CHOSE]
    kinds = (Decision.AGREES, Decision.OPPOSITE, Decision.NONE)
    agree, opposite, none = (decisions.count(kind) for kind in kinds)
    return agree, opposite, none, len(decisions)


def _of_part(points: Sequence[Decided]) -> Word:
    """The verdict of a statement."""
    judged = [p for p in points if p.decision is not Decision.CHOSE]
    if not judged:
        return Word(Verdict.CHOSE)
    verdict = word_of(*_counts(judged))
    if verdict is Verdict.MIXED:
        return Word(verdict, _where(judged))
    if verdict is Verdict.NONE:
        return Word(verdict, _least(judged))
    if verdict is Verdict.OPEN:
        spreads = [p.spread for p in judged if p.spread]
        return Word(verdict, f"one run of the paper could be {listed(spreads)}" if spreads else "")
    return Word(verdict)


def _joined(parts: Sequence[tuple[str, Word]], points: Sequence[Decided]) -> Word:
    """The verdict of several statements, each of which counts as a point."""
    verdicts = [w.verdict for _, w in parts]
    mixed = verdicts.count(Verdict.MIXED)
    agree = sum(v.confirms for v in verdicts) + mixed
    opposite, none = (verdicts.count(v) + (mixed if v is Verdict.OPPOSITE else 0) for v in FAILING)
    verdict = word_of(agree, opposite, none, len(parts))
    # Nothing fails by less than half of its points, however they are divided.
    of_points = _counts(points)
    if verdict.fails and 2 * (of_points[1] + of_points[2]) < of_points[3]:
        verdict = Verdict.OPEN
    if Verdict.CHOSE in verdicts:
        verdict = Verdict.CHOSE
    condition = ""
    if verdict is Verdict.MIXED or (verdict not in (Verdict.CONFIRMED, Verdict.CHOSE) and len(set(verdicts)) > 1):
        condition = "; ".join(
            f"{name}: {w.verdict.value if w.verdict is Verdict.MIXED else w.said}" for name, w in parts
        )
    elif verdict is Verdict.NONE:
        condition = _least(points)
    return Word(verdict, condition, tuple(parts))


FAILING = (Verdict.OPPOSITE, Verdict.NONE)
"""Verdicts of a claim that does not hold."""


def _least(points: Iterable[Decided]) -> str:
    """The effect that the contradicting points exclude."""
    return listed(list(dict.fromkeys(p.least for p in points if p.decision.contradicts and p.least)))


def _where(points: Sequence[Decided]) -> str:
    """Groups, or points of one group or none, in which a statement holds, and those in which it does not.

    Where one side has too many names, the other sides are named, and it is the rest; undecided points are named, too,
    or counted.
    """
    grouped = all(p.group for p in points) and len({p.group for p in points}) > 1
    names = [p.group if grouped else p.where.removeprefix(f"{p.group}, ") for p in points]
    found: dict[Verdict, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(word_of(*_counts(p for n, p in zip(names, points, strict=True) if n == name)), []).append(name)
    fails = found.get(Verdict.OPPOSITE, []) + found.get(Verdict.NONE, [])
    place, undecided = "in" if grouped else "at", found.get(Verdict.OPEN, [])
    sides = [
        (f"holds {place}", found.get(Verdict.CONFIRMED, []), "all others"),
        (f"not {place}", fails, "any other"),
        ("split in", found.get(Verdict.MIXED, []), "all others"),
    ]
    sides = [side for side in sides if side[1]]
    many = [side for side in sides if not _is_readable(side[1])]
    of = len(set(names))
    if len(many) == 1:
        [(how, which, rest)] = many
        named = [f"{said} {listed(names)}" for said, names, _ in sides if names is not which]
        if undecided:
            text = listed(undecided)
            named.append(f"undecided {place} {text if len(text) <= 2 * SHORT else f'{len(undecided)} of {of}'}")
        return "; ".join([*named, f"{how} {rest}"])
    return "; ".join(f"{how} {listed(w) if _is_readable(w) else f'{len(w)} of {of}'}" for how, w, _ in sides)


def _is_readable(names: Sequence[str]) -> bool:
    """True if names are so few, or so short, that a verdict has them."""
    return len(names) <= SHOWN or len(listed(names)) <= SHORT


def listed(names: Sequence[str]) -> str:
    """Names in a row, in quotation marks if one contains a comma or an "and"; a common unit once: "4, 5 and 6 hops"."""
    units = {name.partition(" ")[2] for name in names}
    plain = [name.partition(" ")[0] for name in names]
    is_numbers = len(units) == 1 and all(number.replace(".", "").isdigit() for number in plain)
    shown = plain if is_numbers else [f'"{name}"' if re.search(", | and ", name) else name for name in names]
    text = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return f"{text} {units.pop()}" if is_numbers else text


def together(words: Sequence[tuple[str, Word]]) -> Word:
    """The verdict of several claims with their names, of which the first one leads: its word is theirs.

    Where the first one is confirmed, the others may qualify it: it is mixed if one of them is mixed, depends on
    something, or fails; undecided unless more than half are confirmed.
    """
    if not words:
        return Word(Verdict.OPEN)
    (_, lead), *_ = words
    if not lead.verdict.confirms:
        return lead
    others = [(name, w) for name, w in words if w.verdict in (Verdict.MIXED, Verdict.DEPENDS, *FAILING)]
    if others:
        return Word(Verdict.MIXED, "; ".join(f"{name} {w.verdict.value}" for name, w in others))
    verdicts = [w.verdict for _, w in words]
    if 2 * sum(v.confirms for v in verdicts) <= len(verdicts):
        return Word(Verdict.OPEN)
    return Word(Verdict.SIZE if Verdict.SIZE in verdicts else Verdict.CONFIRMED)
