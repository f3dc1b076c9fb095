"""Zhou, Leis, Hoang, Nhan: Throughput and Fairness of Multiple TCP Connections in Wireless Networks (2004)."""

from functools import cached_property
from pathlib import Path

from chappe.papers.paper import Wanted


class _Paper:
    name = "zhou2004"
    title = "Zhou, Leis, Hoang, Nhan: Throughput and Fairness of Multiple TCP Connections in Wireless Networks, 2004"
    figures = tuple(range(1, 6))
    tables = ()
    extras = ("readings", "authors", "formulas")

    @cached_property
    def claims(self) -> tuple[str, ...]:
        from chappe.papers.zhou2004.claims import CLAIMS

        return tuple(c.id for c in CLAIMS)

    def reproduce(self, folder: Path, *, wanted: Wanted, quick: bool, jobs: int | None) -> int:
        from chappe.papers.zhou2004.reproduce import reproduce

        return reproduce(self, folder, wanted=wanted, quick=quick, jobs=jobs)

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        from chappe.papers.zhou2004.validate import validate

        return validate(folder, jobs=jobs)


PAPER = _Paper()
"""The paper as a command: runs what is wanted, draws, tabulates, and judges the claims."""
