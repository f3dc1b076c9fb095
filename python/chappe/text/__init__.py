"""Tables, numbers, estimates and sentences as the command line prints them, whatever they are about."""

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chappe._common.lazy import attribute
from chappe._common.words import count, plain, tell, times

if TYPE_CHECKING:
    from rich.console import Console

    from chappe.text.latex import latex
    from chappe.text.layout import Table

__all__ = [
    "Table",
    "console",
    "count",
    "estimate",
    "latex",
    "number",
    "plain",
    "rate",
    "relative",
    "say",
    "table",
    "tell",
    "times",
    "with_error",
    "write",
]

# Functions import rich themselves: most of the time of `chappe --help` would be loading it.


def console() -> "Console":
    """Standard output; lines are wrapped on terminals only."""
    from rich.console import Console

    # In notebooks rich would display each line as an output of its own, past `sys.stdout`.
    width = None if sys.stdout.isatty() else 160
    return Console(highlight=False, emoji=False, force_jupyter=False, width=width)


def write(t: "Table") -> None:
    """Prints a table with its title, followed by an empty line."""
    from rich.text import Text

    out = console()
    if t.title:
        say(t.title, style="bold")
    for line in t.lines(out.width):
        # Unwrapped, even if a word is wider than the terminal.
        out.print(Text(line.text, style="bold" if line.header else ""), soft_wrap=True)
    out.print()


def say(text: str, style: str = "") -> None:
    """Prints a line, wrapped between words on a terminal."""
    from rich.text import Text

    console().print(Text(plain(text), style=style))


def table(*columns: str, title: str | None = None, keys: int = 1) -> "Table":
    """A table, see :class:`Table`; :func:`write` prints it."""
    from chappe.text.layout import Table

    return Table(*columns, title=title, keys=keys)


def number(value: float | None, digits: int = 4) -> str:
    """A number with ``digits`` significant digits, without exponent; "-" for ``None`` and NaN."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(places, 9)}f}"


def rate(bps: float | None, digits: int = 4) -> str:
    """A rate, in bit/s if it is below 1 kbit/s."""
    is_small = bps is not None and 0 < abs(bps) < 1000
    number_of = number(bps if is_small or bps is None else bps / 1e3, digits)
    return f"{number_of} {'bit/s' if is_small else 'kbit/s'}"


def with_error(mean: float | None, half_width: float | None, scale: float = 1.0) -> str:
    """Mean ± half width, rounded to the second digit of the half width; the mean alone if the half width is tiny."""
    if mean is None or math.isnan(mean):
        return "-"
    mean, half_width = mean * scale, math.nan if half_width is None else half_width * scale
    if math.isnan(half_width) or half_width <= 1e-5 * abs(mean):
        return number(mean)
    places = min(max(0, 1 - math.floor(math.log10(half_width))), 9)
    return f"{mean:,.{places}f} ± {half_width:,.{places}f}"


def estimate(row: Mapping[str, Any], scale: float = 1.0) -> str:
    """Estimate of a row of a summary with its interval: mean ± half width if both sides round to it, else both ends."""
    mean, low, high = (
        math.nan if row[name] is None else row[name] * scale for name in ("estimate", "ci_low", "ci_high")
    )
    half, below, above = (high - low) / 2, mean - low, high - mean
    if not half > 1e-5 * abs(mean):
        return with_error(mean, half)
    places = min(max(0, 1 - math.floor(math.log10(half))), 9)
    # Rounding errors alone make sides unequal.
    if math.isclose(below, above, rel_tol=1e-9) or f"{below:.{places}f}" == f"{above:.{places}f}":
        return with_error(mean, half)
    return f"{mean:,.{places}f} ({low:,.{places}f} to {high:,.{places}f})"


def relative(row: Mapping[str, Any], places: int = 1) -> str:
    """Relative difference of a row of a comparison with its interval, or with the reason why it has none."""
    value, low, high = (row[name] for name in ("relative", "relative_ci_low", "relative_ci_high"))
    if value is None:
        return "-" if row.get("estimate_b") is None else "- (baseline is 0)"
    if low is None or high is None:
        ends = "one run" if row.get("n") == 1 else "baseline may be 0"
    else:
        ends = f"{100 * low:+.{places}f} to {100 * high:+.{places}f}"
    return f"{100 * value:+.{places}f} ({ends}) %"


def __getattr__(name: str) -> Any:
    return attribute(__name__, name, {"Table": "chappe.text.layout", "latex": "chappe.text.latex"})
