"""Recorded tables: in memory, in files, on the command line."""

import copy
import json
import pickle
import re
from pathlib import Path

import chappe
import polars as pl
import pytest
from chappe import _core, cli
from chappe.errors import StudyError
from chappe.results.storage import recorded
from chappe.results.storage.columns import TABLES
from polars.testing import assert_frame_equal

ALL = {"run.record": list(recorded.RECORDED)}
PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
DECLARED = {table["name"]: table for table in json.loads(_core.recorded_tables_json())}


def chain(**changes: object) -> chappe.Scenario:
    return chappe.Scenario.chain(3, {**ALL, **changes}, stop="220 delivered", extends="ns2-2.35")


@pytest.fixture(scope="module")
def results() -> chappe.Results:
    return chappe.run(chain())


def test_names_are_those_of_the_core(results: chappe.Results) -> None:
    assert tuple(DECLARED) == recorded.RECORDED == tuple(results.recorded)
    for name, table in results.recorded.items():
        assert table.columns == [column for column, _ in DECLARED[name]["columns"]], name
        for column, words in DECLARED[name]["words"]:
            assert table.schema[column] == pl.Enum([word for word, _ in words])


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_the_page_says_what_the_core_declares(name: str) -> None:
    (section,) = re.findall(rf"^### `{name}`\n(.*?)^##", PAGE, flags=re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, flags=re.MULTILINE)
    declared = DECLARED[name]["columns"] + [row for _, words in DECLARED[name]["words"] for row in words]
    assert [list(row) for row in rows] == declared


def test_recording_changes_no_result(results: chappe.Results) -> None:
    plain = chappe.run(chain(**{"run.record": []}))
    assert plain.recorded == {}
    for name in TABLES:
        assert_frame_equal(getattr(plain, name), getattr(results, name))


def test_rows_agree_with_counters(results: chappe.Results) -> None:
    assert len(results.recorded["frames"]) == results.frames_sent
    packets, outcomes = results.recorded["packets"], results.packet_outcomes
    for event in ("created", "injected", "delivered", "relayed", "absorbed"):
        assert len(packets.filter(event=event)) == outcomes[event].sum(), event
    for column in (c for c in outcomes.columns if c.startswith("dropped_")):
        assert len(packets.filter(drop_reason=column.removeprefix("dropped_"))) == outcomes[column].sum(), column


def test_delays_agree_with_rows() -> None:
    measured = chappe.run(chain(**{"run.record": ["packets"], "run.warmup_batches": 0}))
    of_data = measured.recorded["packets"].filter(packet_type="tcp_data")
    sent = of_data.filter(event="created").select("packet", sent_s="time_s")
    arrived = of_data.filter(event="delivered").join(sent, on="packet")
    flows = measured.flows
    delay_s = (flows["mean_copy_delay_s"] * flows["copies_received"]).sum()
    assert len(arrived) == flows["copies_received"].sum() > 0
    assert (arrived["time_s"] - arrived["sent_s"]).sum() == pytest.approx(delay_s)


def test_keys_join_those_of_other_tables(results: chappe.Results) -> None:
    joined = results.recorded["cwnd"].join(results.flows.select("flow", "transport"), on="flow")
    assert len(joined) == len(results.recorded["cwnd"]) > 0


def test_frames_name_their_packets(results: chappe.Results) -> None:
    data = results.recorded["frames"].filter(pl.col("packet").is_not_null())
    births = results.recorded["packets"].filter(event="created")
    assert births["packet"].is_unique().all()
    assert len(data.join(births, on="packet")) == len(data) > 0


def test_files_have_the_same_rows(results: chappe.Results, tmp_path: Path) -> None:
    streamed = chappe.run(chain(), out=tmp_path / "run")
    assert {p.name for p in (tmp_path / "run").iterdir()} == {
        *("scenario.toml", "run.json"),
        *(f"{name}.parquet" for name in (*TABLES, *ALL["run.record"])),
    }
    streamed.save(tmp_path / "copy")
    results.save(tmp_path / "kept")
    for name, table in results.recorded.items():
        assert_frame_equal(streamed.recorded[name], table)
        for folder in ("run", "copy", "kept"):
            assert_frame_equal(pl.read_parquet(tmp_path / folder / f"{name}.parquet"), table)


@pytest.mark.parametrize("held", [0, 1 << 30])
def test_chunks_become_one_file_in_order(held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "HELD_B", held)
    chunks: list[_core.Rowset] = []
    _core.run(chain(**{"run.record": ["frames"]})._core, None, lambda _, rows: chunks.append(rows))
    stream = recorded.Stream(tmp_path.joinpath, {"frames": {}}, {})
    for rows in chunks * 3:
        stream("frames", rows)
    stream.join()
    assert [p.name for p in tmp_path.iterdir()] == ["frames.parquet"]
    assert_frame_equal(pl.read_parquet(tmp_path / "frames.parquet"), recorded.joined(chunks * 3, {}))


def test_rows_are_streamed_during_the_run() -> None:
    """Chunks have about 65,536 rows; rows between two checks are not split."""
    sizes: list[int] = []
    scenario = chappe.Scenario.chain(3, {"run.record": ["packets"]}, stop="11000 delivered", extends="ns2-2.35")
    measured = _core.run(scenario._core, None, lambda _, rows: sizes.append(len(recorded.frame(rows, {}))))
    assert measured.recorded("packets") == []
    assert len(sizes) > 3
    assert all(65_536 <= size < 2 * 65_536 for size in sizes[:-1])


def test_a_failed_run_leaves_no_file(tmp_path: Path) -> None:
    def stop(_: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        chappe.run(chappe.Scenario.chain(3, ALL, stop="1000 s"), progress=stop, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_memory_has_a_limit_that_files_do_not_need(tmp_path: Path) -> None:
    scenario = chappe.Scenario.chain(3, {"run.record": ["packets"], "run.max_memory": "8 MB"}, stop="11000 delivered")
    with pytest.raises(chappe.LimitError, match="more than 8 MB of memory") as e:
        chappe.run(scenario)
    assert e.value.problems[0].path == "run.record"
    assert "--out DIR" in str(e.value)
    assert chappe.run(scenario, out=tmp_path).end == "done"


def test_copies_have_the_tables(results: chappe.Results) -> None:
    for copied in (copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        for name, table in results.recorded.items():
            assert_frame_equal(copied.recorded[name], table)


def test_a_study_does_not_record() -> None:
    with pytest.raises(StudyError, match=r"a study does not keep recorded tables \(`run.record`\)"):
        chappe.sweep(chain(), {"tcp.receive_window": [1, 2]}, seeds=2)


def test_the_command_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(chain().to_toml(), encoding="utf-8")
    assert cli.main(["run", str(file)]) == 0
    assert "Use `--out DIR` to write them" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["run", str(file), "--out", str(tmp_path / "out")]) == 0
    assert {f"{name}.parquet" for name in recorded.RECORDED} < {p.name for p in (tmp_path / "out").iterdir()}


def test_an_unknown_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chain.toml"
    file.write_text('run = { stop = "1 s", record = ["frames", "packet"] }\ntopology.hops = 2\n', encoding="utf-8")
    assert cli.main(["run", str(file)]) == 2
    told = capsys.readouterr().err
    assert "`run.record`" in told
    assert "did you mean `packets`?" in told
