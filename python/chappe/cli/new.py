"""The command ``chappe new``."""

import argparse
import difflib
import sys
from functools import partial

from chappe import text as show
from chappe._common.files import write_file
from chappe._common.words import plain
from chappe.cli.inputs import STDIN, CommandError, collect_errors, named, unwritable
from chappe.scenario.new import QUESTIONS, Question, text_of
from chappe.scenario.scenario import Scenario


def new(args: argparse.Namespace) -> int:
    """``chappe new``."""
    path = None if args.file == STDIN else named(args.file, "FILE")
    if path is not None and path.exists():
        raise CommandError(f"{plain(path)} exists: name a new file")
    given = {q.name: getattr(args, q.name) for q in QUESTIONS}
    # Questions are asked where somebody can answer, and only if nothing is answered yet.
    asks = not any(given.values()) and sys.stdin.isatty() and sys.stderr.isatty()
    answer = _asked if asks else (lambda q: _checked(q, given[q.name] or q.default))
    answers = dict(zip(given, collect_errors(*(partial(answer, q) for q in QUESTIONS)), strict=True))
    text = text_of(answers)
    # A refusal shows the line of the text.
    Scenario._from_text(plain(args.file), text, [])
    if path is None:
        print(text, end="")
        return 0
    try:
        write_file(path, text.encode())
    except OSError as e:
        raise unwritable(path, e) from None
    if not args.quiet:
        show.say(f"Written to {plain(path)}. `chappe run {plain(path)}` runs it.")
    return 0


def _asked(question: Question) -> str:
    """Answer of a person, asked again until it is one."""
    known = f" ({', '.join(question.known)})" if question.known else ""
    while True:
        sys.stderr.write(f"{question.text}{known}? [{question.default}] ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer:
            raise CommandError("the questions were not answered; nothing was written")
        try:
            return _checked(question, answer.strip() or question.default)
        except CommandError as e:
            sys.stderr.write(f"{plain(e)}\n")


def _checked(question: Question, answer: str) -> str:
    if question.known and answer not in question.known:
        near = difflib.get_close_matches(answer, question.known, 1)
        help_ = f"did you mean {near[0]}?" if near else f"known: {', '.join(question.known)}"
        raise CommandError(f"--{question.name} cannot be {plain(answer)}: {help_}")
    least = {"nodes": 2, "flows": 1}.get(question.name)
    if least is not None and not (answer.isdecimal() and least <= int(answer) <= 10_000):
        raise CommandError(f"--{question.name} is a whole number from {least} to 10,000, not {plain(answer)}")
    if any(c in answer for c in '"\\\n'):
        raise CommandError(f"--{question.name} cannot be {plain(answer)}")
    return answer
