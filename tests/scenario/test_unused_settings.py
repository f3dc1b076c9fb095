"""Settings without effect: a program is told of them by warnings, as a terminal is by the command line."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli

SETTINGS: dict[str, Any] = {"topology.hops": 1, "run.stop": "1 s", "run.batches": 2, "tcp.vegas.alpha": 2.0}
"""NewReno does not read what Vegas reads."""


def told(function: Callable[[], object]) -> list[str]:
    """Warnings of a call as Python shows them: once for each line of this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        function()
    assert all(w.category is chappe.ChappeWarning and w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


def test_every_function_that_runs_a_scenario_warns_like_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = chappe.Scenario(SETTINGS)
    (said,) = [notice.message for notice in scenario.warnings if notice.code == "unused_setting"]
    axes = {"topology.hops": [1, 2]}
    calls: list[Callable[[], object]] = [
        lambda: chappe.run(scenario),
        lambda: chappe.run(SETTINGS, seed=3),
        lambda: [chappe.run(scenario) for _ in range(3)],
        lambda: chappe.start(scenario),
        lambda: chappe.follow(scenario),
        lambda: chappe.sweep(scenario, axes, out=tmp_path / "sweep"),
        lambda: chappe.search(scenario, "tcp.max_cwnd", low=1, high=2, measure="goodput_bps", out=tmp_path / "search"),
    ]
    for call in calls:
        assert told(call) == [said]
    file = tmp_path / "scenario.toml"
    file.write_text("".join(f"{name} = {value!r}\n" for name, value in SETTINGS.items()), encoding="utf-8")
    for command in (["run"], ["sweep", "--seeds", "2", "--out", str(tmp_path / "command")]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert cli.main([command[0], str(file), *command[1:]]) == 0
        assert not caught
        assert capsys.readouterr().err.count("`tcp.vegas.alpha` has no effect") == 1


def test_a_setting_with_an_effect_causes_no_warning(tmp_path: Path) -> None:
    assert told(lambda: chappe.run({**SETTINGS, "tcp.variant": "vegas"})) == []
    variants = {"tcp.variant": ["vegas", "newreno"]}
    assert told(lambda: chappe.sweep(SETTINGS, variants, out=tmp_path / "study")) == []


def test_summaries_of_a_run_and_of_a_study_take_measures_alike(tmp_path: Path) -> None:
    settings = {name: value for name, value in SETTINGS.items() if name != "tcp.vegas.alpha"}
    makers = [chappe.run(settings), chappe.sweep(settings, seeds=2, out=tmp_path / "study")]
    asked: list[Any] = ["goodput_bps", ["goodput_bps", "jain_index"], ("mean_rtt_s",), {"goodput_bps": 1}, None, []]
    asked += ["x = sum(flows.timeouts)", ["goodput_bps of tcp"], 5, [5], "", "goodput", "x =", b"goodput_bps", "a b"]

    def answer(made: Any, *by_position: Any, **by_name: Any) -> tuple[str, object]:
        try:
            table = made.summary(*by_position, **by_name)
        except (TypeError, ValueError) as e:
            return type(e).__name__, str(e)
        return "measures", sorted(set(table["measure"])) if "measure" in table.columns else []

    for measures in asked:
        of_run, of_study = ((answer(made, measures), answer(made, measures=measures)) for made in makers)
        assert of_run[0] == of_run[1] == of_study[0] == of_study[1], measures
