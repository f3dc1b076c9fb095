"""The command ``chappe fix``."""

import argparse
from functools import partial
from pathlib import Path

from chappe import _core
from chappe import _show as show
from chappe._files import write_file
from chappe._words import count
from chappe.cli.given import STDIN, print_json, text_in, together, unwritable


def fix(args: argparse.Namespace) -> int:
    """``chappe fix``."""
    # All files are read before any is written: a mistake in one of them changes nothing.
    fixed = dict(zip(args.files, together(*(partial(_fixed, file) for file in args.files)), strict=True))
    for file, (text, changes, _) in fixed.items():
        if file == STDIN:
            print(text, end="")
        elif changes:
            try:
                write_file(Path(file).resolve(), text.encode("utf-8"))
            except OSError as e:
                raise unwritable(file, e) from None
    if args.json:
        print_json([{"file": file, "changes": changes, "left": left} for file, (_, changes, left) in fixed.items()])
    elif not args.quiet:
        for file, (_, changes, left) in fixed.items():
            if file != STDIN:
                said = [f"{count(len(changes), 'name')} changed: {', '.join(changes)}"] if changes else []
                show.say(f"{file}: {'; '.join([*said, *left]) or 'no former names'}.")
    return 0


def _fixed(file: str) -> tuple[str, list[str], list[str]]:
    """Text, changes and remaining former names of a file."""
    return _core.fix_toml(file, text_in(file))
