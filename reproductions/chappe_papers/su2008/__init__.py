"""Su, Steenkiste, Gross: Performance of TCP in Multi-Hop Access Networks (2008)."""

from chappe_papers.paper import Paper

PAPER = Paper(
    "su2008",
    "Su, Steenkiste, Gross: Performance of TCP in Multi-Hop Access Networks, 2008",
    "a testbed of 802.11b routers, one to five hops, alone and before a path to Europe or the US",
    figures=tuple(range(1, 15)),
    tables=tuple(range(1, 10)),
    extras=("informed", "outlook", "clamping", "predictions", "calibration", "buffers"),
)
