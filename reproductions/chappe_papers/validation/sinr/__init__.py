"""Reception by SINR and rate control, compared with ns-3."""
