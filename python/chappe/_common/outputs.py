"""Files that users name for reports, figures, tables, windows, movements, records, traces: no other is ever replaced.

A name must have an ending of its kind, unless the file is there and Chappe wrote it. A file that is there is replaced
only if its content shows that Chappe wrote it, and never if the scenario was read from it, whatever its name is: it may
be a link, or a relative name.
"""

import io
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from chappe._common.files import UNFINISHED, footer, write_file

MARK = "Chappe"
"""Word that reports and figures give for the program that made them."""

TABLE_MARK = "chappe.summary"
"""Key of the metadata of a printed table, which the tables of runs and studies do not have."""

_BEGIN = 4096
"""A report or an SVG file is marked within so many bytes."""

_LONGEST = 100_000_000
"""Longer files are none of ours [B]."""


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        name: Its name in messages.
        endings: Its endings, with a dot; empty: any name will do.
        rule: What its files are, in messages about another ending.
        is_ours: True if the content of a file is of this kind, and was written by Chappe.
    """

    name: str
    endings: tuple[str, ...]
    rule: str
    is_ours: Callable[[bytes], bool]


class EndingError(ValueError):
    """The name of a file has no ending of its kind."""


def _is_page(data: bytes) -> bool:
    begin = data[:_BEGIN].lower()
    return begin.startswith(b"<!doctype html>") and f'<meta name="generator" content="{MARK} '.lower().encode() in begin


def _is_table(data: bytes) -> bool:
    return data.startswith(b"PAR1") and TABLE_MARK.encode() in footer(io.BytesIO(data))[1]


def _is_figure(data: bytes) -> bool:
    mark = f"{MARK}, Matplotlib".encode()
    if data.startswith(b"<?xml"):
        return b"<svg" in data[:_BEGIN] and mark in data[:_BEGIN]
    # The text of a PNG file is at its begin, that of a PDF file near its end.
    return data.startswith((b"\x89PNG", b"%PDF")) and mark in data


_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?"
_COMMA = f"(?:{_NUMBER},){{6}}"
_MOVEMENTS = (
    re.compile(f"time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n(?:{_COMMA}{_NUMBER}\n)*"),
    re.compile(
        r"(?:\$node_\(\d+\) set [XYZ]_ -?\d+\.\d{12}\n)+"
        r'(?:\$ns_ at [\d.]+ "(?:\$node_\(\d+\) (?:set [XY]_ -?\d+\.\d{12}|setdest(?: -?\d+\.\d{12}){3})(?:; )?)+"\n)*'
    ),
    re.compile(f"(?:0(?: {_NUMBER}){{2}}(?: {_NUMBER}(?: {_NUMBER}){{2}})*\n)+"),
)
"""Texts exactly as movements are written: CSV, ns-2, BonnMotion. Files of other programs differ in their numbers."""


def _is_movement(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return any(form.fullmatch(text) for form in _MOVEMENTS)


PAGE = Kind("a report", (".html", ".htm"), "a report is an HTML file", _is_page)
FIGURE = Kind("a figure", (".svg", ".png", ".pdf"), "a figure is an SVG, PNG or PDF file", _is_figure)
TABLE = Kind("a table", (".parquet",), "a table is a Parquet file", _is_table)
MOVEMENT = Kind("movements", (), "", _is_movement)
# Traces of Mahimahi are numbers, whoever wrote them.
TRACE = Kind("a file with a mark", (), "", lambda _: False)
RECORD = Kind("a record", (), "", lambda data: data.startswith(b"chappe-record "))
ARCHIVE = Kind(
    "an archive",
    (".zip",),
    "an archive is a ZIP file",
    lambda data: data.startswith(b"PK\x03\x04") and b"manifest-sha256.txt" in data,
)
NUMBERS = Kind(
    "a table of a figure",
    (".csv",),
    "a table of a figure is a CSV file",
    lambda data: data.partition(b"\n")[0].endswith(
        (b",estimate,ci_low,ci_high", b",difference,ci_low,ci_high,significant")
    ),
)
WINDOWS = Kind(
    "a table of windows",
    (".csv",),
    "a table of windows is a CSV file",
    lambda data: data.startswith(b"variant,time_s,flow,"),
)


def refuse(path: Path, kind: Kind, inputs: Iterable[Path] = ()) -> None:
    """Refuses a file that must not be written.

    Args:
        path: The file.
        kind: What will be written.
        inputs: Files that were read for it.

    Raises:
        FileExistsError: If the file is one of the inputs, or was not written by Chappe.
        IsADirectoryError: If it is a folder.
        EndingError: If its name has no ending of the kind.
        OSError: If it cannot be read.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file")
    refuse_inputs(path, inputs)
    there = path.is_file() and path.stat().st_size > 0
    if there and not is_ours(path, kind):
        # The way to insist takes a step of its own: a name is completed wrongly in no time.
        raise FileExistsError(
            f"{path} is there, and is not {kind.name} that Chappe wrote: name another file, or delete this one first"
        )
    # Devices and pipes lose nothing.
    is_new = not there and not (path.exists() and not path.is_file())
    if is_new and kind.endings and path.suffix.lower() not in kind.endings:
        wanted = f"none of these endings ({', '.join(kind.endings)})" if len(kind.endings) > 2 else "another ending"
        example = path.with_suffix(kind.endings[0]) if path.name and path.suffix else f"{path}{kind.endings[0]}"
        raise EndingError(f"{kind.rule}, and {path} has {wanted}: name it {example}")


def refuse_inputs(path: Path, inputs: Iterable[Path]) -> None:
    """Refuses a file that was read for what will be written, under whatever name.

    Raises:
        FileExistsError: If the file is one of the inputs.
    """
    if not path.exists():
        return
    for read in inputs:
        if read.exists() and path.samefile(read):
            same = "" if str(read) == str(path) else f" ({read})"
            raise FileExistsError(f"{path} is itself read for this{same}, and would be lost: name another file")


def is_ours(path: Path, kind: Kind) -> bool:
    """True if a file is of a kind, and was written by Chappe."""
    return path.stat().st_size <= _LONGEST and kind.is_ours(path.read_bytes())


def write(path: Path, data: bytes, kind: Kind, inputs: Iterable[Path] = ()) -> None:
    """Writes a file whole or not at all, unless it must not be written: see :func:`refuse`.

    A link stays, and the file that it leads to is written; a device or a pipe is written directly.
    """
    refuse(path, kind, inputs)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()
    # No file of a user has this name.
    write_file(path, data, path.parent / f".chappe-{os.urandom(4).hex()}{UNFINISHED}")
