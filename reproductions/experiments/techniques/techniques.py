"""Search for a technique that is good everywhere: schemes of then and of now over short, long and hybrid paths.

*None of these techniques works in all scenarios*, say Su, Steenkiste and Gross (2008). ``python
reproductions/experiments/techniques/techniques.py`` runs more of them on their testbed as the preset ``ivynet`` has it,
and prints the best scheme of each scenario, and the share of the best that each scheme reaches; ``--write`` writes the
page ``techniques.md``, ``--paths`` makes fewer runs.

Every scenario has the same paths for all schemes. The best scheme of a scenario is chosen on every other path, and all
are compared with it on the rest, so that the best is not the luckiest; the same with the worst scenario of a scheme.
A scheme is good in a scenario when it has significantly 90 % or more of the best, not good when it has significantly
less, and else that is open: 5 % is the probability that any of all these judgments errs (Holm).
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from chappe.stats import Estimate, jain_index
from chappe.study import measure
from chappe_papers.judging.judge import Answer, Check, above
from chappe_papers.pages.page import table
from chappe_papers.statistics.pairs import Paired
from chappe_papers.su2008.paths import paths as drawn
from chappe_papers.su2008.points import (
    BUFFERS,
    HOSTS,
    INFORMED,
    RATES,
    SCHEMES,
    WINDOW,
    WIRE_QUEUE,
    Point,
    scenario,
)

PAGE = Path(__file__).parents[2] / "docs" / "techniques.md"
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
    "flow_control",
    "small_queue",
)
WIRE = "mesh_us+wire"
"""The US behind a wire of the rate of Table IV, instead of windows of 64 KiB."""

PLACES = {"": "wireless", "mesh_europe_later": "to Europe", "mesh_us": "to the US", WIRE: "to the US, 4.7 Mbit/s"}
LENGTHS = {1: "short", 5: "long"}
FLOWS = {"path": "1 flow", "shared": "4 flows"}
GOOD = 0.9
"""A technique is good where it has at least this share of the best."""

NEAR = 0.89
"""Shares of the best from here on are just below the limit, as they are printed."""

WORDS: dict[Check, str] = {True: "good", False: "not good", None: "open"}

MARKS: dict[Check, str] = {True: "**{}**", False: "{}", None: "{} ?"}
"""Format of a share."""

SURE: dict[Check, str] = {
    True: f"significantly {100 * GOOD:.0f} % or more",
    False: f"significantly less than {100 * GOOD:.0f} %",
    None: f"significantly neither less nor more than {100 * GOOD:.0f} %",
}
"""Results of a test in a sentence."""

_METHOD = (
    "Throughput of all flows divided by that of the best technique there [%], with the half width of the 95 % interval "
    "if it is 0.5 or more. The best was chosen on every other path, and all were compared on the rest: the best "
    f"itself has 100, another one may have more. **Bold**: good, significantly {100 * GOOD:.0f} % or more; plain: not "
    "good, significantly less; `?`: open. The probability that any judgment of the table errs is at most 5 % (Holm): "
    f"one may be open although its own interval excludes {100 * GOOD:.0f} %."
)

Where = tuple[str, int, str, str]
"""A scenario: layout, hops, rate control and host."""


class Values(NamedTuple):
    """Results of a scheme on each path of a scenario: throughput of all flows [bit/s], and Jain's index."""

    bps: np.ndarray
    jain: np.ndarray


class Cell(NamedTuple):
    """A scheme in a scenario.

    Attributes:
        kbps: Throughput, on all paths.
        chosen: Share of the best, and Jain's index, on the paths of the choices: of the best, and of worst scenarios.
        share: Throughput by that of the best, on the other paths.
        jain: Jain's index on them.
        good: True if it is good there; ``None`` when undecided.
    """

    kbps: float
    chosen: tuple[float, float]
    share: Estimate
    jain: Estimate
    good: Check = None


Found = dict[Where, tuple[str, dict[str, Cell]]]
"""By scenario: the best scheme, and all."""


def of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Throughput of all flows together, and fairness."""
    goodput = tables["flows"]["goodput_bps"].to_list()
    return {"own_bps": float(sum(goodput)), "own_jain": jain_index(goodput)}


def runs(paths: int, stop: str) -> dict[Where, dict[str, Values]]:
    """Runs all of it, each path with its own seed: over one hop two paths differ in nothing else."""
    made = {
        (layout, hops, rate, host, scheme): scenario(point(layout, hops, rate, host, scheme), {"run.stop": stop})
        for host in PLACES for hops in LENGTHS for layout in FLOWS for rate in RATES for scheme in COMPARED
    }  # fmt: skip
    rows = [measure({key: drawn().on(n, Point(key[0]), own) for key, own in made.items()}, [n],
                    title=f"Path {n} of {paths}", also=of_run) for n in range(1, paths + 1)]  # fmt: skip
    found: dict[Where, dict[str, Values]] = {}
    for key in made:
        bps, jain = (np.array([own[key][name][0] for own in rows]) for name in ("own_bps", "own_jain"))
        found.setdefault(key[:4], {})[key[4]] = Values(bps, jain)
    return found


def point(layout: str, hops: int, rate: str, host: str, scheme: str) -> Point:
    """A scheme in a scenario."""
    model = BUFFERS if host == WIRE else INFORMED
    return Point(layout, hops, rate, scheme, host=host.removesuffix("+wire"), model=model)


def judged(values: Mapping[Where, Mapping[str, Values]]) -> Found:
    """Every scheme compared with the best of its scenario; all judgments together err with at most 5 %."""
    found: Found = {}
    for where, own in values.items():
        best = max(own, key=lambda s: float(own[s].bps[::2].mean()))
        found[where] = best, {s: cell(v, own[best]) for s, v in own.items()}
    cases = [above(named(w), c.share, GOOD) for w, (_, cells) in found.items() for c in cells.values()]
    checks = iter(Answer(tuple(cases)).checks)
    return {w: (best, {s: c._replace(good=next(checks)) for s, c in cells.items()})
            for w, (best, cells) in found.items()}  # fmt: skip


def cell(own: Values, best: Values) -> Cell:
    """A scheme compared with the best one, on the paths of the choice and on the others."""
    first, second = (
        (mean(own.bps[half]).over(mean(best.bps[half])), mean(own.jain[half]))
        for half in (slice(0, None, 2), slice(1, None, 2))
    )
    return Cell(float(own.bps.mean()) / 1e3, (first[0].mean, first[1].mean), *second)


def mean(values: np.ndarray) -> Paired:
    """The mean over paths, each of which is a unit."""
    return Paired.at(dict(enumerate(values.tolist())))


def named(where: Where) -> str:
    """A scenario in words."""
    layout, hops, rate, host = where
    return f"{LENGTHS[hops]}, {PLACES[host]}, {FLOWS[layout]}, {RATES[rate]}"


def title(scheme: str) -> str:
    """A scheme in words."""
    return SCHEMES[scheme][0].removeprefix("TCP ")


def percent(e: Estimate) -> str:
    """A share [%] with the half width of its interval, unless that is negligible."""
    half = 100 * e.half_width()
    return f"{100 * e.mean:.0f}" + (f" ± {half:.0f}" if half >= 0.5 else "")


def worst(found: Found, scheme: str) -> Where:
    """The scenario in which a scheme has least of the best, on the paths of the choice."""
    return min(found, key=lambda w: found[w][1][scheme].chosen[0])


def counts(found: Found, scheme: str) -> list[int]:
    """In how many scenarios a scheme is good, not good, and open."""
    checks = [cells[scheme].good for _, cells in found.values()]
    return [checks.count(check) for check in WORDS]


def everywhere(found: Found) -> str:
    """Techniques that are good in all of these scenarios, and those that may be: those that are not good in none."""
    checks = {s: {cells[s].good for _, cells in found.values()} for s in COMPARED}
    good = [title(s) for s in COMPARED if checks[s] == {True}]
    open_ = [title(s) for s in COMPARED if False not in checks[s] and None in checks[s]]
    if good:
        said = f"{listed(good)} {'are' if len(good) > 1 else 'is'} good everywhere"
    else:
        said = f"none of these techniques is {'shown to be ' if open_ else ''}good everywhere"
    return f"{said}; that is open for {listed(open_)}" if open_ else said


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def advice(found: Found) -> list[str]:
    """The technique to take, where another one is better, and how many judgments lie near the limit."""
    counted = {s: counts(found, s) for s in COMPARED}
    order = sorted(COMPARED, key=lambda s: (-counted[s][0], counted[s][1]))
    taken, bad = order[0], [w for w, (_, cells) in found.items() if cells[order[0]].good is False]
    where = "; ".join(f"{named(w)} ({percent(found[w][1][taken].share)} % of the best)" for w in bad)
    lines = [f"**Take {title(taken)}**: it is good in {counted[taken][0]} of {len(found)} scenarios, and not good in "
             f"{f'{len(bad)}: {where}' if bad else 'none'}."]  # fmt: skip
    others = [s for s in order[1:] if bad and all(found[w][1][s].good for w in bad)]
    if others:
        lines[0] += f" There, {title(others[0])} is good."
    near = {s: sum(cells[s].good is False and round(cells[s].share.mean, 2) >= NEAR for _, cells in found.values())
            for s in COMPARED}  # fmt: skip
    said = listed([f"{n} of {counted[s][1]} with {title(s)}" for s, n in near.items() if n])
    if said:
        lines.append(f"Of the judgments \"not good\" some are just below the limit, at {100 * NEAR:.0f} to "
                     f"{100 * GOOD:.0f} % of the best: {said}.")  # fmt: skip
    return lines


def answer(found: Found) -> list[str]:
    """Results, in at most twelve lines."""
    first = everywhere(found)
    lines = [
        *advice(found),
        f'**{first[0].upper()}{first[1:]}.** ("Good": significantly at least {100 * GOOD:.0f} % of the best '
        f'throughput; "not good": significantly less; otherwise "open". '
        f'"Everywhere": in each of {len(found)} scenarios.)',
    ]
    order = sorted(COMPARED, key=lambda s: -found[worst(found, s)][1][s].chosen[0])
    for scheme, place in ((order[0], "Closest to good everywhere"), (order[-1], "Farthest from good everywhere")):
        where = worst(found, scheme)
        own = found[where][1][scheme]
        lines.append(f"{place} is {title(scheme)}: in its worst scenario ({named(where)}) it has "
                     f"{percent(own.share)} % of the best, {SURE[own.good]}.")  # fmt: skip
    counted = {s: counts(found, s) for s in COMPARED}
    lines.append("Good / not good / open in: " + ", ".join(
        f"{title(s)} {'/'.join(map(str, counted[s]))}"
        for s in sorted(COMPARED, key=lambda s: (-counted[s][0], counted[s][1]))) + ".")  # fmt: skip
    bests = [best for best, _ in found.values()]
    most = sorted(((bests.count(s), title(s)) for s in set(bests)), reverse=True)
    lines.append("Chosen as the best most often: " + ", ".join(f"{name} in {n}" for n, name in most)
                 + f", of {len(found)}.")  # fmt: skip
    for rate, words in RATES.items():
        lines.append(f"With {words} alone {everywhere({w: f for w, f in found.items() if w[2] == rate})}.")
    for hops, words in LENGTHS.items():
        lines.append(f"On {words} paths alone {everywhere({w: f for w, f in found.items() if w[1] == hops})}.")
    shared = [cells for w, (_, cells) in found.items() if w[0] == "shared"]
    fair = {s: min((cells[s] for cells in shared), key=lambda c: c.chosen[1]) for s in COMPARED}
    order = sorted(COMPARED, key=lambda s: -fair[s].chosen[1])
    lines.append(f"Four flows share most evenly with {title(order[0])} (Jain's index where it is lowest "
                 f"{index(fair[order[0]].jain)}), and least with {title(order[-1])} "
                 f"({index(fair[order[-1]].jain)}).")  # fmt: skip
    return lines


def index(e: Estimate) -> str:
    """Jain's index with the half width of its interval."""
    return f"{e.mean:.3f} ± {e.half_width():.3f}"


def page(found: Found, paths: int, stop: str) -> str:
    """The page."""
    titles = [title(s) for s in COMPARED]
    lines = ["# Is there a technique that is good everywhere?", "", *(f"- {line}" for line in answer(found)), ""]
    lines += ["## The worst scenario of each", "", "The scenario is chosen on every other path, like the best "
              "technique; its numbers are from the other paths.", ""]  # fmt: skip
    rows = []
    for s in COMPARED:
        own = found[where := worst(found, s)][1][s]
        rows.append([title(s), *map(str, counts(found, s)), named(where), percent(own.share), WORDS[own.good]])
    lines += table(("technique", *(f"{word} in" for word in WORDS.values()), "worst scenario", "of the best [%]",
                    "there"), rows)  # fmt: skip
    lines += ["## Throughput of each, compared with the best", "", _METHOD, ""]
    rows = [[named(w), f"{title(best)}, {cells[best].kbps:,.0f}",
             *(MARKS[cells[s].good].format(percent(cells[s].share)) for s in COMPARED)]
            for w, (best, cells) in found.items()]  # fmt: skip
    lines += table(("scenario", "best [kbit/s]", *titles), rows)
    lines += ["## Jain's index of four flows", "", "The mean over the paths on which all are compared.", ""]
    shared = [(w, cells) for w, (_, cells) in found.items() if w[0] == "shared"]
    lines += table(("scenario", *titles), [[named(w), *(f"{c[s].jain.mean:.2f}" for s in COMPARED)] for w, c in shared])
    lines += ["## The techniques", ""]
    lines += table(("technique", "settings"), [
        [title(s), ", ".join(f"`{n} = {v}`" for n, v in SCHEMES[s][1].items()) or "the preset"]
        for s in COMPARED])  # fmt: skip
    us, europe = HOSTS["mesh_us"], HOSTS["mesh_europe_later"]
    windows = f"windows of {WINDOW} segments (64 KiB)"
    lines += ["## Method", "", f"The preset `ivynet` on the first {paths} paths of [Su 2008](papers/su2008.md), which "
              f"lie in one grid of routers and are the same for all; {paths // 2} of them compared. Each run has the "
              f"seed of its path and lasts {stop}. Short is the first hop of a path, long all five. All flows of a "
              "scenario share one path and send from the mesh; Europe is "
              f"{europe.rtt_ms:g} ms away, the US {us.rtt_ms:g} ms, both with {windows} and wires that limit nothing; "
              f"once more the US has no such window, but a wire of {us.upstream_kbps / 1e3:g} Mbit/s, with "
              f"{WIRE_QUEUE} packets at either end.", "",
              "Made by `python reproductions/experiments/techniques/techniques.py --write`.", ""]  # fmt: skip
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paths", type=int, default=50, help="paths of each scenario (50), at least 4")
    parser.add_argument("--stop", default="60 s", help='how long each run lasts ("60 s")')
    parser.add_argument("--write", action="store_true", help=f"make the page docs/{PAGE.name}")
    args = parser.parse_args(arguments)
    found = judged(runs(args.paths, args.stop))
    print("\n".join(answer(found)))
    if args.write:
        PAGE.write_text(page(found, args.paths, args.stop), encoding="utf-8")


if __name__ == "__main__":
    main()
