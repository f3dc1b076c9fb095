"""Scenarios: all notations, and round trips."""

import copy
import json
import pickle
import tomllib
from pathlib import Path
from typing import Any

import chappe
import jsonschema
import numpy as np
import polars as pl
import pytest
from chappe import Scenario, ScenarioError
from chappe.printing import problems as show
from command import REPOSITORY

PRESETS = next(shelf for shelf in chappe.parts() if shelf["setting"] == "extends")["parts"]
PRESET_NAMES = [part["keyword"] for part in PRESETS]


def short(**groups: Any) -> dict[str, Any]:
    return {**groups, "run": {"stop": "1 s", **groups.get("run", {})}}


def problems(settings: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ScenarioError) as caught:
        Scenario(settings)
    return [(p.path, p.message) for p in caught.value.problems]


def test_files_dicts_and_changes_are_equivalent(tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text('extends = "ns2-2.35"\nrun.stop = "9 s"\ntopology.hops = 3\ntcp.vegas.alpha = 2\n')
    from_dict = Scenario(
        {"extends": "ns2-2.35", "run": {"stop": "9 s"}, "topology": {"hops": 3}, "tcp": {"vegas": {"alpha": 2}}}
    )
    assert Scenario.load(path) == from_dict
    assert Scenario.load(str(path)) == from_dict
    assert Scenario.chain(3, {"tcp.vegas.alpha": 2}, stop="9 s", extends="ns2-2.35") == from_dict
    assert Scenario.chain(3, stop="9 s", extends="ns2-2.35").with_settings({"tcp.vegas.alpha": 2}) == from_dict
    assert Scenario.load(path, {"topology.hops": 3, "run.stop": "9 s"}) == from_dict


def test_texts_override_a_file_as_on_a_command_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('run.stop = "1 s"\n')
    s = Scenario.load(path, ["tcp.variant=sack", " topology.hops = 4 ", 'run.stop="2 s"', "tcp.receive_window=5"])
    assert s == Scenario.chain(4, {"tcp.variant": "sack", "tcp.receive_window": 5}, stop="2 s")
    with pytest.raises(chappe.ScenarioError, match=r"`tcp\.receive_window` is set twice"):
        Scenario.load(path, ["tcp.receive_window=7", "tcp.receive_window=8", "tcp.variant=vegas"])
    for bad in ("tcp.receive_window", "=5", " =5"):
        with pytest.raises(ValueError, match="is not of the form name=value"):
            Scenario.load(path, [bad])


def test_a_scenario_never_changes() -> None:
    first = Scenario.chain(3)
    before = first.settings
    other = first.with_settings({"topology.hops": 4})
    first.settings["topology"]["hops"] = 99
    assert first.settings == before
    assert (first != other, hash(first) != hash(other)) == (True, True)
    with pytest.raises(AttributeError):
        first.hops = 3  # type: ignore[attr-defined]  # that it fails is what is tested


def test_equal_scenarios_are_equal_however_they_were_written() -> None:
    a = Scenario(short(topology={"spacing": "200 m"}))
    b = Scenario(short(topology={"spacing": "0.2 km", "hops": 7}))
    assert a == b
    assert hash(a) == hash(b)
    assert len({a, b, a.with_settings({"run.seed": 2})}) == 2
    assert a != "a scenario"
    assert "7 hops" in repr(a)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies(copier: Any, mixed: Path) -> None:
    scenario = Scenario.load(mixed).with_settings({"tcp.receive_window": 11})
    copied = copier(scenario)
    assert copied == scenario
    assert copied.to_toml() == scenario.to_toml()
    # Copies accept changes.
    assert copied.with_settings({"run.seed": 3}) == scenario.with_settings({"run.seed": 3})


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_settings_in_effect_make_the_same_scenario(preset: str, tmp_path: Path) -> None:
    scenario = Scenario.chain(4, {"tcp.variant": "vegas", "radio.range": "230 m"} if preset == "standard" else {})
    scenario = Scenario.chain(4, stop="7 s", extends=preset) if preset != "standard" else scenario
    path = tmp_path / "effective.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    again = Scenario.load(path)
    assert again == scenario
    assert again.to_toml() == scenario.to_toml()
    assert Scenario(scenario.settings) == scenario
    assert Scenario(tomllib.loads(scenario.to_toml())) == scenario
    assert Scenario.chain(2).with_settings(dict(scenario)) == scenario


def test_settings_of_single_flows_survive(mixed: Path, tmp_path: Path) -> None:
    scenario = Scenario.load(mixed)
    path = tmp_path / "effective.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.load(path) == scenario
    assert Scenario.load(path).settings["flow"][0]["tcp"] == {"variant": "vegas"}


def test_names_of_the_mapping_are_the_names_for_changes() -> None:
    scenario = Scenario.chain(3, {"tcp.vegas.alpha": 2.5, "run.sample_interval": "10 ms"})
    flat = dict(scenario)
    assert (flat["tcp.vegas.alpha"], flat["topology.hops"], flat["run.sample_interval"]) == (2.5, 3, "10 ms")
    assert isinstance(flat["flow"], list)
    assert not any(isinstance(v, dict) for v in flat.values())
    for name, value in flat.items():
        assert scenario.with_settings({name: value}) == scenario, name


def test_numbers_and_arrays_of_numpy() -> None:
    plain = Scenario(
        short(
            run={"seed": 7},
            topology={"kind": "list", "positions": [["0 m", "0 m"], ["200 m", "0 m"]]},
            tcp={"receive_window": 8, "limited_transmit": True, "vegas": {"alpha": 0.5}},
            flow=[{"src": 0, "dst": 1}],
        )
    )
    numpy = Scenario(
        short(
            run={"seed": np.uint64(7)},
            topology={"kind": np.str_("list"), "positions": np.array([["0 m", "0 m"], ["200 m", "0 m"]])},
            tcp={
                "receive_window": np.int32(8),
                "limited_transmit": np.bool_(True),
                "vegas": {"alpha": np.float32(0.5)},
            },
            flow=({"src": np.int64(0), "dst": np.array(1)},),
        )
    )
    assert numpy == plain
    assert problems(short(tcp={"vegas": {"alpha": np.float64("nan")}})) == [
        ("tcp.vegas.alpha", '`tcp.vegas.alpha` cannot be "nan"')
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, [], {}, True, "x", 10**30, -1, 1.5, b"3", object])
def test_invalid_windows_are_rejected(value: Any) -> None:
    assert [path for path, _ in problems(short(tcp={"receive_window": value}))] == ["tcp.receive_window"]


def test_files_extend_files_from_their_own_folder(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "radio.toml").write_text('wlan.data_rate = "11 Mbit/s"\ntcp.receive_window = 3\n')
    (tmp_path / "base" / "all.toml").write_text('extends = ["ns2-2.35", "radio.toml"]\nrun.stop = "1 s"\n')
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "base/all.toml"\ntcp.receive_window = 9\n')
    s = Scenario.load(mine)
    expected = {
        "extends": "ns2-2.35",
        "run": {"stop": "1 s"},
        "wlan": {"data_rate": "11 Mbit/s"},
        "tcp": {"receive_window": 9},
    }
    assert s == Scenario(expected)
    assert Scenario({"extends": mine}) == s


def test_every_problem_has_its_place(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text('run.stop = "1 s"\n[tcp]\nreceive_window = 0\n')
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "base.toml"\n\n[tcp]\nvarient = "reno"\n')
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(mine, ["tcp.ack_policy=evry"])
    error = caught.value
    assert isinstance(error, ValueError)
    places = [(p.path, p.file, p.line, p.column) for p in error.problems]
    assert set(places) == {
        ("tcp.varient", str(mine), 4, 1),
        ("tcp.receive_window", str(base), 3, 18),
        ("tcp.ack_policy", "--set", 1, 16),
    }
    assert {p.help for p in error.problems} >= {"did you mean `variant`?"}
    for p in error.problems:
        assert p.message in str(error)
    assert "\x1b[" not in str(error)
    assert "\x1b[" in error.colored
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


def test_problems_of_a_dict_have_names_only() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario({"tcp": {"windw": 3}, "run": {"stop": "1 s"}, "wlan": {"sifs": "-1 us"}})
    assert {p.path for p in caught.value.problems} == {"tcp.windw", "wlan.sifs"}
    assert {(p.file, p.line, p.column) for p in caught.value.problems} == {(None, None, None)}
    with pytest.raises(ScenarioError, match="there is no node 9"):
        Scenario(short(flow=[{"src": 0, "dst": 1}])).with_settings({"flow.0.dst": 9})


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Scenario.load(tmp_path / "missing.toml")
    with pytest.raises(IsADirectoryError):
        chappe.run(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xff\x00run")
    with pytest.raises(UnicodeDecodeError):
        Scenario.load(binary)
    for name, message in (("missing.toml", "no such file"), (".", "is a directory"), ("binary.toml", "not UTF-8 text")):
        path = tmp_path / "extends.toml"
        path.write_text(f'extends = "{name}"\nrun.stop = "1 s"\n')
        with pytest.raises(ScenarioError, match=message):
            Scenario.load(path)


@pytest.mark.parametrize("asked", [2, 3])
def test_an_interrupt_during_reading_is_not_a_scenario_error(
    asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An override makes a written setting ineffective: files are read a second time, for the scenario without it.
    base = "run.stop = '1 s'\ntopology.hops = 1\ntcp.variant = 'vegas'\n"
    (tmp_path / "base.toml").write_text(base, encoding="utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text("extends = 'base.toml'\ntcp.vegas.alpha = 1.0\n", encoding="utf-8")
    reads = 0

    def read(path: Path) -> str:
        nonlocal reads
        reads += 1
        if reads == asked:
            raise KeyboardInterrupt
        return path.read_text(encoding="utf-8")

    monkeypatch.setattr("chappe.scenario.scenario.read_text", read)
    with pytest.raises(KeyboardInterrupt):
        Scenario.load(mine, ["tcp.variant=newreno"])
    assert reads == asked


def test_warnings_do_not_prevent_a_scenario() -> None:
    assert Scenario.chain(4, extends="ns2-2.35").warnings == []
    (warning,) = Scenario.chain(32, extends="ns2-2.35").warnings
    assert (warning.code, warning.path) == ("too_many_hops", "flow.0.dst")
    assert "32 hops" in warning.message == str(warning)


def test_a_run_takes_a_scenario_a_dict_or_a_file(tmp_path: Path) -> None:
    scenario = Scenario.chain(2, stop="3 s")
    path = tmp_path / "x.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    written = [json.dumps(chappe.run(s, seed=5).to_dict()) for s in (scenario, scenario.settings, path, str(path))]
    assert len(set(written)) == 1
    assert chappe.run(scenario, seed=5).scenario == scenario.with_settings({"run.seed": 5})
    assert chappe.run(scenario).scenario == scenario
    for seed in (-1, "x", 1.5):
        with pytest.raises(ScenarioError, match=r"run\.seed"):
            chappe.run(scenario, seed=seed)  # type: ignore[arg-type]  # that it fails is what is tested


# ---- schema and parts ----


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = chappe.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def _has_defaults(schema: dict[str, Any]) -> bool:
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    return "default" in schema or any(map(_has_defaults, inner))


def _leaves(schema: dict[str, Any], name: str = "") -> dict[str, dict[str, Any]]:
    """All settings; a group of overrides counts as one."""
    leaves: dict[str, dict[str, Any]] = {}
    for key, inner in schema["properties"].items():
        path = f"{name}.{key}" if name else key
        leaves |= _leaves(inner, path) if "properties" in inner and _has_defaults(inner) else {path: inner}
    return leaves


def _without_defaults(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {k: v for k, v in schema.items() if not (k == "default" and "properties" not in schema)}
        return {k: _without_defaults(v) for k, v in kept.items() if k not in ("description", "x-level")}
    return [_without_defaults(s) for s in schema] if isinstance(schema, list) else schema


def test_overrides_share_the_schema_of_settings() -> None:
    top = chappe.schema()["properties"]
    for (group, name), common in {
        ("flow", "tcp"): "tcp",
        ("flow", "bulk"): "bulk",
        ("flow", "cbr"): "cbr",
        ("flow", "on_off"): "on_off",
        ("flow", "requests"): "requests",
        ("arrival_process", "tcp"): "tcp",
        ("wired_link", "queue"): "queue",
        ("middlebox", "snoop"): "snoop",
        ("middlebox", "split"): "split",
        ("node", "radio"): "radio",
        ("node", "wlan"): "wlan",
    }.items():
        overlay = top[group]["items"]["properties"][name]
        assert not _has_defaults(overlay), (group, name)
        assert '"x-level": "everyday"' not in json.dumps(overlay), (group, name)
        assert _without_defaults(overlay) == _without_defaults(top[common]), (group, name)
    for group, name in [("wired", "queue"), ("split", "tcp"), ("traffic", "tcp")]:
        overlay = top[group]["properties"][name]
        assert _without_defaults(overlay) == _without_defaults(top[name]), (group, name)
    window = top["flow"]["items"]["properties"]["tcp"]["properties"]["receive_window"]
    assert (window["minimum"], window["maximum"]) == (1, 1_000_000)


def test_the_schema_describes_every_setting() -> None:
    leaves = _leaves(chappe.schema())
    # A group of overrides is empty without changes.
    changes = {name for name, leaf in leaves.items() if leaf.get("type") == "object"}
    assert changes == {"wired.queue", "split.tcp", "traffic.tcp"}
    assert set(leaves) - {"format", "extends"} - changes == set(Scenario.chain(2))
    for name, leaf in leaves.items():
        assert leaf["description"].strip(), name
    defaults = dict(Scenario(short()))
    for name, leaf in leaves.items():
        if "default" in leaf and name != "run.stop":
            assert leaf["default"] == defaults[name], name


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_scenarios_satisfy_the_schema(preset: str, validator: jsonschema.Draft202012Validator, mixed: Path) -> None:
    validator.validate(Scenario.chain(3, extends=preset).settings)
    validator.validate(Scenario.load(mixed).settings)
    validator.validate(tomllib.loads(mixed.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "wrong",
    [
        {"tcp": {"windw": 3}},
        {"tcp": {"receive_window": "3"}},
        {"tcp": {"receive_window": -3}},
        {"tcp": {"receive_window": 0}},
        {"tcp": {"westwood": {"ewma_weight": 1.5}}},
        {"radio": {"system_loss": 0.5}},
        {"flow": [{"dst": 1, "tcp": {"receive_window": 0}}]},
        {"flow": [{"dst": 1, "tcp": {"windw": 3}}]},
        {"tcp": {"mss": 1000}},
        {"topology": {"spacing": 200}},
        {"run": {"stop": "1 s", "seed": 2**63}},
        {"tcp": {"variant": "vega"}},
        {"tcp": {"syn": "yes"}},
        {"topologi": {}},
        {"flow": {"src": 0}},
        {"flow": [{"form": 0}]},
        {"topology": {"positions": [["0 m"]]}},
        {"extends": 3},
        {"flow": [{"src": [], "dst": 1}]},
        {"flow": [{"src": ["1"], "dst": 2}]},
        {"event": [{"at": "1 ms"}]},
        {"event": [{"action": "node_down", "node": 1}]},
        {"event": [{"at": "1 ms", "action": "node_dwon", "node": 1}]},
        {"event": [{"at": "1 ms", "action": "node_down"}]},
        {"event": [{"at": "1 ms", "action": "node_down", "node": "none"}]},
        {"event": [{"at": "1 ms", "action": "node_up", "node": 1, "flow": 0}]},
        {"event": [{"at": "1 ms", "action": "flow_start", "flow": 0, "channel": 1}]},
        {"event": [{"at": "1 ms", "action": "flow_stop", "node": 1}]},
        {"event": [{"at": "1 ms", "action": "set", "setting": "flow.0.tcp.receive_window"}]},
        {"event": [{"at": "1 ms", "action": "set", "value": 3}]},
        {"event": [{"at": "1 ms", "action": "set", "setting": "flow.0.tcp.receive_window", "value": 3, "node": 1}]},
        {"event": [{"at": "1 ms", "action": "node_move", "node": 1}]},
        {"event": [{"at": "1 ms", "action": "node_move", "node": 1, "destination": ["9 m", "0 m"]}]},
        {
            "event": [
                {"at": "1 ms", "action": "node_move", "node": 1, "position": ["9 m", "0 m"], "speed": "1 m/s"},
            ]
        },
    ],
)
def test_the_schema_refuses_what_a_scenario_refuses(
    wrong: dict[str, Any], validator: jsonschema.Draft202012Validator
) -> None:
    assert not validator.is_valid({"run": {"stop": "1 s"}, **wrong})
    assert problems(short(**wrong))


@pytest.mark.parametrize(
    "event",
    [
        {"action": "node_down", "node": 1},
        {"action": "node_up", "node": 1, "channel": 1},
        {"action": "node_move", "node": 1, "position": ["9 m", "0 m"]},
        {"action": "node_move", "node": 1, "destination": ["9 m", "0 m"], "speed": "1 m/s"},
        {"action": "flow_start", "flow": 0},
        {"action": "flow_stop", "flow": 0},
        {"action": "set", "setting": "flow.0.tcp.receive_window", "value": 3},
    ],
)
def test_the_schema_accepts_each_event(event: dict[str, Any], validator: jsonschema.Draft202012Validator) -> None:
    made = {"run": {"stop": "1 s"}, "event": [{"at": "1 ms", **event}], "flow": [{"src": [0, 2], "dst": "5-7"}]}
    validator.validate(made)
    # So are all settings in effect, in which those of other actions are "none".
    validator.validate(Scenario(made).settings)


def _choices(schema: dict[str, Any]) -> set[Any]:
    if "anyOf" in schema:
        return set().union(*map(_choices, schema["anyOf"]))
    return set(schema.get("enum", schema.get("items", {}).get("enum", ())))


def test_parts_are_the_choices_of_their_settings() -> None:
    shelves = chappe.parts()
    leaves = _leaves(chappe.schema())
    assert {"tcp.variant", "routing.protocol", "extends", "flow.N.app"} <= {s["setting"] for s in shelves}
    for shelf in shelves:
        keywords = [part["keyword"] for part in shelf["parts"]]
        assert shelf["name"]
        assert keywords
        assert all(part["description"].strip() for part in shelf["parts"])
        match shelf["setting"]:
            case "extends":
                for keyword in keywords:
                    Scenario.chain(2, extends=keyword)
            case setting if ".N." in setting:
                group, _, path = setting.partition(".N.")
                assert _choices(_leaves(leaves[group]["items"])[path]) == set(keywords)
            case setting:
                assert _choices(leaves[setting]) == set(keywords), setting


MEASURED = {
    "radio.links_table": "src,dst,signal_dbm\n0,1,-60\n1,0,-60\n1,2,-60\n2,1,-60\n",
    "radio.reception": "sinr",
}


def test_every_tcp_variant_and_acknowledgement_policy_delivers() -> None:
    choices = {s["setting"]: [part["keyword"] for part in s["parts"]] for s in chappe.parts()}
    for setting in ("tcp.variant", "tcp.ack_policy", "tcp.rto.estimator", "queue.discipline", "radio.propagation"):
        for keyword in choices[setting]:
            more = MEASURED if keyword == "links" else {}
            results = chappe.run(Scenario.chain(2, {setting: keyword, **more}, stop="110 delivered"))
            assert results.end == "done", (setting, keyword)


def test_an_endless_dict_is_rejected() -> None:
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"tcp": deep}
    with pytest.raises(chappe.ScenarioError, match="`tcp` has no setting `tcp`"):
        chappe.Scenario(deep)


UDP = {"topology": {"hops": 2}, "flow": [{"src": 0, "dst": 2, "app": "cbr"}]}
TO, BACK = ({"src": src, "dst": 1 - src, "app": "external"} for src in (0, 1))
RANDOM = {"topology": {"kind": "random", "nodes": 20, "width": "400 m", "height": "400 m"}}


@pytest.mark.parametrize(
    ("settings", "transports", "sketch"),
    [
        ({"topology": {"hops": 2}}, ["TCP newreno"], "Chain of 3 nodes, 200 m apart; 1 flow; "),
        (UDP, ["UDP"], "Chain of 3 nodes, 200 m apart; 1 flow; "),
        ({**RANDOM, "traffic": {"flows": 3, "app": "cbr"}}, ["UDP"], "20 nodes; 3 flows; "),
        (
            {
                "topology": {"hops": 1},
                "on_off": {"transport": "udp"},
                "flow": [{"dst": 1, "app": "on_off"}, {"dst": 1, "app": "on_off", "on_off": {"transport": "tcp"}}],
            },
            ["UDP", "TCP newreno"],
            "Chain of 2 nodes, 200 m apart; 2 flows; ",
        ),
        (
            {"topology": {"hops": 2}, "flow": [{"src": "0-2", "dst": "0-2"}, {"src": 0, "dst": "1-2", "app": "cbr"}]},
            ["TCP newreno", "UDP"],
            "Chain of 3 nodes, 200 m apart; 8 flows; ",
        ),
        (
            {**RANDOM, "traffic": {"flows": 2}, "tcp": {"variant": "vegas"}, "flow": UDP["flow"]},
            ["UDP", "TCP vegas"],
            "20 nodes; 3 flows; ",
        ),
        (
            {"topology": {"hops": 1}, "flow": [{"src": 0, "dst": 1}, {"src": 1, "dst": 0, "tcp": {"variant": "sack"}}]},
            ["TCP newreno", "TCP sack"],
            "Chain of 2 nodes, 200 m apart; 2 flows; ",
        ),
        (
            {
                "topology": {"hops": 1},
                "tcp": {"congestion_control": "cubic"},
                "flow": [{"dst": 1}, {"dst": 1, "tcp": {"loss_recovery": "sack"}}],
            },
            ["TCP cubic+newreno", "TCP cubic"],
            "Chain of 2 nodes, 200 m apart; 2 flows; ",
        ),
        (
            {"topology": {"hops": 1}, "flow": [{**TO, "quic": {"congestion_control": "bbr"}}, BACK, {"dst": 1}]},
            ["QUIC bbr", "TCP newreno"],
            "Chain of 2 nodes, 200 m apart; 3 flows; ",
        ),
    ],
)
def test_transports_of_flows(settings: dict[str, Any], transports: list[str], sketch: str) -> None:
    scenario = chappe.Scenario({"run": {"stop": "1 s"}, **settings})
    assert scenario.transports == transports
    assert show.sketch(scenario).startswith(sketch)
    assert show.sketch(scenario).endswith(f"; {', '.join(transports)}.")
    assert f", {sketch.split('; ')[1]}, " in repr(scenario)


PAPER = REPOSITORY / "reproductions" / "chappe_papers" / "elrakabawy2005"


@pytest.mark.parametrize(
    ("stem", "nodes", "flows"),
    [
        (PAPER / "random120_1", 120, 10),
        (PAPER / "random120_2", 120, 10),
        (REPOSITORY / "benches" / "random1000", 1000, 80),
    ],
)
def test_kept_topologies_are_read_again(stem: Path, nodes: int, flows: int) -> None:
    """The files give the minimum number of hops of each flow, equal to the number for a range of 250 m."""
    files = {what: f"{stem}_{what}.csv" for what in ("nodes", "flows")}
    scenario = Scenario(
        {
            "run": {"stop": "1 s", "max_nodes": nodes},
            "topology": {"kind": "file", "file": files["nodes"]},
            "traffic": {"file": files["flows"], "stagger": "100 ms"},
        }
    )
    places, kept = scenario.nodes.select("x_m", "y_m").to_numpy(), pl.read_csv(files["flows"])
    assert len(places) == nodes
    assert scenario.flows.select("src", "dst").equals(kept.select("src", "dst"))
    assert len(kept) == flows
    near = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1)) <= 250
    for source, destination, hops in kept.select("src", "dst", "min_hops").iter_rows():
        reached = np.arange(nodes) == source
        for _ in range(hops):
            assert not reached[destination]
            reached = near[reached].any(axis=0)
        assert reached[destination]


def test_measured_links_are_read_from_the_folder_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("src,dst,signal_dbm\n0,1,-60\n1,0,-60\n")
    (tmp_path / "measured.toml").write_text(
        'run.stop = "1 s"\ntopology.hops = 1\n'
        'radio = { propagation = "links", links_file = "links.csv", reception = "sinr" }\n'
    )
    scenario = Scenario.load(tmp_path / "measured.toml")
    assert chappe.run(scenario).flows["packets_delivered"][0] > 10
    assert scenario.settings["radio"]["links_table"] == "src,dst,signal_dbm\n0,1,-60\n1,0,-60\n"
    (tmp_path / "links.csv").write_text("src,dst,signal_dbm\n0,5,-60\n")
    with pytest.raises(ScenarioError, match=r"`links\.csv`: line 2 names node 5, and nodes are numbered from 0 to 1"):
        Scenario.load(tmp_path / "measured.toml")


def test_links_have_signal_and_rate(tmp_path: Path) -> None:
    line = {"topology": {"kind": "chain", "hops": 3, "spacing": "10 m"}, "wlan": {"data_rate": "11 Mbit/s"}}
    loud = {
        "propagation": "log_distance", "reception": "sinr", "transmit_power": "0 dBm",
        "log_distance": {"exponent": 2.2, "distance": "10 m", "loss": "81.6 dB"},
    }  # fmt: skip
    scenario = Scenario(short(**line, radio=loud, flow=[{"dst": 1}]))
    links = scenario.links
    # 12, 5.4 and 1.5 dB above the noise of -93.6 dBm.
    from_0 = links.filter(pl.col("src") == 0)
    assert from_0["signal_dbm"].to_list() == pytest.approx([-81.6, -88.22, -92.10], abs=0.01)
    assert from_0["rate_bps"].to_list() == [11_000_000, 5_500_000, None]
    links.write_csv(tmp_path / "links.csv")
    file = str(tmp_path / "links.csv")
    again = scenario.with_settings({"radio.propagation": "links", "radio.links_file": file}).links
    assert again.drop("signal_dbm").equals(links.drop("signal_dbm"))
    assert again["signal_dbm"].to_list() == pytest.approx(links["signal_dbm"].to_list(), abs=1e-5)
    assert links.filter(pl.col("src") > pl.col("dst")).height == links.height / 2 == 6
    # With pairwise capture, the reception range is 250 m at every rate, and the carrier-sense range 550 m.
    plain = Scenario(short(topology={"hops": 3, "spacing": "200 m"})).links
    from_0 = plain.filter(pl.col("src") == 0)
    assert from_0["rate_bps"].to_list() == [11_000_000, None]


def test_tables_lie_beside_the_file_that_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where another file, or a dict, extends that file and names tables of its own."""
    for folder, far in (("net", 40), ("mine", 80)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "nodes.csv").write_text(f"node,x_m,y_m,name\n0,0,0,a-{folder}\n1,{far},0,b\n")
        (tmp_path / folder / "flows.csv").write_text("src,dst\n" + "0,1\n" * far)
    tables = 'topology = { kind = "file", file = "nodes.csv" }'
    (tmp_path / "net" / "scenario.toml").write_text(f'extends = "ns2-2.35"\nrun.stop = "1 s"\n{tables}\n')
    over = tmp_path / "mine" / "over.toml"
    over.write_text('extends = "../net/scenario.toml"\ntraffic.file = "flows.csv"\n')
    monkeypatch.chdir(tmp_path / "mine")
    for s in (
        Scenario.load(over),
        Scenario({"extends": "../net/scenario.toml", "traffic.file": "flows.csv"}),
        Scenario.load("../net/scenario.toml").with_settings({"traffic.file": "flows.csv"}),
    ):
        assert s["topology.positions"][1] == ["40 m", "0 m"]
        assert s.names == {0: "a-net", 1: "b"}
    assert [len(Scenario.load(over)["flow"]), len(Scenario({"extends": "over.toml"})["flow"])] == [80, 80]
    assert len(Scenario({"extends": "over.toml", "traffic.file": "../net/flows.csv"})["flow"]) == 40
