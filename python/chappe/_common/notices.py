"""A warning as a record, without the results it is about; kinds of warnings."""

import sys
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from chappe import _core
from chappe.errors import ChappeWarning

_OWN = ("chappe", "chappe_papers")
"""Packages that print warnings themselves, or know of them."""

OF_RUNS: Mapping[str, str] = {
    "silent_flow": "A flow delivered nothing in the measured part.",
    "slow_handover": "Data of a flow of `bulk` or `cbr` went through no gateway for at least 1 s between two gateways.",
    "correlated_batches": "Batches are correlated, and their intervals too narrow.",
    "trend": "Batches have a trend, and their intervals are too narrow.",
    "missed_precision": "Points of a study missed its precision.",
    "undecided_search": "A search ended before it told neighboring values apart.",
    "long_transient": "MSER-5 left out half of the batches: the transient may be longer.",
    "rewritten_study": "The description of a study was missing or damaged, and has been rewritten.",
    "damaged_runs": "Files of runs were damaged and moved away; the runs are repeated.",
    "replaced_runs": "Runs in the folder no longer belong to the study.",
}
"""Codes of warnings about results and studies only, each with its meaning."""


class Notice(NamedTuple):
    """A warning. ``str(notice)`` is the message."""

    code: str
    """Kind of the warning, such as ``unused_setting``; docs/scenarios.md and docs/results.md list them."""
    path: str
    """Dotted name of what the warning is about, such as ``flow.0`` or ``run.stop``; empty if there is none."""
    message: str
    """The warning as a sentence."""

    def __str__(self) -> str:
        return self.message


def codes() -> dict[str, str]:
    """Codes of all warnings, each with its meaning."""
    return {**dict(_core.warning_codes()), **OF_RUNS}


UNUSED = ("unused_setting",)
"""Codes of warnings of which a program is told that drives a run."""

UNDRIVEN = (*UNUSED, "no_driver")
"""Codes of warnings of which a program is told that has runs done."""


def tell(notices: Iterable[Notice], codes: Collection[str]) -> None:
    """Warns the program that has called a function of Chappe, as the command line does.

    To be called by that function. A function that Chappe itself has called says nothing. Python prints a warning once
    for each line of the program.

    Args:
        notices: Warnings about scenarios.
        codes: Codes of those to tell of.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller.partition(".")[0] in _OWN:
        return
    for notice in notices:
        if notice.code in codes:
            warnings.warn(notice.message, ChappeWarning, stacklevel=3)
