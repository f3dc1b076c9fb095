"""View of a run between two looks: an array of flows and one of radios, made without tables."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chappe import _core

FLOW_COLUMNS, RADIO_COLUMNS = (tuple(names) for names in _core.look_columns())

_FLOWS, _RADIOS = (np.dtype([(name, np.float64) for name in names]) for names in (FLOW_COLUMNS, RADIO_COLUMNS))


class Look(NamedTuple):
    """Counters of an interval, and states at its end. docs/scenarios.md has the columns with their units.

    ``look.flows["goodput_bps"][0]`` is the goodput of flow 0. NaN stands for what does not apply or was not measured.
    """

    from_ns: int
    """Begin of the interval: the instant of the last look, 0 at the first [ns]."""
    to_ns: int
    """End of the interval: the instant of this look [ns]."""
    flows: NDArray[np.void]
    """A row for each flow of the scenario."""
    radios: NDArray[np.void]
    """A row for each radio; the first radio of a node has the number of the node."""


def look_of(core: _core.Run) -> Look:
    """Looks at a run."""
    from_ns, to_ns, flows, radios = core.look()
    return Look(from_ns, to_ns, np.frombuffer(flows, _FLOWS), np.frombuffer(radios, _RADIOS))
