"""The rows of ns-2.35, one to four runs each, beside forty runs of ours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chappe.papers import reference
from chappe.papers.kept import Kept
from chappe.papers.ramarathinam2003.design import DESIGN, MEASURES
from chappe.papers.ramarathinam2003.points import MAIN, READINGS, ROUTINGS, VARIANTS, Point, scenario
from chappe.papers.table import NS2
from chappe.papers.validate import LEVEL, Comparison, Validation, probability, run
from chappe.stats import Estimate, difference, holm

SEEDS: Sequence[int] = range(1, DESIGN.full.seeds + 1)


@dataclass(frozen=True)
class Row(Comparison):
    """A number of ns-2 and ours.

    Attributes:
        chance: How probable it is that chance puts them as far apart: Welch's test, of one run a prediction interval.
        adjusted: The same by Holm's rule, over all rows.
    """

    chance: float = math.nan
    adjusted: float = math.nan

    @property
    def p(self) -> float:
        """The probability of chance, which needs no drawing of runs of ours."""
        return self.chance

    @property
    def agrees(self) -> bool:
        """Whether they differ by at most the tolerance, or by what chance may do."""
        return self.within or not self.adjusted < LEVEL


def probability_of(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """The probability, two-sided, that runs of the same kind are as far apart."""
    from scipy.special import stdtr

    e = Estimate.of(ours)
    if len(theirs) == 1:
        spread = e.variance * (len(ours) + 1)
        apart, variance, df = theirs[0] - e.mean, spread, e.df
    else:
        d = difference(Estimate.of(theirs), e)
        apart, variance, df = d.mean, d.variance, d.df
    if apart == 0:
        return 1.0
    return 2 * float(stdtr(df, -abs(apart) / math.sqrt(variance))) if variance > 0 else 0.0


class OfRows(Validation):
    """The comparison."""

    design = DESIGN
    title = "Validation of Ramarathinam and Labrador 2003 against ns-2.35"
    columns = ("variant", "routing", "reading")
    also = ("p", "p, Holm")
    written = ("p_holm",)

    def compare(self, runs: Kept) -> list[Row]:
        """Runs what ns-2 was run on."""
        theirs: dict[Point, list[reference.Record]] = {}
        for r in reference.of(NS2, DESIGN.records()):
            theirs.setdefault(r.point, []).append(r)
        tables = run(DESIGN, {p: (p, scenario(p), SEEDS) for p in theirs}, runs)
        found = []
        for p, records in theirs.items():
            for name, m in MEASURES.items():
                known = [r.values[name].mean for r in records if name in r.values]
                ours = tables[p][name].to_list()
                part = ROUTINGS[p.routing] + ("" if p.reading == MAIN else f", {READINGS[p.reading][0]}")
                place = (f"{VARIANTS[p.variant]}, {part}", part, p, name, m)
                numbers = (Estimate.of(known), Estimate.of(ours))
                found.append(Row(*place, *numbers, len(known), chance=probability_of(known, ours)))
        return [replace(c, adjusted=a) for c, a in zip(found, holm([c.chance for c in found]), strict=True)]

    def head(self, found: Sequence[Row]) -> list[str]:
        """What a reader must know."""
        within = sum(c.within for c in found)
        return [
            f"{len({c.point for c in found})} rows of ns-2.35, one to four runs each, are set beside {len(SEEDS)} runs "
            "of ours. A number agrees when the means differ by at most 5 % (lives: 1 %), or when chance may do it: "
            "by Welch's test, of a row of one run by the prediction interval of one of ours, at 5 % over all of "
            f"the page by Holm's rule. {within} of {len(found)} are within the tolerance. In brackets the number of "
            "runs of ns-2, where it is not one.",
        ]

    def more(self, c: Row) -> list[str]:
        """Probabilities."""
        return [probability(c.p), probability(c.adjusted)]

    def of_file(self, c: Row) -> list[object]:
        """The probability by Holm's rule."""
        return [repr(c.adjusted)]


VALIDATION = OfRows()
