"""Experiments of the documentation: their scenarios are valid, and they print a row for each."""

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import chappe
import polars as pl
import pytest
from chappe.study.measure import measure

EXPERIMENTS = Path(__file__).parents[1] / "docs" / "experiments"


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXPERIMENTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def why() -> ModuleType:
    return program("why_elrakabawy")


def test_a_run_of_an_experiment(why: ModuleType) -> None:
    """Over one hop a segment is sent once, and goodput is that of the only flow."""
    found = why.Runs(packets=110, seeds=2).of(why.Point("newreno", 1), {"tcp.window": 2})
    assert found["seed"].to_list() == [1, 2]
    assert why.mean(found, "flow0") == pytest.approx(why.mean(found, "goodput_bps") / 1e3, rel=0.02)
    assert 1 <= why.mean(found, "hops") < 2.5


def printed(
    module: ModuleType, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[list[chappe.Scenario], list[str]]:
    """The scenarios of an experiment, each of which is made and the first of which is run, and the lines it prints."""
    made: list[chappe.Scenario] = []
    first: list[pl.DataFrame] = []

    def run(points: Mapping[int, chappe.Scenario], seeds: Sequence[int], **also: Any) -> dict[int, pl.DataFrame]:
        made.extend(points.values())
        if not first:
            first.append(measure(points, seeds, **also)[0])
        return {0: first[0]}

    monkeypatch.setattr(module, "measure", run)
    module.main([*arguments, "--seeds", "1"])
    return made, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("attempts", 30),
        ("habits", 44),
        ("thinned", 12),
        ("grid", 40),
        ("paced", 22),
        ("falls", 8),
        ("vegas", 14),
        ("slow_start", 8),
    ],
)
def test_experiments_print_their_tables(
    why: ModuleType, name: str, rows: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, lines = printed(why, [name, "--packets", "110"], monkeypatch, capsys)
    assert len(made) >= rows
    assert rows < len(lines) <= rows + 6
    assert len({scenario.to_toml() for scenario in made}) == len(made)


@pytest.mark.parametrize(("name", "rows"), [("timeouts", 18), ("starts", 20), ("timer", 18)])
def test_experiments_on_the_lossy_link(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, lines = printed(program("why_zhou"), [name], monkeypatch, capsys)
    assert len(made) >= rows
    assert rows < len(lines) <= rows + 2
