"""Lessons: their claims hold, their pages have all parts, and `chappe check` accepts their scenarios."""

from pathlib import Path

import pytest
from chappe import cli, page
from chappe.page import lessons
from command import REPOSITORY
from test_page import Elements

SCENARIOS = REPOSITORY / "python/chappe/page/lessons"


def goodput(runs: lessons.Runs, name: str) -> float:
    return float(runs[name].flows["goodput_bps"].to_numpy().sum())


def test_scenarios_have_no_mistakes() -> None:
    files = sorted(SCENARIOS.glob("*.toml"))
    assert {file.stem for file in files} == {lesson.scenario for lesson in lessons.LESSONS.values()}
    for file in files:
        assert cli.main(["check", str(file)]) == 0


@pytest.mark.parametrize("name", lessons.LESSONS)
def test_a_lesson_has_all_parts_and_is_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "module", lambda: page.Module(b"gzip", b"lzma"))
    made = lessons.runs_of(lessons.LESSONS[name])
    monkeypatch.setattr(lessons, "runs_of", lambda _: made)
    elements = Elements(lessons.page_of(name))
    headings = elements.texts["h2"]
    assert [h for h in ("To do", "Player", "Questions") if h in headings] == ["To do", "Player", "Questions"]
    assert sum(t == "Answer" for t in elements.texts["summary"]) == 3
    names = list(made)
    if name == "hidden-terminal":
        assert goodput(made, names[1]) > 2 * goodput(made, names[0])
        assert goodput(made, names[2]) > 2 * goodput(made, names[0])
    elif name == "chain":
        assert goodput(made, "Vegas") > goodput(made, "NewReno")
        assert goodput(made, "NewReno, window 3") > goodput(made, "NewReno")
        windows = [
            made[n].summary().filter(measure="mean_window_segments")["estimate"][0] for n in ("NewReno", "Vegas")
        ]
        assert windows[0] > windows[1]
    else:
        rows = made["AODV"].flows.row(0, named=True)
        assert rows["route_breaks"] > 0
        assert rows["timeout_wait_s"] > rows["no_route_s"]
        assert goodput(made, "DSDV") < goodput(made, "AODV")


def test_a_lesson_needs_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page, "module", lambda: None)
    assert cli.main(["teach", "hidden-terminal"]) == 2
    assert "run `make wasm`" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("with_module")
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["teach"]) == 0
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == list(lessons.LESSONS)
    assert cli.main(["teach", "hidden-terminal"]) == 0
    assert Path("hidden-terminal.html").stat().st_size > 5000
    capsys.readouterr()
    assert cli.main(["teach", "hidden-termina"]) == 2
    assert "did you mean hidden-terminal?" in capsys.readouterr().err
