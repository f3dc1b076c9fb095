"""The commands ``chappe paper`` and ``chappe validate``."""

import argparse
import csv
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from chappe import text as show
from chappe.cli.extensions import Command
from chappe.cli.inputs import KEPT, CommandError, collect_errors, folder, print_json, reduced_output
from chappe.cli.options import jobs_option, out_option, output_options
from chappe.text import plain, tell


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _print_json(args: argparse.Namespace, **results: Any) -> None:
    if args.json:
        print_json(results)


def _paper(args: argparse.Namespace) -> int:
    """``chappe paper``."""
    from chappe.study import RunCache

    from chappe_papers import PAPERS, find
    from chappe_papers.paper import Wanted
    from chappe_papers.reproduce import judge_anew

    if args.paper is None:
        _list_papers(args)
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
    collect_errors(*(partial(_need_part, paper.name, *part) for part in parts))
    chosen = [kind for kind, value, _ in parts if value is not None]
    if len(chosen) > 1:
        raise CommandError(f"--{chosen[0]} and --{chosen[1]} exclude each other: choose one part, or none for all")
    if args.compare and (chosen or args.quick):
        raise CommandError("--compare compares all runs at full length: it excludes --figure, --table, --claim, "
                           "--extra and --quick")  # fmt: skip
    if args.decide is not None and (args.quick or args.compare or args.extra):
        raise CommandError("--decide makes further runs of full length for undecided claims: it excludes --quick, "
                           "--compare and --extra")  # fmt: skip
    if args.first_seed > 1 and (args.compare or args.fresh or args.decide is not None):
        raise CommandError("--first-seed makes the planned runs with other seeds: it excludes --compare, --fresh and "
                           "--decide")  # fmt: skip
    if args.fresh:
        _need_fresh(paper, args)
    if args.compare and not paper.is_validated:
        raise CommandError(f"there are no ns-2 runs of {paper.name} to compare with")
    own = "" if args.first_seed == 1 else f"-from-{args.first_seed}"
    with folder(f"results/{paper.name}{own}" if args.out is None else args.out) as out:
        try:
            if args.compare:
                with reduced_output(args):
                    code = paper.validate(out, jobs=args.jobs)
                _print_json(args, paper=paper.name, folder=str(out), rows=_rows(out / "validation.csv"))
                return code
            if args.fresh:
                with reduced_output(args):
                    code = judge_anew(paper, out, args.claim, args.jobs)
                rows = [row for row in _rows(out / "fresh.csv") if row["claim"] == args.claim]
                _print_json(args, paper=paper.name, folder=str(out), points=rows)
                return code
            wanted = Wanted(args.figure, args.table, args.claim, args.extra)
            with reduced_output(args):
                code = paper.reproduce(
                    out,
                    wanted=wanted,
                    quick=args.quick,
                    jobs=args.jobs,
                    decide_s=args.decide,
                    first_seed=args.first_seed,
                )
        except KeyboardInterrupt:
            tell(f"\n{KEPT.format(plain(out / RunCache.FOLDER))}")
            raise
        _print_json(args, paper=paper.name, folder=str(out), claims=_claims(paper, wanted, out))
    return code


def _need_part(paper: str, kind: str, value: int | str | None, known_parts: Sequence[int | str]) -> None:
    """Refuses a part that a paper does not have."""
    if value is not None and value not in known_parts:
        known = ", ".join(map(str, known_parts))
        raise CommandError(f"{paper} has no {kind} {value} to reproduce; known {kind}s: {known or 'none'}")


def _need_fresh(paper: Any, args: argparse.Namespace) -> None:
    """Refuses a fresh experiment that no claim declares, or beside other options."""
    declared = [c.id for c in paper.all_claims if c.fresh]
    known = f"claims of {paper.name} that declare one: {', '.join(declared) or 'none'}"
    if args.claim is None:
        raise CommandError(f"--fresh makes the fresh experiment of one claim, which --claim names; {known}")
    if args.claim not in declared:
        raise CommandError(f"{args.claim} declares no fresh experiment; {known}")
    if args.quick or args.compare or args.decide is not None:
        raise CommandError("--fresh makes runs of full length with new seeds: it excludes --quick, --compare and "
                           "--decide")  # fmt: skip


def _claims(paper: Any, wanted: Any, out: Path) -> list[dict[str, str]]:
    """Wanted claims of a paper with their verdicts, from the file that the command wrote."""
    from chappe_papers.reproduce import wanted_claims

    names = [c.id for c in wanted_claims(paper, wanted)]
    rows = {row["claim"]: row for row in _rows(out / "claims.csv")} if names else {}
    shown = ("claim", "section", "says", "verdict")
    return [{key: rows[name][key] for key in shown} for name in names if name in rows]


def _list_papers(args: argparse.Namespace) -> None:
    from chappe_papers import PAPERS, summary

    if not args.json:
        if not args.quiet:
            summary.print_all(PAPERS)
        return
    papers = []
    for p in PAPERS:
        known = summary.shipped(p)
        papers.append(
            {
                "name": p.name,
                "title": p.title,
                "setup": p.setup,
                "figures": p.figures,
                "tables": p.tables,
                "extras": p.extras,
                "findings": [asdict(f) for f in known.findings],
                "claims": {name: outcome.verdict for name, outcome in known.claims.items()},
            }
        )
    _print_json(args, papers=papers)


def _validate(args: argparse.Namespace) -> int:
    """``chappe validate``."""
    from chappe.study import RunCache

    import chappe_papers
    from chappe_papers import validation

    if args.name is None:
        if not args.json and not args.quiet:
            t = show.table("Comparison", "subject")
            for v in validation.VALIDATIONS:
                t.add_row(v.name, v.title)
            show.write(t)
        _print_json(args, comparisons=[{"name": v.name, "title": v.title} for v in validation.VALIDATIONS])
        return 0
    comparison = validation.find(args.name)
    if comparison is None:
        known = ", ".join(v.name for v in validation.VALIDATIONS)
        own = f"; for papers: chappe paper {args.name} --compare" if chappe_papers.find(args.name) else ""
        raise CommandError(f"there is no comparison {args.name!r}; known comparisons: {known}{own}")
    with folder(f"results/{comparison.name}" if args.out is None else args.out) as out:
        try:
            with reduced_output(args):
                code = comparison.validate(out, jobs=args.jobs)
        except KeyboardInterrupt:
            tell(f"\n{KEPT.format(plain(out / RunCache.FOLDER))}")
            raise
        _print_json(args, comparison=comparison.name, folder=str(out), rows=_rows(out / "validation.csv"))
    return code


def _cpu_time(text: str) -> float:
    """A time with a unit, in seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(s|min|h)", text.strip())
    if found is None or not 0 < (seconds := float(found[1]) * {"s": 1, "min": 60, "h": 3600}[found[2]]) < 1e9:
        raise argparse.ArgumentTypeError(
            f'a CPU time is above 0 and has a unit, such as "15 min" or "3 h", not {plain(text)}'
        )
    return seconds


def _first_seed(text: str) -> int:
    """A seed from which on there are as many as any paper has runs of a point."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"the first seed is a whole number from 1 to 999,999,999, not {plain(text)}")
    return int(text)


def _add_paper_arguments(q: argparse.ArgumentParser) -> None:
    q.add_argument("paper", nargs="?", metavar="PAPER", help="name of the paper")
    q.add_argument("--figure", type=int, metavar="N", help="reproduce only this figure")
    q.add_argument("--table", type=int, metavar="N", help="reproduce only this table")
    q.add_argument("--claim", metavar="ID", help="judge only this claim, such as P0-F6-1")
    q.add_argument("--extra", metavar="NAME", help="run only this addition to the paper, such as readings (zhou2004)")
    q.add_argument("--quick", action="store_true", help="use short runs, which give rough results in a few minutes")
    q.add_argument(
        "--decide",
        type=_cpu_time,
        metavar="TIME",
        help='make further runs for undecided claims, up to this CPU time, such as "15 min"',
    )
    q.add_argument(
        "--fresh",
        action="store_true",
        help="judge the claim of --claim by its fresh experiment: more runs with new seeds, declared beforehand",
    )
    q.add_argument(
        "--first-seed",
        type=_first_seed,
        default=1,
        metavar="N",
        help="repeat the planned runs with seeds from N on, which are independent of the published ones (default: 1)",
    )
    q.add_argument("--compare", action="store_true", help="compare all recorded ns-2 runs with runs of Chappe")
    out_option(q, "folder for figures and pages (default: results/PAPER, with the first seed if it is not 1)")
    jobs_option(q)
    output_options(q)


def _add_validate_arguments(q: argparse.ArgumentParser) -> None:
    q.add_argument("name", nargs="?", metavar="NAME", help="name of the comparison, such as standard")
    out_option(q, "folder for the page (default: results/NAME)")
    jobs_option(q)
    output_options(q)


PAPER = Command(
    "reproduce a paper, or list the papers and their results if no name is given", _add_paper_arguments, _paper
)
VALIDATE = Command(
    "compare Chappe with another simulator, or list the comparisons if no name is given",
    _add_validate_arguments,
    _validate,
)
