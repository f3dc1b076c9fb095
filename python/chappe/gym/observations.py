"""Observations of agents: columns of a look, chosen by name."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from chappe._common.arguments import names_of, quoted
from chappe.results.look import FLOW_COLUMNS, RADIO_COLUMNS

OF_RADIO = RADIO_COLUMNS[1:]
"""Columns of radios, without that of the node."""

OBSERVATIONS = (*FLOW_COLUMNS, *OF_RADIO)
"""Names of observations of an agent: of its flow, and of the first radio at the source of its flow.

``node.N.queue_packets`` and so on are those of the first radio of node N.
"""

DEFAULT = ("goodput_bps", "packets_dropped", "mean_rtt_s", "min_rtt_s", "outstanding_segments", "source_queue_packets")

_MOST: Mapping[str, float] = {"bps": 1e12, "bytes": 1e12, "s": 1e6, "share": 1.0}
"""Upper limits of spaces by the last part of a name; 1e9 of counts."""


class Observations:
    """Chosen columns.

    Attributes:
        names: Their names, with units.
        space: A box from 0 to a limit that no run reaches.
        airtime: True if the run has to account its airtime.
    """

    def __init__(self, names: str | Iterable[str]):
        self.names = names_of("observations", names)
        known = {name: re.fullmatch(rf"(?:node\.(\d+)\.)?({'|'.join(OF_RADIO)})", name) for name in self.names}
        wrong = [name for name, of_radio in known.items() if name not in FLOW_COLUMNS and not of_radio]
        if wrong:
            ways = ", ".join((*OBSERVATIONS, "node.N.queue_packets"))
            raise ValueError(f"observations: there is no {', '.join(map(quoted, wrong))}; known: {ways}")
        if not self.names:
            raise ValueError("observations: name at least one")
        if twice := [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]:
            raise ValueError(f"observations: {', '.join(map(quoted, twice))} twice")
        self._radio = {name: of_radio.groups() for name, of_radio in known.items() if of_radio}
        self._most = np.array([_MOST.get(name.rpartition("_")[2], 1e9) for name in self.names])
        self.space = spaces.Box(np.float32(0.0), self._most.astype(np.float32), dtype=np.float32)
        self.airtime = any(name.endswith("_share") for name in self.names)

    def places(self, flow: int, source: int, flows: int, radios: int) -> NDArray[np.intp]:
        """Places of the observations of an agent in the numbers of a look: rows of flows, then rows of radios.

        Raises:
            ValueError: If a node has no radio.
        """
        found = []
        for name in self.names:
            if name not in self._radio:
                found.append(flow * len(FLOW_COLUMNS) + FLOW_COLUMNS.index(name))
                continue
            node, column = self._radio[name]
            radio = source if node is None else int(node)
            if radio >= radios:
                raise ValueError(f"observation {quoted(name)}: node {radio} has no radio in this scenario")
            place = flows * len(FLOW_COLUMNS) + radio * len(RADIO_COLUMNS) + RADIO_COLUMNS.index(column)
            found.append(place)
        return np.array(found, dtype=np.intp)

    def seen(self, numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        """Observations of one or several agents: 0 where nothing was measured."""
        seen: NDArray[Any] = np.fmin(np.fmax(numbers, 0.0), self._most)
        return seen.astype(np.float32)
