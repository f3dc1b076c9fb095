"""ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks (DSN 2005)."""

from chappe.papers.paper import Paper

PAPER = Paper(
    "elrakabawy2005",
    "ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks, DSN 2005",
    figures=tuple(range(2, 20)),
    tables=(1, 2, 3, 4),
)
