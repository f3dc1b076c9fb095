"""The command of a paper: runs what is wanted, draws, tabulates, judges the claims, and writes the page."""

import datetime
import math
import os
import re
import resource
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__
from chappe import text as show
from chappe.cli.inputs import write_file
from chappe.stats import doubts
from chappe.study import RunCache
from chappe.text import count

from chappe_papers import summary
from chappe_papers.judging import decide, fresh
from chappe_papers.judging.advice import Outcome
from chappe_papers.judging.claims import Claim, needs
from chappe_papers.judging.judge import LEVEL, SHORT_LEVEL, UNKNOWN, Answer, Form, Observation
from chappe_papers.judging.readings import compared, paragraph
from chappe_papers.judging.words import Decided, Verdict
from chappe_papers.pages import answers as answering
from chappe_papers.pages import figures, made, page
from chappe_papers.pages.files import read_csv, write_csv
from chappe_papers.paper import Paper, Wanted
from chappe_papers.runs import runner
from chappe_papers.runs.design import SEARCHED, Length
from chappe_papers.runs.estimates import Estimates
from chappe_papers.statistics.counted import runs_of
from chappe_papers.statistics.quotients import Error, error_of

SHORT = (
    "Short runs leave claims undecided. Reasons are given only where runs of full length had the same outcome. "
    "`chappe paper {}` makes runs of full length; `chappe paper` lists their verdicts."
)
NO_ADVICE = "Advice needs runs of full length: `chappe paper {}`."
"""Instead of advice, where there were no such runs."""

PUBLISHED_ADVICE = "Advice needs runs of full length; these lines follow from the published ones."

FULL = "These verdicts come from full-length runs (`chappe paper {}`)."

_NOT_DIFFERENT = (Verdict.CONFIRMED, Verdict.OPEN, Verdict.CHOSE)
"""Verdicts with which there is no difference to explain."""

_MANY = 1000
"""A claim that needs so many times the runs is undecidable for practical purposes."""


class Clock:
    """Measures what a command costs, from when it is made."""

    def __init__(self) -> None:
        self._begun, self._spent = time.monotonic(), _spent()

    def cost(self, jobs: int | None) -> str:
        """CPU time and duration, for people."""
        at_a_time = count(jobs or os.cpu_count() or 1, "run")
        took = f"{_time(time.monotonic() - self._begun)} with {at_a_time} at a time"
        return f"{_time(_spent() - self._spent)} of CPU time, {took}"


def _spent() -> float:
    """CPU time of this process [s]."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _time(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def wanted_claims(paper: Paper, wanted: Wanted) -> list[Claim]:
    """The claims that go with what is wanted."""
    if wanted.figure is not None:
        return [c for c in paper.all_claims if wanted.figure in c.figures]
    if wanted.table is not None:
        return [c for c in paper.all_claims if wanted.table in c.tables]
    if wanted.claim is not None:
        return [c for c in paper.all_claims if c.id == wanted.claim]
    return list(paper.all_claims) if wanted.all else []


def points(paper: Paper, wanted: Wanted, length: Length) -> dict[object, None]:
    """The points that are needed for what is wanted."""
    x = length.x
    needed: dict[object, None] = {}
    for n in wanted.of(paper.figures, wanted.figure):
        needed |= needs(paper.charts[n].values, x)
    for n in wanted.of(paper.tables, wanted.table):
        needed |= needs(paper.sheets[n].made_of, x)
    for c in wanted_claims(paper, wanted):
        asked = c.needs(x)
        needed |= asked
        if wanted.all and length is paper.design.full:
            for change in paper.readings.values():
                needed |= {q: None for p in asked if (q := change(p)) is not None}
    if wanted.all:
        needed |= needs(paper.key.values, x)
    for name in wanted.of(paper.extras, wanted.extra):
        needed |= dict.fromkeys(paper.additions[name].points(length))
    return needed


def reproduce(
    paper: Paper,
    folder: Path,
    *,
    wanted: Wanted,
    quick: bool,
    jobs: int | None,
    decide_s: float | None = None,
    first_seed: int = 1,
) -> int:
    """Runs what is wanted, prints and writes figures and tables, judges the claims.

    Args:
        paper: The paper.
        folder: Folder for the results.
        wanted: The part that is wanted.
        quick: True for short runs.
        jobs: Parallel runs; ``None``: one per core.
        decide_s: CPU time for further runs of undecided claims, all commands in this folder together [s]; ``None``:
            the planned runs only.
        first_seed: Seed of the first run of each point. Verdicts of other runs are repetitions of the published ones.
    """
    design = paper.design
    length = design.quick if quick else design.full
    clock = Clock()
    print(f"{paper.title}\n", flush=True)
    asked = (paper.name, wanted, quick, decide_s, first_seed)
    if (said := made.unchanged(folder, asked)) is not None:
        for line in said:
            show.say(line)
        show.say(f"Nothing was made again: {folder} has the results of these runs, made by this program.")
        return 0
    made.begin(folder)
    needed = points(paper, wanted, length)
    claims = wanted_claims(paper, wanted)
    before = decide.Record({}) if decide_s is None else decide.Record.read(folder)
    decided: list[str] = []
    with design.run_cache(folder, jobs) as runs:
        done = runner.run(design, needed, length, runs, first_seed=first_seed)
        ours, ns2 = done.table(needed), design.ns2()
        answers = {c.id: c.judged(ours, quick) for c in claims}
        if decide_s is not None:
            began_s = _spent()
            looks = decide.Looks(design, claims, ours, runs, before.looks)
            looks.decide(decide_s - before.cpu_s, _spent)
            answers = looks.answers
            decided = [c for c, n in looks.of.items() if n > 1 and answers[c].verdict is not Verdict.OPEN]
            of, took_s = {**before.looks, **looks.of}, _spent() - began_s if looks.is_further else 0.0
            decide.Record(of, before.cpu_s + took_s).write(folder)
    sheets = [
        figures.sheet(f"table{n}", f"Table {n}: {paper.sheets[n].title}", paper.sheets[n], ours, ns2, folder)
        for n in wanted.of(paper.tables, wanted.table)
    ]
    drawn = [
        figures.figure(f"figure{n}", f"Figure {n}: {paper.charts[n].title}", paper.charts[n], paper.legend, ours, ns2,
                       folder)
        for n in wanted.of(paper.figures, wanted.figure)
    ]  # fmt: skip
    answered: list[answering.Answer] = []
    for name in wanted.of(paper.extras, wanted.extra):
        more, tables = paper.additions[name].write(done, ours, ns2, folder)
        drawn, sheets = [*drawn, *more], [*sheets, *tables]
        answered += paper.additions[name].answered(paper.name, ours)
    theirs = {c.id: c.judged(ns2) for c in claims}
    key = figures.figure("key", paper.key.title, paper.key, paper.legend, ours, ns2, folder) if wanted.all else None
    # A reason is that of a verdict: short runs with another one have none.
    full = summary.shipped(paper) if quick else summary.Shipped()
    findings = [f.judged(answers) for f in paper.findings] if wanted.all else []
    findings = [f if full.explains(f.says, f.verdict) else replace(f, why="") for f in findings]
    written = write_files(done, claims, answers, theirs, findings, folder)
    if answered:
        answering.write(folder / answering.FILE, answered)
    unknowns = paper.folder.joinpath(summary.UNKNOWNS)
    if wanted.all and unknowns.is_file():
        write_file(folder / summary.UNKNOWNS, unknowns.read_bytes())
        written.append(summary.UNKNOWNS)
    explained = {c: a for c, a in answers.items() if full.explains(c, a.reported)}
    differences, unexplained = why(paper, explained) if wanted.all else ([], "")
    facts = {
        "Chappe": f"{__version__}, results epoch {RESULTS_EPOCH}",
        "runs": f"{len(runs.frames):,}",
        **({"seeds": f"from {first_seed} on, where the method says from 1 on"} if first_seed > 1 else {}),
        # There are none where no node has a radio.
        **({"frames simulated": f"{frames:,}"} if (frames := sum(runs.frames.values())) else {}),
    }
    by_number = dict(zip(wanted.of(paper.figures, wanted.figure), drawn, strict=False))
    beside_claims = sections(claims, answers, theirs, by_number)
    content = page.Page(
        title=paper.title,
        note=(SHORT if quick else FULL).format(paper.name + ("" if decide_s is None else " --decide TIME")),
        counts=summary.counts(a.verdict.value for a in answers.values()),
        findings=findings,
        key=key,
        differences=differences,
        unexplained=unexplained,
        sections=beside_claims,
        readings=other_readings(paper, claims, ours, answers) if wanted.all and not quick else [],
        figures=[f for f in drawn if not any(f in s.figures for s in beside_claims)],
        sheets=sheets,
        files=written,
        method=[
            *design.method(done),
            *([sequential(looks.of)] if decide_s is not None else []),
            _multiplicity(len(paper.all_claims), SHORT_LEVEL if quick else LEVEL),
        ],
        facts=facts,
        scenario=design.text(),
        lead=lead(paper) if wanted.all else "",
        robust=summary.robust(findings, summary.unknowns(paper)) if wanted.all else (),
        unknowns=summary.unknowns(paper) if wanted.all else (),
        advice=_advice(paper, full.claims if quick else _outcomes(answers)) if wanted.all else (),
        advice_note=_advice_note(paper, full) if wanted.all and quick else "",
        published=full.verdicts,
        published_counts=summary.counts(full.verdicts[c.id] for c in claims if c.id in full.claims),
        answers=answered,
    )
    page.write(folder / "index.html", content)
    rest = "" if runs.made == len(runs.frames) else ", the others were available"
    executed = f"{runs.made:,} of {len(runs.frames):,} were made{rest}"
    dated = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "cost": clock.cost(jobs)}
    page.write_markdown(folder / "paper.md", replace(content, facts={**facts, "runs": executed, **dated}))
    said = []
    if decide_s is not None:
        named = ", ".join(f"{c} ({answers[c].reported})" for c in decided)
        said.append(f"Decided by further runs: {named or 'none'}.")
    if wanted.all:
        said += [*page.conclusions(content), f"Claims: {content.counted}.", content.note.replace("`", "")]
    for line in said:
        show.say(line)
    if not wanted.all:
        _say(claims, answers, theirs)
    for answer in answered:
        show.say(f"{answer.question} {answer.text}")
    show.say(f"Runs: {executed}. They are kept in {folder / RunCache.FOLDER}.")
    show.say(f"Cost: {dated['cost']}.")
    pictures = [*drawn, *([key] if key is not None else [])]
    show.say(f"Written to {folder}: {_files(pictures, sheets, written)}.")
    if wanted.all:
        made.end(folder, asked, said)
    return 0


def judge_anew(paper: Paper, folder: Path, name: str, jobs: int | None) -> int:
    """Makes the fresh experiment of a claim, prints its outcome, and writes its points to ``fresh.csv``.

    Args:
        paper: The paper.
        folder: Folder for the results. Other claims in its ``fresh.csv`` stay.
        name: The claim, which declares such an experiment.
        jobs: Parallel runs; ``None``: one per core.
    """
    clock = Clock()
    claim = next(c for c in paper.all_claims if c.id == name)
    print(f"{paper.title}\n", flush=True)
    with paper.design.run_cache(folder, jobs) as runs:
        answers = {name: fresh.judge(paper.design, claim, runs)}
    ns2 = {name: claim.judged(paper.design.ns2())}
    path = folder / "fresh.csv"
    others = [row for row in read_csv(path) if row[0] != name] if path.exists() else []
    write_csv(path, CLAIM_COLUMNS, [*others, *claim_rows([claim], answers, ns2)])
    _say([claim], answers, ns2)
    executed = f"{runs.made:,} of {len(runs.frames):,} were made"
    show.say(f"Runs: {claim.fresh} times those planned, with new seeds; {executed}.")
    show.say(f"Cost: {clock.cost(jobs)}. Written to {path}.")
    return 0


def _files(pictures: Sequence[page.DrawnFigure], sheets: Sequence[page.WrittenSheet], others: Sequence[str]) -> str:
    """The files that were written, in words."""
    parts = ["index.html", "paper.md", *others]
    if pictures:
        what = "each figure" if len(pictures) > 1 else Path(pictures[0].png).stem
        parts.append(f"{what} as PDF, SVG, PNG and CSV")
    if sheets:
        parts.append("each table as CSV" if len(sheets) > 1 else sheets[0].csv)
    return ", ".join(parts)


def _say(claims: Sequence[Claim], answers: Mapping[str, Answer], ns2: Mapping[str, Answer]) -> None:
    """Prints the claims of a part."""
    for c in claims:
        ours = page.doubted(reported(answers[c.id]), _doubt(answers[c.id]))
        show.say(f"{c.id}: {answers[c.id].reported}", style="bold")
        t = show.table("", "~")
        t.show_header = False
        for who, what in (("paper says", c.says), ("ns-2", reported(ns2[c.id])), ("here", ours)):
            t.add_row(f"  {who}", what)
        for remark in _remarks(answers[c.id]):
            t.add_row("", remark)
        show.write(t)
    if claims:
        show.say(page.COUNTED)


def _outcomes(answers: Mapping[str, Answer]) -> dict[str, Outcome]:
    return {c: Outcome(a.reported, a.effects) for c, a in answers.items()}


def _advice(paper: Paper, outcomes: Mapping[str, Outcome]) -> list[str]:
    """Advice that follows from outcomes of runs of full length; none without any."""
    return paper.advice.lines(outcomes) if outcomes else []


def _advice_note(paper: Paper, published: summary.Shipped) -> str:
    """Note on advice for short runs."""
    return PUBLISHED_ADVICE if published.claims else NO_ADVICE.format(paper.name)


def reported(a: Answer) -> str:
    """An answer in a short cell: the numbers of points, and the effects."""
    return f"{a.counts}, {a.effects}" if a.observations else "no runs"


def sections(
    claims: Sequence[Claim],
    answers: Mapping[str, Answer],
    ns2: Mapping[str, Answer],
    drawn: Mapping[int, page.DrawnFigure],
) -> list[page.Section]:
    """The claims by sections of the paper, with the words of their sub-claims, and with figures.

    A figure stands in the section with most of the claims about it, the first of these.
    """
    by_title = []
    titles = {n: Counter(c.section for c in claims if n in c.figures).most_common(1) for n in drawn}
    for title in dict.fromkeys(c.section for c in claims):
        members = [c for c in claims if c.section == title]
        rows = [judged(c, answers[c.id], reported(answers[c.id]), reported(ns2[c.id])) for c in members]
        shown = [f for n, f in drawn.items() if titles[n] and titles[n][0][0] == title]
        by_title.append(page.Section(title, rows, shown))
    return by_title


def judged(claim: Claim, a: Answer, ours: str, ns2: str) -> page.JudgedClaim:
    """A claim in a table. If it is not confirmed, its sub-claims have rows of their own, in place of a condition."""
    verdict = a.reported if not a.word.parts or a.verdict is Verdict.DEPENDS else a.verdict.value
    parts = () if a.verdict.confirms else _parts(a)
    return page.JudgedClaim(claim.id, claim.says, ours, ns2, verdict, parts, _doubt(a))


def _doubt(a: Answer) -> str:
    """Reasons to doubt decided points, with the number of these points if they are not all; empty if none is."""
    decided = a.supports + a.contradicts
    reasons = {f"doubt {UNKNOWN}" if word == UNKNOWN else word: n for word, n in sorted(a.doubts.items())}
    return ", ".join(word if n == decided else f"{word} {n}" for word, n in reasons.items())


def _parts(a: Answer) -> tuple[page.Part, ...]:
    """The sub-claims of an answer; none of a claim with one statement."""
    own = dict.fromkeys(o.sub_claim for o in a.observations)
    named = zip(own, a.word.parts, strict=False)
    return tuple(page.Part(name, _counts(a, sub_claim), word.said) for sub_claim, (name, word) in named)


def _counts(a: Answer, sub_claim: str) -> str:
    """Numbers of points of a sub-claim that agree, contradict, and are undecided."""
    checks = [check for o, check in zip(a.observations, a.checks, strict=True) if o.sub_claim == sub_claim]
    return f"{checks.count(True)}/{checks.count(False)}/{checks.count(None)}"


def _remarks(a: Answer) -> list[str]:
    """Remarks on an answer, in addition to its numbers: the words of sub-claims or a condition, and notes."""
    parts = _parts(a)
    told = [f"{p.name} {p.counts}: {p.verdict}" for p in parts]
    is_condition = bool(a.word.condition) and (not parts or a.verdict is Verdict.DEPENDS)
    notes = [*notes_on(a, _takes(a.times_the_runs)), *doubts.meant(a.doubts)]
    return [*([a.reported] if is_condition else []), *told, *notes]


def notes_on(a: Answer, takes: str) -> list[str]:
    """The largest effect that is left possible, the runs that an undecided claim takes, and the size."""
    is_open = a.verdict is Verdict.OPEN and a.observations
    return [note for note in (a.bound, takes if is_open else "", a.sized) if note]


def _takes(times: float) -> str:
    """Number of runs that an undecided claim takes, in words."""
    if times < _MANY:
        return f"{f'about {times:.0f} times the' if times >= 2 else 'slightly more'} runs would decide it"
    return "more runs would not decide it: what is undecided lies at the limit"


def write_files(
    done: runner.Runner,
    claims: Sequence[Claim],
    answers: Mapping[str, Answer],
    ns2: Mapping[str, Answer],
    findings: Sequence[page.JudgedFinding],
    folder: Path,
) -> list[str]:
    """Writes every point of every claim, what was searched, and the findings; returns the names of the files."""
    names = []
    if claims:
        write_csv(folder / "claims.csv", CLAIM_COLUMNS, claim_rows(claims, answers, ns2))
        names.append("claims.csv")
    if searched := done.design.searches(done):
        write_csv(folder / "searches.csv", SEARCHED, searched)
        names.append("searches.csv")
    if findings:
        summary.write(folder / summary.FILE, findings, _outcomes(answers))
        names.append(summary.FILE)
    return names


_DIGITS = ".12g"
"""Format of numbers in ``claims.csv``: so many that every test can be repeated from them."""

CLAIM_COLUMNS = (
    "claim", "section", "says", "verdict", "condition", "hangs_on", "size", "notes", "level_percent", "sub_claim",
    "group", "where", "effect", "low_95", "high_95", "unit", "standard_error", "error_slope",
    "error_curvature", "degrees_of_freedom", "skewness", "runs", "doubt", "paper_low", "paper_high", "zero", "test",
    "from", "to", "least_effect", "single_runs", "answer", "ns2_effect", "ns2_answer",
)  # fmt: skip


def claim_rows(claims: Sequence[Claim], answers: Mapping[str, Answer], ns2: Mapping[str, Answer]) -> list[list[object]]:
    """Every point of every claim, in the unit in which it is printed."""
    rows: list[list[object]] = []
    for c in claims:
        a, b = answers[c.id], ns2[c.id]
        theirs, ours = _by_place(b), _by_place(a)
        size = a.size.value if a.size else ""
        notes = "; ".join(notes_on(a, _takes(a.times_the_runs)))
        head = [c.id, c.section, c.says, a.verdict.value, a.word.condition, a.hangs, size, notes, f"{100 * a.level:g}"]
        for place in dict.fromkeys((*ours, *theirs)):
            one, decided = ours.get(place, (None, None))
            other, theirs_decided = theirs.get(place, (None, None))
            some = one or other
            assert some is not None

            def printed(value: float | None, form: Form = some.form) -> str:
                return "" if value is None else f"{value * form.scale + form.offset:{_DIGITS}}"

            low, high = one.interval if one is not None else (None, None)
            error = _error(error_of(one.effect), some.form) if one is not None else [""] * 5
            runs = runs_of(one.effect) if one is not None and one.test else math.nan
            paper = some.paper or (None, None)
            name = a.first if a.word.parts and not some.sub_claim else some.sub_claim
            rows.append([
                *head, name, some.group, some.where, printed(one.effect.mean if one else None), printed(low),
                printed(high), some.form.unit, *error, runs, one.doubt if one is not None else "", printed(paper[0]),
                printed(paper[1]), printed(0.0), some.test,
                *("" if math.isnan(v) else printed(v) for v in some.limits), some.least,
                decided.spread if decided else "", decided.decision.value if decided else "",
                printed(other.effect.mean if other else None),
                theirs_decided.decision.value if theirs_decided else "",
            ])  # fmt: skip
    return rows


def _error(e: Error, form: Form) -> list[str]:
    """An error in the unit in which its effect is printed; without a slope and a curvature where it has none."""
    numbers = (
        abs(e.standard * form.scale),
        e.slope * form.scale or math.nan,
        e.curvature or math.nan,
        e.df,
        e.skewness,
    )
    return [f"{x:{_DIGITS}}" for x in numbers]


def _by_place(answer: Answer) -> dict[tuple[str, str, int], tuple[Observation, Decided]]:
    """Observations and their decisions by place and sub-claim; those of one sub-claim at one place are numbered."""
    found: dict[tuple[str, str, int], tuple[Observation, Decided]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for o, decided in zip(answer.observations, answer.decided, strict=True):
        found[o.where, o.sub_claim, seen[o.where, o.sub_claim]] = (o, decided)
        seen[o.where, o.sub_claim] += 1
    return found


def why(paper: Paper, answers: Mapping[str, Answer]) -> tuple[list[page.Difference], str]:
    """Reasons why claims or sub-claims fail: the notes on such claims, and the claims that fail without a note."""
    differing = [c for c, a in answers.items() if a.verdict not in _NOT_DIFFERENT]
    partly = [
        c for c, a in answers.items() if a.verdict is Verdict.OPEN and any(w.verdict.fails for _, w in a.word.parts)
    ]
    differences, explained = [], set()
    for n in notes(paper):
        claims = [c for c in n.claims.split(", ") if c in differing or c in partly]
        explained |= set(claims)
        if claims:
            differences.append(page.Difference(n.title, ", ".join(claims), n.text, n.command))
    return differences, ", ".join(c for c in differing if c not in explained)


def lead(paper: Paper) -> str:
    """Warning to readers at the top of a page: the notes before their first heading."""
    text = paper.folder.joinpath("notes.md").read_text(encoding="utf-8")
    return " ".join(re.split(r"^## ", text, flags=re.MULTILINE)[0].split())


def notes(paper: Paper) -> list[page.Difference]:
    """The notes of a paper: of each a title, the claims that it explains, the command that shows it, and the text."""
    differences = []
    text = paper.folder.joinpath("notes.md").read_text(encoding="utf-8")
    for block in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, *lines = block.strip().splitlines()
        head = dict(line.split(": ", 1) for line in lines if re.match(r"(claims|command): ", line))
        body = " ".join(line.strip() for line in lines if not re.match(r"(claims|command): ", line) and line.strip())
        differences.append(page.Difference(title, head.get("claims", ""), body, head.get("command", "").strip("`")))
    return differences


def other_readings(paper: Paper, claims: Sequence[Claim], ours: Estimates, answers: Mapping[str, Answer]) -> list[str]:
    """Results of other readings of the paper, each in a paragraph."""
    asked = list(compared(claims, ours, paper.readings, answers))
    return [paragraph(title, asked) for title in paper.readings]


def sequential(looks: Mapping[str, int]) -> str:
    """Note on claims that were looked at more than once."""
    more = [f"{c} {2 ** (min(n, decide.LOOKS) - 1)} times" for c, n in looks.items() if n > 1]
    anew = [c for c, n in looks.items() if n > decide.LOOKS]
    return (
        f"Undecided claims have further runs (`--decide`). Every claim is judged at most {decide.LOOKS} times, first "
        "with the planned runs, then with twice as many each time, and each time at "
        f"{100 * LEVEL / decide.LOOKS:g} %, so that the error of all is at most {100 * LEVEL:g} %. Runs, relative to "
        f"those planned: {', '.join(more) or 'no claim has more'}. A claim with {2 ** (decide.LOOKS - 1)} times the "
        "runs has had all its looks. Judged by a fresh experiment, with new seeds and by itself at "
        f"{100 * LEVEL:g} %: {', '.join(anew) or 'none'}."
    )


def _multiplicity(claims: int, at: float) -> str:
    """Note on the errors to expect when many claims are judged."""
    expected = at * claims
    return (
        f"Any decided point of a claim is wrong by chance in at most {100 * at:g} % of cases (Holm over the points of "
        f"the claim). {f'About {expected:.0f}' if expected >= 1 else 'Fewer than one'} of {claims} claims may "
        "therefore have such a point; a verdict changes only if that point tips the balance."
    )
