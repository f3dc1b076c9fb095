"""Verdicts before the rules on sizes, certain effects and conditions, and now: the page ``papers/verdicts.md``.

``python reproductions/experiments/verdicts/verdicts.py`` writes the page from the published claims
(``papers/*/findings.csv``) and ``verdicts.csv`` beside this file: the verdicts published on 24 November 2026
(commit 0bc0bc0), and by which rule or runs those moved that did.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "papers" / "verdicts.md"
BEFORE = Path(__file__).with_name("verdicts.csv")

UNDECIDED = ("undecided", "indistinguishable")
LATER = "newer runs or rules"
"""Instead of a reason, where a verdict moved and the file of reasons does not know it."""


def rows(file: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def published() -> dict[str, dict[str, str]]:
    """Published verdicts by paper and claim."""
    return {
        file.parent.name: {r["claims"]: r["verdict"] for r in rows(file) if r["says"] == "a claim"}
        for file in sorted((DOCS / "papers").glob("*/findings.csv"))
    }


def moved_by(old: dict[str, str] | None, now: str) -> str:
    """By which rule or runs a verdict moved; empty if it did not."""
    if old is None:
        return "added since"
    if old["verdict"] == now:
        return ""
    return old["moved_by"] if old["moved_to"] == now else LATER


def counted(verdicts: Sequence[str]) -> str:
    """Number of claims without a decision, of all."""
    return f"{sum(v in UNDECIDED for v in verdicts)} of {len(verdicts)}"


def page() -> str:
    """The page."""
    before = {r["claim"]: r for r in rows(BEFORE)}
    now = published()
    of_all = [verdict for verdicts in now.values() for verdict in verdicts.values()]
    moved = [c for verdicts in now.values() for c, v in verdicts.items() if c in before and before[c]["verdict"] != v]
    lines = [
        "# Verdicts before and now",
        "",
        f"**{counted(of_all)} claims are undecided, or indistinguishable**; on 24 November 2026 it was"
        f" {counted([r['verdict'] for r in before.values()])}. {len(of_all) - len(before)} claims are new, and"
        f" {len(moved)} verdicts moved.",
        "",
        "- *Smallest effect*: a claim needs half of the paper's smallest effect, or 5 %; a certainly smaller one"
        " contradicts it.",
        "- *Tested as shown*: a quotient is tested by the interval that is printed (Fieller 1954).",
        "- *Depends*: a claim that holds in some layouts, lengths or variants and not in the others.",
        "- *Single runs*: a number of one run or path is compared with single runs or paths; where these spread too"
        " far, it is indistinguishable.",
        "- *One test of all its numbers*: the numbers of Table I are tested together instead of one by one.",
        "- *It has chosen the data rate*: a number that chooses a reading judges nothing.",
        "- *Runs*: the same rules, other runs.",
        "- *Further placements*: the same rules; drawn placements, ten before, are forty. Four looks at the ten, which"
        " left the claim undecided, [are not counted](../papers.md#further-runs).",
        "- *Informed model*: the testbed with four facts that the text of the paper supports.",
        "",
        "[papers.md](../papers.md#verdicts) has the rules; `python reproductions/experiments/verdicts/verdicts.py`"
        " writes this page.",
        "",
    ]
    for paper, verdicts in now.items():
        lines += [f"## {paper}", "", f"Undecided: {counted(list(verdicts.values()))}. [The page]({paper}.md).", ""]
        lines += ["| claim | before | now | moved by |", "|---|---|---|---|"]
        for claim, verdict in verdicts.items():
            old = before.get(claim)
            was = old["verdict"] if old else "-"
            shown = verdict if was == verdict else f"**{verdict}**"
            lines.append(f"| {claim} | {was} | {shown} | {moved_by(old, verdict)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
