"""The runs of ns-3.37 that ship with the package."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field

from chappe_papers.validation.standard.cases import HERE, Case

Run = Mapping[str, float]
"""Values measured in a run: the names of :data:`MEASURES`."""

GOODPUT = "goodput_bps"
FIRST = "first_flow_bps"
FAILURES = "failures_per_attempt"
GIVEN_UP = "given_up_per_s"

MEASURES = {
    GOODPUT: "goodput of all flows [bit/s]",
    FIRST: "goodput of the first flow [bit/s]",
    FAILURES: "share of attempts that fail",
    GIVEN_UP: "packets given up [1/s]",
}
"""Measures for people. An attempt is an RTS, or a data frame where there are none."""


@dataclass
class Reference:
    """The runs of a case, one for each seed."""

    own: list[Run] = field(default_factory=list)
    """With ns-3's own rules."""
    mended: list[Run] = field(default_factory=list)
    """With two of them mended, where that makes a difference."""

    @property
    def best(self) -> list[Run]:
        """Runs to compare with."""
        return self.mended or self.own


def reference() -> dict[Case, Reference]:
    """The runs of all cases, in the order of the file."""
    by_case: dict[Case, Reference] = {}
    for row in csv.DictReader(HERE.joinpath("ns3.csv").read_text(encoding="utf-8").splitlines()):
        case = Case(
            row["case"], int(row["stations"]), int(row["hops"]), int(row["mbps"]), row["rts"] == "1",
            int(row["control_mbps"]), row["short_preamble"] == "1",
        )  # fmt: skip
        runs_of_case = by_case.setdefault(case, Reference())
        runs = {"own": runs_of_case.own, "mended": runs_of_case.mended}[row["rules"]]
        runs.append(measured({name: float(row[name]) for name in COUNTED}, case))
    return by_case


COUNTED = (
    "seconds", "total_bps", "flow0_bps", "rts_frames_sent", "data_frames_sent", "rts_frames_failed",
    "data_frames_failed", "given_up",
)  # fmt: skip
"""Values taken from a run of either simulator."""


def measured(counted: Mapping[str, float], case: Case) -> Run:
    """The measures of a run."""
    attempts = "rts" if case.rts else "data"
    return {
        GOODPUT: counted["total_bps"],
        FIRST: counted["flow0_bps"],
        FAILURES: counted[f"{attempts}_frames_failed"] / max(counted[f"{attempts}_frames_sent"], 1),
        GIVEN_UP: counted["given_up"] / counted["seconds"],
    }
