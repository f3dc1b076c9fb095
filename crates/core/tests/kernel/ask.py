"""Asks the kernel what its TCP does when a script loses packets: a hundred scripts for each congestion control.

``python crates/core/tests/kernel/ask.py OUT`` asks each script three times and writes the answers to OUT, in the format
that `crates/core/tests/timeline/tcp/linux/kernel.rs` reads. Scripts are drawn from `SEED`: RTT 5 to 200 ms, queue 5 to
1,000 packets, 50 to 500 segments, one to five losses. ``--only cubic-7,bbr-12`` asks these alone. Needs the rights of
root, and a quarter of an hour.
"""

import argparse
import concurrent.futures
import itertools
import math
import multiprocessing
import platform
import random
import sys
from pathlib import Path

from link import MSS, Answer, Packet, Script, ask

SEED = 39
CONTROLS = ("reno", "cubic", "bbr")
SCRIPTS = 100
RUNS = 3
ATTEMPTS = 6
LATE_MS = 0.5


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
    try:
        answers = [undisturbed(script) for _ in range(RUNS)]
    except RuntimeError as e:
        return f"! {control}-{number} {e}\n"
    scatter = compare(answers)
    if isinstance(scatter, str):
        return f"! {control}-{number} {scatter}\n"
    head = f"= {control}-{number} {control} {script.rtt_ms} {script.queue} {script.segments}"
    lost = ",".join([*ranges(script.lost, ""), *ranges(script.lost_acks, "a")])
    tick = answers[0].tick_us
    return f"{head} {tick} {answers[0].min_rtt_us} {scatter:.1f} {lost}\n{_encode(answers[0].packets)}\n"


def compare(answers: list[Answer]) -> float | str:
    """Largest difference of times between answers [ms], or the first difference of the order of packets."""
    first, *others = [{False: _way(a, False), True: _way(a, True)} for a in answers]
    for way in (False, True):
        for other in others:
            for i, (a, b) in enumerate(itertools.zip_longest(first[way], other[way])):
                if not a or not b or a[1] != b[1]:
                    ms = a[0] if a else b[0]
                    return f"differs at {'data' if way else 'ack'} {i + 1}, {ms:.0f} ms"
    pairs = ((a, b) for way in (False, True) for o in others for a, b in zip(first[way], o[way], strict=True))
    return max(abs(a[0] - b[0]) for a, b in pairs)


def undisturbed(script: Script) -> Answer:
    """Asks a script on a machine that is not too busy, if that comes to pass in a few attempts."""
    answers = []
    for _ in range(ATTEMPTS):
        answers.append(ask(script))
        if disturbance(answers[-1]) < LATE_MS:
            break
    return min(answers, key=disturbance)


def disturbance(answer: Answer) -> float:
    """Time by which a busy machine has delayed the link, or the program that writes the data [ms]."""
    tenth = min(9, len(answer.packets) - 1)
    return max(answer.late_ms, answer.packets[tenth].ms - answer.packets[0].ms)


def _way(answer: Answer, forward: bool) -> list[tuple[float, tuple[object, ...]]]:
    """Packets of a direction: times, and what must be the same."""
    packets = [p for p in answer.packets if (p.acked is None) == forward]
    return [(p.ms, (p.acked, p.first, p.size, p.flags, p.blocks, p.fate)) for p in packets]


def ranges(numbers: frozenset[int], prefix: str) -> list[str]:
    """Writes numbers as ranges."""
    out: list[list[int]] = []
    for n in sorted(numbers):
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return [f"{prefix}{a}" if a == b else f"{prefix}{a}-{b}" for a, b in out]


def _encode(packets: tuple[Packet, ...]) -> str:
    """Writes packets in a line.

    Each begins with the tenths of a millisecond since the one before, if any. ``n`` is the next new segment, ``r5;``
    segment 5, ``a`` and ``b`` an acknowledgement of one or two segments more, ``c5;`` of 5, each followed by its SACK
    blocks: ``s3-7;``, from 3 to 7 above what is acknowledged. ``x`` is lost.
    """
    out, last, nxt, una = [], 0, 1, 0
    for p in packets:
        at = round(p.ms * 10)
        out.append(str(at - last) if at > last else "")
        last = at
        if p.acked is None:
            segment = p.first // MSS + 1
            out.append("n" if segment == nxt else f"r{segment};")
            nxt = max(nxt, segment + 1)
        else:
            acked = p.acked // MSS
            out.append({1: "a", 2: "b"}.get(acked - una, f"c{acked};"))
            una = acked
            out += [f"s{left // MSS + 1 - una}-{right // MSS - una};" for left, right in p.blocks]
        out.append("x" if p.fate != "ok" else "")
    return "".join(out)


def main() -> int:
    """Asks all scripts, several at a time."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--only", default="")
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
