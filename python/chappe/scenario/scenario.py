"""Scenarios: descriptions of simulations."""

import copy
import csv
import difflib
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from chappe import _core
from chappe._common import outputs
from chappe._common.arguments import instant, is_path, listed, mapping_of, path_of, quoted
from chappe._common.notices import Notice
from chappe._common.words import count
from chappe.errors import Problem, ScenarioError
from chappe.scenario import rules

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from chappe.typing import Settings

MobilityFormat = Literal["csv", "setdest", "bonnmotion"]
"""Formats of files with movements."""

_MOVEMENT = ("time_s", "node", "x_m", "y_m", "dest_x_m", "dest_y_m", "speed_mps")
"""Columns of a table of movements."""

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


class _Reader:
    """Reads the files that a scenario names.

    Attributes:
        files: The files that were read.
    """

    def __init__(self, folder: Path | None = None):
        """Takes the folder of the files that a dict names; ``None``: the current folder."""
        # The core names the dict "scenario" when it asks for a file.
        self._base_of_dict = "scenario" if folder is None else str(folder / "scenario")
        self.files: list[Path] = []

    def __call__(self, name: str, base: str) -> tuple[str, str]:
        """Name and text of a file that ``base`` names."""
        path, text = _read(name, self._base_of_dict if base == "scenario" else base)
        self.files.append(Path(path).absolute())
        return path, text


def pairs_of(written: Iterable[str]) -> list[tuple[str, str]]:
    """Names and values of texts such as ``tcp.variant=vegas``."""
    example = 'settings is a dict, or a list such as ["tcp.variant=vegas"]'
    texts = listed(written) if isinstance(written, Iterable) else [None]
    if isinstance(written, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{example}, not {quoted(written)}")
    pairs, wrong = [], []
    for text in texts:
        name, equals, value = _text(text).partition("=")
        if not equals or not name.strip():
            wrong.append(quoted(text))
        pairs.append((name.strip(), value.strip()))
    if wrong:
        raise ValueError(f"{' and '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not of the form name=value")
    return pairs


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
        return f"more than {_DEEPEST} nested tables and lists"
    if isinstance(value, type):
        return rules.name_of(value)
    if isinstance(value, Mapping):
        return {_text(_written(k)): _plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        # Most settings have no larger whole numbers; the reader reports them as they are.
        return value if -(2**63) <= value < 2**63 else _large(value)
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
        return quoted(value)


def _large(value: int) -> dict[str, str] | str:
    """Digits of a whole number that JSON readers round, in an object with a key that no setting has."""
    return {"\0integer": str(value)} if abs(value) < 10**300 else "a number with more than 300 digits"


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{quoted(value)} is not UTF-8 text") from None
    return value


def _json(settings: Mapping[str, Any]) -> str:
    return json.dumps(_plain(settings), allow_nan=False)


def _unnested(name: str, value: Any, flat: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _unnested(f"{name}.{key}" if name else key, inner, flat)
    else:
        flat[name] = value


def _refuse_twice(changes: Iterable[tuple[str, Any]]) -> None:
    """Refuses changes of one command that set a setting twice: of one of them nothing would be seen.

    Raises:
        ScenarioError: With the settings that are set twice.
    """
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name, value in changes:
        # A list replaces what was there, a group is merged with it.
        for replaced in _names(name, value, lists=False):
            if replaced in seen or any(other.startswith(f"{replaced}.") for other in seen):
                twice[replaced] = None
        seen.update(_names(name, value, lists=True))
    if twice:
        help_ = "two changes set it: keep one of them"
        raise ScenarioError([Problem(name, f"`{name}` is set twice", help_, None, None, None) for name in twice])


def _names(name: str, value: Any, lists: bool) -> Iterator[str]:
    """Dotted names of all that a change sets, perhaps with the entries of lists."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _names(f"{name}.{key}", inner, lists)
    elif lists and isinstance(value, list | tuple) and value:
        for n, inner in enumerate(value):
            yield from _names(f"{name}.{n}", inner, lists)
    else:
        yield name


def _value(written: str) -> Any:
    """Value of a change as text, where it has settings of its own; other values stay as they are."""
    if not written.startswith(("{", "[")):
        return written
    import tomllib

    try:
        return tomllib.loads(f"x = {written}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return written  # the reader says what is wrong


class Scenario(Mapping[str, Any]):
    """A checked, immutable scenario; :meth:`with_settings` creates a changed copy.

    Settings have the same dotted names in files, in these methods, on the command line and in messages, for example
    ``tcp.variant`` or ``topology.hops``. Values are written as in a file: ``"2 Mbit/s"``, ``"200 m"``. A scenario is a
    mapping from the dotted names of all effective settings to their values: ``scenario["tcp.variant"]``.
    """

    __slots__ = ("_core", "_files", "_values")

    def __init__(
        self,
        settings: "Settings | Mapping[str, Any]",
        *,
        base_dir: str | os.PathLike[str] | None = None,
    ):
        """Creates a scenario from a dict with the structure of a scenario file.

        Args:
            settings: The scenario, such as ``{"extends": "ns2-2.35", "topology": {"hops": 7}, ...}``. Names may be
                dotted, ``{"topology.hops": 7}``, and mixed with groups; setting a name twice is an error.
            base_dir: Folder of the files that ``settings`` names by relative paths; ``None``: the current folder.

        Raises:
            ScenarioError: With all problems at once.
            TypeError: If an argument has the wrong type.
        """
        if is_path(settings):
            raise TypeError(f"settings is a dict; for a file use Scenario.load({quoted(settings)})")
        read = _Reader(None if base_dir is None else path_of("base_dir", base_dir))
        self._core = _core.Scenario.from_json(_json(mapping_of("settings", settings)), _json({}), read)
        self._files = tuple(read.files)

    @classmethod
    def _of(cls, core: _core.Scenario, files: Iterable[Path]) -> "Scenario":
        """A scenario of the core, and the files that it was read from."""
        scenario = object.__new__(cls)
        scenario._core = core
        scenario._files = tuple(files)
        return scenario

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        settings: "Settings | Mapping[str, Any] | Iterable[str] | None" = None,
    ) -> "Scenario":
        """Reads a scenario file (TOML).

        Args:
            path: Path of the file.
            settings: Overrides of the file: dotted names and values, or texts as on the command line,
                ``["tcp.variant=vegas"]``.

        Raises:
            ScenarioError: With all problems at once and their places in the file.
            OSError: If the file cannot be read.
            ValueError: If the file is not UTF-8 text, or a text of ``settings`` has no ``=``.
            TypeError: If an argument has the wrong type.
        """
        by_name = settings if isinstance(settings, Mapping) else None
        pairs = [] if settings is None or by_name is not None else pairs_of(settings)
        text = read_text(path_of("path", path))
        scenario = cls._from_text(os.fspath(path), text, pairs)
        return scenario.with_settings(by_name) if by_name else scenario

    @classmethod
    def _from_text(cls, name: str, text: str, pairs: list[tuple[str, str]]) -> "Scenario":
        """Reads the text of a scenario file, with names and values of overrides as on a command line."""
        _refuse_twice((path, _value(value)) for path, value in pairs)
        read = _Reader()
        core = _core.Scenario.from_toml(name, text, pairs, read)
        return cls._of(core, [Path(name).absolute(), *read.files])

    @classmethod
    def chain(
        cls,
        hops: int = 7,
        settings: "Settings | Mapping[str, Any] | None" = None,
        *,
        stop: str = "110000 delivered",
        extends: str = "standard",
    ) -> "Scenario":
        """Creates a chain of nodes, 200 m apart, with one file transfer from end to end.

        Args:
            hops: Number of hops; the chain has ``hops + 1`` nodes.
            settings: Dotted names and values that override the chain, such as ``{"tcp.variant": "vegas"}``.
            stop: Stop rule of a run, such as ``"11000 delivered"`` or ``"100 s"``.
            extends: Preset of the chain; :func:`parts` lists the presets.

        Raises:
            ScenarioError: With all problems at once.
        """
        chain = {"extends": extends, "run": {"stop": stop}, "topology": {"hops": hops}}
        overrides = {} if settings is None else mapping_of("settings", settings)
        _refuse_twice((str(name), value) for name, value in overrides.items())
        read = _Reader()
        return cls._of(_core.Scenario.from_json(_json(chain), _json(overrides), read), read.files)

    def with_settings(self, settings: "Settings | Mapping[str, Any]") -> "Scenario":
        """Creates a copy with other settings.

        Args:
            settings: Dotted names and values, such as ``{"tcp.variant": "vegas", "tcp.vegas.alpha": 2}``.

        Raises:
            ScenarioError: With all problems of the new scenario at once.
        """
        changes = mapping_of("settings", settings)
        if len(changes) > 1:
            _refuse_twice((str(name), value) for name, value in changes.items())
        read = _Reader()
        core = self._core.with_json(_json(changes), read)
        new = [file for file in read.files if file not in self._files]
        return Scenario._of(core, (*self._files, *new) if new else self._files)

    @property
    def _by_name(self) -> dict[str, Any]:
        """All effective settings by dotted name, kept because reading them takes longer than a look-up."""
        try:
            return self._values
        except AttributeError:
            self._values: dict[str, Any] = {}
            _unnested("", self.settings, self._values)
            return self._values

    def __getitem__(self, name: str) -> Any:
        """Value of a setting by its dotted name; lists, such as ``flow``, are copies.

        Raises:
            KeyError: If there is no such setting.
        """
        if name not in self._by_name:
            raise KeyError(f"there is no setting {quoted(name)}{self._meant(name)}")
        return copy.deepcopy(self._by_name[name])

    def _meant(self, name: object) -> str:
        """Advice for an unknown name."""
        if not isinstance(name, str):
            return ""
        members = [known for known in self._by_name if known.startswith(f"{name}.")]
        if members:
            return f"; it is the group of {', '.join(members[:3])}{', ...' if len(members) > 3 else ''}"
        near = difflib.get_close_matches(name, self._by_name, 1)
        return f"; did you mean {near[0]!r}?" if near else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def settings(self) -> dict[str, Any]:
        """All effective settings, with the structure of a scenario file."""
        settings: dict[str, Any] = json.loads(self._core.effective_json())
        return settings

    def to_toml(self) -> str:
        """All effective settings as a scenario file, which gives the same results."""
        return self._core.effective_toml()

    @property
    def nodes(self) -> "pl.DataFrame":
        """Initial positions of the nodes with a radio: ``node``, ``x_m``, ``y_m``; where nodes have names, ``name``.

        ``topology.file`` accepts the table as a CSV file.
        """
        import polars as pl

        x, y = self._core.places()
        nodes = pl.DataFrame({"node": range(len(x)), "x_m": x, "y_m": y})
        names = self.names
        return nodes.with_columns(name=pl.Series([names.get(n) for n in range(len(x))])) if names else nodes

    @property
    def names(self) -> dict[int, str]:
        """Names of the nodes that have one, by number (``node.N.name``)."""
        return self._core.names()

    def _number(self, node: Any) -> Any:
        """Number of a node that is given by its name; anything else as it is.

        Raises:
            ScenarioError: If no node has this name.
        """
        if not isinstance(node, str) or node.isdecimal():
            return node
        numbers = {name: n for n, name in self.names.items()}
        if node not in numbers:
            near = difflib.get_close_matches(node, numbers, 1)
            others = f"names are {', '.join(numbers)}" if numbers else "nodes have no names here: give a number"
            if len(numbers) > 10:
                others = f"{count(len(numbers), 'node')} have a name, such as {', '.join(list(numbers)[:3])}"
            known = f"did you mean {quoted(near[0])}?" if near else others
            raise ScenarioError([Problem("node", f"no node is named {quoted(node)}", known, None, None, None)])
        return numbers[node]

    @property
    def mobility(self) -> "pl.DataFrame":
        """Movements of the nodes up to the end of the run, one row per straight movement.

        ``mobility.file`` accepts the table as a CSV file. Its columns are ``time_s``, ``node``, the position ``x_m``
        and ``y_m``, the destination ``dest_x_m`` and ``dest_y_m``, and ``speed_mps``.

        Raises:
            ValueError: If the run ends with a delivery, at an unknown instant.
        """
        import polars as pl

        # The CSV reader of polars would wait forever in a fork.
        rows = csv.DictReader(io.StringIO(self._mobility("csv", None, None)))
        movements = [[float(value) if value else None for value in row.values()] for row in rows]
        return pl.DataFrame(movements, dict.fromkeys(_MOVEMENT, pl.Float64), orient="row").cast({"node": pl.Int64})

    def write_mobility(
        self,
        path: str | os.PathLike[str],
        *,
        format: MobilityFormat = "csv",  # noqa: A002, the word of the command
        until: str | float | None = None,
        seed: int | None = None,
    ) -> None:
        """Writes the movements of the nodes to a file for ``mobility.file``.

        Args:
            path: Path of the file.
            format: ``"csv"``, ``"setdest"`` (ns-2) or ``"bonnmotion"``.
            until: End of the movements, such as ``"500 s"`` or a number of seconds; ``None``: the end of the run.
            seed: Seed of the run; ``None``: the seed of the scenario.

        Raises:
            ScenarioError: If `seed` is no seed.
            ValueError: If the format is unknown, or ``until`` is missing and the run ends with a delivery.
            OSError: If the file cannot be written, was read for this scenario, or is not one of movements that Chappe
                wrote.
            TypeError: If an argument has the wrong type.
        """
        text = self._mobility(format, until, seed)
        outputs.write(path_of("path", path), text.encode("utf-8"), outputs.MOVEMENT, self._files)

    def _mobility(self, format_: str, until: str | float | None, seed: int | None) -> str:
        """Movements as the text of a file."""
        if not isinstance(format_, str):
            raise TypeError(f'format is a text such as "csv", not {quoted(format_)}')
        # A topology may be drawn by the seed of the run.
        core = self._core if seed is None else self.with_settings({"run.seed": seed})._core
        return core.motion(_text(format_), None if until is None else instant(until), seed)

    @property
    def flows(self) -> "pl.DataFrame":
        """All flows, including random ones: ``flow``, ``src``, ``dst``, ``started_at_s``.

        ``traffic.file`` accepts the table as a CSV file.
        """
        import polars as pl

        flows = self._core.flows()
        columns = {"src": pl.Int64, "dst": pl.Int64, "started_at_s": pl.Float64}
        return pl.DataFrame(flows, schema=columns, orient="row").with_row_index("flow")

    @property
    def links(self) -> "pl.DataFrame":
        """Radio links at the beginning, without interference, one row per direction.

        Columns: ``src``, ``dst``, ``signal_dbm`` (received power [dBm]) and ``rate_bps`` (fastest PHY rate at which
        frames are received [bit/s], null if none; with reception by SINR, at least nine of ten long frames).
        """
        import polars as pl

        columns = {"src": pl.Int64, "dst": pl.Int64, "signal_dbm": pl.Float64, "rate_bps": pl.Int64}
        return pl.DataFrame(self._core.links(), schema=columns, orient="row")

    @property
    def survey(self) -> "pl.DataFrame":
        """Measured links beside the model, the worst first: a row for each surveyed direction of a link.

        The model gives what a link carries while nothing else is on the air, before uncertain signals are drawn.

        Columns: ``src``, ``dst``, ``signal_dbm`` (received power [dBm], null if nothing is sensed), and pairs
        ``measured_`` and ``modeled_``: ``bitrate_bps`` (of data frames: that of the link, or the rate of rate control
        that carries most [bit/s]), ``retry_share`` (repeated attempts per attempt; in the model of frames of 1,024 B),
        ``throughput_bps`` (that Minstrel-HT expects [bit/s], null for rates of 802.11a and 802.11b) and
        ``frame_loss`` (lost frames at ``frame_loss_bps``; null there: lost broadcasts). ``factor`` is the largest
        quotient of the greater and the smaller of two values that must be equal: bit rates, throughputs, shares of
        attempts and of frames that arrive, where less than 1 % counts as 1 %. If nodes have names, ``src_name`` and
        ``dst_name`` are the last columns, null for a node without one.
        """
        import polars as pl

        kinds = ("bitrate_bps", "retry_share", "throughput_bps", "frame_loss")
        columns: dict[str, Any] = {
            "src": pl.Int64,
            "dst": pl.Int64,
            "signal_dbm": pl.Float64,
            "frame_loss_bps": pl.Int64,
        }
        columns |= {f"{of}_{kind}": pl.Float64 for kind in kinds for of in ("measured", "modeled")}
        rows = pl.DataFrame(json.loads(self._core.survey_json()), schema=columns, orient="row")

        def quotient(kind: str) -> pl.Expr:
            both = [pl.col(f"{of}_{kind}") for of in ("measured", "modeled")]
            a, b = both if kind.endswith("_bps") else [(1 - share).clip(lower_bound=0.01) for share in both]
            # A rate of the model of none stands for a link that carries nothing.
            b = b.fill_null(1.0) if kind == "bitrate_bps" else b
            return pl.when(a > b).then(a / b.clip(lower_bound=1e-9)).otherwise(b / a.clip(lower_bound=1e-9))

        worst = pl.max_horizontal(*(quotient(kind) for kind in kinds)).alias("factor")
        called = [
            pl.col(end).replace_strict(self.names, default=None, return_dtype=pl.String).alias(f"{end}_name")
            for end in (("src", "dst") if self.names else ())
        ]
        sorted_ = rows.with_columns(worst).sort("factor", descending=True, nulls_last=True, maintain_order=True)
        return sorted_.with_columns(called)

    def plot(self, *, only: Iterable[int] | None = None) -> "Figure":
        """Plots the map at the beginning of a run: nodes to scale, links by their quality, routes, gateways.

        ``chappe.Scenario.load("mesh.toml").plot().savefig("mesh.svg")``; ``chappe draw mesh.toml`` does the same.

        Args:
            only: Flows whose routes are drawn; ``None``: all.

        Returns:
            A figure of matplotlib.

        Raises:
            ValueError: If no node has a radio, or there is no such flow.
        """
        from chappe.plot.maps import figure

        return figure(self, only)

    def _rules(self) -> dict[str, type] | None:
        """Classes of the congestion controls in Python, by their names; ``None``: there are none.

        Raises:
            ScenarioError: With all that cannot be used.
        """
        return rules.classes_of(self._core, self._files)

    @property
    def transports(self) -> list[str]:
        """Transports of the flows without repetition, in the order of the flows.

        They are ``"TCP newreno"``, ``"QUIC bbr"`` or ``"UDP"``. A pair of congestion control and loss recovery that has
        no variant is called ``"TCP westwood+sack"``.
        """
        return self._core.transports()

    @property
    def warnings(self) -> list[Notice]:
        """Warnings about doubtful settings of a valid scenario."""
        return [Notice(*warning) for warning in self._core.warnings()]

    def __reduce__(self) -> tuple[Callable[..., "Scenario"], tuple[Any, ...]]:
        written = json.loads(self._core.written_json())
        own = rules.of_script(self._core)
        return (_with_rules, (written, own)) if own else (Scenario, (written,))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._core.effective_json() == other._core.effective_json()

    def __hash__(self) -> int:
        return hash(self._core.effective_json())

    def _repr_html_(self) -> str:
        """The scenario as HTML for notebooks, without scripts."""
        from chappe.page.notebook import scenario

        return scenario(self)

    def __repr__(self) -> str:
        s = self.settings
        place = count(s["topology"]["hops"], "hop") if s["topology"]["kind"] == "chain" else s["topology"]["kind"]
        used = [count(len(self.flows), "flow"), *self.transports, s["routing"]["protocol"]]
        return f"<Scenario: {place}, {', '.join(used)}>"


def _with_rules(written: Mapping[str, Any], own: Mapping[str, type]) -> Scenario:
    """A scenario from another process, with the classes of the script there."""
    rules.GIVEN.update(own)
    return Scenario(written)


ScenarioLike = Scenario | Mapping[str, Any] | str | os.PathLike[str]
"""A scenario, an equivalent dict, whose names may be dotted, or the name of a scenario file."""


def scenario_of(scenario: ScenarioLike) -> Scenario:
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
        raise TypeError(f"a scenario is a Scenario, a dict or the name of a file, not {quoted(scenario)}")
    return Scenario.load(scenario)


def rate_of(scenario: Scenario) -> str:
    """Rate of unicast data frames on links without a rate of their own."""
    rate_bps, mcs = scenario._core.data_rate()
    if mcs is None:
        return str(scenario.settings["wlan"]["data_rate"])
    streams = "" if mcs[1] == 1 else f", {mcs[1]} streams"
    return f"{rate_bps / 1e6:.4g} Mbit/s (MCS {mcs[0]}{streams})"


def schema() -> dict[str, Any]:
    """JSON Schema of scenarios: all settings with types, defaults and meanings."""
    json_schema: dict[str, Any] = json.loads(_core.json_schema())
    return json_schema


def parts() -> list[dict[str, Any]]:
    """Every registry of models: ``name``, ``setting`` that chooses a model, ``parts`` with keyword and description."""
    registries: list[dict[str, Any]] = json.loads(_core.shelves_json())
    return registries
