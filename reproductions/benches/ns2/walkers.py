"""Times ours against ns-2 among walkers: user CPU time of twenty nodes that move and send over AODV, in turn.

The runs are those of Ahmed, Zaidi and Sharif 2006 (``walkers.tcl``) on one walk, without traces. Both must
deliver as much.

Exit status 1: a run misses the target, or the deliveries disagree.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from chappe_papers.ahmed2006 import points
from runs import program
from zhou import main, ns_command

WALK = 1
AGENTS = {"newreno": "Newreno", "sack": "Sack1"}


@dataclass(frozen=True)
class Run:
    """One of the runs: a version of TCP at a speed [m/s]; ``folder`` is where its files go."""

    variant: str
    speed: float
    folder: Path

    def __str__(self) -> str:
        return f"{self.variant}, {self.speed:g} m/s"

    def file(self, ending: str, text: str) -> str:
        """Writes a file of this run."""
        path = self.path(ending)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def path(self, ending: str) -> Path:
        """Path of a file of this run."""
        return self.folder / f"{self.variant}{self.speed:g}.{ending}"

    def ours(self, seed: int, seconds: float | None = None) -> list[str]:
        """The command that runs it with ours."""
        scenario = points.scenario(points.Point(self.variant, self.speed, motion=WALK))
        return [program(), self.file("toml", scenario.to_toml()), str(seed), f"run.stop={seconds or points.SECONDS} s"]

    def theirs(self, seed: int, tuning: str, seconds: float | None = None) -> list[str]:
        """The command that runs it with ns-2."""
        scenario = points.scenario(points.Point(self.variant, self.speed, motion=WALK))
        sinks = " ".join(map(str, points.sinks(WALK)))
        motion = self.path("ns_movements")
        scenario.write_mobility(motion, format="setdest")
        case = (AGENTS[self.variant], motion, sinks, seed, seconds or points.SECONDS)
        return ns_command("walkers.tcl", case, tuning)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        runs = [Run(variant, speed, Path(folder)) for variant in AGENTS for speed in (5.0, 20.0)]
        sys.exit(main(__doc__ or "", runs))
