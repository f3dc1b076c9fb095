"""The command ``chappe cite``."""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import _core
from chappe.cli.inputs import kind_of, print_json, scenario_in, text_in
from chappe.errors import ScenarioError

if TYPE_CHECKING:
    from chappe.scenario.scenario import Scenario


def cite(args: argparse.Namespace) -> int:
    """``chappe cite``."""
    from chappe import citing

    keys = [] if args.file is None else _keys(args.file)
    if args.json:
        print_json({"bibtex": citing.bibtex(keys), "references": ["chappe", *keys]})
    else:
        print(citing.bibtex(keys), end="")
    return 0


def _keys(path: str) -> list[str]:
    """References of the scenarios of a file or a folder."""
    from chappe import citing

    if path and Path(path).is_dir():
        return citing.cited(_of_folder(Path(path)))
    text = text_in(path)
    if kind_of(path, text) != "study":
        return citing.cited([scenario_in(path, [])], _presets(path, text))
    from chappe.study import file
    from chappe.study.design.axes import grid

    f = file.load(path)
    return citing.cited([f.scenario, *(point.scenario for point in grid(f.scenario, f.axes, f.cases))])


def _presets(path: str, text: str) -> list[str]:
    """Presets that the text of a scenario names."""
    extends = json.loads(_core.toml_json(path, text)).get("extends", [])
    return [extends] if isinstance(extends, str) else list(extends)


def _of_folder(folder: Path) -> "list[Scenario]":
    """Scenarios of the results or of the points of a study in a folder."""
    from chappe import open as opened
    from chappe.printing.studies import told_at_once
    from chappe.study import Study

    with told_at_once():
        found = opened(folder)
        if not isinstance(found, Study):
            return [found.scenario]
        # Settings of axes one by one: the flow of the base may end at a node that another point does not have.
        changes = [{axis: value} for axis in found.axes for value in found._points[axis].unique(maintain_order=True)]
        scenarios = [found.scenario, *map(partial(_changed, found.scenario), changes)]
    return [scenario for scenario in scenarios if scenario is not None]


def _changed(base: "Scenario", change: dict[str, Any]) -> "Scenario | None":
    """A scenario with a change; ``None`` if it cannot be made alone."""
    try:
        return base.with_settings(change)
    except (ScenarioError, TypeError, ValueError):
        return None
