"""Comparison with rows of ns-2.35, one to four runs each, by forty runs of Chappe, ten where they end early."""

from collections.abc import Sequence

from chappe.stats import Estimate, difference, student_p
from chappe.study import RunCache

from chappe_papers.ramarathinam2003.design import DESIGN, LEFT, MEASURES
from chappe_papers.ramarathinam2003.points import MAIN, READINGS, ROUTINGS, VARIANTS, Point, scenario
from chappe_papers.runs import reference
from chappe_papers.runs.estimates import NS2, Measure
from chappe_papers.validation.compare import difference_from_one, percent
from chappe_papers.validation.paper import OfTests, Tested, over_the_page, run

SEEDS: Sequence[int] = range(1, DESIGN.full.seeds + 1)

EARLY: Sequence[int] = range(1, DESIGN.full.compared + 1)
"""Seeds of the runs that end when ns-2's batteries were looked at."""

TIMES = (100, 200, 300, 400)
"""Times of these packets [s]."""


def left_at(n: int, time: int) -> str:
    """The name of what the battery of a node has left at a time [s]."""
    return LEFT[n].replace("_j", f"_at_{time}_j")


REMAINING = {
    left_at(n, t): Measure(f"energy left of node {n} at {t} s [J]", tolerance=0.05) for n in LEFT for t in TIMES
}
"""Energy left in the batteries, known only at the end of a run."""


def probability_of(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Probability (two-sided) that runs of the same kind are as far apart."""
    mean = Estimate.of(ours)
    one = len(theirs) == 1
    return student_p(difference_from_one(theirs[0], mean) if one else difference(mean, Estimate.of(theirs)))


class RamarathinamValidation(OfTests):
    """The comparison."""

    design = DESIGN
    title = "Validation of Ramarathinam and Labrador 2003 against ns-2.35"
    columns = ("variant", "routing", "reading")

    def compare(self, runs: RunCache) -> list[Tested]:
        """Runs what ns-2 was run on."""
        theirs: dict[Point, list[reference.Record]] = {}
        for r in reference.of(NS2, DESIGN.records()):
            theirs.setdefault(r.point, []).append(r)
        whole = {(p, 0): (p, scenario(p), SEEDS) for p in theirs}
        early = {(p, t): (p, scenario(p).with_settings({"run.stop": f"{t} s"}), EARLY) for p in theirs for t in TIMES}
        tables = run(DESIGN, whole | early, runs)
        compared = []
        for p, records in theirs.items():
            values = {name: tables[p, 0][name].to_list() for name in MEASURES}
            values |= {left_at(n, t): tables[p, t][LEFT[n]].to_list() for n in LEFT for t in TIMES}
            for name, m in (MEASURES | REMAINING).items():
                means = [r.values[name].mean for r in records]
                ours = values[name]
                part = ROUTINGS[p.routing] + ("" if p.reading == MAIN else f", {READINGS[p.reading][0]}")
                place = (f"{VARIANTS[p.variant]}, {part}", part, p, name, m)
                numbers = (Estimate.of(means), Estimate.of(ours))
                compared.append(Tested(*place, *numbers, len(means), chance=probability_of(means, ours)))
        return over_the_page(compared)

    def head(self, comparisons: Sequence[Tested]) -> list[str]:
        """Notes for readers."""
        return [
            f"{len({c.point for c in comparisons})} rows of ns-2.35, one to four runs each, are compared with "
            f"{len(SEEDS)} runs of Chappe, {len(EARLY)} for the energy left before the end. A number agrees when the "
            "means differ by at most 5 % (times: 1 %), or when chance suffices: by Welch's test, for a row of one run "
            "by the prediction interval of one run of Chappe, at 5 % over the whole page by Holm's rule. In brackets "
            "the number of runs of ns-2, where it is not one.",
        ]

    def exceptions(self, comparisons: Sequence[Tested]) -> str:
        """The values that do not agree, by name."""
        beyond = "; ".join(f"{c.row}, {c.measure.label}: {percent(c.off)}" for c in comparisons if not c.agrees)
        return f"Beyond chance: {beyond or '-'}."


VALIDATION = RamarathinamValidation()
