"""The commands ``chappe plot`` and ``chappe draw``."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from chappe import text as show
from chappe._common import outputs
from chappe.cli.inputs import STDIN, CommandError, load, named, output, print_json, time_of, together, unwritable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chappe.results.results import Results
    from chappe.study import Study

_RUN, _STUDY = "run.json", "study.json"


def plot(args: argparse.Namespace) -> int:
    """``chappe plot``."""
    from chappe import open as opened
    from chappe.cli.text.studies import told_at_once

    folder = named(args.folder)
    if not any((folder / name).is_file() for name in (_RUN, _STUDY)):
        raise CommandError(f"{folder} has neither a run nor a study: `chappe run --out DIR` writes such a folder")
    path = _path(args.out, folder.resolve().name)
    with told_at_once():
        results = opened(folder)
        try:
            if (folder / _RUN).is_file():
                figure = _of_run(cast("Results", results), args)
            else:
                figure = _of_study(cast("Study", results), args)
        except ValueError as e:
            raise CommandError(str(e)) from None
    return _written(figure, path, args)


def draw(args: argparse.Namespace) -> int:
    """``chappe draw``."""
    name = "map" if args.file == STDIN else Path(args.file).stem
    scenario, path = together(lambda: load(args), lambda: _path(args.out, name))
    try:
        figure = scenario.plot()
    except ValueError as e:
        raise CommandError(str(e)) from None
    return _written(figure, path, args)


def _of_run(results: "Results", args: argparse.Namespace) -> "Figure":
    given = {"-x": args.x, "--measure": args.measures, "--by": args.by, "--across": args.across, "--flows": args.flows}
    if wrong := next((option for option, value in given.items() if value), "--where" if args.where else None):
        raise CommandError(f"{wrong} is for studies, and {args.folder} has a run: --what chooses its figure")
    times = together(lambda: time_of("--from", args.from_), lambda: time_of("--until", args.until))
    changes = {name: s for name, s in zip(("from_s", "until_s"), times, strict=True) if s is not None}
    return results.plot(args.what or "goodput", only=args.only or None, **changes)


def _of_study(study: "Study", args: argparse.Namespace) -> "Figure":
    given = {"--what": args.what, "--only": args.only, "--from": args.from_, "--until": args.until}
    if wrong := next((option for option, value in given.items() if value), None):
        raise CommandError(f"{wrong} is for runs, and {args.folder} has a study")
    where = dict(together(*(partial(_value, study, text) for text in args.where)))
    measures = args.measures or ["goodput_bps" if not study.is_search else study.measure_of_search]
    return study.plot(args.x, measures, by=args.by, across=args.across, where=where, flows=args.flows)


def _value(study: "Study", text: str) -> tuple[str, Any]:
    """An axis and one of its values, from AXIS=VALUE."""
    name, is_given, value = text.partition("=")
    if not is_given:
        raise CommandError(f"--where {text}: give an axis and a value, such as tcp.variant=vegas")
    if name not in study.axes:
        raise CommandError(f"--where: there is no axis {name}; known: {', '.join(study.axes)}")
    values = study.runs[name].unique(maintain_order=True).to_list()
    found = [v for v in values if str(v) == value]
    if not found:
        raise CommandError(f"--where: no point has {name} = {value}; known: {', '.join(map(str, values))}")
    return name, found[0]


def _path(out: str | None, name: str) -> Path:
    """File of the figure; by default a figure in ``results``."""
    path = output(str(Path("results", f"{name}.svg")) if out is None else out, "--out", outputs.FIGURE)
    if path.suffix.lower() not in outputs.FIGURE.endings:
        # The ending chooses the format, also of a figure that is there.
        raise CommandError(f"{outputs.FIGURE.rule}, and {path} has none of these endings")
    return path


def _written(figure: "Figure", path: Path, args: argparse.Namespace) -> int:
    """Writes a figure."""
    from chappe.plot import encoded

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(path, encoded(figure, path.suffix.lower().removeprefix(".")), outputs.FIGURE)
    except OSError as e:
        raise unwritable(path, e) from None
    if args.json:
        print_json({"figure": str(path)})
    elif not args.quiet:
        show.say(f"Written to {path}.")
    return 0
