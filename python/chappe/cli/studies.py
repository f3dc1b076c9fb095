"""The command ``chappe sweep``."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe._common.arguments import JOBS_OR_RAY, problem
from chappe._common.words import plain, tell
from chappe.cli.archives import is_archive, repeat
from chappe.cli.inputs import (
    KEPT,
    STDIN,
    CommandError,
    collect_errors,
    kind_of,
    named,
    report_path,
    scenario_in,
    text_in,
    unwritable,
)
from chappe.errors import Problem, StudyError

if TYPE_CHECKING:
    from chappe.expressions.own_measures import Own
    from chappe.study import Study
    from chappe.study.design.stop import Precision
    from chappe.study.file import StudyFile

_BRACKETS = {"[": "]", "{": "}"}


def sweep(args: argparse.Namespace) -> int:
    """``chappe sweep``."""
    if is_archive(args.file):
        return repeat(args, "sweep")
    from chappe.printing import comparisons as show_compared
    from chappe.printing import studies as study_show
    from chappe.study.execution.sweep import search, sweep

    if args.backend and args.jobs:
        raise CommandError(f"--jobs {JOBS_OR_RAY}")
    out = None if args.out is None else named(args.out)
    with study_show.told_at_once():
        page, f = collect_errors(
            lambda: report_path(args, is_after_folders=True),
            lambda: _study(args),
        )
    path = Path(args.file)
    common = {
        "cases": f.cases,
        "warmup": f.warmup,
        "out": out or Path("results", path.stem),
        "jobs": args.jobs,
        "backend": args.backend,
        "progress": not args.quiet,
        "title": path.name,
    }
    try:
        with study_show.told_at_once():
            if f.search is not None:
                study = search(f.scenario, **vars(f.search), measures=f.own, axes=f.axes, seeds=f.seeds, **common)
            else:
                study = sweep(
                    f.scenario, f.axes, seeds=f.seeds, precision=f.precision, measures=f.own, pool=f.pool, **common
                )
    except KeyboardInterrupt:
        tell(f"\n{KEPT.format(plain(common['out']))}")
        raise
    measures = [f.search.measure] if f.search is not None else f.measures
    study._keep_asked(measures, f.labels)
    study_show.warnings(study, measures, args.ignored)
    if page is not None:
        _report(study, measures, page, args, f)
    if args.json:
        print(study_show.as_json(study, measures, args.ignored, f.flows, f.baseline))
    elif not args.quiet:
        study_show.study(study, measures, f.flows)
        if f.baseline is not None:
            axis, value = f.baseline
            for m in measures:
                show_compared.compared(study.compare(m, axis, baseline=value), m, study._own_axes, axis)
    return 1 if study.failed else 0


def _report(study: "Study", measures: list[str], path: Path, args: argparse.Namespace, f: "StudyFile") -> None:
    """Writes the report of a study."""
    try:
        if args.report is True:
            path.parent.mkdir(exist_ok=True)
        study._report(path, measures, Path(args.file).name, f.flows, f.baseline, [_command(args)])
    except OSError as e:
        raise unwritable(path, e) from None


def _command(args: argparse.Namespace) -> str:
    """The command that makes the runs and the report again, with the names of files but not their folders."""
    words = ["chappe", "sweep", Path(args.file).name]
    lists = {"--axis": args.axes, "--set": args.sets, "--measure": args.measures, "--pool": args.pool}
    words += [word for option, values in lists.items() for value in values for word in (option, value)]
    seeds = args.seeds if args.seeds is None or isinstance(args.seeds, int) else ",".join(map(str, args.seeds))
    given = {"--seeds": seeds, "--flows": args.flows, "--precision": args.precision, "--max-seeds": args.max_seeds}
    words += [word for option, value in given.items() if value is not None for word in (option, str(value))]
    return shlex.join([*words, "--report", *([] if args.report is True else [Path(args.report).name])])


def _study(args: argparse.Namespace) -> "StudyFile":
    """Study of a study file, or of a scenario file with axes or seeds, with the changes of the command line."""
    from chappe.expressions.own_measures import own_of, split
    from chappe.scenario import flow_selection
    from chappe.study.design.axes import grid, seeds_of
    from chappe.study.design.search import first_seeds
    from chappe.study.execution.sweep import problems_of_measure, problems_of_pool

    if args.file == STDIN:
        raise CommandError("a study is read from a file, which names its folder, not from standard input")
    axes: dict[str, list[Any]]
    f: StudyFile
    axes, within, f = collect_errors(lambda: _axes(args.axes), lambda: _within(args.precision), lambda: _file(args))
    for option, given in (("--measure", args.measures), ("--flows", args.flows)):
        if given and f.search is not None:
            raise CommandError(f"{option} is for studies without search: {args.file} searches for `{f.search.measure}`")
    asked, texts = split(args.measures)
    own, problems = own_of(texts, {**f.axes, **axes}, "--measure")
    f = replace(f, own={**f.own, **{measure.name: str(measure.text) for measure in own}})
    problems += [p for m in asked for p in problems_of_measure("--measure", m, f.own)]
    if axes:
        try:
            grid(f.scenario, axes)
        except StudyError as e:
            problems += [p._replace(file="--axis") for p in e.problems]
    problems += _unknown_labels(args, f, axes)
    problems += _set_twice(args, f, axes)
    if args.pool:
        wrong = problems_of_pool(args.pool, [*f.axes, *axes, *(["case"] if f.cases else [])], False)
        problems += [p._replace(message=p.message.replace("`pool`", "--pool")) for p in wrong]
    if problems:
        raise StudyError(problems)
    seeds = f.seeds
    if args.seeds is not None:
        seeds = seeds_of(args.seeds)
        seeds = first_seeds(args.seeds, seeds) if f.search is not None else seeds
    flows = args.flows or f.flows
    if flow_selection.is_each(flows):
        if args.precision is not None or f.precision is not None:
            raise CommandError("--precision needs one measure: choose one set of flows, such as `--flows tcp`")
        measures = asked or f.measures
    else:
        measures = flow_selection.of(asked or f.measures, flows)
    if args.pool:
        if f.search is not None:
            raise CommandError("--pool is for studies without search")
        f = replace(f, pool=tuple(dict.fromkeys(args.pool)))
    precision = _precision(args, f, within, seeds, measures[0], own_of(f.own, (), "measures")[0])
    return replace(f, axes={**f.axes, **axes}, seeds=seeds, precision=precision, measures=measures, flows=flows)


def _file(args: argparse.Namespace) -> "StudyFile":
    """Study of a study file, or a scenario as a study of one setting."""
    from chappe.study import file as study_file

    if kind_of(args.file, text_in(args.file)) != "scenario":
        f = study_file.load(args.file)
        return replace(f, scenario=f.scenario.with_settings(dict(_set(s) for s in args.sets))) if args.sets else f
    if not args.axes and args.seeds is None:
        raise CommandError(
            f"{args.file} is a scenario: add `--axis NAME=VALUES` or `--seeds N`, or use `chappe run {args.file}`"
        )
    scenario = scenario_in(args.file, args.sets)
    return study_file.StudyFile(scenario, {}, None, [1], None, "discard", None, ["goodput_bps"])


def _set_twice(args: argparse.Namespace, f: "StudyFile", axes: dict[str, list[Any]]) -> list[Problem]:
    """Problems of settings that --set and the study set, of which --set would be lost."""
    from chappe.study.design.axes import overlap, settings_in

    given = [name for text in args.sets for name in settings_in(dict([_set(text)]))]
    by = {name: f"the axis `{name}`" for name in (*f.axes, *axes)}
    by |= {name: f"the case `{case}`" for case, changes in (f.cases or {}).items() for name in settings_in(changes)}
    by |= {f.search.setting: f"the search for `{f.search.setting}`"} if f.search is not None else {}
    by["run.seed"] = "the seeds of the study"
    return [
        Problem(name, f"`{name}` is set by --set and by {what}", "let one of them set it", "--set", None, None)
        for name in given
        for other, what in by.items()
        if overlap(name, other)
    ]


def _within(precision: str | None) -> float | None:
    """Share of an option ``--precision``."""
    from chappe.study.file import share

    within = None if precision is None else share(precision)
    if precision is not None and within is None:
        raise CommandError(f'--precision {precision!r} is not a share of the mean: write "5 %"')
    return within


def _unknown_labels(args: argparse.Namespace, f: "StudyFile", axes: dict[str, list[object]]) -> "list[Problem]":
    """Problems of names of flows on the command line that no point has."""
    from chappe.scenario import flow_selection
    from chappe.study.design.axes import grid
    from chappe.study.execution.sweep import problems_of_labels

    asked = {name: "--measure" for name in args.measures if flow_selection.OF in name}
    asked |= {args.flows: "--flows"} if args.flows else {}
    try:
        return problems_of_labels(grid(f.scenario, {**f.axes, **axes}, f.cases), asked) if asked else []
    except StudyError:
        return []  # the sweep says what is wrong with the points


def _precision(
    args: argparse.Namespace,
    f: "StudyFile",
    within: float | None,
    seeds: Sequence[int],
    measure: str,
    own: "list[Own]",
) -> "Precision | None":
    """Precision of the study, with the changes of the command line."""
    from chappe.study.design.stop import Precision
    from chappe.study.execution.sweep import problems_of_stop

    if args.precision is None and args.max_seeds is None:
        return f.precision
    if f.search is not None:
        raise CommandError("--precision is for studies without search: see max_runs")
    if args.precision is None and f.precision is None:
        raise CommandError("--max-seeds has no effect without `--precision SHARE`")
    rule = f.precision or Precision(measure, 0.0)
    if within is not None:
        rule = replace(rule, within=within)
    if args.max_seeds is not None:
        rule = replace(rule, max_seeds=args.max_seeds)
    if len(seeds) == 1 and rule.max_length is None:
        raise CommandError("--precision needs several seeds at the start: add `--seeds 10`")
    if problems := problems_of_stop(rule, seeds, own):
        raise StudyError([_as_option(p) for p in problems])
    return rule


def _as_option(p: Problem) -> Problem:
    """A problem of a precision in the words of the options."""
    for name, option in (("precision.within", "--precision"), ("precision.max_seeds", "--max-seeds")):
        p = p._replace(path=p.path.replace(name, option), message=p.message.replace(name, option))
    return p


def _axes(written: list[str]) -> dict[str, list[Any]]:
    """Axes by name from ``NAME=VALUE,VALUE,..``."""
    axes: dict[str, list[Any]] = {}
    collect_errors(*(partial(_add_axis, axes, text) for text in written))
    return axes


def _add_axis(axes: dict[str, list[Any]], text: str) -> None:
    """Adds an axis from ``NAME=VALUE,VALUE,..``."""
    name, equals, values = text.partition("=")
    name = name.strip()
    if not equals or not name or not values.strip():
        raise CommandError(f"--axis {text!r} is not of the form NAME=VALUE,VALUE,...: such as tcp.receive_window=2,4,8")
    if name in axes:
        raise StudyError([problem(name, f"--axis has `{name}` twice", f"{name}={values},...: all in one list")])
    axes[name] = [value_of(v) for v in split(values)]


def _set(written: str) -> tuple[str, Any]:
    """Name and value from ``NAME=VALUE``."""
    name, equals, value = written.partition("=")
    if not equals or not name.strip():
        raise CommandError(f"{written!r} is not of the form name=value")
    return name.strip(), value_of(value.strip())


def value_of(written: str) -> Any:
    """Value as written after ``--set NAME=``: TOML if it parses, text otherwise."""
    import tomllib

    try:
        value = tomllib.loads(f"x = {written}")
    except tomllib.TOMLDecodeError:
        return written
    return value["x"] if len(value) == 1 else written


def split(values: str) -> list[str]:
    """Parts of a text between commas that are in no brackets, braces or quotes."""
    parts, part, awaited = [], "", ""
    for c in values:
        if c == "," and not awaited:
            parts.append(part.strip())
            part = ""
            continue
        part += c
        if awaited and c == awaited[-1]:
            awaited = awaited[:-1]
        elif awaited[-1:] not in ('"', "'"):
            awaited += _BRACKETS.get(c, c if c in "\"'" else "")
    return [*parts, part.strip()]
