"""The store of a study: a folder that can be read by anything that reads Parquet.

- ``study.json`` says what the study is.
- ``points.parquet`` has one row per run that the study wants.
- ``chunks/00000``, ... have the tables of 100 runs each, in the order of the study.
- ``parts/...`` have the tables of runs whose chunk is not complete, and of runs that the study no longer wants.
- ``runs.parquet`` has one row per run with what it measured, once the study is finished.

A part appears whole by the renaming of its folder, and a run is never deleted before it stands elsewhere. A run that
stands in two places after an interruption is the same in both: the first is taken.

Nothing is written, moved or deleted but what has a name that a store gives, and nothing behind a link.
"""

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from chappe import RESULTS_EPOCH, forked, tables
from chappe.error import StoreError, reason
from chappe.files import UNFINISHED, make_folder, take_away, write_file
from chappe.study import parts
from chappe.study.axes import KEY_LENGTH
from chappe.study.parts import RUN, DamagedError, Finished
from chappe.words import count

FORMAT = 1
CHUNK = 100
"""Runs in a chunk."""

PATIENCE_S = 2.0
"""Finished runs are written when the first of them has waited for so long.

Time of writing does not count: where it takes longer than this, each run would be written by itself.
"""

STUDY, POINTS, RUNS = "study.json", "points.parquet", "runs.parquet"
CHUNKS, PARTS, DAMAGED = "chunks", "parts", "damaged"
OTHER, OLD = "other", "old"


_FILES = frozenset(f"{name}{end}" for name in (STUDY, POINTS, RUNS) for end in ("", UNFINISHED))
_PART_NAMES = {
    CHUNKS: re.compile(r"\d{5,}(\.tmp)?"),
    PARTS: re.compile(rf"([0-9a-f]{{{KEY_LENGTH}}}|{OTHER}|{OLD})(-\d+)?(\.tmp)?"),
}
"""Names of the files and folders of a store; everything else belongs to somebody else."""


def folders(path: Path, *, unfinished: bool = False) -> list[Path]:
    """The parts of a store, those of a finished study first; or those that are not finished."""
    found: list[Path] = []
    for kind, name in _PART_NAMES.items():
        if (path / kind).is_dir():
            own = (p for p in (path / kind).iterdir() if name.fullmatch(p.name) and p.is_dir())
            found += sorted(p for p in own if (p.suffix == UNFINISHED) == unfinished)
    return found


def table(sources: Mapping[str, Path], name: str, keys: Sequence[str]) -> pl.DataFrame:
    """The rows of some runs in a table, in the order of the runs.

    Args:
        sources: The part of every run.
        name: The table.
        keys: The runs.
    """
    # The same run may stand in two parts after an interruption: in others than its own it is not wanted.
    wanted: dict[Path, dict[str, int]] = {}
    for place, key in enumerate(keys):
        wanted.setdefault(sources[key], {})[key] = place
    if not wanted:
        return pl.DataFrame()
    found, places = [], []
    for path, there in wanted.items():
        read = parts.read(path, name)
        found.append(read)
        places += [there.get(key, -1) for key in read[RUN].to_list()]
    try:
        whole = pl.concat(found)
    except pl.exceptions.PolarsError:
        raise StoreError("the runs of this study were written by versions of Chappe with different tables") from None
    order = np.argsort(places, kind="stable")
    rows = order[np.searchsorted(places, 0, sorter=order) :]
    return whole if np.array_equal(rows, np.arange(len(whole))) else whole[rows]


class Store:
    """A store that is being written, by one process at a time.

    Attributes:
        folder: Where it is.
        warnings: What was found damaged and set aside.
    """

    def __init__(self, folder: Path, scenario: Mapping[str, Any], description: Mapping[str, Any]):
        """Opens or makes a store.

        Args:
            folder: Where it is.
            scenario: All settings of the scenario that the study changes; those of the store must be the same.
            description: What else belongs into ``study.json``.

        Raises:
            StoreError: When the folder cannot be used.
            RuntimeError: In a process that was forked from one that had used polars.
        """
        forked.refuse()
        self.folder = folder
        self.warnings: list[str] = []
        self._sources: dict[str, Path] = {}
        self._waiting: dict[str, Finished] = {}
        self._order: list[str] = []
        self._places: dict[str, int] = {}
        self._shown_before: set[str] = set()
        self._owner = hashlib.sha256(json.dumps([FORMAT, RESULTS_EPOCH, scenario]).encode()).hexdigest()
        about = {"format": FORMAT, "results_epoch": RESULTS_EPOCH, **description, "scenario": scenario}
        self._about = (json.dumps(about, indent=2, default=str) + "\n").encode()
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
            raise StoreError(f"cannot write to {folder}: {reason(e)}") from None

    def _describe(self) -> None:
        path = self.folder / STUDY
        other = not path.exists() or path.read_bytes() != self._about
        if other or (self.folder / RUNS).exists():
            # What an unfinished study shows is not its last word.
            self._shown_before = _shown(self.folder / POINTS)
        if other:
            # What was made by other rules is no longer up to date.
            (self.folder / RUNS).unlink(missing_ok=True)
            self._write(path, self._about)

    def _take_lock(self) -> None:
        """The system gives the lock back however the process ends."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{self.folder} is being written by another study") from None
        except OSError:
            pass  # a file system without locks

    def _refuse_links(self) -> None:
        own = [self.folder / name for name in (*_FILES, CHUNKS, PARTS, DAMAGED)]
        for path in [*own, *folders(self.folder), *folders(self.folder, unfinished=True)]:
            if path.is_symlink():
                raise StoreError(
                    f"{path} is a link, and a study changes nothing outside of its folder: "
                    "put there what it leads to, or remove it"
                )

    def _refuse_another(self, scenario: Mapping[str, Any]) -> None:
        other = "use another folder, or delete this one"
        try:
            text = (self.folder / STUDY).read_bytes()
        except FileNotFoundError:
            foreign = {p.name for p in self.folder.iterdir()} - _FILES - {CHUNKS, PARTS, DAMAGED}
            if foreign:
                raise StoreError(f"{self.folder} is not empty and not the folder of a study: {other}") from None
            self._refuse_runs_of_others(other)
            if folders(self.folder):
                self.warnings.append(f"{self.folder / STUDY} was missing; it is written again")
            return
        try:
            about = parts.loaded(text)
            form, epoch, there = about["format"], about["results_epoch"], about["scenario"]
        except (ValueError, KeyError):
            self._refuse_runs_of_others(other)
            self.warnings.append(f"{self.folder / STUDY} is damaged; it is written again")
            return
        if form != FORMAT:
            raise StoreError(f"{self.folder} was written in another format ({form}, not {FORMAT}): {other}")
        if epoch != RESULTS_EPOCH:
            raise StoreError(
                f"{self.folder} has results of epoch {epoch}, and this version makes those of epoch {RESULTS_EPOCH}; "
                f"they cannot be compared: {other}"
            )
        if there != scenario:
            raise StoreError(f"{self.folder} is of another scenario ({_differences(there, scenario)}): {other}")

    def _refuse_runs_of_others(self, other: str) -> None:
        """Without its description a folder belongs to the study that its runs name."""
        for path in folders(self.folder):
            if parts.owner(path) not in (self._owner, None):
                raise StoreError(
                    f"{self.folder / STUDY} is missing or damaged, and the runs in {path} belong to another scenario "
                    f"or results epoch: {other}"
                )

    def _look(self) -> None:
        """Finds the runs that are there; what is damaged is set aside."""
        for name in (STUDY, POINTS, RUNS):
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
                self.warnings.append(f"{e}; its folder is set aside as {aside}, and its runs are run again")

    def _know(self, path: Path, keys: Sequence[str]) -> None:
        for key in keys:
            self._sources.setdefault(key, path)

    def __contains__(self, key: str) -> bool:
        """Whether a run is in the store or about to be written."""
        return key in self._sources or key in self._waiting

    @property
    def keys(self) -> list[str]:
        """All runs that are written, in the order of their parts."""
        return list(self._sources)

    def add(self, run: Finished) -> None:
        """Takes a run; a second time it is ignored."""
        if run.key in self:
            return
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting[run.key] = run
        self._write_chunk_of(run.key)
        if len(self._waiting) >= 2 * CHUNK:
            self.flush()

    def _write_chunk_of(self, key: str) -> None:
        """Writes the chunk of a run when all of its runs wait: it needs not be put together from parts at the end."""
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
        """Writes what has waited long enough."""
        if self._waiting and time.monotonic() - self._since >= PATIENCE_S:
            self.flush()

    def flush(self) -> None:
        """Writes the runs that wait.

        Raises:
            StoreError: When that is not possible; the runs that were written before stay readable.
        """
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        path = _free(self.folder / PARTS, min(waiting))
        self._write_part(path, parts.frames_of(waiting.values()))
        self._know(path, list(waiting))

    def table(self, name: str, keys: Sequence[str]) -> pl.DataFrame:
        """The rows of some runs in a table, in the order of the runs.

        Raises:
            StoreError: When somebody has deleted or damaged what was there.
        """
        try:
            return table(self._sources, name, keys)
        except DamagedError as e:
            raise _lost(e) from None

    def write_points(self, points: pl.DataFrame) -> None:
        """Notes which runs the study wants, and in which order. What was made of others is no longer up to date."""
        self._order = list(dict.fromkeys(points[RUN]))
        self._places = {key: place for place, key in enumerate(self._order)}
        data = parts.parquet(points)
        path = self.folder / POINTS
        if not path.exists() or path.read_bytes() != data:
            (self.folder / RUNS).unlink(missing_ok=True)
            self._write(path, data)

    def finish(self, order: Sequence[str]) -> None:
        """Puts these runs into chunks in this order; other runs stay in one part."""
        self.flush()
        if not (self.folder / STUDY).exists():
            self._write(self.folder / STUDY, self._about)
        if replaced := len(self._shown_before - set(order)):
            self.warnings.append(
                f"{self.folder} held a study with other values, seeds or rules: of the runs that it showed, "
                f"{replaced:,} {'is' if replaced == 1 else 'are'} replaced by those of this one. What it had is kept; "
                "the same command as then shows it again"
            )
        try:
            kept = self._chunks(order) + self._others(order)
            for path in folders(self.folder):
                if path not in kept:
                    # Half a part that is being deleted must not look like a damaged one.
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

    def write_runs(self, runs: pl.DataFrame) -> None:
        """Writes what each run measured."""
        self._write(self.folder / RUNS, parts.parquet(runs))

    def close(self) -> None:
        """Gives the store to others; a folder into which nothing came does not stay."""
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
        others = sorted(self._sources.keys() - set(order))
        if not others:
            return []
        path = self.folder / PARTS / OTHER
        self._place(path, others)
        return [path]

    def _place(self, path: Path, keys: Sequence[str]) -> None:
        """Makes a part of just these runs."""
        if all(self._sources[k] == path for k in keys) and parts.read(path, parts.FACTS)[RUN].to_list() == list(keys):
            return
        own = {name: self.table(name, keys) for name in parts.PART_TABLES}
        if path.exists():
            aside = _free(self.folder / PARTS, OLD)
            aside.parent.mkdir(exist_ok=True)
            path.rename(aside)
            self._sources = {k: aside if p == path else p for k, p in self._sources.items()}
        self._write_part(path, own)
        self._sources.update(dict.fromkeys(keys, path))

    def _write_part(self, path: Path, own: Mapping[str, pl.DataFrame]) -> None:
        try:
            parts.write(path, own, self._owner)
        except OSError as e:
            raise self._unwritable(e) from None

    def _write(self, path: Path, data: bytes) -> None:
        try:
            write_file(path, data)
        except OSError as e:
            raise self._unwritable(e) from None

    def _unwritable(self, error: OSError) -> StoreError:
        kept = len(self._sources)
        return StoreError(
            f"cannot write to {self.folder}: {reason(error)}. {count(kept, 'finished run')} "
            f"{'is' if kept == 1 else 'are'} kept there; "
            "the same command goes on from them.",
            code=1,
        )


def _lost(e: DamagedError) -> StoreError:
    return StoreError(
        f"{e}. It was deleted or changed while the study was running: the same command makes these runs again", code=1
    )


def _shown(points: Path) -> set[str]:
    """The runs that a study shows; none where that cannot be read."""
    try:
        return set(tables.read(points).filter("shown")[RUN])
    except (OSError, pl.exceptions.PolarsError):
        return set()


def _free(parent: Path, stem: str) -> Path:
    """A name that is not taken."""
    path, n = parent / stem, 1
    while path.exists():
        path, n = parent / f"{stem}-{n}", n + 1
    return path


def _differences(there: object, here: object, name: str = "") -> str:
    """What differs between two scenarios, in some words."""

    def leaves(value: object, name: str) -> dict[str, object]:
        if not isinstance(value, Mapping):
            return {name: value}
        return {k: v for key, inner in value.items() for k, v in leaves(inner, f"{name}.{key}".strip(".")).items()}

    a, b = leaves(there, name), leaves(here, name)
    absent = "nothing"
    differ = [k for k in {**a, **b} if a.get(k, absent) != b.get(k, absent)]
    shown = [f"`{k}` is {json.dumps(a.get(k, absent))} there and {json.dumps(b.get(k, absent))} here" for k in differ]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return ", ".join(shown[:3]) + more
