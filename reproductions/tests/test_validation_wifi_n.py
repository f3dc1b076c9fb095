"""Shortened comparison of 802.11n and 802.11ac with ns-3: cases, model, output and files."""

import csv
import math
from pathlib import Path

import polars as pl
import pytest
from chappe import cli
from chappe.stats import Estimate
from chappe_papers.validation.compare import agreement, counted
from chappe_papers.validation.wifi_n.cases import TABLES, Case, Measured, habits, reference, scenario, senders
from chappe_papers.validation.wifi_n.compare import VALIDATION, Comparison, Share, shares
from chappe_papers.validation.wifi_n.model import bianchi, collisions
from command import REPOSITORY
from epochs import assert_is_told

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
    nothing = Comparison(FEW[5], Estimate(0.0, 0, 4), Estimate(0.0, 0, 4), packets=0.0)
    assert nothing.agrees
    assert math.isinf(Comparison(FEW[5], Estimate(0.0, 0, 4), Estimate(1.0, 0, 4)).off)
    assert agreement([comparison(FEW[0], 120), nothing], "cases") == "1 of 2 cases agree; 1 does not."
    assert counted([nothing])[3:] == ("", "")


def test_goodputs_that_only_an_interval_lets_agree() -> None:
    noise = FEW[5]
    few = Comparison(noise, Estimate(3.0, 0.0, 0), Estimate(1.0, 1.0, 4), packets=8.0)
    many = Comparison(noise, Estimate(3e3, 0.0, 0), Estimate(3.06e3, 0.0, 4), packets=8e3)
    # A prediction interval of one run of ns-3: 2.776 standard deviations of the mean of five, times the root of six.
    assert (few.agrees, few.within, few.is_certain) == (True, False, False)
    assert (many.agrees, many.within, many.is_certain) == (True, True, True)
    assert counted([few, many]) == ("2", "2", "1", "+2.0 %", "+2.0 %")
    assert agreement([few, many], "cases") == "2 of 2 cases agree, 1 of them only by the interval."


def test_goodput_of_each_category() -> None:
    mixed = case("edca", acs="vi vi be be")
    theirs = [Measured(10e3, (3e3, 4e3, 1e3, 2e3)), Measured(12e3, (4e3, 5e3, 1e3, 2e3))]
    ours = pl.DataFrame({"own_kbps": [11.0], "flow_0_kbps": [4.0], "flow_1_kbps": [4.0], "flow_2_kbps": [1.0],
                         "flow_3_kbps": [2.2]})  # fmt: skip
    video, best_effort = shares(mixed, theirs, ours)
    assert (video.category, video.ns3.mean, video.ours.mean) == ("vi", 8.0, 8.0)
    assert (best_effort.category, best_effort.ns3.mean, best_effort.ours.mean) == ("be", 3.0, 3.2)
    # By the criterion for goodput: 3 %, or the interval of the difference.
    assert (video.agrees, best_effort.agrees) == (True, False)
    noisy = Share(mixed, "be", Estimate(3.0, 0.09, 4), Estimate(3.2, 0.09, 4))
    assert noisy.agrees
    assert noisy.title.endswith("vi vi be be: best effort")
    assert not shares(case("sat"), theirs, ours)
    assert list(VALIDATION.remarks([Comparison(mixed, video.ns3, video.ours, shares=(video, best_effort))])) == [
        "**1 of 2 goodputs of single access categories agree; 1 does not.** The criterion is the same."
    ]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VALIDATION, "reference", lambda: {c: CASES[c] for c in FEW})
    monkeypatch.setattr(VALIDATION, "seeds", (1, 2))
    assert cli.main(["validate", "wifi-n", "--out", str(tmp_path)]) == 0
    assert "5 of 5 cases agree." in capsys.readouterr().out
    text = (tmp_path / "validation.md").read_text(encoding="utf-8")
    assert "**5 of 5 cases agree.**" in text
    assert "**Over one saturated link 2 of 2 further cases agree.**" in text
    assert "## Bianchi's model" in text
    rows = list(csv.DictReader((tmp_path / "validation.csv").read_text(encoding="utf-8").splitlines()))
    assert [r["agrees"] for r in rows] == ["True"] * 7
    assert [len(r["ours_shares_kbps"].split()) for r in rows] == [0, 0, 0, 2, 0, 0, 0]
    assert "| access categories: HT20 MCS 7, single frames, vo+be, TXOP limits zero: voice | " in text
    with VALIDATION.run_cache(tmp_path, 1) as runs:
        VALIDATION.run(FEW[:1], runs)
        assert runs.made == 0


def test_the_page_is_of_all_cases() -> None:
    text = (REPOSITORY / "reproductions" / "docs" / "validation-wifi-n.md").read_text(encoding="utf-8")
    assert all(f"\n| {c.title} | " in text for c in CASES)
    assert_is_told(REPOSITORY / "reproductions" / "docs" / "validation-wifi-n.md")
