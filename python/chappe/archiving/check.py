"""Checks archives: every file is there with its checksum, nothing else is, and versions are comparable."""

import hashlib
import json
import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from chappe import RESULTS_EPOCH

CRATE = "ro-crate-metadata.json"
SUMS = "manifest-sha256.txt"
"""SHA-256 of every other file, in the form of sha256sum."""

RESULTS = "results/"
"""Folder of the archive with the files of the run or the study."""

VERSIONS = "versions.json"
NEEDED = ("README.md", CRATE, VERSIONS, "requirements.txt", "references.bib")
"""Files of every archive, beside the checksums and the results."""


class Archive:
    """Files of an archive with all its problems.

    Attributes:
        files: Contents by name.
        problems: Everything that is wrong with it, in sentences.
        about: Command, version and results epoch of the results; empty if they cannot be read.
    """

    def __init__(self, path: Path):
        self.files: dict[str, bytes] = {}
        self.problems: list[str] = []
        self.about: dict[str, Any] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    self._read(archive, info)
        except (OSError, zipfile.BadZipFile) as e:
            self.problems.append(f"it cannot be read: {e}")
            return
        self._check_sums()
        self._check_versions()

    def _read(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        name = PurePosixPath(info.filename)
        if info.filename in self.files:
            self.problems.append(f"{info.filename} is there twice")
        elif name.is_absolute() or ".." in name.parts or "\\" in info.filename:
            self.problems.append(f"{info.filename} lies outside of the archive")
        else:
            try:
                self.files[info.filename] = archive.read(info)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as e:
                self.problems.append(f"{info.filename} cannot be read: {e}")

    def _check_sums(self) -> None:
        sums = self.files.get(SUMS)
        if sums is None:
            self.problems.append(f"{SUMS} is missing: this is no archive of `chappe archive`, or it is damaged")
            return
        listed: dict[str, str] = {}
        for line in sums.decode("utf-8", "replace").splitlines():
            found = re.fullmatch(r"([0-9a-f]{64})  (.+)", line)
            if found is None:
                self.problems.append(f"{SUMS} has a line that is no checksum: {line!r}")
            else:
                listed[found[2]] = found[1]
        for name in sorted({*listed, *NEEDED} - self.files.keys()):
            self.problems.append(f"{name} is missing")
        for name in sorted(self.files.keys() - listed.keys() - {SUMS}):
            self.problems.append(f"{name} has no checksum in {SUMS}")
        for name, digest in listed.items():
            if name in self.files and hashlib.sha256(self.files[name]).hexdigest() != digest:
                self.problems.append(f"{name} has changed: its checksum is another one")

    def _check_versions(self) -> None:
        try:
            about = json.loads(self.files[VERSIONS])
            epoch, command = about["results_epoch"], about["command"]
        except KeyError:
            return
        except (ValueError, TypeError):
            self.problems.append(f"{VERSIONS} is not readable")
            return
        self.about = about
        if command not in ("run", "sweep"):
            self.problems.append(f"{VERSIONS} has an unknown command {command!r}")
        if epoch != RESULTS_EPOCH:
            self.problems.append(
                f"its results have epoch {epoch} (version {about.get('version')}); this version has epoch "
                f"{RESULTS_EPOCH}, whose results are not comparable: install version {about.get('version')}"
            )
