"""Runs of a paper: executed once, kept in a folder, never mixed with other runs."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import _core, cli, plot, study
from chappe._common.files import UNFINISHED
from chappe.stats import Estimate
from chappe.study.design import axes
from chappe.study.store import run_cache, store
from chappe_papers.elrakabawy2005 import design as design_module
from chappe_papers.elrakabawy2005.design import DESIGN, FULL, Length, remembers
from chappe_papers.elrakabawy2005.points import RATES, UDP, VARIANTS, WINDOWS, Point, scenario
from chappe_papers.elrakabawy2005.udp import CLIFF, OPTIMUM, SWEEP
from chappe_papers.runs import replication
from chappe_papers.runs.runner import Rehearsal, Runner
from command import PATIENCE_S, contents, environment
from drawn import by_the_rule, correlated, runs_of

HOPS = (4, 8)
SHORT = Length(220, 110, 60, 60, 110, 110, 12, seeds=2, many=3, doubted=3, states=4, draws=1, x=HOPS)


@pytest.fixture(autouse=True)
def _shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DESIGN, "quick", SHORT)
    monkeypatch.setattr(plot, "FORMATS", ("svg",))


def as_at_first(_point: Point, _length: Length, rows: pl.DataFrame) -> int:
    """Disables the rules for doubtful and dropping points, which short runs would often trigger."""
    return len(rows)


def paper(out: Path, *arguments: str) -> int:
    return cli.main(["paper", "elrakabawy2005", "--quick", "--out", str(out), *arguments])


def pages(out: Path) -> dict[str, bytes]:
    """Output files without the runs and without dates."""
    return {n: data for n, data in contents(out).items() if not n.startswith("runs/") and n != "paper.md"}


# ---- run cache ----


def test_nothing_is_run_twice(tmp_path: Path, executed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Runs a part, all, all again, then parts."""
    assert paper(tmp_path, "--figure", "8") == 0
    first = len(executed)
    assert first
    assert paper(tmp_path, "--figure", "6") == 0
    assert len(set(executed)) == len(executed) > first
    pattern = r"Runs: ([\d,]+) of ([\d,]+) were made, the others were available\."
    numbers = re.findall(pattern, capsys.readouterr().out)
    assert [n for n, _ in numbers] == [str(len(executed) - first)]
    before = pages(tmp_path)
    runs = contents(tmp_path / "runs")
    executed.clear()
    for part in (("--figure", "6"), ("--figure", "6", "--jobs", "1"), ("--figure", "8"), ("--claim", "P0-F7-1")):
        assert paper(tmp_path, *part) == 0
    assert executed == []
    assert contents(tmp_path / "runs") == runs
    assert {n for n, *_ in re.findall(pattern, capsys.readouterr().out)} == {"0"}
    assert paper(tmp_path, "--figure", "6") == 0
    assert pages(tmp_path) == before
    capsys.readouterr()


def test_a_part_names_the_files_that_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A claim has no figure and no table of its own; the picture of a figure has four files."""
    for name, part in (("claim", ("--claim", "P0-F7-1")), ("figure", ("--figure", "7"))):
        out = tmp_path / name
        assert paper(out, *part) == 0
        (said,) = re.findall(rf"Written to {re.escape(str(out))}: (.+)\.\n", capsys.readouterr().out)
        named = re.sub(r"(\w+) as PDF, SVG, PNG and CSV", r"\1.svg, \1.csv", said)
        assert set(named.split(", ")) == {n for n in contents(out) if not n.startswith("runs/")}


def test_the_folder_is_that_of_a_study(
    tmp_path: Path, executed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(DESIGN, "further", as_at_first)
    assert paper(tmp_path, "--figure", "2") == 0
    assert paper(tmp_path, "--figure", "6") == 0
    stored = chappe.Study(tmp_path / "runs")
    assert sorted(stored.runs["run"]) == sorted(executed)
    assert stored.axes == [*Point._fields, "stop", "batches"]
    alone = stored.runs.filter(variant="vegas2", hops=8, seed=2)
    assert alone["stop"].to_list() == ["220 delivered"]
    assert alone["frames_sent"].to_list() == [
        chappe.run(scenario(Point("vegas2", 8), "220 delivered"), seed=2).frames_sent
    ]
    rows = stored.summary().filter(variant="vegas2")
    assert set(zip(rows["hops"], rows["rate_mbps"], strict=True)) >= {(h, 2.0) for h in HOPS}
    assert set(rows["n"]) == {SHORT.seeds}
    # Each run has one point, and each point one row of labels.
    assert len(stored.runs.select(stored.axes).unique()) == stored.runs["point"].n_unique()
    capsys.readouterr()


def test_shorter_runs_are_other_runs(
    tmp_path: Path, executed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(DESIGN, "further", as_at_first)
    assert paper(tmp_path, "--figure", "2") == 0
    before = list(executed)
    monkeypatch.setattr(DESIGN, "quick", SHORT._replace(packets=330, long_packets=330))
    assert paper(tmp_path, "--figure", "2") == 0
    assert len(executed) == 2 * len(before) == len(set(executed))
    monkeypatch.setattr(DESIGN, "quick", SHORT)
    assert paper(tmp_path, "--figure", "2") == 0
    assert len(executed) == 2 * len(before)
    capsys.readouterr()


def test_another_scenario_is_another_run(
    tmp_path: Path, executed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A variant with a changed definition is run again under its name."""
    monkeypatch.setattr(DESIGN, "further", as_at_first)
    assert paper(tmp_path, "--figure", "2") == 0
    before = pages(tmp_path)
    executed.clear()
    monkeypatch.setitem(VARIANTS, "vegas3", VARIANTS["vegas3"] | {"tcp.rto.min": "1 s"})
    assert paper(tmp_path, "--figure", "2") == 0
    assert len(executed) == len(HOPS) * SHORT.seeds
    assert pages(tmp_path) != before
    stored = chappe.Study(tmp_path / "runs").runs
    assert stored.filter(variant="vegas3")["run"].n_unique() == 2 * len(executed)
    capsys.readouterr()


def test_another_base_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paper(tmp_path, "--figure", "2") == 0
    before = contents(tmp_path)
    changed = DESIGN.text().replace("window = 64", "window = 32")
    monkeypatch.setattr(DESIGN, "text", lambda: changed)
    capsys.readouterr()
    assert paper(tmp_path, "--figure", "2") == 2
    assert "belongs to another scenario (`tcp.receive_window` is 64 there and 32 here)" in capsys.readouterr().err
    assert contents(tmp_path) == before


def test_another_epoch_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paper(tmp_path, "--figure", "2") == 0
    before = contents(tmp_path)
    epoch = chappe.RESULTS_EPOCH
    for module in (store, axes):
        monkeypatch.setattr(module, "RESULTS_EPOCH", epoch + 1)
    capsys.readouterr()
    assert paper(tmp_path, "--figure", "2") == 2
    errors = capsys.readouterr().err
    assert (
        f"runs has results of epoch {epoch}, which cannot be compared with the results of epoch {epoch + 1}" in errors
    )
    assert contents(tmp_path) == before


# ---- interruptions ----

EAGER = """
import sys
from chappe import cli
from chappe_papers.elrakabawy2005 import design as design_module
from chappe_papers.elrakabawy2005.design import DESIGN, Length
from chappe.study.store import store
store.PATIENCE_S = 0
DESIGN.quick = Length(*{short})
open("begun", "w").close()
sys.exit(cli.main(sys.argv[1:]))
"""
"""Shortened command that writes each run at once, and prints a line at the start."""


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    script = EAGER.format(short=tuple(SHORT))
    (folder / "begun").unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", script, "paper", "elrakabawy2005", "--quick", "--out", "out", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    while not (folder / "begun").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    return process


def parts(folder: Path) -> int:
    """Number of stored runs, without unfinished ones."""
    return len([p for p in (folder / "out/runs/parts").glob("*/sums.json") if p.parent.suffix != UNFINISHED])


def end(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err
    return process.returncode, out, err


def test_a_killed_study_continues(tmp_path: Path, executed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert paper(tmp_path / "undisturbed", "--figure", "10") == 0
    count = len(executed)
    for goal in (5, 20):
        process = start(tmp_path, "--figure", "10", "--jobs", "1")
        while parts(tmp_path) < goal:
            assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
    executed.clear()
    assert paper(tmp_path / "out", "--figure", "10") == 0
    assert 0 < len(executed) <= count - 20
    assert pages(tmp_path / "out") == pages(tmp_path / "undisturbed")
    interrupted, here = (chappe.Study(tmp_path / name / "runs").runs.sort("run") for name in ("out", "undisturbed"))
    assert interrupted.equals(here)
    capsys.readouterr()


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    process = start(tmp_path, "--figure", "10", "--jobs", "1")
    while parts(tmp_path) < 3:
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    code, _, err = end(process)
    assert code == 130
    assert "kept in out/runs; the same command continues from there." in err
    assert len(chappe.Study(tmp_path / "out/runs").runs) >= 3


def test_damaged_runs_are_repeated(tmp_path: Path, executed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert paper(tmp_path, "--figure", "2") == 0
    before = pages(tmp_path)
    (chunk,) = (tmp_path / "runs/chunks").iterdir()
    (chunk / "flows.parquet").write_bytes(b"nothing")
    count = len(executed)
    executed.clear()
    capsys.readouterr()
    assert paper(tmp_path, "--figure", "2") == 0
    assert len(executed) == count
    assert re.match(r"warning: .*flows\.parquet is damaged.*its runs are repeated\n", capsys.readouterr().err)
    assert pages(tmp_path) == before


def test_a_run_that_fails(
    tmp_path: Path, executed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(DESIGN, "further", as_at_first)
    run = _core.run
    count = 0

    def one_fails(*arguments: Any) -> _core.Results:
        nonlocal count
        count += 1
        if count == 3:
            raise RuntimeError("a broken invariant\nwith details")
        return run(*arguments)

    with monkeypatch.context() as m:
        m.setattr(_core, "run", one_fails)
        assert paper(tmp_path, "--figure", "2", "--jobs", "1") == 1
    errors = capsys.readouterr().err
    assert errors.startswith("error: a run failed, the run with variant = vegas")
    assert ", seed = " in errors
    assert (
        f"RuntimeError: a broken invariant. Finished runs are kept in {tmp_path / 'runs'}; the same command" in errors
    )
    assert not (tmp_path / "index.html").exists()
    executed.clear()
    assert paper(tmp_path, "--figure", "2") == 0
    assert len(executed) == 1


# ---- progress ----


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    shares: list[float] = []

    @contextmanager
    def bar(_: str) -> Iterator[Any]:
        yield shares.append

    monkeypatch.setattr(run_cache, "bar", bar)
    yield shares


def test_progress_is_that_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with recorded(monkeypatch) as shares:
        assert paper(tmp_path, "--claim", "P0-A-6") == 0
        assert shares == sorted(shares)
        assert len({round(s, 1) for s in shares}) > 8
        assert shares[0] < 0.1
        assert shares[-1] == pytest.approx(1)
    capsys.readouterr()


def test_a_rehearsal_knows_how_much_there_is_to_run(
    tmp_path: Path, executed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prediction ignores doubtful points, and searches vary in the number of values."""
    monkeypatch.setattr(DESIGN, "further", as_at_first)
    experiments = {
        "alphas": ([Point(f"vegas{a}", h) for h in HOPS for a in (2, 3, 4)], 1e-9),
        "cliff": ([OPTIMUM, *(Point(UDP, 7, interval_ms=t) for t in (*SWEEP, *CLIFF))], 1e-9),
        "quarter": ([Point(f"newreno_maxwin{w}", h) for h in HOPS for w in WINDOWS], 1e-9),
        "udp_chains": ([Point(UDP, h) for h in HOPS], 0.2),
    }
    with DESIGN.run_cache(tmp_path, 2) as runs:
        for name, (wanted, about) in experiments.items():
            rehearsal, done = Rehearsal(DESIGN, SHORT, runs), Runner(DESIGN, SHORT, runs)
            for stage in DESIGN.stages(wanted, SHORT):
                stage(rehearsal)
            executed.clear()
            for stage in DESIGN.stages(wanted, SHORT):
                stage(done)
            weights = {i.key: i.weight for i in runs._known.values()}
            assert sum(weights[key] for key in executed) == pytest.approx(rehearsal.weight, rel=about), name
            again = Rehearsal(DESIGN, SHORT, runs)
            for stage in DESIGN.stages(wanted, SHORT):
                stage(again)
            assert again.weight == 0, name


# ---- number of runs ----


def test_a_point_is_run_once(tmp_path: Path, executed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DESIGN, "further", as_at_first)
    with DESIGN.run_cache(tmp_path, 2) as runs:
        runner = Runner(DESIGN, SHORT, runs)
        for _ in range(2):
            runner.run([Point(f"vegas{a}", h) for h in HOPS for a in (2, 3, 4)])
        assert len(executed) == 2 * 3 * SHORT.seeds
        runner.run([Point(v, h) for h in HOPS for v in ("newreno", "vegas2", "newreno_thin")])
        assert len(executed) == 2 * 5 * SHORT.seeds


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        (Point("newreno", 8), False),
        (Point("newreno_thin", 8), False),
        (Point("newreno_maxwin3", 7, 11.0), False),
        (Point("vegas2", 7, 11.0), False),
        (Point("vegas4_thin", 7), False),
        (Point("vegas4_thin", 7, 11.0), True),
        (Point(UDP, 7, interval_ms=35.0), True),
        (Point("newreno", 0, 2.0, "grid5x5m4"), True),
        (Point("newreno", 0, 2.0, "random120_1"), True),
    ],
)
def test_points_with_known_states_get_many_runs(point: Point, expected: bool) -> None:
    assert remembers(point) is expected
    falls = point.variant.endswith("_thin") and expected
    cliff = point.variant == UDP
    assert DESIGN.seeds(point, FULL) == (24 if falls or cliff else 10 if expected else 3)


def test_doubtful_points_get_many_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def doubtful(runs: pl.DataFrame) -> bool:
        looked.append(len(runs))
        return bool(runs["goodput_bps"][0] < 400e3)

    monkeypatch.setattr(design_module, "doubtful", doubtful)
    with DESIGN.run_cache(tmp_path, 2) as runs:
        runner = Runner(DESIGN, SHORT, runs)
        runner.run([*(Point("newreno", h) for h in (1, 8)), Point("vegas2_thin", 7, 11.0)])
    # All runs of the doubtful point are counted again.
    assert looked == [SHORT.seeds, SHORT.seeds, SHORT.doubted]
    assert {p.hops: len(r) for p, r in runner.runs.items() if p.variant == "newreno"} == {1: SHORT.seeds, 8: SHORT.many}
    assert runner.runs[Point("newreno", 8)]["seed"].to_list() == [1, 2, 3]
    assert runner.more == {Point("newreno", 8): SHORT.many}


def test_further_runs_of_drawn_placements_are_further_placements(tmp_path: Path) -> None:
    point, length = Point("newreno", 0, 2.0, "uniform"), SHORT._replace(draws=3)
    with DESIGN.run_cache(tmp_path, 1) as runs:
        for factor, draws in ((1, 3), (4, 12)):
            rehearsal = Rehearsal(DESIGN, length, runs, factor=factor)
            for stage in DESIGN.stages([point], length):
                stage(rehearsal)
            drawn = [p for p in rehearsal.runs if p.draw]
            assert [p.draw for p in drawn] == list(range(1, draws + 1))
            assert all(len(rehearsal.runs[p]) == 1 for p in drawn)
            assert len(rehearsal.runs[point]) == draws
    assert DESIGN.repeats(point)
    assert not DESIGN.repeats(point._replace(draw=1))


def test_at_full_length_doubtful_points_have_ten_runs() -> None:
    assert (FULL.packets, FULL.long_packets, FULL.many) == (110_000, 110_000, 10)
    assert FULL.states >= 24
    assert FULL.draws >= 10
    assert set(RATES) == {2.0, 5.5, 11.0}


def share(kind: str, n: int = 5, seed: int = 1) -> float:
    """Share of doubtful points among 400 points with equal runs."""
    rng = np.random.default_rng(seed)
    doubtful = 0
    for _ in range(400):
        noise = correlated(rng, (n, 10)) if kind == "correlated" else rng.normal(size=(n, 10))
        if kind == "states":
            noise += rng.normal(size=(n, 1))
        doubtful += replication.doubtful(runs_of(100 + noise))
    return doubtful / 400


def test_the_rule_for_doubt() -> None:
    """At most 5 % of points with independent batches are doubtful, within three standard errors."""
    assert share("independent") < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert share("states") > 0.8
    assert share("correlated") > 0.98
    # Equal runs, and a single run, are not doubtful.
    assert not replication.doubtful(runs_of(np.ones((5, 10))))
    assert not replication.doubtful(runs_of(100 + np.random.default_rng(1).normal(size=(1, 10))))


@pytest.mark.parametrize(("apart", "least"), [(0.0, 0.94), (1.0, 0.9), (4.0, 0.88)])
def test_intervals_have_nominal_coverage(apart: float, least: float) -> None:
    """The complete rule, with three runs at first: batches, runs, or ten runs. ``apart`` is the variance between runs
    over the variance of the mean of their batches. 600 points, within three standard errors."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(600):
        noise = rng.normal(size=(10, 10)) + rng.normal(size=(10, 1)) * np.sqrt(apart / 10)
        low, high = by_the_rule(runs_of(noise)).interval()
        covered += low < 0 < high
    assert covered / 600 > least


def test_batches_of_all_runs_together() -> None:
    batches = 100 + np.random.default_rng(2).normal(size=(3, 10))
    runs = runs_of(batches)
    assert replication.spread(runs, "goodput_bps")[1] > 1 / 3
    pooled, all_of_them = replication.together(runs, "goodput_bps"), Estimate.of(batches.flatten())
    assert pooled is not None
    assert pooled.df == all_of_them.df == 29
    assert (pooled.mean, pooled.variance) == pytest.approx((all_of_them.mean, all_of_them.variance), rel=1e-4)
    # Different runs, and batches without variance.
    assert replication.together(runs_of(batches + np.array([[0], [1], [2]])), "goodput_bps") is None
    unknown = runs.with_columns(pl.lit(float("nan")).alias("goodput_bps_half_width"))
    assert replication.together(unknown, "goodput_bps") is None


def test_the_numbers_behind_the_rule() -> None:
    """Two runs with variance 1 / 10 of the mean and means that differ by 2: variance 2, twenty times larger."""
    batches = np.array([[1.0, -1.0] * 5, [3.0, 1.0] * 5]) * np.sqrt(0.9)
    ratio, p = replication.spread(runs_of(batches), "goodput_bps")
    assert ratio == pytest.approx(2 * 0.9 / 0.1, rel=1e-4)
    assert p < 1e-3
    mean, p = replication.correlation(runs_of(batches), "goodput_bps")
    assert mean == pytest.approx(-0.9)
    assert p > 0.99


def test_a_store_of_a_sweep_is_not_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chappe.sweep(
        chappe.Scenario.chain(1, stop="110 delivered"), {"tcp.receive_window": [2]}, seeds=1, out=tmp_path / "runs"
    )
    before = contents(tmp_path)
    assert paper(tmp_path, "--figure", "2") == 2
    assert "belongs to another scenario" in capsys.readouterr().err
    assert contents(tmp_path) == before
    assert study.Study(tmp_path / "runs").axes == ["tcp.receive_window"]
