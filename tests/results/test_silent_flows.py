"""Flows that deliver nothing are reported with reasons."""

import json
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe.cli import main
from chappe.results.budgets import LOSSES
from chappe.study.execution.sweep import sweep

CBR = {"app": "cbr", "cbr": {"interval": "50 ms", "payload": "100 B"}}


def scenario(*flows: dict[str, Any], **more: Any) -> chappe.Scenario:
    run = {"stop": "20 s", "batches": 2, "warmup_batches": 0}
    return chappe.Scenario({"run": run, "topology.hops": 2, "flow": list(flows), **more})


def only(s: chappe.Scenario) -> str:
    """The only warning about a run with one silent flow."""
    (message,) = silent(chappe.run(s, seed=1))
    return message


def silent(results: chappe.Results) -> list[str]:
    """Warnings about silent flows."""
    return [notice.message for notice in results.warnings if notice.code == "silent_flow"]


def test_delivering_flows_are_not_reported() -> None:
    s = scenario({"dst": 2, **CBR}, {"src": 1, "dst": 0})
    assert silent(chappe.run(s, seed=1)) == []


def test_a_flow_that_did_not_start_has_one_reason() -> None:
    late = {"src": 1, "dst": 0, "start": "20 s"}
    assert only(scenario({"dst": 2, **CBR}, late)) == (
        "flow 1 delivered nothing: it starts at 20 s, and the run ended at 20 s"
    )
    event = {"at": "30 s", "action": "flow_start", "flow": 1}
    waits = scenario({"dst": 2, **CBR}, {"src": 1, "dst": 0, "start": "event"}, event=[event])
    assert only(waits) == "flow 1 delivered nothing: it was never started"


def test_hops_that_carry_broadcasts_but_no_data() -> None:
    # All nodes hear broadcasts. Data from node 0 reaches node 1 only via node 2, but DSDV chooses one hop.
    s = scenario(
        {"dst": 1, "start": "10 s", **CBR},
        **{
            "topology": {"kind": "list", "positions": [["0 m", "0 m"], ["150 m", "0 m"], ["75 m", "50 m"]]},
            "routing.protocol": "dsdv",
            "wlan.data_rate": "11 Mbit/s",
            "radio.sensitivity": [{"rate": "11 Mbit/s", "range": "100 m"}],
        },
    )
    assert "node 1 hears broadcasts of node 0, but not its data at 11 Mbit/s (1 more such link)" in only(s)


def test_links_that_go_one_way() -> None:
    # Node 0 transmits at higher power: DSDV hears node 0, but data to node 0 is not acknowledged.
    s = scenario(
        {"src": 1, "dst": 0, "start": "10 s", **CBR},
        topology={"kind": "list", "positions": [["0 m", "0 m"], ["150 m", "0 m"], ["75 m", "100 m"]]},
        routing={"protocol": "dsdv", "dsdv.link_layer_detection": False},
        radio={"frequency": "914 MHz", "receive_threshold": "5e-9 W", "sense_threshold": "1e-11 W"},
        node=[{"nodes": 0, "radio.transmit_power": "2.8 W"}],
    )
    assert "node 1 hears node 0, but node 0 does not hear node 1" in only(s)


def test_losses_are_named() -> None:
    # All unicast frames are corrupted: AODV receives no route reply.
    s = scenario({"dst": 2, **CBR}, **{"wlan.error": {"model": "uniform", "rate": 1.0, "frames": "data"}})
    doubt = only(s)
    assert "its source had no route for 100 % of the time" in doubt
    assert "unicast routing messages lost (corrupted by an error model or noise)" in doubt
    s = scenario(
        {"dst": 2, **CBR},
        **{
            "routing.protocol": "shortest_path",
            "wlan.error": {"model": "uniform", "rate": 1.0, "frames": "data"},
        },
    )
    assert "of its packets lost: mostly retry limit: corrupted by an error model or noise" in only(s)


def gateway(**more: Any) -> chappe.Scenario:
    """A flow over a gateway, one in the other direction over a single hop, and one that fills a queue."""
    return scenario(
        {"src": 0, "dst": 3, **CBR},
        {"src": 1, "dst": 0, **CBR},
        {"src": 1, "dst": 0, "app": "cbr", "cbr": {"interval": "1 ms"}, "stop": "10 s"},
        **{
            "run": {"stop": "20 s", "batches": 10, "warmup_batches": 0},
            "topology.wired_nodes": 1,
            "wired_link": [{"src": 2, "dst": 3}],
            "routing.protocol": "shortest_path",
            **more,
        },
    )


def test_a_flow_is_silent_for_its_own_reason() -> None:
    # The queue of node 1 is full of packets of flow 2; those of flow 0 die at a receiver that is off.
    off = {"at": "0 s", "action": "node_down", "node": 2}
    results = chappe.run(gateway(event=[off], **{"run.record": ["packets"]}), seed=1)
    (message,) = silent(results)
    assert "queue full" not in message
    assert "receiver switched off" in message
    assert "node 2 was switched off at 0 s" in message
    # The columns of the flow count the rows of its packets.
    rows = results.recorded["packets"].filter(pl.col("drop_reason").is_not_null()).cast({"drop_reason": pl.String})
    for flow in results.flows.iter_rows(named=True):
        of_flow = rows.filter(flow=flow["flow"])
        assert len(of_flow) == flow["packets_dropped"]
        assert flow["drop_reason"] in (of_flow["drop_reason"].mode().to_list() or [None])


def test_a_flow_falls_silent_when_its_gateway_is_off() -> None:
    off = {"at": "9 s", "action": "node_down", "node": 2}
    (message,) = silent(chappe.run(gateway(event=[off]), seed=1))
    assert message.startswith("flow 0 delivered nothing from 10 s on at the latest: node 2 was switched off at 9 s")
    # A gateway that comes back, or goes at the very end, is no cause of a long silence.
    back = {"at": "10 s", "action": "node_up", "node": 2}
    assert silent(chappe.run(gateway(event=[off, back]), seed=1)) == []
    assert silent(chappe.run(gateway(event=[{**off, "at": "19 s"}]), seed=1)) == []


def test_packets_of_other_flows_are_no_reason() -> None:
    """A response is complete in the warm-up, and the next one comes after the run; a route is lost meanwhile."""
    thinks = {"app": "requests", "requests": {"think": "100 s", "think_distribution": "fixed"}}
    walks = {"at": "9 s", "action": "node_down", "node": 2}
    messages = silent(
        chappe.run(
            scenario(
                {"src": 0, "dst": 2, **thinks},
                {"src": 0, "dst": 1},
                run={"stop": "20 s", "batches": 2, "warmup_batches": 1},
                event=[walks],
            ),
            seed=1,
        )
    )
    assert all("in transit" not in message and "queue full" not in message for message in messages)


@pytest.mark.parametrize("protocol", ["aodv", "dsr"])
@pytest.mark.parametrize("arp", [True, False])
def test_lost_routing_messages_are_those_of_the_table(protocol: str, arp: bool) -> None:
    # The table of outcomes does not distinguish replies, errors and other unicast messages.
    damaged = {"model": "uniform", "rate": 1.0, "frames": "data"}
    results = chappe.run(
        scenario({"dst": 2, **CBR}, **{"wlan.error": damaged, "routing.protocol": protocol, "arp.enabled": arp}), seed=1
    )
    (doubt,) = silent(results)
    assert "route repl" not in doubt
    routing = results.packet_outcomes.row(by_predicate=pl.col("packet_class") == "routing", named=True)
    lost = routing["dropped_retry_limit"] + routing["dropped_arp_failure"]
    causes = {
        name: routing[name] for name in LOSSES if name.startswith("retry_limit_") or name == "dropped_arp_failure"
    }
    cause = LOSSES[max(causes, key=lambda name: causes[name])].removeprefix("retry limit: ")
    assert lost
    assert f"{lost:,} unicast routing messages lost ({cause})" in doubt


def test_only_some_of_many_silent_flows_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    late = [{"src": 1, "dst": 0, "start": "30 s"}] * 5
    s = scenario({"dst": 2, **CBR}, *late)
    results = chappe.run(s, seed=1)
    messages = silent(results)
    assert len(messages) == 4
    assert messages[-1] == "2 more flows delivered nothing"
    assert [notice.path for notice in results.warnings if notice.code == "silent_flow"] == [
        *("flow.1", "flow.2", "flow.3", "flow"),
    ]
    file = tmp_path / "late.toml"
    file.write_text(s.to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    assert "Flow 1 delivered nothing: it starts at 30 s" in capsys.readouterr().out
    assert main(["run", str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [w["message"] for w in printed["warnings"] if w["code"] == "silent_flow"] == messages


def test_a_study_reports_silent_flows(tmp_path: Path) -> None:
    s = scenario({"dst": 2, **CBR}, {"src": 2, "dst": 0, "start": "12 s"})
    study = sweep(s, {"run.stop": ["10 s", "20 s"]}, seeds=[1, 2], out=tmp_path / "study")
    (doubt,) = [d for d in study.doubts() if "nothing" in d]
    assert doubt == (
        "flow 1 delivered nothing in 2 of 4 runs "
        "(with run.stop = 10 s, seed = 1: it starts at 12 s, and the run ended at 10 s)"
    )


def test_early_ends_and_unreliable_intervals_are_warnings() -> None:
    r = chappe.run(chappe.Scenario.chain(2, {"run.time_limit": "3 s"}, stop="1000000 delivered"))
    assert next((n.code, n.path) for n in r.warnings) == ("early_end", "run.stop")
    short = chappe.run(chappe.Scenario.chain(2, stop="1100 delivered"))
    (notice,) = [n for n in short.warnings if n.code == "short_batches"]
    assert str(notice) == notice.message
    assert "short" in notice.message
    # Of 14 tests the most certain has a probability of 0.6 %.
    assert short.summary()["doubt"].str.contains("trend").any()
    assert {n.code for n in short.warnings} == {"short_batches"}
    single = {"run.batches": 100, "run.warmup_batches": 0, "tcp.receive_window": 64}
    steps = chappe.run(chappe.Scenario.chain(2, single, stop="100 delivered"))
    messages = [n.message for n in steps.warnings if n.code in {"correlated_batches", "trend"}]
    assert (
        "batches of mean_window_segments have a trend: there is no steady state, and their interval is too narrow. "
        "Use longer batches or several seeds"
    ) in messages
    assert any(m.startswith("batches of mean_window_segments are correlated: their interval is") for m in messages)
    assert short.summary()["doubt"].str.starts_with("one run, short batches").all()
