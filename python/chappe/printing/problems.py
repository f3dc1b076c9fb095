"""Texts about scenarios and mistakes, which need no results."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from chappe.errors import LimitError, ScenarioError, StudyError
from chappe.scenario.scenario import Scenario, rate_of
from chappe.text import count, plain, table, tell, write

if TYPE_CHECKING:
    from chappe.scenario.explain import Explanation
    from chappe.text import Table


def warnings(scenario: Scenario, ignored: Sequence[str] = ()) -> None:
    """Prints the warnings about a scenario on standard error, except for those of ignored codes."""
    color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    if text := scenario._core.render_warnings(list(ignored), color):
        tell(text + "\n")


def refusal(e: ScenarioError | LimitError | StudyError, file: str) -> None:
    """Prints the problems of a scenario, a run or a study on standard error, their number, and that nothing was run."""
    color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    tell(str(e) if isinstance(e, StudyError) or not color else e.colored)
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
    algorithm = settings["wlan"]["rate_control"]["algorithm"]
    rate = f"{rate_of(scenario) if algorithm == 'fixed' else f'rates by {algorithm}'}; " if has_radio else ""
    return (
        f"{', '.join(places)}; {count(flows, 'flow')}; {rate}"
        f"{'; '.join([settings['routing']['protocol'], *filter(None, [', '.join(scenario.transports)])])}."
    )


def parts(shelves: list[dict[str, Any]]) -> None:
    """Prints every registry with its parts."""
    for shelf in shelves:
        t = table("", "~", title=f"{shelf['name']}  ({shelf['setting']})")
        t.show_header = False
        for part in shelf["parts"]:
            t.add_row(f"  {part['keyword']}", part["description"])
        write(t)


def explanations(found: "Iterable[Explanation]", *, is_whole: bool) -> None:
    """Prints explanations of a name; lists the expert settings of a group only if ``is_whole``."""
    for e in found:
        t = table("", "~", title=f"{e.name}  ({e.kind})")
        t.show_header = False
        t.add_row("  meaning", e.text)
        for name, fact in e.facts.items():
            is_short = name == "expert" and "everyday" in e.facts and not is_whole
            _add_fact(t, name, f"{len(fact)} more: `chappe explain {e.name} --all`" if is_short else fact)
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
