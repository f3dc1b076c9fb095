"""Routing protocols in a chain, a grid, among roofs with weak links, and in a walking network.

``python reproductions/experiments/routing/routing.py [PROTOCOL...]`` makes the runs and writes the rows of these
protocols in the tables of ``docs/routing.md``. Without protocols it takes all of :data:`PROTOCOLS`.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chappe
import polars as pl
from chappe.stats import Estimate

PAGE = Path(__file__).parents[3] / "docs" / "routing.md"
SEEDS = range(1, 11)

Settings = dict[str, Any]

PROTOCOLS: dict[str, tuple[str, Settings]] = {
    "aodv": ("AODV", {"protocol": "aodv"}),
    "dsr": ("DSR", {"protocol": "dsr"}),
    "dsdv": ("DSDV", {"protocol": "dsdv"}),
    "babel": ("Babel", {"protocol": "babel"}),
    "babel-fast": (
        "Babel, Hello 1 s",
        {"protocol": "babel", "babel": {"hello_interval": "1 s", "update_interval": "4 s"}},
    ),
    "olsr": ("OLSR", {"protocol": "olsr"}),
    "olsrd": (
        "OLSR of olsrd, ETX",
        {
            "protocol": "olsr",
            "olsr": {
                "metric": "etx",
                "neighbor_hold_time": "20 s",
                "topology_hold_time": "300 s",
                "mpr_coverage": 7,
                "tc_redundancy": 2,
                "fisheye": True,
            },
        },
    ),
    "batman-adv": ("batman-adv", {"protocol": "batman_adv"}),
}
"""By the word of the command: the name on the page, and settings of routing."""

DOWN_S = 120.0
UP_S = 150.0

_CBR: Settings = {"app": "cbr", "start": "60 s", "cbr": {"interval": "100 ms", "payload": "512 B"}}


def chain() -> Settings:
    """Four hops; the node in the middle is off for 30 s."""
    off = [{"at": f"{at} s", "action": action, "node": 2} for at, action in ((DOWN_S, "node_down"), (UP_S, "node_up"))]
    return {"topology": {"kind": "chain", "hops": 4}, "flow": [{"dst": 4, **_CBR}], "event": off}


def grid() -> Settings:
    """25 nodes, 200 m from each other, and a flow along each diagonal."""
    topology = {"kind": "grid", "rows": 5, "columns": 5}
    return {"topology": topology, "flow": [{"dst": 24, **_CBR}, {"src": 4, "dst": 20, **_CBR}]}


def roofs(rate: str) -> Settings:
    """Seven roofs in a row: signals are strong at the next one, and weak with Rayleigh fading at the one after it.

    Args:
        rate: Rate of data.
    """
    pairs = [(a, b) for a in range(7) for b in range(7) if 0 < abs(a - b) < 3]
    rows = [f"{a},{b},{-65 if abs(a - b) == 1 else -80}" for a, b in pairs]
    return {
        "extends": "802.11a",
        "topology": {"kind": "chain", "hops": 6},
        "radio": {
            "propagation": "links",
            "links_table": "\n".join(["src,dst,signal_dbm", *rows, ""]),
            "reception": "sinr",
            "sinr": {"fading": "rayleigh"},
        },
        "wlan": {"data_rate": rate},
        "flow": [{"dst": 6, **_CBR}],
    }


def walk() -> Settings:
    """20 people in 800 m x 400 m who walk with 1 to 2 m/s; five flows."""
    cbr = {**_CBR, "cbr": {"interval": "250 ms", "payload": "512 B"}}
    return {
        "topology": {"kind": "random", "nodes": 20, "width": "800 m", "height": "400 m"},
        "mobility": {"model": "random_waypoint", "min_speed": "1 m/s", "max_speed": "2 m/s"},
        "flow": [{"src": a, "dst": a + 10, **cbr} for a in range(5)],
    }


def run(protocol: str, network: Callable[[], Settings], seed: int, **more: Any) -> chappe.Results:
    """A run of 240 s."""
    about_run = {"stop": "240 s", "batches": 1, "warmup_batches": 0, "seed": seed, "record": ["packets", "routes"]}
    settings = {**network(), "routing": PROTOCOLS[protocol][1], "run": about_run, **more}
    return chappe.run(chappe.Scenario(settings))


def delivered(results: Sequence[chappe.Results]) -> Estimate:
    """Share of the datagrams that arrived [%]."""
    return Estimate.of([100 * r.flows["packets_delivered"].sum() / r.flows["packets_sent"].sum() for r in results])


def overhead(results: Sequence[chappe.Results]) -> Estimate:
    """Bytes that a node sends for routing [B/s]."""
    nodes = [r.nodes for r in results]
    sent = [(n["routing_bytes_sent"].sum() + n["routing_header_bytes"].sum()) / len(n) for n in nodes]
    return Estimate.of([b / r.simulated_s for b, r in zip(sent, results, strict=True)])


def hops(results: Sequence[chappe.Results]) -> Estimate:
    """Hops of the datagrams that arrived."""
    return Estimate.of([_hops(r) for r in results])


def _hops(results: chappe.Results) -> float:
    packets = results.recorded["packets"].filter(pl.col("packet_type") == "udp")
    arrived = packets.filter(pl.col("event") == "delivered")["packet"]
    received = packets.filter((pl.col("event") == "received") & pl.col("packet").is_in(arrived.implode()))
    return len(received) / max(len(arrived), 1)


def life(results: Sequence[chappe.Results]) -> Estimate:
    """Time for which a source keeps its next hop [s]; no longer than the flow."""
    return Estimate.of([_life(r) for r in results])


def _life(results: chappe.Results) -> float:
    ends = results.flows.select(node="src", dst="dst")
    routes = results.recorded["routes"].join(ends.unique(), on=["node", "dst"], maintain_order="left")
    begins = 0
    for _, rows in routes.group_by("node", "dst"):
        now = None
        for time, next_hop, event in rows.select("time_s", "next_hop", "event").iter_rows():
            way = None if event == "removed" else next_hop
            begins += way is not None and way != now and (time > 60 or now is None)
            now = way
    return float(len(ends) * (results.simulated_s - 60) / max(begins, 1))


def first(results: Sequence[chappe.Results]) -> Estimate:
    """Time from the start of a flow, or from that of the network if it looks for routes before, to a route [s]."""
    return Estimate.of([_first(r) for r in results])


def _first(results: chappe.Results) -> float:
    ends = results.flows.select(node="src", dst="dst")
    found = (
        results.recorded["routes"].join(ends, on=["node", "dst"]).group_by("node", "dst").agg(pl.col("time_s").min())
    )
    times = [time - 60 if time >= 60 else time for time in found["time_s"]]
    return max(times) if len(times) == len(ends) else results.simulated_s


def silence(results: Sequence[chappe.Results], since_s: float) -> Estimate:
    """Time from an instant until a datagram of flow 0 arrives that was sent after it [s]."""
    return Estimate.of([_silence(r, since_s) for r in results])


def _silence(results: chappe.Results, since_s: float) -> float:
    mine = results.recorded["packets"].filter(pl.col("flow") == 0)
    late = mine.filter((pl.col("event") == "created") & (pl.col("time_s") > since_s))["packet"]
    arrived = mine.filter((pl.col("event") == "delivered") & pl.col("packet").is_in(late.implode()))["time_s"]
    end = float(arrived[0]) if len(arrived) else results.simulated_s
    return end - since_s


def middle(results: chappe.Results) -> int:
    """Node in the middle of the way of the last datagram of flow 0 that arrived before :data:`DOWN_S`."""
    mine = results.recorded["packets"].filter((pl.col("flow") == 0) & (pl.col("time_s") < DOWN_S))
    last = mine.filter(pl.col("event") == "delivered")["packet"][-1]
    way = mine.filter((pl.col("packet") == last) & (pl.col("event") == "received"))["node"]
    return int(way[len(way) // 2 - 1])


def with_interval(estimate: Estimate, digits: int = 0) -> str:
    """A mean and half of its interval of 95 %."""
    return f"{estimate.mean:,.{digits}f} ± {estimate.half_width():,.{digits}f}"


def row_of_chain(protocol: str) -> list[str]:
    """Cells of the table of the chain."""
    runs = [run(protocol, chain, seed) for seed in SEEDS]
    return [
        with_interval(first(runs), 1),
        with_interval(overhead(runs)),
        with_interval(silence(runs, UP_S), 1),
        with_interval(delivered(runs), 1),
    ]


def row_of_grid(protocol: str) -> list[str]:
    """Cells of the table of the grid."""
    runs = [run(protocol, grid, seed) for seed in SEEDS]
    off = [{"at": f"{DOWN_S} s", "action": "node_down", "node": middle(r)} for r in runs]
    broken = [run(protocol, grid, seed, event=[event]) for seed, event in zip(SEEDS, off, strict=True)]
    return [
        with_interval(first(runs), 1),
        with_interval(overhead(runs)),
        with_interval(hops(runs), 1),
        with_interval(life(runs)),
        with_interval(silence(broken, DOWN_S), 1),
        with_interval(delivered(runs), 1),
    ]


def row_of_others(network: Callable[[], Settings], protocol: str) -> list[str]:
    """Cells of the tables of networks without an interruption."""
    runs = [run(protocol, network, seed) for seed in SEEDS]
    return [
        with_interval(overhead(runs)),
        with_interval(hops(runs), 1),
        with_interval(life(runs)),
        with_interval(delivered(runs), 1),
    ]


_OTHERS = ["overhead [B/s]", "hops", "life [s]", "delivered [%]"]

TABLES: dict[str, tuple[list[str], Callable[[str], list[str]]]] = {
    "chain": (["first route [s]", "overhead [B/s]", "silence after the return [s]", "delivered [%]"], row_of_chain),
    "grid": (
        ["first route [s]", "overhead [B/s]", "hops", "life [s]", "silence after the loss [s]", "delivered [%]"],
        row_of_grid,
    ),
    "roofs": (_OTHERS, lambda name: row_of_others(lambda: roofs("6 Mbit/s"), name)),
    "roofs, 54 Mbit/s": (_OTHERS, lambda name: row_of_others(lambda: roofs("54 Mbit/s"), name)),
    "walk": (_OTHERS, lambda name: row_of_others(walk, name)),
}
"""Columns of each table and what makes a row; comments in the page say where a table begins and ends."""


def main(names: Sequence[str]) -> None:
    """Writes the rows of some protocols; those of others stay."""
    page = PAGE.read_text()
    for table, (columns, row) in TABLES.items():
        begin, end = f"<!-- {table} -->\n", "<!-- end -->"
        before, rest = page.split(begin)
        old, after = rest.split(end, 1)
        known = {line.split(" | ")[0].removeprefix("| "): line for line in old.splitlines()[2:]}
        known |= {PROTOCOLS[name][0]: f"| {PROTOCOLS[name][0]} | {' | '.join(row(name))} |" for name in names}
        lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        lines += [known[label] for label, _ in PROTOCOLS.values() if label in known]
        page = before + begin + "\n".join(lines) + "\n" + end + after
        print(table, *lines, sep="\n")
    PAGE.write_text(page)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL", help=", ".join(PROTOCOLS))
    chosen = parser.parse_args().protocols or list(PROTOCOLS)
    if unknown := [name for name in chosen if name not in PROTOCOLS]:
        parser.error(f"there is no protocol {', '.join(unknown)}; known: {', '.join(PROTOCOLS)}")
    main(chosen)
