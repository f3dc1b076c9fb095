"""The command ``chappe teach``."""

import argparse
import difflib

from chappe import text as show
from chappe._common import outputs
from chappe._common.words import plain
from chappe.cli.inputs import CommandError, output, unwritable


def teach(args: argparse.Namespace) -> int:
    """``chappe teach``."""
    from chappe import page
    from chappe.page import lessons

    if args.name is None:
        for name in lessons.ORDER:
            known = lessons.lesson(name)
            show.say(f"{name}: {known.title}; {known.about}.")
        return 0
    if args.name not in lessons.ORDER:
        near = difflib.get_close_matches(args.name, lessons.ORDER, 1)
        help_ = f"did you mean {near[0]}?" if near else f"known: {', '.join(lessons.ORDER)}"
        raise CommandError(f"there is no lesson {plain(args.name)}: {help_}")
    if page.module() is None:
        raise CommandError(f"a lesson needs the simulator in its page: {page.WITHOUT}")
    path = output(f"{args.name}.html" if args.out is None else args.out, "--out", outputs.PAGE)
    text = lessons.page_of(args.name)
    try:
        outputs.write(path, text.encode(), outputs.PAGE)
    except OSError as e:
        raise unwritable(path, e) from None
    if not args.quiet:
        show.say(f"Written to {plain(path)}. It opens offline in a browser.")
    return 0
