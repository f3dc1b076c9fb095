"""Builds the documentation site: the pages of this folder and the records of the reproductions, the API, a gallery.

`make docs` runs this file with the tools of the site:

python docs/build_site.py [FOLDER]      the site is written to FOLDER (default: site)
"""

import ast
import html.parser
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

REPOSITORY = Path(__file__).resolve().parent.parent
SHELVES = {REPOSITORY / "docs": "", REPOSITORY / "reproductions" / "docs": "reproductions"}
"""Folders of pages, with the folders of their copies."""

TAKEN = (".md", ".svg", ".png", ".csv", ".json", ".toml", ".html")
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE = re.compile(r"^(```|~~~)")

OVERVIEW = "overview.md"
"""Copy of the README, whose own name would be that of the first page."""

OF_ROOT = {"README.md": OVERVIEW, "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
"""Pages beside this folder, with the names of their copies."""

_ROLE = re.compile(r":(?:meth|class|func|data|attr|mod|exc):(?=<)")
"""Role of a name in a docstring, which the generator does not know."""

NAV: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("index.md", OVERVIEW)),
    ("Use", ("scenarios.md", "import.md", "studies.md", "results.md", "see.md", "commands.md")),
    ("Look up", ("settings.md", "api.md")),
    (
        "Models",
        (
            "models.md",
            *(f"models/{layer}.md" for layer in ("radio", "mac", "queues", "routing", "tcp")),
            "routing.md",
            "linux.md",
            "reproductions/checks.md",
        ),
    ),
    (
        "Validation",
        (
            "quality.md",
            "reproductions/findings.md",
            "reproductions/papers.md",
            "reproductions/techniques.md",
            "reproductions/linux-mesh.md",
            "reproductions/single-frames.md",
            "reproductions/aggregation.md",
            "reproductions/minstrel-ht.md",
            "reproductions/validation.md",
            "reproductions/validation-standard.md",
            "reproductions/validation-linux.md",
            "reproductions/kernel-over-radios.md",
            "reproductions/kernel-live.md",
            "reproductions/quic.md",
            "reproductions/conformance.md",
            "reproductions/performance.md",
        ),
    ),
    ("Inside", ("design.md", "gallery.md", "CONTRIBUTING.md", "CHANGELOG.md")),
)
"""Pages of the navigation; all others are found by links and by search."""


PLAYGROUND = "playground.html"
"""Page in which scenarios are written and run."""


def main(folder: Path) -> int:
    """Builds the site and checks its links; returns the number of broken ones."""
    work = folder.with_name(f"{folder.name}-source")
    for old in (folder, work):
        shutil.rmtree(old, ignore_errors=True)
    pages = work / "docs"
    _copy(pages)
    (pages / PLAYGROUND).write_text(_playground(), encoding="utf-8")
    first = pages / "index.md"
    first.write_text(_with_playground(first.read_text(encoding="utf-8")), encoding="utf-8")
    (pages / "gallery.md").write_text(_gallery(pages / "gallery"), encoding="utf-8")
    (pages / "api.md").write_text(_api(), encoding="utf-8")
    (work / "zensical.toml").write_text(_settings(), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--clean"]
    subprocess.run(command, cwd=work, check=True)
    # The generator writes below its own folder only.
    shutil.move(work / "site", folder)
    shutil.rmtree(work)
    api = folder / "api.html"
    api.write_text(_ROLE.sub("", api.read_text(encoding="utf-8")), encoding="utf-8")
    broken = list(_broken(folder))
    for page, link in broken:
        print(f"{page}: nothing is at {link}", file=sys.stderr)
    print(f"Written to {folder}: {len(list(folder.rglob('*.html')))} pages, {len(broken)} broken links.")
    return len(broken)


def _copy(pages: Path) -> None:
    """Copies the pages and what they link to; files outside of the shelves go to ``repository``."""
    for shelf, copy in SHELVES.items():
        for path in sorted(p for p in shelf.rglob("*") if p.suffix in TAKEN):
            target = pages / copy / path.relative_to(shelf)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                target.write_text(_relinked(path, target, pages), encoding="utf-8")
            else:
                shutil.copyfile(path, target)
    for name, copy in OF_ROOT.items():
        target = pages / copy
        target.write_text(_relinked(REPOSITORY / name, target, pages), encoding="utf-8")


def _relinked(path: Path, target: Path, pages: Path) -> str:
    """Text of a page whose links lead to the copies."""
    code = False
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        code ^= bool(_FENCE.match(line.lstrip()))
        lines.append(line if code else _LINK.sub(lambda m: f"{m[1]}{_link(m[2], path, target, pages)}{m[3]}", line))
    return "\n".join(lines) + "\n"


def _link(link: str, path: Path, target: Path, pages: Path) -> str:
    parts = urlsplit(link)
    if parts.scheme or not parts.path:
        return link
    aim = (path.parent / unquote(parts.path)).resolve()
    if not aim.is_relative_to(REPOSITORY) or not aim.exists():
        return link
    of_root = {REPOSITORY / name: pages / copy for name, copy in OF_ROOT.items()}
    shelf = next((s for s in SHELVES if aim.is_relative_to(s)), None)
    if aim in of_root:
        there = of_root[aim]
    elif aim == REPOSITORY / "docs":
        there = pages / "index.md"
    elif shelf is not None and aim.suffix in TAKEN:
        there = pages / SHELVES[shelf] / aim.relative_to(shelf)
    else:
        # A file of the repository is shown as it is, and a folder as a list of its files.
        name = f"{aim.relative_to(REPOSITORY)}{'/files' if aim.is_dir() else ''}.txt"
        there = pages / "repository" / name
        there.parent.mkdir(parents=True, exist_ok=True)
        listed = "\n".join(sorted(p.name for p in aim.iterdir())) if aim.is_dir() else ""
        there.write_text(listed if aim.is_dir() else aim.read_text(encoding="utf-8"), encoding="utf-8")
    up = Path(*[".."] * len(target.parent.relative_to(pages).parts)) / there.relative_to(pages)
    return f"{up.as_posix()}{f'#{parts.fragment}' if parts.fragment else ''}"


def _gallery(folder: Path) -> str:
    """Page with the figures of the examples, which are run."""
    lines = ["# Gallery", "", "Each program of `examples` writes its figure itself; the code is below it.", ""]
    for path in sorted((REPOSITORY / "examples").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        about = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ")
        place = folder / path.stem
        subprocess.run([sys.executable, str(path), str(place)], check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        for old in (p for p in place.rglob("*") if p.is_file() and p.suffix != ".svg"):
            old.unlink()
        figures = sorted(place.glob("*.svg"))
        if not figures:
            continue
        lines += [f"## {path.stem.replace('_', ' ')}", "", about, ""]
        lines += [f"![{about}](gallery/{path.stem}/{figure.name})" for figure in figures]
        lines += ["", f'??? note "examples/{path.name}"', "", "    ```python"]
        lines += [f"    {line}".rstrip() for line in text.splitlines()] + ["    ```", ""]
    return "\n".join(lines)


def _playground() -> str:
    """The playground with the shipped scenarios that need no other files."""
    from chappe.page.playground import playground

    paths = sorted((REPOSITORY / "scenarios").glob("*.toml"), key=lambda path: (path.stem != "chain", path.stem))
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    return playground({name: text for name, text in texts.items() if '.toml"' not in text})


def _with_playground(text: str) -> str:
    """The first page with a link to the playground below its title."""
    title, rest = text.split("\n", 1)
    told = f"**[Playground]({PLAYGROUND})**: write a scenario and run it in this browser, without an installation."
    return f"{title}\n\n{told}\n{rest}"


def _api() -> str:
    """Page with the public names of the package, described by their docstrings."""
    import chappe

    names = [name for name in chappe.__all__ if not name.startswith("_") and callable(getattr(chappe, name, None))]
    lines = ["# Python", "", "What `import chappe` gives.", ""]
    for name in sorted(names, key=str.lower):
        described = getattr(chappe, name)
        lines += [f"::: {described.__module__}.{described.__qualname__}", ""]
    return "\n".join(lines)


def _settings() -> str:
    nav = ", ".join(f"{{ {json.dumps(title)} = {json.dumps(names)} }}" for title, names in NAV)
    return f"""[project]
site_name = "Chappe"
site_description = "A laboratory for TCP over wireless networks"
docs_dir = "docs"
site_dir = "site"
use_directory_urls = false
nav = [{nav}]

[project.theme]
language = "en"
font = false
features = ["content.code.copy", "navigation.sections", "navigation.top", "search.highlight", "toc.follow"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark mode"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to light mode"

[project.plugins.mkdocstrings.handlers.python]
paths = [{json.dumps(str(REPOSITORY / "python"))}]

[project.plugins.mkdocstrings.handlers.python.options]
docstring_style = "google"
show_root_heading = true
show_root_full_path = false
show_source = false
heading_level = 2
members_order = "source"
filters = ["!^_"]
"""


class _Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif (tag, name) in (("a", "href"), ("img", "src")) and value:
                self.links.append(value)


def _broken(folder: Path) -> Iterator[tuple[str, str]]:
    """Links within the site that lead nowhere, with their pages."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("/"):
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            aim = aim / "index.html" if aim.is_dir() else aim
            anchor = unquote(parts.fragment)
            if not aim.exists() or (anchor and aim in pages and anchor not in pages[aim].anchors):
                yield str(path.relative_to(folder.resolve())), link


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1] if len(sys.argv) > 1 else "site"))))
