"""Design of a study: axes, precision, searches."""
