"""The command ``chappe cite``."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from chappe import _core, citing
from chappe.cli.inputs import CommandError, kind_of, print_json, scenario_in, text_in

if TYPE_CHECKING:
    from chappe.scenario.scenario import Scenario


def cite(args: argparse.Namespace) -> int:
    """``chappe cite``."""
    keys = [] if args.path is None else _keys(args.path)
    if args.json:
        print_json({"bibtex": citing.bibtex(keys), "references": ["chappe", *keys]})
    else:
        print(citing.bibtex(keys), end="")
    return 0


def _keys(path: str) -> list[str]:
    """References of the scenarios of a file or a folder."""
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
        points = found._points.unique(found.axes, maintain_order=True) if found.axes else found._points.head(1)
        scenarios = [found._scenario_of(row) for row in points.iter_rows(named=True)]
    if None in scenarios:
        raise CommandError(f"{folder} has a study whose points cannot be made of its axes: name its file instead")
    return [scenario for scenario in scenarios if scenario is not None]
