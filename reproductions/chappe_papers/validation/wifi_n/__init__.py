"""802.11n and 802.11ac, compared with ns-3."""
