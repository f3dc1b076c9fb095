"""Ramarathinam, Labrador: Performance Analysis of TCP over Static Ad Hoc Wireless Networks (2003)."""

from chappe_papers.paper import Paper

PAPER = Paper(
    "ramarathinam2003",
    "Ramarathinam, Labrador: Performance Analysis of TCP over Static Ad Hoc Wireless Networks, 2003",
    "eleven laptops in a classroom, 130 connections, batteries, 5.5 Mbit/s",
    figures=tuple(range(1, 7)),
    tables=(1, 2),
    extras=("readings", "ranks", "queue", "vegas", "overhead", "udp", "walking"),
)
