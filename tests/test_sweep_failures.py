"""What can go wrong while a study runs: nothing is lost, nothing counts twice, and the end is the same to the byte."""

import json
import math
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chappe
import faults
import pytest
from chappe import _core, cli, study
from chappe.study import parts, store
from command import PATIENCE_S, contents, environment

STUDY = """\
seeds = 6
axes = { topology.hops = [1, 2, 3], tcp.variant = ["newreno", "vegas"] }

[scenario]
extends = "ns2-2.35"
run.stop = "1100 delivered"
"""
RUNS = 36

EAGER = """
import sys
import os
import resource
import faults
from chappe import cli
from chappe.study import store
store.PATIENCE_S = 0
store.CHUNK = 10
if limit := int(os.environ["LIMIT"]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if at := int(os.environ["AT"]):
    faults.Steps(setattr, at, getattr(faults, os.environ["FAULT"]), once=True)
sys.exit(cli.main(sys.argv[1:]))
"""
"""The command, writing each run at once and ten of them in a chunk. No file gets larger than ``LIMIT`` bytes, as if the
disk was full. The fault happens at the step ``AT``."""


@pytest.fixture(autouse=True)
def _interrupts_are_heard() -> None:
    """Commands of a shell in the background ignore interrupts, and so would those that they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(
    folder: Path, *arguments: str, limit: int = 0, at: int = 0, fault: faults.Fault = faults.kill
) -> tuple[int, str, str]:
    """Code, output and errors of the command."""
    done = subprocess.run(
        [sys.executable, "-c", EAGER, "sweep", "study.toml", *arguments],
        cwd=folder,
        env=environment(LIMIT=str(limit), AT=str(at), FAULT=fault.__name__, PYTHONPATH=str(Path(__file__).parent)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def undisturbed(folder: Path) -> dict[str, bytes]:
    code, _, err = run(folder, "--out", "undisturbed")
    assert (code, err) == (0, "")
    found = contents(folder / "undisturbed")
    assert {"study.json", "points.parquet", "runs.parquet", "chunks/00003/flows.parquet"} <= set(found)
    return found


# ---- processes that end ----


def test_killed_at_steps(folder: Path, undisturbed: dict[str, bytes]) -> None:
    """Each process goes on from what the one before has left, three times as many steps, until one comes to the end."""
    at, kills = 1, 0
    while (code := run(folder, "--out", "results", "--jobs", "1", at=at)[0]) != 0:
        assert code == -signal.SIGKILL
        at, kills = 3 * at, kills + 1
    # The first kills come before a run is written; 36 runs take hundreds of steps.
    assert kills >= 6
    assert contents(folder / "results") == undisturbed


def test_an_interrupt_keeps_what_is_finished(folder: Path, undisturbed: dict[str, bytes]) -> None:
    code, out, err = run(folder, "--out", "results", "--jobs", "1", at=200, fault=faults.interrupt)
    assert (code, out) == (130, "")
    assert "kept in results" in err
    assert err.endswith("Interrupted.\n")
    assert 0 < len(study.Study(folder / "results").runs) < RUNS
    assert run(folder, "--out", "results")[0] == 0
    assert contents(folder / "results") == undisturbed


def test_a_full_disk(folder: Path) -> None:
    few, more = (
        STUDY.replace("topology.hops = [1, 2, 3]", f"run.sample = {samples}").replace("1100 del", "110 del")
        for samples in ('["none"]', '["none", "100 us"]')
    )
    (folder / "study.toml").write_text(few)
    assert run(folder, "--out", "results")[0] == 0
    largest = max(len(data) for data in contents(folder / "results").values())
    (folder / "study.toml").write_text(more)
    assert run(folder, "--out", "undisturbed")[0] == 0
    code, out, err = run(folder, "--out", "results", limit=largest + 1000)
    assert (code, out) == (1, "")
    assert err.startswith("error: cannot write to results: file too large. ")
    assert "finished runs are kept there" in err
    kept = study.Study(folder / "results")
    assert len(kept.runs.filter(kept.runs["run.sample"] == "none")) == 12
    assert len(kept.table("flows")) == len(kept.runs)
    assert run(folder, "--out", "results")[0] == 0
    assert contents(folder / "results") == contents(folder / "undisturbed")


# ---- every step of writing ----


class Crash(BaseException):
    """The process is gone."""


def crash() -> None:
    raise Crash


def small(out: Path, seeds: int) -> study.Study:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")
    return chappe.sweep(scenario, {"tcp.window": [2, 4]}, seeds, out=out, jobs=1)


@pytest.fixture
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE_S", -1)
    monkeypatch.setattr(store, "CHUNK", 2)


FILES = 15
"""Files are written one like the other, in two steps each: one step in fifteen of them tells enough."""


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize("patience", [-1, math.inf])
@pytest.mark.parametrize("before", [0, 1])
def test_a_crash_at_each_kind_of_step(
    before: int, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new study, and one that gets more seeds, so that its runs move to other chunks; runs are written at once, or
    wait for the others of their chunk."""
    monkeypatch.setattr(store, "PATIENCE_S", patience)
    results = tmp_path / "results"

    def begin() -> None:
        shutil.rmtree(results, ignore_errors=True)
        if before:
            shutil.copytree(tmp_path / "before", results)

    if before:
        small(tmp_path / "before", before)
    begin()
    with pytest.MonkeyPatch.context() as m:
        steps = faults.Steps(m.setattr, sys.maxsize, crash)
        small(results, 2)
    expected = contents(results)
    of_files = [at for at, name in enumerate(steps.made, 1) if name in ("fsync", "replace")]
    others = sorted(set(range(1, len(steps.made) + 1)) - set(of_files))
    assert len(of_files) > 50
    assert len(others) > 10
    for at in [*others, *of_files[::FILES]]:
        begin()
        with pytest.MonkeyPatch.context() as m:
            faults.Steps(m.setattr, at, crash)
            with pytest.raises(Crash):
                small(results, 2)
        small(results, 2)
        assert contents(results) == expected, f"after a crash at step {at}"


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize(
    ("patience", "writes"),
    [(-1, ["parts"] * 4 + ["chunks"] * 2), (math.inf, ["chunks"] * 2)],
)
def test_a_chunk_that_is_complete_is_written_once(
    patience: float, writes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with the same bytes as one that is put together at the end."""
    small(tmp_path / "eager", 2)
    monkeypatch.setattr(store, "PATIENCE_S", patience)
    written = []
    plain = parts.write

    def write(path: Path, tables: Any) -> None:
        written.append(path.parent.name)
        plain(path, tables)

    monkeypatch.setattr(parts, "write", write)
    small(tmp_path / "results", 2)
    assert written == writes
    assert contents(tmp_path / "results") == contents(tmp_path / "eager")


# ---- folders and files ----


@pytest.mark.parametrize("out", ["study.toml", "study.toml/below", "/dev/null/x", "/proc/x", "x" * 5000])
def test_a_folder_that_cannot_be_one(
    out: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    before = contents(folder)
    assert cli.main(["sweep", "study.toml", "--out", out]) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith(f"error: cannot write to {out}: ")
    assert contents(folder) == before


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(study.StoreError, match="not the folder of a study"):
        small(tmp_path, 1)
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_two_at_once(tmp_path: Path) -> None:
    small(tmp_path, 1)
    scenario = json.loads((tmp_path / "study.json").read_text())["scenario"]
    one = store.Store(tmp_path, scenario, {})
    try:
        with pytest.raises(study.StoreError, match="being written by another"):
            small(tmp_path, 1)
    finally:
        one.close()
    small(tmp_path, 1)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize("harm", [truncated, flipped, removed])
@pytest.mark.parametrize("file", ["flows.parquet", "facts.parquet", "sums.json"])
def test_a_damaged_part_is_named_and_made_again(
    harm: Callable[[Path], None], file: str, tmp_path: Path, made: list[str]
) -> None:
    results = tmp_path / "results"
    before = small(results, 3)
    expected = contents(results)
    lost = before.runs["run"].to_list()[2:4]
    made.clear()
    harm(results / "chunks/00001" / file)
    after = small(results, 3)
    (warning,) = after.warnings
    assert str(results / "chunks/00001" / ("" if file == "sums.json" else file)) in warning
    assert sorted(made) == sorted(lost)
    assert (results / "damaged/00001").is_dir()
    shutil.rmtree(results / "damaged")
    assert contents(results) == expected


@pytest.mark.parametrize("harm", [truncated, flipped, removed])
@pytest.mark.parametrize("file", ["points.parquet", "runs.parquet"])
def test_a_damaged_overview_is_written_again(
    harm: Callable[[Path], None], file: str, tmp_path: Path, made: list[str]
) -> None:
    small(tmp_path, 2)
    expected = contents(tmp_path)
    made.clear()
    harm(tmp_path / file)
    small(tmp_path, 2)
    assert made == []
    assert contents(tmp_path) == expected


def test_a_damaged_description(tmp_path: Path, made: list[str]) -> None:
    small(tmp_path, 2)
    expected = contents(tmp_path)
    made.clear()
    truncated(tmp_path / "study.json")
    (warning,) = small(tmp_path, 2).warnings
    assert "study.json is damaged" in warning
    assert made == []
    assert contents(tmp_path) == expected


def test_reading_what_is_damaged(tmp_path: Path) -> None:
    small(tmp_path, 2)
    truncated(tmp_path / "runs.parquet")
    with pytest.raises(study.StoreError, match=r"runs\.parquet is damaged"):
        _ = study.Study(tmp_path).runs
    truncated(tmp_path / "chunks/00000/nodes.parquet")
    with pytest.raises(study.StoreError, match=r"nodes\.parquet cannot be read"):
        study.Study(tmp_path).table("nodes")
    assert len(study.Study(tmp_path).table("flows")) == 4
    with pytest.raises(study.StoreError, match="not the folder of a study"):
        study.Study(tmp_path / "nowhere")


# ---- what does not belong together ----


def test_another_epoch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(tmp_path, 1)
    before = contents(tmp_path)
    monkeypatch.setattr(store, "RESULTS_EPOCH", chappe.RESULTS_EPOCH + 1)
    with pytest.raises(study.StoreError, match=f"epoch {chappe.RESULTS_EPOCH}, .* epoch {chappe.RESULTS_EPOCH + 1};"):
        small(tmp_path, 1)
    assert contents(tmp_path) == before


def test_another_scenario_is_refused(tmp_path: Path) -> None:
    small(tmp_path, 1)
    before = contents(tmp_path)
    scenario = chappe.Scenario.chain(1, {"wlan.slot_time": "9 us", "tcp.rto.min": "2 s"}, stop="110 delivered")
    with pytest.raises(study.StoreError, match="another scenario") as error:
        chappe.sweep(scenario, {"tcp.window": [2, 4]}, 1, out=tmp_path)
    for said in ("`wlan.slot_time` is", '"9 us" here', "`tcp.rto.min`", "use another folder"):
        assert said in str(error.value)
    assert contents(tmp_path) == before


def test_a_run_of_another_epoch_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    item = study.axes.Item(study.axes.Point({}, chappe.Scenario.chain(1)), 1)
    before = item.key
    monkeypatch.setattr(study.axes, "RESULTS_EPOCH", chappe.RESULTS_EPOCH + 1)
    assert study.axes.Item(item.point, 1).key != before


# ---- runs that fail ----


def test_a_run_that_fails_among_200(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STUDY.replace("seeds = 6", "seeds = 100").replace("[1, 2, 3]", "[1]").replace("1100 del", "110 del")
    (tmp_path / "study.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sweep", "study.toml", "--out", "undisturbed"]) == 0
    capsys.readouterr()
    run = _core.run

    def one_fails(scenario: _core.Scenario, progress: Any) -> _core.Results:
        settings = json.loads(scenario.effective_json())
        if settings["run"]["seed"] == 77 and settings["tcp"]["variant"] == "vegas":
            raise RuntimeError("a broken invariant\nwith details")
        return run(scenario, progress)

    with monkeypatch.context() as m:
        m.setattr(_core, "run", one_fails)
        assert cli.main(["sweep", "study.toml", "--out", "results", "--json"]) == 1
    written = capsys.readouterr()
    said = "the run with topology.hops = 1, tcp.variant = vegas, seed = 77 failed: RuntimeError: a broken invariant\n"
    assert f"error: {said}" in written.err
    assert "1 run failed; the others are kept in results." in written.err
    printed = json.loads(written.out)
    assert printed["runs"] == 199
    assert [f["seed"] for f in printed["failed"]] == [77]
    assert [row["n"] for row in printed["summary"]] == [100, 99]
    assert cli.main(["sweep", "study.toml", "--out", "results", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert contents(tmp_path / "results") == contents(tmp_path / "undisturbed")


def test_all_runs_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as m:
        m.setattr(_core, "run", fails)
        found = small(tmp_path, 2)
    assert len(found.failed) == 4
    assert len(found.runs) == 0
    assert len(found.summary()) == 0
    assert len(found.table("flows")) == 0
    assert small(tmp_path, 2).failed == []
