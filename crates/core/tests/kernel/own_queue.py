"""Asks the kernel what a sender does whose segments wait in the queue of its own node for longer than its timers.

``python crates/core/tests/kernel/own_queue.py OUT`` asks each question three times and writes the answers to OUT, in
the format that `crates/core/tests/timeline/tcp/linux/own_queue.rs` reads: a line for each packet that has left the
queue with its time, a number for a segment, ``a`` with the number acknowledged for an acknowledgement, and ``x`` if it
was lost. The queue is a token bucket (``tbf``) in front of the device of the sender. Needs the rights of root, ``tc``,
and a quarter of an hour.
"""

import socket
import subprocess
import sys
from dataclasses import dataclass

from link import Script, Work, send, transfer
from readers import Question as Reading
from readers import reader, rows
from repeat import arguments

RTT_MS = 20.0
RUNS = 3
BUCKET = 1600
"""Bytes that may leave the queue at once."""


@dataclass(frozen=True)
class Question:
    """A transfer through a slow queue."""

    control: str
    kbps: float
    """Rate of the queue."""
    segments: int
    lost: tuple[int, ...] = ()
    """Numbers of the data packets that are lost behind the queue."""

    @property
    def name(self) -> str:
        """Name in the file."""
        return f"{self.control}-{self.kbps:g}-{self.segments}" + "".join(f"-{n}" for n in self.lost)


QUESTIONS = tuple(
    Question(control, kbps, segments, lost)
    for control in ("cubic", "reno", "bbr")
    for kbps in (9.6, 20.0, 40.0, 70.0)
    for segments, lost in ((3, ()), (8, ()), (12, (3,)), (12, (2, 4)))
)


def slow(question: Question) -> Work:
    """Program of the sender."""

    def work(channel: socket.socket, script: Script) -> None:
        words = f"tc qdisc add dev tun0 root tbf rate {question.kbps}kbit burst {BUCKET} limit 1000000"
        subprocess.run(words.split(), check=True)
        send(channel, script)

    return work


def packets(question: Question) -> tuple[list[tuple[float, str]], int]:
    """Asks a question: packets, and the time of the SYN on the clock of the kernel's timers [us]."""
    lost = frozenset(question.lost)
    script = Script(question.control, RTT_MS, 1000, question.segments, lost, frozenset(), rate_bps=1e9)
    seen, tick_ns, _, _ = transfer(script, slow(question), reader(Reading(question.name, question.segments)))
    fates = {(at - seen[0][0]) / 1e6: fate for at, _, _, fate in seen}
    found = [(ms, what + (" x" if fates[ms] != "ok" else "")) for ms, what, _ in rows(seen) if what != "a0"]
    return found, tick_ns % (4096 * 4_000_000) // 1000


def repeat(question: Question) -> str:
    """Asks a question several times; returns the lines of an answer, if the kernel repeats it."""
    answers = [packets(question) for _ in range(RUNS)]
    orders = [[what for _, what in found] for found, _ in answers]
    print(question.name, len(orders[0]), [order == orders[0] for order in orders], file=sys.stderr)
    if any(order != orders[0] for order in orders):
        return f"! {question.name}\n"
    found, tick_us = answers[0]
    head = f"= {question.name} {question.control} {question.kbps * 1e3:g} {question.segments} {tick_us}\n"
    return head + "".join(f"{ms:.1f} {what}\n" for ms, what in found)


def main() -> int:
    """Asks all questions."""
    o = arguments(__doc__).parse_args()
    asked = [q for q in QUESTIONS if not o.only or q.name in o.only.split(",")]
    o.out.write_text("".join(repeat(q) for q in asked), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
