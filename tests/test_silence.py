"""Flows that deliver nothing say so, and why."""

import json
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe.cli import main
from chappe.study.run import sweep
from chappe.why import LOSSES

CBR = {"app": "cbr", "cbr": {"interval": "50 ms", "payload": "100 B"}}


def scenario(*flows: dict[str, Any], **more: Any) -> chappe.Scenario:
    run = {"stop": "20 s", "batches": 2, "discard": 0}
    return chappe.Scenario({"run": run, "topology.hops": 2, "flow": list(flows), **more})


def only(s: chappe.Scenario) -> str:
    """The doubt about a run of which one flow delivers nothing."""
    (said,) = chappe.run(s, seed=1).doubts
    return said


def test_flows_that_deliver_say_nothing() -> None:
    s = scenario({"to": 2, **CBR}, {"from": 1, "to": 0})
    assert chappe.run(s, seed=1).doubts == []


def test_a_flow_that_could_not_begin_says_that_alone() -> None:
    late = {"from": 1, "to": 0, "start": "20 s"}
    assert only(scenario({"to": 2, **CBR}, late)) == (
        "flow 1 delivered nothing: it starts at 20 s, and the run ended at 20 s"
    )
    event = {"at": "30 s", "flow_begin": 1}
    waits = scenario({"to": 2, **CBR}, {"from": 1, "to": 0, "start": "none"}, event=[event])
    assert only(waits) == "flow 1 delivered nothing: nothing has begun it"


def test_hops_that_broadcasts_choose_and_data_cannot_use() -> None:
    # All hear broadcasts. Data of nodes 0 and 1 do not reach each other, and would over node 2: DSDV takes one hop.
    s = scenario(
        {"to": 1, "start": "10 s", **CBR},
        **{
            "topology": {"kind": "list", "positions": [["0 m", "0 m"], ["150 m", "0 m"], ["75 m", "50 m"]]},
            "routing.protocol": "dsdv",
            "wlan.data_rate": "11 Mbit/s",
            "radio.sensitivity": [{"rate": "11 Mbit/s", "range": "100 m"}],
        },
    )
    assert "node 1 hears broadcasts of node 0, and not its data at 11 Mbit/s (1 more such link)" in only(s)


def test_links_that_go_one_way() -> None:
    # The radio of node 0 is louder: DSDV hears it, and its own data to it are not answered.
    s = scenario(
        {"from": 1, "to": 0, "start": "10 s", **CBR},
        topology={"kind": "list", "positions": [["0 m", "0 m"], ["150 m", "0 m"], ["75 m", "100 m"]]},
        routing={"protocol": "dsdv", "dsdv.link_layer_detection": False},
        radio={"receive_threshold": "5e-9 W", "sense_threshold": "1e-11 W"},
        node=[{"nodes": 0, "radio.transmit_power": "2.8 W"}],
    )
    assert "node 1 hears node 0, which does not hear node 1" in only(s)


def test_losses_are_named() -> None:
    # Every unicast frame is damaged: AODV gets no reply back.
    s = scenario({"to": 2, **CBR}, receiver={"error": {"model": "uniform", "rate": 1.0}, "frames": "data"})
    said = only(s)
    assert "its source had no route 100 % of the time" in said
    assert "unicast routing messages lost (damaged by an error model or noise)" in said
    s = scenario(
        {"to": 2, **CBR},
        **{
            "routing.protocol": "shortest_path",
            "receiver": {"error": {"model": "uniform", "rate": 1.0}, "frames": "data"},
        },
    )
    assert "packets lost: retry limit: damaged by an error model or noise" in only(s)


@pytest.mark.parametrize("protocol", ["aodv", "dsr"])
@pytest.mark.parametrize("arp", [True, False])
def test_lost_routing_messages_are_those_of_the_table(protocol: str, arp: bool) -> None:
    # Replies, errors, and what else goes to one neighbour: the table of fates does not tell them apart.
    damaged = {"error": {"model": "uniform", "rate": 1.0}, "frames": "data"}
    results = chappe.run(
        scenario({"to": 2, **CBR}, receiver=damaged, **{"routing.protocol": protocol, "arp.enabled": arp}), seed=1
    )
    (said,) = results.doubts
    assert "route repl" not in said
    own = results.fates.row(by_predicate=pl.col("kind") == "routing", named=True)
    lost = own["dropped_retry_limit"] + own["dropped_arp_failure"]
    causes = {name: own[name] for name in LOSSES if name.startswith("retry_limit_") or name == "dropped_arp_failure"}
    cause = LOSSES[max(causes, key=lambda name: causes[name])].removeprefix("retry limit: ")
    assert lost
    assert f"{lost:,} unicast routing messages lost ({cause})" in said


def test_of_several_silent_flows_some_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    late = [{"from": 1, "to": 0, "start": "30 s"}] * 5
    s = scenario({"to": 2, **CBR}, *late)
    found = chappe.run(s, seed=1).doubts
    assert len(found) == 4
    assert found[-1] == "2 more flows delivered nothing"
    file = tmp_path / "late.toml"
    file.write_text(s.to_toml(), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    assert "Flow 1 delivered nothing: it starts at 30 s" in capsys.readouterr().out
    assert main(["run", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["doubts"] == found


def test_a_study_says_which_flows_deliver_nothing(tmp_path: Path) -> None:
    s = scenario({"to": 2, **CBR}, {"from": 2, "to": 0, "start": "12 s"})
    study = sweep(s, {"run.stop": ["10 s", "20 s"]}, seeds=[1, 2], out=tmp_path / "study", quiet=True)
    (said,) = [d for d in study.doubts() if "nothing" in d]
    assert said == (
        "flow 1 delivered nothing in 2 of 4 runs "
        "(with run.stop = 10 s, seed = 1: it starts at 12 s, and the run ended at 10 s)"
    )
