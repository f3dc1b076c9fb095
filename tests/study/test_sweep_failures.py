"""Failures during a study: no run is lost or counted twice, and the final files are identical."""

import hashlib
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
import polars as pl
import pytest
from chappe import _core, cli, study
from chappe.results.storage.columns import RUN_INFO
from chappe.study.design import axes
from chappe.study.store import parts, store
from command import PATIENCE_S, contents, environment

STUDY = """\
seeds = 3
axes = { topology.hops = [1, 2, 3], tcp.variant = ["newreno", "vegas"] }

[scenario]
extends = "ns2-2.35"
run.stop = "1100 delivered"
"""
RUNS = 18

EAGER = """
import sys
import os
import resource
import faults
from chappe import cli
from chappe.study.store import store
store.PATIENCE_S = 0
store.CHUNK = 5
if limit := int(os.environ["LIMIT"]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if at := int(os.environ["AT"]):
    faults.Steps(setattr, at, getattr(faults, os.environ["FAULT"]), once=True)
sys.exit(cli.main(sys.argv[1:]))
"""
"""The command, writing each run at once and five of them in a chunk. No file gets larger than ``LIMIT`` bytes, as if
the disk was full. The fault happens at the step ``AT``."""


@pytest.fixture(autouse=True)
def _interrupts_are_heard() -> None:
    """Restores interrupts, which background commands of a shell ignore and child processes inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(
    folder: Path, *arguments: str, limit: int = 0, at: int = 0, fault: faults.Fault = faults.kill
) -> tuple[int, str, str]:
    """Runs the command; returns exit code, output and errors."""
    done = subprocess.run(
        [sys.executable, "-c", EAGER, "sweep", "study.toml", *arguments],
        cwd=folder,
        env=environment(LIMIT=str(limit), AT=str(at), FAULT=fault.__name__, PYTHONPATH=str(Path(__file__).parents[1])),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "study.toml").write_text(STUDY)
    code, _, err = run(folder, "--out", "undisturbed")
    assert (code, err) == (0, "")
    files = contents(folder / "undisturbed")
    assert {"study.json", "points.parquet", "runs.parquet", "totals.parquet", "chunks/00003/flows.parquet"} <= set(
        files
    )
    return files


# ---- killed processes ----


def test_killed_at_steps(folder: Path, undisturbed: dict[str, bytes]) -> None:
    """Each process continues the study of the previous process for three times as many steps, until one finishes."""
    at, kills = 1, 0
    while (code := run(folder, "--out", "results", "--jobs", "1", at=at)[0]) != 0:
        assert code == -signal.SIGKILL
        at, kills = 3 * at, kills + 1
    # The first kills happen before a run is written; 18 runs take hundreds of steps.
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
        STUDY.replace("topology.hops = [1, 2, 3]", f"run.sample_interval = {samples}").replace("1100 del", "110 del")
        for samples in ('["never"]', '["never", "100 us"]')
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
    assert len(kept.runs.filter(kept.runs["run.sample_interval"] == "never")) == 6
    assert len(kept.table("flows")) == len(kept.runs)
    assert run(folder, "--out", "results")[0] == 0
    assert contents(folder / "results") == contents(folder / "undisturbed")


# ---- every step of writing ----


class Crash(BaseException):
    """Simulates the end of the process."""


def crash() -> None:
    raise Crash


def small(out: Path, seeds: int) -> study.Study:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")
    return chappe.sweep(scenario, {"tcp.receive_window": [2, 4]}, seeds=seeds, out=out, jobs=1)


Make = Callable[[Path, int], study.Study]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Function like :func:`small` that copies the study, which is made once."""
    made = tmp_path_factory.mktemp("finished")

    def copied(out: Path, seeds: int) -> study.Study:
        # Fixtures change the size of chunks.
        whole = made / f"{seeds}-{store.CHUNK}"
        if not whole.exists():
            small(whole, seeds)
        shutil.copytree(whole, out, dirs_exist_ok=True)
        return study.Study(out)

    return copied


@pytest.fixture
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE_S", -1)
    monkeypatch.setattr(store, "CHUNK", 2)


FEW_TABLES = (RUN_INFO, "flows", "batches")
"""Tables of a part: those that measures need. All tables are written alike, and killed processes write all."""

FILES = 2
"""Stride of tested steps: the files of a part are written alike."""


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize("patience", [-1, math.inf])
@pytest.mark.parametrize("before", [0, 1])
def test_a_crash_at_each_kind_of_step(
    before: int, patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new study of one chunk, and a study with added seeds, whose runs move to other chunks; runs are written at
    once, or with their chunk."""
    monkeypatch.setattr(store, "PATIENCE_S", patience)
    monkeypatch.setattr(parts, "PART_TABLES", FEW_TABLES)
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
        small(results, 1 + before)
    expected = contents(results)
    of_files = [at for at, name in enumerate(steps.made, 1) if name in ("fsync", "replace")]
    other_steps = sorted(set(range(1, len(steps.made) + 1)) - set(of_files))
    assert len(of_files) > 10
    assert len(other_steps) > 10
    for at in [*other_steps, *of_files[::FILES]]:
        begin()
        with pytest.MonkeyPatch.context() as m:
            faults.Steps(m.setattr, at, crash)
            with pytest.raises(Crash):
                small(results, 1 + before)
        small(results, 1 + before)
        assert contents(results) == expected, f"after a crash at step {at}"


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize(
    ("patience", "writes"),
    [(-1, ["parts"] * 4 + ["chunks"] * 2), (math.inf, ["chunks"] * 2)],
)
def test_a_chunk_that_is_complete_is_written_once(
    patience: float, writes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk written at once equals a chunk assembled at the end."""
    small(tmp_path / "eager", 2)
    monkeypatch.setattr(store, "PATIENCE_S", patience)
    written = []
    plain = parts.write

    def write(path: Path, *rest: Any) -> None:
        written.append(path.parent.name)
        plain(path, *rest)

    monkeypatch.setattr(parts, "write", write)
    small(tmp_path / "results", 2)
    assert written == writes
    assert contents(tmp_path / "results") == contents(tmp_path / "eager")


# ---- folders and files ----


@pytest.mark.parametrize("out", ["study.toml", "study.toml/below", "/dev/null/x", "/proc/x", "x" * 5000])
def test_an_impossible_folder(
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
    with pytest.raises(study.StorageError, match="the folder of a study"):
        small(tmp_path, 1)
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_two_at_once(tmp_path: Path, finished: Make) -> None:
    finished(tmp_path, 1)
    scenario = json.loads((tmp_path / "study.json").read_text())["scenario"]
    one = store.Store(tmp_path, scenario, {})
    try:
        with pytest.raises(study.StorageError, match="being written by another"):
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
@pytest.mark.parametrize("file", ["flows.parquet", "run_info.parquet", "sums.json"])
def test_a_damaged_part_is_named_and_made_again(
    harm: Callable[[Path], None], file: str, tmp_path: Path, executed: list[str], finished: Make
) -> None:
    results = tmp_path / "results"
    before = finished(results, 3)
    expected = contents(results)
    lost = before.runs["run"].to_list()[2:4]
    executed.clear()
    harm(results / "chunks/00001" / file)
    after = small(results, 3)
    (warning,) = after.warnings
    assert str(results / "chunks/00001" / ("" if file == "sums.json" else file)) in warning.message
    assert sorted(executed) == sorted(lost)
    assert (results / "damaged/00001").is_dir()
    shutil.rmtree(results / "damaged")
    assert contents(results) == expected


@pytest.mark.parametrize("harm", [truncated, flipped, removed])
@pytest.mark.parametrize("file", ["points.parquet", "runs.parquet", "totals.parquet"])
def test_a_damaged_overview_is_written_again(
    harm: Callable[[Path], None], file: str, tmp_path: Path, executed: list[str], finished: Make
) -> None:
    finished(tmp_path, 2)
    expected = contents(tmp_path)
    executed.clear()
    harm(tmp_path / file)
    small(tmp_path, 2)
    assert executed == []
    assert contents(tmp_path) == expected


def test_a_damaged_description(tmp_path: Path, executed: list[str], finished: Make) -> None:
    finished(tmp_path, 2)
    expected = contents(tmp_path)
    executed.clear()
    truncated(tmp_path / "study.json")
    (warning,) = small(tmp_path, 2).warnings
    assert "study.json was damaged" in warning.message
    assert executed == []
    assert contents(tmp_path) == expected


def test_damaged_files_are_reported_on_reading(tmp_path: Path, finished: Make) -> None:
    finished(tmp_path, 2)
    truncated(tmp_path / "runs.parquet")
    with pytest.raises(study.StorageError, match=r"runs\.parquet is damaged"):
        _ = study.Study(tmp_path).runs
    truncated(tmp_path / "chunks/00000/nodes.parquet")
    with pytest.raises(study.StorageError, match=r"nodes\.parquet cannot be read"):
        study.Study(tmp_path).table("nodes")
    assert len(study.Study(tmp_path).table("flows")) == 4
    with pytest.raises(study.StorageError, match="not the folder of a readable study"):
        study.Study(tmp_path / "nowhere")


# ---- mismatches ----


def test_another_epoch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: Make) -> None:
    finished(tmp_path, 1)
    before = contents(tmp_path)
    monkeypatch.setattr(store, "RESULTS_EPOCH", chappe.RESULTS_EPOCH + 1)
    with pytest.raises(
        study.StorageError, match=f"epoch {chappe.RESULTS_EPOCH}, .* epoch {chappe.RESULTS_EPOCH + 1} of this"
    ):
        small(tmp_path, 1)
    assert contents(tmp_path) == before


def test_another_scenario_is_refused(tmp_path: Path, finished: Make) -> None:
    finished(tmp_path, 1)
    before = contents(tmp_path)
    scenario = chappe.Scenario.chain(1, {"wlan.slot_time": "9 us", "tcp.rto.min": "2 s"}, stop="110 delivered")
    with pytest.raises(study.StorageError, match="another scenario") as error:
        chappe.sweep(scenario, {"tcp.receive_window": [2, 4]}, seeds=1, out=tmp_path)
    for text in ("`wlan.slot_time` is", '"9 us" here', "`tcp.rto.min`", "use another folder"):
        assert text in str(error.value)
    assert contents(tmp_path) == before


def test_a_setting_that_is_new_since_orphans_nothing(tmp_path: Path, finished: Make) -> None:
    runs = finished(tmp_path, 1).runs
    # Written before there was this group of settings.
    about = json.loads((tmp_path / "study.json").read_text())
    del about["scenario"]["tcp"]["door"]
    (tmp_path / "study.json").write_text(json.dumps(about))
    kept = set(contents(tmp_path))
    assert small(tmp_path, 1).runs.equals(runs)
    assert set(contents(tmp_path)) == kept, "no run is repeated"


def test_a_run_of_another_epoch_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    item = axes.Item(axes.Point({}, chappe.Scenario.chain(1)), 1)
    before = item.key
    monkeypatch.setattr(axes, "RESULTS_EPOCH", chappe.RESULTS_EPOCH + 1)
    assert axes.Item(item.point, 1).key != before


# ---- runs that fail ----


def test_a_run_that_fails_among_200(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STUDY.replace("seeds = 3", "seeds = 100").replace("[1, 2, 3]", "[1]").replace("1100 del", "110 del")
    (tmp_path / "study.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["sweep", "study.toml", "--out", "undisturbed"]) == 0
    capsys.readouterr()
    run = _core.run

    def one_fails(scenario: _core.Scenario, *others: Any) -> _core.Results:
        settings = json.loads(scenario.effective_json())
        if settings["run"]["seed"] == 77 and settings["tcp"]["variant"] == "vegas":
            raise RuntimeError("a broken invariant\nwith details")
        return run(scenario, *others)

    with monkeypatch.context() as m:
        m.setattr(_core, "run", one_fails)
        assert cli.main(["sweep", "study.toml", "--out", "results", "--json"]) == 1
    written = capsys.readouterr()
    message = (
        "the run with topology.hops = 1, tcp.variant = vegas, seed = 77 failed: RuntimeError: a broken invariant\n"
    )
    assert f"error: {message}" in written.err
    assert "1 run failed; finished runs are kept in results." in written.err
    printed = json.loads(written.out)
    assert printed["run_count"] == 199
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
        failed_study = small(tmp_path, 2)
    assert len(failed_study.failed) == 4
    assert len(failed_study.runs) == 0
    assert len(failed_study.summary()) == 0
    assert len(failed_study.table("flows")) == 0
    assert small(tmp_path, 2).failed == []


# ---- foreign files ----


@pytest.mark.usefixtures("_eager")
def test_foreign_files_in_the_folder_stay(tmp_path: Path, finished: Make) -> None:
    """Files and folders that resemble unfinished files or parts, but have foreign names."""
    results = tmp_path / "results"
    finished(results, 2)
    expected = contents(results)
    foreign = {
        *("mail.tmp", "work.tmp/a", "notes/x.tmp", "notes/work.tmp/b", "chunks/mine/c", "chunks/mine.tmp/d"),
        *("chunks/x.tmp", "chunks/00000/e", "parts/mine/f", "damaged/00000/g", "study.json.tmp.tmp"),
    }
    for name in foreign:
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text("mine")
    (results / "chunks" / "00007.tmp").mkdir()
    (results / "chunks" / "00007.tmp" / "flows.parquet").write_text("half")
    (results / "points.parquet.tmp").write_text("half")
    small(results, 2)
    assert contents(results) == expected | dict.fromkeys(foreign, b"mine")
    assert not (results / "chunks" / "00007.tmp").exists()
    small(results, 5)
    files = contents(results)
    # The first chunk is rewritten, and foreign files in it move along.
    assert {name for name, data in files.items() if data == b"mine"} >= foreign - {"chunks/00000/e"}
    assert sorted(name.rpartition("/")[2] for name, data in files.items() if data == b"mine") == sorted(
        name.rpartition("/")[2] for name in foreign
    )


@pytest.mark.parametrize(
    "name",
    ["chunks", "parts", "damaged", "study.json", "points.parquet.tmp", "chunks/00000", "parts/old", "any", "notes/x"],
)
def test_nothing_behind_a_link_is_touched(name: str, tmp_path: Path, finished: Make) -> None:
    results, victim = tmp_path / "results", tmp_path / "victim"
    finished(results, 2)
    shutil.rmtree(results / name, ignore_errors=True)
    for file in ("mail.tmp", "work.tmp/x", "docs/a.txt", "00000/flows.parquet", "00001.tmp/sums.json", "old.tmp/x"):
        (victim / file).parent.mkdir(parents=True, exist_ok=True)
        (victim / file).write_text("mine")
    (results / name).parent.mkdir(exist_ok=True)
    (results / name).unlink(missing_ok=True)
    (results / name).symlink_to(victim)
    before = contents(victim), contents(results)
    if name in ("any", "notes/x"):
        small(results, 3)
        assert contents(victim) == before[0]
    else:
        with pytest.raises(study.StorageError, match=f"{name} is a link, and a study changes nothing outside"):
            small(results, 3)
        assert (contents(victim), contents(results)) == before
    assert (results / name).is_symlink()


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "disk")
    small(tmp_path / "results", 2)
    assert len(small(tmp_path / "results", 3).runs) == 6
    assert (tmp_path / "results").is_symlink()


# ---- changes by other programs ----


def test_runs_are_found_without_their_description(tmp_path: Path, executed: list[str], finished: Make) -> None:
    finished(tmp_path, 2)
    expected = contents(tmp_path)
    executed.clear()
    (tmp_path / "study.json").unlink()
    with pytest.raises(
        study.StorageError, match=r"study\.json or points\.parquet is missing in .*; run the study again"
    ):
        study.Study(tmp_path)
    (warning,) = small(tmp_path, 2).warnings
    assert "study.json was missing" in warning.message
    assert executed == []
    assert contents(tmp_path) == expected


@pytest.mark.parametrize("harm", [removed, truncated])
def test_runs_of_another_scenario_are_not_taken(harm: Callable[[Path], None], tmp_path: Path, finished: Make) -> None:
    finished(tmp_path, 2)
    harm(tmp_path / "study.json")
    before = contents(tmp_path)
    with pytest.raises(study.StorageError, match=r"the runs in .* belong to another scenario or results epoch"):
        chappe.sweep(
            chappe.Scenario.chain(3, stop="110 delivered"),
            {"tcp.receive_window": [2, 4]},
            seeds=2,
            out=tmp_path,
            jobs=1,
        )
    assert contents(tmp_path) == before


SHAPES = ["null", "[]", "{}", "3", '"study"', "[" * 100_000, '{"axes": 3}', '{"a":' * 100_000, "\x00"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_description_of_another_shape(shape: str, tmp_path: Path, executed: list[str], finished: Make) -> None:
    finished(tmp_path, 2)
    expected = contents(tmp_path)
    executed.clear()
    (tmp_path / "study.json").write_text(shape)
    with pytest.raises(study.StorageError, match="not the folder of a readable study"):
        study.Study(tmp_path)
    (warning,) = small(tmp_path, 2).warnings
    assert "study.json was damaged" in warning.message
    assert executed == []
    assert contents(tmp_path) == expected


@pytest.mark.parametrize(
    "change",
    [{"axes": [3]}, {"axes": ["nowhere"]}, {"seeds": 3}, {"scenario": []}, {"warmup": "x"}, {"search": {"a": 1}}],
)
def test_a_description_with_a_value_of_another_kind(change: dict[str, Any], tmp_path: Path, finished: Make) -> None:
    finished(tmp_path, 2)
    about = json.loads((tmp_path / "study.json").read_text())
    (tmp_path / "study.json").write_text(json.dumps(about | change))
    with pytest.raises(study.StorageError, match="not the folder of a readable study"):
        study.Study(tmp_path)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_another_shape(shape: str, tmp_path: Path, executed: list[str], finished: Make) -> None:
    finished(tmp_path, 2)
    executed.clear()
    (tmp_path / "chunks/00000/sums.json").write_text(shape)
    after = small(tmp_path, 2)
    assert after.warnings[0].code == "damaged_runs"
    assert len(executed) == 4


@pytest.mark.parametrize("table", parts.PART_TABLES)
def test_a_table_without_a_column(table: str, tmp_path: Path, executed: list[str], finished: Make) -> None:
    """A changed table with matching checksums."""
    finished(tmp_path, 2)
    executed.clear()
    file = tmp_path / "chunks/00000" / f"{table}.parquet"
    whole = pl.read_parquet(file)
    whole.drop("run" if table == "run_info" else whole.columns[-1]).write_parquet(file)
    sums = json.loads((file.parent / "sums.json").read_text())
    sums[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    (file.parent / "sums.json").write_text(json.dumps(sums))
    with pytest.raises(study.StorageError, match=rf"{table}\.parquet has no column `.*`; run the study again"):
        study.Study(tmp_path).table(table)
    (warning,) = small(tmp_path, 2).warnings
    assert f"{table}.parquet has no column" in warning.message
    assert len(executed) == 4


@pytest.mark.usefixtures("_eager")
@pytest.mark.parametrize("name", ["parts", "study.json", "points.parquet", "."])
def test_deletions_during_a_study(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "study.toml").write_text(STUDY.replace("1100 del", "110 del").replace("[1, 2, 3]", "[1]"))
    assert cli.main(["sweep", "study.toml", "--out", "undisturbed", "--quiet"]) == 0
    add, left = store.Store.add, [4]

    def deleting(self: store.Store, run: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            deleted = folder / "results" / name
            shutil.rmtree(deleted) if deleted.is_dir() else deleted.unlink()
        add(self, run)

    monkeypatch.setattr(store.Store, "add", deleting)
    code = cli.main(["sweep", "study.toml", "--out", "results", "--quiet", "--jobs", "1"])
    written = capsys.readouterr()
    assert written.out == ""
    if name in ("study.json", "points.parquet"):
        assert (code, written.err) == (0, "")
    else:
        assert code == 1
        assert written.err.startswith("error: results/")
        assert "deleted or changed during the study: the same command" in written.err
        assert cli.main(["sweep", "study.toml", "--out", "results", "--quiet"]) == 0
    assert contents(folder / "results") == contents(folder / "undisturbed")


def test_a_study_with_a_missing_folder(tmp_path: Path) -> None:
    for finished in (True, False):
        small(tmp_path / "results", 2)
        if not finished:
            (tmp_path / "results/runs.parquet").unlink()
        opened = study.Study(tmp_path / "results")
        shutil.rmtree(tmp_path / "results")
        for look in (lambda s: s.runs, lambda s: s.table("flows"), lambda s: s.summary(), repr):
            with pytest.raises(study.StorageError, match="no longer exists"):
                look(opened)
    small(tmp_path / "results", 2)
    opened = study.Study(tmp_path / "results")
    shutil.rmtree(tmp_path / "results/chunks")
    with pytest.raises(study.StorageError, match=r"runs are missing in .*; run the study again"):
        opened.table("flows")
