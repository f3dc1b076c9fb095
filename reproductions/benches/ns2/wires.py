"""Times ours against ns-2 on wires alone: user CPU time of long flows over a bottleneck and of short flows, in turn.

The runs are those of ``dumbbell.tcl`` and ``short_flows.tcl``. Both must deliver as much.

Exit status 1: a run misses the target, or the deliveries disagree.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from runs import program
from zhou import WIRES_TARGET, Timed, main, ns_command

HOST = 'rate = "10 Gbit/s", queue.limit = 10000, delay ='
BEGIN = """extends = "ns2-2.35"
run = {{ stop = "1 s", batches = 2 }}
topology = {{ kind = "none", wired_nodes = {nodes} }}
tcp = {{ variant = "newreno", receive_window = 64, initial_window = 1, mss = "1460 B" }}
"""


def written(path: Path, text: str, seed: int, seconds: float) -> list[str]:
    """Writes a scenario, and returns the command that runs it with Chappe."""
    path.write_text(text, encoding="utf-8")
    return [program(), str(path), str(seed), f"run.stop={seconds} s"]


@dataclass(frozen=True)
class Long:
    """Long flows over one bottleneck, each between two hosts of its own."""

    flows: int
    mbps: int
    queue: int
    seconds: float
    folder: Path

    def __str__(self) -> str:
        return f"{self.flows} {'flows' if self.flows > 1 else 'flow, 3 links'}, {self.mbps:,} Mbit/s"

    def ours(self, seed: int, seconds: float | None = None) -> list[str]:
        """The command that runs it with ours."""
        hosts = [(2 + 2 * i, 3 + 2 * i) for i in range(self.flows)]
        links = [f'{{ src = 0, dst = 1, rate = "{self.mbps} Mbit/s", delay = "10 ms", queue.limit = {self.queue} }}']
        for i, (a, b) in enumerate(hosts):
            # No two packets meet at the same instant.
            links.append(f'{{ src = {a}, dst = 0, {HOST} "{1000 + 13 * i} us" }}')
            links.append(f'{{ src = 1, dst = {b}, {HOST} "1 ms" }}')
        flows = [f'{{ src = {a}, dst = {b}, start = "{10 * i} ms" }}' for i, (a, b) in enumerate(hosts)]
        text = BEGIN.format(nodes=2 + 2 * self.flows)
        text += f"wired_link = [{', '.join(links)}]\nflow = [{', '.join(flows)}]\n"
        return written(self.folder / f"{self.flows}.toml", text, seed, seconds or self.seconds)

    def theirs(self, seed: int, tuning: str, seconds: float | None = None) -> list[str]:
        """The command that runs it with ns-2."""
        case = (self.flows, f"{self.mbps}Mb", self.queue, seed, seconds or self.seconds)
        return ns_command("dumbbell.tcl", case, tuning)


@dataclass(frozen=True)
class Short:
    """Short flows of one length in a Poisson process over three wires."""

    rate: int
    segments: int
    seconds: float
    folder: Path

    def __str__(self) -> str:
        return f"{self.rate:,} short flows a second"

    def ours(self, seed: int, seconds: float | None = None) -> list[str]:
        """The command that runs it with ours."""
        text = BEGIN.format(nodes=4)
        text += f'wired_link = [{{ src = 0, dst = 1, {HOST} "1 ms" }}, {{ src = 2, dst = 3, {HOST} "1 ms" }},\n'
        text += '    { src = 1, dst = 2, rate = "1 Gbit/s", delay = "1 ms", queue.limit = 1000 }]\n'
        size = f'{{ distribution = "fixed", mean = "{1460 * self.segments} B" }}'
        text += f"arrival_process = [{{ src = 0, dst = 3, rate = {self.rate}, size = {size} }}]\n"
        return written(self.folder / "short.toml", text, seed, seconds or self.seconds)

    def theirs(self, seed: int, tuning: str, seconds: float | None = None) -> list[str]:
        """The command that runs it with ns-2."""
        case = (self.rate, self.segments, seed, seconds or self.seconds)
        return ns_command("short_flows.tcl", case, tuning)


def runs(folder: Path) -> Sequence[Timed]:
    """The runs, with the files that ours needs in a folder."""
    return [
        Long(1, 10, 30, 500, folder),
        Long(10, 100, 100, 50, folder),
        Long(100, 1000, 1000, 5, folder),
        Short(5000, 10, 5, folder),
    ]


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        sys.exit(main(__doc__ or "", runs(Path(name)), WIRES_TARGET))
