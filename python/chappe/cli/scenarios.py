"""Commands that take a scenario: ``run``, ``check`` and ``export``."""

import argparse
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import _core
from chappe import text as show
from chappe._common import outputs
from chappe._common.words import count, plain, tell
from chappe.cli import saved
from chappe.cli.archives import is_archive, repeat
from chappe.cli.inputs import (
    BAD_INPUT,
    CommandError,
    collect_errors,
    folder,
    load,
    named,
    output,
    print_json,
    report_path,
    scenario_in,
    text_in,
    time_of,
    unwritable,
    with_programs,
)
from chappe.errors import Problem, ScenarioError
from chappe.printing import problems as texts
from chappe.scenario.scenario import Scenario

if TYPE_CHECKING:
    from chappe.results.results import Results


def run(args: argparse.Namespace) -> int:
    """``chappe run``."""
    if is_archive(args.file):
        return repeat(args, "run")
    scenario, tables, replay, report_file = collect_errors(
        lambda: load(args, warns=args.replay is None),
        lambda: tables_for(args.measures),
        lambda: _record(args),
        lambda: report_path(args),
    )
    if replay is not None:
        scenario = with_programs(args, scenario, _core.record_nodes(replay.read_text("utf-8")))

    def results(scenario: Scenario, out: Path | None, pcap: Path | None) -> "Results":
        from chappe._common.progress import bar
        from chappe.results.results import run

        logs = contextlib.nullcontext() if args.qlog is None else folder(args.qlog, "--qlog")
        with logs as qlog, bar(Path(args.file).name) as update:
            return run(scenario, progress=update, out=out, pcap=pcap, qlog=qlog, replay=replay)

    logs = "" if args.qlog is None else f"qlogs written to {args.qlog}: a file for each end of a connection."
    perform(args, scenario, tables, report_file, results, lambda: ({}, logs))
    return 0


def _record(args: argparse.Namespace) -> Path | None:
    """File of a record that is repeated."""
    if args.replay is None:
        return None
    path = named(args.replay, "--replay")
    try:
        _core.record_nodes(text_in(str(path)))
    except ValueError as e:
        raise CommandError(f"--replay {path}: {e}") from None
    return path


def perform(
    args: argparse.Namespace,
    scenario: Scenario,
    tables: Sequence[str],
    report_file: Path | None,
    run: Callable[[Scenario, Path | None, Path | None], "Results"],
    about: Callable[[], tuple[dict[str, Any], str]] = lambda: ({}, ""),
) -> None:
    """Runs a scenario, and writes and prints what the options ask for.

    Args:
        args: Options of ``chappe run``.
        scenario: The scenario.
        tables: Recorded tables that the measures need.
        report_file: File of the report.
        run: Function that runs a scenario, with folders for the results and for captures.
        about: Function that returns what else is known of the run, as plain data and as text.
    """
    from chappe._common.progress import hidden

    asked = scenario.settings["run"]["record"]
    if args.flows is not None:
        from chappe.scenario import flow_selection

        try:
            flow_selection.check_labels(args.flows, flow_selection.labels_of([scenario]))
        except ValueError as e:
            raise CommandError(f"--flows: {e}") from None
    if args.why:
        scenario = scenario.with_settings({"run.airtime": True})
    if args.measures:
        scenario = scenario.with_settings({"run.record": list(dict.fromkeys([*asked, *tables]))})
    if args.out is not None and args.pcap is not None:
        _refuse_shared(named(args.pcap, "--pcap"), named(args.out))
    place = contextlib.nullcontext() if args.out is None else folder(args.out)
    captures = contextlib.nullcontext() if args.pcap is None else folder(args.pcap, "--pcap")
    with place as out, captures as pcap, hidden(args.quiet):
        results = _results(scenario, run, out, pcap)
    saved.refuse_not_measured(results, args.flows, args.measures or None)
    if report_file is not None:
        _report(results, report_file, Path(args.file).name)
    of_flows = saved.stories_of(results, args) if args.why else None
    facts, text = about()
    if args.json:
        budgets = {} if of_flows is None else {"why": saved.explained(results.why(), of_flows)}
        everything = results.to_dict(measures=args.measures or None, flows=args.flows)
        shown = [warning for warning in everything["warnings"] if warning["code"] not in args.ignored]
        written = {} if report_file is None else {"report": _about(report_file)}
        print_json({**everything, "warnings": shown, **budgets, **written, **facts})
    elif not args.quiet:
        from chappe.printing import results as show_results

        show_results.results(results, args.file, args.flows, args.measures or None)
        if of_flows is not None:
            show_results.why(results.why())
            from chappe.printing import stories as show_follow

            show_follow.overview(of_flows)
        if out is None and results.recorded and asked:
            rows = ", ".join(f"{name} ({count(len(table), 'row')})" for name, table in results.recorded.items())
            show.say("")
            show.say(f"Recorded, but not written: {rows}. Use `--out DIR` to write them.")
        if out is not None:
            show.say("")
            show.say(f"Written to {out}: scenario.toml, run.json and a Parquet file for each table.")
        if pcap is not None:
            show.say("")
            show.say(f"Captures written to {pcap}: a pcapng file for each node.")
        if report_file is not None:
            size = _core.in_bytes(report_file.stat().st_size)
            show.say("")
            show.say(f"Report written to {plain(report_file)} ({size}). It opens offline in a browser.")
        if text:
            show.say("")
            for line in text.split("\n"):
                show.say(line)


def tables_for(measures: list[str]) -> list[str]:
    """Recorded tables that the measures need."""
    if not measures:
        return []
    from chappe.expressions.of_run import parse_measures, recorded_for

    try:
        _, own = parse_measures(measures)
    except ValueError as e:
        raise CommandError(f"--measure: {e}") from None
    return list(recorded_for(own.values()))


def _report(results: "Results", path: Path, title: str) -> None:
    """Writes the report of a run."""
    from chappe import page

    try:
        path.parent.mkdir(exist_ok=True)
        results.report(path, title=title)
    except OSError as e:
        raise unwritable(path, e) from None
    if page.module() is None:
        tell(f"warning: {plain(path)} has no player: {page.WITHOUT}")


def _about(path: Path) -> dict[str, Any]:
    """A report as plain data."""
    from chappe import page

    return {"path": str(path), "bytes": path.stat().st_size, "player": page.module() is not None}


def _refuse_shared(pcap: Path, out: Path) -> None:
    """Refuses captures and results in one folder, before a folder is created."""
    from chappe.results.storage.captures import refuse_shared

    try:
        refuse_shared(pcap, out)
    except OSError as e:
        raise unwritable(pcap, e, BAD_INPUT) from None


def _results(
    scenario: Scenario,
    run: Callable[[Scenario, Path | None, Path | None], "Results"],
    out: Path | None,
    pcap: Path | None,
) -> "Results":
    """Runs a scenario, and writes the results and the captures into their folders."""
    from chappe.results.storage import captures
    from chappe.results.storage.folder import refuse_others

    if out is not None:
        try:
            refuse_others(out)
        except OSError as e:
            raise unwritable(out, e, BAD_INPUT) from None
        except ValueError as e:
            raise CommandError(str(e)) from None
    if pcap is not None:
        try:
            captures.refuse_others(pcap)
        except OSError as e:
            raise unwritable(pcap, e, BAD_INPUT) from None
    try:
        return run(scenario, out, pcap)
    except captures.CaptureError as e:
        raise unwritable(pcap, e) from None
    except OSError as e:
        # Folders are refused before the run.
        raise unwritable(out or pcap, e, 1 if e.strerror else BAD_INPUT) from None


def check(args: argparse.Namespace) -> int:
    """``chappe check``."""
    problems: list[Problem] = []
    warnings: list[dict[str, str]] = []
    surveys: list[dict[str, Any]] = []
    for file in args.files:
        if is_archive(file):
            from chappe.archiving.check import Archive

            found = Archive(Path(file)).problems
            problems += [Problem("", message, None, file, None, None) for message in found]
            for message in () if args.json else found:
                tell(f"error: {plain(file)}: {plain(message)}")
            if not found and not args.json and not args.quiet:
                show.say(f"{file}: no errors: every file has its checksum.")
            continue
        try:
            scenario = scenario_in(file, args.sets)
            scenario._rules()
        except ScenarioError as e:
            problems += e.problems
            if not args.json:
                texts.refusal(e, file)
        except CommandError as e:
            problems.append(Problem("", str(e), None, file, None, None))
            if not args.json:
                tell(f"error: {plain(e)}")
        else:
            warnings += [{"file": file, **w._asdict()} for w in scenario.warnings if w.code not in args.ignored]
            if not args.json:
                texts.warnings(scenario, args.ignored)
                if not args.quiet:
                    show.say(f"{file}: no errors. {texts.sketch(scenario)}")
                    texts.survey(scenario)
            if args.json and scenario.settings["radio"]["propagation"] == "links":
                surveys += [{"file": file, **row} for row in scenario.survey.to_dicts()]
    if args.json:
        print_json({"problems": [p._asdict() for p in problems], "warnings": warnings, "survey": surveys})
    return BAD_INPUT if problems else 0


def export_mobility(args: argparse.Namespace) -> int:
    """``chappe export mobility``."""
    scenario, _ = collect_errors(lambda: load(args), lambda: time_of("--until", args.until))
    path = None if args.path is None else output(args.path, "--path", outputs.MOVEMENT, scenario._files)
    try:
        text = scenario._mobility(args.format, args.until, None)
    except ValueError as e:
        raise CommandError(str(e)) from None
    if path is None:
        print(text, end="")
        return 0
    try:
        outputs.write(path, text.encode("utf-8"), outputs.MOVEMENT, scenario._files)
    except OSError as e:
        raise unwritable(path, e) from None
    return 0


def export_mahimahi(args: argparse.Namespace) -> int:
    """``chappe export mahimahi``."""
    scenario, until_s = collect_errors(lambda: load(args), lambda: time_of("--until", args.until))
    from chappe.results.mahimahi import trace

    options = {"--up": args.up, "--down": args.down}
    paths = {name: output(file, name, outputs.TRACE, scenario._files) for name, file in options.items() if file}
    if len(paths) == 2 and len(set(paths.values())) == 1:
        raise CommandError("--up and --down name the same file")
    until_ns = None if until_s is None else round(until_s * 1e9)
    try:
        texts_by_option = {
            name: trace(scenario, args.flow, reverse=name == "--down", until_ns=until_ns, window=args.window)
            for name in paths or ["--up"]
        }
    except ScenarioError:
        raise
    except ValueError as e:
        raise CommandError(str(e)) from None
    if not paths:
        print(texts_by_option["--up"], end="")
    for name, path in paths.items():
        try:
            outputs.write(path, texts_by_option[name].encode("utf-8"), outputs.TRACE, scenario._files)
        except OSError as e:
            raise unwritable(path, e) from None
    return 0
