"""Folder of a run, written atomically: new, or in place of a folder with nothing but the files of a run.

``run.json`` lists the files of the run. A folder with any other file is never changed.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from chappe._common import forked, outputs
from chappe._common.arguments import is_text, path_of, quoted
from chappe._common.files import make_folder, take_away
from chappe.results.storage.columns import TABLES

if TYPE_CHECKING:
    from chappe.scenario.scenario import Scenario

FACTS = "run.json"
FORMAT = 1
"""Format of :data:`FACTS`, under its key ``format``; the objects that commands print as JSON have the same."""

FILES = "files"
"""Key of :data:`FACTS` for the names of all other files of the run."""

SCENARIO = "scenario.toml"
SUM = "scenario_sha256"
"""Key of :data:`FACTS` for the SHA-256 of :data:`SCENARIO`; tables have their own."""

_BEGUN = "begun.json"
"""Provisional :data:`FACTS` while files are moved into place."""

_LONGEST = 10_000_000
"""Size limit of :data:`FACTS` [B]."""

_UNFINISHED = ".chappe-"
"""Prefix of the temporary folder, inside the folder of the run, for unfinished files."""


class Writing:
    """Writes the files of a run. Until :meth:`finish` they are hidden and the earlier files stay.

    Attributes:
        folder: The folder of the run.
    """

    def __init__(self, folder: str | os.PathLike[str], scenario: "Scenario | None" = None):
        """Locks the folder, and creates it if it does not exist.

        Args:
            folder: The folder.
            scenario: The scenario of the run; ``None``: that of the folder itself.

        Raises:
            FileExistsError: If the folder has files that no run wrote, or the scenario was read from there and is now
                another one.
            BlockingIOError: If another run writes there.
            OSError: If the folder cannot be written.
            ValueError: If the name is empty or not UTF-8.
            TypeError: If `folder` is not a path.
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        if isinstance(folder, str) and not folder:
            raise ValueError("the name of the folder is empty; the current folder is '.'")
        self.folder = path_of("folder", folder)
        _refuse_bytes(self.folder)
        self._made = make_folder(self.folder)
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            self._take_lock()
            refuse_others(self.folder)
            if scenario is not None:
                refuse_inputs(self.folder, scenario)
            for left in _left(self.folder):
                shutil.rmtree(left)
            self._unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=self.folder))
        except BaseException:
            self._give_back()
            raise

    def _take_lock(self) -> None:
        """Takes a lock that the operating system releases at the end of the process."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"{self.folder} is being written by another run") from None
        except OSError:
            pass  # a file system without locks

    def path(self, name: str) -> Path:
        """Temporary path of a file, used until all files are complete."""
        return self._unfinished / name

    def finish(self, facts: Mapping[str, Any], kept: Iterable[str] = ()) -> None:
        """Moves all files into place, and removes those of an earlier run.

        Args:
            facts: Content of :data:`FACTS`, without the names of the files.
            kept: Existing files that stay.
        """
        new = sorted(p.name for p in self._unfinished.iterdir())
        listed = sorted({*new, *kept})
        earlier = files_of(self.folder) or []
        begun = self._written(_BEGUN, {FILES: sorted({*listed, *earlier}), "end": "being written"})
        facts_there = self._written(FACTS, {**facts, FILES: listed, SUM: digest(self.path(SCENARIO))})
        # From here on FACTS marks the folder as an incomplete run.
        begun.replace(self.folder / FACTS)
        for name in new:
            self.path(name).replace(self.folder / name)
        for name in set(earlier) - set(listed):
            (self.folder / name).unlink(missing_ok=True)
        facts_there.replace(self.folder / FACTS)

    def _written(self, name: str, facts: Mapping[str, Any]) -> Path:
        path = self.path(name)
        path.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
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
    """Refuses a folder with files that no run wrote.

    Raises:
        FileExistsError: If there are such files.
        OSError: If the folder cannot be read.
        ValueError: If the name is not UTF-8.
    """
    _refuse_bytes(folder)
    files = files_of(folder)
    ours = set() if files is None else {*files, FACTS}
    present = sorted(set(folder.iterdir()) - set(_left(folder)))
    foreign = [p for p in present if p.name not in ours or p.is_symlink() or not p.is_file()]
    if foreign:
        raise FileExistsError(f"{folder} {_why_others(folder, foreign)}")


def refuse_inputs(folder: Path, scenario: "Scenario") -> None:
    """Refuses a folder from whose files the scenario was read, if another scenario would be written there.

    Raises:
        FileExistsError: If the file of the scenario would be lost.
        OSError: If it cannot be read.
    """
    there = folder / SCENARIO
    if there.is_file() and there.read_text(encoding="utf-8") != scenario.to_toml():
        outputs.refuse_inputs(there, scenario._files)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _why_others(folder: Path, foreign: Sequence[Path]) -> str:
    """Reason why a folder is not replaced, with advice."""
    named = (_facts(folder) or {}).get(FILES)
    unknown = [p for p in foreign if isinstance(named, list) and p.name in named and not _is_ours(p.name)]
    if unknown == foreign:
        return (
            f"has a run of another version, with files that this one does not know, such as {foreign[0].name}: "
            "use a new folder, or empty this one if you do not need what is there"
        )
    first = next(p for p in foreign if p not in unknown)
    return (
        f"has what no run wrote, such as {first.name}: use a new folder, or empty this one; "
        "a folder that has only the files of a run is replaced"
    )


def _refuse_bytes(folder: Path) -> None:
    """Refuses a folder name that is not UTF-8: polars joins recorded tables there and could not open it."""
    if not is_text(str(folder.absolute())):
        raise ValueError(f"the name of the folder of a run must be UTF-8 text, not {quoted(str(folder))}")


def files_of(folder: Path) -> list[str] | None:
    """Files of a run as listed in :data:`FACTS`; ``None`` without a readable list."""
    names = (_facts(folder) or {}).get(FILES)
    return [name for name in names if _is_ours(name)] if isinstance(names, list) else None


def _facts(folder: Path) -> dict[str, Any] | None:
    """Content of :data:`FACTS`; ``None`` if missing or unreadable."""
    path = folder / FACTS
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            facts = json.loads(file.read(_LONGEST))
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None


def _is_ours(name: object) -> bool:
    """Returns true for the names of files that a run writes."""
    from chappe.results.storage.recorded import RECORDED

    stem, _, kind = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    return name == SCENARIO or (kind == "parquet" and stem in (*TABLES, *RECORDED))


def _left(folder: Path) -> list[Path]:
    """Temporary folders left by a killed run, with nothing but files of a run."""
    ours = re.compile(r"[a-z_]+\.parquet|[a-z_]+-\d+\.(arrow|parquet)|scenario\.toml|run\.json|begun\.json")
    return [
        p
        for p in folder.glob(f"{_UNFINISHED}????????")
        if not p.is_symlink() and p.is_dir() and all(ours.fullmatch(f.name) and f.is_file() for f in p.iterdir())
    ]
