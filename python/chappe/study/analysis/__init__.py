"""Analysis of a study: means, rankings, comparisons."""
