"""Words for rows of comparisons and of searches."""

from collections.abc import Mapping
from typing import Any

MORE, LESS, ALIKE, OPEN, UNKNOWN = "more", "less", "the same", "not decided", "not measured"
"""Verdicts on a difference."""


def word(row: Mapping[str, Any]) -> str:
    """Verdict on a row of :meth:`chappe.Study.compare`."""
    if row["significant"] is None:
        return UNKNOWN
    if row["same"]:
        return ALIKE
    if row["significant"]:
        return MORE if row["difference"] > 0 else LESS
    return OPEN


def verdict(row: Mapping[str, Any], within: float) -> str:
    """Verdict on a row of a comparison; of an open one the largest possible relative difference.

    Args:
        row: Row of :meth:`chappe.Study.compare`.
        within: Relative difference up to which two settings are the same.
    """
    said = word(row)
    if said == ALIKE:
        return f"{ALIKE} within {100 * within:g} %"
    low, high = row["relative_ci_low"], row["relative_ci_high"]
    if said != OPEN or low is None or high is None:
        return said
    return f"{OPEN}: at most {100 * max(abs(low), abs(high)):.0f} % apart"


def place(row: Mapping[str, Any]) -> str:
    """Place of a value in a search: a row of :meth:`chappe.Study.curve`."""
    if row["is_best"]:
        return "best, from fresh seeds" if row["end"] else "best"
    return "not significantly worse" if row["is_tied"] else ""
