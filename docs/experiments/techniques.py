"""Which technique is good everywhere: schemes of then and of now over short, long and hybrid paths.

*None of these techniques works in all scenarios*, say Su, Steenkiste and Gross (2008). ``python
docs/experiments/techniques.py`` runs more of them on their testbed as the preset ``ivynet`` has it, and prints which is
best where, and what each has of the best; ``--write`` makes the page ``docs/techniques.md`` of it, ``--paths`` makes
runs fewer.

Every scenario has the same paths for all schemes. The best scheme of a scenario is chosen on every other path, and all
are compared with it on the rest, so that the best is not the luckiest.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from chappe.papers.judge import Answer, above
from chappe.papers.pairs import Paired
from chappe.papers.su2008.points import HOSTS, RATES, SCHEMES, WIRE_QUEUE, Point, drawing, scenario
from chappe.report.page import table
from chappe.stats import Estimate, jain_index
from chappe.study.measure import measure

PAGE = Path(__file__).parents[1] / "techniques.md"
COMPARED = (
    "reno",
    "vegas",
    "westwood",
    "veno",
    "clamp4",
    "tcp_ap",
    "few",
    "thinning",
    "vegas_thinning",
    "fq_codel",
    "buf2",
    "small_queue",
)
PLACES = {"": "wireless", "mesh_europe_later": "to Europe", "mesh_us": "to the US"}
LENGTHS = {1: "short", 5: "long"}
FLOWS = {"path": "1 flow", "shared": "4 flows"}
GOOD = 0.9
"""A technique is good where it has at least this share of the best."""
MARKS = {True: "", False: " -", None: " ?"}
"""How a table says that a technique is good, not good, or that it is open."""

_METHOD = (
    "Throughput of all flows by that of the scheme that is best there [%], with the half width of the 95 % interval. "
    "The best was chosen on every other path, and all were measured on the rest: the best itself has 100 %, another "
    "one may have more. Not marked: good, at least 90 %. `-`: not good. `?`: open. In at most 5 % of such studies any "
    "of these judgements is wrong by chance (Holm over all cells)."
)


class Cell(NamedTuple):
    """A scheme in a scenario: throughput by that of the best, and Jain's index."""

    share: Estimate
    jain: float
    kbps: float
    good: bool | None = None
    """Whether it has at least :data:`GOOD` of the best; ``None``: open."""


Found = dict[tuple[str, int, str, str], tuple[str, dict[str, Cell]]]
"""By layout, hops, rate control and host: the best scheme, and all."""


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Throughput of all flows together, and fairness."""
    goodput = tables["flows"]["goodput_bps"].to_list()
    return {"own_bps": float(sum(goodput)), "own_jain": jain_index(goodput)}


def study(paths: int, stop: str) -> Found:
    """Runs all of it."""
    where = [(layout, hops, rate, host) for host in PLACES for hops in LENGTHS for layout in FLOWS for rate in RATES]
    made = {}
    for layout, hops, rate, host in where:
        for scheme in COMPARED:
            own = scenario(Point(layout, hops, rate, scheme, host=host), {"run.stop": stop})
            for n in range(1, paths + 1):
                made[layout, hops, rate, host, scheme, n] = own.with_({"topology.seed": drawing(n)})
    rows = measure(made, [1], also=of_run)
    found: Found = {}
    for key in where:
        values = {s: np.array([rows[*key, s, n]["own_bps"][0] for n in range(1, paths + 1)]) for s in COMPARED}
        fair = {s: float(np.mean([rows[*key, s, n]["own_jain"][0] for n in range(1, paths + 1)])) for s in COMPARED}
        best = max(COMPARED, key=lambda s: float(values[s][::2].mean()))
        own = {s: Cell(beside(values[s][1::2], values[best][1::2]), fair[s], float(values[s].mean()) / 1e3)
               for s in COMPARED}  # fmt: skip
        found[key] = best, own
    return judged(found)


def judged(found: Found) -> Found:
    """Says where each is good, where not, and where that is open: all together are wrong by chance in 5 % of cases."""
    cells = [(key, s, cell) for key, (_, own) in found.items() for s, cell in own.items()]
    checks = Answer(tuple(above(f"{key} {s}", cell.share, GOOD) for key, s, cell in cells)).checks
    good = {(key, s): check for (key, s, _), check in zip(cells, checks, strict=True)}
    return {key: (best, {s: c._replace(good=good[key, s]) for s, c in own.items()})
            for key, (best, own) in found.items()}  # fmt: skip


def beside(values: np.ndarray, best: np.ndarray) -> Estimate:
    """The quotient of two means on the same paths."""
    return Paired.at(dict(enumerate(values.tolist()))).over(Paired.at(dict(enumerate(best.tolist()))))


def named(key: tuple[str, int, str, str]) -> str:
    """A scenario in words."""
    layout, hops, rate, host = key
    return f"{LENGTHS[hops]}, {PLACES[host]}, {FLOWS[layout]}, {RATES[rate]}"


def short(scheme: str) -> str:
    """A scheme in a word or two."""
    return SCHEMES[scheme][0].removeprefix("TCP ")


def counted(found: Found, scheme: str) -> tuple[int, int, int]:
    """In how many scenarios a scheme is good, open, and not good."""
    checks = [own[scheme].good for _, own in found.values()]
    return checks.count(True), checks.count(None), checks.count(False)


def percent(e: Estimate) -> str:
    """A share and its half width."""
    half = e.half_width()
    return f"{100 * e.mean:.0f} ± {100 * half:.0f}" if half > 0.005 else f"{100 * e.mean:.0f}"


def part_of(found: Found, where: str, value: str | int) -> str:
    """Which are good in all scenarios with something in common, or in none of them shown not to be."""
    field = ("layout", "hops", "rate", "host").index(where)
    own = {key: cells for key, cells in found.items() if key[field] == value}
    counts = {s: counted(own, s) for s in COMPARED}
    good = [short(s) for s, (_, open_, bad) in counts.items() if not (open_ or bad)]
    rest = [short(s) for s, (_, open_, bad) in counts.items() if open_ and not bad]
    said = f"{', '.join(good)} {'is' if len(good) == 1 else 'are'} good in all" if good else "none is good in all"
    return said + (f"; open: {', '.join(rest)}" if rest else "")


def answer(found: Found) -> list[str]:
    """What came out, in at most ten lines."""
    counts = {s: counted(found, s) for s in COMPARED}
    order = sorted(COMPARED, key=lambda s: (counts[s][2], -counts[s][0]))
    first, last = order[0], max(order, key=lambda s: counts[s][2])
    everywhere = [short(s) for s in order if counts[s][0] == len(found)]
    lines = [
        f"**{' and '.join(everywhere)} {'are' if len(everywhere) > 1 else 'is'} good everywhere**"
        if everywhere
        else "**None of these techniques is good everywhere**"
        if all(bad for _, _, bad in counts.values())
        else "**None of these techniques is shown to be good everywhere**"
    ]
    lines[0] += f": at least {100 * GOOD:.0f} % of the best throughput in each of {len(found)} scenarios."
    where = sorted((own[first].share.mean, percent(own[first].share), named(key))
                   for key, (_, own) in found.items() if own[first].good is False)  # fmt: skip
    worst = "; ".join(f"{said} % of the best ({name})" for _, said, name in where[:3]) or "nowhere shown not to be good"
    lines.append(f"Nearest to it is {short(first)}: {worst}.")
    key, share = min(((key, own[last].share) for key, (_, own) in found.items()), key=lambda pair: pair[1].mean)
    lines.append(f"Farthest from it is {short(last)}: down to {percent(share)} % ({named(key)}).")
    tallies = (f"{short(s)} {'/'.join(map(str, counts[s]))}" for s in order)
    lines.append(f"Good / open / not good, of {len(found)}: {', '.join(tallies)}.")
    bests = [best for best, _ in found.values()]
    often = sorted(((bests.count(s), short(s)) for s in set(bests)), reverse=True)
    lines.append("Best most often: " + ", ".join(f"{name} in {n}" for n, name in often[:4]) + f", of {len(found)}.")
    lines += [f"With {title} alone {part_of(found, 'rate', rate)}." for rate, title in RATES.items()]
    lines += [f"On {title} paths alone {part_of(found, 'hops', hops)}." for hops, title in LENGTHS.items()]
    fair = {s: min(c[s].jain for k, (_, c) in found.items() if k[0] == "shared") for s in COMPARED}
    fairest, least = max(fair, key=lambda s: fair[s]), min(fair, key=lambda s: fair[s])
    lines.append(
        f"Four flows share most evenly with {short(fairest)} (Jain's index {fair[fairest]:.3f} or more), and least "
        f"with {short(least)} (down to {fair[least]:.2f})."
    )
    return lines


def page(found: Found, paths: int, stop: str) -> str:
    """The page."""
    titles = [short(s) for s in COMPARED]
    lines = ["# Is there a technique that is good everywhere?", "", *(f"- {line}" for line in answer(found)), ""]
    lines += ["## What each has of the best", "", _METHOD, ""]  # fmt: skip
    rows = [[named(key), f"{short(best)}, {cells[best].kbps:,.0f}",
             *(percent(cells[s].share) + MARKS[cells[s].good] for s in COMPARED)]
            for key, (best, cells) in found.items()]  # fmt: skip
    lines += table(("scenario", "best [kbit/s]", *titles), rows)
    lines += ["## Jain's index of four flows", ""]
    own = [(key, cells) for key, (_, cells) in found.items() if key[0] == "shared"]
    lines += table(("scenario", *titles), [[named(k), *(f"{c[s].jain:.2f}" for s in COMPARED)] for k, c in own])
    lines += ["## The techniques", ""]
    lines += table(("technique", "settings"), [
        [title, ", ".join(f"`{n} = {v}`" for n, v in SCHEMES[s][1].items()) or "the preset"]
        for s, title in zip(COMPARED, titles, strict=True)])  # fmt: skip
    us, europe = HOSTS["mesh_us"], HOSTS["mesh_europe_later"]
    lines += ["## How", "", f"The preset `ivynet` ([Su 2008](papers/su2008.md)): {paths} paths, drawings of the "
              f"shadowing, the same for all; each run {stop}. Short is one hop, long five. All flows of a scenario "
              f"share one path and send from the mesh; Europe is {europe.rtt_ms:g} ms away at "
              f"{europe.upstream_kbps / 1e3:g} Mbit/s, the US {us.rtt_ms:g} ms at {us.upstream_kbps / 1e3:g} Mbit/s, "
              f"with {WIRE_QUEUE} packets at either end of the wire.", "",
              "Made by `python docs/experiments/techniques.py --write`.", ""]  # fmt: skip
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paths", type=int, default=40, help="paths of each scenario (40), at least 4")
    parser.add_argument("--stop", default="60 s", help='how long each run lasts ("60 s")')
    parser.add_argument("--write", action="store_true", help=f"make the page docs/{PAGE.name}")
    args = parser.parse_args(arguments)
    found = study(args.paths, args.stop)
    print("\n".join(answer(found)))
    if args.write:
        PAGE.write_text(page(found, args.paths, args.stop), encoding="utf-8")


if __name__ == "__main__":
    main()
