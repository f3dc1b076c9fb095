"""Lateness of live runs: echo round trips beside virtual time, and the CPU time of 40 Mbit/s.

``check_live.py`` writes these numbers into ``reproductions/docs/kernel-live.md``.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import chappe

ECHOES = 400
"""Echoes of a row, 25 ms apart."""

RATE_BPS = 40_000_000
LENGTH_S = 15.0

ASK = """
import re, subprocess
command = "ping -n -c {echoes} -i 0.025 -s 100 10.0.{hops}.1".split()
said = subprocess.run(command, capture_output=True, text=True).stdout
open("sent", "w").write(" ".join(re.findall("time=([0-9.]+) ms", said)))
"""
"""The kernel answers, and notes the instants, so that nothing of the round trip is that of a program."""

WAIT = "import time; time.sleep(60)"

SEND = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begin, number, size = time.perf_counter(), 0, 1472
while (passed := time.perf_counter() - begin) < {length}:
    while number * size * 8 < {rate} * passed:
        s.sendto(bytes(size), ("10.0.{hops}.1", 7))
        number += 1
    time.sleep(0.001)
open("sent", "w").write(str(time.process_time()))
"""

TAKE = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.{hops}.1", 7))
while True:
    s.recv(2000)
"""


def live(settings: Mapping[str, Any], hops: int, options: list[str], programs: Mapping[str, str]) -> dict[str, Any]:
    """Makes a live run with real-time priority of a program at each end of a chain.

    Args:
        settings: Settings of the chain.
        hops: Number of its hops.
        options: Further options of the command.
        programs: Python of the programs ``receive`` and ``send``, whose files they read and write in a folder.

    Returns:
        The object ``live`` of the command, with the content of each file that the programs wrote.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "chain.toml").write_text(chappe.Scenario(settings).to_toml(), encoding="utf-8")
        for program, code in programs.items():
            (folder / f"{program}.py").write_text(code, encoding="utf-8")
        receiver = ["--node", str(hops), f"exec {sys.executable} receive.py"]
        done = subprocess.run(
            [
                *(sys.executable, "-m", "chappe.cli", "live", "chain.toml", "--real-time", "--json"),
                *("--ignore", "unused_setting", *options, *receiver, "--", sys.executable, "send.py"),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        written = {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir() if not p.suffix}
    return {**json.loads(done.stdout)["live"], **written}


class Echoes(NamedTuple):
    """Round trips of echoes over a chain of 802.11b.

    Attributes:
        hops: Number of hops.
        live_ms: Those of a live run [ms].
        virtual_ms: Those of a simulation of its own, in virtual time [ms].
        late_ms: Median and 99 % of the lateness of its deliveries [ms].
        load: Load of the machine at its end, over a minute.
    """

    hops: int
    live_ms: list[float]
    virtual_ms: list[float]
    late_ms: tuple[float, float]
    load: float

    @property
    def cells(self) -> list[str]:
        """Line of a table."""
        here, virtual = statistics.median(self.live_ms), statistics.median(self.virtual_ms)
        lost = ECHOES - len(self.live_ms)
        late = [f"{ms:.2f}" for ms in self.late_ms]
        return [str(self.hops), f"{here:.2f}", f"{virtual:.2f}", f"{here - virtual:+.2f}", *late, str(lost)]


def echoes(hops: int) -> Echoes:
    """Sends echoes over a chain that carries nothing else."""
    settings = {
        "extends": "linux-tun",
        "run.stop": "60 s",
        "topology.hops": hops,
        "routing.protocol": "shortest_path",
        "wlan.data_rate": "11 Mbit/s",
        "flow": [{"src": 0, "dst": hops, "app": "external"}, {"src": hops, "dst": 0, "app": "external"}],
    }
    programs = {"receive": WAIT, "send": ASK.format(hops=hops, echoes=ECHOES)}
    made = live(settings, hops, [], programs)
    load = os.getloadavg()[0]
    asked, virtual = [], []
    with chappe.start(chappe.Scenario(settings), seed=1) as sim:
        here, there = sim.endpoint(0), sim.endpoint(hops)
        here.wake(1_000_000_000)
        for event in sim.events(until="60 s"):
            if event.kind == "wake":
                here.send(100, tag=len(asked))
                asked.append(event.at_ns)
                here.wake(event.at_ns + 25_000_000)
            elif event.kind == "arrived" and not event.copy and event.endpoint == hops:
                there.send(100, tag=event.tag)
            elif event.kind == "arrived" and not event.copy:
                virtual.append((event.at_ns - asked[event.tag]) / 1e6)
    late = made["late_median_s"], made["late_p99_s"]
    return Echoes(hops, [float(t) for t in made["sent"].split()], virtual, (1e3 * late[0], 1e3 * late[1]), load)


class Work(NamedTuple):
    """CPU time of a live run.

    Attributes:
        share: Of the simulation, its devices and the receiver, in cores.
        delivered_bps: What was delivered, IP packets [bit/s].
    """

    share: float
    delivered_bps: float


def work() -> Work:
    """Sends datagrams over one hop of 802.11n."""
    settings = {
        "extends": ["802.11n", "linux-tun"],
        "run.stop": "60 s",
        "topology.hops": 1,
        "flow": [{"src": 0, "dst": 1, "app": "external"}],
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    programs = {"receive": TAKE.format(hops=1), "send": SEND.format(hops=1, length=LENGTH_S, rate=RATE_BPS)}
    made = live(settings, 1, [], programs)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    all_s = sum(getattr(after, of) - getattr(before, of) for of in ("ru_utime", "ru_stime"))
    return Work((all_s - float(made["sent"])) / LENGTH_S, 8 * made["delivered_bytes"] / LENGTH_S)


def section() -> list[str]:
    """A section of the page, with new measurements."""
    rows = [echoes(hops) for hops in (1, 3, 7)]
    of_cpu = work()
    loads = [row.load for row in rows]
    echo = (
        f"{ECHOES} echoes of 100 B by ping, 25 ms apart, over chains of 802.11b that carry nothing else, beside "
        f"{len(rows[0].virtual_ms):,} in virtual time; medians, at a load of {min(loads):.1f} to {max(loads):.1f}. "
        "*Late* is the time from the simulated delivery of a packet to the end of the write into the device."
    )
    cpu = (
        f"{of_cpu.delivered_bps / 1e6:.1f} Mbit/s of datagrams over one hop of 802.11n took {100 * of_cpu.share:.0f} % "
        "of a core: the simulation, its devices, the start of the command and the receiving program together."
    )
    heads = ["hops", "live", "virtual", "difference", "late, median", "late, 99 %", "lost"]
    units = ["", *[" \\[ms\\]"] * 5, ""]
    return [
        "## Time",
        "",
        textwrap.fill(echo, 118),
        "",
        f"| {' | '.join(map(str.__add__, heads, units))} |",
        "|---" * len(heads) + "|",
        *(f"| {' | '.join(row.cells)} |" for row in rows),
        "",
        textwrap.fill(cpu, 118),
    ]
