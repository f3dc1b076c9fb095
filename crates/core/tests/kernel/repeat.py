"""Scripts that are asked several times, and the lines in which what repeats itself is written."""

import argparse
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from link import Answer, Packet, Script, ask

RUNS = 3
ATTEMPTS = 6
LATE_MS = 0.5


def arguments(about: str) -> argparse.ArgumentParser:
    """Parser of the arguments that all programs have: the file to write, and what to ask alone."""
    p = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--only", default="")
    return p


def answered(
    name: str,
    script: Script,
    head: Callable[[Answer, float], str],
    words: Callable[[], Callable[[Packet], Iterator[str]]],
) -> str:
    """Asks a script several times.

    Args:
        name: Name of the script.
        script: Conditions of the transfer.
        head: Writes the fields of the first line for an answer and the scatter of the answers [ms].
        words: Begins an answer; returns what writes its packets, one after the other.

    Returns:
        The lines of the script in the file: an answer that repeats itself, or the reason why there is none.
    """
    try:
        answers = [undisturbed(script) for _ in range(RUNS)]
    except RuntimeError as e:
        return f"! {name} {e}\n"
    scatter = compare(answers)
    if isinstance(scatter, str):
        return f"! {name} {scatter}\n"
    return f"= {name} {head(answers[0], scatter)}\n{_line(answers[0].packets, words())}\n"


def _line(packets: tuple[Packet, ...], words: Callable[[Packet], Iterator[str]]) -> str:
    """Writes packets in a line: the tenths of a millisecond since the one before, if any, its words, ``x`` if lost."""
    out, last = [], 0
    for p in packets:
        at = round(p.ms * 10)
        out += [str(at - last) if at > last else "", *words(p), "x" if p.fate != "ok" else ""]
        last = at
    return "".join(out)


def losses_of(script: Script) -> str:
    """Writes the lost packets of a script: ranges of data packets, and of acknowledgements after ``a``."""
    return ",".join([*_ranges(script.lost, ""), *_ranges(script.lost_acks, "a")])


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


def _ranges(numbers: frozenset[int], prefix: str) -> list[str]:
    """Writes numbers as ranges."""
    out: list[list[int]] = []
    for n in sorted(numbers):
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return [f"{prefix}{a}" if a == b else f"{prefix}{a}-{b}" for a, b in out]
