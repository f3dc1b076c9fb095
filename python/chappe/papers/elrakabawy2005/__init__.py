"""ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks (DSN 2005)."""

from functools import cached_property
from pathlib import Path

from chappe.papers.paper import Wanted


class _Paper:
    name = "elrakabawy2005"
    title = "ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks, DSN 2005"
    figures = tuple(range(2, 20))
    tables = (1, 2, 3, 4)
    extras = ()

    @cached_property
    def claims(self) -> tuple[str, ...]:
        from chappe.papers.elrakabawy2005.claims import CLAIMS

        return tuple(c.id for c in CLAIMS)

    def reproduce(self, folder: Path, *, wanted: Wanted, quick: bool, jobs: int | None) -> int:
        from chappe.papers.elrakabawy2005.reproduce import reproduce

        return reproduce(self, folder, wanted=wanted, quick=quick, jobs=jobs)

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        from chappe.papers.elrakabawy2005.validate import validate

        return validate(folder, jobs=jobs)


PAPER = _Paper()
