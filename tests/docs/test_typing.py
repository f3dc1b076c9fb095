"""A type checker knows the names and words of settings."""

from pathlib import Path

import pytest
from chappe import typing
from command import REPOSITORY
from mypy import api

PROGRAM = """\
import chappe
from chappe.typing import ScenarioLike, Settings

good: Settings = {"tcp.variant": "vegas", "topology.hops": 7, "run": {"stop": "1 s"}, "tcp.max_cwnd": "unlimited"}
word: Settings = {"tcp.variant": "vegsa"}
name: Settings = {"tcp.varient": "vegas"}
kind: Settings = {"topology.hops": "seven"}
scenario: ScenarioLike = chappe.Scenario.chain(2, good).with_settings(good)
chappe.Scenario({"run.stop": "1 s", **dict(chappe.Scenario.chain())}, base_dir=".")
chappe.run("a.toml").summary()
chappe.Scenario.chain(2).write_mobility("ways", format="gpx")
chappe.sweep(scenario, direction="up")
chappe.search(scenario, "tcp.receive_window", low=1, high=4, direction="up")
"""


def test_wrong_words_and_names_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    # With the cache of `make lint`, mypy reads the program alone.
    options = ["--config-file", "pyproject.toml", "--no-error-summary", "--hide-error-context"]
    report, _, _ = api.run([*options, str(tmp_path / "program.py")])
    lines = sorted({int(line.split(":")[1]) for line in report.splitlines() if ": error:" in line})
    assert lines == [5, 6, 7, 11, 12, 13], report


def test_settings_are_those_of_scenarios() -> None:
    assert {"tcp.variant", "tcp.vegas.alpha", "topology.hops", "run"} <= set(typing.Settings.__annotations__)
