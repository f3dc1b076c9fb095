"""Studies: selection of runs, storage, refusals."""

import json
import math
import re
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli, plot, study
from chappe.measures import column
from chappe.results.storage.columns import TABLES
from chappe.stats import Pooled, jain_index
from chappe.study.design import axes
from chappe.study.design.axes import grid, seeds_of
from chappe.study.study import points_table
from command import contents

CHAIN = chappe.Scenario.chain(2, stop="110 delivered", extends="ns2-2.35")


# ---- points ----


def test_a_grid_has_every_combination() -> None:
    points = grid(CHAIN, {"topology.hops": range(1, 4), "tcp.variant": ("newreno", "vegas")})
    labels = [tuple(p.labels.values()) for p in points]
    assert labels == [(h, v) for h in (1, 2, 3) for v in ("newreno", "vegas")]
    for p in points:
        flat = p.scenario
        assert {name: flat[name] for name in p.labels} == p.labels


def test_cases_change_several_settings() -> None:
    cases = {"newreno": {}, "vegas 2": {"tcp.variant": "vegas", "tcp.vegas.alpha": 2}}
    points = grid(CHAIN, {"topology.hops": [1, 2]}, cases)
    assert [p.labels["case"] for p in points] == ["newreno", "newreno", "vegas 2", "vegas 2"]
    assert points[3].scenario["tcp.vegas.alpha"] == 2
    assert points[3].scenario.settings["topology"]["hops"] == 2


def test_numbers_of_numpy_are_numbers() -> None:
    points = grid(CHAIN, {"topology.hops": np.arange(1, 3)})
    assert [type(p.labels["topology.hops"]) for p in points] == [int, int]


def test_the_key_depends_on_the_simulation_only() -> None:
    """Equivalent settings give one point; each setting, and the seed, changes the run."""
    same = CHAIN.with_settings({"wlan.data_rate": "2000 kbit/s"})
    a, b = (axes.Point({}, s) for s in (CHAIN, same))
    item = axes.Item
    assert item(a, 1).key == item(b, 1).key
    different = [
        CHAIN.with_settings({"tcp.receive_window": 21}),
        CHAIN.with_settings({"run.batches": 12}),
        CHAIN.with_settings({"run.sample_interval": "1 s"}),
    ]
    keys = {item(a, 1).key, item(a, 2).key, *(item(axes.Point({}, s), 1).key for s in different)}
    assert len(keys) == 5
    assert item(axes.Point({}, CHAIN.with_settings({"run.seed": 9})), 1).key == item(a, 1).key


def test_errors_of_axes_are_reported_at_once() -> None:
    axes: dict[str, Any] = {
        "tcp.variant": ["vega", "reno"],
        "tcp.windw": [1],
        "run.seed": [1, 2],
        "topology.hops": [],
        "tcp.receive_window": [4, 4],
        "wlan.data_rate": "2 Mbit/s",
    }
    with pytest.raises(study.StudyError) as error:
        grid(CHAIN, axes, {"a": {"tcp.rto.min": "soon"}})
    problems = {p.path: p for p in error.value.problems}
    assert set(problems) == {*axes, "cases.a"}
    assert problems["tcp.variant"].help is not None
    assert "did you mean `vegas`?" in problems["tcp.variant"].help
    assert "`tcp` has no setting `windw`" in problems["tcp.windw"].message
    assert "value 4 2 times" in problems["tcp.receive_window"].message


def test_combinations_that_cannot_be_run() -> None:
    """An invalid combination is reported once, with its place: 400 m is out of range."""
    axes = {"topology.spacing": ["200 m", "400 m"], "topology.hops": [1, 2], "tcp.receive_window": [4, 8]}
    with pytest.raises(study.StudyError) as error:
        grid(CHAIN, axes)
    first, second = (p.message for p in error.value.problems)
    at = "topology.spacing = 400 m, topology.hops"
    assert first == f"node 1 cannot be reached from node 0, with {at} = 1, tcp.receive_window = 4"
    assert second == f"node 2 cannot be reached from node 0, with {at} = 2, tcp.receive_window = 4"


@pytest.mark.parametrize("seeds", [0, -1, 1.5, "3", True, [], [1, 1], [1, -1], [1.5], ["a"], [2**63], None])
def test_invalid_seeds_are_rejected(seeds: Any) -> None:
    with pytest.raises(study.StudyError, match="seeds"):
        seeds_of(seeds)


def test_valid_seeds_are_accepted() -> None:
    assert seeds_of(3) == [1, 2, 3]
    assert seeds_of(range(5, 7)) == [5, 6]
    assert seeds_of([0, 2**63 - 1]) == [0, 2**63 - 1]


def test_warnings_about_points_are_reported() -> None:
    """Packets have a TTL of 30 hops; a warning about several points is printed once."""
    axes = {"topology.hops": [2, 32], "tcp.receive_window": [4, 8]}
    doubt, early, *silent = chappe.sweep(CHAIN.with_settings({"run.time_limit": "1 s"}), axes, seeds=2).warnings
    assert (early.code, early.message) == (
        "early_end",
        "8 runs reached run.time_limit before the stop rule was met",
    )
    assert {w.code for w in silent} == {"silent_flow"}
    assert doubt.code == "too_many_hops"
    assert doubt.message.startswith("flow 0 needs 32 hops")
    assert doubt.message.endswith(", with topology.hops = 32, tcp.receive_window = 4 and at 1 more point")


def test_unused_settings_are_reported() -> None:
    """Settings of one variant or of one case are used at some point, and cause no warning."""
    base = CHAIN.with_settings({"run.stop": "1 s", "tcp.vegas.alpha": 2, "tcp.few.alpha": 1, "tcp.ap.ewma_weight": 0.5})
    cases: dict[str, dict[str, Any]] = {
        "vegas": {"tcp.variant": "vegas"},
        "few": {"tcp.variant": "few", "tcp.ap.history_samples": 60},
        "reno": {"tcp.variant": "reno", "tcp.vegas.alpha": 3},
    }
    assert len(base.warnings) == 3
    assert [str(w) for w in chappe.sweep(base, {}, cases=cases, seeds=2).warnings] == [
        "`tcp.ap.ewma_weight`, `tcp.ap.history_samples` have no effect, because the congestion control is not `tcp_ap`"
    ]
    # The base scenario uses the setting.
    vegas = CHAIN.with_settings({"run.stop": "1 s", "tcp.variant": "vegas", "tcp.vegas.alpha": 2})
    assert chappe.sweep(vegas, {"tcp.variant": ["reno", "sack"]}, seeds=2).warnings == []
    assert chappe.sweep(vegas, {"tcp.variant": ["reno", "sack"], "tcp.vegas.beta": [4]}, seeds=2).warnings == [
        (
            "unused_setting",
            "tcp.vegas.beta",
            "`tcp.vegas.beta` has no effect, because the congestion control is not `vegas`",
        )
    ]


# ---- the store ----


def test_runs_equal_single_runs(tmp_path: Path) -> None:
    axes = {"topology.hops": [1, 3], "tcp.variant": ["newreno", "vegas"]}
    swept = chappe.sweep(CHAIN, axes, seeds=[5, 2], out=tmp_path)
    assert swept.runs["seed"].to_list() == [5, 2] * 4
    assert swept.runs["point"].to_list() == [0, 0, 1, 1, 2, 2, 3, 3]
    for row in swept.runs.iter_rows(named=True):
        alone = chappe.run(CHAIN.with_settings({name: row[name] for name in axes}), seed=row["seed"])
        assert (row["end"], row["frames_sent"], row["simulated_s"]) == (alone.end, alone.frames_sent, alone.simulated_s)
        for m in alone.summary().iter_rows(named=True):
            assert row[m["measure"]] == pytest.approx(m["estimate"])
            for end in ("ci_low", "ci_high"):
                assert row[column(m["measure"], end)] == pytest.approx(m[end])
        for name in TABLES:
            rows = swept.table(name).filter(pl.col("run") == row["run"])
            assert rows.select(getattr(alone, name).columns).equals(getattr(alone, name)), name


def test_only_missing_runs_are_executed(tmp_path: Path, executed: list[str]) -> None:
    chappe.sweep(CHAIN, {"topology.hops": [1, 2]}, seeds=2, out=tmp_path / "a")
    assert len(executed) == 4
    chappe.sweep(CHAIN, {"topology.hops": [1, 2]}, seeds=2, out=tmp_path / "a")
    assert len(executed) == 4
    chappe.sweep(CHAIN, {"topology.hops": [3, 1, 2]}, seeds=3, out=tmp_path / "a", jobs=3)
    assert len(executed) == 9
    chappe.sweep(CHAIN, {"topology.hops": [3, 1, 2]}, seeds=3, out=tmp_path / "b", jobs=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_unselected_runs_are_kept(tmp_path: Path, executed: list[str]) -> None:
    whole = {"topology.hops": [1, 2, 3]}
    chappe.sweep(CHAIN, whole, seeds=2, out=tmp_path)
    before = contents(tmp_path)
    less = chappe.sweep(CHAIN, {"topology.hops": [2]}, seeds=1, out=tmp_path)
    assert len(less.runs) == len(less.table("flows")) == 1
    assert pl.read_parquet(tmp_path / "chunks/*/run_info.parquet").height == 1
    assert pl.read_parquet(tmp_path / "parts/other/run_info.parquet").height == 5
    chappe.sweep(CHAIN, whole, seeds=2, out=tmp_path)
    assert len(executed) == 6
    assert contents(tmp_path) == before


def test_other_programs_can_read_it(tmp_path: Path) -> None:
    chappe.sweep(CHAIN, {"topology.hops": [1, 2], "tcp.variant": ["reno", "vegas"]}, seeds=3, out=tmp_path)
    runs = pl.read_parquet(tmp_path / "runs.parquet")
    flows = pl.read_parquet(tmp_path / "chunks/*/flows.parquet")
    together = runs.join(flows, on="run", suffix="_of_flow")
    assert together.height == 12
    assert set(together.select("topology.hops", "dst").unique().iter_rows()) == {(1, 1), (2, 2)}


def test_temporary_studies_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    swept = chappe.sweep(CHAIN, {"topology.hops": [1, 2]})
    folder = swept.folder
    assert folder.is_dir()
    assert len(swept.table("nodes")) == 5
    del swept
    assert not folder.exists()
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], pl.Int64),
        ([True, False], pl.Boolean),
        (["1 ms", "2 ms"], pl.String),
        ([1, 1.5], pl.Float64),
        ([1.25, "x"], pl.String),
        ([[1, 2], [3]], pl.String),
    ],
)
def test_values_of_axes_become_columns(values: list[Any], kind: Any) -> None:
    points = [axes.Point({"a": v}, CHAIN) for v in values]
    column = points_table([axes.Item(p, 1) for p in points])["a"]
    assert column.dtype == kind


# ---- length and number of runs ----


def test_seeds_until_the_mean_is_precise(tmp_path: Path) -> None:
    rule = study.Precision("goodput_bps", within=0.05, max_seeds=40, min_seeds=5)
    axes = {"topology.hops": [1, 3, 7]}
    swept = chappe.sweep(CHAIN, axes, seeds=2, precision=rule, out=tmp_path / "a", jobs=2)
    rows = swept.summary().to_dicts()
    for row in rows:
        # The error is a share of the true mean, which may be at either end of the interval.
        precise = row["ci_low"] > 0 and row["estimate"] / row["ci_low"] - 1 <= 0.05
        precise &= 1 - row["estimate"] / row["ci_high"] <= 0.05
        assert row["met"] == precise
        assert precise or row["n"] == 40
    assert rows[0]["n"] == 5
    assert rows[2]["n"] > 5
    assert swept.summary("mean_rtt_s")["met"].is_null().all()
    chappe.sweep(CHAIN, axes, seeds=2, precision=rule, out=tmp_path / "b", jobs=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@pytest.mark.parametrize(
    ("arguments", "runs"), [({}, 10), ({"min_seeds": 4}, 4), ({"max_seeds": 6}, 6), ({"seeds": 12}, 12)]
)
def test_a_point_has_ten_runs_before_it_stops(arguments: dict[str, Any], runs: int) -> None:
    """Unless told otherwise, or fewer are allowed."""
    given: dict[str, Any] = {"seeds": 2, "precision": 0.9, "max_seeds": 20, **arguments}
    swept = chappe.sweep(CHAIN, **given)
    assert len(swept.runs) == runs


def test_a_precise_mean_is_near_any_true_mean_of_its_interval() -> None:
    """The ends of the interval of a skewed measure are not equally far from the mean."""
    rule = study.Precision("goodput_bps", within=0.2)

    def of(low: float, high: float) -> Pooled:
        """Estimate with the mean 100 and these ends."""
        return Pooled(100.0, 0.0, 9, exact=lambda _: (low, high), limits=(0, math.inf))

    # Errors of 100 / low - 1 and of 1 - 100 / high.
    assert [rule.met(of(low, 100)) for low in (83.4, 83.3)] == [True, False]
    assert [rule.met(of(100, high)) for high in (124.9, 125.1)] == [True, False]
    # Half the width is 14 % of the mean, but the true mean may be 27 % below.
    assert not rule.met(of(73, 101))
    assert not rule.met(Pooled(0.0, 0.0, 9))
    assert not rule.met(of(0, 100))
    # Of a symmetric interval the lower end decides: h / (m - h).
    assert [rule.met(of(100 - h, 100 + h)) for h in (16.6, 16.7)] == [True, False]


def test_existing_runs_do_not_change_a_sequential_study(tmp_path: Path, executed: list[str]) -> None:
    rule = study.Precision("goodput_bps", within=0.05, max_seeds=40)
    expected = chappe.sweep(CHAIN, {"topology.hops": [3]}, seeds=3, precision=rule).runs
    chappe.sweep(CHAIN, {"topology.hops": [3]}, seeds=40, out=tmp_path)
    executed.clear()
    assert chappe.sweep(CHAIN, {"topology.hops": [3]}, seeds=3, precision=rule, out=tmp_path).runs.equals(expected)
    assert executed == []


def test_a_cap_ends_an_imprecise_study_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The point that missed its precision is named in the table, in warnings and in JSON."""
    monkeypatch.chdir(tmp_path)
    Path("chain.toml").write_text('extends = "ns2-2.35"\nrun.stop = "110 delivered"\n')
    Path("study.toml").write_text(
        'scenario = "chain.toml"\nseeds = 3\naxes.topology.hops = [1, 3]\n'
        'precision = { within = "3 %", max_seeds = 7 }\n'
    )
    swept = chappe.sweep(CHAIN, {"topology.hops": [1, 3]}, seeds=3, precision=0.03, max_seeds=7)
    met, missed = swept.summary().to_dicts()
    assert (met["met"], missed["met"], missed["n"]) == (True, False, 7)
    (doubt,) = swept.doubts()
    assert [(w.code, w.message) for w in swept.warnings] == [("missed_precision", doubt)]
    most = max(missed["estimate"] / missed["ci_low"] - 1, 1 - missed["estimate"] / missed["ci_high"])
    assert doubt == (
        "goodput_bps missed its precision at 1 of 2 points: with topology.hops = 3 the error is up to "
        f"{100 * most:.2g} %, not 3 %, after 7 seeds. Raise max_seeds"
    )
    assert cli.main(["sweep", "study.toml"]) == 0
    printed = capsys.readouterr()
    assert f"warning: {doubt}" in printed.err
    lines = printed.out.splitlines()
    (heading,) = (line for line in lines if "precision" in line)
    assert heading.split()[-1] == "precision"
    assert [line.split()[-1] for line in lines if "goodput" in line] == ["met", "missed"]
    assert cli.main(["sweep", "study.toml", "--json", "-q"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["met"] for row in told["summary"]] == [True, False]
    assert {"code": "missed_precision", "path": "precision.max_seeds", "message": doubt} in told["warnings"]


def test_a_longer_run_of_one_seed() -> None:
    rule = study.Precision("goodput_bps", within=0.03, max_length=8)
    swept = chappe.sweep(CHAIN, {"topology.hops": [1, 7]}, precision=rule)
    for row, run in zip(swept.summary().to_dicts(), swept.runs.to_dicts(), strict=True):
        assert (row["of"], row["n"]) == ("batches", 10)
        hops = {"topology.hops": row["topology.hops"]}
        lengths = [chappe.run(CHAIN.with_settings({**hops, "run.stop": f"{n * 110} delivered"})) for n in (1, 2, 4, 8)]
        widths = [r.summary().row(0, named=True) for r in lengths]
        first = [n for n, w in enumerate(widths) if 0.97 * w["ci_high"] <= w["estimate"] <= 1.03 * w["ci_low"]]
        assert run["simulated_s"] == lengths[first[0] if first else 3].simulated_s


def test_mser5_needs_batches() -> None:
    with pytest.raises(study.StudyError, match="a run has 11 batches"):
        chappe.sweep(CHAIN, warmup="mser5")


def test_mser5_leaves_out_the_beginning() -> None:
    """100 batches, none discarded: equal to the calculation by hand from the table of batches."""
    scenario = CHAIN.with_settings({"run.batches": 100, "run.warmup_batches": 0, "run.stop": "1000 delivered"})
    swept = chappe.sweep(scenario, warmup="mser5")
    batches = chappe.run(scenario, seed=1).batches
    left_out = chappe.stats.mser5(batches["goodput_bps"].to_list())
    (row,) = swept.summary().to_dicts()
    assert row["n"] == 100 - left_out
    counted = batches[left_out:]
    assert row["estimate"] == pytest.approx(
        8 * 1460 * counted["packets_delivered"].sum() / (counted["ended_at_s"][-1] - counted["started_at_s"][0])
    )
    assert swept.runs["goodput_bps"].to_list() == [pytest.approx(row["estimate"])]


def test_mser5_over_seeds_looks_at_the_mean_of_the_runs() -> None:
    """All runs of a point leave out the same batches: those that the mean of their series shows."""
    scenario = CHAIN.with_settings({"run.batches": 40, "run.warmup_batches": 0, "run.stop": "400 delivered"})
    swept = chappe.sweep(scenario, {"topology.hops": [2, 4]}, seeds=5, warmup="mser5")
    for hops, of_point in swept.runs.group_by("topology.hops", maintain_order=True):
        at = scenario.with_settings({"topology.hops": hops[0]})
        batches = [chappe.run(at, seed=seed).batches for seed in of_point["seed"]]
        left_out = chappe.stats.mser5(np.mean([b["goodput_bps"].to_numpy() for b in batches], axis=0))
        for value, b in zip(of_point["goodput_bps"], batches, strict=True):
            used = b[left_out:]
            time = used["ended_at_s"][-1] - used["started_at_s"][0]
            assert value == pytest.approx(8 * used["bytes_delivered"].sum() / time)
    # With fixed precision the rule sees the same runs.
    rule = study.Precision("goodput_bps", within=0.0001, max_seeds=5)
    capped = chappe.sweep(scenario, {"topology.hops": [2, 4]}, seeds=2, warmup="mser5", precision=rule)
    assert capped.runs.equals(swept.runs)


def test_a_transient_of_half_a_run_is_in_doubt() -> None:
    """A sender that starts in the middle of the run: a longer transient would not be found."""
    settings = {"run.batches": 20, "run.warmup_batches": 0, "wlan.rts_threshold": "always", "tcp.ack_policy": "every"}
    scenario = chappe.Scenario.chain(1, settings, stop="20 s")
    late = scenario.with_settings({"flow": [{"src": 0, "dst": 1, "start": "9.5 s"}]})
    swept = chappe.sweep(late, {"tcp.receive_window": [4, 8]}, seeds=2, warmup="mser5")
    assert (
        "MSER-5 left out half of the batches of goodput_bps, the largest share, at 2 of 2 points: the transient may be "
        "longer. Use longer runs with more batches"
    ) in swept.doubts()
    at_once = chappe.sweep(scenario, seeds=2, warmup="mser5")
    assert not any("MSER-5" in text for text in at_once.doubts())


def test_a_welch_plot_shows_the_mean_of_the_runs() -> None:
    scenario = CHAIN.with_settings({"run.batches": 20, "run.warmup_batches": 0, "run.stop": "200 delivered"})
    swept = chappe.sweep(scenario, {"topology.hops": [1, 2]}, seeds=3)
    figure = plot.welch(swept, "goodput_bps", window=2)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["topology.hops = 1", "topology.hops = 2"]
    mean, smooth = (np.asarray(line.get_ydata(), dtype=float) for line in figure.axes[0].lines)
    runs = [
        chappe.run(scenario.with_settings({"topology.hops": 1}), seed=seed).batches["goodput_bps"] for seed in (1, 2, 3)
    ]
    assert mean == pytest.approx(np.mean([r.to_numpy() for r in runs], axis=0) / 1e3)
    assert smooth[0] == pytest.approx(mean[0])
    assert smooth[1] == pytest.approx(np.mean(mean[:3]))
    assert smooth[9] == pytest.approx(np.mean(mean[7:12]))
    with pytest.raises(ValueError, match="there is no measure 'goodput'"):
        plot.welch(swept, "goodput")
    many = chappe.sweep(CHAIN, {"tcp.receive_window": list(range(1, 14))}, seeds=1)
    with pytest.raises(ValueError, match="a plot has from 1 to 12 points, and this study has 13"):
        plot.welch(many)


def test_correlated_batches_are_reported() -> None:
    """Batches of one packet have nearly equal windows."""
    scenario = CHAIN.with_settings({"run.batches": 100, "run.stop": "100 delivered"})
    swept = chappe.sweep(scenario, {"tcp.receive_window": [64]})
    (row,) = swept.summary("mean_window_segments").to_dicts()
    assert row["correlated"]
    assert row["autocorrelation"] > 0.5
    short, doubt, trend = swept.doubts("mean_window_segments")
    assert short.startswith("batches of 1 packets are short: ")
    assert trend.startswith("batches of mean_window_segments have a trend: there is no steady state")
    assert row["doubt"] == "one run, short batches, correlated, trend"
    assert doubt == (
        "batches of mean_window_segments are correlated: their interval is too narrow. "
        "Use longer batches or several seeds"
    )


def test_points_with_correlated_batches_are_counted() -> None:
    """One warning for each measure, however many points it is about."""
    scenario = CHAIN.with_settings({"run.batches": 100, "run.stop": "100 delivered"})
    swept = chappe.sweep(scenario, {"tcp.receive_window": [1, 16, 64]})
    rows = swept.summary("mean_window_segments")
    many = rows.filter("correlated")
    assert len(many) == 2
    texts = [n.message for n in swept._notices(["mean_window_segments"]) if n.code == "correlated_batches"]
    assert texts == [
        "batches of mean_window_segments are correlated at 2 of 3 points, the first with tcp.receive_window = 16: "
        "their intervals are too narrow. Use longer batches or several seeds"
    ]


def test_runs_without_events_are_reported() -> None:
    changes = {"bulk.segments": 20, "run.batches": 2, "routing.protocol": "shortest_path"}
    files = chappe.Scenario.chain(1, changes, stop="1000 delivered")
    swept = chappe.sweep(files, {"topology.hops": [1, 2]}, seeds=2)
    assert swept.runs["end"].to_list() == ["idle"] * 4
    early = [n for n in swept._notices(["goodput_bps"]) if n.code == "early_end"]
    assert [n.message for n in early] == ["4 runs ended early: no events were left"]


def test_independent_batches_cause_no_warning() -> None:
    assert (
        chappe.sweep(CHAIN.with_settings({"run.stop": "11000 delivered"})).doubts(("goodput_bps", "mean_rtt_s")) == []
    )


def test_jains_index_is_a_measure() -> None:
    """Two flows over one hop, one far slower: Jain's index of the goodputs, and its mean over batches."""
    flows = [{"src": 0, "dst": 1}, {"src": 0, "dst": 1, "tcp": {"receive_window": 1, "ack_policy": "delayed"}}]
    swept = chappe.sweep(CHAIN.with_settings({"topology.hops": 1, "flow": flows}), seeds=2)
    batches = swept.table("flow_batches").filter("used")
    for (seed,), of_run in batches.group_by("seed"):
        by_batch = [b["goodput_bps"].to_numpy() for b in of_run.partition_by("batch")]
        expected = np.mean([x.sum() ** 2 / (2 * (x * x).sum()) for x in by_batch])
        (run,) = swept.runs.filter(pl.col("seed") == seed).to_dicts()
        assert run["jain_index_of_batches"] == pytest.approx(expected)
        delivered = of_run.group_by("flow").agg(pl.col("packets_delivered").sum())["packets_delivered"]
        assert run["jain_index"] == pytest.approx(jain_index(delivered.to_list()))
        assert 0.5 < run["jain_index"] < 0.99
    # Runs have equal weight, whatever they delivered.
    (row,) = swept.summary("jain_index").to_dicts()
    assert row["estimate"] == pytest.approx(swept.runs["jain_index"].mean())


# ---- files and the command ----

GOOD = """\
scenario = "base.toml"
seeds = 3
measures = ["goodput_bps", "mean_delay_s"]

[axes]
topology.hops = [1, 2]
"tcp.variant" = ["newreno", "vegas"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "base.toml").write_text('extends = "ns2-2.35"\nrun.stop = "110 delivered"\n')
    (tmp_path / "study.toml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", "study.toml"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "12 runs in results/study." in printed.out
    rows = [re.split(r"\s{2,}", line) for line in printed.out.splitlines()]
    same = chappe.sweep("base.toml", {"topology.hops": [1, 2], "tcp.variant": ["newreno", "vegas"]}, seeds=3)
    (goodput,) = same.summary().filter(pl.col("topology.hops") == 2, pl.col("tcp.variant") == "vegas").to_dicts()
    (row,) = (r for r in rows if r[:3] == ["2", "vegas", "goodput"])
    assert row[5] == "3"
    assert row[3] == chappe.text.estimate(goodput, 1e-3)
    assert row[7:] == ["few runs"]
    # Three runs give no interval of a median.
    assert goodput["median"] is None
    assert "few runs: fewer than 14 runs" in printed.out
    assert study.Study(folder / "results/study").runs.equals(same.runs)


def test_cores_of_this_machine_are_not_those_of_a_cluster(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    assert cli.main(["sweep", str(folder / "study.toml"), "--backend", "ray", "--jobs", "2"]) == 2
    assert "--jobs is for the cores of this machine" in capsys.readouterr().err
    assert contents(folder) == before


def test_the_command_as_json_and_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", "study.toml", "--quiet", "--out", "out"]) == 0
    assert capsys.readouterr() == ("", "")
    assert cli.main(["sweep", "study.toml", "--json", "--out", "out"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["run_count"], printed["failed"], printed["folder"]) == (12, [], "out")
    assert printed["results_epoch"] == chappe.RESULTS_EPOCH
    assert len(printed["summary"]) == 8
    assert printed["summary"][0]["autocorrelation"] is None
    assert contents(folder / "out")


def test_a_scenario_inside_of_a_study(folder: Path) -> None:
    """`extends` is relative to the folder of the study."""
    (folder / "below").mkdir()
    text = '[scenario]\nextends = "../base.toml"\n[scenario.tcp]\nreceive_window = 7\n[cases.a]\n[cases.b]\n'
    text += 'tcp.variant = "sack"\n'
    (folder / "below/study.toml").write_text(text)
    loaded = study.load("below/study.toml")
    assert loaded.scenario["tcp.receive_window"] == 7
    assert loaded.scenario["run.stop"] == "110 delivered"
    assert loaded.cases == {"a": {}, "b": {"tcp.variant": "sack"}}
    assert loaded.seeds == [1]


BAD = """\
scenario = { extends = "ns2-2.35", run = { stop = "1 s" } }
seeds = [3, 3]
transcient = "mser5"
measures = ["goodput"]

[axes]
topology.hops = [2, 4]
tcp.variant = [
    "newreno", "vegass"]
tcp.receive_window = 3

[precision]
within = 5
max_seeds = 0
"""


def test_all_errors_of_a_study_are_reported_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.toml").write_text(BAD)
    before = contents(folder)
    assert cli.main(["sweep", "bad.toml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    for line, reason in (
        (2, "`seeds` has the same seed twice"),
        (3, "a study has no setting `transcient`"),
        (4, "there is no measure 'goodput'"),
        (8, '`tcp.variant` cannot be "vegass"'),
        (10, "the axis `tcp.receive_window` is not a list of values"),
        (13, "`precision.within` is not a share of the mean"),
        (14, "`precision.max_seeds`: 0 is not a whole number of at least 1"),
    ):
        assert f"error: {reason}" in printed.err
        assert f" --> bad.toml:{line}\n" in printed.err[printed.err.index(reason) :].partition("\n\n")[0] + "\n"
    assert printed.err.endswith("bad.toml: 7 errors; nothing was run.\n")
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "`scenario` is missing"),
        ("scenario = 3", "`scenario` must be a file or a table"),
        ('scenario = "nowhere.toml"', "cannot read nowhere.toml: no such file or directory"),
        ('scenario = "wrong.toml"', "wrong.toml:1:16"),
        ("scenario = ", "not valid TOML"),
        ('scenario = "base.toml"\naxes = 3', "`axes` must be a table"),
        ('scenario = "base.toml"\ncases = {}', "`cases` is empty"),
        ('scenario = "base.toml"\ncases.a = 3', "the case `a` is not a table"),
        ('scenario = "base.toml"\nmeasures = []', "`measures` is not a list of names"),
        ('scenario = "base.toml"\nwarmup = "mser6"', "`warmup` cannot be 'mser6'"),
        ('scenario = "base.toml"\n[precision]\nwithin = "0 %"\nmax_length = 4', "`precision.within` is 0 %"),
        ('scenario = "base.toml"\n[precision]\nwithin = "5 %"', "`precision.max_length` is missing"),
        ('scenario = "base.toml"\n[precision]\nwithin = "5 %"\nmax_seeds = 4', "needs several seeds"),
        ('scenario = "base.toml"\nseeds = 5\n[precision]\nwithin = "5 %"\nmax_seeds = 4', "`precision.max_seeds` is 4"),
        ('scenario = "base.toml"\n[search]\nsetting = "tcp.receive_window"', "`search.low` is missing"),
        (
            'scenario = "base.toml"\n[search]\nsetting = "tcp.receive_windo"\nlow = 1\nhigh = 9',
            "did you mean `receive_window`?",
        ),
        (
            'scenario = "base.toml"\n[search]\nsetting = "tcp.receive_window"\nlow = 0\nhigh = 9',
            "`tcp.receive_window` is 0",
        ),
        (
            'scenario = "base.toml"\n[search]\nsetting = "tcp.receive_window"\nlow = 9\nhigh = 1',
            "`search.high` must be",
        ),
        ('scenario = "base.toml"\n[search]\nsetting = "tcp.receive_window"\nlow = "x"\nhigh = 1', "is not a number"),
        ('scenario = "base.toml"\nmeasures = ["energy_per_bit_j"]', "`energy_per_bit_j` needs the count of airtime"),
        ('scenario = "base.toml"\n[search]\nsetting = "tcp.rto.min"\nlow = "1 ms"\nhigh = "1 s"', "mixes units"),
    ],
)
def test_invalid_studies_are_rejected(text: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong.toml").write_text('run = { stop = "soon" }\n')
    (folder / "bad.toml").write_text(text)
    before = contents(folder)
    assert cli.main(["sweep", "bad.toml"]) == 2
    printed = capsys.readouterr()
    assert reason in printed.err
    assert printed.out == ""
    assert contents(folder) == before


def test_energy_is_compared_where_air_time_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace('"goodput_bps", "mean_delay_s"', '"energy_per_bit_j"').replace(
        "[axes]", "[axes]\nrun.airtime = [true]"
    )
    (folder / "energy.toml").write_text(text)
    assert cli.main(["sweep", "energy.toml"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "energy per delivered bit" in printed.out
    energy_study = study.Study(folder / "results/energy")
    row = energy_study.compare("energy_per_bit_j", {"topology.hops": 2}, {"topology.hops": 1}).row(0, named=True)
    # The second hop costs as much energy as the first, which one more node hears.
    assert row["significant"]
    assert row["estimate_a"] > 2 * row["estimate_b"] > 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere.toml"], "cannot read nowhere.toml: no such file or directory"),
        (["study.toml", "--jobs", "0"], "0 is not a whole number of at least 1"),
        (["study.toml", "--backend", "mars"], "cannot run on 'mars'"),
    ],
)
def test_bad_arguments(arguments: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    try:
        code = cli.main(["sweep", *arguments])
    except SystemExit as e:  # argparse
        code = int(e.code or 0)
    assert code == 2
    assert reason in capsys.readouterr().err
    assert contents(folder) == before


# ---- equivalent values ----


@pytest.mark.parametrize(
    ("axes", "cases", "reason"),
    [
        ({"topology.spacing": ["200 m", "0.2 km"]}, None, ["equivalent values 200 m and 0.2 km"]),
        ({"tcp.receive_window": [2, 4, 2.0]}, None, ["equivalent values 2 and 2.0"]),
        ({"tcp.receive_window": [np.int64(2), 2]}, None, ["has the value 2 2 times"]),
        ({"tcp.max_cwnd": [None, "unlimited"]}, None, ["equivalent values None and unlimited"]),
        ({"wlan.data_rate": ["2 Mbit/s", "2000 kbit/s", "2e6 bit/s"]}, None, ["Mbit/s and 2000", "Mbit/s and 2e6"]),
        ({"run.stop": ["10 s", "0.01 ks", "10000 ms"]}, None, ["cannot be", "equivalent values 10 s and 10000 ms"]),
        ({"tcp.vegas": [{"alpha": 1, "beta": 3}, {"beta": 3.0, "alpha": 1.0}]}, None, ["has the equivalent values"]),
        (
            {"tcp.receive_window": [4]},
            {"a": {"tcp.receive_window": 8}},
            ["`tcp.receive_window` is set by the case `a` and by the axis"],
        ),
        (
            {"tcp.receive_window": [4]},
            {"a": {}, "b": {"tcp": {"receive_window": 8}}},
            ["`tcp.receive_window` is set by the case `b`"],
        ),
        (
            {"tcp": [{"receive_window": 4}]},
            {"a": {"tcp.receive_window": 8}},
            ["`tcp.receive_window` is set by the case `a`"],
        ),
        (
            {"tcp.receive_window": [4], "tcp": [{"receive_window": 2}]},
            None,
            ["the axes `tcp.receive_window` and `tcp` change the same setting"],
        ),
        (
            {},
            {"a": {}, "b": {"tcp.receive_window": CHAIN["tcp.receive_window"]}},
            ["case = a and case = b are equivalent"],
        ),
        (
            {"topology.hops": [1, 2]},
            {"a": {"tcp.receive_window": 4}, "b": {"tcp.receive_window": 4.0}},
            ["case = a and case = b are equivalent"],
        ),
    ],
)
def test_equivalent_values_are_rejected(axes: dict[str, Any], cases: Any, reason: list[str]) -> None:
    with pytest.raises(study.StudyError) as error:
        chappe.sweep(CHAIN, axes, cases=cases)
    messages = [p.message for p in error.value.problems]
    assert len(messages) == len(reason), messages
    for text, message in zip(reason, messages, strict=True):
        assert text in message


def test_names_that_begin_alike_do_not_clash() -> None:
    axes = {"tcp.receive_window": [4, 8], "tcp.rto.min": ["200 ms"]}
    assert len(grid(CHAIN, axes, {"a": {"tcp.rto.max": "30 s"}, "b": {"tcp": {"rto": {"tick": "1 ms"}}}})) == 4


def test_a_search_does_not_override_a_case() -> None:
    rule: dict[str, Any] = {"setting": "tcp.receive_window", "low": 1, "high": 9}
    with pytest.raises(study.StudyError, match=r"`tcp.receive_window` is also set by the case `a`"):
        chappe.search(CHAIN, **rule, cases={"a": {"tcp": {"receive_window": 4}}, "b": {}})
    with pytest.raises(study.StudyError, match=r"`tcp.receive_window` is also an axis"):
        chappe.search(CHAIN, **rule, axes={"tcp.receive_window": [4]})


# ---- another study in the folder ----


@pytest.mark.parametrize(
    ("axes", "seeds", "replaced"),
    [
        ({"topology.hops": [1, 2]}, 2, "4 runs of its results are no longer shown"),
        ({"tcp.receive_window": [2]}, 2, "2 runs of its results are no longer shown"),
        ({"tcp.receive_window": [2, 4]}, 1, "2 runs of its results are no longer shown"),
        ({"tcp.receive_window": [2, 4]}, [1, 3], "2 runs of its results are no longer shown"),
        ({"tcp.receive_window": [2, 4]}, 2, None),
        ({"tcp.receive_window": [2, 4, 8]}, 3, None),
        ({"tcp.receive_window": [2, 4], "topology.hops": [1, 2]}, 2, None),
    ],
)
def test_hidden_runs_are_reported(axes: Any, seeds: Any, replaced: str | None, tmp_path: Path) -> None:
    """The second study in a folder warns about hidden runs; the first is not lost."""
    first = chappe.sweep(CHAIN, {"tcp.receive_window": [2, 4]}, seeds=2, out=tmp_path)
    before = first.summary()
    swept = chappe.sweep(CHAIN, axes, seeds=seeds, out=tmp_path)
    if replaced is None:
        assert swept.warnings == []
    else:
        warning, *of_results = swept.warnings
        assert {w.code for w in of_results} == ({"short_batches"} if seeds == 1 else set())
        assert warning.code == "replaced_runs"
        assert warning.message.startswith(f"{tmp_path} held a study with other values, seeds or rules: ")
        assert replaced in warning.message
        assert swept.doubts()[0] == warning.message
    # A repetition hides no further runs.
    again = chappe.sweep(CHAIN, axes, seeds=seeds, out=tmp_path)
    assert "replaced_runs" not in {w.code for w in again.warnings}
    assert chappe.sweep(CHAIN, {"tcp.receive_window": [2, 4]}, seeds=2, out=tmp_path).summary().equals(before)


def test_values_that_need_another_axis_are_no_mistakes() -> None:
    """BBR needs Linux's loss recovery, which another axis or a case may bring."""
    bbr, linux = {"tcp.congestion_control": ["bbr"]}, {"tcp.loss_recovery": "rack_tlp"}
    plain = chappe.Scenario.chain(2, stop="110 delivered")
    assert len(grid(plain, {**bbr, "tcp.loss_recovery": ["rack_tlp"]})) == 1
    assert len(grid(plain, bbr, {"linux": linux})) == 1
    with pytest.raises(
        chappe.StudyError, match=r"does not work with the loss recovery .*, with tcp.congestion_control = bbr"
    ):
        grid(plain, {**bbr, "tcp.loss_recovery": ["rack_tlp", "newreno"]})
    with pytest.raises(chappe.StudyError, match=r"`tcp.congestion_control` cannot be .bbrr."):
        grid(plain, {"tcp.congestion_control": ["bbrr"], "tcp.loss_recovery": ["rack_tlp"]})


def test_a_study_refuses_an_empty_folder_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(study.StudyError, match="names no folder"):
        chappe.sweep(CHAIN, out="")
    assert contents(tmp_path) == {}


def test_a_study_file_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    text = 'seeds = 3\nscenario = { run.stop = "110 delivered" }\n'
    (tmp_path / "study.toml").write_text(text, encoding="utf-8-sig")
    assert study.load(tmp_path / "study.toml").seeds == [1, 2, 3]
