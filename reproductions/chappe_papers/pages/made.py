"""Record of a folder of results: from which data and program its files were made, so that none is made twice.

A file is current if it was made from the same data, by the same program and packages, and has not been changed since.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chappe
from chappe import plot
from chappe.cli.inputs import write_file
from chappe.study import RunCache

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECORD = Path(RunCache.FOLDER) / "made.json"
"""File that has the record, in the folder of the results."""

_PACKAGES = ("matplotlib", "numpy", "polars", "scipy")
"""Packages whose version decides how results look."""

_COMMAND = "command"


def draw(folder: Path, name: str, source: object, drawing: "Callable[[], Figure]") -> None:
    """Draws a figure and writes its files, unless they were drawn from the same source.

    Args:
        folder: Folder for the files.
        name: Name of the files, without their endings.
        source: The data of the figure, with an exact ``repr``.
        drawing: Draws the figure.
    """
    files = [folder / f"{name}.{kind}" for kind in plot.FORMATS]
    record = _read(folder)
    of = _digest(program(), repr(source))
    if record.get(name) == _entry(of, files):
        return
    plot.save(drawing(), folder, name)
    _write(folder, {**_read(folder), name: _entry(of, files)})


def unchanged(folder: Path, asked: object) -> list[str] | None:
    """Output of a command, if nothing has changed since; ``None`` if it has to be carried out.

    Args:
        folder: Folder of the results.
        asked: What was asked for, with an exact ``repr``.
    """
    entry = _read(folder).get(_COMMAND)
    if not isinstance(entry, dict) or entry.get("of") != _source(folder, asked):
        return None
    files, said = entry.get("files"), entry.get("said")
    if not isinstance(files, dict) or not isinstance(said, list) or not all(isinstance(line, str) for line in said):
        return None
    return said if files == _digests(folder / name for name in files) else None


def begin(folder: Path) -> None:
    """Forgets the last command, before any of its files is made anew."""
    record = _read(folder)
    if record.pop(_COMMAND, None) is not None:
        _write(folder, record)


def end(folder: Path, asked: object, said: Sequence[str]) -> None:
    """Records a command that is finished, and what it said."""
    files = [p for p in folder.iterdir() if p.is_file()]
    entry = {"of": _source(folder, asked), "files": _digests(files), "said": list(said)}
    _write(folder, {**_read(folder), _COMMAND: entry})


@cache
def program() -> str:
    """Hash of this program and of the packages that it draws with."""
    folders = [Path(chappe.__file__).parent, Path(__file__).parents[1]]
    kinds = {".py", ".so", ".pyd", ".toml", ".csv", ".md", ".json", ".css", ".js", ".html"}
    files = sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in kinds)
    return _digest(*(f"{name} {version(name)}" for name in _PACKAGES), *map(_digest_of, files))


def _source(folder: Path, asked: object) -> str:
    """Hash of what results are made from: what was asked for, the program, and the files of the runs."""
    runs = sorted(p for p in (folder / RunCache.FOLDER).rglob("*") if p.is_file() and p != folder / RECORD)
    states = [(str(p.relative_to(folder)), at.st_size, at.st_mtime_ns) for p in runs for at in [p.stat()]]
    return _digest(program(), repr(asked), repr(states))


def _entry(of: str, files: Sequence[Path]) -> dict[str, Any]:
    return {"of": of, "files": _digests(files)}


def _digests(files: Iterable[Path]) -> dict[str, str]:
    return {p.name: _digest_of(p) for p in files}


def _digest_of(path: Path) -> str:
    """Hash of a file; empty if it cannot be read."""
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _read(folder: Path) -> dict[str, Any]:
    """The record; empty if there is none, or none that can be read: then all files are made anew."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write(folder: Path, record: Mapping[str, Any]) -> None:
    (folder / RunCache.FOLDER).mkdir(exist_ok=True)
    write_file(folder / RECORD, f"{json.dumps(record, indent=1)}\n".encode())
