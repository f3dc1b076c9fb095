"""Disks that fill up at any byte: the error is reported, and no partial file or empty folder stays."""

import errno
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib.font_manager  # noqa: F401, it writes what it finds into the user's folder
import polars as pl
import pytest
from chappe import cli, plot
from chappe.results.storage import tables
from command import contents

COLUMNS = 100
"""Number of columns with which the footer of a Parquet file exceeds the write buffer of polars."""

SCENARIO = """topology.hops = 2
run = { stop = "550 delivered", batches = 2, warmup_batches = 0, record = ["cwnd", "packets"] }
"""
STUDY = "scenario = 'few.toml'\nseeds = 2\n"

COMMANDS = {
    "run": ["run", "scenario.toml"],
    "sweep": ["sweep", "study.toml", "--jobs=1"],
    "paper": ["paper", "elrakabawy2005", "--table=1", "--quick", "--jobs=1"],
}


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Limits the size of files, to simulate a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def wide() -> pl.DataFrame:
    return pl.DataFrame({f"column_{n}": [n + row / 7 for row in range(20)] for n in range(COLUMNS)})


def joined(table: pl.DataFrame, path: Path) -> None:
    """Joins three copies of the table into one file."""
    pieces = [path.with_name(f"piece-{n}.arrow") for n in range(2)]
    for piece in pieces:
        if not piece.exists():
            table.write_ipc(piece)
    tables.join(pieces, [table], path)


@pytest.mark.parametrize("write", [tables.write, tables.write_arrow, joined])
def test_a_full_disk_is_reported_at_any_byte(write: Callable[[pl.DataFrame, Path], None], tmp_path: Path) -> None:
    path = tmp_path / "table"
    write(wide(), path)
    size = path.stat().st_size
    for at in [*range(0, size, 101), *range(size - 50, size)]:
        with limited(at), pytest.raises(OSError, match="File too large") as error:
            write(wide(), path)
        assert error.value.errno == errno.EFBIG, f"at {at} of {size} bytes"
    write(wide(), path)
    assert path.stat().st_size == size


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    for write in (tables.write, tables.write_arrow, joined):
        with pytest.raises(FileNotFoundError):
            write(wide(), tmp_path / "none" / "table")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plot, "FORMATS", ("svg",))
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "few.toml").write_text('topology.hops = 1\nrun.stop = "110 delivered"\n')
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_leave_no_partial_files(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*COMMANDS[command], "--out", "undisturbed"]) == 0
    whole = contents(here / "undisturbed")
    sizes = sorted({len(data) for data in whole.values()})
    assert len(sizes) > 1
    # Each limit is too small for some file, the last for the largest file only.
    limits = [0, *(size - 1 for size in sizes[:: 1 + len(sizes) // 8]), sizes[-1] - 200, sizes[-1] - 1]
    for n, limit in enumerate(limits):
        capsys.readouterr()
        out = here / f"new-{n}" / "results"
        with limited(limit):
            code = cli.main([*COMMANDS[command], "--out", str(out)])
        err = capsys.readouterr().err
        assert (code, "file too large" in err) == (1, True), f"{limit} bytes: {err}"
        left = contents(out.parent)
        if command == "run":
            assert err == f"error: cannot write to {out}: file too large\n"
            assert left == {}
        assert not [name for name in left if name.endswith(".tmp")]
        empty = [p for p in (out.parent, *out.parent.rglob("*")) if p.is_dir() and not any(p.iterdir())]
        assert empty == []
        assert out.parent.exists() == bool(left)


def test_a_plot_and_its_data_are_whole_or_not_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot_ = ["plot", "scenario.toml", "--what", "cwnd", "--out", "new/cwnd.svg", "--data", "new/cwnd.csv"]
    assert cli.main(plot_) == 0
    whole = contents(here / "new")
    for limit in (0, *(size + more for size in map(len, whole.values()) for more in (-1, -200))):
        shutil.rmtree(here / "new")
        capsys.readouterr()
        with limited(limit):
            assert cli.main(plot_) == 1, limit
        assert "file too large" in capsys.readouterr().err
        assert whole.items() >= contents(here / "new").items()
