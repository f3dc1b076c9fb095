"""Corpus of the argument fuzzer, and all settings at the ends of their ranges."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "fuzz"))

import api
import chappe
import draws
from calls import ODD

SILENCE_S = 300
"""Timeout for a hanging call on a busy machine [s]."""

EVERYTHING: dict[str, Any] = {
    "run": {"stop": "1 s", "batches": 4, "sample_interval": "100 ms", "airtime": True},
    "topology": {"hops": 3, "wired_nodes": 1},
    "wired_link": [{"src": 0, "dst": 4}],
    "net": {"neighborhood_red": {"enabled": True}, "link_red": {"enabled": True}},
    "wlan": {"error": {"model": "gilbert_elliott"}},
    "routing": {"aodv": {"hello": True, "route_timer": "500 ms", "id_timer": "1 s"}},
    "flow": [{"src": 4, "dst": 3}, {"src": 0, "dst": 3, "app": "cbr"}, {"src": 3, "dst": 0, "start": "100 ms"}],
    "arrival_process": [{"dst": 2, "rate": 5, "count": 4}],
    "event": [{"at": "500 ms", "action": "node_down", "node": 1}, {"at": "900 ms", "action": "node_up", "node": 1}],
    "middlebox": [{"node": 0}, {"node": 1, "kind": "eln"}, {"node": 2, "kind": "split", "flows": [2]}],
}
"""A scenario that uses most settings."""


def calls_of(leaf: tuple[str, Any]) -> list[Any]:
    """Runs with a setting at the ends of its range, in a small and in a large scenario.

    Settings with a second place, such as `tcp` in a flow, are run once in the small scenario.
    """
    name, schema = leaf
    again = ".tcp." in name
    calls_found = []
    for value in draws.extremes(schema):
        for base in (EVERYTHING,) if again else (draws.SMALL_SETTINGS, EVERYTHING):
            settings = json.loads(json.dumps(base))
            enable(settings, name)
            calls_found.append(["run", {"scenario": draws.laid_over(settings, {name: value})}])
    return calls_found


GROUPS = chappe.schema()["properties"]
"""Groups of settings; a group that belongs to a part says so: no effect if the setting that chooses is not the part."""


def enable(settings: dict[str, Any], name: str) -> None:
    """Chooses the model that uses a setting."""
    parts = name.split(".")
    if parts[0] in ("queue", "tcp", "routing"):
        about = GROUPS[parts[0]]["properties"][parts[1]].get("description", "")
        if found := re.search(r"No effect if `(\w+)\.(\w+)` is n(?:ot|either) `(\w+)`", about):
            family, setting, part = found.groups()
            settings[family] = {setting: part}
    if name.startswith("tcp.sack."):
        settings["tcp"] = {"variant": "sack"}
    if name.startswith("topology."):
        kinds = {"rows": "grid", "columns": "grid", "omit": "grid", "nodes": "random", "width": "random"}
        settings["topology"] = {"kind": kinds.get(parts[1], "chain")}


def answered(calls: list[Any], folder: Path) -> None:
    """Makes the calls in a worker process; one, because the studies that they ask take seconds to make."""
    path = folder / "calls.json"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    assert api.replay([path], SILENCE_S) is None


def test_settings_at_the_ends_of_their_ranges(tmp_path: Path) -> None:
    answered([call for leaf in draws.LEAVES for call in calls_of(leaf)], tmp_path)


def test_the_corpus_of_the_fuzzer() -> None:
    files = sorted(api.CORPUS.glob("*.json"))
    assert len(files) > 50
    assert api.replay(files, SILENCE_S) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["run", {"nothing": 1}], "exit code 1"),
        (["no function", {}], "exit code 1"),
        (["of_study", {"which": 0, "method": "no_method"}], "AttributeError: 'Study' object has no attribute"),
    ],
)
def test_failures_are_detected(call: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "call.json"
    answered = ["run", {"scenario": {"$": "scenario"}}]
    path.write_text(f"{json.dumps(answered)}\n{json.dumps(call)}\n", encoding="utf-8")
    wrong = api.replay([path], SILENCE_S) or ""
    # The report blames the last call, not the one before.
    assert message in wrong
    assert wrong.endswith(f"\n{json.dumps(call)}")


def test_crashes_and_hangs_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"dies": "import os; os.abort()", "hangs": "import time; time.sleep(1000)"}
    for name, text in ends.items():
        path = tmp_path / f"{name}.py"
        path.write_text(f"print('call {name}', flush=True)\n{text}\n", encoding="utf-8")
    monkeypatch.setattr(api, "WORKER", tmp_path / "dies.py")
    assert api.watched([], SILENCE_S) == ("exit code -6\n", "dies", 1)
    monkeypatch.setattr(api, "WORKER", tmp_path / "hangs.py")
    assert api.watched([], 1) == ("silence", "hangs", 1)


def test_all_odd_values_can_be_created() -> None:
    for make in ODD.values():
        make()


SCENARIO = {"$": "scenario"}
SET = {"action": "set", "setting": "flow.0.tcp.receive_window", "value": 3}
AXES = {"tcp.variant": ["newreno"]}
RULE = {
    "setting": "tcp.receive_window",
    "low": 1,
    "high": 4,
    "resolution": 1,
    "measure": "goodput_bps",
    "direction": "maximize",
}
PRECISE = {"measure": "goodput_bps", "within": 0.2, "max_seeds": 2}
STUDY: dict[str, Any] = {
    "scenario": SCENARIO,
    "axes": AXES,
    "cases": {"a": {}},
    "seeds": 1,
    "warmup": "discard",
    "out": "kept",
}
STUDY |= {"jobs": 1, "progress": False, "title": "Study"}
OF_STUDY: dict[str, dict[str, Any]] = {
    "summary": {"measures": "goodput_bps", "confidence": 0.9},
    "doubts": {"measures": "goodput_bps"},
    "plot": {"x": "topology.hops", "measure": "goodput_bps", "by": None, "across": "tcp.variant", "where": {}},
    "table": {"name": "flows"},
    "compare": {"measure": "goodput_bps", "a": {"topology.hops": 1}, "b": {"topology.hops": 2}, "confidence": 0.9},
    "rank": {"measure": "goodput_bps", "over": "tcp.variant", "direction": "maximize", "confidence": 0.9},
}
ANSWERED: list[tuple[str, dict[str, Any]]] = [
    ("run", {"scenario": SCENARIO, "seed": 1, "progress": None}),
    ("start", {"scenario": SCENARIO, "at": "1 s", "command": SET, "seed": 1}),
    ("completions", {"quantiles": [0.5, 0.99]}),
    ("scenario", {"settings": draws.SMALL_SETTINGS, "base_dir": "/tmp"}),
    ("changed", {"settings": {"tcp.receive_window": 4}}),
    ("chain", {"hops": 2, "settings": {}, "stop": "40 delivered", "extends": "standard"}),
    ("load", {"path": "my.toml", "settings": ["tcp.receive_window=3"]}),
    ("sweep", STUDY),
    ("sweep", {**STUDY, "backend": "x", "jobs": None}),
    ("sweep", {**STUDY, "precision": {"$precision": PRECISE}}),
    ("sweep", {**STUDY, "precision": 0.2, "measure": "goodput_bps", "max_seeds": 2, "max_length": None}),
    ("search", {**STUDY, **RULE}),
    ("opened", {"folder": "kept"}),
    *(("of_study", {"which": 0, "method": method, **others}) for method, others in OF_STUDY.items()),
    ("of_results", {"method": "summary", "confidence": 0.9}),
    ("of_results", {"method": "save", "folder": "kept"}),
    ("measure", {"points": {"a": SCENARIO}, "seeds": [1, 2], "jobs": 1}),
]
"""Every function with all arguments."""


def places(value: Any, odd: Any) -> Iterator[Any]:
    """Copies of a value with an odd value in place of each part and of the whole."""
    yield odd
    if isinstance(value, list):
        yield [odd]
    elif isinstance(value, dict) and value != SCENARIO:
        for name, inner in value.items():
            parts = [put for put in places(inner, odd) if not (name.startswith("$") and put is odd)]
            yield from ({**value, name: put} for put in parts)


def test_every_odd_value_in_every_place(tmp_path: Path) -> None:
    calls = [
        [name, {**arguments, argument: put}]
        for name, arguments in ANSWERED
        for argument, value in arguments.items()
        if argument not in ("which", "method")
        for odd in ODD
        for put in places(value, {"$": odd})
    ]
    answered(calls, tmp_path)


def test_names_of_one_draw_may_disagree_about_what_is_a_list() -> None:
    """Random names override each other in any order."""
    values: list[Any] = [[], [0], [{}], {}, 1, "x", None]
    for value in values:
        changes = draws.laid_over({}, {"wired_link": value, "wired_link.0.src": 3, "wired_link.x": 1})
        assert "wired_link" in changes
