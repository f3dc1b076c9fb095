"""Puts what a command wrote at full length into these pages: ``python docs/publish.py results/NAME``.

From ``paper.md`` and its figures come ``docs/papers/NAME.md`` and small pictures beside it, from ``validation.md``
comes ``docs/validation-NAME.md``; that of the first paper is ``docs/validation.md``.
"""

import re
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
WIDTH = 900
"""Width of the pictures [pixels]."""

COLOURS = 128

FIRST = "elrakabawy2005"
"""The paper whose validation stands alone."""

NOTE = """
This page is written by `chappe paper {name}` at full length; [papers.md](../papers.md) says how the runs are made and
how claims are judged. The same command draws the figures as PDF and SVG and writes their numbers as CSV.
"""


def small(picture: Path) -> bytes:
    """A picture as wide as a page, in few colours."""
    with Image.open(picture) as whole:
        size = (WIDTH, round(whole.height * WIDTH / whole.width))
        reduced = (
            whole.convert("RGB")
            .resize(size, Image.Resampling.LANCZOS)
            # The usual method takes the colours of thin lines for one.
            .quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
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
        if "Shortened runs" in text:
            raise SystemExit(f"{page} is of short runs: leave --quick out")
        pictures = docs / "papers" / name
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in re.findall(r"\]\((\w+\.png)\)", text):
            (pictures / picture).write_bytes(small(results / picture))
        text = re.sub(r"\]\((\w+\.png)\)", rf"]({name}/\1)", text)
        title, rest = text.split("\n", 1)
        (docs / "papers" / f"{name}.md").write_text(f"{title}\n{NOTE.format(name=name)}{rest}", encoding="utf-8")
    validation = results / "validation.md"
    if validation.exists():
        own = "validation.md" if name == FIRST else f"validation-{name}.md"
        (docs / own).write_text(validation.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    publish(Path(sys.argv[1]), HERE)
