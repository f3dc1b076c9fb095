"""Every run of ns-3 with 802.11n and 802.11ac, made here: how far off is each goodput?"""

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
from chappe_papers.validation.wifi_n import page
from chappe_papers.validation.wifi_n.cases import Case, Measured, reference, scenario, senders
from chappe_papers.validation.wifi_n.model import bianchi

SEEDS = range(1, 6)
"""Of links without noise only the first: back-off is all that is random there."""

TOLERANCES = {"link": 0.01, "sat": 0.03, "edca": 0.03, "snr": 0.03, "hidden": 0.10, "hidden_nobar": 0.10, "tcp": 0.10}
"""Tolerance of the goodput, by table."""


MOST_FLOWS = 4
"""Flows of a case of access categories, at most."""


def agree(ns3: Estimate, ours: Estimate, tolerance: float) -> bool:
    """True if the goodput is within the tolerance, or the difference within its 95 % interval.

    A single run of ns-3 is taken to scatter as those of Chappe.
    """
    if abs(_off(ns3, ours)) <= tolerance:
        return True
    if ours.df < 1:
        return False
    if ns3.df < 1:
        # The runs of Chappe, and one more.
        between = Estimate(ours.mean - ns3.mean, ours.variance * (ours.df + 2), ours.df)
    else:
        between = difference(ours, ns3)
    low, high = between.interval()
    return low <= 0 <= high


def _off(ns3: Estimate, ours: Estimate) -> float:
    if not ns3.mean:
        return math.inf if ours.mean else 0.0
    return ours.mean / ns3.mean - 1


@dataclass(frozen=True)
class Share:
    """Goodput of an access category in a case."""

    case: Case
    category: str
    """As in the tables."""
    ns3: Estimate
    """Its goodput in ns-3 [kbit/s]."""
    ours: Estimate
    """Its goodput [kbit/s]."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput."""
        return _off(self.ns3, self.ours)

    @property
    def agrees(self) -> bool:
        """True by the criterion for goodput."""
        return agree(self.ns3, self.ours, TOLERANCES[self.case.table])


@dataclass(frozen=True)
class Comparison:
    """A case of ns-3 and ours."""

    case: Case
    ns3: Estimate
    """Goodput of its runs [kbit/s]."""
    ours: Estimate
    """Goodput [kbit/s]."""
    plain: Estimate | None = None
    """The same without the departures of ns-3 from the standard, where there are any."""
    shares: tuple[Share, ...] = ()
    """Goodput of each access category, in cases of several."""

    @property
    def off(self) -> float:
        """Relative difference of the goodput; where ns-3 has delivered nothing, none if ours has not either."""
        return _off(self.ns3, self.ours)

    @property
    def is_certain(self) -> bool:
        """True if ns-3 delivers anything."""
        return bool(self.ns3.mean)

    @property
    def tolerance(self) -> float:
        """Relative tolerance of the case."""
        return TOLERANCES[self.case.table]

    @property
    def agrees(self) -> bool:
        """True by the criterion for goodput."""
        return agree(self.ns3, self.ours, self.tolerance)

    @property
    def model(self) -> float:
        """Goodput by Bianchi's model [kbit/s], for saturated stations; NaN for others."""
        return bianchi(self.case) / 1e3 if self.case.table == "sat" and self.case.std != "a" else math.nan


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Values taken from a run."""
    flows = [bps / 1e3 for bps in tables["flows"]["goodput_bps"]]
    first = (flows + [0.0] * MOST_FLOWS)[:MOST_FLOWS]
    return {"own_kbps": sum(flows)} | {f"flow_{i}_kbps": kbps for i, kbps in enumerate(first)}


def run(cases: Iterable[Case], seeds: Sequence[int], runs: RunCache) -> dict[tuple[Case, bool], pl.DataFrame]:
    """Runs of cases with the departures of ns-3 from the standard, and without them (``True``)."""
    items = {}
    for case in cases:
        of_link = case.table == "link"
        # Without loss only times on air differ by the standard.
        airtimes = case.table == "link" and (case.std == "ac" or case.gi_ns == 400)
        for plain in (False, True) if airtimes else (False,):
            point = Point({**case._asdict(), "plain": plain}, scenario(case, plain=plain))
            of_case = seeds[:1] if of_link else seeds
            items[case, plain] = [Item(point, seed, weight=case.seconds * len(case.acs.split())) for seed in of_case]
    return runs.make(items, of_run)


def goodput(table: pl.DataFrame) -> Estimate:
    """Goodput of the runs of a case [kbit/s]."""
    return Estimate.of(table["own_kbps"].to_list())


def shares(case: Case, measured: Sequence[Measured], table: pl.DataFrame) -> tuple[Share, ...]:
    """Goodput of each access category."""
    if case.table != "edca":
        return ()
    flows = [category for *_, category in senders(case)]

    def of(category: str) -> Share:
        own = [i for i, c in enumerate(flows) if c == category]
        ns3 = [sum(m.per_flow_bps[i] for i in own) / 1e3 for m in measured]
        ours = [sum(row[f"flow_{i}_kbps"] for i in own) for row in table.iter_rows(named=True)]
        return Share(case, category, Estimate.of(ns3), Estimate.of(ours))

    return tuple(of(category) for category in dict.fromkeys(flows))


def run_cache(folder: Path | str, jobs: int | None) -> RunCache:
    """The runs, in a folder below that for the results."""
    base = scenario(next(iter(reference())))
    return RunCache(folder, base, (*Case._fields, "plain"), jobs=jobs, title="802.11n against ns-3")


def estimate(measured: Sequence[Measured]) -> Estimate:
    """Goodput of the runs of ns-3 [kbit/s]."""
    return Estimate.of([m.goodput_bps / 1e3 for m in measured])


def compare(cases: Mapping[Case, Sequence[Measured]], runs: RunCache, seeds: Sequence[int] = SEEDS) -> list[Comparison]:
    """Runs what ns-3 was run on."""
    ours = run(cases, seeds, runs)

    def of(case: Case, measured: Sequence[Measured]) -> Comparison:
        own = ours[case, False]
        plain = goodput(ours[case, True]) if (case, True) in ours else None
        return Comparison(case, estimate(measured), goodput(own), plain, shares(case, measured, own))

    return [of(case, measured) for case, measured in cases.items()]


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    with run_cache(folder, jobs) as runs:
        comparisons = compare(reference(), runs)
    rows: list[list[object]] = []
    for c in comparisons:
        plain = c.plain.mean if c.plain else math.nan
        of_case = [c.ns3.mean, c.ours.mean, plain, c.model, c.tolerance]
        of_shares = [" ".join(repr(mean) for mean in means) for means in page.means_of_shares(c)]
        rows.append([*c.case, *map(repr, of_case), c.agrees, *of_shares, all(s.agrees for s in c.shares)])
    header = [*Case._fields, "ns3_kbps", "ours_kbps", "plain_kbps", "model_kbps", "tolerance", "agrees"]
    header += ["ns3_shares_kbps", "ours_shares_kbps", "shares_agree"]
    return finish(folder, header, rows, page.page(comparisons), summary(comparisons), [page.CASES.say(comparisons)])


def summary(comparisons: Sequence[Comparison]) -> Iterator[Table]:
    """Tables that say how many cases agree, and which do not."""
    yield from page.CASES.summary(comparisons)
    if unlike_shares := [s for c in comparisons for s in c.shares if not s.agrees]:
        t = show.table("share does not agree", ">ns-3 [kbit/s]", ">ours", ">difference")
        for s in unlike_shares:
            t.add_row(page.title_of_share(s), *page.values_of_share(s))
        yield t
