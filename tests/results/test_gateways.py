"""Flows say through which gateways they went, and when they changed."""

import math
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe.cli import main

FILE = str(Path(__file__).parents[2] / "scenarios" / "two-gateways.toml")
SCENARIO: dict[str, Any] = {
    "run": {"stop": "120 s", "batches": 12, "warmup_batches": 2},
    "topology": {"hops": 4, "wired_nodes": 3},
    "wired_link": [{"src": 0, "dst": 5}, {"src": 4, "dst": 6}, {"src": 5, "dst": 7}, {"src": 6, "dst": 7}],
    "routing": {"protocol": "babel", "gateways": "announced"},
    "flow": [
        {"src": 1, "dst": 7, "app": "cbr", "start": "15 s", "cbr": {"interval": "100 ms", "payload": "200 B"}},
        {"src": 2, "dst": 1, "app": "cbr", "start": "15 s", "cbr": {"interval": "1 s", "payload": "200 B"}},
    ],
    "node": [{"nodes": 0, "name": "mill"}, {"nodes": 4, "name": "hall"}],
    "event": [{"at": "60 s", "action": "node_down", "node": "mill"}],
}
COLUMNS = ("gateway", "gateway_changes", "gateway_changed_at_s", "longest_handover_s")


@pytest.fixture(scope="module")
def results() -> chappe.Results:
    return chappe.run(chappe.Scenario(SCENARIO), seed=1)


def test_flows_have_their_gateways(results: chappe.Results) -> None:
    rows = results.flows.select(*COLUMNS, "gateway_name").rows()
    gateway, changes, at_s, handover_s, name = rows[0]
    assert (gateway, changes, name) == (4, 1, "hall")
    assert at_s == pytest.approx(60 + handover_s, abs=0.2)
    assert rows[1] == (None, None, None, None, None), "between nodes with a radio"


def test_columns_need_gateways_that_change() -> None:
    s = chappe.Scenario(SCENARIO).with_settings({"routing.gateways": "at_start", "run.stop": "20 s", "event": []})
    assert not set(COLUMNS) & set(chappe.run(s, seed=1).flows.columns)


def test_a_slow_hand_over_is_reported(results: chappe.Results) -> None:
    (notice,) = [n for n in results.warnings if n.code == "slow_handover"]
    handover_s = results.flows["longest_handover_s"][0]
    assert handover_s > 1
    assert notice.path == "flow.0"
    assert notice.message.startswith(f"data of flow 0 went through no gateway for {handover_s:,.3g} s")
    assert notice.message.endswith("to node hall")


def test_a_pause_of_the_source_is_no_slow_hand_over() -> None:
    pauses = {"app": "on_off", "on_off": {"transport": "udp", "on": "1 s", "off": "3 s"}}
    flows = [{"src": 1, "dst": 7, "start": "30 s", **pauses}]
    results = chappe.run(chappe.Scenario(SCENARIO).with_settings({"flow": flows, "routing.protocol": "aodv"}), seed=1)
    assert results.flows["longest_handover_s"][0] > 1
    assert not [n for n in results.warnings if n.code == "slow_handover"]


def test_the_command_says_through_which_gateway_flows_went(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", FILE]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Flow 0 went through gateway 4, after 1 change, the last at " in said
    assert "the longest hand-over took " in said


def test_a_flow_whose_last_gateway_dies_says_so() -> None:
    events = [*SCENARIO["event"], {"at": "60 s", "action": "wired_link_down", "wired_link": 1}]
    results = chappe.run(chappe.Scenario(SCENARIO).with_settings({"event": events}), seed=1)
    (text,) = [n.message for n in results.warnings if n.code == "silent_flow"]
    assert text.startswith("flow 0 delivered nothing from 60 s on at the latest: node mill was switched off at 60 s")
    assert "its last gateway was node mill" in text


def test_hosts_of_batman_adv_keep_their_gateway_for_a_lease() -> None:
    changes = {"routing.protocol": "batman_adv", "routing.batman_adv.purge_timeout": "20 s"}
    s = chappe.Scenario(SCENARIO).with_settings(changes)
    (text,) = [n.message for n in chappe.run(s, seed=1).warnings if n.code == "silent_flow"]
    kept = "which hosts keep until a lease of 3600 s ends and a silent gateway is forgotten, after 20 s"
    assert f"its last gateway was node mill, {kept}" in text
    short = s.with_settings({"routing.batman_adv.dhcp_lease": "24 s"})
    flows = chappe.run(short, seed=1).flows
    assert flows["gateway_changes"][0] == 1
    # Seven eighths of the lease after a last renewal, which the dead gateway answers for five more seconds.
    assert flows["longest_handover_s"][0] < 5 + 21 + 1


def test_a_wire_that_is_cut_is_a_reason() -> None:
    changes = {"event": [{"at": "0 s", "action": "wired_link_down", "wired_link": n} for n in (2, 3)]}
    results = chappe.run(chappe.Scenario(SCENARIO).with_settings({**changes, "run.stop": "40 s"}), seed=1)
    (text,) = [n.message for n in results.warnings if n.code == "silent_flow"]
    assert text.startswith("flow 0 delivered nothing")
    assert "the wire between node 5 and node 7 was cut at 0 s" in text


def test_a_driver_cuts_wires() -> None:
    s = chappe.Scenario(SCENARIO).with_settings({"event": []})
    with chappe.start(s, seed=1) as sim:
        sim.run_until("60 s")
        sim.apply("wired_link_down", wired_link=0)
        with pytest.raises(chappe.ScenarioError, match="there is no wired link 4"):
            sim.apply("wired_link_up", wired_link=4)
        with pytest.raises(TypeError, match="wired_link"):
            sim.apply("wired_link_up", node=0)
        driven = sim.finish()
    event = {"at": "60 s", "action": "wired_link_down", "wired_link": 0}
    listed = chappe.run(s.with_settings({"event": [event]}), seed=1)
    assert driven.flows.equals(listed.flows)
    assert driven.flows["gateway"][0] == 4
    assert not math.isnan(driven.flows["gateway_changed_at_s"][0])


def test_a_protocol_without_gateways_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    changes = ["--set", "routing.protocol=dsr"]
    assert main(["check", FILE, *changes]) == 2
    assert "`dsr` does not announce gateways" in capsys.readouterr().err
