"""Comparison with rows of ns-2.35, each the mean of some runs, by ten runs of Chappe; to the segment without losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from chappe.stats import Estimate
from chappe.study import RunCache

from chappe_papers.pages.page import table
from chappe_papers.runs import reference
from chappe_papers.runs.estimates import NS2
from chappe_papers.validation import paper as shared
from chappe_papers.validation.compare import percent, relative
from chappe_papers.validation.paper import LEVEL, Comparison, OfPaper, largest, mean
from chappe_papers.zhou2004.design import (  # fmt: skip
    DESIGN,
    GOODPUT,
    MEASURES,
    SEGMENTS,
    UNFAIRNESS,
    by_point,
    delivered,
    measured,
    values_of,
)
from chappe_papers.zhou2004.points import FLOWS, LONE, LOSSY, MECHANISMS, READINGS, VARIANTS, Point, same, scenario

SEEDS: Sequence[int] = range(1, 11)
MANY: Sequence[int] = range(1, 101)
"""Seeds where numbers do not agree."""

STARTS = f"{NS2}, drawn starts"

AS_NS2 = {
    # ns-2 counts what is acknowledged after 100 s. The way back takes 26.26 ms.
    "run.stop": "99.97374 s",
    # Its two LANs take 8.832 us each for a segment, and 0.832 us for an acknowledgement.
    f"wired_link.{LOSSY}.delay": "4.017664 ms",
    f"wired_link.{LOSSY}.back.delay": "4.001664 ms",
}
"""Setup and counts of ns-2, to the segment."""

TITLES = {name: r.title for name, r in READINGS.items()} | {LONE: "a lone flow over a lossy path"}

_EXACT = replace(MEASURES[UNFAIRNESS], label="unfairness, mean of the runs", tolerance=0.0)


@dataclass(frozen=True)
class Start:
    """A run without losses whose flows begin at drawn times: segments of each flow."""

    mechanism: str
    ns2: tuple[int, ...]
    ours: tuple[int, ...]


def _ours(rows: pl.DataFrame) -> dict[str, list[float]]:
    """Goodput and unfairness of runs as ns-2's are reckoned."""
    runs = [measured(run) for run in segments(rows)]
    return {name: [run[name] for run in runs] for name in (GOODPUT, UNFAIRNESS)}


def segments(rows: pl.DataFrame) -> list[tuple[float, ...]]:
    """Segments of each flow, run by run."""
    return rows.select([f"delivered_{f}" for f in range(FLOWS)]).rows()


def run(
    points: Mapping[Point, Sequence[int]], runs: RunCache, changes: Mapping[str, Any] | None = None
) -> dict[Point, pl.DataFrame]:
    """Runs points with seeds and changes."""
    seeds: dict[Point, Sequence[int]] = {}
    for p, seeds_of in points.items():
        seeds[same(p)] = max(seeds_of, seeds.get(same(p), ()), key=len)
    tables = shared.run(DESIGN, {p: (p, scenario(p, changes), seeds_of) for p, seeds_of in seeds.items()}, runs)
    return {p: tables[same(p)] for p in points}


def _words(p: Point) -> str:
    window = f", window {p.window}" if p.reading == LONE else ""
    return f"{VARIANTS[p.variant]}, {MECHANISMS[p.mechanism]}, {p.per_percent:g} %{window}, {TITLES[p.reading]}"


class ZhouValidation(OfPaper):
    """The comparison."""

    design = DESIGN
    title = "Validation of Zhou et al. 2004 against ns-2.35"
    columns = ("reading", "variant", "mechanism", "per_percent", "window")

    def __init__(self) -> None:
        self.begun: list[Start] = []

    def compare(self, runs: RunCache) -> list[Comparison]:
        """Runs what ns-2 was run on; where numbers do not agree and losses are random, with many seeds."""
        records = by_point(DESIGN.records())
        lone = {p: v for p, v in reference.first(DESIGN.records()).items() if p.reading == LONE}
        tables = run(dict.fromkeys(records, SEEDS), runs, AS_NS2) | run(dict.fromkeys(lone, SEEDS), runs)
        compared = []
        for p, records_of_point in records.items():
            theirs, ours = values_of(records_of_point), _ours(tables[p])
            for name, m in ((GOODPUT, MEASURES[GOODPUT]), (UNFAIRNESS, _EXACT)):
                part = f"{TITLES[p.reading]}: {MECHANISMS[p.mechanism]}"
                numbers = (mean(theirs[name]), mean(ours[name]))
                compared.append(Comparison(_words(p), part, p, name, m, *numbers, len(records_of_point)))
        for p, values in lone.items():
            ours_alone = Estimate.of(tables[p][SEGMENTS].to_list())
            numbers = (values[SEGMENTS], ours_alone)
            place = (_words(p), TITLES[LONE], p, SEGMENTS, MEASURES[SEGMENTS])
            compared.append(Comparison(*place, *numbers, int(values[SEGMENTS].df) + 1))
        unlike = {c.point for c in compared if not c.agrees and c.point.per_percent and c.name != SEGMENTS}
        many = run(dict.fromkeys(unlike, MANY), runs, AS_NS2)
        self.begun = compare_starts(runs)
        return [
            replace(c, many=_ours(many[c.point])[c.name]) if c.point in many and not c.agrees else c for c in compared
        ]

    def head(self, comparisons: Sequence[Comparison]) -> list[str]:
        """Notes for readers."""
        return [
            f"{len({c.point for c in comparisons})} rows of ns-2.35, each the mean of one to ten runs, are compared "
            "with ten runs of Chappe in the same reading. Goodput agrees when it differs by at most 3 %, or by no more "
            "than the half width of the 95 % Welch interval of the difference; unfairness when it differs by no more "
            "than that half width. Without losses nothing is random, there is one run, and unfairness is either the "
            "same or not.",
            "Stock ns-2.35 ignores loss notifications in Vegas and SACK: there are no rows of these with ELN, and none "
            "of Vegas or SACK with Snoop and ELN. In brackets the number of runs of ns-2, where it is not one. *p* is "
            "the probability that the mean of as many runs of Chappe, drawn from a hundred, is at least as far out on "
            "either side. Identical runs are listed once for each variant.",
        ]

    def exceptions(self, comparisons: Sequence[Comparison]) -> str:
        """Values of unfairness, without and with losses."""
        fair = [c for c in comparisons if c.name == UNFAIRNESS]
        rest = [c for c in comparisons if c.name != UNFAIRNESS]
        unlike = [c for c in comparisons if not c.agrees]
        certain = [c for c in unlike if c.p is None]
        odd = [c for c in unlike if c.p is not None and c.p < LEVEL]
        return (
            f"They are {sum(c.agrees for c in rest)} of {len(rest)} goodputs and {sum(c.agrees for c in fair)} of "
            f"{len(fair)} values of unfairness. Of the {len(unlike)} others {len(certain)} are of rows without losses "
            f"(largest difference {largest(certain)}). Where losses are random, "
            f"{len(unlike) - len(certain) - len(odd)} of {len(unlike) - len(certain)} are like the means of as many of "
            f"a hundred runs of Chappe; the largest difference beyond chance, at 5 %, is {largest(odd)}."
        )

    def sections(self, _found: Sequence[Comparison], /) -> list[str]:
        """Runs without losses, flow by flow."""
        rows = []
        for s in self.begun:
            same_ = "yes" if s.ns2 == s.ours else percent(relative(sum(s.ours), sum(s.ns2)))
            rows.append([MECHANISMS[s.mechanism], " ".join(map(str, s.ns2)), " ".join(map(str, s.ours)), same_])
        return [
            "## Without losses, to the segment",
            "",
            "NewReno without losses; flows begin at drawn times, so that no two packets arrive at the same instant. "
            "Segments of each flow after 100 s.",
            "",
            *table(("mechanism", "ns-2", "ours", "the same"), rows),
        ]


VALIDATION = ZhouValidation()


def compare_starts(runs: RunCache) -> list[Start]:
    """Runs without losses."""
    starts = []
    for r in reference.of(STARTS, DESIGN.records()):
        begin = {f"flow.{i}.start": f"{1e6 * r.values[f'start_{i}_s'].mean:.0f} us" for i in range(FLOWS)}
        rows = run({r.point: [1]}, runs, AS_NS2 | begin)[r.point]
        starts.append(Start(r.point.mechanism, delivered(r), tuple(int(n) for n in segments(rows)[0])))
    return starts
