"""The command ``chappe show``."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import RESULTS_EPOCH
from chappe.cli.given import CommandError, named, print_json
from chappe.error import ScenarioError, StudyError
from chappe.words import plain, tell

if TYPE_CHECKING:
    from chappe.results import Results
    from chappe.study import Study

_RUN, _STUDY = "run.json", "study.json"

_NEAR = 3
"""Folders that are suggested at most."""


def show_folder(args: argparse.Namespace) -> int:
    """``chappe show``."""
    folder = named(args.folder)
    if (folder / _RUN).is_file():
        return _show_run(folder, args)
    if (folder / _STUDY).is_file():
        return _show_study(folder, args)
    if not folder.exists():
        raise CommandError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise CommandError(f"{folder} is a file: name the folder of a run or a study")
    below = sorted({p.parent for name in (_RUN, _STUDY) for p in folder.glob(f"*/{name}")})[:_NEAR]
    near = f"did you mean {' or '.join(map(str, below))}?" if below else "`chappe run --out DIR` writes such a folder"
    raise CommandError(f"{folder} has neither a run nor a study: {near}")


def _show_run(folder: Path, args: argparse.Namespace) -> int:
    from chappe import show_results

    if args.measures:
        raise CommandError(f"--measure is for studies, and {folder} has a run: all its measures are shown")
    results, epoch = _opened(folder)
    if epoch != RESULTS_EPOCH:
        tell(f"warning: {plain(folder)} has results of epoch {epoch}, this version has epoch {RESULTS_EPOCH}")
    if args.why and results.air_time.is_empty() and epoch != RESULTS_EPOCH:
        raise CommandError(
            f"--why would need another run, because {folder} has no air time (`run.air_time`), and this version gives "
            "other results"
        )
    if args.json:
        budgets = {"why": results.why().to_dict()} if args.why else {}
        print_json({**results.to_dict(), "results_epoch": epoch, **budgets})
    elif not args.quiet:
        show_results.results(results, str(folder))
        if args.why:
            show_results.why(results.why())
    return 0


def _opened(folder: Path) -> "tuple[Results, int]":
    """Saved results of a run, without recorded tables, and their epoch."""
    import polars as pl

    from chappe import tables
    from chappe.results import TABLES, Results, _Copied
    from chappe.scenario import Scenario

    try:
        facts: dict[str, Any] = json.loads((folder / _RUN).read_text(encoding="utf-8"))
        scenario = Scenario.load(folder / "scenario.toml")
        read = {name: tables.read(folder / f"{name}.parquet") for name in TABLES}
        copied = _Copied(facts["end"], facts["simulated_s"], facts["frames"], read, {})
        return Results(scenario, copied), int(facts["results_epoch"])
    except ScenarioError:
        raise
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as e:
        raise CommandError(f"the run in {folder} cannot be read: {e}") from None


def _show_study(folder: Path, args: argparse.Namespace) -> int:
    from chappe.study import Study
    from chappe.study import show as study_show
    from chappe.study.run import problems_of_measure

    if args.why:
        raise CommandError(f"--why is for runs, and {folder} has a study")
    problems = [p for m in args.measures for p in problems_of_measure("--measure", m)]
    if problems:
        raise StudyError(problems)
    study = Study(folder)
    measures = _measures(study, args.measures)
    study_show.warnings(study, measures)
    if args.json:
        print(study_show.as_json(study, measures))
    elif not args.quiet:
        study_show.study(study, measures)
    return 0


def _measures(study: "Study", wanted: list[str]) -> list[str]:
    """Measures to show: of a search always the measure of the search."""
    if study.is_search:
        return [study.measure_of_search]
    return wanted or ["goodput_bps"]
