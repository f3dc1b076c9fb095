"""Times ours against ns-2 in a room: user CPU time of eleven nodes with 130 TCP connections and batteries, in turn.

The runs are those of Ramarathinam and Labrador 2003 (``classroom.tcl``), without traces. DSDV is left out: in
ns-2 some seeds loop forever. Both must deliver as much.

Exit status 1: a run misses the target, or the deliveries disagree.
"""

import sys
from dataclasses import dataclass

from runs import program
from zhou import HERE, main, ns_command

SCENARIO = HERE.parents[1] / "chappe_papers" / "ramarathinam2003" / "scenario.toml"
SECONDS = 500
# Differences from AODV, as in the scenario, at the data rate of ns-2.
NS2_RATE = "wlan.data_rate=2 Mbit/s"
SETTINGS = {
    "aodv": [NS2_RATE],
    "dsr": [NS2_RATE, "routing.protocol=dsr", "flow.4.tcp.header_size=40 B", "queue.discipline=cmu_priority"],
}


@dataclass(frozen=True)
class Run:
    """One of the runs: a version of TCP over a routing protocol."""

    variant: str
    routing: str

    def __str__(self) -> str:
        return f"{self.variant}, {self.routing}"

    def ours(self, seed: int, seconds: float | None = None) -> list[str]:
        """The command that runs it with ours."""
        settings = [f"tcp.variant={self.variant}", f"run.stop={seconds or SECONDS} s", *SETTINGS[self.routing]]
        return [program(), str(SCENARIO), str(seed), *settings]

    def theirs(self, seed: int, tuning: str, seconds: float | None = None) -> list[str]:
        """The command that runs it with ns-2."""
        case = (self.variant.title(), self.routing.upper(), seed, seconds or SECONDS)
        return ns_command("classroom.tcl", case, tuning)


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", [Run("reno", "aodv"), Run("reno", "dsr")]))
