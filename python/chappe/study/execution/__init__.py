"""Execution of the runs of a study: threads, a Ray cluster."""
