"""Storage of a study: chunks of runs in a folder."""
