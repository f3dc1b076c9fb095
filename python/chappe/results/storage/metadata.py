"""Metadata of Parquet files: version, results epoch, seed, settings, and units and meanings of the columns."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from chappe import _core
from chappe._common.files import footer
from chappe._core import RESULTS_EPOCH, VERSION
from chappe.scenario.scenario import Scenario

UNITS = {
    "s": "s",
    "bps": "bit/s",
    "m": "m",
    "mps": "m/s",
    "j": "J",
    "bytes": "B",
    "segments": "segments",
    "dbm": "dBm",
}
"""Units by the last part of the names of columns."""


def of_file(
    table: str, scenario: Scenario, version: str, epoch: int, names: Sequence[str] | None = None
) -> dict[str, str]:
    """Metadata of the file of a table.

    Args:
        table: Name of the table.
        scenario: Scenario of the run, with its seed.
        version: Version of Chappe that made the run.
        epoch: Results epoch of the run.
        names: Columns of the table; ``None``: all that its description has.
    """
    described = columns(table)
    if names is None:
        described = {
            c: about for c, about in described.items() if scenario.names or c not in _described()[table]["names"]
        }
    else:
        described = {name: described.get(name, _unit(name)) for name in names}
    return {
        "chappe.version": version,
        "chappe.results_epoch": str(epoch),
        "chappe.seed": str(scenario.settings["run"]["seed"]),
        "chappe.settings_sha256": digest(scenario.settings),
        "chappe.columns": _json(described),
    }


def of_study(table: str, names: Sequence[str], settings: str) -> dict[str, str]:
    """Metadata of the file of a table of a study.

    Args:
        table: Name of the table.
        names: Columns of the table.
        settings: :func:`digest` of the scenario that the axes change.
    """
    described = columns(table)
    return {
        "chappe.version": VERSION,
        "chappe.results_epoch": str(RESULTS_EPOCH),
        "chappe.settings_sha256": settings,
        "chappe.columns": _json({name: described.get(name, _unit(name)) for name in names}),
    }


def of_columns(names: Sequence[str], units: Mapping[str, str] | None = None) -> dict[str, str]:
    """Metadata of the file of a table that belongs to no scenario: the units of its columns.

    Args:
        names: Columns of the table.
        units: Units of columns whose names do not end in them.
    """
    known = units or {}
    return {
        "chappe.version": VERSION,
        "chappe.results_epoch": str(RESULTS_EPOCH),
        "chappe.columns": _json({name: {"unit": own} if (own := known.get(name)) else _unit(name) for name in names}),
    }


def is_in(path: Path) -> bool:
    """True if a Parquet file has metadata of Chappe.

    Raises:
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        return b"chappe.version" in footer(file)[1]


def digest(settings: Mapping[str, Any]) -> str:
    """SHA-256 of settings in effect, as JSON with sorted names and without spaces."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def columns(table: str) -> dict[str, dict[str, str]]:
    """Unit, if any, and description of each column of a table, those of names of nodes last."""
    described = _described().get(table, {"columns": {}, "names": {}})
    texts = described["columns"] | described["names"]
    return {name: {**_unit(name), "description": text} for name, text in texts.items()}


def _unit(column: str) -> dict[str, str]:
    unit = UNITS.get(column.rpartition("_")[2])
    return {} if unit is None else {"unit": unit}


@cache
def _described() -> dict[str, dict[str, Any]]:
    """Descriptions of tables that ``docs/generate.py`` takes from ``docs/results.md``, by table."""
    text = Path(_core.__file__).with_name("descriptions.json").read_text(encoding="utf-8")
    tables: dict[str, dict[str, Any]] = json.loads(text)["tables"]
    return tables
