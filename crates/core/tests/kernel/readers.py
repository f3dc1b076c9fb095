"""Asks the kernel what a receiver does whose application reads slowly or whose buffer is small.

``python crates/core/tests/kernel/readers.py OUT`` asks each question five times and writes the answers to OUT, in the
format that `crates/core/tests/timeline/tcp/linux/readers.rs` reads: a line for each packet with its time, a number for
a segment, ``p`` for a probe without data, ``a`` with the number acknowledged for an acknowledgement and then the window
in bytes. Needs the rights of root, and three minutes.
"""

import select
import socket
import struct
import sys
import time
from dataclasses import dataclass

from link import MSS, Script, Seen, Work, send, transfer
from repeat import arguments

RTT_MS = 40.0
RUNS = 5
_PORT = 5001


@dataclass(frozen=True)
class Question:
    """Application of the receiver."""

    name: str
    segments: int
    buffer: int | None = None
    """SO_RCVBUF [B]; None: auto-tuning."""
    rate_bps: float | None = None
    """Rate at which the application reads; None: at once."""
    read_size: int = 65536
    """Bytes that it reads at a time."""
    pause_s: float = 0.0
    """Time from the SYN to the first read."""


QUESTIONS = (
    Question("tuned", 1000),
    Question("small", 200, buffer=20_000),
    Question("tiny", 30, buffer=4_000),
    Question("slow", 150, rate_bps=1e6, read_size=16_384),
    Question("small_slow", 150, buffer=20_000, rate_bps=1e6, read_size=4096),
    Question("small_pause", 100, buffer=20_000, pause_s=3.0),
    Question("pause", 200, buffer=60_000, pause_s=3.0),
)


def reader(question: Question) -> Work:
    """Program of the receiver."""

    def receive(channel: socket.socket, script: Script) -> None:
        listening = socket.socket()
        if question.buffer is not None:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, question.buffer)
        listening.bind(("", _PORT))
        listening.listen(1)
        channel.send(b"ready")
        connection, _ = listening.accept()
        # The connection is accepted a round-trip time after the SYN has arrived.
        ready = time.monotonic() - script.rtt_ms / 1e3 + question.pause_s
        period = question.read_size * 8 / question.rate_bps if question.rate_bps else 0.0
        ready += period
        while True:
            time.sleep(max(ready - time.monotonic(), 0))
            if not select.select([connection], [], [], 0)[0]:
                select.select([connection], [], [])
                ready = time.monotonic()
            if not connection.recv(question.read_size):
                return
            ready += period

    return receive


def rows(seen: list[Seen]) -> list[tuple[float, str, int]]:
    """Packets after the handshake: time [ms], packet, window [B]."""
    begin, isn, scale, out = seen[0][0], 0, 0, []
    for at, way, packet, _ in seen:
        head = 4 * (packet[0] & 15)
        seq, ack, words, flags, window = struct.unpack_from(">IIBBH", packet, head + 4)
        payload = struct.unpack_from(">H", packet, 2)[0] - head - 4 * (words >> 4)
        if flags & 2:
            if way == 0:
                isn = seq
            else:
                scale = _scale(packet[head + 20 : head + 4 * (words >> 4)])
                out.append(((at - begin) / 1e6, "a0", window))
            continue
        if flags & 4 or (way == 0 and not payload and seq == isn + 1):
            continue
        ms = (at - begin) / 1e6
        if way:
            out.append((ms, f"a{_segments(isn, ack)}", window << scale))
        else:
            whole = payload == MSS
            out.append((ms, _segments(isn, seq + MSS) if whole else "p", 0))
    return out


def _segments(isn: int, number: int) -> str:
    segments = ((number - isn - 1) & 0xFFFFFFFF) / MSS
    return f"{segments:.2f}".rstrip("0").rstrip(".")


def _scale(options: bytes) -> int:
    while options:
        if options[0] == 3:
            return options[2]
        options = options[1 if options[0] == 1 else options[1] :]
    return 0


def _order(rows: list[tuple[float, str, int]]) -> list[tuple[str, int]]:
    return [(what, window) for _, what, window in rows]


def repeat(question: Question) -> str:
    """Asks a question several times; returns the lines of an answer that the kernel has repeated."""
    script = Script("cubic", RTT_MS, 1000, question.segments, frozenset(), frozenset(), clears_push=True)
    answers = []
    for _ in range(RUNS):
        seen, tick_ns, late_ms, _ = transfer(script, send, reader(question))
        answers.append((rows(seen), tick_ns, late_ms))
    same = [_order(a[0]) == _order(answers[0][0]) for a in answers]
    print(question.name, len(answers[0][0]), same, [round(a[2], 2) for a in answers], file=sys.stderr)
    repeated = [a for a in answers if sum(_order(a[0]) == _order(b[0]) for b in answers) > 1]
    if not repeated:
        raise RuntimeError(f"the kernel does not repeat {question.name}")
    first, tick_ns, _ = min(repeated, key=lambda a: a[2])
    head = f"= {question.name} {question.segments} {question.buffer or 0} {question.rate_bps or 0:g}"
    head += f" {question.read_size} {question.pause_s:g} {tick_ns % (4096 * 4_000_000) // 1000}\n"
    return head + "".join(f"{ms:.2f} {what}{f' {window}' if what[0] == 'a' else ''}\n" for ms, what, window in first)


def main() -> int:
    """Asks all questions."""
    o = arguments(__doc__).parse_args()
    asked = [q for q in QUESTIONS if not o.only or q.name in o.only.split(",")]
    o.out.write_text("".join(repeat(q) for q in asked), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
