"""The command ``chappe follow``."""

import argparse

from chappe.cli.inputs import CommandError, collect_errors, load, print_json, time_of


def follow(args: argparse.Namespace) -> int:
    """``chappe follow``."""
    import polars as pl

    from chappe.printing import stories as show_follow
    from chappe.stories.story import follow

    begin, until, scenario = collect_errors(
        lambda: time_of("--from", args.from_), lambda: time_of("--until", args.until), lambda: load(args)
    )
    try:
        story = follow(scenario, args.flow, packet=args.packet)
    except ValueError as e:
        raise CommandError(str(e)) from None
    lines = story.events
    if begin is not None:
        lines = lines.filter(pl.col("time_s") >= begin)
    if until is not None:
        lines = lines.filter(pl.col("time_s") <= until)
    if args.only:
        lines = lines.filter(pl.col("kind").is_in(args.only))
    if args.json:
        print_json({**story._to_dict(), "events": lines.to_dicts()})
    else:
        show_follow.story(story, lines, args.lines)
    return 0
