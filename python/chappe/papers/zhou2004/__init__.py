"""Zhou, Leis, Hoang, Nhan: Throughput and Fairness of Multiple TCP Connections in Wireless Networks (2004)."""

from chappe.papers.paper import Paper

PAPER = Paper(
    "zhou2004",
    "Zhou, Leis, Hoang, Nhan: Throughput and Fairness of Multiple TCP Connections in Wireless Networks, 2004",
    figures=tuple(range(1, 6)),
    extras=("readings", "authors", "formulas"),
)
