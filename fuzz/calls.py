"""Calls of the Python API as data, which are drawn, written, read and made.

A call is a list: the name of a function below, and its arguments by name. Arguments are JSON; what JSON cannot hold is
written as ``{"$": NAME}`` and stands in :data:`ODD`.
"""

import contextlib
import decimal
import fractions
import itertools
import json
import linecache
import math
import os
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
from chappe import study

LOOKS = 20
"""A run that has told its progress so often is ended: what it would measure is of no interest."""

Json = Any
Odd = Callable[[], Any]

PACKAGE = Path(chappe.__file__).parent


class _StringThatRaises:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class _PathOfBytes(os.PathLike[bytes]):
    def __fspath__(self) -> bytes:
        return b"bytes"


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def _circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


SMALL = {"run.max_memory": "300 MB", "run.time_limit": "100 s", "run.batches": 4}


@cache
def small_scenario() -> chappe.Scenario:
    """A small scenario, whose memory and time are bounded."""
    return chappe.Scenario.chain(2, SMALL, stop="40 delivered")


ODD: dict[str, Odd] = {
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "huge": lambda: 10**400,
    "digits": lambda: 10**5000,
    "-digits": lambda: -(10**5000),
    "object": object,
    "class": lambda: int,
    "function": lambda: len,
    "no repr": _StringThatRaises,
    "bytes": lambda: b"abc",
    "bytes of a path": _PathOfBytes,
    "surrogate": lambda: "\ud800",
    "null character": lambda: "a\0b",
    "long": lambda: "x" * 1_000_000,
    "complex": lambda: 1j,
    "decimal": lambda: decimal.Decimal("1.5"),
    "decimal nan": lambda: decimal.Decimal("nan"),
    "fraction": lambda: fractions.Fraction(3, 2),
    "numpy integer": lambda: np.int64(3),
    "numpy float": lambda: np.float32(0.5),
    "numpy truth": lambda: np.bool_(True),
    "numpy array": lambda: np.array([1, 2, 3]),
    "numpy matrix": lambda: np.zeros((2, 2)),
    "numpy text": lambda: np.array(["reno", "vegas"]),
    "series": lambda: pl.Series([1, 2, 3]),
    "frame": lambda: pl.DataFrame({"a": [1, 2]}),
    "generator": lambda: (i for i in (1, 2, 3)),
    "without end": itertools.count,
    "range": lambda: range(1, 4),
    "long range": lambda: range(10**12),
    "set": lambda: {1, 2},
    "many": lambda: list(range(200_000)),
    "deep": lambda: _nested(3000),
    "circle": _circle,
    "path": lambda: Path("somewhere"),
    "ellipsis": lambda: ...,
    "precision": lambda: study.Precision("goodput_bps", 0.1, max_seeds=4),
    "longer": lambda: study.Precision("goodput_bps", 0.1, max_length=4),
    "search": lambda: study.Search("tcp.receive_window", 1, 20),
    "scenario": small_scenario,
}
"""Values that JSON cannot hold, by name."""


def made(value: Json) -> Any:
    """The value that is written so."""
    if isinstance(value, dict):
        # A dict with this name may be drawn, too.
        if set(value) == {"$"} and isinstance(value["$"], str) and value["$"] in ODD:
            return ODD[value["$"]]()
        if set(value) == {"$precision"}:
            return study.Precision(**made(value["$precision"]))
        return {k: made(v) for k, v in value.items()}
    return [made(v) for v in value] if isinstance(value, list) else value


# ---- what is called ----


@cache
def results() -> chappe.Results:
    """A run."""
    return chappe.run(small_scenario())


@cache
def studies() -> list[chappe.Study]:
    """A study of each kind."""
    axes = {"tcp.variant": ["newreno", "vegas"], "topology.hops": [1, 2]}
    return [
        chappe.sweep(small_scenario(), axes, seeds=3),
        chappe.sweep(
            small_scenario(), axes, seeds=1, cases={"a": {"tcp.receive_window": 4}, "b": {"tcp.receive_window": 8}}
        ),
        chappe.search(small_scenario(), "tcp.receive_window", low=1, high=20, axes={"topology.hops": [1, 2]}, seeds=2),
    ]


COMMANDS = {
    "action",
    "node",
    "channel",
    "position",
    "destination",
    "speed",
    "flow",
    "setting",
    "value",
}


class EnoughError(Exception):
    """A run has shown that it goes on."""


def limited(progress: Callable[[float], object] | None = None) -> Callable[[float], object]:
    looks = itertools.count(1)

    def look(share: float) -> None:
        print(".", flush=True)
        if progress is not None:
            progress(share)
        if next(looks) >= LOOKS:
            raise EnoughError

    return look


def small(settings: Any) -> Any:
    """The same scenario with bounds, where it has none of its own."""
    if isinstance(settings, dict):
        return (
            {**settings, "run": {"max_memory": "300 MB", "limit": "100 s", **settings["run"]}}
            if isinstance(settings.get("run"), dict)
            else settings
        )
    return settings


def run(scenario: Any, **others: Any) -> None:
    if "progress" not in others or callable(others["progress"]):
        others["progress"] = limited()
    with contextlib.suppress(EnoughError):
        chappe.run(small(scenario), **others).summary()


def start(scenario: Any, at: Any, command: Any, **others: Any) -> None:
    with chappe.start(small(scenario), **others) as driven:
        driven.run_until(0.1)
        if isinstance(command, dict) and set(command) <= COMMANDS:
            driven._change(command)
        with contextlib.suppress(EnoughError):
            driven.run_until(at, progress=limited())
            driven.results().summary()


def completions(quantiles: Any) -> None:
    results().completions(quantiles)


def scenario(settings: Any, **others: Any) -> None:
    everything(chappe.Scenario(small(settings), **others))


def changed(settings: Any) -> None:
    everything(small_scenario().with_settings(settings))


def chain(**others: Any) -> None:
    everything(chappe.Scenario.chain(**others))


def everything(s: chappe.Scenario) -> None:
    """All that a scenario tells of itself."""
    repr(s), s.settings, dict(s), s.to_toml(), s.nodes, s.flows, s.transports, s.warnings, hash(s)


def load(path: Any, **others: Any) -> None:
    everything(chappe.Scenario.load(path, **others))


def loaded(text: str, **others: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "my.toml")
        path.write_text(text, encoding="utf-8", errors="replace")
        load(path, **others)


def study_file(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.toml")
        path.write_text(text, encoding="utf-8", errors="replace")
        study.load(path)


@contextlib.contextmanager
def in_own_folder() -> Iterator[None]:
    """Works in an empty folder, which goes away afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir("/")


def sweep(scenario: Any, **others: Any) -> None:
    with in_own_folder():
        looked(chappe.sweep(small(scenario), **harmless(others)))


def search(scenario: Any, **others: Any) -> None:
    with in_own_folder():
        looked(chappe.search(small(scenario), **harmless(others)))


def harmless(others: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a study, without the errors that a drawn function raises at progress."""
    return {**others, "progress": lambda _: None} if callable(others.get("progress")) else others


def looked(s: chappe.Study) -> None:
    """All that a study tells of itself."""
    repr(s), s.runs, s.doubts(), s.summary(), s.axes, s.scenario
    if s.is_search:
        s.curve()


def opened(folder: Any) -> None:
    chappe.Study(folder)


def of_study(which: int, method: str, **others: Any) -> None:
    getattr(studies()[which], method)(**others)


def of_results(method: str, **others: Any) -> None:
    with in_own_folder():
        getattr(results(), method)(**others)


def measure(points: Any, seeds: Any, **others: Any) -> None:
    study.measure(points, seeds, **others)


CALLS: dict[str, Callable[..., None]] = {
    f.__name__: f
    for f in (
        *(
            run,
            start,
            completions,
            scenario,
            changed,
            chain,
            load,
            loaded,
            study_file,
            sweep,
            search,
            opened,
            of_study,
            of_results,
        ),
        measure,
    )
}

ALWAYS = (
    chappe.ChappeError,
    OSError,
    EnoughError,
)
"""Errors of the package, and those of the system."""


def is_documented(error: BaseException) -> bool:
    """True for an error that is documented for users.

    ``ValueError`` and ``TypeError`` are, when a line of the package raises them. When they come from below, nobody has
    looked at the argument.
    """
    if isinstance(error, ALWAYS):
        return True
    if not isinstance(error, ValueError | TypeError):
        return False
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    name = frame.f_code.co_filename
    return Path(name).is_relative_to(PACKAGE) and linecache.getline(name, line).lstrip().startswith("raise ")


def perform(call: Json) -> None:
    """Makes a call, and fails when it ends as none should."""
    # Whoever was there before has left dots.
    print("\ncall", json.dumps(call), flush=True)
    name, arguments = call
    values = {k: made(v) for k, v in arguments.items()}
    try:
        with warnings.catch_warnings(action="ignore"):
            CALLS[name](**values)
    except BaseException as e:
        # Whoever sees it can read it.
        if not is_documented(e) or not (str(e).strip() or isinstance(e, EnoughError)):
            raise
