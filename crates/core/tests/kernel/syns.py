"""Asks the kernel how it begins a connection whose SYNs, or the answers to them, are lost or late.

``python crates/core/tests/kernel/syns.py OUT`` asks each question three times and writes an answer to each to OUT, in
the format that `crates/core/tests/timeline/tcp/linux/syns.rs` reads: a line for each packet with its time, ``s`` for a
SYN, ``as`` for the answer to one, a number for a segment, ``a`` with the number acknowledged for an acknowledgement,
and ``x`` if it is lost. Acknowledgements of the sender are left out, and so is a second answer to a SYN: the receiver
has a timer, too, which races with that of the sender. Needs the rights of root, and two minutes.
"""

import struct
import sys

from link import MSS, SYN, Script, Seen, send, transfer
from link import receive as read
from repeat import arguments

RUNS = 3
RTT_MS = 40.0
NONE: frozenset[int] = frozenset()


def _first(count: int) -> frozenset[int]:
    return frozenset(range(1, count + 1))


def questions() -> dict[str, Script]:
    """Scripts with their names: losses of SYNs, of their answers, and of the segments that follow; long delays."""
    found = {}
    for syns in (0, 1, 2, 3, 6, 7):
        found[f"syn-{syns}"] = Script("cubic", RTT_MS, 1000, 20, NONE, NONE, lost_syns=syns)
    for syns in (1, 2):
        found[f"syn-{syns}-data"] = Script("cubic", RTT_MS, 1000, 3, _first(4), NONE, lost_syns=syns)
    # The receiver answers each SYN, and once in a while without one.
    for answers in (1, 2, 4):
        found[f"answer-{answers}"] = Script("cubic", RTT_MS, 1000, 20, NONE, NONE, lost_answers=answers)
    found["answer-1-data"] = Script("cubic", RTT_MS, 1000, 3, _first(4), NONE, lost_answers=1)
    for rtt_ms in (1500.0, 2500.0):
        found[f"late-{rtt_ms:.0f}"] = Script("cubic", rtt_ms, 1000, 20, NONE, NONE)
    return found


def rows(seen: list[Seen]) -> list[tuple[float, str]]:
    """Packets with their times [ms]."""
    begin, isn, answered, out = seen[0][0], 0, False, []
    for at, way, packet, fate in seen:
        head = 4 * (packet[0] & 15)
        seq, ack, words, flags = struct.unpack_from(">IIBB", packet, head + 4)
        payload = struct.unpack_from(">H", packet, 2)[0] - head - 4 * (words >> 4)
        what = ""
        if flags & SYN and way == 0:
            isn, answered, what = seq, False, "s"
        elif flags & SYN:
            answered, what = True, "" if answered else "as"
        elif way:
            what = f"a{((ack - isn - 1) & 0xFFFFFFFF) // MSS}"
        elif payload:
            what = str((seq - isn - 1) // MSS + 1)
        if what:
            out.append(((at - begin) / 1e6, what + (" x" if fate != "ok" else "")))
    return out


def main() -> int:
    """Asks all questions."""
    o = arguments(__doc__).parse_args()
    with o.out.open("w") as f:
        for name, script in questions().items():
            if not name.startswith(o.only):
                continue
            answers = [transfer(script, send, read) for _ in range(RUNS)]
            seen, tick_ns, _, _ = min(answers, key=lambda a: a[2])
            orders = {tuple(what for _, what in rows(a[0])) for a in answers}
            print(name, len(orders), [round(a[2], 2) for a in answers], file=sys.stderr)
            f.write(f"= {name} {script.segments} {tick_ns % (4096 * 4_000_000) // 1000}\n")
            f.writelines(f"{ms:.2f} {what}\n" for ms, what in rows(seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
