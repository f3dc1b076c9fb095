"""DSR between walking nodes beside ns-2."""
