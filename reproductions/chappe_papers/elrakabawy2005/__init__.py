"""ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks (DSN 2005)."""

from chappe_papers.paper import Paper

PAPER = Paper(
    "elrakabawy2005",
    "ElRakabawy, Lindemann, Vernon: Improving TCP Performance for Multihop Wireless Networks, DSN 2005",
    "chains of 4 to 40 hops, grids and random topologies of 802.11 nodes, AODV, 2 to 11 Mbit/s",
    figures=tuple(range(1, 20)),
    tables=(1, 2, 3, 4),
    extras=("control", "hidden", "tradeoff", "connected", "motion"),
)
