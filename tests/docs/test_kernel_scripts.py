"""Programs that ask the kernel (``crates/core/tests/kernel``) write lines for each script, also without an answer."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "crates/core/tests/kernel"

FAKED = """
import ask, repeat, writes
from link import PUSH, Answer, Packet

script = writes.scripts()["100-nagle"]

def never_ends(script):
    raise RuntimeError("no end within 30 s")

repeat.ask = never_ends
print(ask.repeat("cubic", 7), end="")
print(writes.repeat("100-nagle", script), end="")

def answer(script):
    sent = Packet(0.0, None, 0, 1448, PUSH, (), "ok"), Packet(0.2, None, 1448, 1448, 0, (), "script")
    return Answer(4_000, 0.0, 40_000, (*sent, Packet(40.2, 1448, 0, 0, 0, ((2896, 4344),), "ok")))

repeat.ask = answer
print(ask.repeat("cubic", 7).splitlines()[1])
print(writes.repeat("100-nagle", script), end="")
"""


def test_a_script_without_an_answer_has_the_reason_in_its_line() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROGRAMS)}
    asked = subprocess.run([sys.executable, "-c", FAKED], env=environment, capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines() == [
        "! cubic-7 no end within 30 s",
        "! 100-nagle no end within 30 s",
        "n2nx400as2-2;",
        "= 100-nagle cubic 40.0 10000 1000 20700 100 1 0 0 0 4 40000 0.0 -",
        "np2nx400as1448-2896;",
    ]
