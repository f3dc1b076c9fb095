"""Metadata of Parquet files: version, results epoch, seed, settings, and units and meanings of the columns."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from chappe._scenario import Scenario

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


def of_file(table: str, scenario: Scenario, version: str, epoch: int) -> dict[str, str]:
    """Metadata of the file of a table.

    Args:
        table: Name of the table.
        scenario: Scenario of the run, with its seed.
        version: Version of Chappe that made the run.
        epoch: Results epoch of the run.
    """
    return {
        "chappe.version": version,
        "chappe.results_epoch": str(epoch),
        "chappe.seed": str(scenario.settings["run"]["seed"]),
        "chappe.settings_sha256": digest(scenario),
        "chappe.columns": json.dumps(columns(table), ensure_ascii=False, allow_nan=False),
    }


def digest(scenario: Scenario) -> str:
    """SHA-256 of all effective settings, as JSON with sorted names and without spaces."""
    text = json.dumps(scenario.settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def columns(table: str) -> dict[str, dict[str, str]]:
    """Unit, if any, and description of each column of a table."""
    described = _described().get(table, {})
    return {name: {**_unit(name), "description": text} for name, text in described.items()}


def _unit(column: str) -> dict[str, str]:
    unit = UNITS.get(column.rpartition("_")[2])
    return {} if unit is None else {"unit": unit}


@cache
def _described() -> dict[str, dict[str, Any]]:
    """Descriptions by table and column, which ``docs/generate.py`` takes from ``docs/results.md``."""
    text = Path(__file__).with_name("descriptions.json").read_text(encoding="utf-8")
    return {name: table["columns"] for name, table in json.loads(text)["tables"].items()}
