"""Results of a run in a folder."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from chappe._common import forked
from chappe.errors import StorageError, reason
from chappe.results.storage import tables
from chappe.results.storage.folder import FACTS, FILES, FORMAT, SCENARIO, SUM, digest
from chappe.scenario.scenario import Scenario

if TYPE_CHECKING:
    pass


class Saved:
    """Results of a run in a folder. Tables are read on access.

    Attributes:
        folder: The folder.
        version: Version of Chappe that made the run.
        epoch: Results epoch of the run.
        end: Reason for the end of the run.
        simulated_s: Simulated time [s].
        measured_from_s: Begin of the measured part of the run [s].
        frames_sent: Frames transmitted by all nodes in the whole run.
    """

    def __init__(self, folder: Path, facts: dict[str, Any]):
        self.folder = folder
        try:
            self.version = str(facts["version"])
            self.epoch = int(facts["results_epoch"])
            self.end = str(facts["end"])
            self.simulated_s = float(facts["simulated_s"])
            self.frames_sent = int(facts["frames_sent"])
            self.fastest_bps: int | None = facts["fastest_bps"]
            self.measured_from_s = float(facts["measured_from_s"])
            self._files = {str(name) for name in facts[FILES]}
            self._sum = facts[SUM]
        except (KeyError, TypeError, ValueError):
            raise _damaged(folder, f"{FACTS} does not describe a run") from None
        for name in sorted(self._files):
            if not (folder / str(name)).is_file():
                raise _damaged(folder, f"{name} is missing")

    def table(self, name: str) -> pl.DataFrame:
        """Reads a table, recorded or not.

        Raises:
            StorageError: If the table is missing or damaged.
            RuntimeError: In a process forked after polars was used.
        """
        forked.refuse()
        file = f"{name}.parquet"
        if file not in self._files:
            raise StorageError(f"{self.folder} has no table {name}: version {self.version} of Chappe did not write one")
        try:
            return tables.read(self.folder / file)
        except OSError as e:
            raise _damaged(self.folder, f"{file} cannot be read: {reason(e)}") from None
        except pl.exceptions.PolarsError as e:
            raise _damaged(self.folder, f"{file} cannot be read: {str(e).splitlines()[0]}") from None

    def scenario(self) -> Scenario:
        """Reads the scenario.

        Raises:
            StorageError: If the file of the scenario is damaged.
            ScenarioError: If this version cannot run the scenario.
        """
        try:
            scenario = Scenario.load(self.folder / SCENARIO)
            if self._sum != digest(self.folder / SCENARIO):
                raise _damaged(self.folder, f"{SCENARIO} has changed since it was written")
        except OSError as e:
            raise _damaged(self.folder, f"{SCENARIO} cannot be read: {reason(e)}") from None
        except UnicodeDecodeError:
            raise _damaged(self.folder, f"{SCENARIO} is not UTF-8 text") from None
        return scenario


def saved_in(folder: Path) -> Saved:
    """Results of a run in a folder, without their scenario."""
    try:
        facts = json.loads((folder / FACTS).read_bytes())
    except FileNotFoundError:
        raise StorageError(
            f"{folder} has neither results nor a study of Chappe: `chappe run --out DIR` and chappe.run(.., out=DIR) "
            "write results"
        ) from None
    except OSError as e:
        raise StorageError(f"cannot read {folder / FACTS}: {reason(e)}") from None
    except (ValueError, RecursionError):
        raise _damaged(folder, f"{FACTS} is not JSON") from None
    if not isinstance(facts, dict) or "results_epoch" not in facts:
        if isinstance(facts, dict) and FILES in facts:
            raise _damaged(folder, "writing the files of the run was interrupted")
        raise StorageError(f"{folder} has no results of Chappe: {FACTS} has no results epoch")
    if (form := facts.get("format")) != FORMAT:
        raise StorageError(
            f"{folder} was written in another format ({form}, by version {facts.get('version')} of Chappe): "
            f"this version reads format {FORMAT}"
        )
    return Saved(folder, facts)


def _damaged(folder: Path, why: str) -> StorageError:
    return StorageError(f"the results in {folder} are damaged: {why}. Run {folder / SCENARIO} again")
