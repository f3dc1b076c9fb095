"""Formats of other simulators and emulators: one file for each."""
