"""The work of a study on a Ray cluster."""

from chappe.study.error import ClusterError
from chappe.study.work import Workers


def workers(on: str) -> Workers:
    """Workers of a cluster."""
    raise ClusterError(on)
