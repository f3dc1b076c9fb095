"""Scenarios: what to simulate."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chappe import _core
from chappe.arguments import is_path, listed, mapping_of, path_of, said
from chappe.words import count

if TYPE_CHECKING:
    import polars as pl

_DEEPEST = 32
"""Tables and lists within each other, as in a file. What lies deeper is no value of any setting."""

_LONGEST = 100_000_000
"""The most bytes of a file; the core says what is too long for a scenario."""


def _read(name: str, base: str) -> tuple[str, str]:
    """Reads a file that the scenario ``base`` extends; the name is taken from the folder of that scenario."""
    path = Path(base).parent / name
    try:
        return str(path), read_text(path)
    except UnicodeDecodeError as e:
        raise ValueError(_no_text(e.object)) from None
    except OSError as e:
        raise ValueError((e.strerror or str(e)).lower()) from None


_KINDS = {
    b"\x1f\x8b": "it is compressed (gzip): unpack it",
    b"PK\x03\x04": "it is an archive, or a table of a spreadsheet: unpack it, or save the table as CSV",
    b"\xff\xfe": "it is a text in UTF-16: save it in UTF-8",
    b"\xfe\xff": "it is a text in UTF-16: save it in UTF-8",
}
"""Files that are given for texts, by their first bytes."""


def _no_text(data: bytes) -> str:
    """Reason why these bytes are no text that can be read."""
    return next((why for begin, why in _KINDS.items() if data.startswith(begin)), "it is not a text in UTF-8")


def read_text(path: Path, longest: int = _LONGEST) -> str:
    """The text of a file, which may be one that does not end.

    Raises:
        OSError: When it cannot be read.
        ValueError: When it is longer than that, or not a text in UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(longest + 1)
    if len(data) > longest:
        raise ValueError(f"{path} has more than {longest / 1e6:g} MB")
    # As a text is read everywhere: a line ends in the same way on every system. Some editors write a byte order mark.
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it: tuples as lists, paths and NaN as text, numbers and arrays of numpy as theirs."""
    if depth >= _DEEPEST and isinstance(value, Iterable) and not isinstance(value, str):
        return f"more than {_DEEPEST} tables and lists within each other"
    if isinstance(value, Mapping):
        return {_text(_written(k)): _plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        # Beyond that there are no whole numbers in a scenario; whoever reads it says so.
        return value if -(2**63) <= value < 2**64 else _float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), depth)
    if isinstance(value, os.PathLike):
        return _text(os.fsdecode(value))
    if isinstance(value, Iterable):
        return [_plain(v, depth + 1) for v in listed(value)]
    return _text(_written(value))


def _written(value: object) -> str:
    try:
        return str(value)
    except Exception:  # whatever it is, no setting has this value
        return said(value)


def _float(value: int) -> float | str:
    try:
        return float(value)
    except OverflowError:
        return "a number with more than 300 digits"


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{said(value)} is not a text in UTF-8") from None
    return value


def _json(settings: Mapping[str, Any]) -> str:
    return json.dumps(_plain(settings))


def _unnested(name: str, value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _unnested(f"{name}.{key}" if name else key, inner, found)
    else:
        found[name] = value


class Scenario:
    """A scenario that has been read and checked. It never changes; :meth:`with_` makes another one.

    Settings have the same dotted names everywhere: in a file, in these methods, on the command line and in messages,
    for example ``tcp.variant`` or ``topology.hops``. Values are written as in a file: ``"2 Mbit/s"``, ``"200 m"``.
    """

    __slots__ = ("_core",)

    def __init__(self, settings: Mapping[str, Any], changes: Mapping[str, Any] | None = None):
        """Makes a scenario of a dict, which has the structure of a scenario file.

        Args:
            settings: The scenario, such as ``{"extends": "ns2-2.35", "topology": {"hops": 7}, ...}``. Names may be
                dotted, ``{"topology.hops": 7}``, also beside groups; what is set twice is a mistake.
            changes: Dotted names and values that are laid over it.

        Raises:
            ScenarioError: With all problems at once.
        """
        changes = {} if changes is None else mapping_of("changes", changes)
        self._core = _core.Scenario.from_json(_json(settings), _json(changes), _read)

    @classmethod
    def _of(cls, core: _core.Scenario) -> "Scenario":
        scenario = object.__new__(cls)
        scenario._core = core
        return scenario

    @classmethod
    def inline(cls, settings: Mapping[str, Any], folder: str | os.PathLike[str]) -> "Scenario":
        """Makes a scenario of a dict that stands in a file of this folder: from there it extends others.

        Raises:
            ScenarioError: With all problems at once.
        """
        # The core calls the dict "scenario" when it asks for what it extends.
        own = str(path_of("folder", folder) / "scenario")

        def read(name: str, base: str) -> tuple[str, str]:
            return _read(name, own if base == "scenario" else base)

        return cls._of(_core.Scenario.from_json(_json(settings), "{}", read))

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None, *, sets: Iterable[str] = ()
    ) -> "Scenario":
        """Reads a scenario file (TOML).

        Args:
            path: The file.
            changes: Dotted names and values that are laid over it.
            sets: The same as on a command line: ``"tcp.variant=vegas"``.

        Raises:
            ScenarioError: With all problems at once and their places in the file.
            OSError: When the file cannot be read.
            ValueError: When it is not text, or a member of ``sets`` has no ``=``.
            TypeError: When an argument is of another kind.
        """
        if isinstance(sets, str) or not isinstance(sets, Iterable):
            raise TypeError(f'sets is a list such as ["tcp.variant=vegas"], not {said(sets)}')
        changes = {} if changes is None else mapping_of("changes", changes)
        text = read_text(path_of("path", path))
        pairs = []
        for written in listed(sets):
            if not isinstance(written, str):
                raise TypeError(f'sets is a list such as ["tcp.variant=vegas"]: {said(written)} is no text')
            _text(written)
            name, equals, value = written.partition("=")
            if not equals or not name.strip():
                raise ValueError(f"{said(written)} does not set anything: write it as name=value")
            pairs.append((name.strip(), value.strip()))
        core = _core.Scenario.from_toml(os.fspath(path), text, pairs, _read)
        return cls._of(core).with_(changes) if changes else cls._of(core)

    @classmethod
    def chain(
        cls,
        hops: int = 7,
        changes: Mapping[str, Any] | None = None,
        *,
        stop: str = "110000 delivered",
        extends: str = "standard",
    ) -> "Scenario":
        """A chain of nodes, 200 m apart, with one file transfer from end to end.

        Args:
            hops: Hops of the chain; it has one node more.
            changes: Dotted names and values that are laid over it, such as ``{"tcp.variant": "vegas"}``.
            stop: When a run ends, such as ``"11000 delivered"`` or ``"100 s"``.
            extends: The preset on which it is built; :func:`parts` lists them.

        Raises:
            ScenarioError: With all problems at once.
        """
        return cls({"extends": extends, "run": {"stop": stop}, "topology": {"hops": hops}}, changes)

    def with_(self, changes: Mapping[str, Any]) -> "Scenario":
        """This scenario with other settings.

        Args:
            changes: Dotted names and values, such as ``{"tcp.variant": "vegas", "tcp.vegas.alpha": 2}``.

        Raises:
            ScenarioError: With all problems of the new scenario at once.
        """
        return Scenario._of(self._core.with_json(_json(mapping_of("changes", changes)), _read))

    @property
    def settings(self) -> dict[str, Any]:
        """All settings in effect, with the structure of a scenario file."""
        settings: dict[str, Any] = json.loads(self._core.effective_json())
        return settings

    def flat(self) -> dict[str, Any]:
        """All settings in effect by their dotted names; lists stay lists."""
        found: dict[str, Any] = {}
        _unnested("", self.settings, found)
        return found

    def to_toml(self) -> str:
        """All settings in effect as a scenario file; running it gives the same results."""
        return self._core.effective_toml()

    @property
    def nodes(self) -> "pl.DataFrame":
        """Where the nodes with a radio are: ``node``, ``x_m``, ``y_m``.

        A CSV file of this can be read as ``topology.file``.
        """
        import polars as pl

        x, y = self._core.places()
        return pl.DataFrame({"node": range(len(x)), "x_m": x, "y_m": y})

    def motion(self, form: str = "csv", *, until: str | float | None = None, seed: int | None = None) -> str:
        """How the nodes move, as the text of a file that ``motion.file`` can name.

        Args:
            form: ``"csv"``, ``"setdest"`` (ns-2) or ``"bonnmotion"``.
            until: Up to when, such as ``"500 s"``, or a number of seconds; ``None``: to the end of the run.
            seed: Seed of the run; ``None``: the one that the scenario names.

        Raises:
            ValueError: When there is no such form, or the run ends with a delivery and ``until`` is not given.
            TypeError: When an argument is of another kind.
        """
        from chappe.control import instant

        if not isinstance(form, str):
            raise TypeError(f'form is a text such as "csv", not {said(form)}')
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise TypeError(f"a seed is a whole number, not {said(seed)}")
        if seed is not None and not 0 <= seed < 2**63:
            raise ValueError(f"{said(seed)} is no seed: it must be from 0 to {2**63 - 1}")
        return self._core.motion(_text(form), None if until is None else instant(until), seed)

    @property
    def flows(self) -> "pl.DataFrame":
        """All flows, random ones included: ``flow``, ``src``, ``dst``, ``start_s``.

        A CSV file of this can be read as ``traffic.file``.
        """
        import polars as pl

        flows = self._core.flows()
        columns = {"src": pl.Int64, "dst": pl.Int64, "start_s": pl.Float64}
        return pl.DataFrame(flows, schema=columns, orient="row").with_row_index("flow")

    @property
    def links(self) -> "pl.DataFrame":
        """Who hears whom over the air at the beginning, when nothing disturbs it, one direction in a row.

        ``from``, ``to``, ``signal_dbm``: what arrives [dBm], and ``rate_bps``: the fastest rate of the PHY at which
        frames are understood [bit/s], null when there is none; with reception by SINR nine of ten long frames must be.
        """
        import polars as pl

        columns = {"from": pl.Int64, "to": pl.Int64, "signal_dbm": pl.Float64, "rate_bps": pl.Int64}
        return pl.DataFrame(self._core.links(), schema=columns, orient="row")

    @property
    def transports(self) -> list[str]:
        """What the flows use, each once, in their order: ``"TCP newreno"``, ``"UDP"``."""
        s = self.settings
        drawn = [s["traffic"]] if s["traffic"]["flows"] else []

        def transport(flow: dict[str, Any]) -> str:
            bursts = flow.get("on_off", {}).get("transport", s["on_off"]["transport"])
            if flow["app"] == "cbr" or (flow["app"] == "on_off" and bursts == "udp"):
                return "UDP"
            return f"TCP {flow.get('tcp', {}).get('variant', s['tcp']['variant'])}"

        return list(dict.fromkeys(transport(flow) for flow in [*s["flow"], *s["pairs"], *drawn]))

    @property
    def warnings(self) -> list[str]:
        """What is doubtful about the scenario, although it can be run."""
        return self._core.warnings(False)[0]

    def __reduce__(self) -> tuple[type["Scenario"], tuple[dict[str, Any]]]:
        return Scenario, (json.loads(self._core.written_json()),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._core.effective_json() == other._core.effective_json()

    def __hash__(self) -> int:
        return hash(self._core.effective_json())

    def __repr__(self) -> str:
        s = self.settings
        place = count(s["topology"]["hops"], "hop") if s["topology"]["kind"] == "chain" else s["topology"]["kind"]
        used = [count(len(self.flows), "flow"), *self.transports, s["routing"]["protocol"]]
        return f"<Scenario: {place}, {', '.join(used)}>"


def scenario_of(scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str]) -> Scenario:
    """A scenario from what people give for one.

    Raises:
        ScenarioError: When it cannot be run.
        OSError: When its file cannot be read.
        TypeError: When it is none.
    """
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario(scenario)
    if not is_path(scenario):
        raise TypeError(f"a scenario is a Scenario, a dict or the name of a file, not {said(scenario)}")
    return Scenario.load(scenario)


def schema() -> dict[str, Any]:
    """The JSON Schema of scenarios: every setting with its type, default and meaning."""
    found: dict[str, Any] = json.loads(_core.json_schema())
    return found


def parts() -> list[dict[str, Any]]:
    """Every shelf with its parts: ``name``, ``setting`` that chooses one, ``parts`` with keyword and description."""
    found: list[dict[str, Any]] = json.loads(_core.shelves_json())
    return found
