"""Stories of flows and packets: what happened to them, in sentences."""
