"""Scenarios, results and studies in notebooks: static HTML without scripts, at most 30 kB."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from chappe import text as show
from chappe.measures import measure_of
from chappe.page.map import drawn

if TYPE_CHECKING:
    from chappe.results.results import Results
    from chappe.scenario.scenario import Scenario
    from chappe.study import Study

MOST = 20
"""Rows of a table."""

_NODES = 150
"""Nodes that are drawn at most."""


def scenario(of: "Scenario") -> str:
    """Changes of a scenario, and its map."""
    changes = list(flat(json.loads(of._core.changes_json())))
    rows = [(n, str(v).lower() if isinstance(v, bool) else v) for n, v in changes if not isinstance(v, list)]
    nodes = len(of._core.places()[0])
    svg = drawn(of) if nodes <= _NODES else ""
    picture = _picture(svg, f"Map of {nodes} nodes") if svg else ""
    return joined(repr(of), picture, table_of(("setting", "differs from the default"), rows))


def _picture(svg: str, words: str) -> str:
    """A map as an image on white; of an SVG notebooks that are not trusted leave the texts, of an image its words."""
    look = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"'
    svg = svg.replace('class="map"', look, 1).replace(">", '><rect width="100%" height="100%" fill="#fff"/>', 1)
    data = base64.b64encode(svg.encode()).decode()
    return f'<p><img alt="{escape(words)}" width="640" src="data:image/svg+xml;base64,{data}"></p>'


def results(of: "Results") -> str:
    """The measures of a run."""
    rows = [(*_named(row["measure"]), show.estimate(row, measure_of(row["measure"]).scale))
            for row in of.summary().iter_rows(named=True)]  # fmt: skip
    return joined(repr(of), table_of(("measure", "unit", "value"), rows))


def study(of: "Study") -> str:
    """A measure of each point of a study, with its interval."""
    name = of.measure_of_search if of.is_search else "goodput_bps"
    label, unit = _named(name)
    rows = [
        (*(row[axis] for axis in of._own_axes), show.estimate(row, measure_of(name).scale))
        for row in of.summary(name).iter_rows(named=True)
    ]
    return joined(repr(of), table_of((*of._own_axes, f"{label} [{unit}]" if unit else label), rows))


class Player:
    """A report with its player, for notebooks: a page of its own, which cannot reach the notebook."""

    def __init__(self, page: str, title: str, height: int):
        """Keeps the page."""
        self._page = page
        self._title = title
        self._height = height

    def _repr_html_(self) -> str:
        """A frame of its own origin: without `sandbox` the page would have that of the notebook's server."""
        data = base64.b64encode(self._page.encode()).decode()
        return (
            f'<iframe sandbox="allow-scripts" title="{escape(self._title)}" width="100%" height="{self._height}" '
            f'style="border:0" src="data:text/html;charset=utf-8;base64,{data}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Player: {self._title}; shown by notebooks>"


def _named(measure: str) -> tuple[str, str]:
    m = measure_of(measure)
    return m.label, m.unit


def flat(settings: Mapping[str, Any], group: str = "") -> Iterable[tuple[str, Any]]:
    """Settings by their dotted names."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{group}{name}.")
        else:
            yield f"{group}{name}", value


def table_of(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of the first rows."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(c)}</th>" for c in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(v))}</td>" for v in row) + "</tr>" for row in rows[:MOST])
    more = f"<p>and {len(rows) - MOST:,} more</p>" if len(rows) > MOST else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def joined(title: str, *parts: str) -> str:
    """Parts below the words of a ``repr``."""
    return f"<div><p><b>{escape(title[1:-1])}</b></p>{''.join(parts)}</div>"
