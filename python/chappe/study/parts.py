"""Parts of a store: folders with one Parquet file for each table, which appear whole or not at all."""

import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe import _core, tables
from chappe.error import reason
from chappe.files import UNFINISHED, make_folder, take_away
from chappe.results import TABLES, frame
from chappe.scenario import Scenario

FACTS = "facts"
"""The table with one row per run: what is known of it as a whole."""

PART_TABLES = (FACTS, *TABLES)
RUN = "run"
"""The column that says to which run a row belongs."""

SUMS = "sums.json"
OWNER = "study"
"""Key of :data:`SUMS` for the study to which a part belongs."""


class Finished(NamedTuple):
    """What a run measured, as it comes from the core."""

    key: str
    seed: int
    end: str
    simulated_s: float
    frames: int
    tables: dict[str, dict[str, tuple[str, list[Any]]]]


class DamagedError(Exception):
    """A part is not what was written."""


def frames_of(runs: Iterable[Finished]) -> dict[str, pl.DataFrame]:
    """The tables of several runs, one below the other."""
    runs = list(runs)
    facts = {
        RUN: [r.key for r in runs],
        "seed": [r.seed for r in runs],
        "end": [r.end for r in runs],
        "simulated_s": [r.simulated_s for r in runs],
        "frames": [r.frames for r in runs],
    }
    found = {FACTS: pl.DataFrame(facts)}
    for name in TABLES:
        own = [r.tables[name] for r in runs]
        lengths = [len(next(iter(t.values()))[1]) for t in own]
        columns = {RUN: ("text", [r.key for r, length in zip(runs, lengths, strict=True) for _ in range(length)])}
        for column, (kind, _) in own[0].items():
            columns[column] = (kind, list(chain.from_iterable(t[column][1] for t in own)))
        found[name] = frame(columns)
    return found


def parquet(table: pl.DataFrame) -> bytes:
    """A table as a Parquet file. The same table gives the same bytes."""
    buffer = io.BytesIO()
    table.rechunk().write_parquet(buffer, compression="zstd", row_group_size=1 << 20)
    return buffer.getvalue()


def write(path: Path, own: Mapping[str, pl.DataFrame], owner: str) -> None:
    """Writes a part whole or not at all; ``path`` must not exist.

    Args:
        path: The part.
        own: Its tables.
        owner: Names the study to which it belongs.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    remove(unfinished)
    made = make_folder(path.parent)
    try:
        unfinished.mkdir()
        sums = {OWNER: owner}
        for name in PART_TABLES:
            data = parquet(own[name])
            (unfinished / f"{name}.parquet").write_bytes(data)
            sums[f"{name}.parquet"] = hashlib.sha256(data).hexdigest()
        (unfinished / SUMS).write_text(json.dumps(sums, indent=2) + "\n")
        _keep([unfinished / name for name in (*sums, SUMS) if name != OWNER])
        unfinished.rename(path)
    except OSError:
        remove(unfinished)
        take_away(made)
        raise


def _keep(files: Sequence[Path]) -> None:
    """Waits until files are on the disk: for all at once, which takes hardly longer than for one."""

    def keep(file: Path) -> None:
        with file.open("r+b") as f:
            os.fsync(f.fileno())

    with ThreadPoolExecutor(len(files)) as pool:
        list(pool.map(keep, files))


def remove(path: Path) -> None:
    """Deletes the files of a part, finished or not, and then the folder, if there is nothing else in it."""
    for name in (SUMS, *(f"{table}.parquet" for table in PART_TABLES)):
        with suppress(FileNotFoundError):
            os.unlink(path / name)
    with suppress(OSError):
        path.rmdir()


def read(path: Path, table: str) -> pl.DataFrame:
    """A table of a part.

    Raises:
        DamagedError: When it cannot be read.
    """
    file = path / f"{table}.parquet"
    try:
        found = tables.read(file)
    except OSError as e:
        raise DamagedError(f"{file} cannot be read: {reason(e)}") from None
    except pl.exceptions.PolarsError as e:
        raise DamagedError(f"{file} cannot be read: {str(e).splitlines()[0]}") from None
    _check_columns(file, table, found.columns)
    return found


def check(path: Path) -> list[str]:
    """The keys of the runs in a part, every byte of which is as it was written.

    Raises:
        DamagedError: When something is missing or is not as it was written.
    """
    sums = _sums(path)
    for name in PART_TABLES:
        file = path / f"{name}.parquet"
        try:
            data = file.read_bytes()
        except OSError:
            raise DamagedError(f"{file} is missing or cannot be read") from None
        if hashlib.sha256(data).hexdigest() != sums.get(file.name):
            raise DamagedError(f"{file} is damaged")
        try:
            columns = list(pl.read_parquet_schema(io.BytesIO(data)))
        except (OSError, pl.exceptions.PolarsError):
            raise DamagedError(f"{file} is damaged") from None
        _check_columns(file, name, columns)
    keys: list[str] = read(path, FACTS)[RUN].to_list()
    return keys


def owner(path: Path) -> str | None:
    """The name of the study to which a part belongs; ``None`` when it cannot be read."""
    try:
        found = _sums(path).get(OWNER)
    except DamagedError:
        return None
    return found if isinstance(found, str) else None


def loaded(data: bytes) -> dict[str, Any]:
    """An object of JSON.

    Raises:
        ValueError: When it is none.
    """
    try:
        found = json.loads(data)
    except RecursionError:
        raise ValueError("it has too many lists within each other") from None
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    return found


def _sums(path: Path) -> dict[str, Any]:
    try:
        return loaded((path / SUMS).read_bytes())
    except (OSError, ValueError):
        raise DamagedError(f"{path / SUMS} is missing or damaged") from None


def _check_columns(file: Path, table: str, columns: Sequence[str]) -> None:
    missing = [name for name in _columns()[table] if name not in columns]
    if missing:
        raise DamagedError(f"{file} has no column `{missing[0]}`")


@cache
def _columns() -> dict[str, list[str]]:
    """The columns of every table. They are the same for all runs, and there before one begins."""
    scenario = Scenario.chain(1, {"run.batches": 1, "run.discard": 0}, stop="1 delivered")
    results = _core.Run(scenario._core).results()
    tables_of = {name: results.table(name) for name in TABLES}
    made = Finished("", 0, results.end, results.simulated_s, results.frames, tables_of)
    return {name: table.columns for name, table in frames_of([made]).items()}
