"""The commands of the papers and comparisons, and what notebooks show of a paper."""

import json
from pathlib import Path

import pytest
from chappe import cli
from chappe_papers import PAPERS
from chappe_papers.paper import Paper, Wanted
from small_paper import PAPER as SMALL


def test_papers_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["paper", "--json"]) == 0
    papers = {p["name"]: p for p in json.loads(capsys.readouterr().out)["papers"]}
    of_su = papers["su2008"]
    assert "vegas" not in of_su["extras"]
    assert {"says", "verdict"} <= set(of_su["findings"][0])
    assert all(claim.startswith("P2-") for claim in of_su["claims"])


def test_a_paper_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chappe_papers.PAPERS", (SMALL,))
    assert cli.main(["paper", SMALL.name, "--claim", "S-1", "--json", "-o", "p", "-j", "1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["paper"], printed["folder"]) == (SMALL.name, "p")
    (claim,) = printed["claims"]
    assert claim["claim"] == "S-1"
    assert claim["verdict"] in (tmp_path / "p" / "claims.csv").read_text()


@pytest.mark.parametrize("name", ["~", "~root", "a[b]", "a*b?"])
def test_a_paper_is_written_to_the_given_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert SMALL.reproduce(Path(name), wanted=Wanted(claim="S-1"), quick=False, jobs=1) == 0
    assert {path.name for path in tmp_path.iterdir()} == {name, "home"}
    assert {path.name for path in (tmp_path / name).iterdir()} == {"runs", "claims.csv", "index.html", "paper.md"}


@pytest.mark.parametrize("paper", [*PAPERS, SMALL], ids=lambda p: p.name)
def test_notebooks_show_the_verdicts_of_a_paper(paper: Paper) -> None:
    shown = paper._repr_html_()
    assert paper.name in shown
    assert len(shown) < 30_000
    assert "<script" not in shown
    assert shown.count("<tr>") == (1 + len(paper.findings) if paper in PAPERS else 0)
