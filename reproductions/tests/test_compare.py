"""The engine of all comparisons with other simulators."""

import math
from collections.abc import Iterator
from pathlib import Path

import chappe
import pytest
from chappe import text as show
from chappe.stats import Estimate
from chappe.study import RunCache
from chappe.text import Table
from chappe_papers.pages.files import write_csv
from chappe_papers.pages.page import table
from chappe_papers.validation.compare import Validation, difference_from_one, groups, joined, origin, percent, relative


def test_parts_of_a_page() -> None:
    assert joined(["# Title", ""], [], table(("a", "b"), [("1", "")]), ["end"]) == (
        "# Title\n\n| a | b |\n|---|---|\n| 1 |  |\n\nend\n"
    )
    assert percent(-0.0312) == "-3.1 %"
    assert origin("validate some") == (
        f"Written by `chappe validate some` with Chappe {chappe.__version__}, results epoch {chappe.RESULTS_EPOCH}."
    )


def test_relative_differences_to_nothing() -> None:
    assert [relative(*pair) for pair in ((3, 2), (0, 2), (0, 0), (1, 0), (math.inf, math.inf))] == [
        0.5, -1.0, 0.0, math.inf, 0.0,
    ]  # fmt: skip
    assert [percent(relative(ours, 0)) for ours in (0, 1)] == ["+0.0 %", "+inf %"]


def test_groups_keep_the_order() -> None:
    assert groups(["bee", "ant", "bat"], lambda word: word[0]) == {"b": ["bee", "bat"], "a": ["ant"]}


def test_one_run_beside_several() -> None:
    ours = [1.0, 2.0, 3.0]
    e = difference_from_one(5.0, Estimate.of(ours))
    assert (e.mean, e.df) == (-3, 2)
    # A prediction interval: the standard deviation times the root of 1 + 1/n.
    assert math.sqrt(e.variance) == pytest.approx(1.0 * math.sqrt(1 + 1 / 3))
    assert e.variance == Estimate.of(ours).variance * 4


class Small(Validation):
    """A comparison of one number, without runs."""

    header = ("case", "ours")

    def run_cache(self, folder: Path | str, jobs: int | None) -> RunCache:
        return RunCache(folder, chappe.Scenario.chain(1, stop="1 s"), ["hops"], jobs=jobs)

    def compare(self, runs: RunCache) -> list[tuple[str, float]]:
        assert runs.made == 0
        return [("chain", 1.5)]

    def rows(self, found: list[tuple[str, float]], /) -> list[tuple[str, float]]:
        return found

    def page(self, found: list[tuple[str, float]], jobs: int | None, /) -> str:
        return f"# {len(found)} page, {jobs} job\n"

    def tables(self, found: list[tuple[str, float]], /) -> Iterator[Table]:
        t = show.table("case")
        for case, _ in found:
            t.add_row(case)
        yield t

    def answers(self, found: list[tuple[str, float]], /) -> list[str]:
        return [f"{len(found)} of 1 agrees."]


def test_files_and_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Small().validate(tmp_path, jobs=1) == 0
    assert (tmp_path / "validation.csv").read_text() == "case,ours\nchain,1.5\n"
    assert (tmp_path / "validation.md").read_text() == "# 1 page, 1 job\n"
    said = capsys.readouterr().out
    assert said.splitlines()[-2] == "1 of 1 agrees."
    assert "validation.md with every value and the reasons of differences, validation.csv." in " ".join(said.split())


def test_unknown_numbers_are_empty_cells(tmp_path: Path) -> None:
    """Also those that were written as text."""
    inf, nan = float("inf"), float("nan")
    write_csv(tmp_path / "a.csv", ["a", "b"], [[1.5, nan], [inf, repr(-inf)], ["nan", "inflated"], [None, 0]])
    assert (tmp_path / "a.csv").read_text() == "a,b\n1.5,\n,\n,inflated\n,0\n"
