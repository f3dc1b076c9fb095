"""Shortened comparison of 802.11n and 802.11ac with ns-3: cases, model, output and files."""

import csv
import math
import re
from pathlib import Path

import chappe
import pytest
from chappe import _core, cli
from chappe.stats import Estimate
from chappe_papers.validation.wifi_n import compare, page
from chappe_papers.validation.wifi_n.cases import TABLES, Case, habits, reference, scenario, senders
from chappe_papers.validation.wifi_n.compare import Comparison, run_cache
from chappe_papers.validation.wifi_n.model import bianchi, collisions
from command import REPOSITORY

CASES = reference()


def case(table: str, **values: object) -> Case:
    """The first case of a table with these values."""
    return next(c for c in CASES if c.table == table and all(getattr(c, name) == v for name, v in values.items()))


FEW = (
    case("link", std="n", mcs=7, agg_limit=999),
    case("link", std="ac", width_mhz=80, mcs=7, gi_ns=400, agg_limit=999),
    case("sat", std="n", mcs=7, agg_limit=8, n=5, rts=0),
    case("edca", acs="vo+be", txop="zero", agg_limit=0),
    case("hidden", mcs=7, agg_limit=8, rts=0),
    case("snr", mcs=3, agg_limit=16, snr_db=14.0),
    case("tcp", mcs=7, agg_limit=999, hops=2, spacing_m=100, rts=1),
)
"""One case of each kind, all of which agree."""


def test_scenarios_of_the_ns3_runs() -> None:
    assert {c.table for c in CASES} == set(TABLES)
    assert len({c.title for c in CASES}) == len(CASES)
    assert CASES[FEW[0]][0].goodput_bps == 59_716_096


def test_settings_of_a_case() -> None:
    for few in FEW:
        assert not scenario(few).warnings, few.title
    vht = scenario(FEW[1]).settings["wlan"]
    assert (vht["ppdu"]["sig_b"], vht["ppdu"]["short_symbols_rounded"]) == (False, False)
    assert scenario(FEW[1], plain=True).settings["wlan"]["ppdu"]["sig_b"] is True
    assert senders(FEW[3]) == [(1, 0, "vo"), (1, 0, "be")]
    assert [f["dscp"] for f in scenario(FEW[3]).settings["flow"]] == [48, 0]
    assert scenario(FEW[6]).settings["wlan"]["rts_threshold"] == "always"
    assert not habits(case("sat", std="a"))


def test_the_model_is_bianchis() -> None:
    # By hand, from the sheet: probabilities of a collision, and goodputs of ns-3 that the model meets.
    for stations, p in ((2, 0.1046), (5, 0.2715), (20, 0.4809)):
        assert collisions(stations, None)[0] == pytest.approx(p, abs=1e-4)
    assert bianchi(case("sat", std="n", mcs=7, agg_limit=999, n=2, rts=0)) == pytest.approx(56.295e6, rel=1e-4)
    assert bianchi(case("sat", std="n", mcs=7, agg_limit=0, n=20, rts=0)) == pytest.approx(26.39e6, rel=1e-3)
    assert bianchi(case("sat", std="n", mcs=7, agg_limit=999, n=20, rts=1)) == pytest.approx(59.08e6, rel=1e-3)


def test_criterion_for_goodput() -> None:
    def comparison(case: Case, ours: float) -> Comparison:
        return Comparison(case, Estimate(100.0, 0, 0), Estimate(ours, 0, 4))

    assert [comparison(FEW[0], x).agrees for x in (98.9, 99.1, 100.9, 101.1)] == [False, True, True, False]
    assert [comparison(FEW[2], x).agrees for x in (96.9, 97.1, 102.9, 103.1)] == [False, True, True, False]
    assert [comparison(FEW[6], x).agrees for x in (89.9, 90.1, 109.9, 110.1)] == [False, True, True, False]
    # The interval of a difference of means that scatter contains zero.
    assert Comparison(FEW[0], Estimate(100.0, 9.0, 4), Estimate(104.0, 9.0, 4)).agrees
    nothing = Comparison(FEW[5], Estimate(0.0, 0, 4), Estimate(0.0, 0, 4))
    assert nothing.agrees
    assert math.isinf(Comparison(FEW[5], Estimate(0.0, 0, 4), Estimate(1.0, 0, 4)).off)
    assert page.answer([comparison(FEW[0], 120), nothing]) == "1 of 2 cases agree, 1 does not."
    assert page.counted([nothing])[2:] == ("", "")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "reference", lambda: {c: CASES[c] for c in FEW})
    monkeypatch.setattr(compare, "SEEDS", (1, 2))
    assert cli.main(["validate", "wifi-n", "--out", str(tmp_path)]) == 0
    assert "7 of 7 cases agree." in capsys.readouterr().out
    text = (tmp_path / "validation.md").read_text(encoding="utf-8")
    assert "**7 of 7 cases agree.**" in text
    assert "## Bianchi's model" in text
    rows = list(csv.DictReader((tmp_path / "validation.csv").read_text(encoding="utf-8").splitlines()))
    assert [r["agrees"] for r in rows] == ["True"] * 7
    with run_cache(tmp_path, 1) as runs:
        compare.compare({FEW[0]: CASES[FEW[0]]}, runs, (1, 2))
        assert runs.made == 0


def test_the_page_is_of_all_cases() -> None:
    text = (REPOSITORY / "docs" / "validation-wifi-n.md").read_text(encoding="utf-8")
    assert all(f"\n| {c.title} | " in text for c in CASES)
    (epoch,) = re.findall(r"results epoch (\d+)\.", text)
    assert _core.SETTINGS_EPOCH <= int(epoch) <= chappe.RESULTS_EPOCH
