"""Folder of captures: one pcapng file a node, appended to during a run."""

import fcntl
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from chappe._common.arguments import path_of
from chappe._common.files import make_folder, take_away

_NAME = re.compile(r"node-\d+(-[\w.-]+)?\.pcapng")
_MAGIC = b"\x0a\x0d\x0d\x0a"
"""First bytes of a pcapng file."""

_WRITER = b"Chappe"
"""Begin of the name of the application in the section header of our files."""

_HEADER = 1000
"""The section header of our files is shorter [B]."""


class CaptureError(OSError):
    """A capture could not be written."""


class Captures:
    """Writes captures during a run, block by block, so that files can be read at any time."""

    def __init__(self, folder: str | os.PathLike[str], names: Mapping[int, str]):
        """Locks the folder, and creates it if it does not exist. Captures of an earlier run stay until the first write.

        Args:
            folder: The folder.
            names: Names of the nodes that have one, by number, which their files have, too.

        Raises:
            FileExistsError: If the folder has files that are no captures of a run.
            BlockingIOError: If another run writes there.
            OSError: If the folder cannot be written.
            ValueError: If no folder can have this name.
            TypeError: If `folder` is not a path.
        """
        self.folder = path_of("pcap", folder)
        self._names = names
        self._made = make_folder(self.folder)
        self._lock = os.open(self.folder, os.O_RDONLY)
        try:
            self._take_lock()
            refuse_others(self.folder)
            self._earlier = list(self.folder.iterdir())
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

    def __call__(self, node: int, position: int, blocks: bytes) -> None:
        """Writes whole blocks to the capture of a node, whose length is then their end: all of them or none.

        Args:
            node: Number of the node.
            position: Length of the file before [B]; what an interrupted call has written behind it is replaced.
            blocks: Blocks of pcapng.
        """
        name = f"-{self._names[node]}" if node in self._names else ""
        path = self.folder / f"node-{node}{name}.pcapng"
        try:
            while self._earlier:
                self._earlier.pop().unlink()
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666), "wb", buffering=0) as file:
                _replace_from(file, position, blocks)
        except OSError as e:
            with suppress(OSError):
                if not path.stat().st_size:
                    path.unlink()  # without its header it is no capture
            raise CaptureError(e.errno, e.strerror, str(path)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self._give_back()

    def _give_back(self) -> None:
        take_away(self._made)
        os.close(self._lock)


def _replace_from(file: FileIO, position: int, data: bytes) -> None:
    """Replaces the end of a file from a position on; after an error the file ends at this position."""
    try:
        file.truncate(position)
        file.seek(position)
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
    except BaseException:
        file.truncate(position)
        raise


def refuse_others(folder: Path) -> None:
    """Refuses a folder with files that are no captures of a run.

    Raises:
        FileExistsError: If there are such files.
        OSError: If the folder cannot be read.
    """
    foreign = sorted(p for p in folder.iterdir() if not _is_ours(p))
    if foreign:
        raise FileExistsError(
            f"{folder} has what is no capture of a run, such as {foreign[0].name}: use a new folder, or empty this "
            "one; a folder that has only captures of a run is replaced"
        )


def refuse_shared(pcap: Path, out: Path) -> None:
    """Refuses captures in the folder of the results, or below it: that has nothing but the files of a run.

    Raises:
        FileExistsError: If the folders are the same, or one is below the other.
    """
    captures, results = pcap.resolve(), out.resolve()
    if captures.is_relative_to(results) or results.is_relative_to(captures):
        raise FileExistsError(f"captures and results need folders of their own: {pcap} and {out} share one")


def _is_ours(path: Path) -> bool:
    """Returns true for a capture that a run has written."""
    if not _NAME.fullmatch(path.name) or path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        header = file.read(_HEADER)
    return header.startswith(_MAGIC) and _WRITER in header
