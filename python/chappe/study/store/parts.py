"""Parts of a store: folders with one Parquet file per table, written atomically."""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe import _core
from chappe._common.files import UNFINISHED, make_folder, take_away
from chappe.errors import reason
from chappe.expressions.reductions import REDUCED, SCHEMA
from chappe.results.storage import recorded, tables
from chappe.results.storage.columns import RUN, RUN_INFO, TABLES
from chappe.scenario.scenario import Scenario

PART_TABLES = (RUN_INFO, *TABLES)

SUMS = "sums.json"
OWNER = "study"
"""Key of :data:`SUMS` for the study of a part."""


About = Callable[[str, Sequence[str]], dict[str, str]]
"""Function from the name of a table and its columns to the metadata of its file."""


class Finished(NamedTuple):
    """Results of a run, as the core gives them.

    Attributes:
        key: Key of the run.
        seed: Its seed.
        end: Reason for its end.
        simulated_s: Simulated time [s].
        frames_sent: Frames transmitted by all nodes.
        fastest_bps: Fastest rate at which a node sends data [bit/s]; ``None`` with short flows.
        tables: The tables of every run.
        reduced: Values of user-defined measures from recorded tables: types and values by column; else ``None``.
    """

    key: str
    seed: int
    end: str
    simulated_s: float
    frames_sent: int
    fastest_bps: int | None
    tables: _core.Tables
    reduced: dict[str, tuple[str, list[Any]]] | None = None


class DamagedError(Exception):
    """A part differs from the data that was written."""


def frames_of(runs: Iterable[Finished]) -> dict[str, pl.DataFrame]:
    """Concatenated tables of several runs."""
    runs = list(runs)
    run_info = {
        RUN: [r.key for r in runs],
        "seed": [r.seed for r in runs],
        "end": [r.end for r in runs],
        "simulated_s": [r.simulated_s for r in runs],
        "frames_sent": [r.frames_sent for r in runs],
        "fastest_bps": [r.fastest_bps for r in runs],
    }
    frames = {RUN_INFO: pl.DataFrame(run_info, schema_overrides={"fastest_bps": pl.Int64})}
    frames |= {
        name: recorded.frame(rows, {}) for name, rows in _core.Tables.joined(RUN, [(r.key, r.tables) for r in runs])
    }
    if reduced := [(r.key, r.reduced) for r in runs if r.reduced is not None]:
        keys = [key for key, table in reduced for _ in next(iter(table.values()))[1]]
        columns = {
            column: (kind, [value for _, table in reduced for value in table[column][1]])
            for column, (kind, _) in reduced[0][1].items()
        }
        frames[REDUCED] = tables.frame({RUN: ("text", keys), **columns})
    return frames


def parquet(table: pl.DataFrame, metadata: Mapping[str, str]) -> bytes:
    """A table as reproducible bytes of a Parquet file, with metadata of the file."""
    buffer = io.BytesIO()
    # The streaming engine holds one group of rows at a time, and gives the same bytes with any number of threads.
    rows = table.lazy()
    about = tables.with_seal(metadata)
    rows.sink_parquet(buffer, compression="zstd", row_group_size=1 << 17, metadata=about, engine="streaming")
    return tables.sealed(buffer.getvalue())


def write(path: Path, content: Mapping[str, pl.DataFrame], owner: str, about: About) -> None:
    """Writes a part atomically; ``path`` must not exist.

    Args:
        path: Folder of the part.
        content: Tables of the part.
        owner: Name of the study.
        about: Metadata of the file of a table.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    remove(unfinished)
    new_folders = make_folder(path.parent)
    try:
        unfinished.mkdir()
        sums = {OWNER: owner}
        for name in (*PART_TABLES, *([REDUCED] if REDUCED in content else [])):
            data = parquet(content[name], about(name, content[name].columns))
            (unfinished / f"{name}.parquet").write_bytes(data)
            sums[f"{name}.parquet"] = hashlib.sha256(data).hexdigest()
        (unfinished / SUMS).write_text(json.dumps(sums, indent=2, allow_nan=False) + "\n")
        _keep([unfinished / name for name in (*sums, SUMS) if name != OWNER])
        unfinished.rename(path)
    except OSError:
        remove(unfinished)
        take_away(new_folders)
        raise


def _keep(files: Sequence[Path]) -> None:
    """Waits until files are on disk, in parallel, which takes hardly longer than one file."""

    def keep(file: Path) -> None:
        with file.open("r+b") as f:
            os.fsync(f.fileno())

    with ThreadPoolExecutor(len(files)) as pool:
        list(pool.map(keep, files))


def remove(path: Path) -> None:
    """Deletes the files of a part, finished or not, and then the folder, if empty."""
    for name in (SUMS, *(f"{table}.parquet" for table in (*PART_TABLES, REDUCED))):
        with suppress(FileNotFoundError):
            os.unlink(path / name)
    with suppress(OSError):
        path.rmdir()


def read(path: Path, table: str) -> pl.DataFrame:
    """Reads a table of a part.

    Raises:
        DamagedError: If the table cannot be read.
    """
    file = path / f"{table}.parquet"
    try:
        rows = tables.read(file)
    except OSError as e:
        raise DamagedError(f"{file} cannot be read: {reason(e)}") from None
    except pl.exceptions.PolarsError as e:
        raise DamagedError(f"{file} cannot be read: {str(e).splitlines()[0]}") from None
    _check_columns(file, table, rows.columns)
    return rows


def check(path: Path) -> list[str]:
    """Checks every byte of a part, and returns the keys of its runs.

    Raises:
        DamagedError: If a file is missing or changed.
    """
    sums = _sums(path)
    for name in (*PART_TABLES, *([REDUCED] if f"{REDUCED}.parquet" in sums else [])):
        file = path / f"{name}.parquet"
        try:
            data = file.read_bytes()
        except OSError:
            raise DamagedError(f"{file} is missing or cannot be read") from None
        if hashlib.sha256(data).hexdigest() != sums.get(file.name):
            raise DamagedError(f"{file} is damaged")
        try:
            schema = pl.read_parquet_schema(io.BytesIO(data))
        except (OSError, pl.exceptions.PolarsError):
            raise DamagedError(f"{file} is damaged") from None
        _check_columns(file, name, list(schema))
    keys: list[str] = read(path, RUN_INFO)[RUN].to_list()
    return keys


def owner(path: Path) -> str | None:
    """Name of the study of a part; ``None`` if unreadable."""
    try:
        name = _sums(path).get(OWNER)
    except DamagedError:
        return None
    return name if isinstance(name, str) else None


def loaded(data: bytes) -> dict[str, Any]:
    """Parses a JSON object.

    Raises:
        ValueError: If the data is not a JSON object.
    """
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    return value


def _sums(path: Path) -> dict[str, Any]:
    try:
        return loaded((path / SUMS).read_bytes())
    except (OSError, ValueError):
        raise DamagedError(f"{path / SUMS} is missing or damaged") from None


def _check_columns(file: Path, table: str, columns: Sequence[str]) -> None:
    missing = [name for name in _schemas()[table] if name not in columns]
    if missing:
        raise DamagedError(f"{file} has no column `{missing[0]}`")


@cache
def _schemas() -> dict[str, pl.Schema]:
    """Columns of every table with their types, equal for all runs, from a run that has not begun."""
    scenario = Scenario.chain(1, {"run.batches": 1, "run.warmup_batches": 0}, stop="1 delivered")
    results = _core.Run(scenario._core).results()
    finished = Finished("", 0, results.end, results.simulated_s, results.frames_sent, 0, results.tables(TABLES))
    return {
        **{name: table.schema for name, table in frames_of([finished]).items()},
        REDUCED: pl.Schema({RUN: pl.String, **SCHEMA}),
    }
