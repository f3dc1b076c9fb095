"""Shortened comparison of SINR reception and rate control with ns-3: cases, output and files."""

import csv
import math
from pathlib import Path

import pytest
from chappe import cli
from chappe.stats import Estimate
from chappe_papers.validation.compare import counted
from chappe_papers.validation.sinr.cases import MANAGERS, Case, habits, reference, scenario
from chappe_papers.validation.sinr.compare import VALIDATION, Comparison
from command import REPOSITORY
from epochs import assert_is_told

FEW = (
    Case("link", "b", "Constant", 11, False, False, 6.0),
    Case("link", "b", "Constant", 2, False, True, 9.0),
    Case("link", "b", "Ideal", 0, False, False, 5.0),
    Case("link", "b", "Arf", 0, False, False, 7.0),
    Case("link", "b", "Aarf", 0, False, True, 12.0),
    Case("link", "b", "Minstrel", 0, False, False, 6.0),
    Case("link", "a", "Aarf", 0, False, False, 18.0),
    Case("chain", "b", "Constant", 11, False, False, 12.0, 5, 2.2, 4),
    Case("chain", "b", "Constant", 11, False, False, 12.0, 5, 2.2, 4, window=1),
    Case("chain", "b", "Constant", 11, False, False, 12.0, 1, 2.2, 4, rows=4),
    Case("chain", "b", "Constant", 11, False, False, 12.0, 1, 2.2, 4, queue=2, flows=4),
)
"""One case of each kind; the Minstrel case agrees only with ns-3 quirks, the case with a queue of 2 only without."""


def test_scenarios_of_the_ns3_runs() -> None:
    cases = reference()
    assert len(cases) == 287
    assert set(cases) >= set(FEW)
    assert {c.manager for c in cases} == set(MANAGERS)
    assert len({c.title for c in cases}) == len(cases)
    assert cases[FEW[0]] == [(15.0, 2836.8)]
    assert cases[FEW[7]] == [(40.0, 1086.9), (40.0, 1083.7)]


def test_settings_of_a_case() -> None:
    s = scenario(FEW[7]._replace(rts=True)).settings
    wlan = s["wlan"]
    assert (wlan["rts_threshold"], wlan["short_retry_limit"], wlan["long_retry_limit"]) == ("500 B", 11, 11)
    assert (wlan["basic_rate"], s["queue"]["limit"], s["tcp"]["receive_window"]) == ("2 Mbit/s", 49, 200)
    assert scenario(FEW[8]).settings["tcp"]["receive_window"] == 1
    s = scenario(FEW[9]).settings
    assert (len(s["flow"]), len(s["topology"]["positions"])) == (4, 8)
    control = scenario(FEW[5]).settings["wlan"]["rate_control"]
    assert (control["minstrel"]["origin"], len(control["rates"])) == ("ns3", 8)
    control = scenario(FEW[5], plain=True).settings["wlan"]["rate_control"]
    assert (control["minstrel"]["origin"], control["rates"]) == ("madwifi", [])
    assert [bool(habits(c)) for c in FEW] == [False] * 3 + [True] * 3 + [False] + [True] * 4
    for case in FEW:
        assert not scenario(case).warnings
    assert scenario(FEW[6]).settings["wlan"]["basic_rate"] == "6 Mbit/s"


NS3 = Estimate(100, 0, 1)


def test_criterion_for_goodput() -> None:
    def comparison(case: Case, ours: float, packets: float = math.inf) -> Comparison:
        return Comparison(case, NS3, Estimate(ours, 0, 4), packets=packets)

    fixed, chosen = FEW[0], FEW[2]
    assert [comparison(fixed, x, 1e6).agrees for x in (96.9, 97.1, 102.9, 103.1)] == [False, True, True, False]
    # Two standard errors of 400 packets are 10 %.
    assert [comparison(fixed, x, 400).agrees for x in (89.9, 90.1)] == [False, True]
    assert [comparison(chosen, x, 400).agrees for x in (89.9, 90.1, 109.9, 110.1)] == [False, True, True, False]
    # Within two standard errors only.
    assert [comparison(fixed, x, 400).within for x in (97.1, 90.1)] == [True, False]
    nothing = Comparison(fixed, Estimate(0, 0, 1), Estimate(0.0, 0, 4), packets=0.0)
    assert nothing.agrees
    assert math.isinf(nothing.allowed)
    off = comparison(FEW[5], 120)
    habit = Comparison(FEW[5], NS3, Estimate(105, 0, 4), Estimate(120, 0, 4))
    worse = Comparison(FEW[5], NS3, Estimate(89, 0, 4), Estimate(100, 0, 4))
    assert [(c.agrees, c.agrees_plainly) for c in (off, habit, worse)] == [(False, False), (True, False), (False, True)]
    assert VALIDATION.answers([off]) == ("0 of 1 cases agree; 1 does not.",)
    (answer,) = VALIDATION.answers([off, habit, habit, worse])
    assert answer == (
        "2 of 4 cases agree; 2 do not. In 3 of them ns-3 departs from the standard: "
        "2 agree with its departures, 1 without."
    )
    # Cases with almost no deliveries count, but not in differences; chains count in both.
    nine = Estimate(9, 0, 1)
    hardly = Comparison(fixed, nine, Estimate(18, 0, 4), packets=20.0)
    chain = Comparison(FEW[7], nine, Estimate(18, 0, 4))
    assert counted([chain, comparison(FEW[7], 100)])[4] == "+100.0 %"
    assert counted([comparison(fixed, 102, 1e6), comparison(fixed, 98, 1e6), hardly])[3:] == ("+0.0 %", "+2.0 %")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VALIDATION, "reference", lambda: {c: r for c, r in reference().items() if c in FEW})
    monkeypatch.setattr(VALIDATION, "seeds", (1, 2))
    assert cli.main(["validate", "sinr", "--out", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    answer = (
        "10 of 11 cases agree; 1 does not. In 7 of them ns-3 departs from the standard: "
        "6 agree with its departures, 6 without."
    )
    assert answer in output
    assert "4 flows, queue 2" in output
    text = (tmp_path / "validation.md").read_text(encoding="utf-8")
    assert f"**{answer}" in text
    assert "## Cases that do not agree" in text
    rows = list(csv.DictReader((tmp_path / "validation.csv").read_text(encoding="utf-8").splitlines()))
    assert [r["agrees"] for r in rows].count("True") == 10
    with VALIDATION.run_cache(tmp_path, 1) as runs:
        VALIDATION.run(FEW[:1], runs)
        assert runs.made == 0


def test_the_page_is_of_all_cases() -> None:
    text = (REPOSITORY / "reproductions" / "docs" / "validation-sinr.md").read_text(encoding="utf-8")
    assert all(f"\n| {c.title} | " in text for c in reference())
    assert_is_told(REPOSITORY / "reproductions" / "docs" / "validation-sinr.md")
