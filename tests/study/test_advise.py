"""Advice for a network: which changes are tried, verdicts, findings, the command."""

import contextlib
import io
import json
from pathlib import Path

import chappe
import pytest
from chappe import cli
from chappe.study.advise import AS_IT_IS, CHANGES, DELAY, FAIRNESS, FIRST, GOODPUT, _findings, cases_of

CHAIN = chappe.Scenario.chain(6, {"tcp.variant": "newreno"}, stop="550 delivered", extends="ns2-2.35")


def test_changes_without_effect_are_left_out() -> None:
    """The scenario is NewReno's already, and a data network without a radio has no RTS."""
    cases = cases_of(CHAIN, CHANGES)
    assert cases[AS_IT_IS] == {}
    assert "tcp.variant = newreno" not in cases
    assert "tcp.variant = vegas" in cases
    of_wires = chappe.Scenario(
        {
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [{"src": 0, "dst": 1}],
            "flow": [{"src": 0, "dst": 1}],
            "run.stop": "1 s",
        }
    )
    assert not [name for name in cases_of(of_wires, CHANGES) if "wlan" in name]
    with pytest.raises(ValueError, match="none of the changes has an effect"):
        chappe.advise(CHAIN, [{"tcp.variant": "newreno"}])
    with pytest.raises(chappe.ScenarioError, match="did you mean `variant`"):
        chappe.advise(CHAIN, [{"tcp.varient": "vegas"}])


def test_advice_is_that_of_the_comparison() -> None:
    advice = chappe.advise(CHAIN, [{"tcp.variant": "vegas"}, {"tcp.receive_window": 1}], within=0.5)
    compared = advice.study.compare(GOODPUT, "case", baseline=AS_IT_IS)
    relative = dict(advice.table.filter(measure=GOODPUT).select("change", "relative").iter_rows())
    assert relative == pytest.approx(dict(compared.select("case", "relative").iter_rows()))
    assert advice.seeds == advice.study.runs["seed"].n_unique() >= FIRST
    assert set(advice.table["verdict"]) <= {"better", "worse", "same", "open"}
    assert str(advice) == "\n".join(advice.findings)


def test_findings_say_gains_and_costs() -> None:
    def row(change: str, measure: str, relative: float, verdict: str) -> dict[str, object]:
        ends = {"relative_ci_low": relative - 0.05, "relative_ci_high": relative + 0.05}
        return {"change": change, "measure": measure, "relative": relative, **ends, "verdict": verdict}

    rows = [
        *(
            row("a", m, *of)
            for m, of in ((GOODPUT, (0.4, "better")), (DELAY, (0.3, "worse")), (FAIRNESS, (0.0, "open")))
        ),
        *(row("b", m, *of) for m, of in ((GOODPUT, (0.0, "same")), (DELAY, (-0.5, "better")))),
        *(row("c", m, *of) for m, of in ((GOODPUT, (-0.3, "worse")), (DELAY, (-0.9, "better")))),
        row("d", GOODPUT, 0.02, "open"),
    ]
    assert _findings(rows, 40, 4) == [
        "4 changes tried with 40 seeds each; 95 % confidence for all of them together.",
        "a: goodput +40 (+35 to +45) %; delay +30 (+25 to +35) %; Jain's index not decided.",
        "b: delay -50 (-55 to -45) %.",
        "Do not: c (-30 (-35 to -25) %).",
        "Not decided with 40 seeds: d.",
    ]
    only = [row("d", GOODPUT, 0.02, "open")]
    assert _findings(only, 40, 1)[1] == "No change certainly brings more goodput: none brings more than 7 %."


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(CHAIN.with_settings({"run.stop": "220 delivered"}).to_toml(), encoding="utf-8")

    def told(*arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(tmp_path):
            try:
                code = cli.main(["advise", str(file), *arguments])
            except SystemExit as e:
                code = int(e.code or 0)
        return code, out.getvalue(), err.getvalue()

    changes = ("--change", "tcp.variant=vegas,tcp.receive_window=8", "--within", "90 %")
    code, out, _ = told(*changes)
    assert code == 0
    assert out.startswith("1 change tried with ")
    assert "tcp.variant = vegas, tcp.receive_window = 8" in out
    assert (tmp_path / "results/chain-advice/study.json").exists()
    code, out, _ = told(*changes, "--json")
    assert code == 0
    assert {row["change"] for row in json.loads(out)["rows"]} == {"tcp.variant = vegas, tcp.receive_window = 8"}
    for wrong, message in (
        (["--change", "vegas"], "is not of the form NAME=VALUE"),
        (["--change", "tcp.varient=vegas"], "did you mean `variant`?"),
        (["--change", "tcp.variant=newreno"], "none of the changes has an effect"),
        (["--flows", "each", *changes], "'each' is for summaries"),
        (["--within", "2"], "a share is between"),
    ):
        code, out, err = told(*wrong)
        assert (code, out) == (2, "")
        assert message in err
