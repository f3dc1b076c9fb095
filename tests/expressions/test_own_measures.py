"""User-defined measures: expressions, their totals over runs, quantiles of delays, and what is refused."""

import contextlib
import io
import math
import re
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.expressions import reductions
from chappe.expressions.own_measures import Own, _statistic
from chappe.expressions.parser import Aggregate, ExpressionError, parsed
from chappe.expressions.reductions import Part, bins_of, columns, delays, ends_of, gaps, intervals, quantile, reduced
from chappe.measures import KNOWN, Totals
from chappe.results.storage.columns import RUN
from hypothesis import given
from hypothesis import strategies as st

SETTINGS = {
    "extends": "ns2-2.35",
    "run.stop": "20 s",
    "topology.hops": 3,
    "flow": [
        {"src": 0, "dst": 3},
        {"src": 3, "dst": 0, "tcp": {"variant": "vegas"}, "group": "web"},
        {"src": 0, "dst": 3, "app": "cbr", "cbr": {"interval": "50 ms"}, "name": "voice"},
    ],
}
SCENARIO = chappe.Scenario(SETTINGS)
RATIO = "sum(flows.timeouts) / sum(flows.packets_delivered)"


def retransmitted(tables: object) -> tuple[float, float]:
    """Frames that repeat an earlier one, and all frames: of a recorded table."""
    frames = tables["frames"]  # type: ignore[index]
    return float(frames["retry"].sum()), float(len(frames))


def total(values: pl.Series) -> float:
    return float(values.drop_nulls().to_numpy().sum())


def largest(values: pl.Series) -> float:
    return float(values.drop_nulls().to_numpy().max())


@pytest.fixture(scope="module")
def recorded() -> list[chappe.Results]:
    """The same runs as those of the study, with their packets."""
    scenario = SCENARIO.with_settings({"run.record": ["packets", "frames"], "queue.limit": 5})
    return [chappe.run(scenario, seed=seed) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> chappe.Study:
    measures = {
        "timeouts_share": RATIO,
        "delay_p95_s": KNOWN["delay_p95_s"],
        "longest_gap_s": KNOWN["longest_gap_s"],
        "delay_of_all_s": "mean(delays.delay_s)",
        "timeouts_per_run": "sum(flows.timeouts)",
        "peak": "max(flows.goodput_bps) / 1e3",
    }
    folder = tmp_path_factory.mktemp("own") / "study"
    return chappe.sweep(SCENARIO, {"queue.limit": [5, 50]}, seeds=3, measures=measures, out=folder)


# ---- expressions ----


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("sum(flow.timeouts) / sum(flows.timeout)", ["no table 'flow': did you mean `flows`?", "`timeouts`?"]),
        ("flows.timeouts", ["`flows.timeouts` stands outside of a function"]),
        ("mean(sum(flows.timeouts))", ["`sum` stands inside of another one"]),
        ("sum(flows.app)", ["`flows.app` has words, not numbers"]),
        ("sum(flows.timeouts + nodes.node)", ["has columns of the tables `flows` and `nodes`"]),
        ("total(flows.timeouts)", ["there is no function 'total'"]),
        ("sum(flows.timeouts", ["`)` is missing at the end"]),
        ("sum(flows.timeouts) 3", ["'3' is left over"]),
        ("quantile(delays.delay_s, 2)", ["'2' is not the order of a quantile"]),
        ("quantile(delays.delay_s)", ["`,` is missing before ')'"]),
        ("1 + 2", ["measures nothing"]),
        ("", ["a value is missing at the end"]),
        ("__import__('os').system('true')", ["there is no function '__import__'", "a value is missing before"]),
        ("sum(flows.timeouts) ^ 2", ["'^' has no meaning in an expression"]),
        ("count(flows where src = 'mill)", ["has no meaning in an expression"]),
        ("(" * 80 + "1", ["nested deeper"]),
        ("-" * 900 + "1", ["nested deeper"]),
        ("1 +" * 400 + "1", ["at most 1000 characters"]),
    ],
)
def test_expressions_with_mistakes(text: str, messages: list[str]) -> None:
    with pytest.raises(ExpressionError) as e:
        parsed(text, columns())
    assert all(message in str(e.value) for message in messages), str(e.value)


@given(st.text("sumxflo(.)+-*/,0123456789e_ tablqudy", max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert str(parsed(str(parsed(text, columns())), columns())) == str(parsed(text, columns()))


def test_precedence_and_parentheses() -> None:
    tree = parsed("1 - 2 * -count(flows) / (3 - 4) - 5", columns())
    assert str(tree) == "((1.0 - ((2.0 * (-count(flows))) / (3.0 - 4.0))) - 5.0)"


# ---- histograms ----


@given(st.lists(st.floats(-1e12, 1e12, allow_nan=False), min_size=1, max_size=40), st.floats(0, 1))
def test_quantiles_of_a_histogram_are_within_its_bins(values: list[float], q: float) -> None:
    x = np.sort(np.array(values))
    bins, counts = np.unique(bins_of(x), return_counts=True)
    low, high = ends_of(bins_of(x))
    assert (low <= x * (1 + np.sign(x) * 1e-12)).all()
    assert (high >= x * (1 - np.sign(x) * 1e-12)).all()
    # The inverse of the distribution function.
    exact = x[max(math.ceil(q * len(x) - 1e-9) - 1, 0)]
    (bounds,) = [ends_of(bins_of(np.array([exact])))]
    found = float(quantile(counts.astype(float), bins, q))
    slack = 1e-9 * abs(exact)
    assert bounds[0][0] - slack <= found <= bounds[1][0] + slack or q * len(x) == pytest.approx(round(q * len(x)))


def test_bins_are_narrow() -> None:
    low, high = ends_of(bins_of(np.geomspace(1e-9, 1e9, 999)))
    assert (high / low < 1.011).all()


def test_an_empty_histogram_has_no_quantile() -> None:
    assert math.isnan(float(quantile(np.zeros(3), np.array([1, 2, 3]), 0.5)))
    assert math.isnan(float(quantile(np.zeros(0), np.zeros(0, dtype=np.int64), 0.5)))


# ---- measures ----


def test_delays_agree_with_the_core(recorded: list[chappe.Results]) -> None:
    """The core adds up the same delays, one by one."""
    for results in recorded:
        found = delays(results).group_by("flow").agg(pl.col("delay_s").mean(), pl.len()).sort("flow")
        assert found["len"].to_list() == results.flows["delay_samples"].to_list()
        assert found["delay_s"].to_list() == pytest.approx(results.flows["mean_delay_s"].to_list(), rel=1e-6)


def test_gaps_fill_the_measured_part(recorded: list[chappe.Results]) -> None:
    for results in recorded:
        of_flow = gaps(results).group_by("flow").agg(pl.col("gap_s").sum(), pl.col("starved_s").max()).sort("flow")
        length = results.simulated_s - results.measured_from_s
        assert of_flow["gap_s"].to_list() == pytest.approx([length] * 3)
        longest = largest(gaps(results)["gap_s"])
        assert largest(of_flow["starved_s"]) == pytest.approx(max(0.0, longest - reductions.SILENCE_S))


def test_measures_of_a_study(study: chappe.Study, recorded: list[chappe.Results]) -> None:
    flows = pl.concat(results.flows for results in recorded)
    every = pl.concat(delays(results) for results in recorded)["delay_s"]
    longest = np.mean([largest(gaps(results)["gap_s"]) for results in recorded])
    names = list(study._own)
    rows = study.summary(names).filter(pl.col("queue.limit") == 5)
    found = dict(rows.select("measure", "estimate").iter_rows())
    assert found["timeouts_share"] == pytest.approx(total(flows["timeouts"]) / total(flows["packets_delivered"]))
    assert found["timeouts_per_run"] == pytest.approx(total(flows["timeouts"]) / 3)
    assert found["delay_of_all_s"] == pytest.approx(every.mean())
    assert found["longest_gap_s"] == pytest.approx(longest)
    assert found["delay_p95_s"] == pytest.approx(np.quantile(every, 0.95), rel=0.02)
    peaks = [largest(results.flows["goodput_bps"]) / 1e3 for results in recorded]
    assert found["peak"] == pytest.approx(np.mean(peaks))
    assert (rows["n"] == 3).all()
    assert (rows["ci_low"] <= rows["estimate"]).all()
    assert (rows["estimate"] <= rows["ci_high"]).all()


def test_measures_are_columns_of_the_runs(study: chappe.Study, recorded: list[chappe.Results]) -> None:
    runs = study.runs.filter(pl.col("queue.limit") == 5)
    wanted = [total(r.flows["timeouts"]) / total(r.flows["packets_delivered"]) for r in recorded]
    assert runs["timeouts_share"].to_list() == pytest.approx(wanted)
    assert runs.columns[-6:] == list(study._own)
    assert chappe.Study(study.folder).runs.equals(study.runs)
    (study.folder / "runs.parquet").rename(study.folder / "runs.kept")
    assert chappe.Study(study.folder).runs.equals(study.runs)
    (study.folder / "runs.kept").rename(study.folder / "runs.parquet")


def test_measures_of_chosen_flows(study: chappe.Study, recorded: list[chappe.Results]) -> None:
    voice = pl.concat(delays(results).filter(pl.col("flow") == 2) for results in recorded)["delay_s"]
    found = study.summary("delay_p95_s of voice").filter(pl.col("queue.limit") == 5)["estimate"].item()
    assert found == pytest.approx(np.quantile(voice, 0.95), rel=0.02)
    web = study.summary("timeouts_per_run of web").filter(pl.col("queue.limit") == 5)["estimate"].item()
    assert web == pytest.approx(np.mean([results.flows["timeouts"][1] for results in recorded]))
    worst = study.summary("longest_gap_s", flows="each")
    whole = study.summary("longest_gap_s")
    assert largest(worst["estimate"]) <= largest(whole["estimate"]) * (1 + 1e-9)


def test_measures_are_compared_and_ranked(study: chappe.Study) -> None:
    compared = study.compare("delay_p95_s", "queue.limit", baseline=5)
    assert compared["relative"].item() > 0
    ranked = study.rank("delay_p95_s of voice", "queue.limit")
    assert ranked["estimate"].is_sorted()
    with pytest.raises(ValueError, match="no better direction"):
        study.rank("timeouts_share", "queue.limit")
    assert study.rank("timeouts_share", "queue.limit", direction="minimize")["n"].to_list() == [3, 3]
    assert study.plot("queue.limit", "delay_p95_s").axes[0].get_ylabel().startswith("delay p95")


def test_runs_are_repeated_only_for_other_recorded_tables(tmp_path: Path) -> None:
    short = SCENARIO.with_settings({"run.stop": "3 s"})
    plain = chappe.sweep(short, seeds=2, out=tmp_path / "out")
    keys = plain.runs[RUN].to_list()
    again = chappe.sweep(short, seeds=2, out=tmp_path / "out", measures={"timeouts_share": RATIO})
    assert again.runs[RUN].to_list() == keys
    delayed = chappe.sweep(short, seeds=2, out=tmp_path / "out", measures=["delay_p95_s"])
    assert delayed.runs[RUN].to_list() != keys
    assert delayed.runs["goodput_bps"].equals(plain.runs["goodput_bps"])
    back = chappe.sweep(short, seeds=2, out=tmp_path / "out")
    assert back.runs.equals(plain.runs)
    once_more = chappe.sweep(short, seeds=2, out=tmp_path / "out", measures=["delay_p95_s"])
    assert once_more.runs.equals(delayed.runs)


def test_a_study_without_measures_has_no_further_files(tmp_path: Path) -> None:
    chappe.sweep(SCENARIO.with_settings({"run.stop": "3 s"}), seeds=2, out=tmp_path / "out")
    assert not list(tmp_path.glob(f"**/{reductions.REDUCED}*"))
    assert "measures" not in (tmp_path / "out" / "study.json").read_text(encoding="utf-8")


def test_functions_and_expressions_of_polars() -> None:
    short = SCENARIO.with_settings({"run.stop": "5 s", "run.record": ["frames"]})
    measures = {
        "retried": retransmitted,
        "timeouts_share": (pl.col("timeouts").sum(), pl.col("packets_delivered").sum()),
        "flow_count": pl.len(),
    }
    found = chappe.sweep(short, seeds=2, measures=measures)
    values = dict(found.summary(list(measures)).select("measure", "estimate").iter_rows())
    frames = pl.concat(chappe.run(short, seed=seed).recorded["frames"] for seed in (1, 2))
    assert values["retried"] == pytest.approx(frames["retry"].mean())
    assert values["flow_count"] == 3
    flows = found.table("flows")
    assert values["timeouts_share"] == pytest.approx(total(flows["timeouts"]) / total(flows["packets_delivered"]))
    with pytest.raises(ValueError, match="is a function, which no flows can be chosen for"):
        found.summary("retried of voice")


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ({"goodput_bps": RATIO}, "the name `goodput_bps` is taken"),
        ({"Share": RATIO}, "'Share' cannot name a measure"),
        ({"share": "sum(flows.timeout)"}, "did you mean `timeouts`?"),
        ({"delay_p95_s": RATIO}, "`delay_p95_s` is a measure of its own"),
        ({"share": 3}, "the measure `share` has no expression"),
        (["delays_p95_s"], "did you mean `delay_p95_s`?"),
        ({"share": "sum(airtime.energy_j)"}, "which is empty without `run.airtime`"),
    ],
)
def test_measures_that_are_refused(measures: object, message: str) -> None:
    with pytest.raises(chappe.StudyError) as e:
        chappe.sweep(SCENARIO, seeds=2, measures=measures)  # type: ignore[arg-type]
    assert message in str(e.value)


def test_recorded_tables_stay_refused_without_a_function() -> None:
    with pytest.raises(chappe.StudyError, match="does not keep recorded tables"):
        chappe.sweep(SCENARIO.with_settings({"run.record": ["frames"]}), seeds=2, measures={"share": RATIO})


def command(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(arguments)
        except SystemExit as e:
            code = int(e.code or 0)
    return code, out.getvalue(), err.getvalue()


def test_study_files_and_commands(tmp_path: Path) -> None:
    (tmp_path / "three.toml").write_text(SCENARIO.with_settings({"run.stop": "5 s"}).to_toml(), encoding="utf-8")
    lines = ['scenario = "three.toml"', "seeds = 2", "[axes]", "queue.limit = [5, 50]", "[measures]"]
    (tmp_path / "table.toml").write_text("\n".join([*lines, f'share = "{RATIO}"']), encoding="utf-8")
    code, out, err = command("sweep", "table.toml", cwd=tmp_path)
    assert code == 0, err
    assert "goodput" in out
    assert "share" in out
    code, out, _ = command("rank", "results/table", "--measure", "share", "--direction", "minimize", cwd=tmp_path)
    assert code == 0
    assert "letters" in out
    code, out, err = command("rank", "results/table", "--measure", "share", cwd=tmp_path)
    assert "share has no better direction" in err
    code, out, err = command("show", "results/table", "--measure", "shara", cwd=tmp_path)
    assert "did you mean `share`?" in err
    written = '["delay_p95_s of voice", "share = sum(flows.timeouts) / sum(flows.packets_sent)"]'
    (tmp_path / "list.toml").write_text("\n".join([*lines[:2], f"measures = {written}"]), encoding="utf-8")
    code, out, err = command("sweep", "list.toml", cwd=tmp_path)
    assert code == 0, err
    assert "delay p95 of voice" in out
    arguments = ["--seeds", "2", "--measure", "jitter_p99_s", "--measure", "n = count(nodes)", "--out", "out"]
    code, out, err = command("sweep", "three.toml", *arguments, cwd=tmp_path)
    assert code == 0, err
    assert "jitter p99" in out
    (tmp_path / "wrong.toml").write_text("\n".join([*lines, 'share = "sum(flow.timeouts)"']), encoding="utf-8")
    code, out, err = command("sweep", "wrong.toml", cwd=tmp_path)
    assert code == 2
    assert "wrong.toml:6" in err
    assert "did you mean `flows`?" in err


# ---- later ----


def test_a_measure_of_a_finished_study(study: chappe.Study) -> None:
    """It is the measure that the runs would have had, of all flows and of chosen ones."""
    later = chappe.Study(study.folder)
    assert later.summary(f"late = {RATIO}").drop("measure").equals(study.summary("timeouts_share").drop("measure"))
    for flows in ("tcp", "web"):
        found = later.summary("late", flows=flows).drop("measure")
        assert found.equals(study.summary("timeouts_share", flows=flows).drop("measure"))
    assert later.summary("late = sum(flows.timeouts)")["estimate"].equals(study.summary("timeouts_per_run")["estimate"])
    assert "late" not in later.runs.columns
    known = later.summary("routing_bytes_per_byte")["estimate"]
    nodes, flows_of = later.table("nodes"), later.table("flows")
    of_point = [
        nodes.filter(point=p).select(pl.col("routing_bytes_sent") + pl.col("routing_header_bytes")).sum().item()
        / flows_of.filter(point=p)["bytes_delivered"].sum()
        for p in (0, 1)
    ]
    assert known.to_list() == pytest.approx(of_point)
    assert later.compare("late = sum(flows.timeouts)", "queue.limit", baseline=5).height == 1
    assert later.plot(measure="late = sum(flows.timeouts)").axes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("late = count(frames)", 'table `frames` is not kept; repeat the sweep with `--measure "late = count'),
        ("delay_p50_s", "repeat the sweep with `--measure delay_p50_s`"),
        ("late = sum(flows.timeout)", "did you mean `timeouts`?"),
        ("goodput_bps = sum(flows.timeouts)", "the name `goodput_bps` is taken"),
        ("peak = sum(flows.timeouts)", "the study has another measure `peak`"),
    ],
)
def test_measures_that_a_finished_study_cannot_have(study: chappe.Study, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        study.summary(text)
    with contextlib.redirect_stderr(io.StringIO()) as err:
        assert cli.main(["show", str(study.folder), "--measure", text]) == 2
    assert message in err.getvalue()


# ---- coverage ----


def drawn(rng: np.random.Generator, runs: int) -> list[np.ndarray]:
    """Delays of some runs: lognormal, with a level that differs between runs, as congestion does."""
    levels = rng.normal(0.0, 0.3, runs)
    return [np.exp(level + rng.normal(0.0, 0.8, rng.integers(300, 900))) for level in levels]


def totals_of(runs: list[np.ndarray], q: float) -> Totals:
    """Totals of a quantile, from delays of each run."""
    aggregate = Aggregate("quantile", "delays", parsed("sum(delays.delay_s)", columns()).of, q)  # type: ignore[union-attr]
    part = Part("histogram", "delays", aggregate.of)
    names = np.repeat([str(n) for n in range(len(runs))], [len(x) for x in runs])
    table = reduced(pl.DataFrame({RUN: names, "delay_s": np.concatenate(runs)}), part, [RUN])
    cells = table["cell"].unique().sort().to_numpy()
    matrix = np.zeros((len(runs), 1 + len(cells)))
    matrix[:, 0] = 1
    for run, cell, value in table.iter_rows():
        matrix[int(run), 1 + np.searchsorted(cells, cell)] = value
    return Totals(matrix, _statistic(aggregate, {part.name: (slice(1, 1 + len(cells)), cells)}))


@pytest.mark.parametrize(("q", "runs"), [(0.5, 10), (0.95, 10), (0.99, 10), (0.95, 30)])
def test_intervals_of_quantiles_cover(q: float, runs: int) -> None:
    """95 % intervals of pooled quantiles cover the quantile of all runs."""
    true = np.quantile(np.concatenate(drawn(np.random.default_rng(1), 20_000)), q)
    studies = 300
    hits = 0
    for seed in range(studies):
        low, high = totals_of(drawn(np.random.default_rng(1000 + seed), runs), q).pooled.interval()
        hits += low <= true <= high
    # Three standard errors of a share of 95 %.
    assert abs(hits / studies - 0.95) < 3 * math.sqrt(0.95 * 0.05 / studies)


def test_intervals_of_known_measures_stay_within_their_limits() -> None:
    free = "delay = quantile(delays.delay_s, 0.99)"
    study = chappe.sweep(
        {"extends": "ns2-2.35", "topology.hops": 6, "run.stop": "4 s"}, seeds=2, measures=["delay_p99_s"]
    )
    known = study.summary("delay_p99_s").row(0, named=True)
    own = (
        chappe.sweep(study.scenario, seeds=2, measures={"delay": free.partition(" = ")[2]})
        .summary("delay")
        .row(0, named=True)
    )
    assert known["estimate"] == own["estimate"]
    assert own["ci_low"] < 0 == known["ci_low"]
    assert own["ci_high"] == known["ci_high"]


def test_known_measures_are_expressions() -> None:
    for name, text in KNOWN.items():
        assert Own(name, text, parsed(text, columns())).parts


# ---- rows by conditions, measures of a run, rules ----


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("count(losses where node = )", ["a value is missing behind `node =`"]),
        ("count(losses where)", ["a condition is missing before ')'"]),
        ("count(losses where nod = 3)", ["the table `losses` has no column 'nod'", "did you mean `node`?"]),
        ("count(losses where node = far)", ["`losses.node` is a number, not 'far'"]),
        ("count(losses where drop_reason = 3)", ["`losses.drop_reason` is a word, not '3'"]),
        ("count(losses where drop_reason = queue_ful)", ["is never 'queue_ful'", "did you mean `queue_full`?"]),
        ("count(losses where drop_reason > queue_full)", ["has words, which are not ordered"]),
        ("count(frames where retry = maybe)", ["`frames.retry` is true or false"]),
    ],
)
def test_conditions_with_mistakes(text: str, messages: list[str]) -> None:
    with pytest.raises(ExpressionError) as e:
        parsed(text, columns())
    assert all(message in str(e.value) for message in messages), str(e.value)


def test_conditions_choose_rows(recorded: list[chappe.Results]) -> None:
    """Losses by cause and place, and retransmitted frames of a time, are counted as by hand."""
    results = recorded[0]
    packets, frames = results.recorded["packets"], results.recorded["frames"]
    begin = results.measured_from_s
    lost = packets.filter((pl.col("event") == "dropped") & (pl.col("time_s") >= begin) & pl.col("flow").is_not_null())
    by_hand = {
        "count(losses)": len(lost),
        "count(losses where drop_reason = queue_full and node = 0)": len(
            lost.filter((pl.col("drop_reason") == "queue_full") & (pl.col("node") == 0))
        ),
        "count(losses where node != 0)": len(lost.filter(pl.col("node") != 0)),
        "count(frames where retry = true and time_s >= 10 and time_s < 12.5)": len(
            frames.filter(pl.col("retry") & pl.col("time_s").is_between(10, 12.5, closed="left"))
        ),
        "max(delays.delay_s where flow = 2 and time_s > 15)": largest(
            delays(results).filter((pl.col("flow") == 2) & (pl.col("time_s") > 15))["delay_s"]
        ),
    }
    for text, wanted in by_hand.items():
        assert str(parsed(text, columns())) == str(parsed(str(parsed(text, columns())), columns()))
        found = results.summary(measures=f"x = {text}")
        assert found["estimate"].to_list() == pytest.approx([wanted]), text
    assert by_hand["count(losses where drop_reason = queue_full and node = 0)"] > 0


def test_goodput_over_time() -> None:
    """The goodput from one sample to the next adds up to the delivered bytes."""
    scenario = SCENARIO.with_settings({"run.sample_interval": "2 s", "run.warmup_batches": 0})
    results = chappe.run(scenario)
    rows = intervals(results.samples, results.flows)
    first = results.samples.group_by("flow").agg(pl.col("packets_delivered").min().alias("before"))
    of_flow = rows.with_columns((pl.col("goodput_bps") * (pl.col("time_s") - pl.col("began_at_s")) / 8).alias("bytes"))
    found = (
        of_flow.group_by("flow").agg(pl.col("bytes").sum(), pl.col("packets_delivered").sum()).join(first, on="flow")
    )
    last = results.samples.group_by("flow").agg(pl.col("packets_delivered").max().alias("last"))
    each = found.join(last, on="flow").join(results.flows, on="flow", suffix="_of_run")
    assert (each["packets_delivered"] == each["last"] - each["before"]).all()
    payload = each["bytes_delivered"] / each["packets_delivered_of_run"]
    assert each["bytes"].to_list() == pytest.approx((each["packets_delivered"] * payload).to_list())
    study = chappe.sweep(scenario, seeds=1, measures={"late_bps": "mean(intervals.goodput_bps where time_s > 10)"})
    wanted = rows.filter(pl.col("time_s") > 10)["goodput_bps"].mean()
    assert study.summary("late_bps")["estimate"].to_list() == pytest.approx([wanted])


def test_quantiles_of_a_run(recorded: list[chappe.Results]) -> None:
    results = recorded[0]
    every = delays(results)
    found = results.summary(measures=["delay_p95_s", "goodput_bps"])
    assert found["measure"].to_list() == ["delay_p95_s", "goodput_bps"]
    assert found["estimate"][0] == pytest.approx(np.quantile(every["delay_s"], 0.95), rel=0.02)
    assert found["ci_low"][0] < found["estimate"][0] < found["ci_high"][0]
    assert found["n"].to_list() == [10, 10]
    assert found.filter(measure="goodput_bps").equals(results.summary().filter(measure="goodput_bps"))
    voice = results.summary(measures="delay_p95_s", flows="voice")
    wanted = np.quantile(every.filter(flow=2)["delay_s"], 0.95)
    assert voice["estimate"].to_list() == pytest.approx([wanted], rel=0.02)
    with pytest.raises(ValueError, match="needs the table 'queue', which the run did not record"):
        results.summary(measures="longest = max(queue.packets)")
    with pytest.raises(ValueError, match="there is no measure 'delay_p9_s'"):
        results.summary(measures="delay_p9_s")


def test_datagrams_do_not_starve_after_their_stop() -> None:
    """The last datagram is lost, so that the flow never completes."""
    events = [{"at": "4 s", "action": "node_down", "node": 1}, {"at": "5.5 s", "action": "node_up", "node": 1}]
    flow = {"src": 0, "dst": 2, "app": "cbr", "cbr": {"interval": "100 ms"}, "stop": "4.5 s"}
    settings = {"run.stop": "20 s", "run.warmup_batches": 0, "run.record": ["packets"], "topology.hops": 2}
    results = chappe.run({**settings, "routing.protocol": "shortest_path", "flow": [flow], "event": events})
    assert results.flows["completion_time_s"].to_list() == [None]
    assert largest(gaps(results)["time_s"]) < 6


def test_a_precision_of_a_quantile(tmp_path: Path) -> None:
    """Points stop at the precision of the quantile, which is that of the summary."""
    chain = chappe.Scenario.chain(2, {"tcp.receive_window": 4}, stop="110 delivered")
    rule = {"precision": 0.02, "measure": "delay_p95_s", "min_seeds": 3, "max_seeds": 12}
    study = chappe.sweep(chain, seeds=2, **rule, out=tmp_path / "precise")  # type: ignore[arg-type]
    (row,) = study.summary("delay_p95_s").to_dicts()
    assert row["met"]
    assert 3 <= row["n"] < 12
    assert max(row["estimate"] / row["ci_low"] - 1, 1 - row["estimate"] / row["ci_high"]) <= 0.02
    with pytest.raises(chappe.StudyError, match="`delay_p95_s` needs several seeds"):
        chappe.sweep(chain, precision=0.02, measure="delay_p95_s", max_length=4)


def test_a_search_by_a_quantile(tmp_path: Path) -> None:
    """Of one flow on a chain, the smallest window has the shortest delays; a curve is made again from the folder."""
    chain = chappe.Scenario.chain(2, stop="55 delivered")
    folder = tmp_path / "search"
    study = chappe.search(chain, "tcp.receive_window", low=1, high=8, measure="delay_p95_s", seeds=2, out=folder)
    curve = study.curve()
    assert curve.filter("is_best")["tcp.receive_window"].to_list() == [1]
    assert chappe.Study(folder).curve().equals(curve)
    text = 'seeds = 2\nscenario = { topology.hops = 2, run.stop = "55 delivered" }\n[search]\n'
    text += 'setting = "tcp.receive_window"\nlow = 1\nhigh = 8\nmeasure = "delay_p95_s"\n'
    (tmp_path / "s.toml").write_text(text)
    assert cli.main(["sweep", str(tmp_path / "s.toml"), "--out", str(folder), "--jobs", "1"]) == 0
    assert chappe.Study(folder).curve().equals(curve)
    with pytest.raises(chappe.StudyError, match="has no better direction"):
        chappe.search(chain, "tcp.receive_window", low=1, high=8, measure="x", measures={"x": RATIO}, seeds=2)


STOPS = {
    "run": {"stop": "10 s", "batches": 1, "warmup_batches": 0, "record": ["packets"]},
    "topology": {"kind": "none", "wired_nodes": 3},
    "wired_link": [{"src": 0, "dst": 1, "delay": "1 ms"}, {"src": 1, "dst": 2, "delay": "1 ms"}],
    "flow": [{"src": 0, "dst": 2, "app": "cbr", "cbr": {"interval": "20 ms"}}],
}
OUTAGE = [{"at": "1.005 s", "action": "node_down", "node": 1}, {"at": "2.505 s", "action": "node_up", "node": 1}]


def stopped(*pauses: tuple[str, str]) -> list[dict[str, Any]]:
    """Events that stop and start the flow."""
    return [
        {"at": at, "action": action, "flow": 0}
        for pause in pauses
        for at, action in zip(pause, ("flow_stop", "flow_start"), strict=True)
    ]


@pytest.mark.parametrize("pauses", [[], [("4.01 s", "6 s")], [("3.01 s", "4.5 s"), ("5.01 s", "7.3 s")]])
def test_gaps_before_a_restart_count_and_pauses_do_not(pauses: list[tuple[str, str]]) -> None:
    """A datagram every 20 ms, on its way for some 3 ms: those of 1.02 s to 2.50 s are lost, a gap of 1.52 s."""
    results = chappe.run({**STOPS, "event": [*OUTAGE, *stopped(*pauses)]})
    found = gaps(results)
    assert found["gap_s"].max() == pytest.approx(1.52, abs=1e-6)
    assert found["starved_s"].sum() == pytest.approx(0.52, abs=1e-6)
    active = 10 - sum(float(b.split()[0]) - float(a.split()[0]) for a, b in pauses)
    assert found["gap_s"].sum() == pytest.approx(active, abs=0.05 * (1 + len(pauses)))


def test_gaps_of_a_restarted_transfer() -> None:
    """TCP still has to deliver what was sent before its stop: an outage then counts until it is over."""
    tcp = {**STOPS, "flow": [{"src": 0, "dst": 2}], "wired": {"rate": "1 Mbit/s"}}
    quiet = gaps(chappe.run({**tcp, "event": stopped(("3 s", "7 s"))}))
    assert largest(quiet["gap_s"]) < 0.5
    assert quiet["gap_s"].sum() == pytest.approx(6, abs=0.6)
    outage = [{"at": "2.9 s", "action": "node_down", "node": 1}, {"at": "8 s", "action": "node_up", "node": 1}]
    starved = gaps(chappe.run({**tcp, "event": [*outage, *stopped(("3 s", "7 s"))]}))
    assert largest(starved["gap_s"]) > 5


def test_handovers_are_measured_where_gateways_change() -> None:
    """In runs whose gateways stay those of the start, the table has no such column."""
    settings = {
        "run.stop": "10 s",
        "topology": {"hops": 2, "wired_nodes": 1},
        "wired_link": [{"src": 0, "dst": 3}, {"src": 2, "dst": 3}],
        "flow": [{"src": 1, "dst": 3, "app": "cbr"}],
        "routing.protocol": "shortest_path",
        "event": [{"at": "5 s", "action": "wired_link_down", "wired_link": 0}],
    }
    study = chappe.sweep(
        settings,
        {"routing.gateways": ["at_start", "announced"]},
        measures={"handover": "max(flows.longest_handover_s)"},
    )
    [(gateways, longest_s)] = study.summary("handover").select("routing.gateways", "estimate").rows()
    assert gateways == "announced"
    assert 0 < longest_s < 1
