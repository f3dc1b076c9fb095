"""The preset ``standard``, compared with ns-3."""
