"""The preset ``standard`` beside ns-3."""
