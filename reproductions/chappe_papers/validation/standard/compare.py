"""Everything that ns-3 was run on, run here: how far off is each goodput?"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from chappe import text as show
from chappe.stats import Estimate, difference
from chappe.study import Item, Point, RunCache
from chappe.text import Table

from chappe_papers.validation.compare import finish
from chappe_papers.validation.standard import defaults, page
from chappe_papers.validation.standard.cases import SECONDS, WARM_UP, Case, base, scenario
from chappe_papers.validation.standard.ns3 import COUNTED, GOODPUT, MEASURES, Reference, Run, measured, reference

SEEDS = range(1, 11)

TOLERANCE = 0.03
"""Of goodput."""


@dataclass(frozen=True)
class Comparison:
    """A case of ns-3 and ours."""

    case: Case
    ns3: Mapping[str, Estimate]
    """Measures of the runs to compare with."""
    ours: Mapping[str, Estimate]
    own: Mapping[str, Estimate] | None = None
    """Measures of ns-3 with its own rules, where those to compare with are mended."""
    further: bool = False
    """True for a case in addition to the 56."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput."""
        return self.ours[GOODPUT].mean / self.ns3[GOODPUT].mean - 1

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference of the goodputs [bit/s]."""
        return difference(self.ours[GOODPUT], self.ns3[GOODPUT]).half_width()

    @property
    def agrees(self) -> bool:
        """True if the goodput is within 3 % or the half width."""
        apart = abs(self.ours[GOODPUT].mean - self.ns3[GOODPUT].mean)
        return apart <= max(TOLERANCE * self.ns3[GOODPUT].mean, self.half_width)


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Values taken from a run."""
    flows, nodes = tables["flows"], tables["nodes"]
    sums = {
        name: float(nodes[name].sum())
        for name in ("rts_frames_sent", "data_frames_sent", "rts_frames_failed", "data_frames_failed")
    }
    given_up = float(nodes["mac_data_given_up"].sum()) + float(nodes["mac_tcp_acks_given_up"].sum())
    goodput = flows["goodput_bps"].to_list()
    return {**sums, "given_up": given_up, "total_bps": sum(goodput), "flow0_bps": goodput[0]}


def estimates(runs: Sequence[Run]) -> dict[str, Estimate]:
    """The measures of a case from its runs, one per seed: independent replications."""
    return {name: Estimate.of([r[name] for r in runs]) for name in MEASURES}


def run(
    cases: Iterable[Case], seeds: Sequence[int], runs: RunCache, seconds: int = SECONDS, *, as_ns3: bool = True
) -> dict[Case, dict[str, Estimate]]:
    """Runs cases, or finds their runs; the arguments are those of :func:`scenario`."""
    items = {}
    for case in cases:
        labels = {**case._asdict(), "seconds": seconds, "as_ns3": as_ns3}
        point = Point(labels, scenario(case, seconds, as_ns3=as_ns3))
        items[case] = [Item(point, seed, weight=seconds * case.mbps) for seed in seeds]
    tables = runs.make(items, of_run)
    length = float(seconds - WARM_UP)

    def of(case: Case) -> list[Run]:
        rows = tables[case].select(COUNTED[1:]).iter_rows(named=True)
        return [measured({"seconds": length, **row}, case) for row in rows]

    return {case: estimates(of(case)) for case in items}


def run_cache(folder: Path | str, jobs: int | None) -> RunCache:
    """The runs, in a folder below that for the results."""
    return RunCache(folder, base(), (*Case._fields, "seconds", "as_ns3"), jobs=jobs, title="standard against ns-3")


def compare(
    cases: Mapping[Case, Reference], runs: RunCache, seeds: Sequence[int] = SEEDS, seconds: int = SECONDS
) -> list[Comparison]:
    """Runs what ns-3 was run on."""
    comparisons = []
    for case, ours in run(cases, seeds, runs, seconds).items():
        theirs = cases[case]
        unmended = estimates(theirs.own) if theirs.mended else None
        comparisons.append(Comparison(case, estimates(theirs.best), ours, unmended, case in FURTHER))
    return comparisons


FURTHER = frozenset(
    Case("sat", stations, 1, 11, rts, control, short)
    for stations in (1, 5)
    for rts in (False, True)
    for control, short in ((2, False), (1, True))
)
"""Cases in addition to the 56: each of the two that the short preamble mixes, alone."""


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    cases = reference()
    with run_cache(folder, jobs) as runs:
        comparisons = compare(cases, runs)
        unlike = run((c for c in cases if c.has_long_preamble_in_ns3), SEEDS, runs, as_ns3=False)
    rows: list[list[object]] = []
    for c in comparisons:
        for name in MEASURES:
            half = difference(c.ours[name], c.ns3[name]).half_width()
            numbers = (c.ns3[name].mean, c.ours[name].mean, half, c.own[name].mean if c.own else math.nan)
            rows.append([*c.case, name, *map(repr, numbers), c.agrees if name == GOODPUT else ""])
    header = [*Case._fields, "measure", "ns3", "ours", "half_width_95", "ns3_own_rules", "agrees"]
    return finish(folder, header, rows, page.page(comparisons, unlike, defaults.run(jobs)), summary(comparisons))


def summary(comparisons: Sequence[Comparison]) -> Iterator[Table]:
    """Tables that say how many cases agree, and which do not."""
    t = show.table("", ">agree", ">of", ">largest difference", title="The preset standard against ns-3.37: goodput")
    for cells in page.summary(comparisons):
        t.add_row(*cells)
    yield t
    if unlike := [c for c in comparisons if not c.agrees]:
        t = show.table("does not agree", ">ns-3 [kbit/s]", ">ours", ">half width")
        for c in unlike:
            values = (c.ns3[GOODPUT].mean, c.ours[GOODPUT].mean, c.half_width)
            t.add_row(c.case.title, *(show.number(v / 1e3) for v in values))
        yield t
