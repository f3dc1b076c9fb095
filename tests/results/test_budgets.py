"""Budgets: sums, and agreement with known effects."""

import json

import chappe
import polars as pl
import pytest
from chappe.results.budgets import AIRTIME, LOSSES, REASONS, SENDING, USES
from command import REPOSITORY
from command import chappe as command


@pytest.fixture(scope="module")
def collapsing() -> chappe.Results:
    """NewReno over 7 hops, with goodput destroyed by hidden terminals."""
    changes = {"tcp.variant": "newreno"}
    return chappe.run(chappe.Scenario.chain(7, changes, stop="3300 delivered", extends="ns2-2.35"))


def test_the_shares_sum_to_one(collapsing: chappe.Results) -> None:
    why = collapsing.why()
    assert why.flow_time["use"].to_list() == list(USES)
    assert why.flow_time["share"].sum() == pytest.approx(1)
    assert why.flow_time["time_s"].sum() == pytest.approx(collapsing.flows["measured_s"].item())
    for kind in ("data", "ack"):
        lost = why.losses.filter(pl.col("packet_class") == kind)
        assert lost["share"].sum() == pytest.approx(1)
        row = collapsing.packet_outcomes.filter(packet_class=kind, measured=True).row(0, named=True)
        assert lost["packets"].sum() == sum(n for name, n in row.items() if name.startswith("dropped_"))
        assert set(lost.select("drop_reason", "retry_cause").iter_rows()) <= set(REASONS.values())


def test_every_cause_of_a_drop_is_in_the_budget(collapsing: chappe.Results) -> None:
    causes = {name for name in collapsing.packet_outcomes.columns if name.startswith(("dropped_", "retry_limit_"))}
    assert set(LOSSES) == causes - {"dropped_retry_limit"}


def test_early_drops_are_losses() -> None:
    changes = {"queue.discipline": "red", "tcp.variant": "newreno", "queue.red.min_threshold": 2}
    red = chappe.run(chappe.Scenario.chain(2, changes, stop="3300 delivered", extends="ns2-2.35"))
    lost = red.why().losses.filter(pl.col("packet_class") == "data")
    assert lost.filter(pl.col("drop_reason") == "aqm")["packets"].sum() > 0
    row = red.packet_outcomes.filter(packet_class="data", measured=True).row(0, named=True)
    assert lost["packets"].sum() == sum(n for name, n in row.items() if name.startswith("dropped_"))


def test_budgets_print_for_people(collapsing: chappe.Results) -> None:
    text = str(collapsing.why())
    for title in ("Time spent by flows", "Causes of packet loss", "Time spent by nodes"):
        assert title in text
    assert LOSSES["retry_limit_hidden_terminal"] in text
    assert repr(collapsing.why()) == text


def test_hidden_terminals_make_long_chains_collapse(collapsing: chappe.Results) -> None:
    """All stations of 2 hops hear each other; with 7 hops, stations three hops apart do not."""
    lost = collapsing.why().losses.filter(pl.col("packet_class") == "data", pl.col("drop_reason") == "retry_limit")
    causes = dict(lost.select("retry_cause", "packets").iter_rows())
    assert causes["hidden_terminal"] > sum(causes.values()) / 2
    short = chappe.run(chappe.Scenario.chain(2, stop="3300 delivered", extends="ns2-2.35")).why().losses
    assert short.filter(pl.col("retry_cause") == "hidden_terminal")["packets"].sum() == 0


def test_waiting_for_timeouts_is_not_slow_start(collapsing: chappe.Results) -> None:
    share = dict(collapsing.why().flow_time.select("use", "share").iter_rows())
    assert share["timeout_wait"] > share["slow_start"] > 0.05
    assert share["route_wait"] > 0.01
    assert share["application_limited"] == 0


@pytest.mark.parametrize("preset", ["standard", "ns2-2.35", "linux"])
def test_a_flow_that_its_receiver_holds_back_is_told_so(preset: str) -> None:
    """A window of 20 segments is used up after at most ten round-trip times, 1 s of 20."""
    wires = {"wired": {"rate": "1 Gbit/s", "delay": "50 ms"}, "wired_link": [{"src": 0, "dst": 1}]}
    settings = {"extends": preset, "run.stop": "20 s", "run.batches": 1, "run.warmup_batches": 0, **wires}
    settings |= {"topology": {"kind": "none", "wired_nodes": 2}, "flow": [{"src": 0, "dst": 1}]}
    scenario = chappe.Scenario(settings | {"tcp.receive_window": 20})
    share = dict(chappe.run(scenario).why().flow_time.select("use", "share").iter_rows())
    assert share["receiver_limited"] > 0.94
    assert "held back by the receiver's window" in str(chappe.follow(scenario))


def test_time_of_nodes_sums_to_one(collapsing: chappe.Results) -> None:
    why = collapsing.why()
    assert why.airtime["use"].to_list() == list(AIRTIME) * 8
    assert why.airtime.group_by("node").agg(pl.col("share").sum())["share"].to_list() == pytest.approx([1] * 8)
    assert why.energy_per_bit_j * collapsing.flows["packets_delivered"].item() * 1460 * 8 == pytest.approx(why.energy_j)


def test_aggregates_have_a_length_and_a_share_lost() -> None:
    """An MPDU of a data frame is lost with probability 0.2, and no other frame."""
    settings = {"topology.hops": 1, "topology.spacing": "20 m", "run.stop": "4000 delivered"}
    settings |= {"wlan.error": {"model": "uniform", "rate": 0.2, "frames": "data"}, "wlan.aggregation.max_mpdus": 8}
    settings |= {"flow": [{"dst": 1, "app": "cbr"}], "cbr": {"interval": "200 us", "payload": "1472 B"}}
    why = chappe.run({"extends": "802.11n", **settings, "run.airtime": True}).why()
    row = why.aggregates.row(0, named=True)
    assert row["node"] == 0
    assert row["mpdus"] == pytest.approx(row["frames"] * row["mean_mpdus"])
    assert 4 < row["mean_mpdus"] <= 8
    assert row["lost_share"] == pytest.approx(0.2, abs=0.03)
    assert "MPDUs lost" in str(why)
    assert chappe.run(chappe.Scenario.chain(1, stop="110 delivered")).why().aggregates.is_empty()


def test_why_repeats_a_run_without_airtime(collapsing: chappe.Results) -> None:
    counted = chappe.run(collapsing.scenario.with_settings({"run.airtime": True}))
    assert collapsing.airtime.is_empty()
    assert counted.flows.equals(collapsing.flows)
    assert counted.why().airtime.equals(collapsing.why().airtime)


def test_collisions_cost_receivers_more_airtime_than_senders(collapsing: chappe.Results) -> None:
    """Most lost frames are RTS; most undecodable frames are complete frames from two hops away."""
    shares = collapsing.why().airtime.group_by("use").agg(pl.col("share").mean())
    share = dict(shares.iter_rows())
    assert 0 < share["collided"] < 0.01 < share["carrier_sense"]
    assert share["reception"] > sum(share[use] for use in SENDING) > share["control"] > share["routing"] > 0


def test_udp_has_losses_and_no_windows() -> None:
    changes = {"flow": [{"dst": 3, "app": "cbr"}], "cbr.interval": "5 ms"}
    why = chappe.run(chappe.Scenario.chain(3, changes, stop="20 s", extends="ns2-2.35")).why()
    assert why.flow_time.is_empty()
    assert why.losses.filter(pl.col("drop_reason") == "queue_full")["packets"].sum() > 0


def test_the_command_prints_why() -> None:
    result = command("run", "scenarios/chain.toml", "--set", "run.stop=1100 delivered", "--why", cwd=REPOSITORY)
    assert result.returncode == 0, result.stderr
    for text in (
        "Time spent by flows",
        "waiting for a timeout",
        "Causes of packet loss",
        "hidden terminals",
        "Time spent by nodes",
        "sending frames that are lost",
        "uJ per delivered bit",
    ):
        assert text in result.stdout


def test_the_command_prints_why_as_json() -> None:
    arguments = ("run", "scenarios/chain.toml", "--set", "run.stop=330 delivered", "--json")
    printed = json.loads(command(*arguments, "--why", cwd=REPOSITORY).stdout)
    scenario = chappe.Scenario.load(REPOSITORY / "scenarios/chain.toml", {"run.stop": "330 delivered"})
    why = chappe.run(scenario).why()
    (story,) = printed["why"].pop("stories")
    assert story["findings"] == chappe.follow(scenario, 0).findings
    assert printed["why"] == json.loads(json.dumps(why.to_dict()))
    assert printed["why"]["airtime"][0].keys() == {"node", "use", "time_s", "share"}
    assert "why" not in json.loads(command(*arguments, cwd=REPOSITORY).stdout)


def _walking(protocol: str) -> chappe.Results:
    return chappe.run(
        {
            "topology": {"kind": "grid", "columns": 6, "rows": 4, "spacing": "180 m"},
            "mobility": {"model": "random_waypoint", "width": "900 m", "height": "540 m", "min_speed": "19 m/s"},
            "routing": {"protocol": protocol},
            "flow": [{"src": 0, "dst": 23, "start": "1 s"}],
            "run": {"stop": "60 s", "warmup_batches": 0, "record": ["routes"]},
        }
    )


@pytest.mark.parametrize("protocol", ["aodv", "dsdv", "dsr"])
def test_time_without_a_route_is_that_of_the_recorded_tables(protocol: str) -> None:
    run = _walking(protocol)
    routes = run.recorded["routes"].filter(pl.col("node") == 0, pl.col("dst") == 23)
    flow = run.flows.row(0, named=True)
    comes, goes = (routes.filter(pl.col("event") == event)["time_s"].to_list() for event in ("added", "removed"))
    # The flow begins at 1 s. A source without a route at the end waits to the end.
    begins, ends = [0.0, *goes], [*comes, flow["measured_s"]][: len(goes) + 1]
    absent = sum(max(end, 1.0) - max(begin, 1.0) for begin, end in zip(begins, ends, strict=True))
    assert len(goes) > 2
    assert flow["no_route_s"] == pytest.approx(absent, abs=1e-6)
    assert flow["route_available_s"] + flow["no_route_s"] == pytest.approx(flow["measured_s"] - 1)
    # A break with another route left is a change in the table.
    changes = routes.filter(pl.col("event") == "changed").height
    assert len(goes) / 2 <= flow["route_breaks"] <= len(goes) + changes
    assert flow["mean_route_life_s"] == pytest.approx(flow["route_available_s"] / flow["route_breaks"])
    assert run.nodes["neighbor_changes"].sum() > 50
    told = f"Flow 0: the path broke {flow['route_breaks']:,} times, after "
    assert told in str(run.why())
    share = run.why().routes["share"].item()
    assert share == pytest.approx(flow["no_route_s"] / (flow["measured_s"] - 1))


def test_routes_count_while_a_flow_goes_on() -> None:
    """Routes do not count before the flow begins, or after all data has been delivered."""
    flows = [{"src": 0, "dst": 2, "start": "5 s", "bulk": {"bytes": "20 kB"}}, {"src": 0, "dst": 2, "start": "25 s"}]
    run = chappe.run(
        {
            "topology": {"hops": 2},
            "routing": {"protocol": "aodv"},
            "flow": flows,
            "run": {"stop": "20 s", "warmup_batches": 0},
        }
    )
    first, second = run.flows.iter_rows(named=True)
    assert first["route_available_s"] + first["no_route_s"] == pytest.approx(first["completion_time_s"])
    assert 0 < first["no_route_s"] < first["completion_time_s"]
    assert (second["route_available_s"], second["no_route_s"]) == (0, 0)
    assert run.why().to_dict()["routes"][1]["share"] is None


def test_a_network_that_stands_still_loses_no_route() -> None:
    still = chappe.run(chappe.Scenario.chain(2, {"routing.protocol": "shortest_path"}, stop="110 delivered"))
    assert still.flows.select("route_breaks", "no_route_s").row(0) == (0, 0.0)
    assert still.flows["mean_route_life_s"].is_null().all()
    assert still.nodes["neighbor_changes"].sum() == 0
    assert "the path broke" not in str(still.why())
    routes = still.why().to_dict()["routes"]
    assert [(r["breaks"], r["share"], r["mean_life_s"]) for r in routes] == [(0, 0.0, None)]
