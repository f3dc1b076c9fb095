"""Reception by SINR and rate control beside ns-3."""
