"""The kernel of this machine over live chains, beside the kernel of the record and Chappe's own senders.

    python reproductions/experiments/techniques/check_live.py [RUNS [ROWS]]

writes ``reproductions/docs/kernel-live.md``; it needs Linux, and the rights of root for real-time priority. ROWS
chooses rows by a part of their name, such as ``"tun 802.11b"`` or ``"bbr 3"``, and prints them instead. A run takes
21 s; RUNS is 4. Rows whose interval includes the limit that is asked for then get twice as many further runs. A
machine that does other work is late, which the page tells.
"""

import os
import platform
import statistics
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import live_time
from chappe.stats import Estimate
from kernel_over_radios import BY_NFQUEUE, NETWORKS, SENDERS, Difference, Goodput, Network, runs

PAGE = Path(__file__).parents[2] / "docs" / "kernel-live.md"

SENDER = """
import socket, struct
s = socket.socket()
# Before the handshake: BBR leaves its pace behind, and not every namespace may have another default.
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{sender}")
s.connect(("10.0.{hops}.1", 7))
try:
    while True:
        s.sendall(bytes(1 << 17))
        # The place of tcpi_total_retrans in struct tcp_info.
        resent = struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]
except OSError:
    pass  # the receiver has seen enough
open("resent", "w").write(str(resent))
"""

RECEIVER = """
import socket, time
s = socket.socket()
s.bind(("10.0.{hops}.1", 7))
s.listen()
c, _ = s.accept()
begin, counted = time.monotonic(), 0
while (passed := time.monotonic() - begin) < 18:
    bytes_ = len(c.recv(1 << 17))
    counted += bytes_ if passed > 3 else 0
open("goodput", "w").write(str(counted * 8 / 15e6))
"""


class Door(NamedTuple):
    """A way into the network, and the sender of Chappe that is the same host.

    Attributes:
        name: Its name in `chappe live`.
        preset: Preset of Chappe's sender.
        tcp: Settings of it that differ.
        within: Difference that is asked for.
    """

    name: str
    preset: str
    tcp: Mapping[str, Any]
    within: float


DOORS = (Door("tun", "linux-tun", {}, 0.03), Door("nfqueue", "linux", BY_NFQUEUE, 0.05))


class Row(NamedTuple):
    """A sender over a chain."""

    door: Door
    network: Network
    sender: str
    hops: int
    recorded: Goodput

    def __str__(self) -> str:
        hops = f"{self.hops} hop{'s' * (self.hops > 1)}"
        return f"{SENDERS[self.sender]} over {hops} of {self.network.name}"


class Run(NamedTuple):
    """A live run.

    Attributes:
        goodput: Goodput from 3 to 18 s [Mbit/s].
        resent: Segments that the kernel sent again.
        late_ms: Lateness that 99 % of the deliveries do not exceed [ms].
        load: Load of the machine at its end, over a minute.
    """

    goodput: float
    resent: int
    late_ms: float
    load: float


def rows(wanted: str) -> list[Row]:
    """Rows of both tables."""
    found = []
    for door in DOORS:
        for network in NETWORKS:
            for sender, by_hops in (network.kernel if door.name == "tun" else network.by_nfqueue).items():
                found += [Row(door, network, sender, hops, recorded) for hops, recorded in by_hops.items()]
    return [row for row in found if wanted in f"{row.door.name} {row.network.name} {row.sender} {row.hops}"]


def kernel(row: Row, seed: int) -> Run:
    """Makes a live run."""
    settings = {
        "extends": [*row.network.preset, "linux-tun"],
        "run.stop": "60 s",
        "topology.hops": row.hops,
        "routing.protocol": "shortest_path",
        # A chain without a flow carries a file transfer.
        "flow": [{"src": 0, "dst": row.hops, "app": "external"}],
        **row.network.settings,
    }
    programs = {
        "receive": RECEIVER.format(hops=row.hops),
        "send": SENDER.format(hops=row.hops, sender=row.sender),
    }
    made = live_time.live(settings, row.hops, ["--seed", str(seed), "--door", row.door.name], programs)
    late_ms = 1e3 * made["late_p99_s"]
    return Run(float(made["goodput"]), int(made["resent"]), late_ms, os.getloadavg()[0])


class Measured(NamedTuple):
    """Runs of a row, and the goodput of Chappe's sender."""

    row: Row
    made: list[Run]
    chappe: Goodput

    @property
    def here(self) -> Goodput:
        """Goodput of the kernel of this machine."""
        of_runs = Estimate.of([run.goodput for run in self.made])
        return Goodput(of_runs.mean, of_runs.half_width())

    @property
    def is_open(self) -> bool:
        """True where the interval of the difference includes the limit that is asked for."""
        difference = Difference.of(self.chappe, self.here)
        return abs(abs(difference.value) - self.row.door.within) <= difference.half

    @property
    def cells(self) -> list[str]:
        """Line of a table."""
        row, here, resent = self.row, self.here, [run.resent for run in self.made]
        return [
            row.network.name,
            str(row.hops),
            SENDERS[row.sender],
            str(len(self.made)),
            str(here),
            str(row.recorded),
            str(self.chappe),
            str(Difference.of(self.chappe, here)),
            f"{statistics.median(resent):g} ({min(resent)} to {max(resent)})",
            f"{max(run.late_ms for run in self.made):.2f}",
        ]


FURTHER = 2
"""Further runs of an open row, for each of its first ones."""

UNEXPLAINED = "BBR over 1 hop of `802.11n`"
"""Row in whose record segments were sent again without a known reason."""

HEAD = [
    "| radio | hops | sender | runs | kernel here | recorded | Chappe | Chappe to here | resent here "
    "| late 99 % \\[ms\\] |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def wrapped(text: str) -> str:
    """A paragraph."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def about_bbr(m: Measured) -> str:
    """What became of the segments that BBR had sent again in the record."""
    resent = ", ".join(str(run.resent) for run in m.made)
    return (
        "Over one hop of `802.11n` BBR of the recorded kernel had sent 346 segments again (0 to 390), where Chappe's "
        f"sent 8. Here it sent {resent} again in its runs. One more run, which sent 90 again, was recorded and "
        "[repeated](../../docs/live.md#replay) in virtual time: the same 90 packets are dropped, all by the full queue "
        "of node 0 and 86 of them within 40 ms, after few acknowledgements had come for 170 ms while BBR kept its "
        "pace. So it is the network that drops them, not a late emulator."
    )


def page(measured: Sequence[Measured], time: Sequence[str] = ()) -> str:
    """The page.

    Args:
        measured: The rows.
        time: Section on how late live runs are.
    """
    told, tables = [], []
    for door in DOORS:
        of_door = [m for m in measured if m.row.door is door]
        differences = {str(m.row): Difference.of(m.chappe, m.here) for m in of_door}
        outside = {row: by for row, by in differences.items() if abs(by.value) > door.within}
        largest = max(differences, key=lambda row: abs(differences[row].value))
        certain = sum(abs(by.value) + by.half <= door.within for by in differences.values())
        said = [f"{row} differs by {by}" for row, by in outside.items()]
        told.append(
            f"{len(of_door) - len(outside)} of {len(of_door)} are within {100 * door.within:.0f} % through "
            f"{door.name.upper()}, {certain} with their whole intervals; "
            + "; ".join(said or [f"the largest difference is {differences[largest]}, of {largest}"])
        )
        tables += ["", f"## Through {door.name.upper()}", "", *HEAD]
        tables += [f"| {' | '.join(m.cells)} |" for m in of_door]
        told_of = [m for m in of_door if door is DOORS[0] and str(m.row) == UNEXPLAINED]
        tables += [line for m in told_of for line in ("", wrapped(about_bbr(m)))]
    all_runs = [run for m in measured for run in m.made]
    fewest = min(len(m.made) for m in measured)
    low, high = (edge(run.load for run in all_runs) for edge in (min, max))
    release = ".".join(platform.release().split(".")[:2])
    answer = f"**Of mean goodputs of Chappe beside those of this kernel, {'. '.join(told)}.**"
    method = (
        f"Linux {release} sent through `chappe live --real-time`, 15 s after 3 s, one segment per packet, "
        f"{fewest} runs of each row by turns, and {FURTHER * fewest} more of each row whose interval then included the "
        f"limit that is asked for, on {os.cpu_count()} processors whose load was {low:.1f} to {high:.1f}. *Recorded* "
        "is the kernel of [kernel-over-radios.md](kernel-over-radios.md), 4 to 6 runs, and *Chappe* its own "
        "senders with the settings of that page, 20 runs. Intervals are of 95 %. *Resent* is the median of "
        "segments that the kernel sent again in a whole run, with the smallest and the largest. The last column "
        "is the largest of the runs. [Which Linux do you mean?](../../docs/live.md#which-linux-do-you-mean) says what "
        "the two doors stand for. `make check-live` writes this page."
    )
    return (
        "\n".join(["# The kernel of a machine, live", "", wrapped(answer), "", wrapped(method), *tables, *time]) + "\n"
    )


def take_turns(turns: Sequence[tuple[Row, list[Run]]], number: int) -> None:
    """Makes further runs of rows. Rows take turns, because the load of a machine changes."""
    for _ in range(number):
        for row, made in turns:
            made.append(kernel(row, len(made) + 1))
            print(f"run {len(made)}, {row.door.name}, {row}: {made[-1]}", file=sys.stderr, flush=True)


def main() -> None:
    """Makes the runs, and writes the page or prints rows."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    chosen: list[tuple[Row, list[Run]]] = [(row, []) for row in rows(wanted)]
    take_turns(chosen, number)
    measured = [
        Measured(row, made, runs(row.network, row.sender, row.hops, row.door.preset, dict(row.door.tcp))[0])
        for row, made in chosen
    ]
    take_turns([(m.row, m.made) for m in measured if m.is_open], FURTHER * number)
    if wanted:
        print(page(measured))
    else:
        PAGE.write_text(page(measured, ["", *live_time.section()]), encoding="utf-8")


if __name__ == "__main__":
    main()
