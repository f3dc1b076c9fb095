"""Effect of the defaults in which the preset `standard` differs from ns-2, over chains."""

from typing import Any

import chappe
from chappe import text as show
from chappe.stats import Estimate, Jackknife

from chappe_papers.pages.page import table

OF_NS2: dict[str, Any] = {
    "wlan.rts_threshold": "always",
    "tcp.ack_policy": "every",
    "queue.discipline": "routing_first",
    "radio.frequency": "914 MHz",
    "routing.aodv.data_ttl": "net_diameter",
}
"""Values of ns-2, by setting."""

HOPS = (1, 2, 4, 7)
SEEDS = 10
STOP = "120 s"

ROWS: dict[str, dict[str, Any]] = {
    "as in ns-2": OF_NS2,
    **{f"`{name} = {value}` alone": {name: value} for name, value in OF_NS2.items()},
    "defaults": {},
}
"""Settings that differ from the defaults, by the name of the row."""


def run(jobs: int | None) -> dict[str, list[Estimate]]:
    """Goodputs over each number of hops, totals by totals, by the name of the row."""
    study = chappe.sweep({"run.stop": STOP}, {"topology.hops": list(HOPS)}, cases=ROWS, seeds=SEEDS, jobs=jobs)
    goodputs = study.table("totals").filter(measure="goodput_bps")
    found: dict[str, list[Estimate]] = {name: [] for name in ROWS}
    for (case, _), runs in goodputs.partition_by("case", "topology.hops", as_dict=True).items():
        found[case].append(Jackknife.of(runs.select("numerator", "denominator").to_numpy()).estimate)
    return found


def section(goodputs: dict[str, list[Estimate]]) -> list[str]:
    """Part of the page."""
    lines = [
        "## The defaults compared with those of ns-2",
        "",
        "ns-2 has RTS before every frame, an acknowledgement of every segment, routing messages at the head of the",
        "queue, 914 MHz, and under AODV a TTL of NET_DIAMETER hops for data. Goodput [kbit/s] of a file transfer over",
        "chains with these settings, with each of them alone, and with the defaults of the preset `standard`;",
        f"{SEEDS} seeds of {STOP}, half widths of 95 % intervals.",
        "",
    ]
    rows = [
        [name, *(f"{show.number(e.mean / 1e3)} ± {show.number(e.half_width() / 1e3, 2)}" for e in points)]
        for name, points in goodputs.items()
    ]
    return lines + table(("settings", *(f"{n} hop{'s' if n > 1 else ''}" for n in HOPS)), rows)
