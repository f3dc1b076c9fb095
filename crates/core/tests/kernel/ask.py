"""Asks the kernel what its TCP does when a script loses packets: a hundred scripts for each congestion control.

``python crates/core/tests/kernel/ask.py OUT`` asks each script three times and writes the answers to OUT, in the format
that `crates/core/tests/timeline/tcp/linux/kernel.rs` reads. Scripts are drawn from `SEED`: RTT 5 to 200 ms, queue 5 to
1,000 packets, 50 to 500 segments, one to five losses. ``--only cubic-7,bbr-12`` asks these alone. Needs the rights of
root, and a quarter of an hour.
"""

import concurrent.futures
import math
import multiprocessing
import platform
import random
import sys
from collections.abc import Callable, Iterator

from link import MSS, Answer, Packet, Script
from repeat import answered, arguments, losses_of

SEED = 39
CONTROLS = ("reno", "cubic", "bbr")
SCRIPTS = 100


def _spread(r: random.Random, low: float, high: float) -> float:
    """Draws a number whose logarithm is uniform."""
    return math.exp(r.uniform(math.log(low), math.log(high)))


def draw(control: str, number: int) -> Script:
    """Draws a script."""
    r = random.Random(f"{SEED} {control} {number}")
    segments = r.randint(50, 500)
    lost: set[int] = set()
    lost_acks: set[int] = set()
    for _ in range(r.randint(1, 5)):
        kind, first = r.random(), r.randint(1, segments)
        if kind < 0.35:
            lost.add(first)
        elif kind < 0.7:
            lost.update(range(first, first + round(_spread(r, 2, 25))))
        elif kind < 0.85:
            first = r.randint(2, segments)
            lost_acks.update(range(first, first + r.randint(1, 5)))
        else:
            lost.update(range(segments + 1 - r.randint(1, 10), segments + 1))
    return Script(
        control,
        round(_spread(r, 5, 200), 1),
        round(_spread(r, 5, 1000)),
        segments,
        frozenset(lost),
        frozenset(lost_acks),
    )


def repeat(control: str, number: int) -> str:
    """Asks a script several times; returns its lines in the file."""
    script = draw(control, number)

    def head(answer: Answer, scatter: float) -> str:
        times = f"{answer.tick_us} {answer.min_rtt_us} {scatter:.1f}"
        return f"{control} {script.rtt_ms} {script.queue} {script.segments} {times} {losses_of(script)}"

    return answered(f"{control}-{number}", script, head, _words)


def _words() -> Callable[[Packet], Iterator[str]]:
    """Begins a line of packets.

    ``n`` is the next new segment, ``r5;`` segment 5, ``a`` and ``b`` an acknowledgement of one or two segments more,
    ``c5;`` of 5, each followed by its SACK blocks: ``s3-7;``, from 3 to 7 above what is acknowledged.
    """
    nxt, una = 1, 0

    def words(p: Packet) -> Iterator[str]:
        nonlocal nxt, una
        if p.acked is None:
            segment = p.first // MSS + 1
            yield "n" if segment == nxt else f"r{segment};"
            nxt = max(nxt, segment + 1)
        else:
            acked = p.acked // MSS
            yield {1: "a", 2: "b"}.get(acked - una, f"c{acked};")
            una = acked
            yield from (f"s{left // MSS + 1 - una}-{right // MSS - una};" for left, right in p.blocks)

    return words


def main() -> int:
    """Asks all scripts, several at a time."""
    p = arguments(__doc__)
    p.add_argument("--jobs", type=int, default=3)
    o = p.parse_args()
    names = [(c, n) for c in CONTROLS for n in range(1, SCRIPTS + 1)]
    if o.only:
        names = [(c, n) for c, n in names if f"{c}-{n}" in o.only.split(",")]
    pool = concurrent.futures.ProcessPoolExecutor(o.jobs, multiprocessing.get_context("fork"))
    with pool, o.out.open("w") as f:
        f.write(f"# Linux {platform.release()}, seed {SEED}\n")
        for text in pool.map(repeat, *zip(*names, strict=True)):
            f.write(text)
            f.flush()
    lines = o.out.read_text().splitlines()
    kept = sum(line.startswith("= ") for line in lines)
    print(f"{kept} of {len(names)} scripts repeat themselves")
    return 0


if __name__ == "__main__":
    sys.exit(main())
