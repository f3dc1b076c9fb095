"""Congestion control of one's own: the classes that scenarios name, what they are told, and what they decide."""

import difflib
import hashlib
import importlib
import marshal
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

from chappe import _core
from chappe.errors import Problem, ScenarioError

_SETTING = "tcp.congestion_control"

_NAMED = re.compile(r'"congestion_control":"([^":]+:[^":]+)"')
"""A rule in the JSON of settings."""

_MAIN = ("__main__", "__mp_main__")
"""Names of the module of a script, the second in processes that it starts."""

_METHODS = ("on_ack", "on_congestion")

CongestionEvent = _core.CongestionEvent


class Decision(NamedTuple):
    """All that a rule may decide; ``None``: as before. Windows are in segments, and at least 1."""

    cwnd: float | None = None
    """Congestion window. After a congestion signal without one: ``ssthresh``, after a timeout ``tcp.loss_window``."""
    ssthresh: float | None = None
    """Slow-start threshold: the window with which a recovery ends."""
    pacing_bps: float | None = None
    """Rate of the payload of new segments [bit/s], at least 8; ``math.inf``: not paced."""


class Controller(Protocol):
    """A congestion control of one's own: a class of which each connection has an object.

    A scenario names it as ``tcp.congestion_control = "module:Class"``; in Python the class itself may be given. The
    window is in segments and may be fractional. A method may also return a pair of the window and a pacing rate
    [bit/s], a :class:`Decision`, or ``None``, which leaves all as it is.

    A third method, ``on_recovery_end(event)``, is optional: it is called when all is repaired that was outstanding when
    a fast recovery began, and returns the window after it.
    """

    def on_ack(self, ack: CongestionEvent, /) -> float | tuple[float | None, float | None] | Decision | None:
        """Returns the congestion window after an acknowledgement of new data outside of a loss recovery."""

    def on_congestion(self, signal: CongestionEvent, /) -> float | tuple[float | None, float | None] | Decision | None:
        """Returns the window to go on with after a loss, a timeout or a congestion mark: ssthresh.

        The congestion window becomes the same after a fast retransmit, ``tcp.loss_window`` after a timeout, and at most
        the same after a mark. The loss recovery ``rack_tlp`` has its own window while it repairs losses.
        """


_CODES: "WeakKeyDictionary[type, str]" = WeakKeyDictionary()
"""Hashes of the code of classes, from the time at which they were first used."""


GIVEN: dict[str, type] = {}
"""Classes of the script of another process, which no module of this one has, by their names."""


def _script() -> str:
    """Module that rules of the script itself have in their names: the stem of its file, by which others can import it.

    It is ``__main__`` in a notebook, and where the stem is no name of Python.
    """
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    name = spec.name if spec is not None else Path(getattr(main, "__file__", None) or "__main__").stem
    return name if all(part.isidentifier() for part in name.split(".")) else "__main__"


def name_of(rule: type) -> str:
    """Name of a class in a scenario.

    Raises:
        ValueError: If the class is inside of a function, where it cannot be found by a name.
    """
    if "<locals>" in rule.__qualname__:
        raise ValueError(f"{rule.__qualname__} is inside of a function: move the class to the top of its module")
    module = _script() if rule.__module__ in _MAIN else rule.__module__
    return f"{module}:{rule.__qualname__}"


def named(scenario: _core.Scenario) -> list[str]:
    """Names of the rules in Python that a scenario sets, without repetition."""
    return list(dict.fromkeys(_NAMED.findall(scenario.changes_json())))


def of_script(scenario: _core.Scenario) -> dict[str, type]:
    """Rules of a scenario that are in the script or notebook itself, which cloudpickle takes along by their code."""
    found = {name: _of_main(name) for name in named(scenario)}
    return {name: rule for name, rule in found.items() if rule is not None}


def _of_main(name: str) -> type | None:
    """Class of a rule that is in the script or notebook; ``None``: it is not there."""
    module_name, _, class_name = name.partition(":")
    rule = _member(sys.modules.get("__main__"), class_name) if module_name in (*_MAIN, _script()) else None
    return rule if isinstance(rule, type) and rule.__module__ in _MAIN else None


def _member(module: object, name: str) -> object:
    """What a module has under a dotted name; ``None``: nothing."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def classes_of(scenario: _core.Scenario, files: Iterable[Path]) -> dict[str, type] | None:
    """Classes of the rules in Python that a scenario names; ``None``: it names none.

    Args:
        scenario: The scenario.
        files: Its files, in whose folders modules are sought, too.

    Raises:
        ScenarioError: With all rules that cannot be used.
    """
    names = named(scenario)
    if not names:
        return None
    folders = list(dict.fromkeys([*(file.parent for file in files), Path.cwd()]))
    found: dict[str, type] = {}
    problems = []
    for name in names:
        try:
            found[name] = _found(name, folders)
        except ValueError as e:
            message, _, help_ = str(e).partition("\0")
            problems.append(Problem(_SETTING, message, help_ or None, None, None, None))
    if problems:
        raise ScenarioError(problems)
    return found


def code_of(scenario: _core.Scenario, files: Iterable[Path]) -> str:
    """Hash of the code of the rules in Python that a scenario names; empty: it names none.

    Raises:
        ScenarioError: With all rules that cannot be used.
    """
    classes = classes_of(scenario, files) or {}
    return " ".join(f"{name} {_CODES.setdefault(rule, _code(rule))}" for name, rule in classes.items())


def _found(name: str, folders: list[Path]) -> type:
    """Class of a rule, whose module is sought where Python seeks modules, and in these folders.

    Raises:
        ValueError: If it cannot be used, with the reason and, after a zero byte, advice.
    """
    module_name, _, class_name = name.partition(":")
    of_script = _of_main(name) or GIVEN.get(name)
    try:
        module = None if of_script else _imported(module_name, folders)
    except (Exception, SystemExit) as e:  # the module is the user's
        if isinstance(e, ModuleNotFoundError) and f"{module_name}.".startswith(f"{e.name}."):
            where = ", ".join(str(folder) for folder in folders)
            there = [file.stem for folder in folders for file in folder.glob("*.py")]
            raise ValueError(
                f"there is no module `{e.name}` for the congestion control `{name}`\0"
                f"{_meant(module_name, there)}it was sought in {where}, and in the path of Python (PYTHONPATH)"
            ) from None
        # A syntax error, which names its line, and a missing module come from the machinery of imports.
        at = traceback.extract_tb(e.__traceback__)[-1]
        imports = at.filename.startswith("<frozen ")
        place = f"the module `{module_name}`" if imports else f"{at.filename}, line {at.lineno}"
        raise ValueError(f"the congestion control `{name}` cannot be read: {place}: {type(e).__name__}: {e}") from e
    place = getattr(module, "__file__", None) or f"`{module_name}`"
    rule = of_script or _member(module, class_name)
    if not isinstance(rule, type):
        there = [n for n, value in vars(module).items() if isinstance(value, type) and not _missing(value)]
        known = (
            f"{_meant(class_name, there)}its congestion controls: {', '.join(there)}" if there else "a rule is a class"
        )
        raise ValueError(f"{place} has no class `{class_name}`, which the congestion control `{name}` names\0{known}")
    if missing := _missing(rule):
        raise ValueError(
            f"the congestion control `{name}` has no method {' and no '.join(missing)}\0"
            "a rule has on_ack(ack) and on_congestion(signal), which return a window in segments"
        )
    return rule


def _meant(name: str, there: Iterable[str]) -> str:
    """A question for the name that is most like another; empty: none is."""
    return "".join(f"did you mean `{found}`? " for found in difflib.get_close_matches(name, there, 1))


def _missing(rule: type) -> list[str]:
    """Methods that a rule needs and does not have."""
    return [f"`{method}`" for method in _METHODS if not callable(getattr(rule, method, None))]


def _imported(name: str, folders: list[Path]) -> object:
    """A module, with its folder in the path of Python from then on if it was not found without."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        top = name.partition(".")[0]
        if e.name != top:
            raise
        for folder in folders:
            if (folder / f"{top}.py").is_file() or (folder / top).is_dir():
                sys.path.append(str(folder))
                importlib.invalidate_caches()
                return importlib.import_module(name)
        raise


def _code(rule: type) -> str:
    """Hash of the files of a class and of its bases, or of what is known of a class without a file."""
    return hashlib.sha256(b"\0".join(_texts(rule))).hexdigest()


def _texts(rule: type) -> Iterator[bytes]:
    for base in rule.__mro__:
        if base.__module__ in ("builtins", "typing", "abc", __name__):
            continue
        file = getattr(sys.modules.get(base.__module__), "__file__", None)
        if file is not None and Path(file).is_file():
            yield Path(file).read_bytes()
            continue
        # A class of a notebook.
        for name, value in sorted(vars(base).items()):
            code = getattr(value, "__code__", None)
            yield name.encode() + (marshal.dumps(code) if code else repr(value).encode())
