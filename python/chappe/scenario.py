"""Scenarios: descriptions of simulations."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from chappe import _core
from chappe.arguments import is_path, listed, mapping_of, path_of, said
from chappe.words import count

if TYPE_CHECKING:
    import polars as pl

_DEEPEST = 32
"""Deepest nesting of tables and lists, as in a file; no setting needs more."""

_LONGEST = 100_000_000
"""Size limit of a file [B]; the core has a lower limit for scenarios."""


def _read(name: str, base: str) -> tuple[str, str]:
    """Reads a file that the scenario ``base`` extends, relative to the folder of ``base``."""
    path = Path(base).parent / name
    try:
        return str(path), read_text(path)
    except UnicodeDecodeError as e:
        raise ValueError(_no_text(e.object)) from None
    except OSError as e:
        raise ValueError((e.strerror or str(e)).lower()) from None


_KINDS = {
    b"\x1f\x8b": "it is compressed (gzip): unpack it",
    b"PK\x03\x04": "it is an archive or a spreadsheet: unpack it, or save the spreadsheet as CSV",
    b"\xff\xfe": "it is UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text: save it as UTF-8",
}
"""Hints about files that are not UTF-8 text, by their first bytes."""


def _no_text(data: bytes) -> str:
    """Reason why the bytes are not readable text."""
    return next((why for begin, why in _KINDS.items() if data.startswith(begin)), "it is not UTF-8 text")


def read_text(path: Path, longest: int = _LONGEST) -> str:
    """Text of a file, which may be endless, such as a device.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the file is longer than ``longest`` bytes, or not UTF-8.
    """
    with path.open("rb") as file:
        return text_of(file, path, longest)


def text_of(file: BinaryIO, name: object, longest: int = _LONGEST) -> str:
    """Text of an open file.

    Args:
        file: The file.
        name: Name of the file for messages.
        longest: Size limit [B].

    Raises:
        ValueError: If the file is longer than ``longest`` bytes, or not UTF-8.
    """
    data = file.read(longest + 1)
    if len(data) > longest:
        raise ValueError(f"{name} has more than {longest / 1e6:g} MB")
    # Line ends of all systems are accepted, and the byte order mark of some editors.
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _plain(value: Any, depth: int = 0) -> Any:
    """A value for JSON: tuples become lists, paths and NaN text, numpy scalars and arrays numbers and lists."""
    if depth >= _DEEPEST and isinstance(value, Iterable) and not isinstance(value, str):
        return f"more than {_DEEPEST} tables and lists within each other"
    if isinstance(value, Mapping):
        return {_text(_written(k)): _plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        # Larger whole numbers are not valid in a scenario; the reader reports them.
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
    except Exception:  # no setting has this value
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
        raise ValueError(f"{said(value)} is not UTF-8 text") from None
    return value


def _json(settings: Mapping[str, Any]) -> str:
    return json.dumps(_plain(settings))


def _unnested(name: str, value: Any, flat: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _unnested(f"{name}.{key}" if name else key, inner, flat)
    else:
        flat[name] = value


class Scenario:
    """A checked, immutable scenario; :meth:`with_` creates a changed copy.

    Settings have the same dotted names in files, in these methods, on the command line and in messages, for example
    ``tcp.variant`` or ``topology.hops``. Values are written as in a file: ``"2 Mbit/s"``, ``"200 m"``.
    """

    __slots__ = ("_core",)

    def __init__(self, settings: Mapping[str, Any], changes: Mapping[str, Any] | None = None):
        """Creates a scenario from a dict with the structure of a scenario file.

        Args:
            settings: The scenario, such as ``{"extends": "ns2-2.35", "topology": {"hops": 7}, ...}``. Names may be
                dotted, ``{"topology.hops": 7}``, and mixed with groups; setting a name twice is an error.
            changes: Dotted names and values that override ``settings``.

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
        """Creates a scenario from a dict that is part of a file in ``folder``: ``extends`` is relative to this folder.

        Raises:
            ScenarioError: With all problems at once.
        """
        # The core names the dict "scenario" when it asks for the extended file.
        base_of_dict = str(path_of("folder", folder) / "scenario")

        def read(name: str, base: str) -> tuple[str, str]:
            return _read(name, base_of_dict if base == "scenario" else base)

        return cls._of(_core.Scenario.from_json(_json(settings), "{}", read))

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None, *, sets: Iterable[str] = ()
    ) -> "Scenario":
        """Reads a scenario file (TOML).

        Args:
            path: Path of the file.
            changes: Dotted names and values that override the file.
            sets: Overrides in the form of the command line: ``"tcp.variant=vegas"``.

        Raises:
            ScenarioError: With all problems at once and their places in the file.
            OSError: If the file cannot be read.
            ValueError: If the file is not UTF-8 text, or a member of ``sets`` has no ``=``.
            TypeError: If an argument has the wrong type.
        """
        if isinstance(sets, str) or not isinstance(sets, Iterable):
            raise TypeError(f'sets is a list such as ["tcp.variant=vegas"], not {said(sets)}')
        changes = {} if changes is None else mapping_of("changes", changes)
        text = read_text(path_of("path", path))
        scenario = cls._from_text(os.fspath(path), text, sets)
        return scenario.with_(changes) if changes else scenario

    @classmethod
    def _from_text(cls, name: str, text: str, sets: Iterable[str]) -> "Scenario":
        """Reads the text of a scenario file, with overrides in the form of the command line."""
        pairs = []
        for written in listed(sets):
            if not isinstance(written, str):
                raise TypeError(f'sets is a list such as ["tcp.variant=vegas"]: {said(written)} is not a text')
            _text(written)
            setting, equals, value = written.partition("=")
            if not equals or not setting.strip():
                raise ValueError(f"{said(written)} is not of the form name=value")
            pairs.append((setting.strip(), value.strip()))
        return cls._of(_core.Scenario.from_toml(name, text, pairs, _read))

    @classmethod
    def chain(
        cls,
        hops: int = 7,
        changes: Mapping[str, Any] | None = None,
        *,
        stop: str = "110000 delivered",
        extends: str = "standard",
    ) -> "Scenario":
        """Creates a chain of nodes, 200 m apart, with one file transfer from end to end.

        Args:
            hops: Number of hops; the chain has ``hops + 1`` nodes.
            changes: Dotted names and values that override the chain, such as ``{"tcp.variant": "vegas"}``.
            stop: Stop rule of a run, such as ``"11000 delivered"`` or ``"100 s"``.
            extends: Preset of the chain; :func:`parts` lists the presets.

        Raises:
            ScenarioError: With all problems at once.
        """
        return cls({"extends": extends, "run": {"stop": stop}, "topology": {"hops": hops}}, changes)

    def with_(self, changes: Mapping[str, Any]) -> "Scenario":
        """Creates a copy with other settings.

        Args:
            changes: Dotted names and values, such as ``{"tcp.variant": "vegas", "tcp.vegas.alpha": 2}``.

        Raises:
            ScenarioError: With all problems of the new scenario at once.
        """
        return Scenario._of(self._core.with_json(_json(mapping_of("changes", changes)), _read))

    @property
    def settings(self) -> dict[str, Any]:
        """All effective settings, with the structure of a scenario file."""
        settings: dict[str, Any] = json.loads(self._core.effective_json())
        return settings

    def flat(self) -> dict[str, Any]:
        """All effective settings by dotted name; lists stay lists."""
        flat: dict[str, Any] = {}
        _unnested("", self.settings, flat)
        return flat

    def to_toml(self) -> str:
        """All effective settings as a scenario file, which gives the same results."""
        return self._core.effective_toml()

    @property
    def nodes(self) -> "pl.DataFrame":
        """Initial positions of the nodes with a radio: ``node``, ``x_m``, ``y_m``.

        ``topology.file`` accepts the table as a CSV file.
        """
        import polars as pl

        x, y = self._core.places()
        return pl.DataFrame({"node": range(len(x)), "x_m": x, "y_m": y})

    def motion(self, form: str = "csv", *, until: str | float | None = None, seed: int | None = None) -> str:
        """Motion of the nodes, as the text of a file for ``motion.file``.

        Args:
            form: ``"csv"``, ``"setdest"`` (ns-2) or ``"bonnmotion"``.
            until: End of the motion, such as ``"500 s"`` or a number of seconds; ``None``: the end of the run.
            seed: Seed of the run; ``None``: the seed of the scenario.

        Raises:
            ValueError: If the form is unknown, or ``until`` is missing and the run ends with a delivery.
            TypeError: If an argument has the wrong type.
        """
        from chappe.control import instant

        if not isinstance(form, str):
            raise TypeError(f'form is a text such as "csv", not {said(form)}')
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise TypeError(f"a seed is a whole number, not {said(seed)}")
        if seed is not None and not 0 <= seed < 2**63:
            raise ValueError(f"{said(seed)} is not a seed: it must be from 0 to {2**63 - 1}")
        return self._core.motion(_text(form), None if until is None else instant(until), seed)

    @property
    def flows(self) -> "pl.DataFrame":
        """All flows, including random ones: ``flow``, ``src``, ``dst``, ``start_s``.

        ``traffic.file`` accepts the table as a CSV file.
        """
        import polars as pl

        flows = self._core.flows()
        columns = {"src": pl.Int64, "dst": pl.Int64, "start_s": pl.Float64}
        return pl.DataFrame(flows, schema=columns, orient="row").with_row_index("flow")

    @property
    def links(self) -> "pl.DataFrame":
        """Radio links at the beginning, without interference, one row per direction.

        Columns: ``from``, ``to``, ``signal_dbm`` (received power [dBm]) and ``rate_bps`` (fastest PHY rate at which
        frames are received [bit/s], null if none; with reception by SINR, at least nine of ten long frames).
        """
        import polars as pl

        columns = {"from": pl.Int64, "to": pl.Int64, "signal_dbm": pl.Float64, "rate_bps": pl.Int64}
        return pl.DataFrame(self._core.links(), schema=columns, orient="row")

    @property
    def transports(self) -> list[str]:
        """Transports of the flows without repetition, in the order of the flows: ``"TCP newreno"``, ``"UDP"``."""
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
        """Warnings about doubtful settings of a valid scenario."""
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
    """Converts a dict or the name of a file to a scenario.

    Raises:
        ScenarioError: If the scenario cannot be run.
        OSError: If the file cannot be read.
        TypeError: If `scenario` has another type.
    """
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario(scenario)
    if not is_path(scenario):
        raise TypeError(f"a scenario is a Scenario, a dict or the name of a file, not {said(scenario)}")
    return Scenario.load(scenario)


def schema() -> dict[str, Any]:
    """JSON Schema of scenarios: all settings with types, defaults and meanings."""
    json_schema: dict[str, Any] = json.loads(_core.json_schema())
    return json_schema


def parts() -> list[dict[str, Any]]:
    """Every registry of models: ``name``, ``setting`` that chooses a model, ``parts`` with keyword and description."""
    registries: list[dict[str, Any]] = json.loads(_core.shelves_json())
    return registries
