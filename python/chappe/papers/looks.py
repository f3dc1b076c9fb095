"""What the looks of the claims of all papers are built of: numbers from data, and their words."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from chappe.papers.paper import Check, Look, Table
from chappe.stats import Estimate


class MissingError(Exception):
    """The data does not have a run that a look needs."""


def look(found: Callable[[Table], tuple[str, list[Check]]]) -> Callable[[Table], Look]:
    """A look that is ``None`` when a run is missing."""

    @wraps(found)
    def guarded(data: Table) -> Look:
        try:
            return found(data)
        except MissingError:
            return None

    return guarded


def take(data: Table, point: Any, name: str) -> Estimate:
    """A measure of a point that must be there."""
    e = data.get(point, name)
    if e is None:
        raise MissingError
    return e


def percent(e: Estimate) -> str:
    """A ratio as a gain."""
    half = e.half_width() * 100
    error = f" (± {half:.0f})" if half == half else ""
    return f"{(e.mean - 1) * 100:+.0f} %{error}"


def sorted_out(checks: Mapping[str, Check]) -> str:
    """Where something is so, where not, and where it is open."""
    words = {True: "so at", False: "not at", None: "open at"}
    parts = [f"{words[w]} {', '.join(k for k, c in checks.items() if c is w)}" for w in (True, False, None)
             if w in checks.values()]  # fmt: skip
    return "; ".join(parts)
