"""A fuzzer of the Python API's arguments, with Hypothesis: ``python fuzz/api.py --minutes 60``.

A worker makes calls that Hypothesis draws, and says which one before it makes it. It stops at anything but an answer
or an error that the documentation names, raised where the mistake is seen. This process watches: it also stops when the
worker dies, or says nothing for ten seconds. The call that did it is written as JSON; it goes into ``fuzz/corpus/api``,
together with the fix. ``--replay`` makes the calls of that folder, as a test does.
"""

import argparse
import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

WORKER = Path(__file__).parent / "worker.py"

_START_S = 120.0
"""The worker has so long to begin."""

CORPUS = Path(__file__).parent / "corpus" / "api"


def watched(arguments: list[str], silence_s: float, until: float | None = None) -> tuple[str | None, str, int]:
    """Runs the worker.

    Args:
        arguments: Its arguments.
        silence_s: How long it may say nothing.
        until: When it has done enough; ``None``: when it has come to its end.

    Returns:
        What is wrong, or ``None``; the call that it made last; and how many it made.
    """
    command = [sys.executable, str(WORKER), *arguments]
    lines: queue.Queue[str | None] = queue.Queue()
    # A panic has its message; where Python was is told by Python.
    quiet = {**os.environ, "RUST_BACKTRACE": "0"}
    with subprocess.Popen(
        command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as p:
        assert p.stdout is not None
        stdout = p.stdout

        def listen() -> None:
            # It is closed under this thread when the worker is ended.
            with contextlib.suppress(ValueError):
                for line in stdout:
                    lines.put(line)
            lines.put(None)

        threading.Thread(target=listen, daemon=True).start()
        call, made = "", 0
        said: list[str] = []
        try:
            while until is None or time.monotonic() < until:
                try:
                    line = lines.get(timeout=silence_s if call else _START_S)
                except queue.Empty:
                    return "silence", call, made
                if line is None:
                    code = p.wait()
                    return (f"exit code {code}\n{''.join(said[-40:])}" if code else None), call, made
                if line.startswith("call "):
                    call, said, made = line.removeprefix("call ").strip(), [], made + 1
                elif line.strip(".\n"):
                    said.append(line)
            return None, call, made
        finally:
            p.kill()


def replay(files: list[Path], silence_s: float) -> str | None:
    """Makes the calls of these files; says what is wrong."""
    wrong, call, _ = watched(["--replay", *map(str, files)], silence_s)
    return wrong and f"{wrong}\n{call}"


def main() -> int:
    """Fuzzes, or replays."""
    parser = argparse.ArgumentParser(description="Fuzzes the Python API's arguments.")
    parser.add_argument("--minutes", type=float, default=5, help="how long (default: 5)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="of the calls that are drawn")
    parser.add_argument("--silence", type=float, default=10, help="seconds that a call may say nothing (default: 10)")
    parser.add_argument("--replay", action="store_true", help="make the calls of the corpus")
    arguments = parser.parse_args()
    if arguments.replay:
        wrong = replay(sorted(CORPUS.glob("*.json")), arguments.silence)
        print(wrong or "every call of the corpus is answered")
        return 1 if wrong else 0
    print(f"seed {arguments.seed}, {arguments.minutes:g} minutes", flush=True)
    until = time.monotonic() + 60 * arguments.minutes
    seed, count = arguments.seed, 0
    while time.monotonic() < until:
        wrong, call, made = watched(["--seed", str(seed)], arguments.silence, until)
        count += made
        if wrong:
            path = CORPUS / f"found-{seed}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(call + "\n", encoding="utf-8")
            print(f"{wrong}\n{call}\nwritten to {path}")
            return 1
        # A worker ends now and then, so that what it keeps does not grow for an hour.
        seed += 1
    print(f"{count:,} calls, nothing was found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
