"""Parts that all comparisons with other simulators share."""

import math
from pathlib import Path

import chappe
import pytest
from chappe import text as show
from chappe.stats import Estimate
from chappe_papers.pages.files import write_csv
from chappe_papers.pages.page import table
from chappe_papers.validation.compare import difference_from_one, finish, groups, joined, origin, percent


def test_parts_of_a_page() -> None:
    assert joined(["# Title", ""], [], table(("a", "b"), [("1", "")]), ["end"]) == (
        "# Title\n\n| a | b |\n|---|---|\n| 1 |  |\n\nend\n"
    )
    assert percent(-0.0312) == "-3.1 %"
    assert origin("validate some") == (
        f"Written by `chappe validate some` with Chappe {chappe.__version__}, results epoch {chappe.RESULTS_EPOCH}."
    )


def test_groups_keep_the_order() -> None:
    assert groups(["bee", "ant", "bat"], lambda word: word[0]) == {"b": ["bee", "bat"], "a": ["ant"]}


def test_one_run_beside_several() -> None:
    ours = [1.0, 2.0, 3.0]
    e = difference_from_one(5.0, ours)
    assert (e.mean, e.df) == (-3, 2)
    # A prediction interval: the standard deviation times the root of 1 + 1/n.
    assert math.sqrt(e.variance) == pytest.approx(1.0 * math.sqrt(1 + 1 / 3))
    assert e.variance == Estimate.of(ours).variance * 4


def test_files_and_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t = show.table("case")
    t.add_row("chain")
    assert finish(tmp_path, ["case", "ours"], [["chain", 1.5]], "# Page\n", [t], ["1 of 1 agrees."], " and why") == 0
    assert (tmp_path / "validation.csv").read_text() == "case,ours\nchain,1.5\n"
    assert (tmp_path / "validation.md").read_text() == "# Page\n"
    said = capsys.readouterr().out
    assert said.splitlines()[-2] == "1 of 1 agrees."
    assert "validation.md with every value and why, validation.csv." in " ".join(said.split())


def test_unknown_numbers_are_empty_cells(tmp_path: Path) -> None:
    """Also those that were written as text."""
    inf, nan = float("inf"), float("nan")
    write_csv(tmp_path / "a.csv", ["a", "b"], [[1.5, nan], [inf, repr(-inf)], ["nan", "inflated"], [None, 0]])
    assert (tmp_path / "a.csv").read_text() == "a,b\n1.5,\n,\n,inflated\n,0\n"
