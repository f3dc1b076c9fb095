"""Formats of what daemons and drivers print on a node: one file for each."""
