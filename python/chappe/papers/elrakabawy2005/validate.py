"""Everything that ns-2.35 was run on, run here under the same stop rule: how far off is each number?"""

import csv
from pathlib import Path

from chappe import show
from chappe.papers.elrakabawy2005 import ns2, validation_page
from chappe.papers.elrakabawy2005.comparison import (
    KINDS,
    MANY,
    case,
    compare,
    kind,
    off,
    one_by_one,
    one_run,
    row,
    run,
    two_states,
)
from chappe.papers.elrakabawy2005.lab import kept
from chappe.papers.elrakabawy2005.measures import ALL


def validate(folder: Path, *, jobs: int | None) -> int:
    """Runs the comparison, prints a summary, and writes ``validation.md`` and ``validation.csv``."""
    records = ns2.records()
    with kept(folder, jobs) as runs:
        found, tables = compare(records, runs)
        unlike = {case(c.record) for c in found if one_run(c)}
        many = run([r for r in records if case(r) in unlike or two_states(r)], list(MANY), runs)
    with (folder / "validation.csv").open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(
            ["variant", "place", "hops", "rate_mbps", "interval_ms", "ns2_seed", "measure", "ns2", "ours",
             "half_width_95", "agrees"]
        )  # fmt: skip
        for c in found:
            p = c.record.point
            numbers = (c.ns2.mean, c.ours.mean, c.half_width)
            where = (p.variant, p.place, p.hops, f"{p.rate_mbps:g}", f"{p.interval_ms:g}", c.record.seed)
            out.writerow([*where, c.measure.name, *map(repr, numbers), c.agrees])
    page = validation_page.page(found, tables, one_by_one(found, many), many)
    (folder / "validation.md").write_text(page, encoding="utf-8")
    t = show.table("", "measure", ">agree", ">of", title="Ours beside ns-2.35", keys=2)
    for part in KINDS:
        own = [c for c in found if kind(c.record.point) == part]
        for name in dict.fromkeys(c.measure.name for c in own):
            mine = [c for c in own if c.measure.name == name]
            t.add_row(part, ALL[name].label, str(sum(c.agrees for c in mine)), str(len(mine)))
    show.write(t)
    t = show.table("does not agree", "measure", ">ns-2", ">ours", ">difference", ">half width", keys=2)
    for c in found:
        if not c.agrees:
            shown = show.number(c.ns2.mean), show.number(c.ours.mean), off(c), show.number(c.half_width, 2)
            t.add_row(row(c.record), c.measure.name, *shown)
    show.write(t)
    show.say(f"Written to {folder}: validation.md with every value and the reasons of the differences, validation.csv.")
    return 0
