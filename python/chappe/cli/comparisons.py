"""Commands that compare the settings of a study: ``compare`` and ``rank``."""

import argparse
from functools import partial
from typing import TYPE_CHECKING

from chappe.cli.inputs import CommandError, collect_errors, named, print_json, print_rows, wants_rows
from chappe.cli.saved import defined
from chappe.cli.studies import value_of

if TYPE_CHECKING:
    from chappe.study import Study


def compare(args: argparse.Namespace) -> int:
    """``chappe compare``."""
    from chappe.printing import comparisons as show_compared

    is_table = wants_rows(args)
    study, axes = _study(args)
    by, measure = collect_errors(lambda: _axes(args.by, axes, study), lambda: _measure(args, study))
    if len(by) > 1:
        raise CommandError("--by of a comparison is one axis: `chappe rank` takes several")
    axis = by[0]
    values = study.runs[axis].unique(maintain_order=True).to_list()
    baseline = values[0] if args.baseline is None else _value(args.baseline, values, axis)
    try:
        rows = study.compare(measure, axis, baseline=baseline, within=args.within)
    except ValueError as e:
        raise CommandError(str(e)) from None
    if args.json:
        print_json({"measure": measure, "by": axis, "baseline": baseline, "rows": rows.to_dicts()})
    elif is_table:
        print_rows(rows, args, measure, study._labels)
    else:
        show_compared.compared(rows, measure, axes, axis, args.within)
    return 0


def rank(args: argparse.Namespace) -> int:
    """``chappe rank``."""
    from chappe.measures import direction_of
    from chappe.printing import comparisons as show_compared

    is_table = wants_rows(args)
    study, axes = _study(args)
    by, measure = collect_errors(lambda: _axes(args.by, axes, study), lambda: _measure(args, study))
    try:
        direction = args.direction or direction_of(measure, study._direction_of(measure))
    except ValueError:
        raise CommandError(f"{measure} has no better direction: add `--direction maximize` or minimize") from None
    try:
        rows = study.rank(measure, by, direction=direction)
    except ValueError as e:
        raise CommandError(str(e)) from None
    if args.json:
        print_json({"measure": measure, "by": by, "rows": rows.to_dicts()})
    elif is_table:
        print_rows(rows, args, measure, study._labels)
    else:
        show_compared.ranked(rows, measure, axes, by)
    return 0


def _study(args: argparse.Namespace) -> "tuple[Study, list[str]]":
    """The study in a folder, with its axes."""
    from chappe.study import Study

    study = Study(named(args.folder))
    if not study._own_axes:
        raise CommandError(f"{args.folder} has no axis: there is one setting, and nothing to compare it with")
    return study, study._own_axes


def _axes(wanted: list[str], axes: list[str], study: "Study") -> list[str]:
    """Axes by name; without a name the only axis, or the only one with several values."""
    if not wanted and len(axes) > 1:
        varied = [name for name in axes if study.runs[name].n_unique() > 1]
        if len(varied) == 1:
            return varied
        raise CommandError(f"name the axis whose values are compared: --by {axes[0]}; the axes are {', '.join(axes)}")
    return list(dict.fromkeys(collect_errors(*(partial(_axis, name, axes) for name in wanted)))) or axes


def _axis(name: str, axes: list[str]) -> str:
    """Name of an axis, if it is one."""
    from chappe.study.analysis.analysis import no_axis

    if name not in axes:
        raise CommandError(f"--by: {no_axis(name, dict.fromkeys(axes))}")
    return name


def _measure(args: argparse.Namespace, study: "Study") -> str:
    """Measure that is compared."""
    from chappe.measures import wrong
    from chappe.scenario import flow_selection

    try:
        (measure,) = flow_selection.of(defined(study, [args.measure]), args.flows)
    except ValueError as e:
        raise CommandError(f"--flows: {e}") from None
    if found := wrong(measure, study._own):
        raise CommandError("--measure: " + "; ".join(found))
    return measure


def _value(written: str, values: list[object], axis: str) -> object:
    """Value of an axis as it is written."""
    for value in values:
        if written == str(value) or value_of(written) == value:
            return value
    raise CommandError(f"--baseline: no point has {axis} = {written}; known: {', '.join(map(str, values))}")
