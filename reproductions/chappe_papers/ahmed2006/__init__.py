"""Ahmed, Zaidi, Sharif: Enhancing TCP Performance in Mobile Ad hoc Networks (2006)."""

from chappe_papers.paper import Paper

PAPER = Paper(
    "ahmed2006",
    "Ahmed, Zaidi, Sharif: Enhancing TCP Performance in Mobile Ad hoc Networks, 2006",
    "twenty mobile nodes, twenty file transfers over AODV, 1 % link loss",
    figures=tuple(range(1, 7)),
    extras=("readings", "gain", "losses", "outlook", "discrimination", "quench", "holes"),
)
