"""Reasons for differences from Zhou, Leis, Hoang and Nhan (2004): an experiment for each reason that is given.

``python reproductions/experiments/papers/why_zhou.py NAME`` prints a table; NAME is one of

- ``timeouts``: how often Tahoe, Reno and NewReno wait for a timeout, and for how much of their time;
- ``starts``: goodput of each flow by its start, with the flows started in order and in the opposite order;
- ``timer``: Snoop and ELN together compared with each alone, by the least time that Snoop's local timer waits.

``--seeds`` makes runs fewer. Numbers are means over the runs.
"""

import argparse
from collections.abc import Mapping
from typing import Any

import polars as pl
from chappe.study import measure
from chappe_papers.zhou2004.points import ALIKE, FLOWS, Point, scenario


class Runs:
    """Makes runs.

    Attributes:
        seeds: Runs of each scenario.
    """

    def __init__(self, seeds: int):
        self.seeds = list(range(1, seeds + 1))

    def of(self, point: Point, changes: Mapping[str, Any] | None = None) -> dict[str, float]:
        """Measures of a point, the mean over the runs."""
        rows = measure({0: scenario(point, changes)}, self.seeds, also=_of_run)[0]
        return {name: float(rows.select(pl.mean(name)).item()) for name in rows.columns if name.startswith("own_")}


def _of_run(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Goodput of each flow and in the mean [kbit/s], timeouts per 10,000 segments, and the share of time they take."""
    flows = tables["flows"]
    goodput = [g / 1e3 for g in flows["goodput_bps"].to_list()]
    found = {f"own_flow{n}": g for n, g in enumerate(goodput)}
    return found | {
        "own_goodput": sum(goodput) / len(goodput),
        "own_timeouts": 1e4 * flows["timeouts"].sum() / flows["packets_delivered"].sum(),
        "own_waiting": flows["timeout_wait_s"].sum() / flows["measured_s"].sum(),
    }


def timeouts(runs: Runs) -> None:
    """Without a mechanism: goodput of a flow [kbit/s], timeouts per 10,000 segments, share of time that they take."""
    for rate in (1.0, 2.0, 4.0, 6.0, 8.0, 10.0):
        for v in ALIKE:
            own = runs.of(Point(v, "none", rate))
            line(f"{rate:g} %", v, own["own_goodput"], own["own_timeouts"], f"{100 * own['own_waiting']:.0f} %")


def starts(runs: Runs) -> None:
    """Goodput of each flow [kbit/s], in the order in which they begin, 0.1 s one after the other."""
    for v in ("tahoe", "vegas"):
        for rate in (0.0, 0.1, 0.8, 2.0, 10.0):
            for words, order in (("first first", range(FLOWS)), ("last first", range(FLOWS - 1, -1, -1))):
                begin = {f"flow.{f}.start": f"{100 * n} ms" for n, f in enumerate(order)}
                own = runs.of(Point(v, "none", rate), begin)
                line(v, f"{rate:g} %", words, *(own[f"own_flow{f}"] for f in order))


def timer(runs: Runs) -> None:
    """Goodput of a NewReno flow [kbit/s] with ELN, Snoop, both, by the local timer; a full queue takes 208 ms."""
    tried: dict[str, tuple[str, Mapping[str, Any]]] = {"as in ns-2.35": ("ns2", {})}
    tried |= {f"at least {ms} ms": ("authors", {"snoop.min_timeout": f"{ms} ms"}) for ms in (100, 150, 200, 250, 300)}
    for rate in (0.0, 2.0, 6.0):
        for words, (reading, changes) in tried.items():
            own = (runs.of(Point("newreno", m, rate, reading), changes) for m in ("eln", "snoop", "both"))
            line(f"{rate:g} %", words, *(found["own_goodput"] for found in own))


def line(*cells: object) -> None:
    """Prints a row."""
    print("  ".join(f"{c:>8.1f}" if isinstance(c, float) else f"{c!s:>15}" for c in cells), flush=True)


EXPERIMENTS = {"timeouts": timeouts, "starts": starts, "timer": timer}


def main(arguments: list[str] | None = None) -> None:
    """Prints the table of an experiment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each scenario")
    args = parser.parse_args(arguments)
    experiment = EXPERIMENTS[args.name]
    print(experiment.__doc__)
    experiment(Runs(args.seeds))


if __name__ == "__main__":
    main()
