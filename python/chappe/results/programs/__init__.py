"""Runs in which programs other than Chappe send: those of this machine, and the library for QUIC."""
