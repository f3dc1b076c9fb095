"""Verdicts before and now, with the reason of every move: the page ``papers/verdicts.md``.

``python reproductions/experiments/verdicts/verdicts.py`` writes the page from the published points
(``papers/*/claims.csv``) and ``verdicts.csv`` beside this file: the verdicts published on 24, 28 and 30 November 2026,
by the rules of those days, and the rule or runs by which those of 24 November had moved. Those of 30 November are from
before points were measured again with their skewness.
"""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import recompute

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "papers" / "verdicts.md"
BEFORE = Path(__file__).with_name("verdicts.csv")

Row = Mapping[str, str]

SAME = {
    "contradicted": ("opposite", "no effect"),
    "indistinguishable": ("undecided",),
    "depends": ("mixed",),
}
"""Words of 28 November, with the words of today that mean the same."""

RULE, CALIBRATION, READING, RUNS, WORD, NEW = "rule", "calibration", "reading", "runs", "word", "new"
SKEWNESS = "skewness"
REASONS = (RULE, READING, CALIBRATION, RUNS, SKEWNESS)

FRESH = "5"
"""Level of a verdict of a fresh experiment [%]."""


def rows(file: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def published() -> dict[str, dict[str, list[dict[str, str]]]]:
    """Published points by paper and claim."""
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    for file in sorted((DOCS / "papers").glob("*/claims.csv")):
        for r in rows(file):
            found.setdefault(file.parent.name, {}).setdefault(r["claim"], []).append(r)
    return found


def said(points: Sequence[Row]) -> str:
    """The verdict of a claim, with the detail on which it depends."""
    r = points[0]
    return f"{r['verdict']} on {r['hangs_on']}" if r["verdict"] == "depends" else r["verdict"]


def without_skewness(points: Sequence[Row]) -> str:
    """The verdict by Student's t alone."""
    ((_, _, verdict, *_),) = recompute.compare([{**p, "skewness": ""} for p in points])
    return verdict


def moved_by(before: str, points: Sequence[Row], last: str = "") -> str:
    """Reason why a verdict has changed since 28 November; empty if it has not.

    Args:
        before: The verdict of 28 November.
        points: The points of today.
        last: The verdict of 30 November, by the points of 28 November.
    """
    now = points[0]["verdict"]
    if not before:
        return NEW
    if before == now:
        return ""
    if points[0]["level_percent"] == FRESH:
        return RUNS
    if now == "depends" and last != now:
        return READING
    if last and last != now:
        return RUNS if without_skewness(points) == now else SKEWNESS
    if now in SAME.get(before, ()):
        return WORD
    if now == "depends":
        return READING
    # Points that have chosen the model no longer say how large the effect is.
    is_sized = before == "confirmed, effect size differs" and any(p["answer"] == "calibration" for p in points)
    return CALIBRATION if now == "calibration" or is_sized else RULE


def page() -> str:
    """The page."""
    before = {r["claim"]: r for r in rows(BEFORE)}
    now = published()
    claims = {c: points for of_paper in now.values() for c, points in of_paper.items()}
    days = ("on_28_november", "on_30_november")
    known = {c: [before.get(c, {}).get(day, "") for day in days] for c in claims}
    moved = {c: moved_by(known[c][0], points, known[c][1]) for c, points in claims.items()}
    counts = Counter(moved.values())
    added = [c for c in claims if not before[c]["on_24_november"]]
    dropped = [c for c, r in before.items() if r["on_24_november"] and c not in claims]
    undecided = sum(points[0]["verdict"] == "undecided" for points in claims.values())
    in_all = sum(counts[reason] for reason in REASONS)
    lines = [
        "# Verdicts before and now",
        "",
        f"**{in_all} of {len(claims)} verdicts have changed since 28 November 2026: {counts[RULE]} because of a new"
        f" rule, {counts[READING]} because another reading of the paper reverses them, {counts[CALIBRATION]} because"
        f" their numbers have chosen the model, {counts[RUNS]} because of new runs, {counts[SKEWNESS]} because"
        f" tests are corrected for skewness.** {counts[WORD]} more have a new word with the same meaning. {undecided}"
        " are undecided.",
        "",
        "- *Rule*: to contradict a claim takes as many points as to confirm it, more than half; a claim that holds in"
        " some groups and fails in others is mixed; a claim that joins several statements is judged statement by"
        " statement.",
        "- *Reading*: the claim [depends](../papers.md#verdicts) on a detail that the paper leaves open; `unknowns.csv`"
        " beside the claims has the effects of both readings.",
        "- *Calibration*: the paper's numbers have chosen the model, as tables of the choice record; they cannot judge"
        " it.",
        "- *Skewness*: runs with the same seeds were made again, because the published points of 28 November have no"
        " skewness in `claims.csv`; by Student's t alone the verdict would be as before.",
        "- *Word*: *contradicted* is now *opposite* or *no effect*; *indistinguishable* is *undecided*; *depends* on a"
        " group is *mixed*.",
        "",
        f"Since 24 November {', '.join(dropped)} has been dropped, and {len(added)} claims are new:"
        f" {', '.join(added)}. P1-T1-10 now asks another question. On 24 November *contradicted* needed a third of the"
        " points, and *confirmed, not everywhere* more than half.",
        "",
        "[papers.md](../papers.md#verdicts) has the rule, which was committed before it was applied to any verdict;"
        " `python reproductions/experiments/verdicts/recompute.py` recomputes all verdicts from the published points,"
        " and `python reproductions/experiments/verdicts/verdicts.py` writes this page.",
        "",
        "## Changes, by reason",
        "",
    ]
    for reason in REASONS:
        names = [
            f"{c} ({before[c]['on_28_november']}, now {said(claims[c])})" for c, by in moved.items() if by == reason
        ]
        lines += [f"**{reason.capitalize()}**, {len(names)}: {'; '.join(names) or 'none'}.", ""]
    for paper, of_paper in now.items():
        lines += [f"## {paper}", "", f"[The page]({paper}.md).", ""]
        lines += ["| claim | 24 November | 28 November | now | reason |", "|---|---|---|---|---|"]
        for c, points in of_paper.items():
            r = before[c]
            shown = said(points) if not moved[c] else f"**{said(points)}**"
            lines.append(
                f"| {c} | {r['on_24_november'] or '-'} | {r['on_28_november'] or '-'} | {shown} | {moved[c]} |"
            )
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
