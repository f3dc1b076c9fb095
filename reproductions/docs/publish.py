"""Puts what a command wrote at full length into these pages: ``python reproductions/docs/publish.py results/NAME``.

After a command for one figure or addition, ``publish.py results/NAME part`` publishes only that: its figures, tables,
and answers. Without arguments it writes ``docs/findings.md`` and the table in the README from the packages.

From ``paper.md`` and its figures come ``docs/papers/NAME.md`` and small pictures and tables beside it, from
``findings.csv`` what ``chappe paper`` prints, ``docs/findings.md`` and a table in the README; from ``validation.md``
comes ``docs/validation-NAME.md``; that of the first paper is ``docs/validation.md``.
"""

import re
import shutil
import sys
from io import BytesIO
from pathlib import Path

import chappe_papers
from chappe_papers import summary
from chappe_papers.pages import answers, page
from PIL import Image

HERE = Path(__file__).parent
WIDTH = 900
"""Width of the pictures [pixels]."""

COLORS = 128

BEGIN, END = "<!-- findings -->", "<!-- end of findings -->"
"""Between them the README has the findings in short."""

FIRST = "elrakabawy2005"
"""The paper whose validation stands alone."""


def small(picture: Path) -> bytes:
    """A picture as wide as a page, in few colors."""
    with Image.open(picture) as whole:
        size = (WIDTH, round(whole.height * WIDTH / whole.width))
        reduced = (
            whole.convert("RGB")
            .resize(size, Image.Resampling.LANCZOS)
            # The usual method takes the colors of thin lines for one.
            .quantize(COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        )
    data = BytesIO()
    reduced.save(data, "png", optimize=True)
    return data.getvalue()


def page_of(results: Path, docs: Path) -> str:
    """The page of a command, whose pictures and tables are put beside the pages."""
    path = results / "paper.md"
    text = path.read_text(encoding="utf-8")
    if "\nShort runs " in text:
        raise SystemExit(f"{path} is of short runs: leave --quick out")
    pictures = docs / "papers" / results.name
    pictures.mkdir(parents=True, exist_ok=True)
    for picture in re.findall(r"\]\((\w+\.png)\)", text):
        (pictures / picture).write_bytes(small(results / picture))
    for table in re.findall(r"\]\((\w+\.csv)\)", text):
        (pictures / table).write_bytes((results / table).read_bytes())
    return text


def publish(results: Path, docs: Path) -> None:
    """Writes the pages."""
    name = results.name
    if (results / "paper.md").exists():
        text = page_of(results, docs)
        text = re.sub(r"\]\((\w+\.(?:png|csv))\)", rf"]({name}/\1)", text)
        (docs / "papers" / f"{name}.md").write_text(text, encoding="utf-8")
    validation = results / "validation.md"
    if validation.exists():
        own = "validation.md" if name == FIRST else f"validation-{name}.md"
        (docs / own).write_text(validation.read_text(encoding="utf-8"), encoding="utf-8")


def publish_part(results: Path, docs: Path, package: Path) -> None:
    """Puts what a command for a part of a paper has written on its page, and answers into the package."""
    name = results.name
    paper = chappe_papers.find(name)
    assert paper is not None
    own = re.sub(r"\]\((\w+\.(?:png|csv))\)", rf"]({name}/\1)", page_of(results, docs))
    new = answers.read(results / answers.FILE)
    known = answers.merged(answers.read(package / answers.FILE), new, paper.extras)
    if known:
        answers.write(package / answers.FILE, known)
    path = docs / "papers" / f"{name}.md"
    text = answers.replaced(path.read_text(encoding="utf-8"), page.ABOUT, known, f"{name}/")
    linked = "|".join(re.escape(a.table) for a in known)
    text = re.sub(rf"^- \[Addition.*\]\({name}/(?:{linked})\)\n", "", text, flags=re.MULTILINE) if linked else text
    for title, table in re.findall(r"^(### .+\n\n)((?:\|.*\n)+)", own, re.MULTILINE):
        text = re.sub(rf"(?<={re.escape(title)})(?:\|.*\n)+", lambda _, table=table: table, text)
    for heading, link in (("Figures", "![Figure"), ("Figures", "![Addition"), ("Tables", "- [Addition")):
        lines = [line for line in own.splitlines() if line.startswith(link) and line not in text]
        text = text.replace(f"\n## {heading}\n\n", "\n".join((f"\n## {heading}\n", *lines, "")), 1)
    path.write_text(text, encoding="utf-8")
    (docs / "findings.md").write_text(summary.page(chappe_papers.PAPERS), encoding="utf-8")


def publish_summary(results: Path, docs: Path, package: Path) -> None:
    """Puts findings and answers into the package, and writes the pages that show those of all papers."""
    if not (results / summary.FILE).exists():
        return
    for file in (summary.FILE, answers.FILE):
        if (results / file).exists():
            shutil.copy(results / file, package / file)
    write_findings(docs)


def write_findings(docs: Path) -> None:
    """Writes the pages that show the findings of all papers."""
    (docs / "findings.md").write_text(summary.page(chappe_papers.PAPERS), encoding="utf-8")
    readme = docs.parents[1] / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(f"{before}{BEGIN}\n{summary.in_short(chappe_papers.PAPERS)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__" and len(sys.argv) == 1:
    write_findings(HERE)
elif __name__ == "__main__":
    RESULTS = Path(sys.argv[1])
    PACKAGE = Path(chappe_papers.__file__).parent / RESULTS.name
    if sys.argv[2:] == ["part"]:
        publish_part(RESULTS, HERE, PACKAGE)
    else:
        publish(RESULTS, HERE)
        if chappe_papers.find(RESULTS.name) is not None:
            publish_summary(RESULTS, HERE, PACKAGE)
