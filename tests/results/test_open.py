"""Saved results that are opened again."""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.errors import StorageError
from chappe.results.storage import metadata
from chappe.results.storage.columns import TABLES
from command import contents
from polars.testing import assert_frame_equal

CHAIN = chappe.Scenario.chain(
    2, {"run.record": ["packets", "cwnd"], "run.sample_interval": "1 s"}, stop="330 delivered"
)


@pytest.fixture(scope="module")
def run() -> chappe.Results:
    return chappe.run(CHAIN, seed=5)


@pytest.fixture
def folder(run: chappe.Results, tmp_path: Path) -> Path:
    run.save(tmp_path / "out")
    return tmp_path / "out"


def opened(folder: Path) -> chappe.Results:
    results = chappe.open(folder)
    assert isinstance(results, chappe.Results)
    return results


def same(a: chappe.Results, b: chappe.Results) -> None:
    assert list(a.tables) == list(b.tables)
    for name, table in a.tables.items():
        assert_frame_equal(table, b.tables[name], check_exact=True)
        assert_frame_equal(table, b.table(name), check_exact=True)
    assert (a.end, a.simulated_s, a.frames_sent, a.scenario, a.warnings) == (
        *(b.end, b.simulated_s, b.frames_sent, b.scenario, b.warnings),
    )
    assert (a.seed, a.version, a.epoch) == (b.seed, b.version, b.epoch)
    assert a.to_dict() == b.to_dict()


def test_opened_results_are_those_of_the_run(run: chappe.Results, folder: Path) -> None:
    results = opened(folder)
    same(run, results)
    assert (results.seed, results.version, results.epoch) == (5, chappe.__version__, chappe.RESULTS_EPOCH)
    assert results.scenario.settings["run"]["seed"] == 5
    assert repr(results) == repr(run)


def test_yesterdays_run_is_looked_at(folder: Path) -> None:
    """The program "Look at yesterday's run" of the documentation."""
    results = opened(folder)
    assert (results.epoch, results.seed, len(results.flows["goodput_bps"])) == (chappe.RESULTS_EPOCH, 5, 1)
    dropped = (
        results.table("packets").filter(event="dropped", packet_type="tcp_data").group_by("node", "drop_reason").len()
    )
    assert set(dropped.columns) == {"node", "drop_reason", "len"}
    with pytest.warns(UserWarning, match="the run is repeated with seed 5"):
        losses = results.why().losses
    assert_frame_equal(losses, chappe.run(CHAIN, seed=5).why().losses)


def test_nothing_is_repeated_with_airtime(tmp_path: Path) -> None:
    r = chappe.run(CHAIN.with_settings({"run.airtime": True}), out=tmp_path / "out")
    assert opened(tmp_path / "out").why().to_dict() == r.why().to_dict()


def test_python_and_the_command_write_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CHAIN.to_toml())
    chappe.run(tmp_path / "a.toml", out=tmp_path / "python")
    assert cli.main(["run", str(tmp_path / "a.toml"), "--out", str(tmp_path / "command")]) == 0
    chappe.run(tmp_path / "a.toml").save(tmp_path / "saved")
    written = contents(tmp_path / "python")
    assert {*(f"{name}.parquet" for name in (*TABLES, "packets", "cwnd")), "run.json", "scenario.toml"} == set(written)
    assert written == contents(tmp_path / "command") == contents(tmp_path / "saved")
    same(opened(tmp_path / "python"), opened(tmp_path / "command"))


def test_opened_results_can_be_saved_again(folder: Path, tmp_path: Path) -> None:
    opened(folder).save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder)


def test_a_study_is_opened(tmp_path: Path) -> None:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")
    chappe.sweep(scenario, {"tcp.receive_window": [2]}, seeds=1, out=tmp_path / "s", jobs=1)
    study = chappe.open(str(tmp_path / "s"))
    assert isinstance(study, chappe.Study)
    assert len(study.runs) == 1


def test_tables_are_a_mapping(run: chappe.Results) -> None:
    assert list(run.tables) == [*TABLES, "packets", "cwnd"]
    assert len(run.tables) == len(TABLES) + 2
    assert run.tables["flows"] is run.flows
    assert "frames" not in run.tables
    with pytest.raises(ValueError, match=r"frames was not recorded: add it to run\.record"):
        run.table("frames")
    with pytest.raises(ValueError, match=r"there is no table 'flow'; known: flows, short_flows, .*, packets, cwnd"):
        run.table("flow")
    with pytest.raises(TypeError):
        run.table(3)  # type: ignore[arg-type]  # it is what is tried


# ---- folders that cannot be opened ----


def facts(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        about = json.loads((folder / "run.json").read_text())
        change(about)
        (folder / "run.json").write_text(json.dumps(about))

    return changed


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "flows.parquet").unlink(), r"the results in .* are damaged: flows\.parquet is missing"),
        (lambda f: (f / "scenario.toml").unlink(), r"are damaged: scenario\.toml is missing"),
        (lambda f: (f / "scenario.toml").write_bytes(b"\xff\xfe"), r"scenario\.toml is not UTF-8 text"),
        (lambda f: (f / "run.json").write_text("{"), r"are damaged: run\.json is not JSON"),
        (lambda f: (f / "run.json").write_text("[]"), r"has no results of Chappe: run\.json has no results epoch"),
        (lambda f: (f / "run.json").unlink(), r"has neither results nor a study of Chappe: `chappe run --out DIR`"),
        (facts(lambda a: a.pop("end")), r"are damaged: run\.json does not describe a run"),
        (facts(lambda a: a.pop("results_epoch")), r"writing the files of the run was interrupted"),
        (facts(lambda a: a.update(format=2, version="9.0")), r"in another format \(2, by version 9\.0 of Chappe\)"),
        (facts(lambda a: a.pop("format")), r"in another format \(None, by version .*\): this version reads format 1"),
    ],
)
def test_folders_that_cannot_be_opened(damage: Callable[[Path], object], message: str, folder: Path) -> None:
    damage(folder)
    with pytest.raises(StorageError, match=message):
        chappe.open(folder)


def test_a_damaged_table_is_found_on_access(folder: Path) -> None:
    (folder / "nodes.parquet").write_bytes(b"PAR1 and no more")
    results = opened(folder)
    assert len(results.flows) == 1
    with pytest.raises(StorageError, match=r"are damaged: nodes\.parquet cannot be read"):
        _ = results.nodes


def test_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(StorageError, match="there is no folder"):
        chappe.open(tmp_path / "none")
    with pytest.raises(StorageError, match=r"a\.txt is not a folder"):
        chappe.open(tmp_path / "a.txt")
    with pytest.raises(TypeError):
        chappe.open(3)  # type: ignore[arg-type]  # it is what is tried


def test_results_of_another_epoch_are_opened_with_a_warning(run: chappe.Results, folder: Path) -> None:
    def older(about: dict[str, Any]) -> None:
        about |= {"results_epoch": 0, "version": "0.0.1"}

    facts(older)(folder)
    with pytest.warns(UserWarning, match=r"has results of epoch 0 \(version 0\.0\.1\), which cannot be compared"):
        results = opened(folder)
    assert (results.version, results.epoch) == ("0.0.1", 0)
    assert_frame_equal(results.flows, run.flows)
    with pytest.warns(UserWarning, match="the explanation is of that run, not of the saved one of epoch 0"):
        results.why()
    facts(lambda a: a["files"].remove("wired_links.parquet"))(folder)
    with pytest.warns(UserWarning, match="epoch 0"):
        results = opened(folder)
    with pytest.raises(StorageError, match=r"has no table wired_links: version 0\.0\.1 of Chappe did not write one"):
        _ = results.wired_links


# ---- metadata ----


def test_files_of_a_study_name_their_origin(tmp_path: Path) -> None:
    base = CHAIN.with_settings({"run.record": []})
    study = chappe.sweep(base, {"tcp.receive_window": [2, 4]}, seeds=2, out=tmp_path)
    settings = study.scenario.settings
    del settings["run"]["seed"]
    files = {p.relative_to(tmp_path): p for p in tmp_path.rglob("*.parquet")}
    assert {"runs", "totals", "points", "run_info", "flows"} <= {p.stem for p in files}
    for name, file in files.items():
        about = pl.read_parquet_metadata(file)
        assert about["chappe.version"] == chappe.__version__, name
        assert about["chappe.results_epoch"] == str(chappe.RESULTS_EPOCH)
        assert about["chappe.settings_sha256"] == metadata.digest(settings)
        columns = json.loads(about["chappe.columns"])
        assert list(columns) == list(pl.read_parquet_schema(file))
        if file.stem in TABLES:
            assert columns.keys() - {"run"} == {c for c, of in columns.items() if "description" in of}
        if name == Path("runs.parquet"):
            assert columns["goodput_ci_low_bps"] == {"unit": "bit/s"}
            assert columns["simulated_s"] == {"unit": "s"}
            assert columns["tcp.receive_window"] == {}


def test_files_name_their_origin(run: chappe.Results, folder: Path, tmp_path: Path) -> None:
    chappe.run(CHAIN, seed=5, out=tmp_path / "streamed")
    for place in (folder, tmp_path / "streamed"):
        for name in run.tables:
            about = pl.read_parquet_metadata(place / f"{name}.parquet")
            assert about["chappe.version"] == chappe.__version__
            assert about["chappe.results_epoch"] == str(chappe.RESULTS_EPOCH)
            assert about["chappe.seed"] == "5"
            assert about["chappe.settings_sha256"] == metadata.digest(run.scenario.settings)
            columns = json.loads(about["chappe.columns"])
            assert list(columns) == run.tables[name].columns
            assert all(c["description"] for c in columns.values())
    flows = metadata.columns("flows")
    assert flows["goodput_bps"]["unit"] == "bit/s"
    assert "unit" not in flows["timeouts"]
    assert metadata.columns("batches")["mean_rtt_s"]["description"].startswith("Mean over all measurements")
    assert metadata.digest(run.scenario.settings) != metadata.digest(CHAIN.settings)


# ---- damage ----

RECORDED = ("frames", "mpdus", "heard", "packets", "cwnd", "queue", "routes", "energy", "positions")


def flipped(folder: Path, read: Callable[[], object], seed: int) -> None:
    """Flips a random bit of each file in turn, and reads the folder: the same, or a documented error."""
    rng = random.Random(seed)
    whole = read()
    for file in sorted(p for p in folder.rglob("*") if p.suffix == ".parquet" or p.name == "scenario.toml"):
        data = file.read_bytes()
        for _ in range(8):
            bit = rng.randrange(8 * len(data))
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            file.write_bytes(damaged)
            with suppress(chappe.ChappeError):
                assert read() == whole, f"bit {bit} of {file.name}"
        file.write_bytes(data)


@pytest.mark.parametrize("saved", ["after the run", "during the run"])
def test_a_flipped_bit_is_found(saved: str, tmp_path: Path) -> None:
    scenario = CHAIN.with_settings({"run.record": list(RECORDED), "run.stop": "110 delivered"})
    if saved == "after the run":
        chappe.run(scenario).save(tmp_path)
    else:
        chappe.run(scenario, out=tmp_path)

    def read() -> object:
        results = opened(tmp_path)
        every = {**results.tables, **results.recorded}
        assert {*RECORDED} <= {*every}
        return results.scenario, {name: table.to_dict(as_series=False) for name, table in every.items()}

    flipped(tmp_path, read, 1)


def test_a_flipped_bit_of_a_study_is_found(tmp_path: Path) -> None:
    chappe.sweep(CHAIN.with_settings({"run.record": []}), {"tcp.receive_window": [2, 4]}, seeds=2, out=tmp_path, jobs=1)

    def read() -> object:
        study = chappe.Study(tmp_path)
        every = [study.runs, study.summary(), *(study.table(name) for name in ("flows", "nodes", "batches", "totals"))]
        return [table.to_dict(as_series=False) for table in every]

    flipped(tmp_path, read, 2)
