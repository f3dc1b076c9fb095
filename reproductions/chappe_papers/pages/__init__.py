"""Figures, tables and the page of a paper."""
