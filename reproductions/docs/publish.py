"""Puts what a command wrote at full length into these pages: ``python reproductions/docs/publish.py results/NAME``.

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


def publish(results: Path, docs: Path) -> None:
    """Writes the pages."""
    name = results.name
    page = results / "paper.md"
    if page.exists():
        text = page.read_text(encoding="utf-8")
        if "\nShort runs " in text:
            raise SystemExit(f"{page} is of short runs: leave --quick out")
        pictures = docs / "papers" / name
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in re.findall(r"\]\((\w+\.png)\)", text):
            (pictures / picture).write_bytes(small(results / picture))
        for table in re.findall(r"\]\((\w+\.csv)\)", text):
            (pictures / table).write_bytes((results / table).read_bytes())
        text = re.sub(r"\]\((\w+\.(?:png|csv))\)", rf"]({name}/\1)", text)
        (docs / "papers" / f"{name}.md").write_text(text, encoding="utf-8")
    validation = results / "validation.md"
    if validation.exists():
        own = "validation.md" if name == FIRST else f"validation-{name}.md"
        (docs / own).write_text(validation.read_text(encoding="utf-8"), encoding="utf-8")


def publish_summary(results: Path, docs: Path) -> None:
    """Puts the findings into the package, and writes the pages that show those of all papers."""
    name = results.name
    paper = chappe_papers.find(name)
    if paper is None or not (results / summary.FILE).exists():
        return
    shutil.copy(results / summary.FILE, Path(chappe_papers.__file__).parent / name / summary.FILE)
    (docs / "findings.md").write_text(summary.page(chappe_papers.PAPERS), encoding="utf-8")
    readme = docs.parents[1] / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(f"{before}{BEGIN}\n{summary.in_short(chappe_papers.PAPERS)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    publish(Path(sys.argv[1]), HERE)
    publish_summary(Path(sys.argv[1]), HERE)
