"""A setting is changed once by one command, words that a column never has are refused, and mistakes name their file."""

from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli
from chappe.expressions.parser import ExpressionError, parsed
from chappe.expressions.reductions import columns

SCENARIO = 'run.stop = "20 ms"\ntopology.hops = 2\nflow = [{ src = 0, dst = 2 }]\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (["tcp.variant=vegas", "tcp.variant=sack"], "tcp.variant"),
        (["tcp.variant=vegas", 'tcp={variant="sack"}'], "tcp.variant"),
        (['tcp={variant="sack"}', "tcp.variant=vegas"], "tcp.variant"),
        (["flow.0.dst=1", "flow=[{dst=2}]"], "flow"),
        (["flow=[{dst=2}]", "flow.0.dst=1"], "flow.0.dst"),
        ({"tcp": {"variant": "sack"}, "tcp.variant": "vegas"}, "tcp.variant"),
        ({"tcp.vegas.alpha": 2, "tcp": {"vegas": {"alpha": 3}}}, "tcp.vegas.alpha"),
    ],
)
def test_changes_of_one_setting(changes: Any, name: str, here: Path) -> None:
    with pytest.raises(chappe.ScenarioError, match=f"`{name}` is set twice"):
        chappe.Scenario.load("s.toml", changes)
    if isinstance(changes, list):
        options = [word for change in changes for word in ("--set", change)]
        for command in (["run"], ["check"], ["plot"], ["draw"], ["follow"]):
            assert cli.main([*command, "s.toml", *options]) == 2
        assert {p.name for p in here.iterdir()} == {"s.toml"}


def test_changes_of_several_settings(here: Path) -> None:
    for changes in (["tcp.variant=vegas", 'tcp={mss="1 kB"}'], ["flow=[{dst=2}]", "flow.0.tcp.variant=vegas"]):
        chappe.Scenario.load("s.toml", changes)
    scenario = chappe.Scenario.load(here / "s.toml")
    assert scenario.with_settings(dict(scenario)) == scenario


@pytest.mark.parametrize(
    "words",
    [
        ["run", "s.toml", "--seed", "2", "-s", "run.seed=3"],
        ["sweep", "s.toml", "--axis", "tcp.variant=sack,vegas", "-s", "tcp.variant=vegas"],
        ["sweep", "s.toml", "--axis", "tcp.variant=sack,vegas", "-s", 'tcp={variant="vegas"}'],
        ["sweep", "s.toml", "--seeds", "2", "-s", "run.seed=3"],
        ["advise", "s.toml", "--change", "tcp.mss=1 kB,tcp.mss=2 kB"],
        ["plot", "s.toml", "--what", "cwnd", "--variant", "vegas", "-s", "tcp.variant=sack"],
        ["run", "s.toml", "--measure", "x = sum(flows.timeouts)", "--measure", "x = max(flows.timeouts)"],
    ],
)
def test_one_of_two_is_not_dropped(words: list[str], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    said = capsys.readouterr()
    assert "twice" in said.err or "let one of them set it" in said.err
    assert {p.name for p in here.iterdir()} == {"s.toml"}


@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ("count(packets where packet_type = tcp_dta)", "tcp_data"),
        ("count(flows where transport = tpc)", "tcp"),
        ("count(flows where variant = vega)", "vegas"),
        ("count(flows where app != bulc)", "bulk"),
        ("sum(packet_outcomes.created where packet_class = dta)", "data"),
        ("count(rates where packet_class = dta)", "data"),
    ],
)
def test_words_that_a_column_never_has(where: str, meant: str) -> None:
    with pytest.raises(ExpressionError, match=rf"is never '\w+': did you mean `{meant}`\?"):
        parsed(where, columns())


def test_every_column_of_words_is_known() -> None:
    assert [f"{t}.{c}" for t, kinds in columns().items() for c, kind in kinds.items() if str(kind) == "String"] == []
