"""The command ``chappe advise``."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from chappe._common.words import plain, tell
from chappe.cli.inputs import KEPT, CommandError, collect_errors, load, named, print_json, time_of
from chappe.cli.studies import split, value_of
from chappe.errors import ScenarioError


def advise(args: argparse.Namespace) -> int:
    """``chappe advise``."""
    from chappe.printing import advice as show_advise
    from chappe.printing.studies import told_at_once
    from chappe.study.advise import advise

    *changes, scenario = collect_errors(*(partial(_change, text) for text in args.changes), lambda: load(args))
    out = Path("results", f"{Path(args.file).stem}-advice") if args.out is None else named(args.out)
    how = {"flows": args.flows, "within": args.within, "out": out, "jobs": args.jobs, "progress": not args.quiet}
    limit_s = time_of("--limit", args.limit)
    how |= {} if limit_s is None else {"limit_s": limit_s}
    how |= {} if args.quiet else {"told": tell}
    try:
        with told_at_once():
            found = advise(scenario, changes or None, **how)
    except ScenarioError:
        raise
    except ValueError as e:
        raise CommandError(str(e)) from None
    except KeyboardInterrupt:
        tell(f"\n{KEPT.format(plain(out))}")
        raise
    if args.json:
        tables = {name: getattr(found, name).to_dicts() for name in ("screened", "left_out")}
        said = {"findings": found.findings, "seeds": found.seeds, "folder": str(out), "changes": found.changes}
        print_json({**said, "rows": found.table.to_dicts(), **tables})
    elif not args.quiet:
        show_advise.advice(found)
    return 0


def _change(written: str) -> dict[str, Any]:
    """Settings of a change from ``NAME=VALUE,NAME=VALUE``."""
    change: dict[str, Any] = {}
    for part in split(written):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise CommandError(f"--change {written!r} is not of the form NAME=VALUE,...: such as tcp.variant=vegas")
        if name.strip() in change:
            raise CommandError(f"--change {written!r} sets `{name.strip()}` twice: keep one, or make two changes")
        change[name.strip()] = value_of(value.strip())
    return change
