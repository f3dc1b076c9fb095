"""Variants that limit the sending rate, in complete runs."""

import chappe
import polars as pl
import pytest


def test_the_limit_from_the_hop_count() -> None:
    """The limit is a fifth of the round-trip hops, rounded up, at least 2; windows are whole segments."""
    for hops, limit in ((1, 2), (4, 2), (10, 4), (16, 7)):
        changes = {"tcp.hop_limit.enabled": True, "tcp.receive_window": 64, "run.sample_interval": "100 ms"}
        run = chappe.run(chappe.Scenario.chain(hops, changes, stop="1100 delivered", extends="ns2-2.35"))
        windows = run.samples.filter(pl.col("time_s") > 10)["cwnd_segments"]
        assert windows.floor().max() == limit


def test_few_grows_by_its_fraction() -> None:
    """One hop has no losses: above ssthresh, each acknowledgement adds 0.01 / cwnd."""
    changes = {"tcp.variant": "few", "tcp.receive_window": 64, "tcp.initial_ssthresh": 4, "run.sample_interval": "1 s"}
    run = chappe.run(chappe.Scenario.chain(1, changes, stop="5500 delivered", extends="ns2-2.35"))
    assert run.flows["retransmissions"].item() == 0
    assert run.samples["cwnd_segments"][-1] == pytest.approx((4**2 + 2 * 0.01 * 5500) ** 0.5, rel=0.01)


def test_tcp_ap_spaces_its_segments() -> None:
    """The window does not limit the sender, yet the queue of the source stays nearly empty."""
    queues = {}
    for variant in ("newreno", "tcp_ap"):
        changes = {"tcp.variant": variant, "tcp.receive_window": 64, "run.sample_interval": "100 ms"}
        run = chappe.run(chappe.Scenario.chain(4, changes, stop="2200 delivered", extends="ns2-2.35"))
        queues[variant] = float(run.samples["source_queue_packets"].to_numpy().mean())
        if variant == "tcp_ap":
            assert run.summary().filter(pl.col("measure") == "mean_window_segments")["estimate"].item() > 20
    assert queues["tcp_ap"] < 0.5 < 1 < queues["newreno"]


def test_westwood_keeps_its_window_at_random_losses() -> None:
    """Random losses on a link; the authors of TCP Westwood reported the same gain in 2004."""
    scenario = chappe.Scenario(
        {
            "run": {"stop": "60 s"},
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [{"src": 0, "dst": 1, "delay": "35 ms", "error": {"model": "uniform", "rate": 0.005}}],
            "flow": [{"src": 0, "dst": 1}],
            "tcp": {"receive_window": 128},
        }
    )
    swept = chappe.sweep(scenario, {"tcp.variant": ["newreno", "westwood"]}, seeds=5)
    (row,) = swept.compare("goodput_bps", {"tcp.variant": "westwood"}, {"tcp.variant": "newreno"}).to_dicts()
    assert row["ci_low"] > row["estimate_b"], "more than twice as much"
