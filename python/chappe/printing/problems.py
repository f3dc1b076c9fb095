"""Texts about scenarios and mistakes, which need no results."""

import csv
import io
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from chappe.errors import LimitError, ScenarioError, StudyError
from chappe.scenario.scenario import Scenario, rate_of
from chappe.text import count, number, plain, say, table, tell, write

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
    wlan = settings["wlan"]
    algorithm = wlan["rate_control"]["algorithm"]
    by = algorithm if algorithm != "fixed" else "wlan.link_rate" if wlan["link_rate"] else None
    rate = f"{f'rates by {by}' if by else rate_of(scenario)}; " if has_radio else ""
    return (
        f"{', '.join(places)}; {count(flows, 'flow')}; {rate}"
        f"{'; '.join([settings['routing']['protocol'], *filter(None, [', '.join(scenario.transports)])])}."
    )


_MOST_LINKS = 10
"""Rows of a survey that are printed."""


def survey(scenario: Scenario) -> None:
    """Prints measured links beside the model, the worst first, and what was assumed of links."""
    if scenario.settings["radio"]["propagation"] != "links":
        return
    _assumptions(scenario)
    rows, names = scenario.survey, scenario.names
    if rows.is_empty():
        return
    kinds = (
        ("bitrate_bps", "bit rate [Mbit/s]", _mbps),
        ("retry_share", "repeated attempts", _percent),
        ("throughput_bps", "expected [Mbit/s]", _mbps),
        ("frame_loss", "lost frames", _percent),
    )
    shown = [kind for kind in kinds if rows[f"measured_{kind[0]}"].count()]
    title = f"Measured and modeled links, the worst first ({count(len(rows), 'direction')})"
    t = table("link", "signal [dBm]", *(head for _, head, _ in shown), "factor", title=title)
    for row in rows.head(_MOST_LINKS).iter_rows(named=True):
        ends = " to ".join(names.get(row[end], str(row[end])) for end in ("src", "dst"))
        pairs = (f"{form(row[f'measured_{kind}'])}, model {form(row[f'modeled_{kind}'])}" for kind, _, form in shown)
        signal = "-" if row["signal_dbm"] is None else f"{row['signal_dbm']:.1f}"
        t.add_row(ends, signal, *pairs, number(row["factor"], 3))
    write(t)
    if len(rows) > _MOST_LINKS:
        say(f"{count(len(rows) - _MOST_LINKS, 'direction')} more: `chappe check --json`, `Scenario.survey`.")


def _mbps(bps: float | None) -> str:
    return "-" if bps is None else number(bps / 1e6, 3)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _assumptions(scenario: Scenario) -> None:
    """Says which signals were not measured, and which are drawn."""
    rows = list(csv.DictReader(io.StringIO(scenario.settings["radio"]["links_table"])))
    ends = {(row["src"], row["dst"]) for row in rows}
    gains = ("signal_dbm", "loss_db")
    by_loss = {(row["src"], row["dst"]) for row in rows if not any(row.get(gain) for gain in gains)}
    one_way = sum(pair[::-1] not in ends for pair in ends)
    radio = scenario.settings["radio"]
    if by_loss:
        say(f"Signals of {count(len(by_loss), 'direction')} follow from lost frames.")
    if one_way and radio["links_symmetric"]:
        were = "was not measured: it has" if one_way == 1 else "were not measured: they have"
        say(
            f"{count(one_way, 'direction')} of links {were} the signal of the other direction, corrected for the "
            "transmission powers (radio.links_symmetric)."
        )
    if radio["links_sd"] != "0 dB" or any(float(row.get("sd_db") or 0) for row in rows):
        say("Signals are drawn anew for each run (sd_db, radio.links_sd).")


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
