"""Parts that have not changed are not made again."""

from pathlib import Path

import pytest
from chappe import plot
from chappe_papers.pages import made
from chappe_papers.paper import Wanted
from command import contents
from small_paper import PAPER

AGAIN = "Nothing was made again: "


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Folder of a finished command; `drawn.txt` beside it gets the name of each figure that is drawn from now on."""
    monkeypatch.setattr(plot, "FORMATS", ("svg",))
    folder = tmp_path / "results"
    command(folder)
    capsys.readouterr()
    save = plot.save

    def noted(figure: object, folder: Path, name: str) -> None:
        with (tmp_path / "drawn.txt").open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")
        save(figure, folder, name)  # type: ignore[arg-type]

    monkeypatch.setattr(plot, "save", noted)
    return folder


def command(folder: Path, quick: bool = False) -> None:
    assert PAPER.reproduce(folder, wanted=Wanted(), quick=quick, jobs=1) == 0


def drawn(results: Path) -> list[str]:
    file = results.parent / "drawn.txt"
    names = file.read_text(encoding="utf-8").split() if file.exists() else []
    file.unlink(missing_ok=True)
    return names


def test_the_same_command_says_the_same_and_makes_nothing(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(results)
    command(results)
    printed = capsys.readouterr().out
    assert "- Vegas has a higher goodput: confirmed (goodput: paper more; here +" in printed
    assert "Claims: 1 confirmed; 1 opposite." in printed
    assert f"{AGAIN}{results}" in printed
    assert contents(results) == before
    assert drawn(results) == []


def test_a_changed_file_is_made_again(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (results / "index.html").read_bytes()
    (results / "index.html").write_text("edited", encoding="utf-8")
    command(results)
    assert AGAIN not in capsys.readouterr().out
    assert (results / "index.html").read_bytes() == page
    assert drawn(results) == []
    (results / "figure1.svg").unlink()
    command(results)
    assert drawn(results) == ["figure1"]
    assert (results / "figure1.svg").exists()


def test_other_runs_and_programs_make_all_again(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command(results, quick=True)
    assert sorted(drawn(results)) == ["figure1", "key"]
    command(results)
    assert sorted(drawn(results)) == ["figure1", "key"]
    monkeypatch.setattr(made, "program", lambda: "another")
    capsys.readouterr()
    command(results)
    assert sorted(drawn(results)) == ["figure1", "key"]
    assert AGAIN not in capsys.readouterr().out


@pytest.mark.parametrize("record", ["", "[]", '{"command": 3, "figure1": []}', '{"command": {"of": 1}}'])
def test_a_damaged_record_makes_all_again(results: Path, record: str, capsys: pytest.CaptureFixture[str]) -> None:
    (results / made.RECORD).write_text(record, encoding="utf-8")
    command(results)
    assert AGAIN not in capsys.readouterr().out
    assert sorted(drawn(results)) == ["figure1", "key"]
    command(results)
    assert AGAIN in capsys.readouterr().out


def test_another_command_between_is_noticed(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert PAPER.reproduce(results, wanted=Wanted(claim="S-2"), quick=False, jobs=1) == 0
    capsys.readouterr()
    command(results)
    assert AGAIN not in capsys.readouterr().out
    assert drawn(results) == []
