"""The page of the validation: every number of ns-2 beside ours."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chappe import RESULTS_EPOCH, __version__, show
from chappe.papers.zhou2004.lab import GOODPUT, LABELS, SEGMENTS, UNFAIRNESS
from chappe.papers.zhou2004.points import HERE, LONE, MECHANISMS, READINGS, VARIANTS

if TYPE_CHECKING:
    from chappe.papers.zhou2004.validate import Comparison, Start

LEVEL = 0.05

TITLES = {name: r.title for name, r in READINGS.items()} | {LONE: "a lone flow over a lossy path"}


def page(found: "Sequence[Comparison]", begun: "Sequence[Start]") -> str:
    """The page.

    Args:
        found: The numbers.
        begun: Runs without losses whose flows begin at drawn times.
    """
    notes = HERE.joinpath("validation_notes.md").read_text(encoding="utf-8").strip()
    lines = [*_head(found), *_summary(found), "", notes, "", *_starts(begun), *_differing(found)]
    lines += ["## All values", "", *_table(found)]
    return "\n".join(lines) + "\n"


def _head(found: "Sequence[Comparison]") -> list[str]:
    points = {c.point for c in found}
    unlike = [c for c in found if not c.agrees]
    alike = sum(c.among is not None and c.among >= LEVEL for c in unlike)
    certain = sum(c.among is None for c in unlike)
    return [
        "# Validation of Zhou et al. 2004 against ns-2.35",
        "",
        "Written by `chappe paper zhou2004 --validate` with "
        f"Chappe {__version__}, results epoch {RESULTS_EPOCH}.",
        "",
        f"{len(points)} rows of ns-2.35, each the mean of one to ten runs, are set beside ten runs of ours in the",
        "same reading. Goodput agrees when it differs by at most 3 %, or by no more than the half width of the 95 %",
        "Welch interval of the difference; unfairness when it differs by no more than that half width. Without losses",
        "nothing is random, there is one run, and unfairness is either the same or not.",
        "",
        f"**{len(found) - len(unlike)} of {len(found)} values agree.** Of the {len(unlike)} others, {certain} are of",
        f"rows without losses; where losses are random, {alike} are like the means of as many of a hundred runs of",
        f"ours, and {len(unlike) - certain - alike} are not at 5 %.",
        "",
        "Stock ns-2.35 ignores loss notifications in Vegas and SACK: there are no rows of these with ELN, and none of",
        "Vegas or SACK with Snoop and ELN.",
        "",
    ]  # fmt: skip


def _summary(found: "Sequence[Comparison]") -> list[str]:
    lines = ["| reading | mechanism | measure | agree | of | largest difference |", "|---|---|---|---|---|---|"]
    for reading in dict.fromkeys(c.point.reading for c in found):
        for mechanism in MECHANISMS:
            for measure in (GOODPUT, UNFAIRNESS, SEGMENTS):
                own = [
                    c for c in found if (c.point.reading, c.point.mechanism, c.measure) == (reading, mechanism, measure)
                ]
                if own:
                    worst = max((c.off for c in own), key=abs)
                    lines.append(
                        f"| {TITLES[reading]} | {MECHANISMS[mechanism]} | {LABELS[measure]} "
                        f"| {sum(c.agrees for c in own)} | {len(own)} | {_percent(worst)} |"
                    )
    return lines


def _starts(begun: "Sequence[Start]") -> list[str]:
    """Runs without losses, flow by flow."""
    lines = [
        "## Without losses, to the segment",
        "",
        "NewReno without losses; flows begin at drawn times, so that no two packets arrive at the same instant.",
        "Segments of each flow after 100 s.",
        "",
        "| mechanism | ns-2 | ours | the same |",
        "|---|---|---|---|",
    ]
    for s in begun:
        same = "yes" if s.ns2 == s.ours else f"{_percent(sum(s.ours) / sum(s.ns2) - 1)}"
        lines.append(f"| {MECHANISMS[s.mechanism]} | {_counts(s.ns2)} | {_counts(s.ours)} | {same} |")
    return [*lines, ""]


def _counts(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def cells(c: "Comparison") -> list[str]:
    """A value in some words, and its place among ours."""
    among = "-" if c.among is None else f"{c.among:.3f}" if c.among >= LEVEL else f"**{c.among:.3f}**"
    return [*_numbers(c), among]


def _numbers(c: "Comparison") -> list[str]:
    p = c.point
    with_window = f", window {p.window}" if p.reading == LONE else ""
    where = f"{VARIANTS[p.variant]}, {MECHANISMS[p.mechanism]}, {p.per_percent:g} %{with_window}, {TITLES[p.reading]}"
    half = show.number(c.half_width, 2)
    return [where, c.measure, f"{show.number(c.ns2.mean)} ({c.runs})", show.number(c.ours.mean), half]


def _differing(found: "Sequence[Comparison]") -> list[str]:
    lines = [
        "## Values that do not agree",
        "",
        "In brackets the number of runs of ns-2. *p* is the probability that the mean of as many runs of ours, drawn",
        "from a hundred, is at least as far out on either side. Identical runs are listed once for each variant.",
        "",
        "| run | measure | ns-2 | ours | half width | p |",
        "|---|---|---|---|---|---|",
    ]
    return [*lines, *(f"| {' | '.join(cells(c))} |" for c in found if not c.agrees), ""]


def _table(found: "Sequence[Comparison]") -> list[str]:
    lines = ["| run | measure | ns-2 | ours | half width | agrees |", "|---|---|---|---|---|---|"]
    return lines + [f"| {' | '.join(_numbers(c))} | {'yes' if c.agrees else '**no**'} |" for c in found]
