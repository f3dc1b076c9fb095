"""Checks of arguments, with the same messages on the command line and in Python."""

import itertools
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from chappe import _core
from chappe.errors import Problem

MANY = 1_000_000
"""The most entries of a list of settings, values or seeds."""

MOST_JOBS = 1000
"""The most runs that are made at the same time on one machine."""

JOBS_OR_RAY = "is for the cores of this machine; a Ray cluster uses all its CPUs"
"""Reason for which a cluster takes no number of parallel runs."""

NO_FOLDER = "names no folder"
"""Message about an empty name."""

_LATEST_NS = 2**63
"""Limit of simulated time [ns], two hundred years."""

_LONG = 60


def quoted(value: object) -> str:
    """A value as it may stand in a message: on one line, not too long."""
    try:
        text = repr(value)
    except Exception:  # whatever it is, it is not what was asked for
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."


def is_whole(value: object, least: int) -> TypeGuard[int]:
    """True for a whole number of at least ``least``."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def not_whole(value: object, least: int) -> str:
    """Message about a value that is no whole number, or is below ``least``."""
    return f"{quoted(value)} is not a whole number of at least {least}"


def problem_of_jobs(value: object) -> str | None:
    """Message about an invalid number of parallel runs; ``None`` if it is valid."""
    if not is_whole(value, 1):
        return not_whole(value, 1)
    return f"{quoted(value)} is more than {MOST_JOBS} parallel runs" if value > MOST_JOBS else None


def problems_of_work(jobs: object, backend: object, out: object, progress: object, title: object) -> list[Problem]:
    """Problems of the arguments that determine where and how runs are executed."""
    found = []
    if jobs is not None:
        if wrong := problem_of_jobs(jobs):
            found.append(problem("jobs", f"`jobs`: {wrong}", "number of parallel runs; None: one per core"))
        elif backend is not None:
            found.append(problem("jobs", f"`jobs` {JOBS_OR_RAY}", None))
    if backend is not None and (not isinstance(backend, str) or not backend):
        help_ = 'it is "ray", "ray://HOST:PORT" or None'
        found.append(problem("backend", f"`backend` cannot be {quoted(backend)}", help_))
    if out is not None and not is_path(out):
        found.append(problem("out", f"`out` cannot be {quoted(out)}", "it is the name of a folder, or None"))
    elif isinstance(out, str | os.PathLike) and not can_be_named(out):
        found.append(problem("out", f"no folder can be named {quoted(out)}", None))
    elif out == "":
        found.append(problem("out", f"`out` {NO_FOLDER}", None))
    if not isinstance(progress, bool) and not callable(progress):
        help_ = "it is True, False or a function of the completed share"
        found.append(problem("progress", f"`progress` cannot be {quoted(progress)}", help_))
    if not isinstance(title, str):
        found.append(problem("title", f"`title` cannot be {quoted(title)}", "it is a text"))
    return found


def is_path(value: object) -> bool:
    """True for the name of a file."""
    return isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))


def path_of(what: str, value: Any) -> Path:
    """A name of a file as a path.

    Raises:
        TypeError: When it is none.
        ValueError: When no file can have it.
    """
    if not is_path(value):
        raise TypeError(f"{what} is the name of a file, not {quoted(value)}")
    if not can_be_named(value) or not os.fspath(value):
        raise ValueError(f"no file can be named {quoted(value)}")
    return Path(value)


def can_be_named(path: str | os.PathLike[str]) -> bool:
    """True if a file can have this name."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def is_text(value: object) -> bool:
    """True for a text that can be written as UTF-8."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def mapping_of(what: str, value: Any) -> Mapping[str, Any]:
    """A set of changes.

    Raises:
        TypeError: When it is none.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} is a dict of dotted names and values, not {quoted(value)}")
    return value


def values_of(what: str, value: Any) -> dict[str, Any]:
    """Values by name: numbers, texts, or lists of them.

    Raises:
        TypeError: When they are something else.
    """
    found = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in mapping_of(what, value).items()}
    for name, v in found.items():
        for part in v if isinstance(v, list | tuple) else (v,):
            if part is not None and not isinstance(part, str | int | float):
                raise TypeError(f"{what} is a dict of names and values; {quoted(name)} cannot be {quoted(v)}")
    return found


def name_of(what: str, value: Any) -> str:
    """A name.

    Raises:
        TypeError: When it is none.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} is a name, not {quoted(value)}")
    return value


def names_of(what: str, value: Any) -> list[str]:
    """A name, or several, as a list.

    Raises:
        TypeError: When it is neither.
    """
    found = [value] if isinstance(value, str) else listed(value) if isinstance(value, Iterable) else None
    if found is None or not all(isinstance(v, str) for v in found):
        raise TypeError(f"{what} is a name or a list of names, not {quoted(value)}")
    return found


def listed(values: Iterable[Any]) -> list[Any]:
    """The values as a list.

    Raises:
        ValueError: When they are too many, or do not end.
    """
    found = list(itertools.islice(values, MANY + 1))
    if len(found) > MANY:
        raise ValueError(f"a list has at most {MANY:,} entries")
    return found


def problem(path: str, message: str, help_: str | None) -> Problem:
    """A problem that stands nowhere."""
    return Problem(path, message, help_, None, None, None)


def instant(at: object) -> int:
    """Instant of a run [ns], from a text with a unit or a number of seconds."""
    if isinstance(at, str):
        try:
            return _core.instant_ns(at)
        except (ValueError, UnicodeEncodeError) as e:
            why = str(e) if type(e) is ValueError else "it is not UTF-8 text"
        raise ValueError(f"{quoted(at)} is not an instant of a run: {why}")
    if isinstance(at, bool) or not isinstance(at, int | float):
        raise TypeError(f'an instant is a text such as "3 s" or a number of seconds, not {quoted(at)}')
    if not (math.isfinite(at) if isinstance(at, float) else True) or not 0 <= at < _LATEST_NS / 1e9:
        raise ValueError(f"{quoted(at)} s is not an instant of a run")
    return round(at * 1e9) if isinstance(at, float) else at * 10**9
