"""Comparisons with other simulators that belong to no paper; :data:`VALIDATIONS` lists them."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class SimulatorComparison:
    """A comparison: a package of this one with a module ``compare``, which is imported when it is needed."""

    name: str
    """Name on the command line, and of its package."""
    title: str
    """Description of the comparison."""

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        """Makes the runs, prints a summary, writes ``validation.md`` and ``validation.csv``; returns an exit code."""
        module = import_module(f"{__name__}.{self.name.replace('-', '_')}.compare")
        code: int = module.VALIDATION.validate(folder, jobs=jobs)
        return code


VALIDATIONS: tuple[SimulatorComparison, ...] = (
    SimulatorComparison("standard", "the DCF and NewReno of the preset standard against ns-3.37: 802.11b, 56 cases"),
    SimulatorComparison(
        "sinr", "reception by SINR and rate control against ns-3.37: links and chains of 802.11b, links of 802.11a"
    ),
    SimulatorComparison(
        "dsr", "DSR between mobile nodes against ns-2.35: TCP and datagrams with three movement patterns"
    ),
    SimulatorComparison(
        "wifi-n",
        "802.11n and 802.11ac against ns-3.37: links, contention, access categories, hidden terminals, noise, TCP",
    ),
)
"""All comparisons."""


def find(name: str) -> SimulatorComparison | None:
    """The comparison of this name."""
    return next((v for v in VALIDATIONS if v.name == name), None)
