"""Store of a study: a folder of JSON and Parquet files.

- ``study.json`` describes the study.
- ``points.parquet`` has one row per selected run.
- ``chunks/00000``, ... have the tables of 250 runs each, in the order of the study.
- ``parts/...`` have the tables of runs with incomplete chunks, and of runs no longer selected.
- ``runs.parquet`` has one row of measures per run, ``totals.parquet`` their totals, once the study is finished.
- ``asked.json`` has the measures that ``chappe sweep`` printed, and the words of its file for settings and values.

Renaming a folder publishes a part atomically, and a run is deleted only after it was copied. After an interruption, a
run may be in two parts, with identical data: the first part is used.

The store writes, moves and deletes only files with names of a store, and never follows links.
"""

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from chappe import RESULTS_EPOCH
from chappe._common import forked
from chappe._common.files import UNFINISHED, make_folder, take_away, write_file
from chappe._common.notices import Notice
from chappe._common.words import count
from chappe.errors import ScenarioError, StorageError, reason
from chappe.expressions.reductions import REDUCED, SCHEMA
from chappe.results.storage import metadata, tables
from chappe.results.storage.columns import RUN, RUN_INFO
from chappe.scenario.flow_selection import LABELS
from chappe.scenario.scenario import Scenario
from chappe.study.design.axes import KEY_LENGTH
from chappe.study.store import parts
from chappe.study.store.parts import DamagedError, Finished

FORMAT = 1
"""Format of the store."""

CHUNK = 250
"""Runs per chunk; amortizes the per-chunk cost of opening a dozen files."""

PATIENCE_S = 2.0
"""Age of the oldest unwritten run at which runs are written [s].

The time of writing does not count; otherwise slow disks would cause one write per run.
"""

STUDY, POINTS, RUNS, TOTALS = "study.json", "points.parquet", "runs.parquet", "totals.parquet"
ASKED = "asked.json"
CHUNKS, PARTS, DAMAGED = "chunks", "parts", "damaged"
OTHER, OLD = "other", "old"


_FILES = frozenset(f"{name}{end}" for name in (STUDY, POINTS, RUNS, TOTALS, ASKED) for end in ("", UNFINISHED))
_PART_NAMES = {
    CHUNKS: re.compile(r"\d{5,}(\.tmp)?"),
    PARTS: re.compile(rf"([0-9a-f]{{{KEY_LENGTH}}}|{OTHER}|{OLD})(-\d+)?(\.tmp)?"),
}
"""Names of the files and folders of a store; all other names are foreign."""


def folders(path: Path, *, unfinished: bool = False) -> list[Path]:
    """Parts of a store, chunks first; or unfinished parts."""
    paths: list[Path] = []
    for kind, name in _PART_NAMES.items():
        if (path / kind).is_dir():
            of_kind = (p for p in (path / kind).iterdir() if name.fullmatch(p.name) and p.is_dir())
            paths += sorted(p for p in of_kind if (p.suffix == UNFINISHED) == unfinished)
    return paths


def table(sources: Mapping[str, Path], name: str, keys: Sequence[str]) -> pl.DataFrame:
    """Rows of runs in a table, in the order of ``keys``.

    Args:
        sources: Part of every run.
        name: Name of the table.
        keys: Keys of the runs.
    """
    # After an interruption a run may be in two parts; only the part in ``sources`` counts.
    wanted: dict[Path, dict[str, int]] = {}
    if name == REDUCED:
        # Only runs of studies with measures of their own have reductions.
        has = {path: (path / f"{REDUCED}.parquet").exists() for path in set(sources.values())}
        keys = [key for key in keys if has[sources[key]]]
        if not keys:
            return pl.DataFrame(schema={RUN: pl.String, **SCHEMA})
    for place, key in enumerate(keys):
        wanted.setdefault(sources[key], {})[key] = place
    if not wanted:
        return pl.DataFrame()
    tables_read, places = [], []
    for path, place_of in wanted.items():
        read = parts.read(path, name)
        tables_read.append(read)
        places += [place_of.get(key, -1) for key in read[RUN].to_list()]
    # Flows have names in some runs only, or in none.
    labels = [name for name in LABELS if any(name in read.columns for read in tables_read)]
    if labels and name == "flows":
        none = pl.lit(None, dtype=pl.String)
        missing = [[none.alias(label) for label in labels if label not in read.columns] for read in tables_read]
        of_all = [name for name in tables_read[0].columns if name not in LABELS] + labels
        tables_read = [read.with_columns(m).select(of_all) for read, m in zip(tables_read, missing, strict=True)]
    try:
        whole = pl.concat(tables_read)
    except pl.exceptions.PolarsError:
        raise StorageError("the runs of this study were written by versions of Chappe with different tables") from None
    order = np.argsort(places, kind="stable")
    rows = order[np.searchsorted(places, 0, sorter=order) :]
    return whole if np.array_equal(rows, np.arange(len(whole))) else whole[rows]


class Store:
    """A store open for writing, by one process at a time.

    Attributes:
        folder: Folder of the store.
        warnings: Damaged files that were found and moved away.
    """

    def __init__(self, folder: Path, scenario: Mapping[str, Any], description: Mapping[str, Any]):
        """Opens or creates a store.

        Args:
            folder: Folder of the store.
            scenario: All settings of the base scenario; an existing store must have equal settings.
            description: Further content of ``study.json``.

        Raises:
            StorageError: If the folder cannot be used.
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        self.folder = folder
        self.warnings: list[Notice] = []
        self._sources: dict[str, Path] = {}
        self._waiting: dict[str, Finished] = {}
        self._order: list[str] = []
        self._places: dict[str, int] = {}
        self._shown_before: set[str] = set()
        self._owner = hashlib.sha256(json.dumps([FORMAT, RESULTS_EPOCH, scenario], sort_keys=True).encode()).hexdigest()
        about = {"format": FORMAT, "results_epoch": RESULTS_EPOCH, **description, "scenario": scenario}
        self._about = (json.dumps(about, indent=2, default=str, allow_nan=False) + "\n").encode()
        self._metadata = partial(metadata.of_study, settings=metadata.digest(scenario))
        self._since = 0.0
        self._made: list[Path] = []
        try:
            self._made = make_folder(folder)
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "permission denied")
            self._lock = os.open(folder, os.O_RDONLY)
            self._take_lock()
            try:
                self._refuse_links()
                self._refuse_another(scenario)
                self._look()
                self._describe()
            except BaseException:
                self.close()
                raise
        except OSError as e:
            raise StorageError(f"cannot write to {folder}: {reason(e)}") from None

    def _describe(self) -> None:
        path = self.folder / STUDY
        other = not path.exists() or path.read_bytes() != self._about
        if other or (self.folder / RUNS).exists():
            # An unfinished study may still change its selection.
            self._shown_before = _shown(self.folder / POINTS)
        if other:
            # Measures from other rules are out of date.
            self._forget_measures()
            self._write(path, self._about)

    def _forget_measures(self) -> None:
        for name in (RUNS, TOTALS, ASKED):
            (self.folder / name).unlink(missing_ok=True)

    def _take_lock(self) -> None:
        """Takes a lock that the operating system releases at the end of the process."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(f"{self.folder} is being written by another study") from None
        except OSError:
            pass  # a file system without locks

    def _refuse_links(self) -> None:
        fixed = [self.folder / name for name in (*_FILES, CHUNKS, PARTS, DAMAGED)]
        for path in [*fixed, *folders(self.folder), *folders(self.folder, unfinished=True)]:
            if path.is_symlink():
                raise StorageError(
                    f"{path} is a link, and a study changes nothing outside its folder: "
                    "replace the link by its target, or remove it"
                )

    def _refuse_another(self, scenario: Mapping[str, Any]) -> None:
        other = "use another folder, or delete this one"
        try:
            text = (self.folder / STUDY).read_bytes()
        except FileNotFoundError:
            foreign = {p.name for p in self.folder.iterdir()} - _FILES - {CHUNKS, PARTS, DAMAGED}
            if foreign or self._has_tables_of_others():
                raise StorageError(f"{self.folder} is neither empty nor the folder of a study: {other}") from None
            self._refuse_runs_of_others(other)
            if folders(self.folder):
                self._warn("rewritten_study", STUDY, f"{self.folder / STUDY} was missing and has been rewritten")
            return
        try:
            about = parts.loaded(text)
            form, epoch, stored = about["format"], about["results_epoch"], about["scenario"]
        except (ValueError, KeyError):
            if not folders(self.folder) and self._is_of_others(text):
                raise StorageError(f"{self.folder / STUDY} does not describe a study: {other}") from None
            self._refuse_runs_of_others(other)
            self._warn("rewritten_study", STUDY, f"{self.folder / STUDY} was damaged and has been rewritten")
            return
        if form != FORMAT:
            raise StorageError(f"{self.folder} was written in another format ({form}, not {FORMAT}): {other}")
        if epoch != RESULTS_EPOCH:
            raise StorageError(
                f"{self.folder} has results of epoch {epoch}, which cannot be compared with the results of epoch "
                f"{RESULTS_EPOCH} of this version: {other}"
            )
        known = _complete(stored)
        if known != scenario:
            raise StorageError(f"{self.folder} belongs to another scenario ({_differences(known, scenario)}): {other}")

    def _has_tables_of_others(self) -> bool:
        """True if there are tables with the names of ours that no study wrote."""
        tables_there = [path for name in (POINTS, RUNS, TOTALS) if (path := self.folder / name).is_file()]
        return any(path.stat().st_size and not metadata.is_in(path) for path in tables_there)

    @staticmethod
    def _is_of_others(text: bytes) -> bool:
        """True if a description without runs is none of ours, not even a damaged one."""
        return bool(text.strip()) and not any(f'"{word}"'.encode() in text for word in ("results_epoch", "scenario"))

    def _refuse_runs_of_others(self, other: str) -> None:
        """Refuses runs of another study, if the description of the store is lost."""
        for path in folders(self.folder):
            if parts.owner(path) not in (self._owner, None):
                raise StorageError(
                    f"{self.folder / STUDY} is missing or damaged, and the runs in {path} belong to another scenario "
                    f"or results epoch: {other}"
                )

    def _look(self) -> None:
        """Finds existing runs, and moves damaged parts away."""
        for name in (STUDY, POINTS, RUNS, TOTALS):
            (self.folder / f"{name}{UNFINISHED}").unlink(missing_ok=True)
        for path in folders(self.folder, unfinished=True):
            parts.remove(path)
        for path in folders(self.folder):
            try:
                self._know(path, parts.check(path))
            except DamagedError as e:
                aside = _free(self.folder / DAMAGED, path.name)
                aside.parent.mkdir(exist_ok=True)
                path.rename(aside)
                text = f"{e}; the folder is moved to {aside}, and its runs are repeated"
                self._warn("damaged_runs", path.name, text)

    def _warn(self, code: str, path: str, message: str) -> None:
        self.warnings.append(Notice(code, path, message))

    def _know(self, path: Path, keys: Sequence[str]) -> None:
        for key in keys:
            self._sources.setdefault(key, path)

    def __contains__(self, key: str) -> bool:
        """True for runs in the store, written or not."""
        return key in self._sources or key in self._waiting

    @property
    def keys(self) -> list[str]:
        """Keys of all written runs, in the order of the parts."""
        return list(self._sources)

    def add(self, run: Finished) -> None:
        """Adds a run, unless it is in the store."""
        if run.key in self:
            return
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting[run.key] = run
        self._write_chunk_of(run.key)
        if len(self._waiting) >= 2 * CHUNK:
            self.flush()

    def _write_chunk_of(self, key: str) -> None:
        """Writes the chunk of a run directly if all of its runs are waiting."""
        place = self._places.get(key)
        if place is None:
            return
        number = place // CHUNK
        keys = self._order[number * CHUNK : (number + 1) * CHUNK]
        path = self._chunk(number)
        if all(k in self._waiting for k in keys) and not path.exists():
            self._write_part(path, parts.frames_of([self._waiting.pop(k) for k in keys]))
            self._know(path, keys)

    def _chunk(self, number: int) -> Path:
        return self.folder / CHUNKS / f"{number:05}"

    def tick(self) -> None:
        """Writes waiting runs after :data:`PATIENCE_S`."""
        if self._waiting and time.monotonic() - self._since >= PATIENCE_S:
            self.flush()

    def flush(self) -> None:
        """Writes all waiting runs.

        Raises:
            StorageError: If writing fails; earlier runs stay readable.
        """
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        path = _free(self.folder / PARTS, min(waiting))
        self._write_part(path, parts.frames_of(waiting.values()))
        self._know(path, list(waiting))

    def table(self, name: str, keys: Sequence[str]) -> pl.DataFrame:
        """Rows of runs in a table, in the order of ``keys``.

        Raises:
            StorageError: If files were deleted or damaged during the study.
        """
        try:
            return table(self._sources, name, keys)
        except DamagedError as e:
            raise _lost(e) from None

    def write_points(self, points: pl.DataFrame) -> None:
        """Writes the selected runs and their order; deletes measures of another selection."""
        self._order = list(dict.fromkeys(points[RUN]))
        self._places = {key: place for place, key in enumerate(self._order)}
        data = parts.parquet(points, self._metadata("points", points.columns))
        path = self.folder / POINTS
        if not path.exists() or path.read_bytes() != data:
            self._forget_measures()
            self._write(path, data)

    def finish(self, order: Sequence[str]) -> None:
        """Arranges the given runs in chunks, in order, and all other runs in one part."""
        self.flush()
        if not (self.folder / STUDY).exists():
            self._write(self.folder / STUDY, self._about)
        # A failed run was never shown.
        if replaced := len({key for key in self._shown_before if key in self} - set(order)):
            self._warn(
                "replaced_runs",
                "",
                f"{self.folder} held a study with other values, seeds or rules: "
                f"{count(replaced, 'run')} of its results {'is' if replaced == 1 else 'are'} no longer shown. "
                "All runs are kept; the earlier command shows them again",
            )
        try:
            kept = self._chunks(order) + self._others(order)
            for path in folders(self.folder):
                if path not in kept:
                    # A partly deleted part must not look like a damaged part.
                    unfinished = path.with_name(path.name + UNFINISHED)
                    path.rename(unfinished)
                    parts.remove(unfinished)
            for kind in (CHUNKS, PARTS):
                if (self.folder / kind).is_dir() and not any((self.folder / kind).iterdir()):
                    (self.folder / kind).rmdir()
        except DamagedError as e:
            raise _lost(e) from None
        except OSError as e:
            raise self._unwritable(e) from None

    def write_totals(self, totals: pl.DataFrame) -> None:
        """Writes the totals of the measures of the runs."""
        self._write_table("totals", TOTALS, totals)

    def write_runs(self, runs: pl.DataFrame) -> None:
        """Writes the measures of the runs, after their totals."""
        self._write_table("runs", RUNS, runs)

    def _write_table(self, name: str, file: str, table: pl.DataFrame) -> None:
        self._write(self.folder / file, parts.parquet(tables.known(table), self._metadata(name, table.columns)))

    def close(self) -> None:
        """Releases the lock, and removes the folder if it is empty."""
        take_away(self._made)
        os.close(self._lock)

    def _chunks(self, order: Sequence[str]) -> list[Path]:
        kept = []
        for i in range(0, len(order), CHUNK):
            keys = order[i : i + CHUNK]
            path = self._chunk(i // CHUNK)
            kept.append(path)
            self._place(path, keys)
        return kept

    def _others(self, order: Sequence[str]) -> list[Path]:
        unselected = sorted(self._sources.keys() - set(order))
        if not unselected:
            return []
        path = self.folder / PARTS / OTHER
        self._place(path, unselected)
        return [path]

    def _place(self, path: Path, keys: Sequence[str]) -> None:
        """Writes a part with exactly the given runs."""
        if all(self._sources[k] == path for k in keys) and parts.read(path, RUN_INFO)[RUN].to_list() == list(keys):
            return
        content = {name: self.table(name, keys) for name in parts.PART_TABLES}
        if len(rows := self.table(REDUCED, keys)):
            content[REDUCED] = rows
        if path.exists():
            aside = _free(self.folder / PARTS, OLD)
            aside.parent.mkdir(exist_ok=True)
            path.rename(aside)
            self._sources = {k: aside if p == path else p for k, p in self._sources.items()}
        self._write_part(path, content)
        self._sources.update(dict.fromkeys(keys, path))

    def _write_part(self, path: Path, content: Mapping[str, pl.DataFrame]) -> None:
        try:
            parts.write(path, content, self._owner, self._metadata)
        except OSError as e:
            raise self._unwritable(e) from None

    def _write(self, path: Path, data: bytes) -> None:
        try:
            write_file(path, data)
        except OSError as e:
            raise self._unwritable(e) from None

    def _unwritable(self, error: OSError) -> StorageError:
        kept = len(self._sources)
        return StorageError(
            f"cannot write to {self.folder}: {reason(error)}. {count(kept, 'finished run')} "
            f"{'is' if kept == 1 else 'are'} kept there; "
            "the same command continues from there.",
            code=1,
        )


def _complete(stored: object) -> object:
    """Settings of a scenario with the defaults of those that it does not have."""
    try:
        settings = Scenario(stored).settings if isinstance(stored, dict) else None
    except ScenarioError:
        settings = None
    if settings is None:
        return stored
    del settings["run"]["seed"]
    return settings


def _lost(e: DamagedError) -> StorageError:
    return StorageError(
        f"{e}. The file was deleted or changed during the study: the same command repeats its runs", code=1
    )


def _shown(points: Path) -> set[str]:
    """Keys of the runs that a study shows; empty if unreadable."""
    try:
        return set(tables.read(points).filter("shown")[RUN])
    except (OSError, pl.exceptions.PolarsError):
        return set()


def _free(parent: Path, stem: str) -> Path:
    """An unused path."""
    path, n = parent / stem, 1
    while path.exists():
        path, n = parent / f"{stem}-{n}", n + 1
    return path


def _differences(stored: object, here: object, name: str = "") -> str:
    """Short description of the differences between two scenarios."""

    def leaves(value: object, name: str) -> dict[str, object]:
        if not isinstance(value, Mapping):
            return {name: value}
        return {k: v for key, inner in value.items() for k, v in leaves(inner, f"{name}.{key}".strip(".")).items()}

    a, b = leaves(stored, name), leaves(here, name)
    absent = "nothing"
    differ = [k for k in {**a, **b} if a.get(k, absent) != b.get(k, absent)]
    shown = [f"`{k}` is {json.dumps(a.get(k, absent))} there and {json.dumps(b.get(k, absent))} here" for k in differ]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return ", ".join(shown[:3]) + more
