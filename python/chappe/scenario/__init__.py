"""Scenarios: reading, explaining, creating."""
