"""Copies of runs, and looks at them."""

import chappe
import numpy as np
import pytest
from chappe.results.look import FLOW_COLUMNS, RADIO_COLUMNS
from test_control import same

CHAIN = chappe.Scenario.chain(
    3,
    {
        "flow": [{"src": 0, "dst": 3}, {"src": 3, "dst": 1, "app": "cbr"}],
        "cbr.interval": "20 ms",
        "run.airtime": True,
        "run.batches": 1,
        "run.warmup_batches": 0,
        "wlan.error.model": "uniform",
        "wlan.error.rate": 0.02,
        "run.sample_interval": "500 ms",
        "run.record": ["cwnd", "queue"],
    },
    stop="6 s",
)
EXTERNAL = [{"src": 0, "dst": 3, "app": "external"}, {"src": 3, "dst": 0, "app": "external"}]


def test_a_copy_goes_on_as_the_run_and_without_it() -> None:
    whole = chappe.run(CHAIN, seed=4)
    with chappe.start(CHAIN, seed=4) as sim:
        at_start = sim.copy()
        sim.run_until("2.5 s")
        sim.look()
        copy, other = sim.copy(), sim.copy()
        other.apply("node_down", node=2)
        other.run_until("4 s")
        assert (copy.time_s, sim.time_s) == (2.5, 2.5)
        assert copy.scenario is sim.scenario
        same(copy.finish(), whole)
        assert sim.time_s == 2.5, "the copy has ended, not this one"
        again = sim.copy()
        assert again.look().flows.tobytes() == sim.look().flows.tobytes(), "of the interval since the same look"
        same(sim.finish(), whole)
        assert whole.table("cwnd").equals(copy.results().table("cwnd"), null_equal=True)
        assert other.finish().frames_sent != whole.frames_sent
        same(at_start.finish(), whole)


def test_a_copy_of_a_canceled_or_finished_run_is_over_too() -> None:
    sim = chappe.start(CHAIN)
    sim.run_until("1 s")
    sim.cancel()
    copy = sim.copy()
    assert copy.done
    same(copy.results(), sim.results())
    with pytest.raises(chappe.RunError, match="the run is over"):
        copy.set("flow.0.tcp.max_cwnd", 3)


def test_a_copy_has_the_events_that_were_not_taken_and_endpoints_of_its_own() -> None:
    sim = chappe.start(chappe.Scenario.chain(3, {"flow": EXTERNAL}, stop="5 s"), seed=2)
    sim.endpoint(0).send(500, tag=7)
    sim.run_until("1 s")
    copy = sim.copy()
    assert (
        [e.kind for e in copy.events(until="2 s")] == [e.kind for e in sim.events(until="2 s")] == ["left", "arrived"]
    )
    copy.endpoint(3).send(100, tag=8)
    assert [e.kind for e in copy.events()] == ["left", "arrived"]
    assert list(sim.events()) == []


def test_to_look_changes_nothing() -> None:
    with chappe.start(CHAIN, seed=5) as sim:
        for at in np.arange(0.037, 6, 0.037):
            sim.run_until(float(at))
            sim.look()
            sim.look()
        same(sim.finish(), chappe.run(CHAIN, seed=5))


def test_sums_of_looks_are_the_totals_of_the_tables() -> None:
    with chappe.start(CHAIN, seed=6) as sim:
        looks = [sim.look()]
        for at in np.arange(0.1, 6.05, 0.1):
            sim.run_until(float(at))
            looks.append(sim.look())
        results = sim.finish()
    assert [look.from_ns for look in looks[1:]] == [look.to_ns for look in looks[:-1]]
    table = results.flows
    for name in ("bytes_delivered", "packets_delivered", "packets_sent"):
        assert np.sum([look.flows[name] for look in looks], axis=0).tolist() == table[name].to_list(), name
    for name in ("retransmissions", "timeouts"):
        assert sum(look.flows[name][0] for look in looks) == table[name][0], name
        assert np.isnan(looks[-1].flows[name][1]), "a flow over UDP has none"
    assert table["retransmissions"][0] > 0
    outcomes = results.packet_outcomes
    of_flows = outcomes.filter(outcomes["packet_class"].is_in(["data", "ack"]))
    dropped = sum(of_flows[c].sum() for c in of_flows.columns if c.startswith("dropped_"))
    assert sum(look.flows["packets_dropped"].sum() for look in looks) == dropped > 0
    samples = results.table("samples")
    last = samples.filter(samples["flow"] == 0)
    seen = looks[round(last["time_s"][-1] * 10)].flows[0]
    for name, column in (
        ("cwnd_segments", "cwnd_segments"),
        ("outstanding_segments", "outstanding_segments"),
        ("srtt_s", "srtt_s"),
        ("source_queue_packets", "source_queue_packets"),
    ):
        assert seen[name] == last[column][-1], name
    assert 0 < seen["min_rtt_s"] <= seen["srtt_s"]
    airtime = results.airtime
    own = airtime.select("data_s", "retransmitted_data_s", "tcp_acks_s", "control_s", "routing_s", "collided_s")
    sending = sum(0.1 * look.radios["sending_share"] for look in looks[1:])
    assert sending == pytest.approx(own.sum_horizontal().to_numpy(), abs=1e-9)
    others = airtime.select("reception_s", "carrier_sense_s").sum_horizontal().to_numpy()
    assert sum(0.1 * look.radios["sensing_share"] for look in looks[1:]) == pytest.approx(others, abs=1e-9)


def test_a_look_has_what_its_interval_had() -> None:
    with chappe.start(CHAIN, seed=6) as sim:
        first = sim.look()
        assert (first.from_ns, first.to_ns) == (0, 0)
        assert np.isnan(first.flows["goodput_bps"]).all(), "no time has passed"
        sim.run_until("2 s")
        look = sim.look()
        assert (look.from_ns, look.to_ns) == (0, 2 * 10**9)
        assert look.flows.dtype.names == FLOW_COLUMNS
        assert look.radios.dtype.names == RADIO_COLUMNS
        assert look.radios["node"].tolist() == [0, 1, 2, 3]
        flows = sim.results().flows
        assert look.flows["goodput_bps"] == pytest.approx(flows["goodput_bps"].to_numpy())
        assert look.flows["mean_rtt_s"][0] == pytest.approx(flows["mean_rtt_s"][0])
        assert look.flows["mean_delay_s"] == pytest.approx(flows["mean_delay_s"].to_numpy())
        assert look.radios["queue_packets"].tolist() == sim.stations()["packets"].to_list()
    without = chappe.start(CHAIN.with_settings({"run.airtime": False}))
    without.run_until("1 s")
    assert np.isnan(without.look().radios["sending_share"]).all()


def test_settings_that_change_a_run_are_events() -> None:
    changes = {"tcp.congestion_control": "fixed", "tcp.loss_recovery": "newreno", "tcp.fixed.window": 2}
    scenario = CHAIN.with_settings(changes)
    sets = [
        ("flow.0.tcp.fixed.window", 9),
        ("flow.0.tcp.fixed.pacing_rate", "300 kbit/s"),
        ("flow.0.tcp.delayed_ack.segments", 3),
        ("queue.limit", 5),
        ("flow.0.tcp.fixed.pacing_rate", "unlimited"),
    ]
    events = [{"at": f"{i} s", "action": "set", "setting": n, "value": v} for i, (n, v) in enumerate(sets)]
    listed = chappe.run(scenario.with_settings({"event": events}), seed=3)
    with chappe.start(scenario, seed=3) as sim:
        for second, (name, value) in enumerate(sets):
            sim.run_until(second)
            sim.set(name, value)
        same(sim.finish(), listed)
    assert listed.frames_sent != chappe.run(scenario, seed=3).frames_sent
