"""The worker of ``fuzz/api.py``: draws calls and makes them, or makes those of files."""

import argparse
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calls import limited, perform
from chappe.study.execution import threads as work
from draws import calls
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

Json = Any

MEMORY_B = 6_000_000_000
"""Address space of this process: whoever takes more is refused by the system."""

EXAMPLES = 2000
"""The number of calls that a worker draws."""


def bounded() -> None:
    """Ends runs of studies that take long, waits for no disk, and takes address space away."""
    execute = work.execute

    def ended(item: Any, progress: Callable[[float], object] | None = None) -> Any:
        finished = execute(item, limited(progress))
        print(".", flush=True)
        return finished

    work.execute = ended
    # Kept results are forgotten at once, and thousands of files are written.
    os.fsync = lambda _: None  # type: ignore[assignment]  # its parameter has a name that nobody uses
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_B, MEMORY_B))


def main() -> int:
    """Draws calls, or makes those of files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", nargs="*", type=Path)
    arguments = parser.parse_args()
    bounded()
    if arguments.replay is not None:
        for path in arguments.replay:
            for line in path.read_text(encoding="utf-8").splitlines():
                perform(json.loads(line))
        return 0

    @seed(arguments.seed)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        verbosity=Verbosity.normal,
    )
    @given(calls)
    def draws(call: Json) -> None:
        perform(call)

    draws()
    return 0


if __name__ == "__main__":
    sys.exit(main())
