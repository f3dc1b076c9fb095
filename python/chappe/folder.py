"""The folder of a run: it appears as a whole, where there was none, or in the place of one that only a run wrote.

``run.json`` names the files that belong to it. A folder that has anything else is somebody's, and is left as it is.
"""

import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from chappe import forked
from chappe.arguments import is_text, path_of, said
from chappe.files import make_folder, take_away

FACTS = "run.json"
FILES = "files"
"""Key of :data:`FACTS` for the names of the other files."""

_EPOCH = "results_epoch"
"""Key of :data:`FACTS` that every version has written."""

_BEGUN = "begun.json"
"""File with the same facts while files are put into their place."""

_LONGEST = 10_000_000
"""No :data:`FACTS` of ours has more bytes."""

_UNFINISHED = ".chappe-"
"""Name of the folder, below that of the run, for files that are being written."""


class Writing:
    """Writes the files of a run. Nobody sees them before :meth:`finish`, and what was there before stays until then.

    Attributes:
        folder: The folder of the run.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        """Takes the folder; it is made if it does not exist.

        Raises:
            FileExistsError: When it has anything that no run wrote.
            BlockingIOError: When another run writes there.
            OSError: When it cannot be written.
            ValueError: When no folder is named, or one whose name is no text.
            TypeError: When that is no name of a folder.
            RuntimeError: In a process that was forked from one that had used polars.
        """
        forked.refuse()
        if isinstance(folder, str) and not folder:
            raise ValueError("no folder is named; the folder in which Python runs is '.'")
        self.folder = path_of("folder", folder)
        _refuse_bytes(self.folder)
        self._made = make_folder(self.folder)
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            self._take_lock()
            refuse_others(self.folder)
            for left in _left(self.folder):
                shutil.rmtree(left)
            self._unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=self.folder))
        except BaseException:
            self._give_back()
            raise

    def _take_lock(self) -> None:
        """The system gives the lock back however the process ends."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"{self.folder} is being written by another run") from None
        except OSError:
            pass  # a file system without locks

    def path(self, name: str) -> Path:
        """Path of a file until all files are complete."""
        return self._unfinished / name

    def finish(self, facts: Mapping[str, Any], kept: Iterable[str] = ()) -> None:
        """Puts all files into their place, and removes what an earlier run wrote.

        Args:
            facts: What :data:`FACTS` says beside the names of the files.
            kept: Files that are there already and stay.
        """
        new = sorted(p.name for p in self._unfinished.iterdir())
        own = sorted({*new, *kept})
        earlier = files_of(self.folder) or []
        begun = self._written(_BEGUN, {FILES: sorted({*own, *earlier}), "end": "being written"})
        facts_there = self._written(FACTS, {**facts, FILES: own})
        # From here to the end the folder says that it is a run's, and not complete.
        begun.replace(self.folder / FACTS)
        for name in new:
            self.path(name).replace(self.folder / name)
        for name in set(earlier) - set(own):
            (self.folder / name).unlink(missing_ok=True)
        facts_there.replace(self.folder / FACTS)

    def _written(self, name: str, facts: Mapping[str, Any]) -> Path:
        path = self.path(name)
        path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        return path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        shutil.rmtree(self._unfinished, ignore_errors=True)
        self._give_back()

    def _give_back(self) -> None:
        take_away(self._made)
        os.close(self._lock)


def refuse_others(folder: Path) -> None:
    """Refuses a folder that has anything that no run wrote.

    Raises:
        FileExistsError: When it is so.
        OSError: When it cannot be read.
        ValueError: When its name is no text.
    """
    _refuse_bytes(folder)
    files = files_of(folder)
    own = set() if files is None else {*files, FACTS}
    found = sorted(set(folder.iterdir()) - set(_left(folder)))
    others = [p for p in found if p.name not in own or p.is_symlink() or not p.is_file()]
    if others:
        raise FileExistsError(f"{folder} {_why_others(folder, others)}")


def _why_others(folder: Path, others: Sequence[Path]) -> str:
    """Reason why a folder is not replaced, and what to do."""
    facts = _facts(folder) or {}
    named = facts.get(FILES)
    if named is None and _EPOCH in facts:
        return (
            f"has a run of an earlier version, whose {FACTS} does not name its files, so that they cannot be told from "
            "those of others: use a new folder, or empty this one if you do not need what is there"
        )
    unknown = [p for p in others if isinstance(named, list) and p.name in named and not _is_ours(p.name)]
    if unknown == others:
        return (
            f"has a run of another version, with files that this one does not know, such as {others[0].name}: "
            "use a new folder, or empty this one if you do not need what is there"
        )
    first = next(p for p in others if p not in unknown)
    return (
        f"has what no run wrote, such as {first.name}: use a new folder, or empty this one; "
        "a folder that has only the files of a run is replaced"
    )


def _refuse_bytes(folder: Path) -> None:
    """Refuses a folder that polars cannot find, which puts recorded tables together there."""
    if not is_text(folder.absolute()):
        raise ValueError(f"the name of a folder for a run is a text in UTF-8, not {said(str(folder))}")


def files_of(folder: Path) -> list[str] | None:
    """The files of a run in its folder, by its own words; ``None`` where it says nothing that can be understood."""
    names = (_facts(folder) or {}).get(FILES)
    return [name for name in names if _is_ours(name)] if isinstance(names, list) else None


def _facts(folder: Path) -> dict[str, Any] | None:
    """Content of :data:`FACTS` in a folder; ``None`` where it has none that can be understood."""
    path = folder / FACTS
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_LONGEST))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_ours(name: object) -> bool:
    """Tells if a run writes a file of this name."""
    from chappe.recorded import RECORDED
    from chappe.results import TABLES

    stem, _, kind = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    return name == "scenario.toml" or (kind == "parquet" and stem in (*TABLES, *RECORDED))


def _left(folder: Path) -> list[Path]:
    """Remains of a run that was killed: folders of the kind made here, with nothing but files of a run."""
    own = re.compile(r"[a-z_]+(-\d+)?\.parquet|scenario\.toml|run\.json|begun\.json")
    return [
        p
        for p in folder.glob(f"{_UNFINISHED}????????")
        if not p.is_symlink() and p.is_dir() and all(own.fullmatch(f.name) and f.is_file() for f in p.iterdir())
    ]
