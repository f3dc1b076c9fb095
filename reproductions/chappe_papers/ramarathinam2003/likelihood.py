"""Choice of the main reading: how likely the times of the paper's last packets are under each reading.

The paper does not give all settings. Its numbers are divided: Table II chooses the reading, Table I is judged. The
times of last packets choose because those of node 0 scatter by a thousandth from run to run, segments by a fifth or
more; and a number that has chosen a reading cannot confirm it.

The rule: a number of the paper comes from one run. Its density among our runs of a reading is that of normal kernels
around them, with the bandwidth of Silverman (*Density Estimation*, 1986), and with probability 1 / (n + 1) it lies
anywhere in the run: so probable it is that a further run lies below all n, and so much one number can count. Of each
reading equally many runs count: with more, a reading would have narrower kernels and reach farther out. The
logarithms add up over the nodes of a run, a composite likelihood (Varin, Reid and Firth 2011), and over the twelve runs
of the paper, which are independent. The most likely reading is compared with every other by Vuong's test (1989) with
Student's t over these twelve runs, by Holm's rule over the readings. Of those that are not distinguished from it, the
main reading is the one with the fewest departures from ns-2's settings; among these, the most likely one.
"""

import math
from collections.abc import Mapping

import numpy as np
from chappe.stats import Estimate, Values, holm, student_p

from chappe_papers.judging.judge import LEVEL
from chappe_papers.ramarathinam2003.design import DESIGN, LAST, SECONDS
from chappe_papers.ramarathinam2003.points import COMBINATIONS, MAIN, NS2_RATE, RATE, RATES, READINGS
from chappe_papers.ramarathinam2003.printed import TABLE_II
from chappe_papers.ramarathinam2003.single_runs import SingleRuns
from chappe_papers.runs.estimates import Estimates

Reading = tuple[str, float]
"""A reading, and its data rate [Mbit/s]."""

ALL: tuple[Reading, ...] = (*((MAIN, r) for r in RATES), *((reading, RATE) for reading in READINGS))
"""The readings that are compared: the rates of 802.11b, and the other readings at the rate of the main one."""


RUNS = DESIGN.full.compared
"""Runs of each combination that count: the first ones."""


def title(reading: Reading) -> str:
    """A reading in words."""
    kind, rate = reading
    return f"{rate:g} Mbit/s" if kind == MAIN else READINGS[kind][0]


def log_density(runs: Values, one: float) -> float:
    """Logarithm of the density of a further run of the same kind [1/s].

    Args:
        runs: Times of our runs [s].
        one: A time of the paper [s].
    """
    x = np.asarray(runs, dtype=float)
    n = len(x)
    low, high = np.quantile(x, (0.25, 0.75))
    scale = min(s for s in (float(x.std(ddof=1)), (high - low) / 1.34, SECONDS) if s > 0) if n > 1 else SECONDS
    width = 0.9 * scale * n**-0.2
    kernels = float(np.exp(-0.5 * ((one - x) / width) ** 2).mean()) / (width * math.sqrt(2 * math.pi))
    return math.log(n / (n + 1) * kernels + 1 / (n + 1) / SECONDS)


def likelihoods(data: Estimates, reading: Reading) -> np.ndarray:
    """Logarithm of the likelihood of each run of the paper under a reading; empty unless all combinations have runs."""
    kind, rate = reading
    by_run = []
    for p in COMBINATIONS:
        ours = [data.get(p._replace(reading=kind, rate_mbps=rate), measure) for measure in LAST.values()]
        known = [e.values for e in ours if isinstance(e, SingleRuns)]
        if len(known) < len(LAST):
            return np.array([])
        by_run.append(sum(log_density(v[:RUNS], one) for v, one in zip(known, TABLE_II[p[:2]], strict=True)))
    return np.array(by_run)


def distinguished(of: Mapping[Reading, np.ndarray]) -> dict[Reading, float]:
    """Probability (Vuong, Holm) of such a difference to the most likely reading if both are as near to the truth."""
    best = max(of, key=lambda r: of[r].sum())
    others = [r for r in of if r != best]
    return dict(zip(others, holm([student_p(Estimate.of(of[best] - of[r])) for r in others]), strict=True))


def chosen(of: Mapping[Reading, np.ndarray]) -> Reading:
    """The main reading by the rule of this module."""
    p = distinguished(of)
    alike = [r for r in of if p.get(r, 1.0) >= LEVEL]
    return min(alike, key=lambda r: (departures(r), -of[r].sum()))


def departures(reading: Reading) -> int:
    """Number of settings that differ from ns-2's."""
    kind, rate = reading
    return (kind != MAIN) + (rate != NS2_RATE)
