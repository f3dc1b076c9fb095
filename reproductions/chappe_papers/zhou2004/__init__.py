"""Zhou, Leis, Hoang, Nhan: Throughput and Fairness of Multiple TCP Connections in Wireless Networks (2004)."""

from chappe_papers.paper import Paper

PAPER = Paper(
    "zhou2004",
    "Zhou, Leis, Hoang, Nhan: Throughput and Fairness of Multiple TCP Connections in Wireless Networks, 2004",
    "five connections share a lossy link of 2 Mbit/s; timeouts of at least 1 s",
    figures=tuple(range(1, 6)),
    extras=("fairness", "readings", "authors", "formulas"),
)
