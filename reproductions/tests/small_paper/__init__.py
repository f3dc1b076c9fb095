"""The smallest paper: Vegas and NewReno over short chains."""

from chappe_papers.paper import Paper

PAPER = Paper("small", "Somebody: Vegas over Short Chains, 2026", "short chains", figures=(1,), package="small_paper")
