"""Asks the kernel how its TCP cuts what a program writes, and how short transfers go from SYN to FIN.

``python crates/core/tests/kernel/writes.py OUT`` asks each script three times and writes the answers of those that
repeat themselves to OUT, in the format that `crates/core/tests/timeline/tcp/linux/writes.rs` reads.
``--only life-reno`` asks those whose names begin so. Needs the rights of root, and a few minutes.
"""

import random
import sys
from collections.abc import Callable, Iterator
from itertools import product

from link import FIN, MSS, PUSH, Answer, Packet, Script
from repeat import answered, arguments, losses_of

SIZES = (100, 1000, 1448, 2000, 10_000, 65_536)
"""Bytes of a write."""

NONE: frozenset[int] = frozenset()


def scripts() -> dict[str, Script]:
    """All scripts with their names."""
    found = {}
    for size in SIZES:
        for nagle in (True, False):
            word = "nagle" if nagle else "nodelay"
            total = min(200 * size, 300_000) + 700
            found[f"{size}-{word}"] = Script("cubic", 40.0, 1000, 0, NONE, NONE, size=total, write=size, nagle=nagle)
    # Beyond the quick acknowledgements at the beginning of a connection.
    for size in (2000, 10_000, 65_536):
        found[f"long-{size}"] = Script("reno", 10.0, 1000, 0, NONE, NONE, size=1_600_000, write=size)
    # Full segments lost: a kernel joins smaller ones when it sends them again.
    for size in (2000, 10_000):
        lost = frozenset((20, 60, 61))
        found[f"losses-{size}"] = Script("cubic", 40.0, 1000, 0, lost, NONE, size=300_000, write=size)
    for control in ("reno", "cubic"):
        for rtt, queue in ((19.0, 50), (40.0, 12), (116.0, 100)):
            found[f"buffer-{control}-{queue}"] = Script(
                control, rtt, queue, 0, NONE, NONE, 5_637_000, size=2_000_000, write=65_536, waits=True
            )
    for control in ("reno", "cubic", "bbr"):
        for segments in (1, 3, 10, 30, 100):
            for losses in (0, 1, 2):
                draw = random.Random(f"{control} {segments} {losses}")
                lost = frozenset(draw.sample(range(1, segments + 1), min(losses, segments)))
                name = f"life-{control}-{segments}-{losses}"
                found[name] = Script(control, 40.0, 1000, segments, lost, NONE, closes=True)
    # Waits shorter and longer than a delayed acknowledgement; the FIN of the receiver lost once, twice and four times.
    for control in ("reno", "cubic", "bbr"):
        for segments, wait_ms in product((1, 5, 100), (0, 10, 60, 300)):
            name = f"close-{control}-{segments}-{wait_ms}"
            found[name] = Script(control, 40.0, 1000, segments, NONE, NONE, closes=True, close_wait_ms=wait_ms)
        for segments, wait_ms, losses in product((1, 5), (0, 300), (1, 2, 4)):
            # After the SYN-ACK, an acknowledgement for each segment, and one for the FIN that waits no longer.
            first = 1 + segments + (wait_ms > 0) + 1
            lost = frozenset(range(first, first + losses))
            name = f"fin-{control}-{segments}-{wait_ms}-{losses}"
            found[name] = Script(control, 40.0, 1000, segments, NONE, lost, closes=True, close_wait_ms=wait_ms)
    for control, (share, segments) in product(("reno", "cubic"), ((0.01, 1500), (0.02, 1000))):
        draw = random.Random(f"{control} {share} w")
        lost = frozenset(i for i in range(1, 3 * segments) if draw.random() < share)
        size = segments * MSS
        found[f"random-{control}-{segments}"] = Script(control, 40.0, 100, 0, lost, NONE, size=size, write=size)
    return found


def repeat(name: str, script: Script) -> str:
    """Asks a script several times; returns its lines in the file."""
    size = script.size or script.segments * MSS

    def head(answer: Answer, scatter: float) -> str:
        how = f"{script.control} {script.rtt_ms} {script.rate_bps / 1e3:.0f} {script.queue}"
        what = f"{size} {script.write or size} {int(script.nagle)} {int(script.waits)}"
        closes = f"{int(script.closes)} {script.close_wait_ms:g}"
        times = f"{answer.tick_us} {answer.min_rtt_us} {scatter:.1f}"
        return f"{how} {what} {closes} {times} {losses_of(script) or '-'}"

    return answered(name, script, head, _words)


def _words() -> Callable[[Packet], Iterator[str]]:
    """Begins a line of packets.

    ``n`` is the next full segment, ``n700;`` one of 700 B, ``r2896;700;`` one again that has 2896 B before it, with
    ``p`` for PSH and ``f`` for FIN. ``a`` and ``b`` are acknowledgements of 1448 and 2896 B more, ``c700;`` of 700 B
    more, followed by their SACK blocks: ``s1448-2896;`` from the bytes that are acknowledged; ``f`` before them is the
    FIN of the receiver, and ``k`` its acknowledgement.
    """
    nxt, una = 0, 0

    def words(p: Packet) -> Iterator[str]:
        nonlocal nxt, una
        if p.acked is None and not p.size and not p.flags & FIN:
            yield "k"
        elif p.acked is None:
            new = p.first == nxt
            yield ("n" if p.size == MSS else f"n{p.size};") if new else f"r{p.first};{p.size};"
            nxt = max(nxt, p.first + p.size)
            yield ("p" if p.flags & PUSH else "") + ("f" if p.flags & FIN else "")
        else:
            more = p.acked - una
            yield {MSS: "a", 2 * MSS: "b"}.get(more, f"c{more};")
            una = p.acked
            yield "f" if p.flags & FIN else ""
            yield from (f"s{left - una}-{right - una};" for left, right in p.blocks)

    return words


def main() -> int:
    """Asks all scripts, one after the other."""
    o = arguments(__doc__).parse_args()
    with o.out.open("w") as f:
        for name, script in scripts().items():
            if name.startswith(o.only):
                f.write(repeat(name, script))
                f.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
