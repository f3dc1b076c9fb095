"""The commands ``chappe plot`` and ``chappe draw``."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from chappe import text as show
from chappe._common import outputs
from chappe.cli.inputs import (
    STDIN,
    CommandError,
    collect_errors,
    load,
    named,
    output,
    print_json,
    stem_of,
    time_of,
    unwritable,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from chappe.results.results import Results
    from chappe.study import Study

_RUN, _STUDY = "run.json", "study.json"


def plot(args: argparse.Namespace) -> int:
    """``chappe plot``."""
    if args.file and not Path(args.file).is_dir():
        return _plot_scenario(args)
    from chappe import open as opened
    from chappe.printing.studies import told_at_once

    folder = named(args.file, "PATH")
    if not any((folder / name).is_file() for name in (_RUN, _STUDY)):
        raise CommandError(f"{folder} has neither a run nor a study: `chappe run --out DIR` writes such a folder")
    paths, data = collect_errors(
        lambda: _paths(args.out, folder.resolve().name),
        lambda: None if args.data is None else output(args.data, "--data", outputs.NUMBERS),
    )
    rows = None
    with told_at_once():
        results = opened(folder)
        try:
            if (folder / _RUN).is_file():
                figure = _of_run(cast("Results", results), args)
            else:
                figure, rows = _of_study(cast("Study", results), args)
        except ValueError as e:
            raise CommandError(str(e)) from None
    files = _written(figure, paths)
    if data is not None and rows is not None:
        files["data"] = _written_data(data, rows.write_csv(), outputs.NUMBERS)
    return _print_files(args, files)


def _plot_scenario(args: argparse.Namespace) -> int:
    """Runs a scenario and plots it over time."""
    if args.file != STDIN and not Path(args.file).exists():
        raise CommandError(f"there is no {args.file}: name the folder of a run or a study, or a scenario file")
    _refuse(args, _FOR_STUDIES, "studies", "is a scenario: --what chooses its figure")
    what = args.what or "goodput"
    if what == "cwnd":
        return _plot_windows(args)
    if wrong := next((option for option in ("--variant", "--data") if _given(args, option)), None):
        raise CommandError(f"{wrong} is for --what cwnd, and --what is {what}")
    paths, times, scenario = collect_errors(
        lambda: _paths(args.out, f"{stem_of(args.file)}-{what}"), lambda: _times(args), lambda: load(args)
    )
    from chappe.plot.runs import recording
    from chappe.results.results import run

    try:
        results = run(recording(what, scenario))
        figure = results.plot(what, only=args.only or None, **times)
    except ValueError as e:
        raise CommandError(str(e)) from None
    return _print_files(args, _written(figure, paths))


def _plot_windows(args: argparse.Namespace) -> int:
    """Runs a scenario with several TCP variants and plots the congestion windows of a flow."""
    from chappe.plot import window_runs as windows

    if len(args.only) > 1:
        raise CommandError("--what cwnd shows one flow of a scenario: give --only once")
    flow = args.only[0] if args.only else 0
    if isinstance(flow, str):
        raise CommandError(f"--what cwnd shows a flow of a scenario, which has a number: --only {flow} is none")
    paths, data, times, scenario = collect_errors(
        lambda: _paths(args.out, f"{stem_of(args.file)}-cwnd"),
        lambda: None if args.data is None else output(args.data, "--data", outputs.WINDOWS, [Path(args.file)]),
        lambda: _times(args),
        lambda: load(args),
    )
    variants = list(dict.fromkeys(args.variants))
    for name in (text.partition("=")[0].strip() for text in args.sets if variants):
        if name in ("tcp.variant", "tcp.congestion_control", "tcp.loss_recovery"):
            raise CommandError(f"`{name}` is set by --set and by --variant: let one of them set it")
    collect_errors(*(partial(scenario.with_settings, {"tcp.variant": variant}) for variant in variants))
    changes = windows.measured(scenario, variants, flow)
    if changes.is_empty():
        raise CommandError(
            f"flow {flow} has no congestion window: it does not use TCP, did not start or does not exist"
        )
    variants = variants or changes["variant"].unique(maintain_order=True).to_list()
    begin_s, end_s = times.get("from_s", 0.0), times.get("until_s", windows.last(changes))
    if begin_s >= end_s:
        raise CommandError(f"a figure from {begin_s:g} s until {end_s:g} s has no time")
    title = f"{args.file}, flow {flow}"
    figure = windows.figure(changes, variants, title=title, end_s=end_s, begin_s=begin_s)
    rows = windows.summary(changes, variants)
    if not (args.json or args.quiet):
        windows.table(rows)
    files = _written(figure, paths)
    if data is not None:
        files["data"] = _written_data(data, changes.write_csv(), outputs.WINDOWS)
    return _print_files(args, files, flow=flow, variants=rows)


def draw(args: argparse.Namespace) -> int:
    """``chappe draw``."""
    scenario, paths = collect_errors(lambda: load(args), lambda: _paths(args.out, stem_of(args.file, "map")))
    try:
        figure = scenario.plot(only=args.only or None)
    except ValueError as e:
        raise CommandError(str(e)) from None
    return _print_files(args, _written(figure, paths))


_FOR_STUDIES = (
    *("-x", "--measure", "--by", "--across", "--flows", "--where"),
    *("--compare", "--within", "--width", "--title", "--label"),
)
_FOR_RUNS = ("--what", "--only", "--from", "--until")
_FOR_SCENARIOS = ("--set", "--seed", "--variant")
_NAMES = {"--measure": "measures", "--from": "from_", "--set": "sets", "--variant": "variants", "--label": "labels"}
"""Names of options in the parsed command line, where they differ."""


def _given(args: argparse.Namespace, option: str) -> bool:
    """True if an option was given."""
    return getattr(args, _NAMES.get(option, option.lstrip("-"))) not in (None, [])


def _refuse(args: argparse.Namespace, options: Sequence[str], kind: str, other: str) -> None:
    """Refuses options that are for another kind of PATH."""
    if wrong := next((option for option in options if _given(args, option)), None):
        raise CommandError(f"{wrong} is for {kind}, and {args.file} {other}")


def _times(args: argparse.Namespace) -> dict[str, float]:
    """Begin and end of a figure, those that are given."""
    times = collect_errors(lambda: time_of("--from", args.from_), lambda: time_of("--until", args.until))
    return {name: s for name, s in zip(("from_s", "until_s"), times, strict=True) if s is not None}


def _of_run(results: "Results", args: argparse.Namespace) -> "Figure":
    _refuse(args, _FOR_STUDIES, "studies", "has a run: --what chooses its figure")
    _refuse(args, (*_FOR_SCENARIOS, "--data"), "scenario files", "has a run, which is not repeated")
    return results.plot(args.what or "goodput", only=args.only or None, **_times(args))


def _of_study(study: "Study", args: argparse.Namespace) -> "tuple[Figure, pl.DataFrame | None]":
    """A figure, and for ``--data`` the rows that it shows."""
    _refuse(args, _FOR_RUNS, "runs and scenario files", "has a study: --measure chooses its figure")
    _refuse(args, _FOR_SCENARIOS, "scenario files", "has a study, whose runs are not repeated")
    import polars as pl

    where = dict(collect_errors(*(partial(_value, study, text) for text in args.where)))
    measures = args.measures or ["goodput_bps" if not study.is_search else study.measure_of_search]
    compared: dict[str, Any] = {}
    if args.compare is not None:
        if args.by is None:
            raise CommandError("--compare needs the axis whose values are compared: --by AXIS")
        (_, compared["compare"]) = _value(study, f"{args.by}={args.compare}", "--compare")
        compared |= {} if args.within is None else {"within": args.within}
    elif args.within is not None:
        raise CommandError("--within is for --compare")
    figure = study.plot(
        *(args.x, measures),
        **{"by": args.by, "across": args.across, "where": where, "flows": args.flows, **compared},
        labels=dict(args.labels),
        title=args.title,
        width_in=args.width,
    )
    if args.data is None:
        return figure, None
    if compared:
        within = {name: share for name, share in compared.items() if name == "within"}
        rows = study.compare(measures[0], args.by, baseline=compared["compare"], flows=args.flows, **within)
    else:
        rows = study.summary(measures, flows=args.flows)
    return figure, rows.filter(*(pl.col(name) == value for name, value in where.items()))


def _value(study: "Study", text: str, option: str = "--where") -> tuple[str, Any]:
    """An axis and one of its values, from AXIS=VALUE."""
    name, is_given, value = text.partition("=")
    if not is_given:
        raise CommandError(f"{option} {text}: give an axis and a value, such as tcp.variant=vegas")
    if name not in study.axes:
        raise CommandError(f"{option}: there is no axis {name}; known: {', '.join(study.axes)}")
    values = study.runs[name].unique(maintain_order=True).to_list()
    found = [v for v in values if str(v) == value]
    if not found:
        raise CommandError(f"{option}: no point has {name} = {value}; known: {', '.join(map(str, values))}")
    return name, found[0]


def _paths(out: Sequence[str], name: str) -> list[Path]:
    """Files of the figure; by default one in ``results``."""
    return collect_errors(*(partial(_path, file) for file in out or [str(Path("results", f"{name}.svg"))]))


def _path(out: str) -> Path:
    """File of a figure."""
    path = output(out, "--out", outputs.FIGURE)
    if path.suffix.lower() not in outputs.FIGURE.endings:
        # The ending chooses the format, also of a figure that is there.
        raise CommandError(f"{outputs.FIGURE.rule}, and {path} has none of these endings")
    return path


def _written(figure: "Figure", paths: Sequence[Path]) -> dict[str, Any]:
    """Writes a figure to each of the files, and returns their names."""
    from chappe.plot import encoded

    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            outputs.write(path, encoded(figure, path.suffix.lower().removeprefix(".")), outputs.FIGURE)
        except OSError as e:
            raise unwritable(path, e) from None
    return {"figures": [str(path) for path in paths]}


def _written_data(path: Path, text: str, kind: outputs.Kind) -> str:
    """Writes a table, and returns its name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(path, text.encode(), kind)
    except OSError as e:
        raise unwritable(path, e) from None
    return str(path)


def _print_files(args: argparse.Namespace, files: dict[str, Any], **further: Any) -> int:
    """Prints the names of the files that were written, and with ``--json`` what they show."""
    if args.json:
        print_json({**files, **further})
    elif not args.quiet:
        names = [*files["figures"], *([files["data"]] if "data" in files else [])]
        show.say(f"Written to {' and '.join(names)}.")
    return 0
