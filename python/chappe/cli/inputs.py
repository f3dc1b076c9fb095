"""Files and folders that commands are given.

Commands of other distributions use this module, too: it has :func:`write_file` and :func:`reason` for them.
"""

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import _core
from chappe._common import outputs
from chappe._common.arguments import NO_FOLDER, instant
from chappe._common.files import make_folder, take_away
from chappe._common.files import write_file as write_file
from chappe.errors import ScenarioError, StudyError
from chappe.errors import reason as reason
from chappe.printing import problems as show
from chappe.scenario.endpoints import with_endpoints
from chappe.scenario.scenario import Scenario, pairs_of, read_text, schema, text_of

if TYPE_CHECKING:
    import polars as pl

BAD_INPUT = 2
"""Exit code for an invalid scenario or command line."""

KEPT = "Finished runs are kept in {}; the same command continues from there."

STDIN = "-"
"""Name of standard input as a file."""


class CommandError(Exception):
    """A request that cannot be carried out, with the reason as message."""

    def __init__(self, message: str, code: int = BAD_INPUT):
        super().__init__(message)
        self.code = code


class CommandLineError(Exception):
    """Several mistakes of a command line."""

    def __init__(self, found: Sequence[Exception]):
        super().__init__(found)
        self.found: list[Exception] = []
        for e in found:
            self.found += e.found if isinstance(e, CommandLineError) else [e]


def collect_errors(*checks: Callable[[], Any]) -> list[Any]:
    """Values of checks of a command line.

    Raises:
        CommandError, ScenarioError, StudyError: The only mistake that was found.
        CommandLineError: All mistakes, if several checks found one.
    """
    values: list[Any] = []
    found: list[Exception] = []
    for check in checks:
        try:
            values.append(check())
        except (CommandError, ScenarioError, StudyError, CommandLineError) as e:
            found.append(e)
    if found:
        raise found[0] if len(found) == 1 else CommandLineError(found)
    return values


def unreadable(file: str, e: OSError) -> CommandError:
    """Error about a file that cannot be read, with the reason of the operating system."""
    return CommandError(f"cannot read {file}: {reason(e)}")


def kind_of(file: str, text: str) -> str:
    """Kind of a file by the names in its text: ``"scenario"``, ``"study"`` or empty."""
    from chappe.study import file as study_file

    names = _names_in(file, text)
    studies, scenarios = set(study_file.GROUPS[""]), set(schema()["properties"])
    of_study, of_scenario = names & studies - scenarios, names & scenarios - studies
    if of_study and not of_scenario:
        return "study"
    return "scenario" if of_scenario and not of_study else ""


def _names_in(file: str, text: str) -> set[str]:
    """Names at the top of a file; none if it is not TOML."""
    try:
        return set(json.loads(_core.toml_json(file, text)))
    except ValueError:
        return set()


def text_in(file: str) -> str:
    """Text of a file, or of standard input.

    Raises:
        CommandError: If the file cannot be read, or is not text.
    """
    if not file:
        raise CommandError("the name of FILE is empty")
    try:
        if file == STDIN:
            if sys.stdin is None:
                raise CommandError("cannot read -: standard input is closed")
            return text_of(sys.stdin.buffer, "standard input")
        return read_text(Path(file))
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not UTF-8 text") from None
    except UnicodeEncodeError:
        raise CommandError("names of files and settings must be UTF-8") from None
    except OSError as e:
        raise unreadable(file, e) from None
    except ValueError as e:
        raise CommandError(str(e)) from None


def scenario_in(file: str, sets: Iterable[str]) -> Scenario:
    """Scenario of a file, or of standard input.

    Args:
        file: Name of the file.
        sets: Changes of settings in the form of ``--set``.

    Raises:
        ScenarioError: If the scenario cannot be run.
        CommandError: If the file cannot be read, or is a study.
    """
    text = text_in(file)
    try:
        return Scenario._from_text(file, text, pairs_of(sets))
    except ScenarioError:
        # Studies take longer to load than a wrong scenario to be read: most have names of scenarios only.
        if not _names_in(file, text) <= set(schema()["properties"]) and kind_of(file, text) == "study":
            raise CommandError(f"{file} is a study: use `chappe sweep {file}`") from None
        raise
    except UnicodeEncodeError:
        raise CommandError("names of files and settings must be UTF-8") from None
    except ValueError as e:
        raise CommandError(str(e)) from None


def load(args: argparse.Namespace, *, warns: bool = True) -> Scenario:
    """Scenario of a command line; with ``warns`` prints its warnings, except for ignored ones."""
    seed = getattr(args, "seed", None)
    scenario = scenario_in(args.file, [*args.sets, *([] if seed is None else [f"run.seed={seed}"])])
    if warns:
        show.warnings(scenario, getattr(args, "ignored", ()))
    return scenario


def with_programs(args: argparse.Namespace, scenario: Scenario, nodes: Sequence[int]) -> Scenario:
    """A scenario with external flows between the nodes; prints its warnings, except for ignored ones."""
    changed = with_endpoints(scenario, nodes)
    # The programs, or their record, are the driver.
    show.warnings(changed, [*args.ignored, "no_driver"])
    return changed


def print_json(results: Any) -> None:
    """Prints results as JSON."""
    print(json.dumps(results, indent=2, allow_nan=False))


def named(name: str, option: str = "--out") -> Path:
    """Path of a folder to write to, from an option."""
    if not name:
        raise CommandError(f"{option} {NO_FOLDER}")
    return Path(name)


def output(name: str, option: str, kind: outputs.Kind, inputs: Iterable[Path] = ()) -> Path:
    """Path of a file to write to, from an option; refused before the work of which it would be the result.

    Args:
        name: Name of the file.
        option: The option that gives it.
        kind: What will be written.
        inputs: Files that the command reads.
    """
    path = named(name, option)
    try:
        outputs.refuse(path, kind, inputs)
    except (outputs.EndingError, FileExistsError, IsADirectoryError) as e:
        raise CommandError(f"{option}: {e}") from None
    except OSError as e:
        raise unwritable(path, e, BAD_INPUT) from None
    return path


def report_path(args: argparse.Namespace, *, is_after_folders: bool = False) -> Path | None:
    """Path of the report; by default one in ``results`` with the name of the input. ``None`` without a report.

    Args:
        args: The command line.
        is_after_folders: True if the command makes folders before, of which one may be that of the report.
    """
    if args.report is None:
        return None
    if args.report is True:
        path = Path("results", f"{stem_of(args.file)}.html")
    elif not (path := named(args.report, "--report")).parent.is_dir() and not is_after_folders:
        raise CommandError(f"cannot write to {path}: there is no folder {path.parent}")
    return output(str(path), "--report", outputs.PAGE, [Path(args.file)])


def stem_of(file: str, of_input: str = "run") -> str:
    """Name of a scenario in the names of files made from it; standard input has none."""
    return of_input if file == STDIN else Path(file).stem


def time_of(option: str, text: str | None) -> float | None:
    """Instant of an option [s]; ``None`` without the option."""
    try:
        return None if text is None else instant(text) / 1e9
    except ValueError as e:
        raise CommandError(f"{option}: {e}") from None


def wants_rows(args: argparse.Namespace) -> bool:
    """True if a table is wanted for other programs: as CSV, Parquet or LaTeX."""
    if args.labels and not args.latex:
        raise CommandError("--label is for --latex")
    return args.csv or args.parquet is not None or args.latex


def print_rows(
    rows: "pl.DataFrame", args: argparse.Namespace, measure: str | None = None, labels: Mapping[str, str] | None = None
) -> None:
    """Prints a table as CSV or LaTeX, or writes it into a Parquet file.

    Args:
        rows: The table.
        args: Options of the command.
        measure: Measure of a table that does not name it.
        labels: Words for settings and values, unless the options give others.
    """
    if args.latex:
        from chappe.text import latex
        from chappe.text.labels import Labels

        try:
            print(latex(rows, measure, labels=Labels(dict(args.labels), labels)), end="")
        except ValueError as e:
            raise CommandError(f"--label: {e}") from None
        return
    if args.parquet is None:
        print(rows.write_csv(), end="")
        return
    path = output(args.parquet, "--parquet", outputs.TABLE)
    data = io.BytesIO()
    rows.write_parquet(data, metadata={"chappe.version": _core.VERSION, outputs.TABLE_MARK: "true"})
    try:
        outputs.write(path, data.getvalue(), outputs.TABLE)
    except OSError as e:
        raise unwritable(path, e) from None


@contextlib.contextmanager
def reduced_output(args: argparse.Namespace) -> Iterator[None]:
    """Drops what a command prints, where the results are printed as JSON or not at all."""
    from chappe._common.progress import hidden

    with contextlib.ExitStack() as stack:
        stack.enter_context(hidden(args.quiet))
        if args.json or args.quiet:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        yield


@contextlib.contextmanager
def folder(name: str, option: str = "--out") -> Iterator[Path]:
    """Creates the folder for results before a run, so that no run is lost; removes the folder if it stays empty."""
    path = named(name, option)
    made: list[Path] = []
    try:
        try:
            made = make_folder(path)
            if not os.access(path, os.W_OK):
                raise PermissionError(13, "permission denied")
        except FileExistsError:
            raise CommandError(f"cannot write to {name}: file exists; {option} names a folder", BAD_INPUT) from None
        except OSError as e:
            raise unwritable(name, e, BAD_INPUT) from None
        yield path
    finally:
        take_away(made)


def unwritable(name: object, e: OSError, code: int = 1) -> CommandError:
    """Error with the message of the operating system, or with the message of Chappe, which names the folder."""
    return CommandError(f"cannot write to {name}: {reason(e)}" if e.strerror else str(e), code)
