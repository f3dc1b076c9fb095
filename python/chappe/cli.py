"""The command ``chappe``."""

import argparse
import contextlib
import errno
import importlib.util
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from chappe import __version__, _core, show
from chappe.arguments import JOBS_OR_RAY, NO_FOLDER, problem_of_jobs
from chappe.error import ClusterError, LimitError, RunError, ScenarioError, StorageError, StudyError, reason
from chappe.files import make_folder, take_away, write_file
from chappe.scenario import Scenario, parts, read_text, schema
from chappe.words import count, plain, tell

if TYPE_CHECKING:
    from chappe.results import Results

# Commands import statistics and figures themselves: these take longer to load than most commands take to run.

BAD_INPUT = 2
"""Exit code for an invalid scenario or command line."""

_KEPT = "Finished runs are kept in {}; the same command continues from there."


class CommandError(Exception):
    """A request that cannot be carried out, with the reason as message."""

    def __init__(self, message: str, code: int = BAD_INPUT):
        super().__init__(message)
        self.code = code


def _kind(file: str) -> str:
    """Kind of a file by the names in it: ``"scenario"``, ``"study"`` or empty."""
    from chappe.study import file as study_file

    try:
        names = set(json.loads(_core.toml_json(file, read_text(Path(file), study_file.LONGEST))))
    except (OSError, ValueError):
        return ""
    studies, scenarios = set(study_file.GROUPS[""]), set(schema()["properties"])
    of_study, of_scenario = names & studies - scenarios, names & scenarios - studies
    if of_study and not of_scenario:
        return "study"
    return "scenario" if of_scenario and not of_study else ""


def _load(args: argparse.Namespace) -> Scenario:
    sets = list(args.sets)
    if getattr(args, "seed", None) is not None:
        sets.append(f"run.seed={args.seed}")
    if not args.file:
        raise CommandError("the name of FILE is empty")
    try:
        scenario = Scenario.load(args.file, sets)
    except ScenarioError:
        if _kind(args.file) == "study":
            raise CommandError(f"{args.file} is a study: use `chappe sweep {args.file}`") from None
        raise
    except UnicodeDecodeError:
        raise CommandError(f"{args.file} is not UTF-8 text") from None
    except UnicodeEncodeError:
        raise CommandError("names of files and settings must be UTF-8") from None
    except OSError as e:
        raise CommandError(f"cannot read {args.file}: {(e.strerror or str(e)).lower()}") from None
    except ValueError as e:
        raise CommandError(str(e)) from None
    show.warnings(scenario)
    return scenario


def _named(name: str) -> Path:
    """Path of the folder for results, from ``--out``."""
    if not name:
        raise CommandError(f"--out {NO_FOLDER}")
    return Path(name)


@contextlib.contextmanager
def _folder(name: str) -> Iterator[Path]:
    """Creates the folder for results before a run, so that no run is lost; removes the folder if it stays empty."""
    path = _named(name)
    made: list[Path] = []
    try:
        try:
            made = make_folder(path)
            if not os.access(path, os.W_OK):
                raise PermissionError(13, "permission denied")
        except OSError as e:
            raise _unwritable(name, e, BAD_INPUT) from None
        yield path
    finally:
        take_away(made)


def _unwritable(name: object, e: OSError, code: int = 1) -> CommandError:
    """Error with the message of the operating system, or with the message of Chappe, which names the folder."""
    return CommandError(f"cannot write to {name}: {reason(e)}" if e.strerror else str(e), code)


def _write_text(path: Path, text: str) -> None:
    """Writes a regular file atomically, and anything else, such as a pipe, directly."""
    data = text.encode("utf-8")
    if path.exists() and not path.is_file():
        path.write_bytes(data)
    else:
        write_file(path.resolve(), data)


def _run(args: argparse.Namespace) -> int:
    from chappe import show_results

    scenario = _load(args)
    if args.why:
        scenario = scenario.with_settings({"run.air_time": True})
    place = contextlib.nullcontext() if args.out is None else _folder(args.out)
    with place as folder:
        results = _results(scenario, Path(args.file).name, folder)
    if args.json:
        budgets = {"why": results.why().to_dict()} if args.why else {}
        print(json.dumps({**results.to_dict(), **budgets}, indent=2, allow_nan=False))
    else:
        show_results.results(results, args.file)
        if args.why:
            show_results.why(results.why())
        if folder is None and results.recorded:
            rows = ", ".join(f"{name} ({count(len(table), 'row')})" for name, table in results.recorded.items())
            show.say("")
            show.say(f"Recorded, but not written: {rows}. Use `--out DIR` to write them.")
        if folder is not None:
            show.say("")
            show.say(f"Written to {folder}: scenario.toml, run.json and a Parquet file for each table.")
    return 0


def _results(scenario: Scenario, title: str, folder: Path | None) -> "Results":
    """Runs a scenario, and writes the results into the folder."""
    from chappe.folder import refuse_others
    from chappe.progress import bar
    from chappe.results import run

    if folder is not None:
        try:
            refuse_others(folder)
        except OSError as e:
            raise _unwritable(folder, e, BAD_INPUT) from None
        except ValueError as e:
            raise CommandError(str(e)) from None
    with bar(title) as update:
        try:
            return run(scenario, progress=update, out=folder)
        except OSError as e:
            # Folders are refused before the run.
            raise _unwritable(folder, e, 1 if e.strerror else BAD_INPUT) from None


def _windows(args: argparse.Namespace) -> int:
    from chappe import windows

    out = str(Path("results", "windows")) if args.out is None else args.out
    place = _named(out)
    if place.is_dir():
        try:
            windows.refuse_others(place)
        except OSError as e:
            raise _unwritable(place, e, BAD_INPUT) from None
    scenario = _load(args)
    variants = list(dict.fromkeys(args.variants)) or [scenario.settings["tcp"]["variant"]]
    changes = windows.measured(scenario, variants, args.flow)
    if changes.is_empty():
        raise CommandError(
            f"flow {args.flow} has no congestion window: it does not use TCP, did not start or does not exist"
        )
    with _folder(out) as folder:
        drawn = windows.figure(changes, variants, title=f"{args.file}, flow {args.flow}", end_s=windows.last(changes))
        windows.table(changes, variants)
        try:
            written = windows.write(folder, changes, drawn)
        except OSError as e:
            raise _unwritable(folder, e) from None
    show.say(written)
    return 0


def _check(args: argparse.Namespace) -> int:
    scenario = _load(args)
    show.say(f"{args.file}: no errors. {show.sketch(scenario)}")
    return 0


def _motion(args: argparse.Namespace) -> int:
    scenario = _load(args)
    try:
        text = scenario._mobility(args.form, args.until, None)
    except ValueError as e:
        raise CommandError(str(e)) from None
    if args.out is None:
        print(text, end="")
        return 0
    path = Path(args.out)
    try:
        if path.exists() and path.samefile(args.file):
            raise CommandError(f"{path} is the scenario itself: write the movement to another file")
        _write_text(path, text)
    except OSError as e:
        raise _unwritable(path, e) from None
    return 0


def _sweep(args: argparse.Namespace) -> int:
    from chappe.study import file as study_file
    from chappe.study import show as study_show
    from chappe.study.run import search, sweep

    if args.on and args.jobs:
        raise CommandError(f"--jobs {JOBS_OR_RAY}")
    out = None if args.out is None else _named(args.out)
    if not args.file:
        raise CommandError("the name of STUDY is empty")
    try:
        with study_show.told_at_once():
            f = study_file.load(args.file)
    except StudyError:
        if _kind(args.file) == "scenario":
            raise CommandError(f"{args.file} is a scenario: use `chappe run {args.file}`") from None
        raise
    except UnicodeDecodeError:
        raise CommandError(f"{args.file} is not UTF-8 text") from None
    except OSError as e:
        raise CommandError(f"cannot read {args.file}: {(e.strerror or str(e)).lower()}") from None
    path = Path(args.file)
    common = {
        "cases": f.cases,
        "transient": f.transient,
        "out": out or Path("results", path.stem),
        "jobs": args.jobs,
        "backend": args.on,
        "progress": not args.quiet,
        "title": path.name,
    }
    try:
        with study_show.told_at_once():
            if f.search is not None:
                study = search(f.scenario, **vars(f.search), axes=f.axes, seeds=f.seeds, **common)
            else:
                study = sweep(f.scenario, f.axes, seeds=f.seeds, precision=f.stop, **common)
    except KeyboardInterrupt:
        tell(f"\n{_KEPT.format(plain(common['out']))}")
        raise
    measures = [f.search.measure] if f.search is not None else f.measures
    study_show.warnings(study, measures)
    if args.json:
        print(study_show.as_json(study, measures))
    elif not args.quiet:
        study_show.study(study, measures)
    return 1 if study.failed else 0


def _list(_: argparse.Namespace) -> int:
    show.parts(parts())
    return 0


def _schema(_: argparse.Namespace) -> int:
    print(json.dumps(schema(), indent=2, allow_nan=False))
    return 0


def _need_papers() -> None:
    """Refuses a command that needs the package of papers and comparisons where that package is not installed."""
    if importlib.util.find_spec("chappe_papers") is None:
        raise CommandError("the package chappe_papers is not installed, the part of Chappe with the papers and the "
                           "comparisons with other simulators: install Chappe again", 1)  # fmt: skip


def _paper(args: argparse.Namespace) -> int:
    _need_papers()
    from chappe_papers import PAPERS, find
    from chappe_papers.paper import Wanted
    from chappe_papers.run_cache import FOLDER as RUNS

    if args.paper is None:
        from chappe_papers import summary

        summary.print_all(PAPERS)
        return 0
    paper = find(args.paper)
    if paper is None:
        known = ", ".join(p.name for p in PAPERS)
        raise CommandError(f"there is no paper {args.paper!r}; known papers: {known}")
    parts: tuple[tuple[str, int | str | None, Sequence[int | str]], ...] = (
        ("figure", args.figure, paper.figures),
        ("table", args.table, paper.tables),
        ("claim", args.claim, paper.claims),
        ("extra", args.extra, paper.extras),
    )
    for kind, value, known_parts in parts:
        if value is not None and value not in known_parts:
            known = ", ".join(map(str, known_parts))
            raise CommandError(f"{paper.name} has no {kind} {value} to reproduce; known {kind}s: {known or 'none'}")
    named = [kind for kind, value, _ in parts if value is not None]
    if len(named) > 1:
        raise CommandError(f"--{named[0]} and --{named[1]} exclude each other: choose one part, or none for all parts")
    if args.validate and (named or args.quick):
        raise CommandError("--validate compares all runs at full length: it excludes --figure, --table, --claim, "
                           "--extra and --quick")  # fmt: skip
    if args.validate and not paper.is_validated:
        raise CommandError(f"there are no ns-2 runs of {paper.name} to compare with")
    with _folder(f"results/{paper.name}" if args.out is None else args.out) as folder:
        try:
            if args.validate:
                return paper.validate(folder, jobs=args.jobs)
            wanted = Wanted(args.figure, args.table, args.claim, args.extra)
            return paper.reproduce(folder, wanted=wanted, quick=args.quick, jobs=args.jobs)
        except KeyboardInterrupt:
            tell(f"\n{_KEPT.format(plain(folder / RUNS))}")
            raise


def _validate(args: argparse.Namespace) -> int:
    _need_papers()
    import chappe_papers
    from chappe_papers import validation
    from chappe_papers.run_cache import FOLDER as RUNS

    if args.name is None:
        show.validations(validation.VALIDATIONS)
        return 0
    comparison = validation.find(args.name)
    if comparison is None:
        known = ", ".join(v.name for v in validation.VALIDATIONS)
        own = f"; for papers: chappe paper {args.name} --validate" if chappe_papers.find(args.name) else ""
        raise CommandError(f"there is no comparison {args.name!r}; known comparisons: {known}{own}")
    with _folder(f"results/{comparison.name}" if args.out is None else args.out) as folder:
        try:
            return comparison.validate(folder, jobs=args.jobs)
        except KeyboardInterrupt:
            tell(f"\n{_KEPT.format(plain(folder / RUNS))}")
            raise


def _jobs(text: str) -> int:
    value = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else text
    if wrong := problem_of_jobs(value):
        raise argparse.ArgumentTypeError(wrong)
    return int(value)


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to {2**63 - 1}, not {plain(text)}")
    return int(text)


def _flow(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"a flow is a whole number of at least 0, not {plain(text)}")
    return int(text)


class _Parser(argparse.ArgumentParser):
    """Argument parser that escapes control characters and tolerates a closed standard error."""

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores streams that cannot be written.
        if message:
            (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        tell(f"{self.format_usage()}{self.prog}: error: {plain(message)}")
        raise SystemExit(BAD_INPUT)


def parser() -> argparse.ArgumentParser:
    """Parser of the command line."""
    p = _Parser(prog="chappe", description="Simulator of TCP over wireless networks.")
    p.add_argument("--version", action="version", version=f"chappe {__version__}")
    commands = p.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, summary: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")

    def scenario_arguments(q: argparse.ArgumentParser) -> None:
        q.add_argument("file", metavar="FILE", help="scenario file (TOML)")
        q.add_argument(
            "--set",
            dest="sets",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            help="change a setting, such as tcp.variant=vegas; may be repeated",
        )

    q = command("run", "run a scenario and print its results")
    scenario_arguments(q)
    q.add_argument("--seed", type=_seed, metavar="N", help="seed of the random number generator (run.seed)")
    q.add_argument("--json", action="store_true", help="print all tables and the summary as JSON")
    q.add_argument(
        "--why",
        action="store_true",
        help="explain the results: time budgets of flows and nodes, and causes of packet loss",
    )
    q.add_argument("--out", metavar="DIR", help="write all tables and the effective settings to this folder")
    q.set_defaults(do=_run)

    q = command("windows", "run a scenario with several TCP variants and plot their congestion windows")
    scenario_arguments(q)
    q.add_argument("--seed", type=_seed, metavar="N", help="seed of the random number generator (run.seed)")
    q.add_argument(
        "--variant",
        dest="variants",
        metavar="WORD",
        action="append",
        default=[],
        help="TCP variant to plot; may be repeated (default: the variant of the scenario)",
    )
    q.add_argument("--flow", type=_flow, metavar="N", default=0, help="number of the flow (default: 0)")
    q.add_argument("--out", metavar="DIR", help="folder for the figure and its data (default: results/windows)")
    q.set_defaults(do=_windows)

    q = command("check", "check a scenario without running it")
    scenario_arguments(q)
    q.set_defaults(do=_check)

    q = command("motion", "write the movement of the nodes of a scenario as a CSV, ns-2 or BonnMotion file")
    scenario_arguments(q)
    q.add_argument("--seed", type=_seed, metavar="N", help="seed of the random number generator (run.seed)")
    q.add_argument(
        "--format",
        dest="form",
        choices=["csv", "setdest", "bonnmotion"],
        default="csv",
        help="file format: csv (the default, one line per segment), setdest (ns-2) or bonnmotion",
    )
    q.add_argument("--until", metavar="TIME", help='end of the movement, such as "500 s" (default: the end of the run)')
    q.add_argument("--out", metavar="FILE", help="write to this file instead of the terminal")
    q.set_defaults(do=_motion)

    q = command(
        "sweep", "run a study: one scenario with lists of values and several seeds; finished runs are not repeated"
    )
    q.add_argument("file", metavar="STUDY", help="study file (TOML)")
    q.add_argument("--out", metavar="DIR", help="folder of the study (default: results/NAME)")
    q.add_argument("--jobs", type=_jobs, metavar="N", help="parallel runs (default: one per core)")
    q.add_argument("--on", metavar="ray[://ADDRESS]", help="run on a Ray cluster (needs chappe[ray])")
    q.add_argument("--quiet", action="store_true", help="print only errors and warnings")
    q.add_argument("--json", action="store_true", help="print the summary as JSON")
    q.set_defaults(do=_sweep)

    q = command("list", "list TCP variants, routing protocols, queue disciplines, presets and all other parts")
    q.set_defaults(do=_list)

    q = command("schema", "print the JSON Schema of scenarios")
    q.set_defaults(do=_schema)

    q = command("paper", "reproduce a paper, or list the papers and their results if no name is given")
    q.add_argument("paper", nargs="?", metavar="PAPER", help="name of the paper")
    q.add_argument("--figure", type=int, metavar="N", help="reproduce only this figure")
    q.add_argument("--table", type=int, metavar="N", help="reproduce only this table")
    q.add_argument("--claim", metavar="ID", help="judge only this claim, such as P0-F6-1")
    q.add_argument("--extra", metavar="NAME", help="run only this addition to the paper, such as readings (zhou2004)")
    q.add_argument("--quick", action="store_true", help="use short runs, which give rough results in a few minutes")
    q.add_argument("--validate", action="store_true", help="compare all recorded ns-2 runs with runs of Chappe")
    q.add_argument("--out", metavar="DIR", help="folder for figures and pages (default: results/PAPER)")
    q.add_argument("--jobs", type=_jobs, metavar="N", help="parallel runs (default: one per core)")
    q.set_defaults(do=_paper)

    q = command("validate", "compare Chappe with another simulator, or list the comparisons if no name is given")
    q.add_argument("name", nargs="?", metavar="NAME", help="name of the comparison, such as standard")
    q.add_argument("--out", metavar="DIR", help="folder for the page (default: results/NAME)")
    q.add_argument("--jobs", type=_jobs, metavar="N", help="parallel runs (default: one per core)")
    q.set_defaults(do=_validate)
    return p


class _Closed(io.TextIOBase):
    """Stands in for a standard output that was closed before the command began: writing fails, as on a full disk."""

    def __init__(self) -> None:
        super().__init__()
        self._lost = False

    def write(self, _: str) -> int:
        self._lost = True
        self.flush()
        return 0

    def flush(self) -> None:
        """Raises after any lost output, because some writers ignore errors."""
        if self._lost:
            raise OSError(errno.EBADF, "standard output is closed")


def _prepare_streams() -> None:
    """Replaces closed standard streams, so that no other file gets their descriptors."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Terminals without "±" show a question mark.
            stream.reconfigure(errors="replace")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 0, 1 (cannot be done), 2 (bad input) or 130 (interrupted)."""
    _prepare_streams()
    try:
        try:
            return _done(argv)
        finally:
            sys.stdout.flush()
    except OSError as e:
        if not isinstance(e, BrokenPipeError):
            tell(f"error: cannot write the output: {plain(e.strerror or e).lower()}")
        # Python would report the error again at exit.
        if isinstance(sys.stdout, _Closed):
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, stays open
        else:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _done(argv: Sequence[str] | None) -> int:
    """Runs a command, and prints the reason of a failure."""
    args = parser().parse_args(argv)
    try:
        return int(args.do(args))
    except (ScenarioError, LimitError, StudyError) as e:
        colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        tell(str(e) if isinstance(e, StudyError) or not colour else e.colored)
        read = getattr(args, "file", "a scenario of the paper")
        outcome = "the run was ended" if isinstance(e, LimitError) else "nothing was run"
        tell(f"\n{plain(read)}: {count(len(e.problems) + e.more, 'error')}; {outcome}.")
        return BAD_INPUT
    except (CommandError, StorageError) as e:
        tell(f"error: {plain(e)}")
        return e.code
    except (ClusterError, RunError) as e:
        tell(f"error: {plain(e)}")
        return BAD_INPUT if isinstance(e, ClusterError) else 1
    except KeyboardInterrupt:
        tell("\nInterrupted.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
