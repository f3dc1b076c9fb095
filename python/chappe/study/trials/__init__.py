"""Changes that advice tries unless others are given: a part for each kind, in a file and a line of the list."""

from chappe.scenario.scenario import Scenario
from chappe.study.trials import frames, gateways, queues, radios, routes, transport
from chappe.study.trials.network import Network
from chappe.study.trials.trial import LeftOut, Trial

PARTS = (
    gateways.trials,
    radios.trials,
    routes.trials,
    frames.trials,
    queues.trials,
    transport.trials,
)
"""Kinds of changes, in the order in which they are tried."""


def trials_of(scenario: Scenario) -> tuple[list[Trial], list[LeftOut]]:
    """Changes of all parts, and those that the parts leave out."""
    found = [item for part in PARTS for item in part(Network(scenario))]
    return [t for t in found if isinstance(t, Trial)], [t for t in found if isinstance(t, LeftOut)]
