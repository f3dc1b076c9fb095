"""External flows: datagrams that a program sends, and events that tell what became of them."""

import itertools
import json
from collections import Counter
from typing import Any

import chappe
import polars as pl
import pytest
from chappe.page import page
from chappe.stories.overview import overview
from chappe.stories.story import RECORDED

PAIR: list[dict[str, Any]] = [{"src": 0, "dst": 1, "app": "external"}, {"src": 1, "dst": 0, "app": "external"}]
WIRE = chappe.Scenario(
    {
        "run": {"stop": "1 s", "batches": 1, "warmup_batches": 0},
        "topology": {"kind": "none", "wired_nodes": 2},
        "wired_link": [{"src": 0, "dst": 1, "rate": "8 Mbit/s", "delay": "10 ms"}],
        "flow": PAIR,
    }
)
MS = 10**6


def test_events_have_what_belongs_to_their_kind() -> None:
    with chappe.start(WIRE) as sim:
        sender = sim.endpoint(0)
        assert repr(sender) == "<Endpoint: node 0, flows [0]>"
        sender.send(972, tag=2**64 - 1, ecn="ect")
        sender.wake(11 * MS)
        told = list(sim.events(until="50 ms"))
        assert sim.time_ns == 50 * MS
    tag = 2**64 - 1
    assert told == [
        (0, 0, 0, tag, "left"),
        (1, 11 * MS, 0, tag, 0, "ect", 0, False, "arrived"),
        (0, 11 * MS, "wake"),
    ]
    assert told[1]._asdict() == {
        "endpoint": 1,
        "at_ns": 11 * MS,
        "flow": 0,
        "tag": tag,
        "sent_ns": 0,
        "ecn": "ect",
        "hops": 0,
        "copy": False,
        "kind": "arrived",
    }


def test_a_loss_has_its_node_and_reason() -> None:
    with chappe.start(WIRE) as sim:
        sim.endpoint(0).send(1000, tag=5)
        sim.run_until("1 ms")
        sim.apply("node_down", node=1)
        lost = [event for event in sim.events() if event.kind == "lost"]
    assert [(e.endpoint, e.tag, e.node, e.reason, e.at_ns) for e in lost] == [(0, 5, 1, "node_off", 11_028_000)]


def test_a_program_acts_at_the_instant_of_an_event() -> None:
    with chappe.start(WIRE) as sim:
        ends = {n: sim.endpoint(n) for n in (0, 1)}
        ends[0].send(972, tag=0)
        times = []
        for event in sim.events(until="100 ms"):
            if event.kind == "arrived":
                assert event.at_ns == sim.time_ns
                times.append(event.at_ns)
                ends[event.endpoint].send(972, tag=event.tag + 1)
        results = sim.results()
    assert times == [11 * MS * n for n in range(1, 10)]
    assert results.flows["bytes_delivered"].to_list() == [5 * 972, 4 * 972]


def test_events_wait_for_the_program() -> None:
    with chappe.start(WIRE) as sim:
        for tag in range(3):
            sim.endpoint(0).send(972, tag=tag)
        assert sim.run_until("500 ms")
        told = sim.events(until="500 ms")
        first = next(told)
        rest = [(e.kind, e.tag) for e in sim.events() if e.kind != "wake"]
        assert sim.done
    assert first == (0, 0, 0, 0, "left")
    assert rest == [("left", 1), ("left", 2), ("arrived", 0), ("arrived", 1), ("arrived", 2)]


def test_without_an_external_flow_there_are_no_events() -> None:
    with chappe.start(chappe.Scenario.chain(1, stop="1 s")) as sim:
        assert list(sim.events(until=0.5)) == []
        assert sim.time_s == 0.5
        with pytest.raises(ValueError, match='node 0 is no endpoint; no flow has `app = "external"`'):
            sim.endpoint(0)
        assert list(sim.events()) == []
        assert sim.done


def test_wrong_calls_are_named() -> None:
    three = WIRE.with_settings({"topology.wired_nodes": 3, "flow": [*PAIR, PAIR[0] | {"dscp": 46}]})
    with chappe.start(three) as sim:
        for node in (2, -1, True, "0"):
            with pytest.raises(ValueError, match=r"is no endpoint; external flows begin or end at the nodes \[0, 1\]"):
                sim.endpoint(node)
        one, two = sim.endpoint(1), sim.endpoint(0)
        with pytest.raises(ValueError, match=r"flow=None: the external flows from node 0 are \[0, 2\]"):
            two.send(10, tag=1)
        with pytest.raises(ValueError, match=r"flow=0: the external flows from node 1 are \[1\]"):
            one.send(10, tag=1, flow=0)
        for wrong, text in (
            ({"payload_bytes": -1}, "payload_bytes: -1 is not a whole number of at least 0"),
            ({"payload_bytes": 1.5}, "payload_bytes: 1.5 is not a whole number"),
            ({"tag": "a"}, "tag: 'a' is not a whole number"),
            ({"tag": 2**64}, f"tag: {2**64} is not a whole number of at least 0 and below {2**64}"),
            ({"dscp": 64}, "dscp: 64 is not a codepoint from 0 to 63"),
            ({"ecn": True}, "ecn: True is not an ECN field"),
            ({"ecn": "ect1"}, 'there is no ECN field "ect1"; known: not_ect, ect, ce'),
            ({"payload_bytes": 1473}, "flow 1 at 0 s: a datagram of 1473 [+] 28 B is larger than `net.mtu`"),
        ):
            with pytest.raises(ValueError, match=text):
                one.send(**({"payload_bytes": 10, "tag": 1} | wrong))
        for at in (0.5, -1, "1 s"):
            with pytest.raises(ValueError, match=r"at_ns: .* is not a whole number of at least 0 \[ns\]"):
                one.wake(at)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="is not an instant of a run"):
            sim.events(until="soon")
        with pytest.raises(chappe.ScenarioError, match="flow 1 is external: its driver decides when it sends"):
            sim.apply("flow_start", flow=1)
        sim.apply("node_down", node=1)
        with pytest.raises(chappe.RunError, match="flow 1 at 0 s: node 1 is off"):
            one.send(10, tag=1)
        sim.cancel()
        with pytest.raises(chappe.RunError, match="flow 0 at 0 s: the run is over"):
            two.send(10, tag=1, flow=0)
        assert sim.results().flows["packets_sent"].to_list() == [0, 0, 0]


def test_tables_and_plots_know_the_datagrams() -> None:
    changes = {
        "flow": [{"src": 0, "dst": 2, "app": "external"}],
        "run": {"record": ["packets"], "batches": 4, "warmup_batches": 0},
    }
    with chappe.start(chappe.Scenario.chain(2, changes, stop="2 s"), seed=1) as sim:
        sender = sim.endpoint(0)
        tags = itertools.count()
        sender.wake(0)
        told: Counter[str] = Counter()
        for event in sim.events():
            told[event.kind] += event.kind != "arrived" or not event.copy
            if event.kind == "wake":
                sender.send(500, tag=next(tags))
                sender.wake(event.at_ns + 20 * MS)
        results = sim.finish()
    row = results.flows.row(0, named=True)
    assert (row["app"], row["transport"], row["packets_sent"]) == ("external", "udp", 100)
    assert (row["packets_delivered"], row["bytes_delivered"]) == (told["arrived"], 500 * told["arrived"])
    assert row["goodput_bps"] == 500 * 8 * told["arrived"] / 2
    # TCP alone has retransmissions, round-trip times and timeouts.
    assert (row["variant"], row["retransmissions"], row["mean_rtt_s"], row["completion_time_s"]) == (None,) * 4
    assert told["arrived"] >= 90
    assert told["arrived"] + told["lost"] >= 99
    packets = results.recorded["packets"]
    delivered = packets.filter(pl.col("event").cast(pl.String) == "delivered", packet_type="udp")
    assert delivered["packet"].n_unique() == told["arrived"]
    assert results.plot("goodput") is not None


def test_a_run_without_a_driver_says_so() -> None:
    results = chappe.run(WIRE)
    assert [notice.message for notice in results.warnings if notice.code == "silent_flow"] == [
        "flow 0 delivered nothing: its driver sent nothing",
        "flow 1 delivered nothing: its driver sent nothing",
    ]
    assert WIRE.flows["started_at_s"].to_list() == [None, None]


def test_times_of_an_external_flow_have_no_effect() -> None:
    settings = {"flow.0.start": "1 s", "flow.0.stop": "2 s", "flow.1.tcp.mss": "500 B"}
    unused = WIRE.with_settings(settings)._core.unused()
    assert unused == [
        ("flow.0.start", "the driver of an external flow decides when it sends"),
        ("flow.0.stop", "the driver of an external flow decides when it sends"),
        ("flow.1.tcp.mss", "the flow is not over TCP"),
    ]


def sent(changes: dict[str, Any]) -> chappe.Results:
    """Results of a run whose program sends ten datagrams over a hop."""
    scenario = chappe.Scenario.chain(
        1, {"flow": PAIR, "run.batches": 1, "run.warmup_batches": 0, **changes}, stop="1 s"
    )
    with chappe.start(scenario) as sim:
        for tag in range(10):
            sim.endpoint(0).send(100, tag=tag)
        return sim.finish()


def test_a_run_is_not_repeated_without_its_program() -> None:
    plain = sent({})
    assert overview(plain, 3).stories == {}
    assert overview(plain, 3).note == (
        "Stories of a run with external flows, which cannot be repeated without its program, need `run.airtime = true` "
        f"and `run.record = {json.dumps(RECORDED)}`."
    )
    assert plain.why().airtime.is_empty()
    watched = sent({"run.airtime": True, "run.record": list(RECORDED)})
    told = overview(watched, 3)
    assert "10 packets arrived" in told.stories[0].findings[0]
    assert told.others == [], "the program sent nothing over the other flow"
    assert watched.why().airtime.height > 0
    assert "This page has no player: the datagrams of its external flows came from a program" in page(watched, "Run")
    with pytest.raises(RuntimeError, match="there is no player: the datagrams of its external flows"):
        watched.player()
    with pytest.raises(ValueError, match="flow 1 is external: its datagrams come from a program"):
        chappe.follow(watched.scenario, 1)
