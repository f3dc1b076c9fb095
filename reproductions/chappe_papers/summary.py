"""Results at a glance: verdicts on the conclusions of each paper, from its last run of full length."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from html import escape
from pathlib import Path

from chappe import text as show

from chappe_papers.judging.advice import Outcome
from chappe_papers.judging.words import Verdict
from chappe_papers.pages import answers
from chappe_papers.pages.files import write_csv
from chappe_papers.pages.page import ADVICE, JudgedFinding, Unknown, counted, table
from chappe_papers.paper import Paper

UNKNOWNS = "unknowns.csv"
"""File in the package of a paper: the details that it leaves open, with the effects of claims in both readings."""

FILE = "findings.csv"
"""Of a paper, in its folder of results and, of runs of full length, in its package."""

_COLUMNS = tuple(f.name for f in fields(JudgedFinding))
_CLAIM = "a claim"


@dataclass(frozen=True)
class Shipped:
    """Results of the last run of full length of a paper.

    Attributes:
        findings: Its conclusions; none if there was no such run.
        claims: The outcome of each claim, by its name.
    """

    findings: Sequence[JudgedFinding] = ()
    claims: Mapping[str, Outcome] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each conclusion, and of each claim by its name."""
        return {f.says: f.verdict for f in self.findings} | {c: o.verdict for c, o in self.claims.items()}

    @property
    def counted(self) -> str:
        """Number of claims by verdict."""
        return counted(counts(o.verdict for o in self.claims.values()))

    def explains(self, says: str, verdict: str) -> bool:
        """True if a conclusion, or a claim, came out like this; then the reasons that the package gives are its own."""
        return not self.verdicts or self.verdicts.get(says) == verdict


def counts(verdicts: Iterable[str]) -> dict[str, int]:
    """Number of claims by verdict."""
    counted_verdicts = Counter(map(Verdict.of, verdicts))
    return {v.value: counted_verdicts[v] for v in Verdict if counted_verdicts[v]}


def write(path: Path, findings: Iterable[JudgedFinding], claims: Mapping[str, Outcome]) -> None:
    """Writes the findings of a paper, and the outcome of each of its claims."""
    of_claims = (JudgedFinding(_CLAIM, "", o.effects, o.verdict, "", name) for name, o in claims.items())
    write_csv(path, _COLUMNS, [*map(astuple, findings), *map(astuple, of_claims)])


def shipped(paper: Paper) -> Shipped:
    """Results of the last run of full length of a paper that the package contains."""
    path = paper.folder.joinpath(FILE)
    if not path.is_file():
        return Shipped()
    rows = [JudgedFinding(**r) for r in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    claims = {r.claims: Outcome(r.verdict, r.ours) for r in rows if r.says == _CLAIM}
    return Shipped([r for r in rows if r.says != _CLAIM], claims)


def answered(paper: Paper) -> list[answers.Answer]:
    """Answers of the additions to a paper, of their last runs of full length, that the package contains."""
    return answers.read(paper.folder.joinpath(answers.FILE))


def unknowns(paper: Paper) -> list[Unknown]:
    """Details that a paper leaves open and that reverse its claims, from the file in its package."""
    path = paper.folder.joinpath(UNKNOWNS)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.is_file() else []
    found = []
    for name in dict.fromkeys(r["unknown"] for r in rows):
        own = [r for r in rows if r["unknown"] == name]
        r = own[0]
        shown = f"{r['of']}: {r['main']} ({r['main_reading']}), {r['other']} ({r['other_reading']})"
        found.append(Unknown(name, ", ".join(dict.fromkeys(row["claim"] for row in own)), shown))
    return found


def robust(findings: Iterable[JudgedFinding], hanging: Iterable[Unknown]) -> list[str]:
    """Decided conclusions none of whose claims depends on a detail that the paper leaves open."""
    on = {c for u in hanging for c in u.claims.split(", ")}
    decided = (f for f in findings if Verdict.of(f.verdict).confirms or Verdict.of(f.verdict).fails)
    return [f'"{f.says}": {f.verdict}' for f in decided if not on & set(f.claims.split(", "))]


def print_all(papers: Sequence[Paper]) -> None:
    """Prints the papers that can be reproduced, and the verdicts on their conclusions."""
    t = show.table("Paper", "figures", "tables", "~title")
    for p in papers:
        parts = (f"{min(numbers)}-{max(numbers)}" if numbers else "-" for numbers in (p.figures, p.tables))
        t.add_row(p.name, *parts, p.title)
    show.write(t)
    for p in papers:
        results = shipped(p)
        if results.findings:
            show.say(p.name, style="bold")
            show.say(f"Setup: {p.setup}. Claims: {results.counted}.")
            t = show.table("~the paper concludes", "paper", "here", "verdict", "~why")
            for r in results.findings:
                t.add_row(r.says, r.paper, r.ours, r.verdict, r.why)
            show.write(t)


def html(paper: Paper) -> str:
    """A paper and the verdicts on its conclusions, for notebooks."""
    results = shipped(paper)
    columns = ("the paper concludes", "paper", "here", "verdict", "why")
    rows = [(r.says, r.paper, r.ours, r.verdict, r.why) for r in results.findings]
    about = f"<p>{escape(paper.title)}</p><p>{escape(f'Setup: {paper.setup}. Claims: {results.counted}.')}</p>"
    return f"<div><p><b>Paper: {escape(paper.name)}</b></p>{about}{_table_of(columns, rows) if rows else ''}</div>"


def _table_of(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(v)}</td>" for v in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def page(papers: Sequence[Paper]) -> str:
    """``docs/findings.md``."""
    every = [shipped(p) for p in papers]
    conclusions = [r for results in every for r in results.findings]
    claims = [o.verdict for results in every for o in results.claims.values()]
    confirmed = sum(Verdict.of(r.verdict).confirms for r in conclusions)
    lines = [
        "# Results at a glance",
        "",
        f"**{confirmed} of {len(conclusions)} conclusions of the papers are confirmed.** Of"
        f" {len(claims)} claims: {counted(counts(claims))}. A claim is judged at all its points together; the"
        " probability of any wrong decision is at most 5 %.",
        "",
        "The tables have the verdicts on the conclusions of each paper, from full-length runs. *Confirmed*, *opposite*"
        " and *no effect* need more than half of the points of a claim, and none on the other side. *Opposite*: the"
        " effect significantly has the other direction; *no effect above x*: a larger effect is excluded, and x is half"
        " of the paper's smallest, or 5 % (Chappe's) if the paper gives no number; *mixed*: the claim holds in some"
        " groups or points and fails in others; *depends*: another reading of a detail that the paper leaves open"
        " reverses the verdict; *calibration*: the paper's numbers have chosen the model, and cannot judge it."
        " [papers.md](papers.md#verdicts) has the rule; `chappe paper` prints a short form."
        " [abstracts.md](papers/abstracts.md) names the claims that judge each sentence of abstracts and conclusions.",
        "",
    ]
    for p in papers:
        results = shipped(p)
        lines += [
            f"## {_short(p)}",
            "",
            f"Setup: {p.setup}. Claims: {results.counted}.",
            "",
            *answers.leading(answered(p), f"papers/{p.name}/"),
        ]
        lines += table(
            ("the paper concludes", "number of", "paper", "here", "verdict", "why"),
            [(r.says, r.of, r.paper, r.ours, f"**{r.verdict}**", r.why) for r in results.findings],
        )
        lines += [f"[The whole page](papers/{p.name}.md), `chappe paper {p.name}`.", ""]
    lines += [
        f"## {ADVICE}",
        "",
        "The recommendation of each paper, and ours with the verdicts on which it is based.",
        "",
    ]
    for p in papers:
        lines += [f"### {_short(p)}: advice", "", *(f"- {line}" for line in p.advice.lines(shipped(p).claims)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _short(paper: Paper) -> str:
    """Authors and year."""
    return f"{paper.title.split(':')[0]} {paper.title[-4:]}"


def in_short(papers: Sequence[Paper]) -> str:
    """The table of the README."""
    rows = []
    for p in papers:
        results = shipped(p)
        n = sum(Verdict.of(r.verdict).confirms for r in results.findings)
        page_ = f"[{p.name}](reproductions/docs/papers/{p.name}.md)"
        rows.append((page_, p.setup, f"{n} of {len(results.findings)}", results.counted))
    return "\n".join(table(("paper", "setup", "conclusions confirmed", "claims"), rows))
