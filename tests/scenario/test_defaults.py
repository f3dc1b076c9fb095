"""Defaults of settings: a study names its runs by what differs from them, and trusts the epoch for the rest."""

import json
import os
from pathlib import Path
from typing import Any

import chappe

FILE = Path(__file__).parent / "defaults.json"


def defaults() -> dict[str, Any]:
    """Defaults by dotted name, without those of places in lists."""
    found: dict[str, Any] = {}

    def collect(schema: dict[str, Any], name: str) -> None:
        if "default" in schema:
            found[name] = schema["default"]
        for key, inner in schema.get("properties", {}).items():
            collect(inner, f"{name}.{key}".lstrip("."))
        if isinstance(schema.get("items"), dict):
            collect(schema["items"], f"{name}.N")

    collect(chappe.schema(), "")
    return found


def test_a_default_that_changes_raises_the_epoch() -> None:
    """Otherwise a study would take runs with another default for those of today. New settings are free."""
    now = defaults()
    if "CHAPPE_WRITE_DOCS" in os.environ:
        written = {"results_epoch": chappe.RESULTS_EPOCH, "defaults": now}
        FILE.write_text(json.dumps(written, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    before = json.loads(FILE.read_text(encoding="utf-8"))
    assert len(before["defaults"]) > 400
    changed = {n: (v, now[n]) for n, v in before["defaults"].items() if now.get(n, v) != v}
    assert not changed or before["results_epoch"] < chappe.RESULTS_EPOCH, "raise RESULTS_EPOCH"
    unlisted = now.keys() - before["defaults"].keys()
    assert not unlisted, f"CHAPPE_WRITE_DOCS=1 adds {sorted(unlisted)} to {FILE.name}"
