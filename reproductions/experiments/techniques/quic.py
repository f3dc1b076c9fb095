"""QUIC of the library quinn-proto beside Chappe's TCP: chains, cross traffic, lossy wires.

``cargo build --release -p chappe-quic``, then ``python reproductions/experiments/techniques/quic.py`` makes the runs
and writes ``reproductions/docs/quic.md``.
"""

import json
import subprocess
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import chappe
from chappe.stats import Estimate

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "reproductions" / "docs" / "quic.md"
PROGRAM = ROOT / "target" / "release" / "chappe-quic"
SEEDS = range(1, 9)

CONTROLLERS = {"cubic": ("cubic", "CUBIC"), "newreno": ("reno", "NewReno"), "bbr": ("bbr", "BBR")}
"""By the name in the library: the congestion control of Linux in Chappe, and a name for the page."""

RUN = {"stop": "60 s", "batches": 6, "warmup_batches": 1}

RADIOS: dict[str, dict[str, Any]] = {
    "802.11b, 11 Mbit/s": {"extends": ["linux-tun"], "wlan": {"data_rate": "11 Mbit/s", "basic_rate": "2 Mbit/s"}},
    "`802.11n`": {"extends": ["802.11n", "linux-tun"]},
}


class Reached(NamedTuple):
    """Results of runs with several seeds.

    Attributes:
        goodput: Goodput [Mbit/s].
        lost: Share of the packets of the sender that it declared lost.
        others: Goodput of the other flow, if there is one [Mbit/s].
    """

    goodput: Estimate
    lost: float
    others: Estimate | None

    def __str__(self) -> str:
        return with_interval(self.goodput)


def with_interval(goodput: Estimate) -> str:
    """A mean and half of its interval of 95 %."""
    digits = 2 if goodput.mean >= 10 else 3
    return f"{goodput.mean:.{digits}f} ± {goodput.half_width():.{digits}f}"


def _reached(runs: Sequence[tuple[float, float, float | None]]) -> Reached:
    others = [other / 1e6 for _, _, other in runs if other is not None]
    return Reached(
        Estimate.of([goodput / 1e6 for goodput, _, _ in runs]),
        sum(lost for _, lost, _ in runs) / len(runs),
        Estimate.of(others) if others else None,
    )


def by_quic(settings: dict[str, Any], ends: tuple[int, int], controller: str) -> Reached:
    """Runs of the library, from one node to another."""
    src, dst = ends
    external = [{"src": src, "dst": dst, "app": "external"}, {"src": dst, "dst": src, "app": "external"}]
    scenario = chappe.Scenario({**settings, "flow": [*external, *settings.get("flow", [])]})
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "quic.toml"
        file.write_text(scenario.to_toml(), "utf-8")
        for seed in SEEDS:
            options = [str(seed), f"--controller={controller}", "--after=10"]
            done = subprocess.run([PROGRAM, file, *options], capture_output=True, text=True, check=True)
            line = json.loads(done.stdout)
            sender, others = line["at_client"], line["goodput_of_other_flows_bps"]
            lost = sender["packets_lost"] / sender["packets_sent"]
            runs.append((line["goodput_bps"], lost, others[0] if others else None))
    return _reached(runs)


def by_tcp(settings: dict[str, Any], ends: tuple[int, int], controller: str) -> Reached:
    """Runs of Chappe's TCP, from one node to another."""
    src, dst = ends
    flow = {"src": src, "dst": dst, "tcp": {"congestion_control": CONTROLLERS[controller][0]}}
    scenario = chappe.Scenario({**settings, "flow": [flow, *settings.get("flow", [])]})
    runs = []
    for seed in SEEDS:
        rows = chappe.run(scenario, seed=seed).flows.rows(named=True)
        lost = rows[0]["retransmissions"] / rows[0]["packets_sent"]
        runs.append((rows[0]["goodput_bps"], lost, rows[1]["goodput_bps"] if len(rows) > 1 else None))
    return _reached(runs)


def table(head: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of Markdown."""
    names = head.split(" | ")
    return [f"| {head} |", "|---" * len(names) + "|", *(f"| {' | '.join(row)} |" for row in rows)]


def chains() -> tuple[list[str], str]:
    """Goodput over chains, and the largest difference."""
    rows, differences = [], {}
    for radio, of_radio in RADIOS.items():
        for hops in (1, 3, 7):
            settings = {**of_radio, "run": RUN, "topology.hops": hops, "routing.protocol": "shortest_path"}
            for controller, (_, name) in CONTROLLERS.items():
                quic, tcp = (by(settings, (0, hops), controller) for by in (by_quic, by_tcp))
                difference = quic.goodput.mean / tcp.goodput.mean - 1
                differences[f"{name} over {hops} hop{'s' * (hops > 1)} of {radio}"] = difference
                shares = [f"{100 * lost:.1f} %" for lost in (quic.lost, tcp.lost)]
                rows.append([radio, str(hops), name, str(quic), str(tcp), f"{100 * difference:+.1f} %", *shares])
                print(rows[-1], flush=True)
    place, largest = max(differences.items(), key=lambda item: abs(item[1]))
    small = sum(abs(difference) <= 0.05 for difference in differences.values())
    said = f"{small} of {len(differences)} mean goodputs of QUIC are within 5 % of those of Chappe's TCP"
    head = "radio | hops | congestion control | quinn | TCP | difference | lost by quinn | resent by TCP"
    return table(head, rows), f"{said}; the largest difference is {100 * largest:+.0f} %, {place}"


def cross_traffic() -> list[str]:
    """A connection that shares a chain with Chappe's CUBIC."""
    rows = []
    for radio, of_radio in RADIOS.items():
        settings = {**of_radio, "run": RUN, "topology.hops": 3, "routing.protocol": "shortest_path"}
        settings["flow"] = [{"src": 0, "dst": 3, "tcp": {"congestion_control": "cubic"}}]
        for controller, (_, name) in CONTROLLERS.items():
            cells = [radio, name]
            for by in (by_quic, by_tcp):
                reached = by(settings, (0, 3), controller)
                assert reached.others is not None
                cells += [str(reached), with_interval(reached.others)]
            rows.append(cells)
            print(cells, flush=True)
    return table("radio | congestion control | quinn | CUBIC of TCP beside it | TCP | CUBIC of TCP beside it", rows)


def lossy_wires() -> list[str]:
    """A wire of 20 Mbit/s with a round-trip time of 40 ms that loses packets."""
    rows = []
    for rate in (0, 0.001, 0.01):
        wire = {"src": 0, "dst": 1, "rate": "20 Mbit/s", "delay": "20 ms"}
        wire |= {"error": {"model": "uniform", "rate": rate}} if rate else {}
        settings = {
            "extends": ["linux-tun"],
            "run": RUN,
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [wire],
        }
        for controller, (_, name) in CONTROLLERS.items():
            quic, tcp = (by(settings, (0, 1), controller) for by in (by_quic, by_tcp))
            rows.append([f"{100 * rate:g} %", name, str(quic), str(tcp)])
            print(rows[-1], flush=True)
    return table("lost packets | congestion control | quinn | TCP", rows)


def page() -> str:
    """The page."""
    stack = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    over_chains, said = chains()
    paragraphs = {
        "answer": (
            f"**{said}.** QUIC is that of the library {stack}, whose clients and servers are nodes of the simulated "
            "network (`crates/quic`). CUBIC and BBR are different rules in each implementation: this page is about "
            "those of this library and version, beside the TCP of Linux 6.18 in Chappe."
        ),
        "method": (
            f"One connection sends from the first to the last node of a chain, {len(SEEDS)} seeds of 60 s, of which "
            "the last 50 s count. Routes are static (`shortest_path`). TCP has the preset `linux-tun`; the settings "
            "of the library are its defaults. The tables have goodput \\[Mbit/s\\] with intervals of 95 %. Goodput of "
            "QUIC is what the application at the server has read in order. An IP packet of QUIC has 1,480 B, of which "
            "at most 1,417 are data; one of TCP 1,500 B with 1,448: per byte on the air QUIC carries 0.8 % less. "
            "*Lost* are packets that the sender took for lost, *resent* those that TCP sent again, also those that "
            "had arrived. `python reproductions/experiments/techniques/quic.py` writes this page."
        ),
        "open": (
            "It is not explained here why over 7 hops of `802.11n` CUBIC and NewReno of the library reach a tenth less "
            "than those of TCP, and its BBR a sixth more."
        ),
        "library": "What belongs to the library, and not to the network:",
        "cross": (
            "The same connection shares its chain, 3 hops from the same source to the same destination, with CUBIC "
            "of Chappe's TCP. On the right a connection of TCP takes its place."
        ),
        "wires": (
            "A wire of 20 Mbit/s with a round-trip time of 40 ms and the queue of the preset loses packets at random, "
            "in both directions."
        ),
    }
    notes = [
        "**BBR has no bound on its window** other than flow control (1.25 MB for a stream): where a queue is shorter "
        "than what it estimates, it loses what the table shows.",
        "**Pacing is 1.25 windows per round trip for every congestion control**: the library ignores the pacing rate "
        "of BBR. The random phase of BBR's cycle, which the library takes from the operating system, only changes "
        "that rate, so that runs are still equal, byte for byte.",
        "**It depends on how often it is asked**, because each call may send what pacing allows by then. The driver "
        "calls an end only after its own events, and lets it read all datagrams of an instant, such as those of an "
        "A-MPDU, before it sends. Asked after each datagram, it sends more acknowledgements, and CUBIC had 3 % less "
        "goodput over 1 and 7 hops of `802.11n` (8 runs each, in which stations held packets of at most 10 ms).",
        "**CUBIC has no HyStart**, so that slow start fills the queue, and there is no undo: a packet that was only "
        "late reduces the window like a lost one.",
        "**`congestion_events` counts batches of lost packets**, not reductions of the window.",
    ]
    filled = {
        name: textwrap.fill(p, 118, break_long_words=False, break_on_hyphens=False) for name, p in paragraphs.items()
    }
    listed = [
        textwrap.fill(f"- {note}", 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for note in notes
    ]
    parts = [
        ["# QUIC beside TCP", "", filled["answer"], "", filled["method"], "", *over_chains, "", filled["open"], ""],
        [filled["library"], "", *listed, ""],
        ["## With cross traffic", "", filled["cross"], "", *cross_traffic(), ""],
        ["## Over lossy wires", "", filled["wires"], "", *lossy_wires()],
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
