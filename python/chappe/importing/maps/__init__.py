"""Formats of maps and surveys: one file for each."""
