"""Measures as expressions over recorded tables, of a run and of a study."""
