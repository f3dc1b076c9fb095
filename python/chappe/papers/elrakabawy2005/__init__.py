"""ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks (DSN 2005)."""

from pathlib import Path


class _Paper:
    name = "elrakabawy2005"
    title = "ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks, DSN 2005"
    figures = (6, 7, 8, 9)

    def reproduce(self, folder: Path, *, figure: int | None, quick: bool, jobs: int | None) -> int:
        from chappe.papers.elrakabawy2005.reproduce import reproduce

        return reproduce(self, folder, figure=figure, quick=quick, jobs=jobs)

    def validate(self, folder: Path, *, jobs: int | None) -> int:
        from chappe.papers.elrakabawy2005.validate import validate

        return validate(folder, jobs=jobs)


PAPER = _Paper()
