"""The recorded runs of ns-2.35, run here under the same stop rule; where runs have states, many of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl
from chappe import Scenario
from chappe import text as show
from chappe.stats import fisher

from chappe_papers.elrakabawy2005.design import (  # fmt: skip
    COLLAPSED,
    COMPARED,
    DESIGN,
    FAILURES,
    GOODPUT,
    JAIN,
    MEASURES,
    absorbing,
)
from chappe_papers.elrakabawy2005.points import CHAIN, GRIDS, UDP, Point, scenario
from chappe_papers.pages.page import table
from chappe_papers.runs import reference
from chappe_papers.runs.estimates import Measure
from chappe_papers.runs.measured import OF_BATCHES, means_of_batches
from chappe_papers.runs.reference import FURTHER, Record
from chappe_papers.validation.paper import LEVEL, largest, probability, singles, trust
from chappe_papers.validation.records import MANY, SEEDS, OfRecords, Recorded, RunKey, packets, run_key


def kind(point: Point) -> str:
    """The part of the page that a run belongs to."""
    if point.variant == UDP:
        return "paced UDP over chains"
    if point.place == CHAIN:
        return "chains, ACK thinning" if "_thin" in point.variant else "chains"
    return "grids" if point.place in GRIDS else "random topologies"


class OfRuns(OfRecords):
    """The comparison."""

    design = DESIGN
    title = "Validation against ns-2.35"
    columns = ("variant", "place", "hops", "rate_mbps", "interval_ms")
    singly = (GOODPUT, JAIN)
    unkept = (JAIN,)

    def scenario(self, r: Record) -> Scenario:
        """A run with its number of batches and packets per batch."""
        return scenario(r.point, f"{packets(r)} delivered", batches=r.batches + 1)

    def of_run(self, tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        """Also the means over batches, which the records of ns-2 are."""
        return super().of_run(tables) | means_of_batches(tables["batches"], COMPARED)

    def compared(self, r: Record) -> Sequence[str]:
        """The measures that a run of ns-2 is compared in."""
        if r.point.variant == UDP:
            return (GOODPUT, "link_drop_probability", FAILURES)
        return COMPARED if r.point.place == CHAIN else (GOODPUT, JAIN, *COMPARED[1:])

    def column(self, name: str) -> str:
        """A mean over batches."""
        return name if name == JAIN else name + OF_BATCHES

    def measure(self, r: Record, name: str) -> Measure:
        """Goodput agrees within 5 % where runs of ns-2 are short, or flows take turns for longer than a batch."""
        p = r.point
        loose = name == GOODPUT and (p.place != CHAIN or "_thin" in p.variant or p.variant == UDP)
        return replace(MEASURES[name], tolerance=0.05) if loose else MEASURES[name]

    def place(self, r: Record) -> tuple[str, str]:
        """The run in some words, and its part of the page."""
        p = r.point
        where = f"{p.hops} hops" if p.place == CHAIN else p.place
        paced = f", {p.interval_ms:g} ms" if p.variant == UDP else ""
        return f"{p.variant}{paced}, {where}, {p.rate_mbps:g} Mbit/s, seed {r.seed}", kind(p)

    def two_states(self, r: Record) -> bool:
        """Near the cliff, and Vegas with ACK thinning."""
        p = r.point
        near = p.variant == UDP and (p.place, p.hops, p.rate_mbps) == (CHAIN, 7, 2.0) and 34.0 <= p.interval_ms <= 36.5
        return near or (absorbing(p) and p.hops == 7)

    def head(self, comparisons: Sequence[Recorded]) -> list[str]:
        """Notes for readers."""
        return [
            f"{len({id(c.record) for c in comparisons})} runs of ns-2.35 are compared with runs of Chappe under the "
            f"same stop rule, {len(SEEDS)} seeds each. A value agrees when it differs by at most 3 % (goodput over "
            "chains without ACK thinning), 5 % (other goodput), 0.05 (Jain's index) or 10 % (all others), or by no "
            "more than the half width of the 95 % Welch interval of the difference. The records of ns-2 are means "
            "over batches, so those of Chappe are taken in the same way here; everywhere else they are totals by "
            "totals. The error of ns-2 is that of its batch means, the error of Chappe that of the seeds.",
            "Some values disagree by chance. To find their expected number, each run of Chappe was taken for the run "
            f"of ns-2 and compared with the other {len(SEEDS) - 1} by the same rule. The column *expected* is the "
            "number of values that would disagree if ns-2 and we had drawn from the same distribution; it is unknown "
            "for Jain's index, whose batches are not kept.",
            "Where goodput or Jain's index does not agree, the run of ns-2 is compared with "
            f"{len(MANY)} single runs of Chappe, at 5 % ([below](#goodput-and-jains-index-where-they-do-not-agree)).",
        ]

    def exceptions(self, comparisons: Sequence[Recorded]) -> str:
        """Numbers of disagreements and those expected by chance; for goodput and fairness, those unlike our runs."""
        known = [c for c in comparisons if c.every]
        expected = sum(c.strangers for c in known) / len(SEEDS)
        judged = [c for c in comparisons if c.name in (GOODPUT, JAIN)]
        own_runs = [c for c in judged if c.one_run]
        unlike = [c for c in own_runs if c.p is not None and c.p < LEVEL]
        return (
            f"Of {len(known)} values whose scatter is known {sum(not c.agrees for c in known)} do not agree; by chance "
            f"{expected:.0f} would not. Of {len(judged)} values of goodput and of Jain's index "
            f"{sum(c.agrees for c in judged)} agree. {len(own_runs) - len(unlike)} of the other {len(own_runs)} are "
            f"like single runs of Chappe, {len(unlike)} are not (largest difference {largest(unlike)})."
        )

    def sections(self, comparisons: Sequence[Recorded]) -> list[str]:
        """Reliability of batches; single runs; runs with two states."""
        unlike = [c for c in comparisons if c.one_run]
        among = singles(unlike, "Goodput and Jain's index where they do not agree")
        return [*trust(_groups(comparisons), len(SEEDS)), *among, *_states(comparisons)]


VALIDATION = OfRuns()


def _groups(comparisons: Sequence[Recorded]) -> dict[str, dict[RunKey, pl.DataFrame]]:
    """Our runs by kinds of points."""
    groups: dict[str, dict[RunKey, pl.DataFrame]] = {}
    for c in comparisons:
        variant = "Vegas" if c.point.variant.startswith("vegas") else "the others"
        name = c.part if c.point.variant == UDP else f"{c.part}: {variant}"
        groups.setdefault(name, {})[run_key(c.record)] = c.rows
    return groups


def _states(comparisons: Sequence[Recorded]) -> list[str]:
    """Runs that fall from one state into another."""
    further: dict[object, list[Record]] = {}
    for r in reference.of(FURTHER, DESIGN.records()):
        if "last_bps" in r.values:
            further.setdefault(r.point, []).append(r)
    rows = []
    for c in comparisons:
        if c.name == GOODPUT and VALIDATION.two_states(c.record) and c.more is not None:
            p = c.point
            last, goodput = c.more["last_bps"].to_list(), c.more[GOODPUT].to_list()
            top = 1460 * 8e3 / p.interval_ms if p.variant == UDP else max(*last, *goodput)
            numbers = (top, c.ns2.mean, sum(goodput) / len(goodput))
            fallen = sum(v < COLLAPSED * top for v in last)
            cells = [c.row, f"{packets(c.record):,}", *(show.number(v / 1e3) for v in numbers)]
            cells += [f"{fallen} of {len(last)}", "-", "-"]
            if p in further:
                theirs = [r.values["last_bps"].mean < COLLAPSED * top for r in further[p]]
                chance = fisher(fallen, len(last), sum(theirs), len(theirs))
                cells[-2:] = f"{sum(theirs)} of {len(theirs)}", probability(chance)
            rows.append(cells)
    return [
        "## Runs with two states",
        "",
        "Number of runs that have fallen into the lower state when they end: their goodput in the last batch is below "
        f"{100 * COLLAPSED:.0f} % of that in the upper state. There are {len(MANY)} of our runs; of ns-2 there are the "
        "recorded run and further seeds of stock ns-2.35 (`reproductions/experiments/ns2/states.py`), which has no ACK "
        "thinning. *p* is the probability of shares that are at least as different when both fall as often (Fisher's "
        "exact test).",
        "",
        *table(
            (
                "run",
                "packets",
                "upper state",
                "ns-2",
                "ours: mean",
                "ours: fallen",
                "further seeds of ns-2: fallen",
                "p",
            ),
            rows,
        ),
    ]
