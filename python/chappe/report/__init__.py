"""Reports: one HTML file each, which opens without a network."""
