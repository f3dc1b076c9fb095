"""A network as trials see it: its flows, their ways, and the hops that they share."""

import itertools
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from chappe._common.words import node_label
from chappe.errors import ScenarioError
from chappe.scenario.scenario import Scenario


class Network:
    """A scenario, with what follows from it."""

    def __init__(self, scenario: Scenario):
        """Takes the scenario."""
        self.scenario = scenario
        self.radios = len(scenario._core.places()[0])
        self.flows = [(src, dst) for src, dst, _ in scenario._core.flows()]

    def label(self, node: int) -> str:
        """Name of a node, or its number."""
        return node_label(node, self.scenario.names)

    def number(self, node: Any) -> int:
        """Number of a node, which may be a name."""
        numbers = {name: n for n, name in self.scenario.names.items()}
        return numbers[node] if node in numbers else int(node)

    @cached_property
    def paths(self) -> list[list[int]]:
        """Ways of the flows: those of static routing, or with a protocol those with the fewest hops."""
        found = self.scenario._core.paths()
        if not any(found):
            try:
                found = self.scenario.with_settings({"routing.protocol": "shortest_path"})._core.paths()
            except ScenarioError:
                return []
        return [path for path in found if path]

    @cached_property
    def hops(self) -> list[tuple[int, int]]:
        """Radio hops of the flows as pairs of nodes, those of most flows first."""
        of_all = Counter(
            (min(hop), max(hop)) for path in self.paths for hop in itertools.pairwise(path) if max(hop) < self.radios
        )
        return sorted(of_all, key=lambda hop: (-of_all[hop], hop))

    @cached_property
    def weakest(self) -> tuple[int, int] | None:
        """The hop of a flow with the weakest signal in its worse direction; ``None`` without hops."""
        signals = {(a, b): dbm for a, b, dbm, _ in self.scenario._core.links()}
        return min(self.hops, key=lambda h: min(signals.get(h, 0.0), signals.get((h[1], h[0]), 0.0)), default=None)

    @cached_property
    def relays(self) -> list[int]:
        """Nodes with a radio on ways of flows that are no end of one, those of most flows first."""
        ends = {end for flow in self.flows for end in flow}
        between = Counter(n for path in self.paths for n in path[1:-1] if n < self.radios and n not in ends)
        return sorted(between, key=lambda n: (-between[n], n))

    @cached_property
    def uplinks(self) -> list[tuple[int, dict[str, Any]]]:
        """Gateways with their wires to nodes that have no radio and more than one neighbor, or end a flow."""
        wires = [(self.number(w["src"]), self.number(w["dst"]), w) for w in self.scenario["wired_link"]]
        ends = {end for flow in self.flows for end in flow}
        return [(min(a, b), w) for a, b, w in wires if min(a, b) < self.radios <= max(a, b) and max(a, b) in ends]

    def with_nodes(self, *entries: dict[str, Any]) -> dict[str, Any]:
        """Settings of single nodes in addition to those that there are."""
        return {"node": [*self.scenario["node"], *entries]}

    def with_signals(self, db: float, pairs: Iterable[tuple[int, int]]) -> dict[str, Any]:
        """The table of measured links with these directions stronger by some decibels."""
        chosen = set(pairs)
        head, *rows = self.scenario["radio.links_table"].strip().splitlines()
        columns = head.split(",")
        src, dst = columns.index("src"), columns.index("dst")
        value, sign = ("signal_dbm", 1) if "signal_dbm" in columns else ("loss_db", -1)
        at, lines = columns.index(value), [head]
        for row in rows:
            cells = row.split(",")
            if (self.number(cells[src]), self.number(cells[dst])) in chosen:
                cells[at] = f"{float(cells[at]) + sign * db:g}"
            lines.append(",".join(cells))
        return {"radio.links_table": "\n".join(lines) + "\n"}

    @property
    def is_measured(self) -> bool:
        """True if a table has the signals of the links."""
        return bool(self.scenario["radio.propagation"] == "links")
