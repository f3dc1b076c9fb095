"""Output of commands: shared printing functions, and texts that need no results."""

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from chappe._error import LimitError, ScenarioError, StudyError
from chappe._scenario import Scenario
from chappe._words import count, plain, tell

if TYPE_CHECKING:
    from rich.console import Console

    from chappe._explain import Explanation
    from chappe._layout import Table

# Functions import rich themselves: most of the time of `chappe --help` would be loading it.


_LOPSIDED = 1.5
"""Ratio of the longer to the shorter side of an interval from which both ends are printed."""


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
    """A table, see :class:`chappe._layout.Table`; :func:`write` prints it."""
    from chappe._layout import Table

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
    """Estimate of a row of a summary with its interval: mean ± half width, or the ends where they are not symmetric."""
    mean, low, high = (math.nan if row[name] is None else row[name] for name in ("estimate", "ci_low", "ci_high"))
    half, below, above = (high - low) / 2, mean - low, high - mean
    # Rounding errors alone make sides unequal.
    if not max(below, above) > max(_LOPSIDED * min(below, above), 1e-5 * abs(mean)):
        return with_error(mean, half, scale)
    places = min(max(0, 1 - math.floor(math.log10(half * scale))), 9)
    return f"{mean * scale:,.{places}f} ({low * scale:,.{places}f} to {high * scale:,.{places}f})"


def warnings(scenario: Scenario, ignored: Sequence[str] = ()) -> None:
    """Prints the warnings about a scenario on standard error, except for those of ignored codes."""
    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    if text := scenario._core.render_warnings(list(ignored), colour):
        tell(text + "\n")


def refusal(e: ScenarioError | LimitError | StudyError, file: str) -> None:
    """Prints the problems of a scenario, a run or a study on standard error, their number, and that nothing was run."""
    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    tell(str(e) if isinstance(e, StudyError) or not colour else e.colored)
    outcome = "the run was ended" if isinstance(e, LimitError) else "nothing was run"
    tell(f"\n{plain(file)}: {count(len(e.problems) + e.more, 'error')}; {outcome}.")


def sketch(scenario: Scenario) -> str:
    """Description of a scenario in one line."""
    settings = scenario.settings
    topology = settings["topology"]
    nodes, flows = len(scenario._core.places()[0]), len(scenario._core.flows())
    links, wired = len(settings["wired_link"]), settings["topology"]["wired_nodes"]
    has_radio, chain = topology["kind"] != "none", topology["kind"] == "chain"
    places = []
    if has_radio:
        places.append(f"Chain of {nodes:,} nodes, {topology['spacing']} apart" if chain else count(nodes, "node"))
    if wired:
        places.append(f"{count(wired, 'node')} without radio")
    if links:
        places.append(count(links, "link"))
    rate = f"{rate_of(scenario)}; " if has_radio else ""
    return (
        f"{', '.join(places)}; {count(flows, 'flow')}; {rate}"
        f"{'; '.join([settings['routing']['protocol'], *filter(None, [', '.join(scenario.transports)])])}."
    )


def rate_of(scenario: Scenario) -> str:
    """Rate of unicast data frames on links without a rate of their own."""
    rate_bps, mcs = scenario._core.data_rate()
    if mcs is None:
        return str(scenario.settings["wlan"]["data_rate"])
    streams = "" if mcs[1] == 1 else f", {mcs[1]} streams"
    return f"{rate_bps / 1e6:.4g} Mbit/s (MCS {mcs[0]}{streams})"


def parts(shelves: list[dict[str, Any]]) -> None:
    """Prints every registry with its parts."""
    for shelf in shelves:
        t = table("", "~", title=f"{shelf['name']}  ({shelf['setting']})")
        t.show_header = False
        for part in shelf["parts"]:
            t.add_row(f"  {part['keyword']}", part["description"])
        write(t)


def explanations(found: "Iterable[Explanation]") -> None:
    """Prints explanations of a name."""
    for e in found:
        t = table("", "~", title=f"{e.name}  ({e.kind})")
        t.show_header = False
        t.add_row("  meaning", e.text)
        for name, fact in e.facts.items():
            _add_fact(t, name, fact)
        write(t)


def _add_fact(t: "Table", name: str, fact: Any) -> None:
    """Adds a fact to the table of an explanation: a text, a list or a dict."""
    if isinstance(fact, dict):
        t.add_row(f"  {name}", "")
        for key, value in fact.items():
            t.add_row(f"    {key}", str(value).lower() if isinstance(value, bool) else str(value))
    elif isinstance(fact, list):
        for i, value in enumerate(fact):
            t.add_row("" if i else f"  {name}", value)
    else:
        t.add_row(f"  {name}", fact)


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...


def validations(comparisons: Iterable[_Named]) -> None:
    """Prints the comparisons with other simulators that belong to no paper."""
    t = table("Comparison", "subject")
    for v in comparisons:
        t.add_row(v.name, v.title)
    write(t)
