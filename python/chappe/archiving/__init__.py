"""Archives of results for artifact evaluation: packed as RO-Crate 1.1, checked, and repeated."""
