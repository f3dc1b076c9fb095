"""Results and studies of folders."""

import os
import warnings

from chappe import RESULTS_EPOCH
from chappe._common import forked
from chappe._common.arguments import path_of
from chappe.errors import ChappeWarning, StorageError
from chappe.results.results import Results
from chappe.results.storage.saved import saved_in
from chappe.study.store.store import STUDY
from chappe.study.study import Study


def open(folder: str | os.PathLike[str]) -> Results | Study:  # noqa: A001, it is `chappe.open`
    """Opens a folder that :func:`chappe.run`, :meth:`Results.save`, ``chappe run --out`` or a study has written.

    Saved results have all tables, the scenario, seed, version and results epoch of the run. :meth:`Results.why` repeats
    the run, and says so in a warning, if the run did not count airtime.

    Args:
        folder: The folder.

    Returns:
        :class:`chappe.Results` of a run, or the :class:`chappe.Study`.

    Raises:
        StorageError: If the folder has no results or study, is damaged, or was written in another format.
        ScenarioError: If this version cannot run the scenario of the results.
        TypeError: If `folder` is not a path.
        RuntimeError: In a process forked after polars was used.
    """
    forked.refuse()
    path = path_of("folder", folder)
    if not path.exists():
        raise StorageError(f"there is no folder {path}")
    if not path.is_dir():
        raise StorageError(f"{path} is not a folder")
    if (path / STUDY).exists():
        return Study(path)
    saved = saved_in(path)
    if saved.epoch != RESULTS_EPOCH:
        warnings.warn(
            f"{path} has results of epoch {saved.epoch} (version {saved.version}), which cannot be compared with those "
            f"of epoch {RESULTS_EPOCH} of this version",
            ChappeWarning,
            stacklevel=2,
        )
    return Results(saved.scenario(), saved)
