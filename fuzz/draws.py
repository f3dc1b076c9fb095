"""Draws of ``fuzz/api.py``: calls with values that fit the schema, values at the ends of what may be, and others."""

import json
from typing import Any

import chappe
from calls import ODD
from chappe.measures import MEASURES
from hypothesis import strategies as st

Json = Any


def leaves(schema: Json, path: str = "") -> list[tuple[str, Json]]:
    """Every setting with its schema; of a list the first entry."""
    if schema.get("type") == "object" and "properties" in schema:
        return [x for k, s in schema["properties"].items() for x in leaves(s, f"{path}.{k}" if path else k)]
    if schema.get("type") == "array" and schema["items"].get("type") == "object":
        return [(path, schema), *leaves(schema["items"], f"{path}.0")]
    return [(path, schema)]


LEAVES = [leaf for leaf in leaves(chappe.schema()) if leaf[0] not in ("run.max_memory", "run.time_limit")]
NAMES = [name for name, _ in LEAVES]
UNITS = ["", " s", " ns", " us", " h", " m", " km", " B", " kB", " GB", " bit/s", " Gbit/s", " W", " dBm", " dB", " Hz"]
NUMBERS = ["0", "1", "-1", "3", "0.5", "1e-300", "1e300", "1e9", "4294967295", "4294967296", "9223372036854775807"]
NUMBERS += ["18446744073709551616", "nan", "inf", "1_000", "2", "100", "9e18"]


def extremes(schema: Json) -> list[Json]:
    """Values of a setting at the ends of what it may be."""
    if "enum" in schema:
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    if "anyOf" in schema:
        return [v for s in schema["anyOf"] for v in extremes(s)]
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    found: list[Json] = []
    if "integer" in kinds:
        low, high = schema.get("minimum", 0), schema.get("maximum", 2**63 - 1)
        found += [low - 1, low, low + 1, high, high + 1]
    if "number" in kinds:
        found += [0, 1, -1, 0.5, 1e-300, 1e300]
        found += [schema[k] for k in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if k in schema]
    if "boolean" in kinds:
        found += [True, False]
    if "array" in kinds:
        found += [[], [0], [[0, 0]], [["1 m", "2 m"], ["3 m", "4 m"]]]
    if "string" in kinds:
        means = schema.get("description", "")
        for word, units in (
            ("duration", ("ns", "h")),
            ("point in time", ("ns", "h")),
            ("delivered", ("delivered", "s", "h")),
            ("bit rate", ("bit/s", "Gbit/s")),
            ("length", ("m", "km")),
            ("bytes", ("B", "kB")),
            ("power ratio", ("dB",)),
            ("power", ("W", "dBm")),
            ("frequency", ("Hz", "GHz")),
        ):
            if word in means:
                found += [f"{n} {u}" for u in units for n in ("0", "1", "2.5e6", "4e9", "1e300", "1e-300", "-1")]
                break
        else:
            found += ["", "x"]
    return found


odd = st.sampled_from(sorted(ODD)).map(lambda name: {"$": name})
quantity = st.builds(lambda n, u: n + u, st.sampled_from(NUMBERS), st.sampled_from(UNITS))
scalar = st.one_of(st.none(), st.booleans(), st.integers(-3, 70), st.integers(), st.floats(allow_nan=False), quantity)
scalar = st.one_of(
    scalar, st.text(max_size=8), st.sampled_from(["none", "vegas", "tcp.receive_window", "goodput_bps", "ray"])
)
anything = st.one_of(
    scalar,
    odd,
    st.lists(st.one_of(scalar, odd), max_size=3),
    st.dictionaries(st.text(max_size=5), scalar, max_size=2),
)
fitting = st.sampled_from(LEAVES).flatmap(
    lambda leaf: st.tuples(st.just(leaf[0]), st.sampled_from(extremes(leaf[1]) or [""]))
)
anyhow = st.tuples(st.one_of(st.sampled_from(NAMES), st.text(max_size=10)), anything)
SMALL_SETTINGS = {"extends": "standard", "run": {"stop": "40 delivered", "batches": 4}, "topology": {"hops": 2}}


def changes(most: int = 4) -> st.SearchStrategy[Json]:
    """Dotted names and values."""
    return st.lists(st.one_of(fitting, fitting, fitting, anyhow), max_size=most).map(dict)


def with_changes(found: dict[str, Json]) -> Json:
    """A dict with the structure of a file."""
    return laid_over(json.loads(json.dumps(SMALL_SETTINGS)), found)


def laid_over(settings: Json, found: dict[str, Json]) -> Json:
    """Settings with others, by dotted names, laid over them."""
    for name, value in found.items():
        inner = settings
        *groups, last = name.split(".")
        for group in groups:
            inner = entered(inner, group)
        if isinstance(inner, dict):
            inner[last] = value
    return settings


def entered(within: Json, group: str) -> Json:
    """The group of this name, or the first entry of a list; it is made where there is none."""
    if isinstance(within, list):
        if not (within and isinstance(within[0], dict | list)):
            within[:] = [{}]
        return within[0]
    if not isinstance(within.get(group), dict | list):
        within[group] = {}
    return within[group]


a_scenario = st.one_of(changes().map(with_changes), st.just({"$": "scenario"}), anything)
texts = changes(6).map(lambda found: "run.stop = '40 delivered'\nrun.max_memory = '300 MB'\n" + toml(found))
lines = st.lists(
    st.sampled_from(["[axes]", "[precision]", "[search]", "[cases.a]", "x = [1, 2]", "tcp.receive_window = [1, 2]"])
)
lines = st.one_of(lines, st.lists(st.text(max_size=12), max_size=4))


def toml(found: dict[str, Json]) -> str:
    """Settings as lines of a file; what TOML cannot hold is written as it is."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in found.items())


studies_of_files = st.builds(
    lambda text, more: f"seeds = 2\n{text}\n" + "\n".join(more) + "\n[scenario]\nrun.stop = '40 delivered'\n",
    st.lists(
        st.builds(
            lambda k, v: f"{k} = {json.dumps(v)}",
            st.sampled_from(["seeds", "warmup", "measures", "axes", "cases", "precision", "search", "scenario", "x"]),
            scalar,
        ),
        max_size=3,
    ).map("\n".join),
    lines,
)

short = st.one_of(st.integers(1, 3), st.just([1, 5]), anything)
values_of_axis = st.one_of(
    fitting.map(lambda leaf: (leaf[0], [leaf[1]])),
    st.just(("tcp.receive_window", [2, 8])),
    st.just(("tcp.variant", ["reno", "vegas"])),
    anyhow,
)
some_axes = st.one_of(st.lists(values_of_axis, max_size=3).map(dict), st.none(), anything)
some_cases = st.one_of(st.dictionaries(st.text(max_size=4), changes(2), max_size=3), st.none(), anything)
precision = st.fixed_dictionaries(
    {"measure": st.one_of(st.just("goodput_bps"), anything), "within": st.one_of(st.just(0.2), anything)},
    optional={
        "max_seeds": st.one_of(st.integers(1, 6), anything),
        "max_length": st.one_of(st.integers(1, 9), anything),
        "min_seeds": st.one_of(st.integers(1, 6), anything),
    },
).map(lambda fields: {"$precision": fields})
a_search = st.fixed_dictionaries(
    {
        "setting": st.one_of(st.just("tcp.receive_window"), st.sampled_from(NAMES), anything),
        "low": st.one_of(st.just(1), quantity, anything),
        "high": st.one_of(st.just(20), quantity, anything),
    },
    optional={
        "resolution": anything,
        "measure": st.one_of(st.sampled_from([m.name for m in MEASURES]), st.text(max_size=5)),
        "direction": st.sampled_from(["maximize", "minimize", "x"]),
        "max_points": anything,
        "max_runs": st.one_of(st.integers(2, 40), anything),
    },
)
of_both = {
    "axes": some_axes,
    "cases": some_cases,
    "seeds": short,
    "warmup": st.one_of(st.sampled_from(["discard", "mser5"]), anything),
    "out": st.one_of(st.just("kept"), anything),
    "jobs": st.one_of(st.integers(-2, 3), anything),
    "backend": st.one_of(st.none(), anything.filter(lambda v: not str(v).startswith("ray"))),
    "progress": st.one_of(st.just(False), anything),
    "title": st.one_of(st.just("Study"), anything),
}
some_precision = {
    "precision": st.one_of(precision, st.just(0.2), anything),
    "max_seeds": anything,
    "max_length": anything,
    "min_seeds": anything,
}
name_of_measure = st.one_of(st.sampled_from([m.name for m in MEASURES]), anything)
setting_of_axes = st.one_of(
    st.just({"tcp.variant": "vegas"}),
    st.just({"tcp.variant": "newreno"}),
    st.just({"topology.hops": 1}),
    st.dictionaries(st.sampled_from(["tcp.variant", "topology.hops", "case", "x"]), anything, max_size=2),
    anything,
)
confidence = st.one_of(st.just(0.9), anything)
of_studies = st.one_of(
    st.tuples(
        st.just("summary"), st.fixed_dictionaries({}, optional={"measures": name_of_measure, "confidence": confidence})
    ),
    st.tuples(st.just("doubts"), st.fixed_dictionaries({"measures": name_of_measure})),
    st.tuples(
        st.just("plot"),
        st.fixed_dictionaries(
            {"x": st.one_of(st.just("topology.hops"), anything)},
            optional={"measure": name_of_measure, "by": anything, "across": anything, "where": anything},
        ),
    ),
    st.tuples(st.just("table"), st.fixed_dictionaries({"name": st.one_of(st.just("flows"), anything)})),
    st.tuples(st.just("curve"), st.just({})),
    st.tuples(
        st.just("compare"),
        st.fixed_dictionaries(
            {"measure": name_of_measure, "a": setting_of_axes, "b": setting_of_axes},
            optional={"confidence": confidence, "within": st.one_of(st.just(0.1), anything)},
        ),
    ),
    st.tuples(
        st.just("rank"),
        st.fixed_dictionaries(
            {"measure": name_of_measure, "over": st.one_of(st.just("tcp.variant"), anything)},
            optional={"direction": st.one_of(st.just("minimize"), anything), "confidence": confidence},
        ),
    ),
)
of_one: st.SearchStrategy[Json] = st.one_of(
    st.tuples(st.just("summary"), st.fixed_dictionaries({"confidence": confidence})),
    st.tuples(st.just("save"), st.fixed_dictionaries({"folder": st.one_of(st.just("kept"), anything)})),
    st.tuples(st.just("to_dict"), st.just({})),
)


actions = st.sampled_from(
    ["node_down", "node_up", "wired_link_down", "wired_link_up", "node_move", "flow_start", "flow_stop", "set"]
)
changeable = st.sampled_from(
    ["flow.0.cbr.interval", "flow.0.tcp.receive_window", "wired_link.0.rate", "wlan.error.rate"]
)
command = st.dictionaries(
    st.sampled_from(
        [
            *("action", "node", "channel", "position", "destination", "speed"),
            *("wired_link", "flow", "setting", "value"),
        ]
    ),
    st.one_of(st.integers(0, 2), actions, changeable, anything),
    max_size=3,
)


def one(name: str, needed: Json, optional: Json | None = None) -> st.SearchStrategy[Json]:
    """Calls of one function."""
    return st.tuples(st.just(name), st.fixed_dictionaries(needed, optional=optional or {})).map(list)


calls = st.one_of(
    one(
        "run",
        {"scenario": a_scenario},
        {"seed": anything, "progress": anything},
    ),
    one("run", {"scenario": changes().map(with_changes)}),
    one("start", {"scenario": a_scenario, "at": st.one_of(quantity, anything), "command": command}, {"seed": anything}),
    one("start", {"scenario": st.just({"$": "scenario"}), "at": st.one_of(quantity, anything), "command": command}),
    one("completions", {"quantiles": st.one_of(st.lists(st.floats(0, 1), max_size=3), anything)}),
    one("scenario", {"settings": a_scenario}, {"base_dir": st.one_of(st.just("/tmp"), anything)}),
    one("changed", {"settings": st.one_of(changes(6), anything)}),
    one(
        "chain",
        {},
        {"hops": anything, "settings": st.one_of(changes(), anything), "stop": anything, "extends": anything},
    ),
    one("load", {"path": anything}, {"settings": anything}),
    one("loaded", {"text": texts}, {"settings": st.one_of(changes(), st.just(["tcp.receive_window=3"]), anything)}),
    one("study_file", {"text": st.one_of(studies_of_files, texts)}),
    one("sweep", {"scenario": a_scenario}, {**of_both, "precision": st.one_of(st.none(), precision, anything)}),
    one(
        "sweep",
        {"scenario": st.just({"$": "scenario"})},
        {
            **of_both,
            "precision": st.one_of(precision, st.just(0.2), anything),
            "max_seeds": anything,
            "max_length": anything,
            "min_seeds": anything,
        },
    ),
    *(
        st.tuples(a_search, st.fixed_dictionaries({"scenario": of}, optional=of_both)).map(
            lambda parts: ["search", {**parts[0], **parts[1]}]
        )
        for of in (a_scenario, st.just({"$": "scenario"}))
    ),
    one("opened", {"folder": anything}),
    of_studies.flatmap(lambda m: st.integers(0, 2).map(lambda w: ["of_study", {"which": w, "method": m[0], **m[1]}])),
    of_one.map(lambda m: ["of_results", {"method": m[0], **m[1]}]),
    one("measure", {"points": st.just({"a": {"$": "scenario"}}), "seeds": short}, {"jobs": anything}),
)
