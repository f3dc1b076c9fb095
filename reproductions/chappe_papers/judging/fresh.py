"""Fresh experiments: for a claim that all its looks left undecided, one more experiment with new seeds.

The error of the looks at a claim (:mod:`chappe_papers.judging.decide`) is spent. An experiment whose number of runs was
declared before it was made, and whose seeds no look has seen, is judged once, by itself and at the whole level, so that
its verdict is wrong in at most 5 % of cases. A claim declares it by its argument ``fresh``.
"""

from chappe.study import RunCache

from chappe_papers.judging.claims import Claim
from chappe_papers.judging.judge import Answer
from chappe_papers.runs import runner
from chappe_papers.runs.design import Design

FIRST_SEED = 10_001
"""Seed of the first run of each point; other runs have seeds from 1 on."""


def judge(design: Design, claim: Claim, cache: RunCache) -> Answer:
    """Judges a claim by its fresh experiment, for which its missing runs are made."""
    points = list(claim.needs(design.full.x))
    done = runner.run(design, points, design.full, cache, claim.fresh, FIRST_SEED)
    return claim.judged(done.table(points))


def work(design: Design, claim: Claim, cache: RunCache) -> float:
    """Amount of work of the runs that are missing, as :meth:`chappe_papers.runs.design.Design.weight` counts it."""
    points = list(claim.needs(design.full.x))
    return sum(runner.missing(design, points, design.full, cache, claim.fresh, FIRST_SEED))
