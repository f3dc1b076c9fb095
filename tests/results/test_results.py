"""Tables of a run, and invariants between tables."""

import copy
import hashlib
import itertools
import json
import math
import multiprocessing
import pickle
import statistics
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import chappe
import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from chappe import _core
from chappe.measures import ENERGY, MEASURES, NODES_ALONE
from chappe.results.budgets import AIRTIME, SENDING
from chappe.results.storage.columns import TABLES
from chappe.stats import jain_index
from scipy.stats import skew


def dropped(table: pl.DataFrame) -> pl.DataFrame:
    return table.select(pl.col("^dropped_.*$"))


@pytest.fixture(scope="module")
def lost() -> chappe.Results:
    """A run without deliveries: packets of ns-2's AODV have a TTL of 30 hops."""
    return chappe.run(chappe.Scenario.chain(32, {"run.batches": 4}, stop="60 s", extends="ns2-2.35"))


@pytest.fixture(params=["mixed", "chain", "lost"])
def results(request: pytest.FixtureRequest, mixed_results: chappe.Results, chain_results: chappe.Results) -> object:
    match request.param:
        case "mixed":
            return mixed_results
        case "chain":
            return chain_results
        case _:
            return request.getfixturevalue("lost")


# ---- outcomes of packets ----


def test_every_packet_has_one_outcome(results: chappe.Results) -> None:
    f = results.packet_outcomes
    assert f["packet_class"].unique(maintain_order=True).to_list() == ["data", "ack", "routing", "arp"]
    # Packets of the warm-up have rows of their own; there are none without warm-up.
    warmup = results.scenario.settings["run"]["warmup_batches"]
    assert f.filter(measured=True)["packet_class"].n_unique() == 4
    assert f.filter(measured=False).is_empty() == (warmup == 0)
    assert len(f) == f.n_unique(["packet_class", "measured"])
    came = f["created"] + f["injected"] + f["copied"]
    went = f["delivered"] + f["relayed"] + f["absorbed"] + dropped(f).sum_horizontal() + f["inside"]
    assert came.to_list() == went.to_list()


def test_drops_of_the_batches_are_those_of_the_run(chain_results: chappe.Results) -> None:
    per_batch = dropped(chain_results.batches).sum()
    assert per_batch.to_dicts() == dropped(chain_results.packet_outcomes).sum().to_dicts()
    assert per_batch.sum_horizontal().item() > 0


def test_outcomes_agree_with_flows(chain_results: chappe.Results) -> None:
    """One TCP flow, immediate acknowledgements, no discarded batch."""
    flow = chain_results.flows.row(0, named=True)
    data, ack = chain_results.packet_outcomes.rows(named=True)[:2]
    assert data["created"] == flow["packets_sent"]
    assert ack["created"] == data["delivered"]
    assert ack["delivered"] == flow["tcp_acks_received"]
    # Segments unknown to the source were delivered after the last received acknowledgement was sent.
    assert 0 <= flow["packets_delivered"] - flow["packets_acked"] <= ack["created"] - ack["delivered"]
    syn = 1
    waiting_for_others = data["delivered"] - flow["packets_delivered"] - flow["duplicates_received"] - syn
    assert 0 <= waiting_for_others <= flow["mean_window_segments"] * 10
    assert flow["copies_received"] == data["delivered"]
    # All packets crossed the five hops of the chain.
    assert flow["mean_hops"] == 5
    assert flow["mean_delay_s"] > 0
    assert flow["retransmissions"] > flow["fast_retransmits"] > 0
    assert flow["timeouts"] > 0


# ---- flows and batches ----


def test_batches_cut_the_run_without_gaps(results: chappe.Results) -> None:
    b = results.batches
    run = results.scenario.settings["run"]
    assert b["batch"].to_list() == list(range(run["batches"]))
    assert b["used"].to_list() == [i >= run["warmup_batches"] for i in range(run["batches"])]
    assert b["started_at_s"].to_list() == [0.0, *b["ended_at_s"].to_list()[:-1]]
    assert b["ended_at_s"][-1] == results.simulated_s
    assert results.end == "done"


def test_flows_are_the_sum_of_their_used_batches(results: chappe.Results) -> None:
    counts = [name for name in results.flow_batches.select(cs.integer()).columns if name in results.batches.columns]
    counts.remove("batch")
    assert len(counts) > 15
    per_flow = results.flow_batches.filter("used").group_by("flow").agg(pl.col(counts).sum()).sort("flow")
    # A sum of nothing is 0; counts that do not apply to UDP are null.
    assert per_flow.to_dicts() == results.flows.select("flow", pl.col(counts).fill_null(0)).to_dicts()
    used = results.batches.filter("used")
    assert used.select(counts).sum().to_dicts() == results.flows.select(counts).sum().to_dicts()
    measured_s = used["ended_at_s"][-1] - used["started_at_s"][0]
    assert results.flows["measured_s"].to_list() == pytest.approx([measured_s] * len(results.flows))


@pytest.mark.parametrize("rate", ["goodput_bps", "throughput_bps"])
def test_rates_of_batches_add_up_to_rates_of_flows(results: chappe.Results, rate: str) -> None:
    seconds = results.batches.select("batch", length=pl.col("ended_at_s") - pl.col("started_at_s"))
    bits = (
        results.flow_batches.filter("used").join(seconds, on="batch").with_columns(bits=pl.col(rate) * pl.col("length"))
    )
    flows = results.flows
    assert bits.group_by("flow").agg(pl.col("bits").sum()).sort("flow")["bits"].to_list() == pytest.approx(
        (flows[rate] * flows["measured_s"]).to_list()
    )
    whole = results.batches.join(results.flow_batches.group_by("batch").agg(flows=pl.col(rate).sum()), on="batch")
    assert whole["flows"].to_list() == pytest.approx(whole[rate].to_list())


def test_goodput_is_payload_and_throughput_is_packets(chain_results: chappe.Results) -> None:
    flow = chain_results.flows.row(0, named=True)
    assert flow["goodput_bps"] == pytest.approx(flow["packets_delivered"] * 1460 * 8 / flow["measured_s"])
    # All received segments; the SYN has no payload, and some segments may wait behind a gap.
    arrived = flow["packets_delivered"] + flow["duplicates_received"]
    bits = arrived * 1500 * 8
    assert bits <= flow["throughput_bps"] * flow["measured_s"] <= bits * 1.01


def test_a_stop_rule_in_packets_cuts_batches_of_packets(chain_results: chappe.Results) -> None:
    # 3300 packets in 11 batches: segments behind a filled gap may overshoot the end of a batch.
    delivered = chain_results.batches["packets_delivered"].cum_sum().to_list()
    assert all(300 * k <= d < 300 * (k + 1) for k, d in enumerate(delivered, start=1))


def test_a_stop_rule_in_seconds_cuts_batches_of_seconds(mixed_results: chappe.Results) -> None:
    assert mixed_results.batches["ended_at_s"].to_list() == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]


def test_means_of_a_flow_lie_among_those_of_its_batches(chain_results: chappe.Results) -> None:
    flow = chain_results.flows.row(0, named=True)
    batches = chain_results.batches.with_columns(length=pl.col("ended_at_s") - pl.col("started_at_s"))
    window_seconds = float((batches["mean_window_segments"] * batches["length"]).sum())
    assert flow["mean_window_segments"] == pytest.approx(window_seconds / chain_results.simulated_s)
    for name in ("mean_rtt_s", "mean_delay_s"):
        assert batches[name].min() < flow[name] < batches[name].max()
    # A round trip takes longer than one way, and both longer than five frames of 1500 B at 2 Mbit/s.
    assert flow["mean_rtt_s"] > flow["mean_delay_s"] > 5 * 1500 * 8 / 2e6


def test_datagrams_arrive_at_the_rate_they_are_sent_at() -> None:
    """1000 B every 20 ms over one idle hop: 400 kbit/s of payload plus 20 + 8 B of headers, without losses."""
    cbr = {"interval": "20 ms", "payload": "1000 B"}
    flow = {"src": 0, "dst": 1, "app": "cbr", "start": "1 s"}
    r = chappe.run({"run": {"stop": "11 s"}, "topology": {"hops": 1}, "cbr": cbr, "flow": [flow]})
    (f,) = r.flows.to_dicts()
    assert f["transport"] == "udp"
    assert f["packets_delivered"] == 500
    assert f["goodput_bps"] == pytest.approx(400e3)
    assert f["throughput_bps"] == pytest.approx(400e3 * 1028 / 1000)
    of_tcp = ("retransmissions", "timeouts", "tcp_acks_received", "mean_window_segments", "mean_rtt_s", "rtt_samples")
    assert [f[name] for name in of_tcp] == [None] * len(of_tcp)
    assert r.samples.is_empty()


# ---- nodes ----


def test_nodes_are_where_the_scenario_puts_them(chain_results: chappe.Results, mixed_results: chappe.Results) -> None:
    assert chain_results.nodes["x_m"].to_list() == [0, 200, 400, 600, 800, 1000]
    assert chain_results.nodes["y_m"].to_list() == [0] * 6
    assert list(mixed_results.nodes.select("x_m", "y_m").iter_rows()) == [(0, 0), (200, 0), (400, 0), (200, 200)]


def test_counters_of_nodes_are_those_of_the_used_batches(results: chappe.Results) -> None:
    counters = [c for c in results.nodes.columns if c not in ("node", "x_m", "y_m", "link_drop_probability")]
    assert "collisions" in counters
    used = results.batches.filter("used").select(counters).sum()
    assert results.nodes.select(counters).sum().to_dicts() == used.to_dicts()


def test_frames_are_those_of_all_nodes(chain_results: chappe.Results) -> None:
    sent = chain_results.nodes.select(
        "rts_frames_sent", "cts_frames_sent", "data_frames_sent", "ack_frames_sent", "broadcast_frames_sent"
    )
    assert chain_results.frames_sent == sent.sum().sum_horizontal().item()


def test_frames_of_a_station_are_answered_or_lost() -> None:
    """RTS before every packet; at most one exchange per station is open at the end of the run."""
    rules = {"run.warmup_batches": 0, "wlan.rts_threshold": "always"}
    nodes = chappe.run(chappe.Scenario.chain(5, rules, stop="3300 delivered")).nodes
    for n in nodes.iter_rows(named=True):
        assert n["rts_frames_sent"] - n["rts_frames_failed"] - n["data_frames_sent"] in (0, 1)
        packets = n["mac_data_packets"] + n["mac_tcp_acks"] + n["mac_other_packets"]
        given_up = n["mac_data_given_up"] + n["mac_tcp_acks_given_up"] + n["mac_other_given_up"]
        assert packets - given_up - (n["data_frames_sent"] - n["data_frames_failed"]) in (0, 1)
        assert n["link_drop_probability"] == pytest.approx(given_up / packets)
    network = nodes.sum().row(0, named=True)
    assert network["cts_frames_sent"] >= network["data_frames_sent"]
    assert network["ack_frames_sent"] >= network["data_frames_sent"] - network["data_frames_failed"]
    assert network["given_up_after_rts"] > 0


def test_route_failures_are_repairs_and_lost_links(chain_results: chappe.Results) -> None:
    b = chain_results.batches
    assert b["route_failures"].to_list() == (b["local_repairs"] + b["links_deleted"]).to_list()
    assert b["route_failures"].sum() > 0


# ---- series ----


def test_samples_are_taken_at_the_interval(mixed_results: chappe.Results) -> None:
    s = mixed_results.samples
    for flow in (0, 2):
        of_flow = s.filter(pl.col("flow") == flow)
        assert of_flow["time_s"].to_list() == pytest.approx([0.5 * k for k in range(121)])
        assert of_flow["cwnd_segments"].min() == 1.0
    assert set(s["flow"]) == {0, 2}, "datagrams have no window"
    assert s.filter(s["time_s"] < 10, s["flow"] == 2)["outstanding_segments"].sum() == 0
    assert (s["rto_s"] >= 0.2).all()
    assert (s["source_queue_packets"] <= 50).all()


def test_empty_tables_have_the_types_of_full_ones(mixed_results: chappe.Results) -> None:
    """A run without samples, links and airtime has empty tables."""
    r = chappe.run(chappe.Scenario.chain(1, stop="11 delivered"))
    assert {name for name in TABLES if getattr(r, name).is_empty()} == {
        "short_flows",
        "samples",
        "airtime",
        "rates",
        "batteries",
        "wired_links",
        "wired_link_batches",
    }
    for name in TABLES:
        assert getattr(r, name).schema == getattr(mixed_results, name).schema


# ---- rates ----


def test_rates_sum_to_the_counts_of_the_nodes(mixed_results: chappe.Results) -> None:
    changes = {
        "wlan.data_rate": "11 Mbit/s",
        "wlan.rate_control.algorithm": "sample_rate",
        "wlan.error": {"model": "uniform", "rate": 0.2},
    }
    r = chappe.run(chappe.Scenario.chain(2, changes, stop="1100 delivered"))
    assert r.rates.schema == mixed_results.rates.schema
    counts = ["data_frames_sent", "data_frames_failed", "rts_frames_failed"]
    assert r.rates.group_by("node").agg(pl.col(counts).sum()).sort("node").drop("node").equals(r.nodes.select(counts))
    data, acks = (r.rates.filter(packet_class=kind) for kind in ("data", "ack"))
    assert (data["next_hop"] - data["node"]).to_list() == [1] * len(data)
    assert (acks["node"] - acks["next_hop"]).to_list() == [1] * len(acks)
    assert data["packets"].sum() == r.nodes["mac_data_packets"].sum()
    assert set(r.rates["rate_bps"]) == {1_000_000, 2_000_000, 5_500_000, 11_000_000}
    assert set(r.rates["packet_class"]) <= set(r.packet_outcomes["packet_class"])


# ---- airtime ----


def test_uses_of_time_sum_to_the_measured_time(chain_results: chappe.Results) -> None:
    uses = chain_results.airtime.drop("node", "channel", "energy_j")
    assert uses.columns == [f"{use}_s" for use in AIRTIME]
    assert uses.sum_horizontal().to_list() == pytest.approx([chain_results.flows["measured_s"].item()] * 6)
    # Every node sends, receives, defers and idles; the source sends no acknowledgements.
    assert uses["off_s"].sum() == 0
    assert (uses.drop("off_s", "data_s", "retransmitted_data_s", "tcp_acks_s") > 0).to_numpy().all()
    assert chain_results.airtime["tcp_acks_s"][0] == 0 == chain_results.airtime["data_s"][5]


def test_energy_is_power_times_time(chain_results: chappe.Results) -> None:
    """0.66 W, 0.395 W and 0 W are the values of ns-2."""
    t = chain_results.airtime
    sending = t.select(f"{use}_s" for use in SENDING).sum_horizontal()
    hearing = t["reception_s"] + t["carrier_sense_s"]
    assert t["energy_j"].to_list() == pytest.approx((0.66 * sending + 0.395 * hearing).to_list())
    assert chain_results.batches["energy_j"].sum() == pytest.approx(t["energy_j"].sum())
    idle = chappe.run(chain_results.scenario.with_settings({"radio.energy.idle": "1.15 W"}))
    assert idle.flows.equals(chain_results.flows)
    rest = chain_results.simulated_s - sending - hearing
    assert (idle.airtime["energy_j"] - t["energy_j"]).to_list() == pytest.approx((1.15 * rest).to_list())


def test_air_time_needs_counting(mixed_results: chappe.Results) -> None:
    assert mixed_results.airtime.is_empty()
    assert mixed_results.batches["energy_j"].is_null().all()
    assert ENERGY not in mixed_results.summary()["measure"]


# ---- summary ----


def test_the_summary_is_of_totals(chain_results: chappe.Results, mixed_results: chappe.Results) -> None:
    """Every measure agrees with the tables of flows and nodes over the measured part."""
    for results in (chain_results, mixed_results):
        rows = {row["measure"]: row["estimate"] for row in results.summary().iter_rows(named=True)}
        flows, nodes = results.flows, results.nodes

        def total(table: pl.DataFrame, *names: str) -> float:
            return sum(float(table[name].sum()) for name in names)

        def mean(name: str, samples: str, flows: pl.DataFrame = flows) -> float:
            products = (x * n for x, n in zip(flows[name], flows[samples], strict=True) if n)
            return float(sum(products)) / total(flows, samples)

        delivered = total(flows, "packets_delivered")
        energy = total(results.airtime, "energy_j") if len(results.airtime) else None
        given_up = ("mac_data_given_up", "mac_tcp_acks_given_up", "mac_other_given_up")
        handed = ("mac_data_packets", "mac_tcp_acks", "mac_other_packets")
        rate, of_flows = "_per_10000", [m.name for m in MEASURES if m.name not in NODES_ALONE]

        expected = {
            "goodput_bps": total(flows, "goodput_bps"),
            "throughput_bps": total(flows, "throughput_bps"),
            "jain_index": jain_index(flows["goodput_bps"].to_list()) if len(flows) > 1 else None,
            # Weighted by a wrong column, the means over flows would differ from those over batches.
            **{name: total(flows, name.removesuffix(rate)) / delivered * 10_000 for name in of_flows if rate in name},
            **{m.name: mean(m.name, m.weight) for m in MEASURES if m.weight is not None},
            "link_drop_probability": total(nodes, *given_up) / total(nodes, *handed),
            "route_failures_per_10000": total(nodes, "local_repairs", "links_deleted") / delivered * 10_000,
            # Packets of 1460 B, in the run with energy.
            ENERGY: None if energy is None else energy / (delivered * 1460 * 8),
        }
        assert set(rows) - set(expected) <= {"jain_index_of_batches"}
        # Measures that are not defined have no row.
        defined = {name: value for name, value in expected.items() if value is not None}
        assert rows == pytest.approx(rows | defined)


def test_intervals_leave_out_one_batch_after_the_other(chain_results: chappe.Results) -> None:
    """The jackknife of goodput by hand; batches have 500 packets and different durations."""
    b = chain_results.batches
    bits, time = (b["packets_delivered"] * 1460 * 8).to_list(), (b["ended_at_s"] - b["started_at_s"]).to_list()
    n, value = len(b), sum(bits) / sum(time)
    without = [(sum(bits) - bits[i]) / (sum(time) - time[i]) for i in range(n)]
    pseudo = [n * value - (n - 1) * x for x in without]
    row = chain_results.summary().row(0, named=True)
    assert (row["measure"], row["n"], row["of"], row["estimate"]) == (
        "goodput_bps",
        11,
        "batches",
        pytest.approx(value),
    )
    # 2.228139 is Student's t for 95 % and 10 degrees of freedom.
    half = 2.228139 * statistics.stdev(pseudo) / math.sqrt(11)
    skewness = skew(pseudo, bias=False)
    a, error = skewness / (6 * math.sqrt(11)), half / 2.228139
    ends = [value - error * (np.cbrt(1 + 6 * a * (t - a)) - 1) / (2 * a) for t in (2.228139, -2.228139)]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        (min(value - half, ends[0]), max(value + half, ends[1])), rel=1e-6
    )
    assert row["doubt"].startswith("one run, short batches")
    d = [v - statistics.fmean(pseudo) for v in pseudo]
    assert row["autocorrelation"] == pytest.approx(sum(p * q for p, q in itertools.pairwise(d)) / sum(p * p for p in d))
    # The mean of the batches gives slow batches too little weight.
    assert statistics.fmean(b["goodput_bps"]) > 1.002 * value
    wide, narrow = chain_results.summary(confidence=0.99), chain_results.summary()
    assert (wide["ci_low"] < narrow["ci_low"]).all()
    assert (wide["ci_high"] > narrow["ci_high"]).all()


def test_the_summary_leaves_discarded_batches_out(mixed_results: chappe.Results) -> None:
    goodput = mixed_results.summary().row(0, named=True)
    assert goodput["n"] == 5
    # Batches of equal duration.
    assert goodput["estimate"] == pytest.approx(statistics.fmean(mixed_results.batches["goodput_bps"].to_list()[1:]))


def test_a_stuck_run_counts_its_idle_time() -> None:
    """An unfinished batch counts by its length."""
    scenario = chappe.Scenario.chain(2, {"run.time_limit": "8 s", "run.batches": 10}, stop="1000 delivered")
    r = chappe.run(scenario)
    assert r.end == "limit"
    assert r.batches["finished"].to_list() == [True] * (len(r.batches) - 1) + [False]
    assert r.batches["ended_at_s"][-1] == 8.0
    assert r.batches["packets_delivered"].sum() < 1000
    summary = r.summary().row(0, named=True)
    assert summary["n"] == len(r.batches) - 1
    assert summary["estimate"] == pytest.approx(r.flows["goodput_bps"].item())
    # Even if only the warm-up was finished.
    r = chappe.run(scenario.with_settings({"run.time_limit": "200 ms"}))
    assert r.batches["used"].to_list() == [True]
    assert r.summary()["estimate"][0] == pytest.approx(r.flows["goodput_bps"].item())


def test_undefined_measures_have_no_row(lost: chappe.Results) -> None:
    rows = {row["measure"]: row for row in lost.summary().iter_rows(named=True)}
    assert lost.flows["retransmissions"].sum() > 0
    assert rows["goodput_bps"]["estimate"] == 0
    for name in ("retransmissions_per_10000", "mean_rtt_s", "energy_per_bit_j"):
        assert name not in rows


# ---- output ----


def test_everything_is_plain_json(results: chappe.Results) -> None:
    written = json.dumps(results.to_dict(), allow_nan=False)
    read = json.loads(written)
    assert set(TABLES) | {"format", "version", "results_epoch", "seed", "summary", "scenario", "warnings"} <= set(read)
    assert (read["format"], read["version"]) == (1, chappe.__version__)
    for name in TABLES:
        assert len(read[name]) == len(getattr(results, name))
    assert chappe.Scenario(read["scenario"]) == results.scenario


@pytest.mark.parametrize("stop", ["1 ns", "11 delivered", "1 ms"])
def test_the_shortest_runs(stop: str) -> None:
    r = chappe.run(chappe.Scenario.chain(2, {"run.warmup_batches": 0}, stop=stop))
    json.dumps(r.to_dict(), allow_nan=False)
    assert len(r.batches) == 11
    assert repr(r)


def test_an_early_end_is_reported() -> None:
    scenario = chappe.Scenario.chain(1, stop="1000000 delivered")
    r = chappe.run(scenario.with_settings({"run.time_limit": "3 s"}))
    assert (r.end, r.simulated_s) == ("limit", 3.0)
    json.dumps(r.to_dict(), allow_nan=False)


def test_saved_files_hold_the_tables(results: chappe.Results, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    results.save(folder)
    names = {p.name for p in folder.iterdir()}
    assert names == {"scenario.toml", "run.json", *(f"{t}.parquet" for t in TABLES)}
    for name in TABLES:
        read, had = pl.read_parquet(folder / f"{name}.parquet"), getattr(results, name)
        assert read.schema == had.schema
        assert read.equals(had)
    assert chappe.Scenario.load(folder / "scenario.toml") == results.scenario
    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert facts.pop("files") == sorted(names - {"run.json"})
    assert facts.pop("scenario_sha256") == hashlib.sha256((folder / "scenario.toml").read_bytes()).hexdigest()
    assert facts == {k: v for k, v in results.to_dict().items() if k not in (*TABLES, "scenario")}
    with pytest.raises(OSError, match="File exists"):
        results.save(folder / "run.json")


# ---- progress ----


@pytest.mark.parametrize("stop", ["3000 s", "100000 delivered"])
def test_progress_grows_from_nothing_to_everything(stop: str) -> None:
    seen: list[float] = []
    scenario = chappe.Scenario.chain(2, stop=stop)
    watched = chappe.run(scenario, progress=seen.append)
    assert len(seen) > 10
    assert 0 < seen[0] < 0.2
    assert 0.8 < seen[-1] <= 1
    assert seen == sorted(seen)
    # Progress does not change the run.
    assert watched.flows.equals(chappe.run(scenario).flows)


def test_an_exception_in_progress_ends_the_run() -> None:
    class EnoughError(Exception):
        pass

    def stop(_: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        chappe.run(chappe.Scenario.chain(2, stop="190000 s"), progress=stop)


# ---- copies ----


def _same(a: chappe.Results, b: chappe.Results) -> None:
    assert (a.end, a.simulated_s, a.frames_sent, a.scenario) == (b.end, b.simulated_s, b.frames_sent, b.scenario)
    for name in TABLES:
        assert getattr(a, name).equals(getattr(b, name)), name
        assert getattr(a, name).schema == getattr(b, name).schema, name
    assert a.to_dict() == b.to_dict()
    assert repr(a) == repr(b)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_contain_the_tables(
    protocol: int, mixed_results: chappe.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pickling, as in joblib and multiprocessing, does not repeat the run, and copies of copies are equal."""
    data = pickle.dumps(mixed_results, protocol)
    monkeypatch.setattr(_core, "run", None)
    once = pickle.loads(data)
    _same(once, mixed_results)
    _same(pickle.loads(pickle.dumps(once, protocol)), mixed_results)


def test_results_are_copied(chain_results: chappe.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "run", None)
    for copied in (copy.copy(chain_results), copy.deepcopy(chain_results)):
        _same(copied, chain_results)
        assert copied.why().to_dict() == chain_results.why().to_dict()


def test_results_cross_processes() -> None:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        _same(pool.submit(chappe.run, scenario, seed=3).result(), chappe.run(scenario, seed=3))


def test_errors_cross_processes(tmp_path: Path) -> None:
    problems = []
    for wrong in (
        lambda: chappe.Scenario.chain(1, {"tcp.receive_window": 0, "tcp.variant": "vega"}),
        lambda: chappe.sweep(chappe.Scenario.chain(1), {"tcp.receive_window": [1, 1], "tcp.windw": [2]}),
        lambda: chappe.study.Study(tmp_path / "none"),
    ):
        with pytest.raises(Exception) as error:  # noqa: PT011, all kinds of errors
            wrong()
        problems.append(error.value)
    for e in [*problems, chappe.study.StorageError("full", code=1)]:
        for again in (pickle.loads(pickle.dumps(e)), copy.copy(e), copy.deepcopy(e)):
            assert (type(again), str(again), vars(again)) == (type(e), str(e), vars(e))


def test_an_empty_folder_name_is_not_the_current_folder(
    chain_results: chappe.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="no file can be named ''"):
        chain_results.save("")
    assert list(tmp_path.iterdir()) == []
    chain_results.save(".")
    assert (tmp_path / "run.json").exists()


# ---- dotted names ----


def test_a_dict_takes_dotted_names_as_changes_do() -> None:
    plain = {"run": {"stop": "2 s"}, "topology": {"hops": 2}, "tcp": {"receive_window": 3, "vegas": {"alpha": 1}}}
    dotted = {"run.stop": "2 s", "topology.hops": 2, "tcp": {"receive_window": 3}, "tcp.vegas.alpha": 1}
    assert chappe.Scenario(dotted) == chappe.Scenario(plain)
    assert chappe.run(dotted).flows.equals(chappe.run(plain).flows)
    # A dict accepts all effective settings by name.
    scenario = chappe.Scenario(plain)
    assert chappe.Scenario(scenario) == scenario
    with pytest.raises(chappe.ScenarioError) as error:
        chappe.run({**dotted, "tcp.receive_window": 4, "tcp.varient": "reno"})
    assert [p.path for p in error.value.problems] == ["tcp.receive_window", "tcp.varient"]
