"""Experiments of the documentation: valid scenarios, one printed row each."""

import csv
import importlib
import importlib.util
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe.stats import Estimate
from chappe.study import measure
from chappe_papers.su2008.points import ROW_M
from command import REPOSITORY, program
from epochs import DOCS, assert_is_told


@pytest.fixture(scope="module")
def why() -> ModuleType:
    return program("reproductions/experiments/papers/why_elrakabawy")


def test_a_run_of_an_experiment(why: ModuleType) -> None:
    """Over one hop each segment is sent once, and goodput is the goodput of the only flow."""
    result = why.Runs(packets=110, seeds=2).of(why.Point("newreno", 1), {"tcp.receive_window": 2})
    assert result["seed"].to_list() == [1, 2]
    assert why.mean(result, "flow0") == pytest.approx(why.mean(result, "goodput_bps") / 1e3, rel=0.02)
    assert 1 <= why.mean(result, "hops") < 2.5


def printed(
    module: ModuleType, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[list[chappe.Scenario], list[str]]:
    """Scenarios of an experiment, all created and the first executed, and the printed lines."""
    scenarios: list[chappe.Scenario] = []
    first: list[pl.DataFrame] = []

    def run(points: Mapping[int, chappe.Scenario], seeds: Sequence[int], **also: Any) -> dict[int, pl.DataFrame]:
        scenarios.extend(points.values())
        if not first:
            first.append(measure(points, seeds, **also)[0])
        return {0: first[0]}

    monkeypatch.setattr(module, "measure", run)
    module.main([*arguments, "--seeds", "1"])
    return scenarios, capsys.readouterr().out.splitlines()


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
    scenarios, lines = printed(why, [name, "--packets", "110"], monkeypatch, capsys)
    assert len(scenarios) >= rows
    assert rows < len(lines) <= rows + 6
    assert len({scenario.to_toml() for scenario in scenarios}) == len(scenarios)


@pytest.mark.parametrize(("name", "rows"), [("timeouts", 18), ("starts", 20), ("timer", 18)])
def test_experiments_on_the_lossy_link(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios, lines = printed(program("reproductions/experiments/papers/why_zhou"), [name], monkeypatch, capsys)
    assert len(scenarios) >= rows
    assert rows < len(lines) <= rows + 2


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("ping", 2),
        ("attempts", 5),
        ("limits", 5),
        ("rts", 3),
        ("grid", 12),
        ("hidden", 1),
        ("exponent", 5),
        ("impatient", 6),
    ],
)
def test_experiments_on_the_testbed(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = program("reproductions/experiments/papers/why_su")
    full = module.scenario
    monkeypatch.setattr(module, "scenario", lambda p, changes, row_m: full(p, {**changes, "run.stop": "2 s"}, row_m))
    module.main([name, "--paths", "1"])
    lines = [line for line in capsys.readouterr().out.splitlines() if "  " in line]
    assert len(lines) == rows


def test_a_calibration_prefers_the_best_fit_then_the_proposal() -> None:
    module = program("reproductions/experiments/papers/calibrate_ivynet")
    assert module.chosen(1, [("a", 5000.0), ("b", 5600.0), ("c", 5500.0)]) == "b"
    pairs = [("signal 12 dB, sensed from 3 dB", 1077.0), ("signal 12.2 dB, sensed from 3.9 dB", 1070.0)]
    assert module.chosen(2, [*pairs, ("signal 12 dB, sensed from 4 dB", 1000.0)]) == pairs[1][0]
    exponents = [("exponent 3.4, re-lock none", 0.64), ("exponent 3.4, re-lock 5 dB", 0.641)]
    assert module.chosen(3, exponents) == exponents[1][0]
    assert module.numbers("exponent 3.4, re-lock none") == [3.4, math.inf]


def test_the_preset_is_what_the_calibration_found() -> None:
    module = program("reproductions/experiments/papers/calibrate_ivynet")
    with module.FILE.open(encoding="utf-8", newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["chosen"]]
    assert [r["step"] for r in rows] == ["1", "2", "3", "4"]
    (signal, sensed), (exponent, relock), (row_m,) = (module.numbers(r["settings"]) for r in rows[1:])
    settings = chappe.Scenario({"extends": "ivynet", "run": {"stop": "1 s"}, "topology": {"hops": 1}})
    assert settings.with_settings(module.radio(signal, sensed, exponent, relock)) == settings
    assert row_m == ROW_M
    assert rows[0]["settings"] == "data short, ACK long at up to 5.5 Mbit/s"
    assert all(abs(float(r["found"]) / float(r["wanted"]) - 1) < 0.02 for r in rows)


def test_the_techniques_are_compared_where_each_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = program("reproductions/experiments/techniques/techniques")
    monkeypatch.setattr(module, "COMPARED", ("reno", "clamp4", "small_queue"))
    monkeypatch.setattr(module, "PLACES", {"": "wireless"})
    monkeypatch.setattr(module, "PAGE", tmp_path / "techniques.md")
    module.main(["--paths", "4", "--stop", "2 s", "--write"])
    lines = capsys.readouterr().out.splitlines()
    assert 6 <= len(lines) <= 12
    assert lines[0].startswith("**")
    page = (tmp_path / "techniques.md").read_text(encoding="utf-8")
    assert page.count("| short, wireless, 1 flow, autorate |") == 1
    assert page.count("\n| long, wireless, 4 flows") == 4


@pytest.fixture
def mesh(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program on Linux's senders over meshes, which has its parts in files beside it."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "reproductions/experiments/linux_mesh"))
    return program("reproductions/experiments/linux_mesh/single_frames")


def test_senders_of_linux_over_meshes(mesh: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mesh, "PAGE", tmp_path / "single-frames.md")
    monkeypatch.setattr(mesh, "FIGURE", tmp_path / "single-frames.svg")
    monkeypatch.setattr(importlib.import_module("single_frames_lines"), "FAR", 2)
    networks = {
        "b": mesh.runs.NETWORKS["b"]._replace(lengths=(1, 2), compared=(2,)),
        "mesh": mesh.runs.NETWORKS["mesh"]._replace(lengths=(1, 5), compared=(5,)),
    }
    mesh.main(["--seeds", "2", "--stop", "500 ms"], networks)
    page = (tmp_path / "single-frames.md").read_text(encoding="utf-8")
    assert re.findall(r"^(\d+)\. \*\*", page, re.MULTILINE) == [str(n) for n in range(1, 11)]
    # Two tables of techniques and that of small queues have the three senders of today, alone and four at a time; two
    # tables compare five senders with CUBIC, and three and a half have the means of six.
    assert page.count("\n| 802.11b | ") == 3 * 6 + 2 * 2 + 7 * 6
    assert page.count("\n### ") == len(mesh.RECOMMENDATIONS) + 4
    assert "nan" not in page
    assert (tmp_path / "single-frames.svg").exists()
    assert f"results epoch {chappe.RESULTS_EPOCH}." in " ".join(page.split())
    assert_is_told(DOCS / "single-frames.md")


def test_trials_of_recommendations_have_runs(mesh: ModuleType) -> None:
    networks = mesh.runs.NETWORKS | mesh.runs.PAPERS
    trials = [t for of_paper in mesh.RECOMMENDATIONS.values() for r in of_paper for t in r.trials]
    for trial in trials:
        network = networks[trial.network]
        assert trial.flows in (0, *network.flows)
        assert set(trial.lengths or ()) <= set(network.compared)
        assert trial.sender is None or trial.sender in network.senders
        for length in trial.lengths or network.compared:
            assert trial.technique in network.tried(trial.sender or "cubic", length)
            assert trial.beside in network.tried("cubic", length)
    assert len(mesh.RECOMMENDATIONS) == 5


def test_a_change_is_the_mean_over_the_lengths(mesh: ModuleType) -> None:
    plain = {
        "goodput_bps": {1: np.array([10.0, 10.0, 10.0]), 2: np.array([2.0, 2.0, 2.0]), 3: np.array([1.0, 1.0, 1.0])}
    }
    # Twice as much over one length, half as much over the other; a run that delivers nothing counts.
    other = {"goodput_bps": {1: np.full(3, 20.0), 2: np.full(3, 1.0)}}
    none = {"goodput_bps": {1: np.full(3, 10.0), 2: np.array([2.0, 0.0, 2.0])}}
    found = {("b", 1, "cubic", t): v for t, v in (("plain", plain), ("rts", other), ("aodv", none))}
    comparisons = mesh.Comparisons(found)
    of = "b", 1, "cubic"
    assert comparisons.technique(of, "rts") == pytest.approx((25.0, 25.0, 25.0))
    assert comparisons.technique(of, "rts", lengths=[2]) == pytest.approx((-50.0, -50.0, -50.0))
    mean, low, high = comparisons.technique(of, "aodv")
    assert mean == pytest.approx(-100 / 6)
    assert low < mean < high
    # More comparisons make each interval wider.
    assert len(comparisons.made) == 3
    assert mesh.Comparisons(found, 3).technique(of, "aodv").low < low


def test_words_for_changes(mesh: ModuleType) -> None:
    values = {"plain": [100] * 3, "rts": [97] * 3, "aodv": [90] * 3, "small": [110] * 3, "codel": [60, 95, 140]}
    found = {("b", 1, "cubic", t): {"goodput_bps": {1: np.array(v, dtype=float)}} for t, v in values.items()}
    comparisons = mesh.Comparisons(found)
    changes = {t: comparisons.technique(("b", 1, "cubic"), t) for t in values if t != "plain"}
    words = {t: change.judged(more=False) for t, change in changes.items()}
    assert words == {"rts": "no", "aodv": "yes", "small": "no, the opposite", "codel": "undecided"}
    assert str(changes["small"]) == "+10 % [+10, +10]"
    assert [changes[t].cell[0] for t in ("aodv", "codel")] == ["-", "("]


@pytest.mark.parametrize(
    ("changes", "problem", "advised"),
    [
        ([(8, 6, 10), (9, 7, 11)], "persists", "good"),
        ([(8, 6, 10), (0, -1, 1)], "persists in 1 of 2 networks", "good in 1 of 2"),
        ([(8, 6, 10), (-8, -10, -6)], "persists in 1 of 2 networks", "good in 1, bad in 1 of 2"),
        ([(0, -1, 1), (-8, -10, -6)], "gone", "bad in 1 of 2"),
        ([(-8, -10, -6)], "gone", "bad"),
        ([(0, -1, 1), (3, -9, 15)], "gone in 1 of 2 networks, undecided in others", "undecided"),
        ([(3, -9, 15)], "undecided", "undecided"),
        ([(0, -1, 1)], "gone", "no effect"),
    ],
)
@pytest.mark.usefixtures("mesh")
def test_verdicts_follow_from_changes(
    changes: Sequence[tuple[float, float, float]], problem: str, advised: str
) -> None:
    compare = importlib.import_module("single_frames_compare")
    made = [compare.Change(*change) for change in changes]
    assert compare.problem(made) == problem
    assert compare.advised(made) == advised


@pytest.mark.usefixtures("mesh")
def test_intervals_of_means_end_at_what_a_measure_can_be() -> None:
    compare = importlib.import_module("single_frames_compare")
    wide = Estimate.of([0.5, 1.0, 1.0, 1.0])
    assert compare.plus_minus(wide, 2) == "0.88 ± 0.40"
    assert compare.plus_minus(wide, 2, most=1.0) == "0.88 (0.48 to 1.00)"
    assert compare.plus_minus(Estimate.of([0.0, 0.0, 0.0, 1.0]), 1) == "0.2 (0.0 to 1.0)"
    # A number that rounds to the end is not beyond the end.
    assert compare.plus_minus(Estimate.of([0.9999, 1.0, 1.0, 1.0]), 3, most=1.0) == "1.000 ± 0.000"


@pytest.mark.usefixtures("mesh")
def test_gains_and_leads_follow_from_changes() -> None:
    compare = importlib.import_module("single_frames_compare")
    more, less, none, undecided = (compare.Change(*c) for c in ((8, 6, 10), (-9, -10, -8), (0, -1, 1), (9, -9, 27)))
    assert compare.gains([more, less, none, undecided]) == "by 8 % in 1 of 4"
    assert compare.gains([more, less, none, undecided], more=False) == "by 9 % in 1 of 4"
    assert compare.gains([more, compare.Change(2000, 1000, 3000)]) == "by 8 to 2,000 % in 2 of 2"
    assert compare.gains([none]) == "in 0 of 1"
    # Far is at least 15 %, and only where that shows can it be gone.
    far = compare.Change(20, 4, 36)
    assert compare.lead({"b": far, "a": more}, {"b": more, "a": none}) == "gone"
    assert compare.lead({"b": more, "a": far}, {"b": far, "a": undecided}) == "persists in 1 of 2 networks that show it"
    assert compare.lead({"b": more, "a": undecided}, {"b": none, "a": undecided}) == compare.NEVER


@pytest.mark.parametrize(
    ("words", "verdict", "kind"),
    [
        (["yes", "yes"], "holds", "holds"),
        (["yes", "undecided"], "holds in 1 of 2 trials", "holds in some"),
        (["no", "no, the opposite"], "does not hold", "does not hold"),
        (["undecided", "undecided"], "undecided", "undecided"),
        (["undecided", "no", "no"], "undecided in 1 of 3 trials, no gain in the others", "undecided"),
    ],
)
@pytest.mark.usefixtures("mesh")
def test_verdicts_follow_from_trials(words: Sequence[str], verdict: str, kind: str) -> None:
    advice = importlib.import_module("single_frames_advice")
    assert advice.verdict(words) == verdict
    assert advice.kind(verdict) == kind


def test_recommendations_of_ours_do_not_count(mesh: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    advice = importlib.import_module("single_frames_advice")
    goodput = {"plain": [9.0, 10.0, 11.0], "fq_codel": [19.0, 20.0, 21.0]}
    found = {
        ("walking", 20, sender, technique): {"goodput_bps": {10: np.array(values)}}
        for sender in ("cubic", "reno", "bbr")
        for technique, values in goodput.items()
    }
    trial = advice.Trial("walking", "fq_codel")
    made = tuple(advice.Recommendation(text, (trial,), ours=text == "ours") for text in ("theirs", "ours"))
    monkeypatch.setattr(advice, "RECOMMENDATIONS", {"A paper": made})
    of_all = advice.Advice(mesh.Comparisons(found))
    assert of_all.total() == "of 1 tried with senders of today 1 hold in every trial (in every: theirs)"
    rows = of_all.rows(made)
    assert [row[0] for row in rows] == ["theirs: **holds**", "ours: **holds**"]
    assert all(cell.startswith("**+100 %") for row in rows for cell in row[3:])


def test_paths_of_one_hop_differ_by_their_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    module = program("reproductions/experiments/techniques/techniques")
    for name, only in (("COMPARED", ("reno",)), ("PLACES", {"": ""}), ("LENGTHS", {1: ""}), ("RATES", {"fixed": ""})):
        monkeypatch.setattr(module, name, only)
    runs = module.runs(4, "2 s")
    assert sorted(runs) == [("path", 1, "fixed", ""), ("shared", 1, "fixed", "")]
    assert all(len(set(by_technique["reno"].bps)) > 1 for by_technique in runs.values())


TECHNIQUES = {"reno": (1.0, 0.01), "vegas": (0.97, 0.01), "veno": (0.9, 0.1), "few": (0.8, 0.01)}
"""Share of the best technique and its spread between paths; one share is at the threshold."""


def drawn(module: ModuleType, rng: np.random.Generator, shares: Mapping[str, tuple[float, float]]) -> Any:
    """Techniques on forty paths, which differ far more than the techniques, in eight scenarios."""
    scenarios = {}
    for host in module.PLACES:
        for hops, rate in ((1, "auto"), (1, "fixed"), (5, "auto"), (5, "fixed")):
            paths = rng.uniform(1e6, 4e6, 40)
            scenarios["shared", hops, rate, host] = {
                s: module.Values(paths * rng.normal(share, scatter, 40), rng.uniform(0.9, 1, 40))
                for s, (share, scatter) in shares.items()
            }
    return module.judged(scenarios)


@pytest.fixture
def techniques(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = program("reproductions/experiments/techniques/techniques")
    monkeypatch.setattr(module, "COMPARED", tuple(TECHNIQUES))
    monkeypatch.setattr(module, "PLACES", {"": "wireless", "mesh_us": "to the US"})
    return module


def test_a_technique_is_good_bad_or_undecided(techniques: ModuleType) -> None:
    judged = drawn(techniques, np.random.default_rng(1), TECHNIQUES)
    assert len(judged) == 8
    for best, cells in judged.values():
        assert best == "reno"
        assert {s: c.good for s, c in cells.items()} == {"reno": True, "vegas": True, "veno": None, "few": False}
        assert cells["few"].share.mean == pytest.approx(0.8, abs=0.02)
    assert [techniques.counts(judged, s) for s in TECHNIQUES] == [[8, 0, 0], [8, 0, 0], [0, 0, 8], [0, 8, 0]]
    assert techniques.everywhere(judged) == "Reno and Vegas are good everywhere; that is open for Veno"


def test_shares_at_the_threshold_stay_undecided(techniques: ModuleType) -> None:
    """Eight judgments at the threshold in each of 100 draws; without adjustment a third of the draws would err."""
    rng = np.random.default_rng(2)
    shares = {"reno": (1.0, 0.01), "veno": (0.9, 0.05)}
    drawings = [drawn(techniques, rng, shares) for _ in range(100)]
    wrong = sum(any(cells["veno"].good is not None for _, cells in judged.values()) for judged in drawings)
    # More than twelve of 100 draws with 5 % each are wrong with probability 0.15 %.
    assert wrong <= 12


def test_the_worst_scenario_is_reported_on_other_paths(techniques: ModuleType) -> None:
    """All scenarios are equal: the lowest of eight shares is biased, its share on other paths is not."""
    rng = np.random.default_rng(3)
    shares = {"reno": (1.0, 0.01), "veno": (0.9, 0.1)}
    chosen, told = [], []
    for _ in range(100):
        judged = drawn(techniques, rng, shares)
        worst = judged[techniques.worst(judged, "veno")][1]["veno"]
        chosen.append(worst.chosen[0])
        told.append(worst.share.mean)
    assert np.mean(chosen) < 0.88
    assert np.mean(told) == pytest.approx(0.9, abs=0.01)


def test_the_advice_names_exceptions_and_judgments_near_the_limit(techniques: ModuleType) -> None:
    judged = drawn(techniques, np.random.default_rng(1), TECHNIQUES)
    _, cells = next(iter(judged.values()))
    for scheme, share in (("reno", 0.5), ("vegas", 0.893)):
        cells[scheme] = cells[scheme]._replace(share=Estimate(share, 1e-6, 9), good=False)
    cells["veno"] = cells["veno"]._replace(good=True)
    taken, near = techniques.advice(judged)
    assert taken.startswith(
        "**Take Reno**: it is good in 7 of 8 scenarios, and not good in 1: short, wireless, 4 flows,"
    )
    assert taken.endswith(" There, Veno is good.")
    assert "(50" in taken
    assert near.endswith("at 89 to 90 % of the best: 1 of 1 with Vegas.")


def test_the_answer_names_good_techniques_and_the_worst_case(techniques: ModuleType) -> None:
    lines = techniques.answer(drawn(techniques, np.random.default_rng(1), TECHNIQUES))
    assert lines[0] == "**Take Reno**: it is good in 8 of 8 scenarios, and not good in none."
    assert lines[1].startswith("**Reno and Vegas are good everywhere; that is open for Veno.**")
    last = (
        r"Farthest .* FeW: in its worst scenario \(.*\) it has (79|80|81)( ± 1)? % .*, significantly less than 90 %\."
    )
    assert any(re.fullmatch(last, line) for line in lines)
    assert "Good / not good / open in: Reno 8/0/0, Vegas 8/0/0, Veno 0/0/8, FeW 0/8/0." in lines


def test_the_page_on_linux_over_wifi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "reproductions/experiments/linux_mesh"))
    mesh = program("reproductions/experiments/linux_mesh/linux_mesh")
    monkeypatch.setattr(mesh, "PAGE", tmp_path / "linux-mesh.md")
    monkeypatch.setattr(importlib.import_module("linux_mesh_runs"), "_RUN", {"stop": "2 s", "batches": 2})
    networks = ["802.11n, 1 hop", "802.11n, 4 stations, one far and hidden", "802.11b, 1 hop"]
    mesh.main(["--seeds", "3", "-o", str(tmp_path / "runs")], networks)
    page = (tmp_path / "linux-mesh.md").read_text(encoding="utf-8")
    first, _, rest = page.partition("## What of 2003 to 2008 is gone with aggregates")
    assert first.count("\n| 802.11") == 3
    # Changes of aggregates are tried with aggregates, FQ-CoDel of the interface over single frames.
    assert rest.count("### ") == len(mesh.TITLES)
    fq_codel = rest.split("### FQ-CoDel")[1].split("###")[0]
    assert [line[:10] for line in fq_codel.splitlines() if line.startswith("| 802")] == ["| 802.11b "]
    single = rest.split("### single frames")[1].split("###")[0]
    assert re.search(r"\| 802\.11n \| 1 hop \| static \| \*\*-\d\d % ", single)
    # A station alone has nobody to be fair to.
    assert "Jain's index, CUBIC" in single
    assert "nan" not in page
