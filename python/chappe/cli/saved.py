"""The command ``chappe show``."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from chappe.cli.inputs import CommandError, named, print_json, print_rows, wants_rows
from chappe.errors import StudyError
from chappe.scenario import flow_selection

if TYPE_CHECKING:
    from chappe.results.budgets import Why
    from chappe.results.results import Results
    from chappe.stories.overview import Overview
    from chappe.study import Study

_RUN, _STUDY = "run.json", "study.json"

_IN_FULL = 4
"""Flows whose stories are told in full without `--flows`."""

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
    from chappe import open as opened
    from chappe.printing import results as show_results
    from chappe.printing import stories as show_follow
    from chappe.printing.studies import told_at_once
    from chappe.results.storage.columns import TABLES

    measures = args.measures or None
    is_table = wants_rows(args)
    with told_at_once():
        results = cast("Results", opened(folder))
        for name in TABLES:  # nothing is printed of damaged results
            results.table(name)
        why = results.why() if args.why else None
        refuse_not_measured(results, args.flows, measures)
        of_flows = None if why is None else stories_of(results, args)
    if is_table:
        print_rows(results.summary(measures=measures, flows=args.flows), args)
    elif args.json:
        print_json(
            {
                **results.to_dict(measures=measures, flows=args.flows),
                **({} if why is None or of_flows is None else {"why": explained(why, of_flows)}),
            }
        )
    elif not args.quiet:
        show_results.results(results, str(folder), args.flows, measures)
        if why is not None and of_flows is not None:
            show_results.why(why)
            show_follow.overview(of_flows)
    return 0


def stories_of(results: "Results", args: argparse.Namespace) -> "Overview":
    """Stories of chosen flows, or of the worst ones, for which the run may be repeated; none if nobody reads them."""
    from chappe._common.progress import bar, hidden
    from chappe.stories.overview import Overview, overview
    from chappe.stories.story import stories

    if args.quiet and not args.json:
        return Overview({}, [])
    with hidden(args.quiet), bar("Stories of flows") as update:
        if args.flows is not None:
            return Overview(stories(results.scenario, args.flows, progress=update), [])
        return overview(results, _IN_FULL, progress=update)


def explained(why: "Why", of_flows: "Overview") -> dict[str, Any]:
    """Explanation of a run as plain data, with the stories of flows."""
    return {**why.to_dict(), "stories": [{"flow": n, **story._to_dict()} for n, story in of_flows.stories.items()]}


def _show_study(folder: Path, args: argparse.Namespace) -> int:
    from chappe.printing import studies as study_show
    from chappe.study import Study
    from chappe.study.execution.sweep import problems_of_measure

    if args.why:
        raise CommandError(f"--why is for runs, and {folder} has a study")
    is_table = wants_rows(args)
    study = Study(folder)
    wanted = defined(study, args.measures)
    problems = [p for m in wanted for p in problems_of_measure("--measure", m, study._own)]
    if problems:
        raise StudyError(problems)
    measures = _measures(study, wanted, args.flows)
    refuse_no_flows(study, args.flows)
    study_show.warnings(study, measures)
    if is_table and study.is_search:
        print_rows(study.curve(), args, study.measure_of_search, study._labels)
    elif is_table:
        print_rows(study.summary(measures, flows=args.flows), args, labels=study._labels)
    elif args.json:
        print(study_show.as_json(study, measures, flows=args.flows))
    elif not args.quiet:
        study_show.study(study, measures, args.flows)
    return 0


def defined(study: "Study", measures: list[str]) -> list[str]:
    """Names of measures; those that are defined as ``name = expression`` become measures of the study."""
    try:
        return study._defined(measures)
    except ValueError as e:
        raise CommandError(f"--measure: {e}") from None


def refuse_not_measured(results: "Results", flows: str | None, measures: list[str] | None) -> None:
    """Refuses flows and measures that a run does not have, before anything is printed."""
    refuse_no_flows(results, flows)
    if measures is not None:
        try:
            results.summary(measures=measures, flows=flows)
        except ValueError as e:
            raise CommandError(f"--measure: {e}") from None


def refuse_no_flows(results: "Results | Study", flows: str | None) -> None:
    """Refuses a choice of flows that are not there, before anything is printed."""
    if flows is not None:
        try:
            results.summary(flows=flows)
        except ValueError as e:
            raise CommandError(f"--flows: {e}") from None


def _measures(study: "Study", wanted: list[str], flows: str | None) -> list[str]:
    """Measures to show: those of the command, or else of the study; of a search always its own."""
    if study.is_search:
        return [study.measure_of_search]
    if wanted or flows is None:
        return wanted or study._asked
    # The choice of the command replaces that of the study.
    return list(dict.fromkeys(flow_selection.parts(name)[0] for name in study._asked))
