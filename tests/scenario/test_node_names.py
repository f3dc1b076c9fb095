"""Names of nodes in what a user reads: tables, stories, figures, pages, refusals."""

import json
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import cli, page
from chappe.results.storage.recorded import RECORDED

NETWORK: dict[str, Any] = {
    "run": {"stop": "3 s", "batches": 3, "record": ["queue", "frames", "packets"]},
    "topology": {"hops": 2, "wired_nodes": 1},
    "wired_link": [{"src": "mill", "dst": "exit"}],
    "node": [{"nodes": 0, "name": "roof-17"}, {"nodes": 2, "name": "mill"}, {"nodes": 3, "name": "exit"}],
    "flow": [{"src": "roof-17", "dst": "exit"}, {"src": "exit", "dst": 1, "app": "cbr", "cbr.interval": "100 ms"}],
}
"""A chain of two hops with an exit behind a wire; its second node has no name."""


@pytest.fixture(scope="module")
def results() -> chappe.Results:
    return chappe.run(NETWORK)


def test_tables_have_names(results: chappe.Results) -> None:
    assert results.scenario.names == {0: "roof-17", 2: "mill", 3: "exit"}
    assert results.scenario.nodes["name"].to_list() == ["roof-17", None, "mill"]
    assert results.nodes["name"].to_list() == ["roof-17", None, "mill", "exit"]
    assert results.flows.select("src_name", "dst_name").rows() == [("roof-17", "exit"), ("exit", None)]
    assert results.why().names == results.scenario.names


def test_all_tables_of_nodes_have_names(results: chappe.Results) -> None:
    assert results.wired_links.select("src", "src_name", "dst_name").rows() == [
        (2, "mill", "exit"),
        (3, "exit", "mill"),
    ]
    changed = {**NETWORK, "radio.energy.battery": "1 kJ", "wlan.rate_control.algorithm": "aarf", "run.airtime": True}
    found = chappe.run(changed)
    assert found.airtime["node_name"].to_list() == ["roof-17", None, "mill"]
    assert found.batteries["node_name"].to_list() == ["roof-17", None, "mill"]
    assert ("roof-17", None) in found.rates.select("node_name", "next_hop_name").rows()
    assert "node_name" not in chappe.run(chappe.Scenario.chain(1, stop="100 delivered")).airtime.columns


def test_recorded_tables_have_names(tmp_path: Path) -> None:
    changed = {**NETWORK, "run": {"stop": "3 s", "batches": 3, "record": list(RECORDED)}}
    results = chappe.run(changed, out=tmp_path / "run")
    number = {name: node for node, name in results.scenario.names.items()}
    columns: dict[str, set[str]] = {}
    for name, table in results.recorded.items():
        columns[name] = {column for column in table.columns if f"{column}_name" in table.columns}
        for column in columns[name]:
            called = table[f"{column}_name"].cast(pl.String)
            assert called.replace_strict(number, return_dtype=pl.Int64, default=None).to_list() == [
                node if node in number.values() else None for node in table[column]
            ], (name, column)
    assert columns == {
        "frames": {"src", "dst"},
        "mpdus": {"src", "dst"},
        "heard": {"node", "src"},
        "packets": {"node", "src", "dst", "next_hop"},
        "cwnd": {"node"},
        "queue": {"node", "wired_dst"},
        "routes": {"node", "dst", "next_hop"},
        "energy": {"node"},
        "positions": {"node"},
    }
    kept = chappe.open(tmp_path / "run")
    assert isinstance(kept, chappe.Results)
    for name, table in chappe.run(changed).recorded.items():
        assert table.equals(results.recorded[name]), name
        assert table.equals(kept.recorded[name]), name
    with chappe.start(changed) as simulation:
        assert simulation.stations()["node_name"].to_list() == ["roof-17", None, "mill"]
    plain = chappe.run(chappe.Scenario.chain(1, {"run.record": ["packets"]}, stop="100 delivered"))
    assert "node_name" not in plain.recorded["packets"].columns


def test_measures_take_names(results: chappe.Results, tmp_path: Path) -> None:
    texts = {
        "sum(nodes.data_frames_sent where node = {})": "node",
        "count(frames where src = {} and frame_type = data)": "src",
        "sum(wired_links.packets_sent where src = {})": "src",
        "sum(flows.packets_delivered where dst != {})": "dst",
        "count(queue where wired_dst = {})": "wired_dst",
        "count(losses where node != {})": "node",
    }
    for text in texts:
        by_name, by_number = (
            results.summary([f"x = {text.format(node)}"])["estimate"].to_list() for node in ('"mill"', "2")
        )
        assert by_name == by_number, text
        assert by_name[0] > 0, text
    with pytest.raises(ValueError, match="no node is named 'mil'; did you mean 'mill'"):
        results.summary(["x = count(frames where src = 'mil')"])
    for wrong, said in [
        ("count(frames where frame_type = 'data')", "is no node, and only nodes have names"),
        ("count(frames where src > 'mill')", "which are not ordered"),
    ]:
        with pytest.raises(ValueError, match=said):
            results.summary([f"x = {wrong}"])
    measures = {"x": "count(frames where src = 'mill')", "y": "sum(wired_links.packets_sent where src = 'mill')"}
    plain = {**NETWORK, "run": {"stop": "3 s", "batches": 3}}
    study = chappe.sweep(plain, {}, seeds=2, measures=measures, out=tmp_path / "s", jobs=1, progress=False)
    runs = [chappe.run(chappe.Scenario(NETWORK).with_settings({"run.seed": seed})) for seed in (1, 2)]
    expected = sum(run.wired_links["packets_sent"][0] for run in runs) / 2
    assert study.summary("y")["estimate"][0] == pytest.approx(expected)
    assert study.summary("x")["estimate"][0] > 0
    with pytest.raises(chappe.StudyError, match="no node is named 'mil'"):
        chappe.sweep(plain, {}, seeds=2, measures={"x": "count(frames where src = 'mil')"}, jobs=1, progress=False)


def test_captures_are_called_by_the_names_of_their_nodes(tmp_path: Path) -> None:
    for _ in range(2):
        chappe.run(chappe.Scenario(NETWORK).with_settings({"run.stop": "1 s"}), pcap=tmp_path / "pcap")
    found = sorted(p.name for p in (tmp_path / "pcap").iterdir())
    assert found == ["node-0-roof-17.pcapng", "node-1.pcapng", "node-2-mill.pcapng", "node-3-exit.pcapng"]


def test_flows_are_chosen_by_the_names_of_their_ends(results: chappe.Results) -> None:
    by_name, by_number = (results.summary(["goodput_bps"], flows=text) for text in ("src=roof-17", "src=0"))
    assert by_name["estimate"].to_list() == by_number["estimate"].to_list()


def test_commands_print_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.toml"
    file.write_text(chappe.Scenario(NETWORK).to_toml(), encoding="utf-8")
    assert cli.main(["run", str(file), "--why"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[1:3] for line in out.splitlines() if line.startswith(("0 ", "1 "))][:2] == [
        ["roof-17", "exit"],
        ["exit", "1"],
    ]
    assert "Flow 0, node roof-17 to node exit, TCP newreno" in out
    assert "roof-17 - 1 - mill - exit" in out
    assert "node mill" in out.partition("Time spent by nodes")[2]
    assert cli.main(["follow", str(file), "--lines", "9"]) == 0
    assert "node roof-17 sends segment 0" in capsys.readouterr().out
    assert cli.main(["run", str(file), "--set", "flow.0.src=rof"]) == 2
    assert 'no node is named "rof"' in capsys.readouterr().err


def test_figures_have_names(results: chappe.Results) -> None:
    figure = results.plot("queue", only=["mill", 1])
    assert [text.get_text() for legend in figure.legends for text in legend.get_texts()] == ["node mill", "node 1"]
    with pytest.raises(ValueError, match="no node is named 'mil'"):
        results.plot("queue", only=["mil"])
    with pytest.raises(ValueError, match="this figure is of flows"):
        results.plot("goodput", only=["mill"])
    assert {"roof-17", "1", "mill"} <= {text.get_text() for text in results.scenario.plot().axes[0].texts}


def test_a_page_has_names(results: chappe.Results) -> None:
    html = page.page(results, "names")
    assert html.count(">mill</text>") == 1
    if page.module() is not None:
        data = html.partition('id="data"')[2].partition(">")[2].partition("</script>")[0]
        assert json.loads(data)["names"] == {"0": "roof-17", "2": "mill", "3": "exit"}


def test_a_running_simulation_takes_names() -> None:
    changed = {**NETWORK, "flow": [{"src": "roof-17", "dst": "exit", "app": "external"}]}
    sim = chappe.Simulation(chappe.Scenario(changed))
    assert sim.endpoint("roof-17").node == 0
    sim.apply("node_down", node="mill")
    with pytest.raises(ValueError, match="no node is named"):
        sim.apply("node_up", node="nobody")
    # Links and flows are numbers: the name of a node is none of theirs.
    for action, subject in (("wired_link_down", "wired_link"), ("flow_stop", "flow")):
        with pytest.raises(chappe.ScenarioError, match=f'`{subject}` cannot be "mill"'):
            sim.apply(action, **{subject: "mill"})  # type: ignore[arg-type]


def test_a_silent_flow_names_its_nodes() -> None:
    off = chappe.run({**NETWORK, "event": [{"at": "0 s", "action": "node_down", "node": "roof-17"}]})
    assert any("node roof-17 was switched off" in str(w) for w in off.warnings)
