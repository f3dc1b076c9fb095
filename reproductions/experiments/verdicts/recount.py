"""Counts the published verdicts anew by the rule of today, without any run.

``python reproductions/experiments/verdicts/recount.py`` reads ``docs/papers/*/claims.csv`` and writes it again, with
``findings.csv`` (in the package, too) and the parts of the pages that follow from verdicts. Effects and intervals stay
as they were measured. Then ``reproductions/docs/publish.py`` and ``quality.py`` write the pages of all papers.

``recount.py results/su2008 ...`` first takes points of new runs from these folders: those of fresh experiments from
``fresh.csv``, those of claims that were judged again from ``again.csv``.
"""

import argparse
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import chappe_papers
import planned
import recorded
from chappe_papers import reproduce, summary
from chappe_papers.judging import decide
from chappe_papers.judging.advice import Outcome
from chappe_papers.judging.judge import LEVEL, Answer
from chappe_papers.pages import answers as answers_of
from chappe_papers.pages import page
from chappe_papers.pages.files import write_csv
from chappe_papers.paper import Paper
from recorded import DOCS, Row

Answers = Mapping[str, Answer]


def claims(paper: Paper, answers: Answers, rows: Mapping[str, Sequence[Row]]) -> None:
    """Writes the points with their decisions."""
    lines = []
    for c in paper.all_claims:
        a = answers[c.id]
        points = iter(zip(a.observations, a.decided, strict=True))
        for r in rows[c.id]:
            o, d = next(points) if r["answer"] else (None, None)
            row = dict.fromkeys(reproduce.CLAIM_COLUMNS, "") | {k: r.get(k, "") for k in reproduce.CLAIM_COLUMNS}
            row |= {"verdict": a.verdict.value, "condition": a.word.condition, "hangs_on": c.hangs, "says": c.says}
            row["size"] = a.size.value if a.size else ""
            row["notes"] = _notes(r["notes"], a)
            row["level_percent"] = f"{100 * a.level:g}"
            if o is not None and d is not None:
                row["sub_claim"] = c.first if a.word.parts and not o.sub_claim else o.sub_claim
                row |= {
                    "zero": f"{o.form.offset:g}",
                    "test": o.test,
                    "least_effect": o.least,
                    "single_runs": d.spread or r.get("single_runs", ""),
                }
                for name, limit in zip(("from", "to"), o.limits, strict=True):
                    value = limit * o.form.scale + o.form.offset
                    row[name] = "" if value != value else f"{value:.12g}"
                row |= {"doubt": o.doubt, "answer": d.decision.value}
            lines.append([row[k] for k in reproduce.CLAIM_COLUMNS])
    write_csv(DOCS / paper.name / "claims.csv", reproduce.CLAIM_COLUMNS, lines)


def _notes(before: str, a: Answer) -> str:
    """Notes on an answer; how many runs an undecided claim takes is known from the runs alone."""
    takes = [note for note in before.split("; ") if re.search("runs would (not )?decide it", note)]
    return "; ".join(reproduce.notes_on(a, "" if _is_fresh(a) else "".join(takes)))


def _is_fresh(answer: Answer) -> bool:
    """True if the claim was judged by its fresh experiment: once, at the whole level."""
    return answer.looks == 1


def findings(
    paper: Paper, answers: Answers, moved: Collection[str]
) -> tuple[list[page.JudgedFinding], dict[str, Outcome]]:
    """The conclusions and the outcome of each claim; numbers are the published ones, but of claims that moved."""
    before = summary.shipped(paper)
    numbers = {f.says: f.ours for f in before.findings}
    judged = [f.judged(dict(answers)) for f in paper.findings]
    judged = [j if f.claims[0] in moved else replace(j, ours=numbers[f.says])
              for f, j in zip(paper.findings, judged, strict=True)]  # fmt: skip
    outcomes = {c: Outcome(a.reported, a.effects if c in moved else before.claims[c].effects)
                for c, a in answers.items()}  # fmt: skip
    for path in (DOCS / paper.name / summary.FILE, Path(str(paper.folder)) / summary.FILE):
        summary.write(path, judged, outcomes)
    return judged, outcomes


def markdown(
    paper: Paper,
    answers: Answers,
    judged: Sequence[page.JudgedFinding],
    outcomes: Mapping[str, Outcome],
    looks: Mapping[str, int],
) -> None:
    """Writes the parts of the page that follow from verdicts, with the looks at claims that had further ones."""
    path = DOCS / f"{paper.name}.md"
    text = path.read_text(encoding="utf-8")
    note_of = re.escape(reproduce.FULL.partition(" (")[0])
    _, note, rest = re.split(rf"^({note_of}.*)$", text, maxsplit=1, flags=re.MULTILINE)
    counts = page.counted(summary.counts(o.verdict for o in outcomes.values()))
    hanging = summary.unknowns(paper)
    content = page.Page(
        paper.title, note, {}, judged, None, [], "", [], [], [], [], [], [], {}, "", lead=reproduce.lead(paper),
        robust=summary.robust(judged, hanging), unknowns=hanging,
    )  # fmt: skip
    rest = re.sub(r"^Claims: .*$", lambda _: page.claims_line(counts), rest, count=1, flags=re.MULTILINE)
    rest = _looks(answers, looks, rest)
    rest = _why(paper, answers, rest)
    rest = "\n\n".join(_section(block, answers, outcomes) for block in rest.split("\n\n"))
    rest = _advice(paper, outcomes, rest)
    leading = answers_of.leading(summary.answered(paper), f"{paper.name}/")
    top = "\n".join([f"# {paper.title}", "", page.ABOUT, "", *leading, *page.first_screen(content)])
    path.write_text(f"{top}\n{note.removesuffix(page.NUMBERS).strip()} {page.NUMBERS}{rest}", encoding="utf-8")


def _looks(answers: Answers, again: Mapping[str, int], text: str) -> str:
    """Writes the number of looks at each claim, the claims with a fresh experiment, and those judged again."""
    looks = {c: times.bit_length() for c, times in recorded.further(text).items()} | dict(again)
    looks |= {c: decide.LOOKS + 1 for c, a in answers.items() if _is_fresh(a)}
    said = reproduce.sequential({c: looks[c] for c in answers if c in looks})
    skewed = [c for c, a in answers.items() if not _is_fresh(a) and any(o.effect.skewness for o in a.observations)]
    if skewed and "before results epoch 1" in text:
        said += AGAIN.format(", ".join(skewed))
    before, after = text.split(recorded.START)
    return before + said + after[after.index("\n") :]


AGAIN = (
    " Judged again by the program of epoch 1, with the same seeds, and with the correction of tests for skewness: {}. "
    "No skewness changes the other verdicts."
)
"""Note on claims that were judged again."""


def _why(paper: Paper, answers: Answers, text: str) -> str:
    """The reasons of claims that differ."""
    differences, unexplained = reproduce.why(paper, answers)
    lines = page.reasons(differences, unexplained)
    before, _, after = text.partition("## Why the results differ\n")
    return before + "\n".join(lines) + "\n" + after[after.index("## Claims\n") :]


def _section(block: str, answers: Answers, outcomes: Mapping[str, Outcome]) -> str:
    """A paragraph; the table of claims is written anew."""
    lines = block.splitlines()
    if not lines or lines[0] != "| claim | the paper says | here | ns-2 | verdict |":
        return block
    found = []
    for line in lines[2:]:
        name, _, _, ns2, _ = (cell.strip() for cell in line[1:-1].split("|"))
        if name:
            a = answers[name]
            found.append(reproduce.judged(CLAIMS[name], a, f"{a.counts}, {outcomes[name].effects}", ns2))
    return "\n".join(page.claims_table(found)).rstrip()


CLAIMS = {c.id: c for p in chappe_papers.PAPERS for c in p.all_claims}
"""All claims by their names."""


def _advice(paper: Paper, outcomes: Mapping[str, Outcome], text: str) -> str:
    """The advice."""
    before, heading, _ = text.partition(f"## {page.ADVICE}\n")
    lines = [f"- {line}" for line in paper.advice.lines(outcomes)]
    return "\n".join([before + heading, *lines]) + "\n"


def new_rows(folders: Sequence[Path]) -> dict[str, list[Row]]:
    """The rows of new runs in some folders, by claim."""
    found: dict[str, list[Row]] = {}
    for path in (folder / name for folder in folders for name in ("fresh.csv", "again.csv")):
        for row in recorded.read(path) if path.is_file() else ():
            found.setdefault(row["claim"], []).append(row)
    return found


def main() -> None:
    """Writes all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with fresh.csv or again.csv")
    folders = parser.parse_args().folders
    new = new_rows(folders)
    for paper in chappe_papers.PAPERS:
        rows = recorded.published(paper)
        rows |= {name: new[name] for name in rows if name in new}
        looks = {c: n for folder in folders for c, n in decide.Record.read(folder).looks.items() if c in rows}
        further = recorded.further((DOCS / f"{paper.name}.md").read_text(encoding="utf-8"))
        further |= {c: 2 ** (n - 1) for c, n in looks.items()}
        for c in paper.all_claims:
            is_fresh = rows[c.id][0]["level_percent"] == f"{100 * LEVEL:g}"
            planned.fill(paper, c, rows[c.id], c.fresh if is_fresh else further.get(c.id, 1))
        answers = {c.id: recorded.answer(c, rows[c.id], paper.design.full.x) for c in paper.all_claims}
        claims(paper, answers, rows)
        markdown(paper, answers, *findings(paper, answers, new), looks)
        unknowns = Path(str(paper.folder)) / summary.UNKNOWNS
        if unknowns.is_file():
            shutil.copy(unknowns, DOCS / paper.name / summary.UNKNOWNS)


if __name__ == "__main__":
    main()
