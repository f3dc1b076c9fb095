"""Shortened comparison of the preset ``standard`` with ns-3: cases, output and files."""

import csv
from dataclasses import replace
from pathlib import Path

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.stats import Estimate
from chappe_papers.validation.standard import defaults
from chappe_papers.validation.standard.cases import KINDS, Case, scenario
from chappe_papers.validation.standard.compare import FURTHER, VALIDATION, Comparison
from chappe_papers.validation.standard.ns3 import FAILURES, FIRST, GIVEN_UP, GOODPUT, Reference, reference
from command import REPOSITORY
from epochs import assert_is_told

FEW = (
    Case("sat", 1, 1, 2, False),
    Case("sat", 10, 1, 11, True),
    Case("sat", 1, 1, 11, True, 2, True),
    Case("hidden", 1, 1, 11, True),
    Case("exposed", 1, 1, 11, False),
    Case("asym", 1, 1, 2, True),
    Case("tcp", 1, 2, 11, True),
    Case("mixed", 1, 1, 11, False),
)
"""One case of each kind that is informative within a few seconds."""


@pytest.fixture(scope="module")
def cases() -> dict[Case, Reference]:
    return reference()


def test_scenarios_of_the_ns3_runs(cases: dict[Case, Reference]) -> None:
    assert len([c for c in cases if c not in FURTHER]) == 56
    assert set(cases) >= FURTHER
    assert {c.kind for c in cases} == set(KINDS)
    assert all(len(r.own) == 5 and len(r.mended) in (0, 5) for r in cases.values())
    # 7,846 packets of 1500 B in 55 s.
    assert cases[FEW[0]].best[0] == {GOODPUT: 1711855, FIRST: 1711855, FAILURES: 0, GIVEN_UP: 0}
    rows = (
        REPOSITORY.joinpath("reproductions/chappe_papers/validation/standard/ns3.csv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    hidden = next(r for r in csv.DictReader(rows) if r["case"] == "hidden" and r["mbps"] == "11" and r["rts"] == "0")
    run = cases[Case("hidden", 1, 1, 11, False)].own[0]
    assert run[FAILURES] == int(hidden["data_frames_failed"]) / int(hidden["data_frames_sent"])
    assert run[GIVEN_UP] == int(hidden["given_up"]) / 55


def test_settings_of_a_case() -> None:
    s = scenario(Case("sat", 5, 1, 11, True, 2, True)).settings
    assert (len(s["flow"]), len(s["topology"]["positions"])) == (5, 6)
    wlan = s["wlan"]
    assert (wlan["data_rate"], wlan["basic_rate"]) == ("11 Mbit/s", "2 Mbit/s")
    assert (wlan["preamble"], wlan["basic_preamble"]) == ("short", "long")
    assert (wlan["rts_threshold"], wlan["short_retry_limit"], wlan["long_retry_limit"]) == ("always", "unlimited", 7)
    s = scenario(Case("tcp", 1, 3, 2, False)).settings
    assert (s["flow"][0]["dst"], s["queue"]["limit"], s["wlan"]["short_retry_limit"]) == (3, 100, 7)
    assert scenario(FEW[2], plain=True).settings["wlan"]["basic_preamble"] == "same"
    # All cases use the standard.
    assert all(scenario(c).settings["wlan"]["retry_counts"] == "mpdu" for c in FEW)


def test_criterion_for_goodput() -> None:
    def comparison(ours: float, error: float) -> Comparison:
        case = FEW[0]
        return Comparison(case, {GOODPUT: Estimate(100, 0, 4)}, {GOODPUT: Estimate(ours, error**2, 9)})

    assert [comparison(x, 0.01).agrees for x in (96.9, 97.1, 102.9, 103.1)] == [False, True, True, False]
    # Nine degrees of freedom: the half width is 2.262 standard errors.
    assert [comparison(x, 2).agrees for x in (104, 105)] == [True, False]


def test_a_few_cases_agree(cases: dict[Case, Reference], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three runs of 20 s each, and those with the preamble that ns-3 does not have."""
    monkeypatch.setattr(VALIDATION, "reference", lambda: {c: cases[c] for c in FEW})
    monkeypatch.setattr(VALIDATION, "seeds", (1, 2, 3))
    monkeypatch.setattr(VALIDATION, "seconds", 20)
    with VALIDATION.run_cache(tmp_path, 2) as runs:
        comparisons = VALIDATION.compare(runs)
        assert runs.made == 3 * (len(FEW) + 1)
    assert {c.case.title: round(c.off, 4) for c in comparisons if not c.agrees} == {}
    for c in comparisons:
        if c.case.kind in ("sat", "exposed"):
            # Only backoffs are random.
            assert abs(c.off) < 0.01, c.case.title
    moved = {"as in ns-2": [Estimate(1000e3, 0, 4)] * 4, "defaults": [Estimate(1200e3, 0, 4)] * 4}
    monkeypatch.setattr(defaults, "run", lambda _: moved)
    text = VALIDATION.page(comparisons, None)
    assert f"| defaults |{' 1,200 ± 0 |' * 4}" in text
    assert "**8 of 8 cases agree.**" in text
    assert f"| {FEW[6].title} |" in text
    wrong = [replace(c, ours={**c.ours, GOODPUT: Estimate(c.ns3[GOODPUT].mean * 1.1, 0, 9)}) for c in comparisons[:1]]
    text = VALIDATION.page([*wrong, *comparisons[1:]], None)
    assert f"**7 of 8 cases agree; 1 does not.** The largest difference is +10.0 % ({FEW[0].title})." in text
    assert f"The others: {FEW[0].title} (+10.0 %)." in text
    assert "## Cases that do not agree" in text


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    short = {c: r for c, r in reference().items() if c in (FEW[2], FEW[3], min(FURTHER))}
    monkeypatch.setattr(VALIDATION, "reference", lambda: short)
    monkeypatch.setattr(VALIDATION, "seeds", (1, 2))
    for name, value in {"HOPS": (1, 2), "SEEDS": 2, "STOP": "10 s"}.items():
        monkeypatch.setattr(defaults, name, value)
    assert cli.main(["validate", "standard", "--out", str(tmp_path)]) == 0
    assert "hidden terminals" in capsys.readouterr().out
    text = (tmp_path / "validation.md").read_text(encoding="utf-8")
    assert "**2 of 2 cases agree.**" in text
    assert all(f"\n| {name} | " in text for name in defaults.ROWS)
    rows = list(csv.DictReader((tmp_path / "validation.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 3 * 4
    assert {r["agrees"] for r in rows if r["measure"] == GOODPUT} == {"True"}


def test_goodputs_of_defaults_are_totals_by_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with the same number of packets take different times, so that a mean of rates is too high."""
    for name, value in {"HOPS": (4,), "SEEDS": 4, "STOP": "220 delivered"}.items():
        monkeypatch.setattr(defaults, name, value)
    monkeypatch.setattr(defaults, "ROWS", {"defaults": {}})
    ((goodput,),) = defaults.run(1).values()
    runs = [chappe.run({"run.stop": "220 delivered", "topology.hops": 4}, seed=seed).batches for seed in range(1, 5)]
    used = pl.concat(runs).filter("used")
    bits, time = 8 * pl.col("bytes_delivered").sum(), (pl.col("ended_at_s") - pl.col("started_at_s")).sum()
    assert goodput.mean == pytest.approx(used.select(bits / time).item())
    assert (goodput.df, len(used)) == (3, 40)


def test_values_of_ns2_are_not_the_defaults() -> None:
    today = chappe.Scenario({"run.stop": "1 s"})
    assert [name for name, value in defaults.OF_NS2.items() if today[name] == value] == []
    assert today.with_settings(defaults.OF_NS2)["wlan.rts_threshold"] == "always"


def test_comparisons_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["validate"]) == 0
    assert "ns-3.37" in capsys.readouterr().out


def test_the_page_is_of_all_cases(cases: dict[Case, Reference]) -> None:
    text = (REPOSITORY / "reproductions" / "docs" / "validation-standard.md").read_text(encoding="utf-8")
    assert all(f"\n| {c.title} | " in text for c in cases)
    assert_is_told(REPOSITORY / "reproductions" / "docs" / "validation-standard.md")
