"""Commands of ``chappe`` and their options. Options have the names of the arguments in Python."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from chappe import RESULTS_EPOCH, __version__
from chappe._common.arguments import problem_of_jobs
from chappe._common.notices import codes
from chappe._common.words import plain, tell
from chappe.cli import (
    advise,
    archives,
    cite,
    comparisons,
    extensions,
    follow,
    live,
    new,
    plots,
    reference,
    saved,
    scenarios,
    studies,
    teach,
)
from chappe.cli.importing import import_
from chappe.cli.inputs import BAD_INPUT
from chappe.scenario.new import QUESTIONS

_END = "--"
"""Word behind which ``chappe live`` has a program."""

SHELLS = ("bash", "zsh", "fish")
"""Shells with completion."""


class Parser(argparse.ArgumentParser):
    """Argument parser that escapes control characters, suggests names, and tolerates a closed standard error."""

    def __init__(self, **options: Any):
        super().__init__(**options, allow_abbrev=False)
        self.set_defaults(parser=self)
        self._wrong: list[str] = []
        self._taken: list[str] = []

    def parsed(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Parses a command line; reports all mistakes, and suggests options for unknown ones."""
        words = list(sys.argv[1:] if arguments is None else arguments)
        end = words.index(_END) if words[:1] == ["live"] and _END in words else len(words)
        found, unknown = self.parse_known_args(words[:end])
        found.program = words[end + 1 :]
        of_command: Parser = found.parser
        of_command._wrong += of_command._unknown(unknown)
        if of_command._wrong:
            of_command._refuse()
        return found

    def _unknown(self, words: Sequence[str]) -> list[str]:
        """Messages about words that no option and no argument takes."""
        options = [w.partition("=")[0] for w in words if w.startswith("-")]
        if words and not options:
            return [f"unrecognized arguments: {' '.join(words)}"]
        known = [o for a in self._actions for o in a.option_strings]
        return [f"there is no option {name}{_suggested(name, known)}" for name in options]

    def _get_values(self, action: argparse.Action, words: list[str]) -> Any:
        """Values of an option or an argument; errors are collected and reported together."""
        if action.nargs == "?" and action.option_strings:
            self._taken += [f"{action.option_strings[0]} took {word}: give FILE before it" for word in words]
        try:
            return super()._get_values(action, words)
        except argparse.ArgumentError as e:
            if isinstance(action, argparse._SubParsersAction):
                raise
            self._wrong.append(str(e))
            return None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, argparse._SubParsersAction):
            names = list(action.choices)
            if missing := extensions.where(value):
                raise argparse.ArgumentError(None, missing)
            known = _suggested(value, names) or f"; known: {', '.join(names)}"
            raise argparse.ArgumentError(None, f"there is no {str(action.metavar).lower()} {value!r}{known}")
        names = [str(c) for c in action.choices]
        known = _suggested(value, names) or f"; known: {', '.join(names)}"
        raise argparse.ArgumentError(action, f"there is no {value!r}{known}")

    def error(self, message: str) -> NoReturn:
        """Prints the usage and all errors, and ends the program."""
        hints = self._taken if message.endswith(": FILE") else []
        self._wrong.append("; ".join([message, *hints]))
        self._refuse()

    def _refuse(self) -> NoReturn:
        errors = "\n".join(f"{self.prog}: error: {plain(message)}" for message in self._wrong)
        tell(f"{self.format_usage()}{errors}")
        raise SystemExit(BAD_INPUT)


def _suggested(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


def _jobs(text: str) -> int:
    value = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else text
    if wrong := problem_of_jobs(value):
        raise argparse.ArgumentTypeError(wrong)
    return int(value)


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to {2**63 - 1}, not {plain(text)}")
    return int(text)


_MOST_SEEDS = 999_999_999


def _seeds(text: str) -> int | list[int]:
    """Number of seeds, or a list of seeds with commas."""
    if "," in text:
        return [_seed(s.strip()) for s in text.split(",") if s.strip()]
    return _number_of_seeds(text, ", or give a list such as 1,2,7")


def _number_of_seeds(text: str, otherwise: str = "") -> int:
    """Number of seeds; `otherwise` is what else could be given."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        most = f"{_MOST_SEEDS:,}"
        raise argparse.ArgumentTypeError(
            f"the number of seeds is a whole number from 1 to {most}{otherwise}; it cannot be {plain(text)}"
        )
    return int(text)


def _flow(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"a flow is a whole number of at least 0, not {plain(text)}")
    return int(text)


def _flow_or_node(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text


def _lines(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a number of lines is a whole number of at least 1, not {plain(text)}")
    return int(text)


def _file(q: argparse.ArgumentParser, help_: str, **options: Any) -> None:
    q.add_argument("file", metavar="FILE", help=help_, **options)


def _set_option(q: argparse.ArgumentParser) -> None:
    q.add_argument(
        "-s",
        "--set",
        dest="sets",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="change a setting, such as tcp.variant=vegas; may be repeated",
    )


def _seed_option(q: argparse.ArgumentParser) -> None:
    q.add_argument("--seed", type=_seed, metavar="N", help="seed of the random number generator (run.seed)")


def out_option(q: argparse.ArgumentParser, help_: str) -> None:
    """Adds ``--out``."""
    q.add_argument("-o", "--out", metavar="DIR", help=help_)


def jobs_option(q: argparse.ArgumentParser) -> None:
    """Adds ``--jobs``."""
    q.add_argument("-j", "--jobs", type=_jobs, metavar="N", help="parallel runs (default: one per core)")


def _measure_option(
    q: argparse.ArgumentParser, default: str = "goodput_bps", repeated: str = "may be repeated"
) -> None:
    q.add_argument(
        "--measure",
        dest="measures",
        metavar="NAME",
        action="append",
        default=[],
        help=f'measure of the summary, a name or "x = max(flows.timeouts)"; {repeated} (default: {default})',
    )


def _window(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a window is a whole number of packets from 1 to 9999, not {plain(text)}")
    return int(text)


def _choice(text: str) -> str:
    """Choice of flows."""
    from chappe.scenario import flow_selection

    try:
        return flow_selection.known(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e)) from None


def _flows_option(q: argparse.ArgumentParser) -> None:
    q.add_argument(
        "--flows",
        type=_choice,
        metavar="CHOICE",
        help="flows that are measured, such as tcp, vegas, src=0, 4, worst or each (default: all together)",
    )


def _share(text: str) -> float:
    """A share, in percent."""
    from chappe.study.file import share

    value = share(text)
    if value is None or not 0 < value < 1:
        raise argparse.ArgumentTypeError(f'a share is between 0 % and 100 %, such as "5 %", not {plain(text)}')
    return value


def _compared_options(q: argparse.ArgumentParser) -> None:
    q.add_argument("folder", metavar="DIR", help="folder of a study")
    q.add_argument(
        "--by",
        metavar="AXIS",
        action="append",
        default=[],
        help="axis whose values are compared, such as tcp.variant (default: the only axis)",
    )
    q.add_argument(
        "--measure", metavar="NAME", default="goodput_bps", help="measure that is compared (default: goodput_bps)"
    )
    _flows_option(q)


def _printed_options(q: argparse.ArgumentParser, table: str = "the table", results: str = "the table") -> None:
    form = q.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help=f"print {table} as CSV")
    form.add_argument("--parquet", metavar="FILE", help=f"write {table} as a Parquet file")
    form.add_argument("--latex", action="store_true", help=f"print {table} as LaTeX, for booktabs and siunitx")
    form.add_argument("--json", action="store_true", help=f"print {results} as JSON")
    _label_option(q, "--latex")


def _label_option(q: argparse.ArgumentParser, where: str) -> None:
    q.add_argument(
        "--label",
        dest="labels",
        metavar="NAME=WORDS",
        type=_label,
        action="append",
        default=[],
        help=f"words for a setting or a value in {where}, such as newreno=NewReno; may be repeated",
    )


def _label(text: str) -> tuple[str, str]:
    name, is_there, words = text.partition("=")
    if not (is_there and name and words):
        raise argparse.ArgumentTypeError(f"a label is NAME=WORDS, such as newreno=NewReno, not {plain(text)}")
    return name, words


_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}


def _width(text: str) -> float:
    """A width [in]."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(in|cm|mm)", text.strip())
    width = float(found[1]) * _INCHES[found[2]] if found else 0.0
    if not 1 <= width <= 40:
        raise argparse.ArgumentTypeError(
            f'a width has a unit (in, cm, mm) and is at most 40 in, such as "3.5 in", not {plain(text)}'
        )
    return width


def _code(text: str) -> str:
    if text not in (known := codes()):
        near = _suggested(text, list(known)) or f"; known: {', '.join(known)}"
        raise argparse.ArgumentTypeError(f"there is no warning {plain(text)}{near}")
    return text


def _report_option(q: argparse.ArgumentParser, what: str) -> None:
    q.add_argument(
        "--report",
        metavar="FILE",
        nargs="?",
        const=True,
        help=f"{what}, an HTML file (default: results/NAME.html)",
    )


def _ignore_option(q: argparse.ArgumentParser) -> None:
    q.add_argument(
        "--ignore",
        dest="ignored",
        type=_code,
        metavar="CODE",
        action="append",
        default=[],
        help="suppress warnings of this kind, such as unused_setting; may be repeated",
    )


def _json_option(q: argparse.ArgumentParser) -> None:
    q.add_argument("--json", action="store_true", help="print the results as JSON")


def _figures_option(q: argparse.ArgumentParser) -> None:
    q.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        action="append",
        default=[],
        help="SVG, PNG or PDF file; may be repeated (default: results/NAME.svg)",
    )


def output_options(q: argparse.ArgumentParser) -> None:
    """Adds ``--quiet`` and ``--json``."""
    q.add_argument("-q", "--quiet", action="store_true", help="print only errors and warnings")
    _json_option(q)


def _run_options(q: argparse.ArgumentParser) -> None:
    """Adds what `run` and `live` have."""
    _file(q, "scenario file (TOML); -: standard input")
    _set_option(q)
    _seed_option(q)
    q.add_argument(
        "--why",
        action="store_true",
        help="explain the results: time budgets, causes of packet loss, the stories of the worst flows",
    )
    _measure_option(q, "all")
    _flows_option(q)
    _report_option(q, "write a report with a player of the run")
    out_option(q, "write all tables and the effective settings to this folder")
    q.add_argument("--pcap", metavar="DIR", help="write a capture of each node for Wireshark to this folder")
    _ignore_option(q)
    output_options(q)


def parser(words: Sequence[str] = ()) -> Parser:
    """Parser of the command line.

    Args:
        words: The command line. Unless its first word needs them, commands of other distributions are left out.
    """
    first = (
        "Begin with `chappe new my.toml` and `chappe run my.toml`; `chappe COMMAND --help` lists a command's options."
    )
    p = Parser(prog="chappe", description="Simulator of TCP over wireless networks.", epilog=first)
    version = f"chappe {__version__} (results epoch {RESULTS_EPOCH})"
    p.add_argument("--version", action="version", version=version)
    p.set_defaults(do=lambda _: _print_help(p))
    commands = p.add_subparsers(metavar="COMMAND")

    def command(name: str, do: Callable[[argparse.Namespace], int], help_: str) -> argparse.ArgumentParser:
        q = commands.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}.")
        q.set_defaults(do=do)
        return q

    q = command("new", new.new, "write a commented scenario from your answers or options")
    _file(q, "new scenario file (TOML); -: standard output", nargs="?", default="scenario.toml")
    for question in QUESTIONS:
        known = f": {', '.join(question.known)}" if question.known else ""
        q.add_argument(
            f"--{question.name}",
            metavar="WORD" if question.known else "VALUE",
            help=f"{question.text[0].lower()}{question.text[1:]}{known} (default: {question.default})",
        )
    q.add_argument("-q", "--quiet", action="store_true", help="print only errors and warnings")

    q = command("import", import_, "write a scenario from maps and dumps of a network")
    q.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="files of one network; NAME=FILE for a dump that does not say that it was made on the node NAME",
    )
    q.add_argument(
        "--format", metavar="NAME", help="format of all files, such as meshviewer or iw-station (default: by content)"
    )
    q.add_argument(
        "-o", "--out", metavar="DIR", help="folder of the scenario and its tables (default: named like FILE)"
    )
    output_options(q)

    q = command("run", scenarios.run, "run a scenario and print its results")
    _run_options(q)
    q.add_argument("--qlog", metavar="DIR", help="write a qlog of each end of each connection of QUIC to this folder")
    q.add_argument("--replay", metavar="FILE", help="repeat what entered a run of `chappe live --record FILE`")

    q = command("live", live.live, "run programs over a scenario, in real time (Linux)")
    q.usage = "chappe live FILE [--node NODE COMMAND]... [OPTIONS] [-- PROGRAM ARGUMENTS]"
    q.epilog = (
        "The program behind `--` runs on node 0, and the run ends with it. Node 3 is called node3. The exit code is "
        "that of this program, or the first one that is not 0; 3 if `live.when_late` stopped the run, 130 after Ctrl-C."
    )
    _run_options(q)
    q.add_argument(
        "--node",
        dest="programs",
        nargs=2,
        metavar=("NODE", "COMMAND"),
        action="append",
        default=[],
        help="command of a shell that runs on a node, which is given by its number or its name; may be repeated",
    )
    q.add_argument(
        "--door",
        choices=["tun", "nfqueue"],
        default="tun",
        help="way of packets into the network: tun, as from a host behind the node (default), or nfqueue, as from the "
        "node itself, with TCP small queues",
    )
    q.add_argument("--record", metavar="FILE", help="record what enters the network, for `chappe run --replay FILE`")
    q.add_argument("--real-time", action="store_true", help="ask for real-time priority, which root has")

    q = command(
        "sweep",
        studies.sweep,
        "run a study: one scenario with lists of values and several seeds; finished runs are not repeated",
    )
    _file(q, "study file or scenario file (TOML), or archive of a study, which is repeated")
    q.add_argument(
        "--axis",
        dest="axes",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="values of a setting, such as tcp.receive_window=2,4,8; may be repeated: all combinations are run",
    )
    q.add_argument("--seeds", type=_seeds, metavar="N", help="number of seeds, or a list such as 1,2,7 (default: 1)")
    q.add_argument(
        "--precision",
        metavar="SHARE",
        help='largest relative error of the measure, such as "5 %%": points get further seeds until it is met',
    )
    q.add_argument("--max-seeds", type=_number_of_seeds, metavar="N", help="largest number of seeds with --precision")
    q.add_argument(
        "--pool",
        metavar="AXIS",
        action="append",
        default=[],
        help="axis over whose values runs are pooled, such as topology.seed; may be repeated",
    )
    _set_option(q)
    _measure_option(q)
    _flows_option(q)
    _report_option(q, "write a report of the study")
    out_option(q, "folder of the study (default: results/NAME)")
    jobs_option(q)
    q.add_argument("--backend", metavar="ray[://ADDRESS]", help="run on a Ray cluster (needs chappe[ray])")
    _ignore_option(q)
    output_options(q)

    q = command("show", saved.show_folder, "print the results in a folder that `run` or `sweep` wrote")
    q.add_argument("folder", metavar="DIR", help="folder of a run or of a study")
    q.add_argument("--why", action="store_true", help="explain the results of a run, as `run --why` does")
    _measure_option(q, "all of a run, those asked for of a study")
    _flows_option(q)
    q.add_argument("-q", "--quiet", action="store_true", help="print only errors and warnings")
    _printed_options(q, "the summary", "the results")

    q = command("plot", plots.plot, "plot a measure of a study, or a run over time")
    q.add_argument(
        "file",
        metavar="PATH",
        help="folder of a run or of a study, or a scenario file (TOML), which is run; -: standard input",
    )
    q.add_argument("-x", metavar="AXIS", help="axis of the x values (default: the one with the most values)")
    _measure_option(q, repeated="may be repeated for a panel each")
    q.add_argument("--by", metavar="AXIS", help="axis with a curve for each value")
    q.add_argument("--across", metavar="AXIS", help="axis with a panel for each value")
    q.add_argument(
        "--where",
        metavar="AXIS=VALUE",
        action="append",
        default=[],
        help="value of another axis, such as tcp.variant=vegas; may be repeated",
    )
    _flows_option(q)
    q.add_argument("--what", metavar="NAME", help="of a run: cwnd, rtt, queue, energy, air (default: goodput)")
    q.add_argument(
        "--only",
        type=_flow_or_node,
        metavar="N",
        action="append",
        default=[],
        help="flow or node of a run, or name of a node; may be repeated",
    )
    q.add_argument("--from", dest="from_", metavar="TIME", help='begin of the figure of a run, such as "28 s"')
    q.add_argument("--until", metavar="TIME", help="end of the figure of a run")
    _set_option(q)
    _seed_option(q)
    q.add_argument(
        "--variant",
        dest="variants",
        metavar="WORD",
        action="append",
        default=[],
        help="TCP variant with which a scenario is run for --what cwnd; may be repeated (default: the scenario's)",
    )
    q.add_argument("--data", metavar="FILE", help="CSV file of the numbers that a study or --what cwnd shows")
    q.add_argument("--compare", metavar="VALUE", help="value of --by with which its other values are compared")
    q.add_argument(
        "--within",
        type=_share,
        metavar="SHARE",
        help='largest relative difference that is the same, with --compare (default: "5 %%")',
    )
    q.add_argument("--width", type=_width, metavar="WIDTH", help='width of the figure of a study, such as "3.5 in"')
    q.add_argument("--title", metavar="TEXT", help='title of the figure of a study; "": none')
    _label_option(q, "the figure of a study")
    _figures_option(q)
    output_options(q)

    q = command("draw", plots.draw, "draw the map of a scenario: nodes, links by their quality, routes of flows")
    _file(q, "scenario file (TOML); -: standard input")
    _set_option(q)
    q.add_argument(
        "--flow",
        dest="only",
        type=_flow,
        metavar="N",
        action="append",
        default=[],
        help="flow whose route is drawn; may be repeated (default: all)",
    )
    _figures_option(q)
    output_options(q)

    q = command("compare", comparisons.compare, "compare the values of a study axis with a baseline")
    _compared_options(q)
    q.add_argument("--baseline", metavar="VALUE", help="value that the others are compared with (default: the first)")
    q.add_argument(
        "--within",
        type=_share,
        metavar="SHARE",
        default=0.05,
        help='largest relative difference of settings that are the same (default: "5 %%")',
    )
    _printed_options(q)

    q = command("rank", comparisons.rank, "rank the settings of a study and show which are indistinguishable")
    _compared_options(q)
    q.add_argument("--direction", choices=["maximize", "minimize"], help="better direction (default: the measure's)")
    _printed_options(q)

    q = command("advise", advise.advise, "try changes of a network and show which of them help")
    _file(q, "scenario file (TOML); -: standard input")
    q.add_argument(
        "--change",
        dest="changes",
        metavar="NAME=VALUE,...",
        action="append",
        default=[],
        help="settings of a change, such as tcp.variant=vegas; may be repeated (default: a list that fits the network)",
    )
    q.add_argument(
        "--within",
        type=_share,
        metavar="SHARE",
        default=0.1,
        help='relative difference that is not worth a change (default: "10 %%")',
    )
    q.add_argument("--limit", metavar="TIME", help='time that the runs may take (default: "600 s")')
    _set_option(q)
    _flows_option(q)
    out_option(q, "folder of the study (default: results/NAME-advice)")
    jobs_option(q)
    output_options(q)

    q = command("check", scenarios.check, "check scenarios without running them")
    q.add_argument("files", metavar="FILE", nargs="+", help="scenario files (TOML) or archives; -: standard input")
    _set_option(q)
    _ignore_option(q)
    output_options(q)

    q = command("teach", teach.teach, "write a lesson, an HTML file with a player; without a name, list the lessons")
    q.add_argument("name", metavar="NAME", nargs="?", help="name of the lesson")
    q.add_argument("-o", "--out", metavar="FILE", help="the HTML file (default: NAME.html)")
    q.add_argument("-q", "--quiet", action="store_true", help="print only errors and warnings")

    q = command("follow", follow.follow, "run a scenario and explain what happened to a flow or a packet")
    _file(q, "scenario file (TOML); -: standard input")
    _set_option(q)
    _seed_option(q)
    one = q.add_mutually_exclusive_group()
    one.add_argument("--flow", type=_choice, metavar="N", help="number or name of the flow (default: 0)")
    one.add_argument("--packet", type=_flow, metavar="N", help="number of the packet")
    q.add_argument("--from", dest="from_", metavar="TIME", help='first line, such as "28 s"')
    q.add_argument("--until", metavar="TIME", help="last line")
    q.add_argument(
        "--only",
        metavar="KIND",
        action="append",
        choices=["sent", "delivered", "loss", "timer", "route", "hop"],
        help="kind of lines: sent, delivered, loss, timer, route, hop; may be repeated",
    )
    q.add_argument("--lines", type=_lines, metavar="N", default=40, help="largest number of lines (default: 40)")
    _json_option(q)

    q = command("export", scenarios.export_mobility, "write movements or a path in the format of another program")
    exports = q.add_subparsers(metavar="PART", required=True)
    q = exports.add_parser("mobility", help="movements of the nodes", description="Write the movements of the nodes.")
    _file(q, "scenario file (TOML); -: standard input")
    _set_option(q)
    _seed_option(q)
    q.add_argument(
        "--format",
        choices=["csv", "setdest", "bonnmotion"],
        default="csv",
        help="file format: csv (the default, one line per segment), setdest (ns-2) or bonnmotion",
    )
    q.add_argument("--until", metavar="TIME", help='end of the movement, such as "500 s" (default: the end of the run)')
    q.add_argument("--path", metavar="FILE", help="write to this file instead of the terminal")
    q = exports.add_parser(
        "mahimahi",
        help="delivery opportunities of a path",
        description="Write the times at which the path of a flow delivers packets, as traces for mm-link of Mahimahi.",
    )
    q.set_defaults(do=scenarios.export_mahimahi)
    _file(q, "scenario file (TOML); -: standard input")
    _set_option(q)
    _seed_option(q)
    q.add_argument("--flow", type=_flow, metavar="N", default=0, help="number of the flow (default: 0)")
    q.add_argument("--until", metavar="TIME", help='end of the trace, such as "60 s" (default: the end of the run)')
    q.add_argument("--window", type=_window, metavar="N", default=16, help="number of packets under way (default: 16)")
    q.add_argument("--up", metavar="FILE", help="trace from the source; without a file it is printed")
    q.add_argument("--down", metavar="FILE", help="trace from the destination back to the source")

    q = command(
        "explain", reference.explain, "explain a setting, a word, a table, a column or a measure; list the models"
    )
    asked = q.add_mutually_exclusive_group()
    asked.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="such as tcp.receive_window, vegas, tcp.variant=vegas, flows or goodput_bps",
    )
    asked.add_argument(
        "--list",
        dest="word",
        metavar="WORD",
        nargs="?",
        const="",
        help="list all models: TCP variants, routing protocols, queue disciplines, presets and other parts; "
        "with a word those that have it in name or setting",
    )
    asked.add_argument("--schema", action="store_true", help="print the JSON Schema of scenarios")
    q.add_argument("--all", action="store_true", help="also list the expert settings of a group")
    _json_option(q)

    q = command(
        "archive", archives.archive, "pack a folder of results, with all that is needed to run it again (RO-Crate)"
    )
    q.add_argument("folder", metavar="DIR", help="folder of a run or of a study")
    q.add_argument("-o", "--out", metavar="FILE", help="the ZIP file (default: NAME.zip)")
    q.add_argument("-q", "--quiet", action="store_true", help="print only errors and warnings")

    q = command("cite", cite.cite, "print BibTeX of Chappe and of the papers, standards and RFCs of the models in use")
    q.add_argument(
        "file",
        metavar="PATH",
        nargs="?",
        help="scenario or study file, or folder of a run or a study; -: standard input (default: Chappe alone)",
    )
    _json_option(q)

    # The metadata of all installed distributions are read only where they are needed.
    if not words or words[0] not in commands.choices:
        for name, further in extensions.installed():
            further.add_arguments(command(name, further.run, further.help))

    q = command("completion", reference.completion, "print a script with which a shell completes commands and names")
    q.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    q.set_defaults(parser_of_all=p)
    return p


def _print_help(p: Parser) -> int:
    p.print_help()
    return 0
