"""Folder names are literal, and folders with foreign files are never changed."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import chappe
import matplotlib.font_manager  # noqa: F401, it writes what it finds into the user's folder
import polars as pl
import pytest
from chappe import cli, plot
from chappe.results.storage import recorded
from command import contents
from polars.testing import assert_frame_equal

NAMES = ("~", "~root", "a[b]", "a*b?", "x{1,2}", "two words", "grün", "-lead", "k=v", "%20", "s3:")
NEIGHBORS = ("ab", "aXbY", "x1", "root")
"""Folders that an expanded name would match."""

SCENARIO = 'run = { stop = "110 delivered", batches = 2, warmup_batches = 0 }\ntopology.hops = 2\n'
TABLES = ["cwnd", "packets"]


def small(window: int = 4, record: list[str] | None = None) -> chappe.Scenario:
    changes = {"run.batches": 2, "run.warmup_batches": 0, "tcp.receive_window": window, "run.record": record or []}
    return chappe.Scenario.chain(2, changes, stop="110 delivered")


class Twice(recorded.Stream):
    """Writes all rows twice, to get several chunks."""

    def __call__(self, table: str, rows: Any) -> None:
        super().__call__(table, rows)
        super().__call__(table, rows)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty current folder, with the home folder below."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(plot, "FORMATS", ("svg",))
    return tmp_path


def names(folder: str | Path) -> set[str]:
    return {p.name for p in Path(folder).iterdir()}


# ---- names ----


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_written_to_the_given_folder(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for neighbor in NEIGHBORS:
        (here / neighbor).mkdir()
        for table in (*TABLES, "cwnd-0", "cwnd-1"):
            (here / neighbor / f"{table}.parquet").write_text("of another run")
    before = contents(here)
    expected = chappe.run(small(record=TABLES)).recorded
    with monkeypatch.context() as m:
        m.setattr(recorded, "Stream", Twice)
        twice = chappe.run(small(record=TABLES), out=name)
    for table, rows in expected.items():
        assert_frame_equal(twice.recorded[table], pl.concat([rows, rows]))
    once = chappe.run(small(record=TABLES), out=f"{name}/below")
    once.save(f"{name}/copy")
    for table, rows in expected.items():
        assert_frame_equal(once.recorded[table], rows)
        assert (here / name / "copy" / f"{table}.parquet").is_file()
    shutil.rmtree(here / name)
    (here / "a.toml").write_text(SCENARIO)
    assert cli.main(["run", "a.toml", f"--out={name}"]) == 0
    assert {"run.json", "scenario.toml", "nodes.parquet"} <= names(here / name)
    shutil.rmtree(here / name)
    assert cli.main(["plot", "a.toml", "--what=cwnd", f"--data={name}/w.csv", f"--out={name}/w.svg"]) == 0
    assert names(here / name) == {"w.csv", "w.svg"}
    shutil.rmtree(here / name)
    assert cli.main(["export", "mobility", "a.toml", "--until=1 s", f"--path={name}"]) == 0
    chappe.Scenario.load("a.toml").write_mobility("again", until=1)
    assert (here / name).read_bytes() == (here / "again").read_bytes()
    (here / "again").unlink()
    (here / name).unlink()
    (here / "a.toml").unlink()
    assert contents(here) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_kept_in_the_given_folder(name: str, here: Path) -> None:
    chappe.sweep(small(), {"tcp.receive_window": [2]}, seeds=1, out=name, jobs=1)
    chappe.sweep(small(), {"tcp.receive_window": [2]}, seeds=2, out=name, jobs=1)
    assert len(chappe.Study(name).runs) == len(chappe.Study(name).table("flows")) == 2
    assert names(here) == {name, "home"}
    (here / "study.toml").write_text('scenario = "a.toml"\nseeds = 2\n')
    (here / "a.toml").write_text(SCENARIO)
    shutil.rmtree(here / name)
    for _ in range(2):
        assert cli.main(["sweep", "study.toml", f"--out={name}", "--quiet"]) == 0
    assert names(here) == {name, "home", "study.toml", "a.toml"}
    assert names(here / "home") == set()


@pytest.mark.parametrize("name", NAMES)
def test_file_names_are_literal(name: str, here: Path) -> None:
    folder = here / name
    folder.mkdir()
    (folder / "base.toml").write_text(SCENARIO)
    (folder / "places.csv").write_text("x_m,y_m\n0,0\n200,0\n")
    (folder / "flows.csv").write_text("src,dst\n0,1\n")
    (folder / "links.csv").write_text("src,dst,loss_db\n0,1,80\n1,0,80\n")
    small().write_mobility(folder / "move.csv", until=1)
    for settings in (
        'extends = "base.toml"\n',
        f'extends = "{name}/base.toml"\n',
        'extends = "base.toml"\ntopology = { kind = "file", file = "places.csv" }\ntraffic.file = "flows.csv"\n',
        'extends = "base.toml"\nradio.propagation = "links"\nradio.links_file = "links.csv"\n'
        'radio.receive_threshold = "-70 dBm"\nradio.sense_threshold = "-80 dBm"\ntopology.hops = 1\n',
        'run.stop = "1 s"\ntopology.kind = "motion"\nmobility = { model = "file", file = "move.csv" }\n'
        "flow = [{ src = 0, dst = 1 }]\n",
    ):
        where = here if name in settings else folder
        (where / "it.toml").write_text(settings)
        assert cli.main(["check", os.path.join(".", where.relative_to(here), "it.toml")]) == 0, settings
    (folder / "study.toml").write_text('scenario = "base.toml"\n')
    assert cli.main(["sweep", f"./{name}/study.toml", "--quiet", "--out=out"]) == 0


def test_a_name_that_is_not_utf8_is_refused_before_the_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"\xff")
    with pytest.raises(ValueError, match="must be UTF-8 text"):
        chappe.run(small(record=TABLES), out=name)
    (here / "a.toml").write_text(SCENARIO)
    assert cli.main(["run", "a.toml", "--out", name]) == 2
    assert "must be UTF-8 text" in capsys.readouterr().err
    chappe.sweep(small(), {"tcp.receive_window": [2]}, seeds=2, out=name, jobs=1)
    assert len(chappe.Study(name).runs) == 2


# ---- existing files ----


def test_a_run_replaces_a_run(here: Path) -> None:
    first = chappe.run(small(record=["cwnd", "packets"]), out="out")
    assert "packets.parquet" in names("out")
    second = chappe.run(small(2, record=["cwnd"]), out="out")
    assert "packets.parquet" not in names("out")
    alone = chappe.run(small(2, record=["cwnd"]), out="alone")
    assert contents(here / "out") == contents(here / "alone")
    assert_frame_equal(second.recorded["cwnd"], alone.recorded["cwnd"])
    with pytest.raises(OSError, match="no longer the file that this run wrote"):
        _ = first.recorded
    second.save("out")
    assert contents(here / "out") == contents(here / "alone")
    (here / "a.toml").write_text(small(2, record=["cwnd"]).to_toml())
    chappe.run(small(3)).save("out")
    assert cli.main(["run", "a.toml", "--out", "out"]) == 0
    assert contents(here / "out") == contents(here / "alone")


def test_a_run_that_fails_replaces_nothing(here: Path) -> None:
    def stop(_: float) -> None:
        raise RuntimeError("enough")

    chappe.run(small(record=TABLES), out="out")
    before = contents(here)
    for out in ("out", "new"):
        with pytest.raises(RuntimeError, match="enough"):
            chappe.run(chappe.Scenario.chain(3, {"run.record": TABLES}, stop="1000 s"), progress=stop, out=out)
    assert contents(here) == before
    assert names(here) == {"out", "home"}


def foreign(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def hidden(folder: Path) -> None:
    (folder / ".chappe-notes").mkdir()
    (folder / ".chappe-notes" / "a.txt").write_text("mine")


def below(folder: Path) -> None:
    (folder / "old").mkdir()


def linked(folder: Path) -> None:
    kept = folder / "nodes.parquet"
    target = folder.parent / "elsewhere.parquet"
    if kept.exists():
        kept.rename(target)
    target.touch()
    kept.symlink_to(target)


def named_alike(folder: Path) -> None:
    (folder / "packets.parquet").write_text("mine, and not of the run that is there")


def another_manifest(folder: Path) -> None:
    (folder / "run.json").write_text('["mine"]')


def deep_manifest(folder: Path) -> None:
    (folder / "run.json").write_text("[" * 100_000)


def a_study(folder: Path) -> None:
    shutil.rmtree(folder)
    chappe.sweep(small(), {"tcp.receive_window": [2]}, seeds=1, out=folder, jobs=1)


OTHERS = [foreign, hidden, below, linked, named_alike, another_manifest, deep_manifest, a_study]


@pytest.mark.parametrize("other", OTHERS)
def test_any_other_folder_is_refused(other: Any, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chappe.run(small()).save("out")
    (here / "empty").mkdir()
    (here / "a.toml").write_text(SCENARIO)
    other(here / "out")
    before = contents(here)

    def made(*_: Any) -> None:
        raise AssertionError("refused before the run")

    with pytest.raises(FileExistsError, match=r"out has what no run wrote, such as .*: use a new folder"):
        chappe.run(small(), progress=made, out="out")
    with pytest.raises(FileExistsError, match="no run wrote"):
        chappe.run(small()).save("out")
    assert cli.main(["run", "a.toml", "--out", "out"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: out has what no run wrote, such as ")
    assert contents(here) == before


def test_a_run_of_another_version_is_refused_as_such(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chappe.run(small()).save("out")
    (here / "out" / "colors.parquet").touch()
    facts = json.loads((here / "out" / "run.json").read_text())
    facts["files"].append("colors.parquet")
    (here / "out" / "run.json").write_text(json.dumps(facts))
    (here / "a.toml").write_text(SCENARIO)
    before = contents(here)
    refused = r"has a run of another version, .* such as colors\.parquet: use a new folder"
    with pytest.raises(FileExistsError, match=f"^out {refused}"):
        chappe.run(small(), out="out")
    assert cli.main(["run", "a.toml", "--out", "out"]) == 2
    assert re.match(f"error: out {refused}", capsys.readouterr().err)
    assert contents(here) == before
    # The message names a foreign file among the files of a run.
    foreign(here / "out")
    with pytest.raises(FileExistsError, match=r"has what no run wrote, such as notes\.txt"):
        chappe.run(small(), out="out")
    # The suggested repair works.
    shutil.rmtree(here / "out")
    (here / "out").mkdir()
    assert cli.main(["run", "a.toml", "--out", "out"]) == 0


@pytest.mark.parametrize(
    "command",
    [
        ["paper", "zhou2004", "--quick", "--figure", "3"],
        ["validate", "sinr"],
        ["sweep", "study.toml"],
        ["export", "mobility", "a.toml", "--until", "1 s", "--path", "a.toml"],
    ],
)
def test_every_command_refuses_what_it_did_not_write(
    command: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.toml").write_text(SCENARIO)
    (here / "study.toml").write_text('scenario = "a.toml"\n')
    chappe.run(small()).save("out")
    before = contents(here)
    out = [] if command[0] == "export" else ["--out", "out"]
    assert cli.main([*command, *out]) == 2
    assert "error: " in capsys.readouterr().err
    assert contents(here) == before


@pytest.mark.usefixtures("here")
def test_two_runs_do_not_write_at_once() -> None:
    def another(_: float) -> None:
        with pytest.raises(BlockingIOError, match="being written by another run"):
            chappe.run(small(), out="out")
        raise RuntimeError("seen")

    with pytest.raises(RuntimeError, match="seen"):
        chappe.run(chappe.Scenario.chain(3, stop="1000 s"), progress=another, out="out")


def test_leftovers_of_a_killed_run_are_removed(here: Path) -> None:
    chappe.run(small(), out="out")
    left = here / "out" / ".chappe-a1_b2c3d"
    left.mkdir()
    (left / "packets-17.parquet").write_text("half")
    before = contents(here)
    chappe.run(small(), out="out")
    assert {**contents(here), "out/.chappe-a1_b2c3d/packets-17.parquet": b"half"} == before
