"""Runs of a paper: which are made, the values taken from them, and estimates by point."""
