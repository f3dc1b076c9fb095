"""DSR between mobile nodes, compared with ns-2."""
