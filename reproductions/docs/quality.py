"""Writes the tables of ``docs/quality.md`` from the records: ``python reproductions/docs/quality.py``.

A row of comparisons is what its page says in bold before the first section; verdicts are those of the published claims.
"""

import os
import re
import textwrap
from collections import Counter
from pathlib import Path

import chappe_papers
from chappe_papers import summary
from chappe_papers.judging.words import Verdict

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "quality.md"
LINUX = HERE / "validation-linux.md"

COMPARISONS = {
    "validation.md": "chains, grids and random topologies with ns-2.35",
    "validation-zhou2004.md": "five connections over lossy wires, Snoop and ELN, with ns-2.35",
    "validation-ahmed2006.md": "twenty mobile nodes, SACK, ECN and link loss, with ns-2.35",
    "validation-ramarathinam2003.md": "a classroom with AODV, DSR, DSDV and batteries, with ns-2.35",
    "validation-dsr.md": "DSR between mobile nodes with ns-2.35",
    "validation-olsr.md": "OLSR over a chain, a grid and between walkers with ns-3.37",
    "validation-standard.md": "the DCF and NewReno of the preset `standard` with ns-3.37",
    "validation-sinr.md": "reception by SINR and rate control with ns-3.37",
    "validation-wifi-n.md": "802.11n and 802.11ac with ns-3.37",
    "validation-linux.md": "the preset `linux` with a kernel of Linux 6.18",
    "performance.md": "the time of a run with that of ns-2.35",
}
"""Pages of comparisons, with what is compared."""


def tables() -> dict[str, list[str]]:
    """Lines of each part that is written, by its name in the page."""
    return {"answer": answer(), "comparisons": comparisons(), "claims": claims(), "vectors": vectors()}


def answer() -> list[str]:
    """The totals in a paragraph."""
    ns2, ns3 = ([0, 0, 0], [0, 0, 0])
    counts = re.compile(r"(\d+) of (\d+) (?:further )?(values|cases) agree(?:, (\d+) of them only by)?")
    for name in COMPARISONS:
        for agree, of, what, beyond in counts.findall(_said(HERE / name)):
            total = ns2 if what == "values" else ns3
            total[0] += int(agree)
            total[1] += int(of)
            total[2] += int(beyond or 0)
    scripts = re.search(r"agrees with (\d+) of (\d+) further scripts", _said(LINUX))
    assert scripts is not None
    verdicts = [Verdict.of(o.verdict) for p in chappe_papers.PAPERS for o in summary.shipped(p).claims.values()]
    judged = [v for v in verdicts if v is not Verdict.CHOSE]
    text = (
        f"**{ns2[0]:,} of {ns2[1]:,} values of ns-2.35 agree, {ns3[0]:,} of {ns3[1]:,} cases of ns-3.37, and "
        f"{scripts[1]} of {scripts[2]} scripts of a Linux kernel, packet for packet. {ns2[2]:,} of "
        f"these values and {ns3[2]:,} of these cases agree only by an interval or a test. Of {len(judged)} claims of "
        f"five papers {sum(v.confirms for v in judged)} are confirmed, {sum(v.fails for v in judged)} fail (the "
        f"opposite, or no effect), {judged.count(Verdict.MIXED)} hold in part, {judged.count(Verdict.DEPENDS)} depend "
        f"on details that the papers leave open, and {judged.count(Verdict.OPEN)} are undecided.**"
    )
    return textwrap.wrap(text, 120)


def comparisons() -> list[str]:
    """The answer of each comparison."""
    rows = (f"| [{compared}]({_link(HERE / name)}) | {_said(HERE / name)} |" for name, compared in COMPARISONS.items())
    return ["| compared | result |", "|---|---|", *rows]


def _said(page: Path) -> str:
    """The bold text of a page before its first section."""
    head = page.read_text(encoding="utf-8").partition("\n## ")[0]
    return " ".join(" ".join(re.findall(r"\*\*(.+?)\*\*", head, re.DOTALL)).split())


def claims() -> list[str]:
    """Numbers of claims by verdict and by paper."""
    outcomes = {p.name: summary.shipped(p).claims.values() for p in chappe_papers.PAPERS}
    papers = {name: Counter(Verdict.of(o.verdict).value for o in of) for name, of in outcomes.items()}
    whole: Counter[str] = sum(papers.values(), Counter())
    known = [str(v.value) for v in Verdict]
    lines = [f"| verdict | {' | '.join(papers)} | all |", f"|---|{'---:|' * (len(papers) + 1)}"]
    lines += (
        f"| {verdict} | {' | '.join(str(of[verdict]) for of in papers.values())} | {whole[verdict]} |"
        for verdict in sorted(whole, key=known.index)
    )
    return [*lines, f"| all | {' | '.join(str(of.total()) for of in papers.values())} | {whole.total()} |"]


def vectors() -> list[str]:
    """Number of the conformance vectors of TCP."""
    rows = re.findall(r"^\| [\w-]+ \|", (HERE / "conformance.md").read_text(encoding="utf-8"), re.M)
    return [f"[{len(rows) - 1} conformance vectors of TCP]({_link(HERE / 'conformance.md')}), all of which hold."]


def _link(page: Path) -> str:
    return os.path.relpath(page.resolve(), PAGE.parent)


def written(text: str) -> str:
    """The page with the tables of today."""
    for name, lines in tables().items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}" + "\n".join(lines) + f"\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
