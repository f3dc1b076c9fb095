"""Every chain that ns-2.35 was run on, run here under the same stop rule: how far off is each number?"""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.elrakabawy2005 import chain
from chappe.stats import Estimate, difference, quantile_t
from chappe.study import measure

SEEDS = range(1, 11)


@dataclass(frozen=True)
class Comparison:
    """A number of ns-2 and ours."""

    record: chain.Record
    measure: chain.Measure
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
        return _agree(self.ours, self.ns2, self.measure.tolerance)

    @property
    def agrees_with_further(self) -> bool | None:
        """The same about the further seeds of ns-2."""
        return None if self.further is None else _agree(self.ours, self.further, self.measure.tolerance)

    @property
    def strangers(self) -> int:
        """How many of our own runs do not agree with the others when taken for the run of ns-2."""
        count = 0
        for i, one in enumerate(self.runs):
            others = Estimate.of([e.mean for j, e in enumerate(self.runs) if j != i])
            count += not _agree(others, one, self.measure.tolerance)
        return count


def _agree(ours: Estimate, ns2: Estimate, tolerance: float) -> bool:
    apart = abs(ours.mean - ns2.mean)
    return apart <= tolerance * ns2.mean or apart <= difference(ours, ns2).half_width()


def compare(records: Iterable[chain.Record], *, jobs: int | None, seeds: Iterable[int] = SEEDS) -> list[Comparison]:
    """Runs what ns-2 was run on, with its number of batches and packets per batch."""
    wanted = {}
    for r in records:
        batches = r.batches + 1
        wanted[r.point, batches, r.packets_per_batch] = chain.scenario(
            r.point, f"{batches * r.packets_per_batch} delivered", batches=batches
        )
    further = chain.further_seeds()
    runs = measure(wanted, list(seeds), jobs=jobs, title="Validation")
    found = []
    for r in records:
        table = runs[r.point, r.batches + 1, r.packets_per_batch]
        ours = chain.our_estimates(table)
        t = quantile_t(0.95, r.batches - 1)
        for m in chain.MEASURES:
            pairs = zip(table[m.ours], table[f"{m.ours}_half_width"], strict=True)
            one_by_one = [Estimate(mean * m.scale, (half * m.scale / t) ** 2, r.batches - 1) for mean, half in pairs]
            found.append(Comparison(r, m, ours[m.name], one_by_one, further.get((r.point, m.name))))
    return found


def _row(r: chain.Record) -> str:
    return f"{r.point.variant}, {r.point.hops} hops, {r.point.rate_mbps:g} Mbit/s, seed {r.seed}"


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
        f"{rows} runs of ns-2.35 over chains (variants without ACK thinning) are set beside runs of ours under the",
        f"same stop rule, {len(SEEDS)} seeds each. A value agrees when it differs by at most 3 % (goodput) or 10 %",
        "(the others), or by no more than the half width of the 95 % Welch interval of the difference. The error of",
        "ns-2 is that of its batch means, ours that of the seeds.",
        "",
        f"**{agreeing} of {len(found)} values agree.**",
        "",
        "How many would not agree by chance? A run of ours is of the same kind as a run of ns-2, so each of them was",
        f"taken for ns-2 and compared with the other {len(SEEDS) - 1} by the same rule. The column *expected* says how",
        "many values would not agree if ns-2 and we had drawn from the same distribution.",
        "",
        "| measure | agree | of | do not agree | expected | within the tolerance | mean difference | largest |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for m in chain.MEASURES:
        mine = [c for c in found if c.measure is m]
        finite = [c.off for c in mine if math.isfinite(c.off) and c.ns2.mean > 0]
        within = sum(abs(c.ours.mean - c.ns2.mean) <= m.tolerance * c.ns2.mean for c in mine)
        worst = max(finite, key=abs, default=0.0)
        lines.append(
            f"| {m.label} | {sum(c.agrees for c in mine)} | {len(mine)} | {sum(not c.agrees for c in mine)} "
            f"| {sum(c.strangers for c in mine) / len(SEEDS):.1f} | {within} "
            f"| {sum(finite) / max(len(finite), 1):+.1%} | {worst:+.1%} |"
        )
    notes = files("chappe.papers.elrakabawy2005").joinpath("validation_notes.md").read_text(encoding="utf-8").strip()
    lines += ["", notes, "", "## Values that do not agree", ""]
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
            lines.append(f"{_numbers(c)} | {further} | {agrees} | {c.strangers} of {len(c.runs)} |")
    lines += ["", "## All values", ""]
    lines += _table(found)
    return "\n".join(lines) + "\n"


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
    records = [r for r in chain.records() if "_thin" not in r.point.variant]
    found = compare(records, jobs=jobs)
    with (folder / "validation.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["variant", "hops", "rate_mbps", "ns2_seed", "measure", "ns2", "ours", "half_width_95", "agrees"])
        for c in found:
            p = c.record.point
            numbers = (c.ns2.mean, c.ours.mean, c.half_width)
            out.writerow([*p[:2], f"{p.rate_mbps:g}", c.record.seed, c.measure.name, *map(repr, numbers), c.agrees])
    (folder / "validation.md").write_text(_page(found, len(records)), encoding="utf-8")
    t = show.table("measure", ">agree", ">of", title="Ours beside ns-2.35")
    for m in chain.MEASURES:
        mine = [c for c in found if c.measure is m]
        t.add_row(m.label, str(sum(c.agrees for c in mine)), str(len(mine)))
    show.write(t)
    t = show.table("does not agree", "measure", ">ns-2", ">ours", ">difference", ">half width")
    for c in found:
        if not c.agrees:
            shown = show.number(c.ns2.mean), show.number(c.ours.mean), _off(c), show.number(c.half_width, 2)
            t.add_row(_row(c.record), c.measure.name, *shown)
    show.write(t)
    print(f"Written to {folder}: validation.md with every value and the reasons of the differences, validation.csv.")
    return 0
