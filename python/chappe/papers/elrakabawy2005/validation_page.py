"""The page of the validation: every number of ns-2 beside ours."""

import math
from collections.abc import Mapping, Sequence
from importlib.resources import files

import polars as pl

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.elrakabawy2005 import ns2
from chappe.papers.elrakabawy2005.comparison import (
    KINDS,
    MANY,
    SEEDS,
    AmongOurs,
    Case,
    Comparison,
    case,
    kind,
    off,
    packets,
    row,
    two_states,
    within,
)
from chappe.papers.elrakabawy2005.lab import COLLAPSED
from chappe.papers.elrakabawy2005.measures import ALL, GOODPUT, JAIN
from chappe.papers.elrakabawy2005.points import UDP
from chappe.papers.replication import MEASURES, doubtful, spread
from chappe.stats import fisher

LEVEL = 0.05


def page(
    found: Sequence[Comparison],
    tables: Mapping[Case, pl.DataFrame],
    singles: Sequence[AmongOurs],
    many: Mapping[Case, pl.DataFrame],
) -> str:
    """The page.

    Args:
        found: The numbers.
        tables: Our runs with the seeds of all.
        singles: Numbers of ns-2 beside those of single runs of ours.
        many: Our runs with many seeds.
    """
    records = list({id(c.record): c.record for c in found}.values())
    notes = files("chappe.papers.elrakabawy2005").joinpath("validation_notes.md").read_text(encoding="utf-8").strip()
    lines = [*_head(found, len(records)), *_verdict(found, singles)]
    for part in KINDS:
        own = [c for c in found if kind(c.record.point) == part]
        if own:
            lines += [f"## {part.capitalize()}", "", *_summary(own), ""]
    lines += [notes, "", *_trust(records, tables), *_singles(singles), *_states(records, many), *_differing(found)]
    lines += ["## All values", "", *_table(found)]
    return "\n".join(lines) + "\n"


def _head(found: Sequence[Comparison], rows: int) -> list[str]:
    agreeing = sum(c.agrees for c in found)
    return [
        "# Validation against ns-2.35",
        "",
        "Written by `chappe paper elrakabawy2005 --validate` with "
        f"Chappe {__version__}, results epoch {RESULTS_EPOCH}.",
        "",
        f"{rows} runs of ns-2.35 are set beside runs of ours under the same stop rule, {len(SEEDS)} seeds each. A",
        "value agrees when it differs by at most 3 % (goodput over chains without ACK thinning), 5 % (other goodput),",
        "0.05 (Jain's index) or 10 % (all others), or by no more than the half width of the 95 % Welch interval of the",
        "difference. The records of ns-2 are means over batches, so ours are taken in the same way here; everywhere",
        "else ours are totals by totals. The error of ns-2 is that of its batch means, ours that of the seeds.",
        "",
        f"**{agreeing} of {len(found)} values agree.**",
        "",
        "How many would not agree by chance? A run of ours is of the same kind as a run of ns-2, so each of them was",
        f"taken for ns-2 and compared with the other {len(SEEDS) - 1} by the same rule. The column *expected* says how",
        "many values would not agree if ns-2 and we had drawn from the same distribution; of Jain's index, whose",
        "batches are not kept, it is not known.",
        "",
    ]


def _verdict(found: Sequence[Comparison], singles: Sequence[AmongOurs]) -> list[str]:
    own = [c for c in found if c.measure.name in (GOODPUT.name, JAIN.name)]
    unlike = [s for s in singles if s.p < LEVEL]
    return [
        f"Of the {len(own)} values of goodput and of Jain's index, {sum(c.agrees for c in own)} agree. For each of the",
        f"other {len(singles)}, the run of ns-2 was set among {len(MANY)} single runs of ours:",
        f"{len(singles) - len(unlike)} are like runs of ours, {len(unlike)} are not at 5 %",
        "([below](#goodput-and-jains-index-where-they-do-not-agree)).",
        "",
    ]


def _summary(found: Sequence[Comparison]) -> list[str]:
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


def _trust(records: Sequence[ns2.Record], tables: Mapping[Case, pl.DataFrame]) -> list[str]:
    """Whether batches of one run say what other runs are like."""
    lines = [
        "## How far the batches of one run can be trusted",
        "",
        f"The variance of our {len(SEEDS)} runs divided by that which the batches of one run promise: 1 when batches",
        "are independent and a run has no memory. Given are the median over the points and the largest, and at how",
        "many points batches are doubtful by the rule of [the paper's page](papers.md#how-many-runs).",
        "",
        "| runs | points | goodput: median | largest | window: median | largest | doubtful |",
        "|---|---|---|---|---|---|---|",
    ]
    groups: dict[str, dict[Case, pl.DataFrame]] = {}
    for r in records:
        variant = "Vegas" if r.point.variant.startswith("vegas") else "the others"
        part = kind(r.point)
        groups.setdefault(part if r.point.variant == UDP else f"{part}: {variant}", {})[case(r)] = tables[case(r)]
    for name, own in groups.items():
        cells = [name, str(len(own))]
        for measure in MEASURES:
            known = sorted(v for t in own.values() if not math.isnan(v := spread(t, measure)[0]))
            middle, top = (known[len(known) // 2], known[-1]) if known else (math.nan, math.nan)
            cells += [show.number(middle, 2), show.number(top, 2)]
        lines.append(f"| {' | '.join(cells)} | {sum(doubtful(t) for t in own.values())} |")
    return [*lines, ""]


def _singles(singles: Sequence[AmongOurs]) -> list[str]:
    lines = [
        "## Goodput and Jain's index where they do not agree",
        "",
        f"A run of ns-2 is one run, whatever its batches promise. Here it is set among {len(MANY)} single runs of",
        "ours. *p* is the probability that a run of ours is at least as far out, on either side (rank test); below 5 %",
        "the run of ns-2 is not like ours.",
        "",
        "| run | measure | ns-2 | ours: smallest | median | largest | at least as far out | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for s in singles:
        c, values = s.comparison, sorted(s.values)
        ours = (values[0], values[len(values) // 2], values[-1])
        lines.append(
            f"| {row(c.record)} | {c.measure.name} | {show.number(c.ns2.mean)} "
            f"| {' | '.join(show.number(v) for v in ours)} | {s.beyond} of {len(values)} | {_p(s.p)} |"
        )
    return [*lines, ""]


def _states(records: Sequence[ns2.Record], many: Mapping[Case, pl.DataFrame]) -> list[str]:
    """Runs that fall from one state into another."""
    lines = [
        "## Runs with two states",
        "",
        "How many runs have fallen into the lower state when they end: their goodput in the last batch is below",
        f"{100 * COLLAPSED:.0f} % of that in the upper state. Ours are {len(MANY)}; of ns-2 there is the recorded run,",
        "and further seeds of stock ns-2.35 (`docs/experiments/ns2_states.py`), which knows no ACK thinning. *p* is",
        "the probability of shares that are at least as different when both fall as often (Fisher's exact test).",
        "",
        "| run | packets | upper state | ns-2 | ours: mean | ours: fallen | further seeds of ns-2: fallen | p |",
        "|---|---|---|---|---|---|---|---|",
    ]
    further = ns2.states()
    for r in records:
        if two_states(r):
            own = many[case(r)]
            last, goodput = own["last_bps"].to_list(), own["goodput_bps"].to_list()
            top = 1460 * 8e3 / r.point.interval_ms if r.point.variant == UDP else max(*last, *goodput)
            kbps = (top / 1e3, r.values[GOODPUT.name].mean, sum(goodput) / len(goodput) / 1e3)
            fallen = sum(v < COLLAPSED * top for v in last)
            cells = [row(r), f"{packets(r):,}", *map(show.number, kbps), f"{fallen} of {len(last)}", "-", "-"]
            if r.point in further:
                theirs = [1e3 * s.last_kbps < COLLAPSED * top for s in further[r.point]]
                p = fisher(fallen, len(last), sum(theirs), len(theirs))
                cells[-2:] = f"{sum(theirs)} of {len(theirs)}", _p(p)
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _p(p: float) -> str:
    return f"**{p:.3f}**" if p < LEVEL else f"{p:.2f}"


def _differing(found: Sequence[Comparison]) -> list[str]:
    lines = [
        "## Values that do not agree",
        "",
        "*Further seeds*: the mean of more seeds of stock ns-2.35 (`docs/experiments/ns2_seeds.py`, `ns2_states.py`)",
        "with its 95 % interval, and whether ours agrees with that. *Strangers*: how many of our ten runs do not agree",
        "with the other nine when they are taken for ns-2.",
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
    return [*lines, ""]


def _table(found: Sequence[Comparison]) -> list[str]:
    lines = [
        "| run | measure | ns-2 | ours | difference | half width | agrees |",
        "|---|---|---|---|---|---|---|",
    ]
    return lines + [f"{_numbers(c)} | {'yes' if c.agrees else '**no**'} |" for c in found]


def _numbers(c: Comparison) -> str:
    return (
        f"| {row(c.record)} | {c.measure.name} | {show.number(c.ns2.mean)} | {show.number(c.ours.mean)} "
        f"| {off(c)} | {show.number(c.half_width, 2)}"
    )
