"""Comparison with rows of ns-2.35, a run with each of up to five movement patterns, by eight runs of Chappe."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chappe.stats import Estimate, holm, student_p, total
from chappe.study import RunCache

from chappe_papers.ahmed2006.design import DESIGN, MEASURES, of_record
from chappe_papers.ahmed2006.points import MAIN, READINGS, TCPS, Point, scenario
from chappe_papers.runs import reference
from chappe_papers.runs.estimates import NS2
from chappe_papers.statistics.pairs import Paired
from chappe_papers.validation.compare import difference_from_one
from chappe_papers.validation.paper import LEVEL, OfTests, Tested, by_measure, over_the_page, parts, run

SEEDS: Sequence[int] = range(1, 9)
"""Runs of Chappe on each walk."""

_MARKED = ("ecn",)


@dataclass(frozen=True)
class Row(Tested):
    """A number of ns-2, the mean over walks, and ours.

    Attributes:
        apart: Ours less that of ns-2, walk by walk, with the error that single runs on the same walk have.
    """

    apart: Estimate = field(default_factory=lambda: Estimate(math.nan, math.nan, -1))

    @property
    def half_width(self) -> float:
        """Half width of the 95 % interval of the difference."""
        return self.apart.half_width()


def walk_by_walk(theirs: Mapping[int, float], ours: Mapping[int, Sequence[float]]) -> Estimate:
    """Mean difference over movement patterns; ns-2 has one run with each; the error is that of runs with one pattern.

    Runs of ns-2 are taken to scatter on a walk as ours do. Walks have variances of their own (Welch, Satterthwaite).
    """
    return total([difference_from_one(value, Estimate.of(ours[walk])) for walk, value in theirs.items()], len(theirs))


def together(rows: Sequence[Row]) -> Estimate:
    """The sum of the differences of several rows, whose runs are independent, by that of the numbers of ns-2."""
    of_ns2 = sum(c.ns2.mean for c in rows)
    return total([c.apart for c in rows], of_ns2) if of_ns2 else Estimate(math.nan, math.nan, -1)


def groups(rows: Sequence[Row]) -> list[tuple[str, str, Estimate]]:
    """All rows of a part and measure together."""
    return [
        (part, label, together(of_measure))
        for part, of_part in parts(rows).items()
        for label, of_measure in by_measure(of_part).items()
    ]


def beyond_chance(rows: Sequence[Row]) -> list[tuple[str, str, Estimate]]:
    """Groups of rows that differ beyond chance, at 5 % over all groups."""
    all_of_them = groups(rows)
    adjusted = holm([1.0 if math.isnan(e.mean) else student_p(e) for _, _, e in all_of_them])
    return [g for g, p in zip(all_of_them, adjusted, strict=True) if p < LEVEL]


def _percent(e: Estimate) -> str:
    return "-" if math.isnan(e.mean) else f"{100 * e.mean:+.1f} ± {100 * e.half_width():.1f} %"


class AhmedValidation(OfTests):
    """The comparison."""

    design = DESIGN
    title = "Validation of Ahmed, Zaidi and Sharif 2006 against ns-2.35"
    columns = ("variant", "speed", "loss", "reading")

    def compare(self, runs: RunCache) -> list[Row]:
        """Runs what ns-2 was run on."""
        rows: dict[Point, dict[int, dict[str, float]]] = {}
        for r in reference.of(NS2, DESIGN.records()):
            rows.setdefault(r.point._replace(motion=0), {})[r.point.motion] = of_record(r)
        wanted = {
            q: (q, scenario(q), SEEDS) for p, by_walk in rows.items() for m in by_walk if (q := p._replace(motion=m))
        }
        tables = run(DESIGN, wanted, runs)
        compared = []
        for p, by_walk in sorted(rows.items()):
            part = f"{TCPS[p.variant][0]}{'' if p.reading == MAIN else f', {READINGS[p.reading][0]}'}"
            with_loss = f", {p.loss:g} % link loss" if p.loss else ""
            for name, m in MEASURES.items():
                if name == "ecn_cuts" and p.variant not in _MARKED:
                    continue
                theirs = {walk: values[name] for walk, values in by_walk.items()}
                ours = {walk: tables[p._replace(motion=walk)][name].to_list() for walk in by_walk}
                apart = walk_by_walk(theirs, ours)
                place = (f"{part}, {p.speed:g} m/s{with_loss}", part, p, name, m)
                means = Paired.at({walk: sum(v) / len(v) for walk, v in ours.items()})
                compared.append(
                    Row(*place, Paired.at(theirs), means, len(by_walk), chance=student_p(apart), apart=apart)
                )
        return over_the_page(compared)

    def summary(self, rows: Sequence[Row]) -> tuple[list[str], list[str]]:
        """Difference over all rows together."""
        return ["all rows together"], [_percent(together(rows))]

    def headline(self, rows: Sequence[Row]) -> str:
        """Number of values that agree, and the strength of that evidence."""
        sums = f"Of {len(groups(rows))} sums of rows {len(beyond_chance(rows))} differ beyond chance."
        return f"{super().headline(rows)} {sums}"

    def head(self, rows: Sequence[Row]) -> list[str]:
        """Notes for readers."""
        beyond = [c for c in rows if not c.within]
        alone = sum(c.p < LEVEL for c in beyond)
        return [
            f"{len({c.point for c in rows})} rows of ns-2.35, each one run with two to five movement patterns, are "
            f"compared with {len(SEEDS)} runs of Chappe with each of the same patterns. A number agrees when the means "
            "over the patterns differ by at most 5 %, or when chance suffices: pattern by pattern, one run of "
            "ns-2 against the spread of Chappe's, as a prediction interval, with the degrees of freedom of Welch and "
            "Satterthwaite, at 5 % over all of the page by Holm's rule. In brackets the number of patterns.",
            "A single row is too short to distinguish a difference of a few percent from chance. "
            f"Of the {len(beyond)} values that are not within 5 %, {alone} differ at 5 % when each is tested alone. "
            "All rows of a TCP together are more precise: the sum of the differences divided by the sum of the numbers "
            "of ns-2, with its 95 % interval, in the last column; at 5 % over all of these by Holm's rule.",
        ]

    def exceptions(self, rows: Sequence[Row]) -> str:
        """The sums of rows that differ beyond chance."""
        listed = "; ".join(f"{part}, {label}: {_percent(e)}" for part, label, e in beyond_chance(rows))
        return f"Beyond chance: {listed or '-'}."


VALIDATION = AhmedValidation()
