"""Parts of a store: folders with one Parquet file for each table, which appear whole or not at all."""

import hashlib
import io
import json
import shutil
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chappe import tables
from chappe.files import UNFINISHED, write_file
from chappe.results import TABLES, frame

FACTS = "facts"
"""The table with one row per run: what is known of it as a whole."""

PART_TABLES = (FACTS, *TABLES)
RUN = "run"
"""The column that says to which run a row belongs."""

SUMS = "sums.json"


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


def write(path: Path, own: Mapping[str, pl.DataFrame]) -> None:
    """Writes a part whole or not at all; ``path`` must not exist."""
    unfinished = path.with_name(path.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        sums = {}
        for name in PART_TABLES:
            data = parquet(own[name])
            write_file(unfinished / f"{name}.parquet", data)
            sums[f"{name}.parquet"] = hashlib.sha256(data).hexdigest()
        write_file(unfinished / SUMS, (json.dumps(sums, indent=2) + "\n").encode())
        unfinished.rename(path)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def read(path: Path, table: str) -> pl.DataFrame:
    """A table of a part.

    Raises:
        DamagedError: When it cannot be read.
    """
    file = path / f"{table}.parquet"
    try:
        return tables.read(file)
    except (OSError, pl.exceptions.PolarsError) as e:
        raise DamagedError(f"{file} cannot be read: {str(e).splitlines()[0]}") from None


def check(path: Path) -> list[str]:
    """The keys of the runs in a part, every byte of which is as it was written.

    Raises:
        DamagedError: When something is missing or is not as it was written.
    """
    try:
        sums = json.loads((path / SUMS).read_text(encoding="utf-8"))
        if not isinstance(sums, dict):
            raise ValueError
    except (OSError, ValueError):
        raise DamagedError(f"{path / SUMS} is missing or damaged") from None
    for name in PART_TABLES:
        file = path / f"{name}.parquet"
        try:
            found = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError:
            raise DamagedError(f"{file} is missing or cannot be read") from None
        if found != sums.get(file.name):
            raise DamagedError(f"{file} is damaged")
    keys: list[str] = read(path, FACTS)[RUN].to_list()
    return keys
