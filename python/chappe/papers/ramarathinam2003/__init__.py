"""Ramarathinam, Labrador: Performance Analysis of TCP over Static Ad Hoc Wireless Networks (2003)."""
