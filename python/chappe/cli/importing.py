"""The command ``chappe import``."""

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from chappe import text as show
from chappe._common.files import write_file
from chappe._common.words import plain
from chappe.cli.inputs import CommandError, CommandLineError, named, print_json, unwritable
from chappe.errors import ScenarioError
from chappe.scenario.scenario import Scenario

if TYPE_CHECKING:
    from chappe.importing import Named


def import_(args: argparse.Namespace) -> int:
    """``chappe import``."""
    from chappe.importing import read
    from chappe.importing.source import MisreadError

    files = [_named(text) for text in args.files]
    folder = named(args.out, "--out") if args.out else Path(Path(files[0].file).stem)
    try:
        found = read(files, args.format)
    except MisreadError as e:
        # A line for each file.
        *others, last = str(e).split("\n")
        raise CommandLineError([*map(CommandError, others), CommandError(f"{last}; nothing was written")]) from None
    if there := [name for name in found.files if (folder / name).exists()]:
        raise CommandError(f"{plain(folder / there[0])} exists: name a new folder by --out; nothing was written")
    with tempfile.TemporaryDirectory() as trial:
        for name, text in found.files.items():
            Path(trial, name).write_text(text, encoding="utf-8")
        try:
            Scenario.load(Path(trial, "scenario.toml"))
        except ScenarioError as e:
            why = "; ".join(p.message for p in e.problems)
            raise CommandError(f"the network cannot be simulated: {why}; nothing was written") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The scenario comes last: it names the others.
        for name in sorted(found.files, key=lambda name: name == "scenario.toml"):
            write_file(folder / name, found.files[name].encode())
    except OSError as e:
        raise unwritable(folder, e) from None
    if args.json:
        written = [str(folder / name) for name in found.files]
        print_json({"files": written, "left_out": found.left_out, "doubtful": found.doubtful})
    elif not args.quiet:
        show.say(f"{'; '.join(found.told)}.")
        for text in found.doubtful:
            show.say(f"Doubtful: {text}{'' if text.endswith('?') else '.'}", style="yellow")
        for text in found.left_out:
            show.say(f"Left out: {text}.")
        file = plain(folder / "scenario.toml")
        show.say(f"Written to {file}, whose comments say what was taken and assumed. `chappe run {file}` runs it.")
    return 0


def _named(text: str) -> "Named":
    """A file, or the name of a node and the file that was made on it."""
    from chappe.importing import Named

    owner, is_given, file = text.partition("=")
    if is_given and not Path(text).exists():
        return Named(file, owner)
    return Named(text)
