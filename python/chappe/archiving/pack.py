"""Packs the folder of a run or of a study as an RO-Crate 1.1 in a ZIP file, equal bytes for equal files."""

import datetime
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from chappe import RESULTS_EPOCH, __version__, citing
from chappe.archiving.check import CRATE, RESULTS, SUMS, VERSIONS
from chappe.citing.build import commit
from chappe.errors import StorageError
from chappe.results.storage.saved import saved_in
from chappe.study.opening import open as opened
from chappe.study.study import Study

_BEGUN = (1980, 1, 1, 0, 0, 0)
"""Time of all files in the archive: the first that ZIP knows."""

_README = """# {title}

Results of Chappe {version}, results epoch {epoch}.

| file | content |
|---|---|
| `results/` | the folder as `chappe {command} --out` wrote it: settings in effect, tables, figures if they are there |
| `{settings}` | all settings in effect |
| `versions.json` | version, results epoch and, where it is known, commit of Chappe |
| `requirements.txt` | Python packages with which the archive was packed |
| `references.bib` | Chappe and the papers, standards and RFCs of the models in use |
| `manifest-sha256.txt` | checksum of each file, for `sha256sum --check` |
| `ro-crate-metadata.json` | description of the archive, RO-Crate 1.1 |

To check the archive, and to run it again with the same version of Chappe:

    chappe check {name}
    chappe {command} {name}

The second command says whether the results are the same byte for byte. Results of another epoch are not comparable.
"""


def packed(folder: Path, name: str) -> bytes:
    """A ZIP file with the results of a folder.

    Args:
        folder: Folder of a run or of a study.
        name: Name of the archive, for its README.

    Raises:
        StorageError: If the folder has no complete results, or a study that cannot be repeated from its folder.
        ImportError: If rocrate is not installed.
        OSError: If a file cannot be read.
    """
    found = opened(folder)
    of_study = isinstance(found, Study)
    if isinstance(found, Study):
        _refuse_study(found)
        epoch, version = RESULTS_EPOCH, __version__
        points = found._points.unique(found.axes or None, maintain_order=True)
        of_points = map(found._scenario_of, points.iter_rows(named=True))
        scenarios = [found.scenario, *(scenario for scenario in of_points if scenario is not None)]
        facts = folder / "study.json"
    else:
        saved = saved_in(folder)
        epoch, version = saved.epoch, saved.version
        scenarios = [found.scenario]
        facts = folder / "run.json"
    command, settings = ("sweep", "settings.toml") if of_study else ("run", f"{RESULTS}scenario.toml")
    files = {
        f"{RESULTS}{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    if of_study:
        files[settings] = found.scenario.to_toml().encode()
    title = f"Results of `chappe {command}`: {folder.resolve().name}"
    about = {"command": command, "version": version, "results_epoch": epoch, "commit": commit()}
    files["README.md"] = _README.format(
        title=title, version=version, epoch=epoch, command=command, settings=settings, name=name
    ).encode()
    files[VERSIONS] = json.dumps(about, indent=2).encode() + b"\n"
    files["requirements.txt"] = _requirements().encode()
    files["references.bib"] = citing.bibtex(citing.cited(scenarios)).encode()
    made = datetime.datetime.fromtimestamp(facts.stat().st_mtime, datetime.UTC)
    files[CRATE] = _crate(files, title, f"{made:%Y-%m-%d}")
    files[SUMS] = "".join(f"{hashlib.sha256(files[n]).hexdigest()}  {n}\n" for n in sorted(files)).encode()
    return _zipped(files)


def _refuse_study(study: Study) -> None:
    """Refuses studies that have parts which their folder does not describe."""
    if study.is_search:
        raise StorageError(f"{study.folder} has a search: archives have runs and studies of axes")
    if "case" in study.axes:
        raise StorageError(f"{study.folder} has a study with cases, whose settings the folder does not have")
    if "measures" in study._about:
        raise StorageError(f"{study.folder} has a study with measures of its own, which archives do not repeat yet")
    study.runs  # noqa: B018, unfinished and damaged studies are refused


def _requirements() -> str:
    """Pinned versions of the packages that Chappe needs."""
    needed = ["chappe"]
    for name in needed:
        for text in metadata.requires(name) or ():
            other = re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0].lower()
            if ";" not in text and other not in needed:
                needed.append(other)
    return "".join(f"{name}=={metadata.version(name)}\n" for name in sorted(needed))


def _crate(files: Mapping[str, bytes], title: str, date: str) -> bytes:
    """Metadata of the archive, as the library rocrate writes them."""
    from rocrate.model import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version="1.1")
    crate.name = title
    crate.description = "Simulations of TCP over wireless networks, with all settings, tables and checksums"
    crate.root_dataset["datePublished"] = date
    program = crate.add(
        ContextEntity(
            crate,
            "#chappe",
            {
                "@type": "SoftwareApplication",
                "name": "Chappe",
                "softwareVersion": f"{__version__}, epoch {RESULTS_EPOCH}",
            },
        )
    )
    for name in sorted(files):
        data = files[name]
        facts = {"contentSize": str(len(data)), "sha256": hashlib.sha256(data).hexdigest()}
        crate.add_file(io.BytesIO(data), name, properties=facts)
    made = {"@type": "CreateAction", "name": "simulation", "instrument": {"@id": program.id}, "result": {"@id": "./"}}
    crate.add(ContextEntity(crate, "#run", made))
    return json.dumps(crate.metadata.generate(), indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """ZIP file without compression, which depends on versions of libraries, and without times."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _BEGUN)
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name])
    return data.getvalue()
