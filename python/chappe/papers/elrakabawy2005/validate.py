"""Everything that ns-2.35 was run on, run here under the same stop rule: how far off is each number?"""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.elrakabawy2005 import ns2
from chappe.papers.elrakabawy2005.lab import measured
from chappe.papers.elrakabawy2005.measures import ALL, Measure, estimates
from chappe.papers.elrakabawy2005.points import CHAIN, GRIDS, UDP, Point, scenario
from chappe.scenario import Scenario
from chappe.stats import Estimate, difference, quantile_t

SEEDS = range(1, 11)


@dataclass(frozen=True)
class Comparison:
    """A number of ns-2 and ours."""

    record: ns2.Record
    measure: Measure
    ours: Estimate
    runs: Sequence[Estimate] = ()
    """Ours one by one, each with the error of its batch means."""
    further: Estimate | None = None
    """Further seeds of ns-2, where there are any."""

    @property
    def ns2(self) -> Estimate:
        """The number of ns-2; its error is that of its batch means."""
        return self.record.values[self.measure.name]

    @property
    def off(self) -> float:
        """Relative difference; infinite when only ns-2 has none of it."""
        if self.ns2.mean == self.ours.mean:
            return 0.0
        return self.ours.mean / self.ns2.mean - 1 if self.ns2.mean else math.inf

    @property
    def half_width(self) -> float:
        """Half width of the 95 % Welch interval of the difference."""
        return difference(self.ours, self.ns2).half_width()

    @property
    def agrees(self) -> bool:
        """Whether they differ by at most the tolerance, or by no more than the half width."""
        return _agree(self.ours, self.ns2, self.measure)

    @property
    def agrees_with_further(self) -> bool | None:
        """The same about the further seeds of ns-2."""
        return None if self.further is None else _agree(self.ours, self.further, self.measure)

    @property
    def strangers(self) -> int:
        """How many of our own runs do not agree with the others when taken for the run of ns-2."""
        count = 0
        for i, one in enumerate(self.runs):
            others = Estimate.of([e.mean for j, e in enumerate(self.runs) if j != i])
            count += not _agree(others, one, self.measure)
        return count


def within(ours: Estimate, ns2: Estimate, measure: Measure) -> bool:
    """Whether they differ by at most the tolerance."""
    tolerance = measure.tolerance if measure.absolute else measure.tolerance * ns2.mean
    return abs(ours.mean - ns2.mean) <= tolerance


def _agree(ours: Estimate, ns2: Estimate, measure: Measure) -> bool:
    return within(ours, ns2, measure) or abs(ours.mean - ns2.mean) <= difference(ours, ns2).half_width()


def compare(records: Sequence[ns2.Record], *, jobs: int | None, seeds: Iterable[int] = SEEDS) -> list[Comparison]:
    """Runs what ns-2 was run on, with its number of batches and packets per batch."""
    wanted: dict[tuple[int, int], dict[Point, Scenario]] = {}
    for r in records:
        n = r.batches + 1
        of = wanted.setdefault((n, r.packets_per_batch), {})
        of[r.point] = scenario(r.point, f"{n * r.packets_per_batch} delivered", batches=n)
    runs = {}
    for key, scenarios in wanted.items():
        for point, table in measured(scenarios, list(seeds), jobs, "Validation").items():
            runs[point, *key] = table
    further = ns2.further_seeds()
    found = []
    for r in records:
        table = runs[r.point, r.batches + 1, r.packets_per_batch]
        ours = estimates(table)
        t = quantile_t(0.95, r.batches - 1)
        for m in r.measures:
            one_by_one = []
            if f"{m.ours}_half_width" in table.columns:
                pairs = zip(table[m.ours], table[f"{m.ours}_half_width"], strict=True)
                one_by_one = [
                    Estimate(mean * m.scale, (half * m.scale / t) ** 2, r.batches - 1) for mean, half in pairs
                ]
            found.append(Comparison(r, m, ours[m.name], one_by_one, further.get((r.point, m.name))))
    return found


def _kind(point: Point) -> str:
    """The part of the validation that a run belongs to."""
    if point.variant == UDP:
        return "paced UDP over chains"
    if point.place == CHAIN:
        return "chains, ACK thinning" if "_thin" in point.variant else "chains"
    return "grids" if point.place in GRIDS else "random topologies"


KINDS = ("chains", "chains, ACK thinning", "paced UDP over chains", "grids", "random topologies")


def _row(r: ns2.Record) -> str:
    p = r.point
    where = f"{p.hops} hops" if p.place == CHAIN else p.place
    paced = f", {p.interval_ms:g} ms" if p.variant == UDP else ""
    return f"{p.variant}{paced}, {where}, {p.rate_mbps:g} Mbit/s, seed {r.seed}"


def _off(c: Comparison) -> str:
    return "+inf" if math.isinf(c.off) else f"{c.off:+.1%}".replace("%", " %")


def _page(found: list[Comparison], rows: int) -> str:
    agreeing = sum(c.agrees for c in found)
    lines = [
        "# Validation against ns-2.35",
        "",
        "Written by `chappe paper elrakabawy2005 --validate` with "
        f"Chappe {__version__}, results epoch {RESULTS_EPOCH}.",
        "",
        f"{rows} runs of ns-2.35 are set beside runs of ours under the same stop rule, {len(SEEDS)} seeds each. A",
        "value agrees when it differs by at most 3 % (goodput over chains without ACK thinning), 5 % (other goodput),",
        "0.05 (Jain's index) or 10 % (all others), or by no more than the half width of the 95 % Welch interval of the",
        "difference. The error of ns-2 is that of its batch means, ours that of the seeds.",
        "",
        f"**{agreeing} of {len(found)} values agree.**",
        "",
        "How many would not agree by chance? A run of ours is of the same kind as a run of ns-2, so each of them was",
        f"taken for ns-2 and compared with the other {len(SEEDS) - 1} by the same rule. The column *expected* says how",
        "many values would not agree if ns-2 and we had drawn from the same distribution; of Jain's index, whose",
        "batches are not kept, it is not known.",
        "",
    ]
    for kind in KINDS:
        own = [c for c in found if _kind(c.record.point) == kind]
        if own:
            lines += [f"## {kind.capitalize()}", "", *_summary(own), ""]
    notes = files("chappe.papers.elrakabawy2005").joinpath("validation_notes.md").read_text(encoding="utf-8").strip()
    lines += [notes, "", "## Values that do not agree", ""]
    lines += [
        "*Further seeds*: the mean of six more seeds of stock ns-2.35 (`docs/experiments/ns2_seeds.py`) with its 95 %",
        "interval, and whether ours agrees with that. *Strangers*: how many of our ten runs do not agree with the",
        "other nine when they are taken for ns-2.",
        "",
        "| run | measure | ns-2 | ours | difference | half width | further seeds | agrees with these | strangers |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for c in found:
        if not c.agrees:
            further = "-" if c.further is None else show.with_error(c.further.mean, c.further.half_width())
            agrees = {None: "-", True: "yes", False: "**no**"}[c.agrees_with_further]
            lines.append(
                f"{_numbers(c)} | {further} | {agrees} | {f'{c.strangers} of {len(c.runs)}' if c.runs else '-'} |"
            )
    lines += ["", "## All values", ""]
    lines += _table(found)
    return "\n".join(lines) + "\n"


def _summary(found: list[Comparison]) -> list[str]:
    lines = [
        "| measure | agree | of | do not agree | expected | within the tolerance | mean difference | largest |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(c.measure.name for c in found):
        mine = [c for c in found if c.measure.name == name]
        finite = [c.off for c in mine if math.isfinite(c.off) and c.ns2.mean > 0]
        near = sum(within(c.ours, c.ns2, c.measure) for c in mine)
        worst = max(finite, key=abs, default=0.0)
        expected = sum(c.strangers for c in mine) / len(SEEDS) if all(c.runs for c in mine) else math.nan
        lines.append(
            f"| {ALL[name].label} | {sum(c.agrees for c in mine)} | {len(mine)} | {sum(not c.agrees for c in mine)} "
            f"| {'-' if math.isnan(expected) else f'{expected:.1f}'} | {near} "
            f"| {sum(finite) / max(len(finite), 1):+.1%} | {worst:+.1%} |"
        )
    return lines


def _table(found: list[Comparison]) -> list[str]:
    lines = [
        "| run | measure | ns-2 | ours | difference | half width | agrees |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [f"{_numbers(c)} | {'yes' if c.agrees else '**no**'} |" for c in found]


def _numbers(c: Comparison) -> str:
    return (
        f"| {_row(c.record)} | {c.measure.name} | {show.number(c.ns2.mean)} | {show.number(c.ours.mean)} "
        f"| {_off(c)} | {show.number(c.half_width, 2)}"
    )


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    records = ns2.records()
    found = compare(records, jobs=jobs)
    with (folder / "validation.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(
            ["variant", "place", "hops", "rate_mbps", "interval_ms", "ns2_seed", "measure", "ns2", "ours",
             "half_width_95", "agrees"]
        )  # fmt: skip
        for c in found:
            p = c.record.point
            numbers = (c.ns2.mean, c.ours.mean, c.half_width)
            where = (p.variant, p.place, p.hops, f"{p.rate_mbps:g}", f"{p.interval_ms:g}", c.record.seed)
            out.writerow([*where, c.measure.name, *map(repr, numbers), c.agrees])
    (folder / "validation.md").write_text(_page(found, len(records)), encoding="utf-8")
    t = show.table("", "measure", ">agree", ">of", title="Ours beside ns-2.35")
    for kind in KINDS:
        own = [c for c in found if _kind(c.record.point) == kind]
        for name in dict.fromkeys(c.measure.name for c in own):
            mine = [c for c in own if c.measure.name == name]
            t.add_row(kind, ALL[name].label, str(sum(c.agrees for c in mine)), str(len(mine)))
    show.write(t)
    t = show.table("does not agree", "measure", ">ns-2", ">ours", ">difference", ">half width")
    for c in found:
        if not c.agrees:
            shown = show.number(c.ns2.mean), show.number(c.ours.mean), _off(c), show.number(c.half_width, 2)
            t.add_row(_row(c.record), c.measure.name, *shown)
    show.write(t)
    print(f"Written to {folder}: validation.md with every value and the reasons of the differences, validation.csv.")
    return 0
