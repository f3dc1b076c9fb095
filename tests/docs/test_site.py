"""The documentation site: links of its pages lead to copies, and broken links are found. ``make docs`` builds it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from command import REPOSITORY


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_site", REPOSITORY / "docs" / "build_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_copied_with_its_links(site: ModuleType, tmp_path: Path) -> None:
    site._copy(tmp_path)
    for shelf, copy in site.SHELVES.items():
        for path in shelf.rglob("*.md"):
            assert (tmp_path / copy / path.relative_to(shelf)).is_file()
    record = (tmp_path / "reproductions" / "papers.md").read_text(encoding="utf-8")
    assert "(../studies.md#the-folder)" in record
    assert "(../../docs/" not in record
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "(CONTRIBUTING.md)" in text
    assert "../" not in text
    overview = (tmp_path / "overview.md").read_text(encoding="utf-8")
    assert "(docs/" not in overview
    assert {name for _, names in site.NAV for name in names} - {"api.md", "gallery.md"} <= {
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")
    }


def test_broken_links_are_found(site: ModuleType, tmp_path: Path) -> None:
    links = ("b.html", "b.html#there", "b.html#missing", "gone.html", "#here", "#nowhere", "https://example.org/x")
    body = "".join(f'<a href="{link}">x</a>' for link in links)
    (tmp_path / "a.html").write_text(f'<p id="here">{body}<img src="gone.svg">', encoding="utf-8")
    (tmp_path / "b.html").write_text('<h2 id="there">b</h2>', encoding="utf-8")
    found = list(site._broken(tmp_path))
    assert found == [("a.html", link) for link in ("b.html#missing", "gone.html", "#nowhere", "gone.svg")]


def test_the_api_has_the_public_names(site: ModuleType) -> None:
    text = site._api()
    for name in ("run", "sweep", "Study", "Results", "Scenario"):
        assert f".{name}\n" in text
