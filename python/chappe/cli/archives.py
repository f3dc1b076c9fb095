"""The command ``chappe archive``; archives as files of ``check``, ``run`` and ``sweep``."""

import argparse
from pathlib import Path

from chappe import __version__
from chappe._common import outputs
from chappe._common.words import count, plain, tell
from chappe.cli.inputs import CommandError, named, output, print_json, unwritable
from chappe.text import say

_CHANGES = ("sets", "seed", "axes", "seeds", "precision", "max_seeds", "pool", "measures", "flows", "report", "out")
_CHANGES_OF_RUN = ("why", "pcap", "qlog", "replay", "backend")

_BEGIN = b"PK\x03\x04"
"""First bytes of a ZIP file, also of one that was cut off."""


def is_archive(file: str) -> bool:
    """True for a ZIP file; a pipe, which can be read once, is none."""
    path = Path(file)
    try:
        if not path.is_file():
            return False
        with path.open("rb") as begun:
            return begun.read(len(_BEGIN)) == _BEGIN
    except (OSError, ValueError):
        return False


def archive(args: argparse.Namespace) -> int:
    """``chappe archive``."""
    from chappe.archiving.pack import packed
    from chappe.printing.studies import told_at_once

    folder = named(args.folder)
    name = args.out if args.out is not None else f"{folder.resolve().name}.zip"
    path = output(name, "--out", outputs.ARCHIVE)
    try:
        with told_at_once():
            data = packed(folder, path.name)
    except ImportError:
        raise CommandError('archives need the library rocrate: pip install "chappe[archive]"') from None
    try:
        outputs.write(path, data, outputs.ARCHIVE)
    except OSError as e:
        raise unwritable(path, e) from None
    if not args.quiet:
        say(f"Written to {plain(path)}: `chappe check {plain(path)}` verifies it.")
    return 0


def repeat(args: argparse.Namespace, command: str) -> int:
    """Repeats an archive; 0 if its results are the same byte for byte, else 1."""
    from chappe.archiving.check import Archive
    from chappe.archiving.repeat import differences
    from chappe.printing.studies import told_at_once

    given = [n for n in (*_CHANGES, *_CHANGES_OF_RUN) if getattr(args, n, None) not in (None, [], False)]
    if given:
        options = ", ".join(f"--{'set' if n == 'sets' else n.replace('_', '-')}" for n in given)
        raise CommandError(f"an archive is repeated as it is, without {options}: unpack it for other runs")
    found = Archive(Path(args.file))
    if found.problems:
        raise CommandError(f"{args.file} is not repeated: {'; '.join(found.problems)}")
    if found.about["command"] != command:
        raise CommandError(f"{args.file} has results of `chappe {found.about['command']}`: use that command")
    if found.about["version"] != __version__:
        tell(f"warning: the archive is of version {found.about['version']}, this is {__version__}: bytes may differ")
    with told_at_once():
        compared, differ = differences(found, getattr(args, "jobs", None), not args.quiet and not args.json)
    if args.json:
        print_json({"archive": args.file, "files": compared, "different": differ})
    elif not args.quiet:
        same = "the results are the same byte for byte" if not differ else f"other bytes: {', '.join(differ)}"
        say(f"{args.file}: repeated; {count(compared, 'file')} compared: {same}.")
    return 1 if differ else 0
