"""Repeats what an archive has, and compares the results byte for byte."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from chappe.archiving.check import RESULTS, Archive
from chappe.errors import StudyError
from chappe.results.results import run
from chappe.scenario.scenario import Scenario
from chappe.study.design.stop import Precision
from chappe.study.execution.sweep import sweep
from chappe.study.study import Study

_OF_STUDY = ("study.json", "points.parquet", "runs.parquet", "totals.parquet")
"""Results of a study. The chunks of its runs depend on where it was interrupted."""

_WRITTEN = "run.json"


def differences(archive: Archive, jobs: int | None, progress: bool) -> tuple[int, list[str]]:
    """Number of files that were compared, and names of those that are missing or have other bytes.

    Args:
        archive: An archive without problems.
        jobs: Parallel runs of a study; ``None``: one per core.
        progress: True to show the progress of a study.
    """
    theirs = {n.removeprefix(RESULTS): data for n, data in archive.files.items() if n.startswith(RESULTS)}
    if archive.about["command"] == "run":
        with tempfile.TemporaryDirectory(prefix="chappe-") as name:
            run(Scenario._from_text("scenario.toml", theirs["scenario.toml"].decode(), []), out=name)
            names = sorted({*json.loads(theirs[_WRITTEN])["files"], _WRITTEN})
            return len(names), _others(Path(name), names, theirs)
    others = list(_OF_STUDY)
    for has_flow in (True, False):
        with tempfile.TemporaryDirectory(prefix="chappe-") as name:
            try:
                _sweep(Path(name), theirs, jobs, progress, has_flow=has_flow)
            except StudyError:
                if not has_flow:
                    raise
                continue
            others = _others(Path(name), _OF_STUDY, theirs)
        if not others:
            break
    return len(_OF_STUDY), others


def _others(folder: Path, names: Sequence[str], theirs: Mapping[str, bytes]) -> list[str]:
    """Names of files that a folder does not have, or has with other bytes."""
    return [n for n in names if not (p := folder / n).is_file() or p.read_bytes() != theirs.get(n)]


def _sweep(folder: Path, theirs: Mapping[str, bytes], jobs: int | None, progress: bool, *, has_flow: bool) -> Study:
    """Repeats a study from the files of its folder.

    The folder has the flow that a scenario without flows gets, from the first node to the last. Where axes change the
    last node, `has_flow` false leaves it to the points.
    """
    with tempfile.TemporaryDirectory(prefix="chappe-") as name:
        for file in ("study.json", "points.parquet"):
            (Path(name) / file).write_bytes(theirs[file])
        before = Study(name)
        about = before._about
        axes = {axis: before._all_points[axis].unique(maintain_order=True).to_list() for axis in before.axes}
        rule = about["precision"]
        return sweep(
            before.scenario if has_flow else {n: v for n, v in about["scenario"].items() if n != "flow"},
            axes,
            seeds=before.seeds,
            precision=Precision(**rule) if rule else None,
            pool=about.get("pool", ()),
            warmup=about["warmup"],
            out=folder,
            jobs=jobs,
            progress=progress,
        )
