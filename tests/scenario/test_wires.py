"""Wired links: tables, and comparison with ns-2.35."""

import math
import statistics

import chappe
import polars as pl
import pytest
from command import REPOSITORY
from command import chappe as command

SCENARIO = REPOSITORY / "scenarios" / "zhou2004.toml"
LOSSY = 7

NS2_KBPS = {
    ("newreno", 0.0): 383.84,
    ("newreno", 0.01): 379.77,
    ("newreno", 0.06): 351.23,
    ("newreno", 0.1): 287.35,
    ("tahoe", 0.06): 339.25,
    ("reno", 0.1): 233.13,
    ("sack", 0.1): 272.84,
    ("vegas", 0.0): 398.90,
    ("vegas", 0.02): 390.01,
    ("vegas", 0.1): 234.33,
}
"""Mean goodput of a flow in ns-2.35 by variant and loss probability; ten runs each, one run without losses."""


@pytest.mark.parametrize(("variant", "loss"), NS2_KBPS)
def test_goodput_over_a_lossy_link_agrees_with_ns2(variant: str, loss: float) -> None:
    scenario = chappe.Scenario.load(SCENARIO, {"tcp.variant": variant, f"wired_link.{LOSSY}.error.rate": loss})
    seeds = range(1, 11) if loss else [1]
    means = [statistics.mean(chappe.run(scenario, seed=s).flows["goodput_bps"].to_list()) / 1e3 for s in seeds]
    assert statistics.mean(means) == pytest.approx(NS2_KBPS[variant, loss], rel=0.03)


def lossy_path(loss: float, window: int, variant: str = "newreno") -> chappe.Scenario:
    """A file transfer over 100 Mbit/s and 50 ms each way, with independent losses of data."""
    error = {"model": "uniform", "rate": loss}
    link = {"dst": 1, "rate": "100 Mbit/s", "delay": "50 ms", "error": error, "back": {"error": {"model": "none"}}}
    return chappe.Scenario(
        {
            "extends": "ns2-2.35",
            "run": {"stop": "420 s", "batches": 21, "warmup_batches": 1},
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired": {"queue": {"limit": 10_000}},
            "wired_link": [link],
            "tcp": {"variant": variant, "receive_window": window, "mss": "1000 B"},
            "flow": [{"dst": 1}],
        }
    )


def padhye(rtt: float, loss: float, timeout: float, window: int) -> float:
    """Throughput of TCP Reno [segments/s] (Padhye, Firoiu, Towsley and Kurose 1998, equation 31, b = 1)."""
    p, unlimited = loss, 1 + math.sqrt(8 * (1 - loss) / (3 * loss) + 1)
    w = min(unlimited, window)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    q = min(1, (1 - (1 - p) ** 3) * (1 + (1 - p) ** 3 * (1 - (1 - p) ** (w - 3))) / (1 - (1 - p) ** w))
    rounds = w / 2 + 1 if w < window else w / 8 + (1 - p) / (p * w) + 2
    return float(((1 - p) / p + w + q / (1 - p)) / (rtt * rounds + q * backoff * timeout / (1 - p)))


def rate(scenario: chappe.Scenario, seeds: int) -> float:
    """Mean goodput [segments/s]."""
    runs = [chappe.run(scenario, seed=seed) for seed in range(1, seeds + 1)]
    return float(statistics.mean(r.flows["packets_delivered"].item() / r.flows["measured_s"].item() for r in runs))


def test_the_formula_is_that_of_the_paper() -> None:
    """Values of the formula with b = 1."""
    assert padhye(0.1, 0.01, 0.4, 1000) == pytest.approx(110.960, abs=1e-3)
    assert padhye(0.1, 0.05, 0.4, 1000) == pytest.approx(37.898, abs=1e-3)
    assert padhye(0.052, 0.01, 0.2, 10) == pytest.approx(145.513, abs=1e-3)


@pytest.mark.parametrize("loss", [0.001, 0.002, 0.005, 0.01, 0.02])
def test_newreno_agrees_with_the_formula(loss: float) -> None:
    assert rate(lossy_path(loss, 1000), seeds=5) == pytest.approx(padhye(0.1001, loss, 0.2, 1000), rel=0.1)


@pytest.mark.parametrize(
    ("variant", "window", "ns2"),
    [
        ("tahoe", 10, 72.6),
        ("reno", 10, 76.3),
        ("newreno", 10, 78.6),
        ("sack", 10, 77.6),
        ("vegas", 10, 85.4),
        ("newreno", 1000, 115.1),
        ("vegas", 1000, 170.7),
    ],
)
def test_goodput_at_one_percent_loss_agrees_with_ns2(variant: str, window: int, ns2: float) -> None:
    """Segments per second in ns-2.35, means of five runs."""
    assert rate(lossy_path(0.01, window, variant), seeds=5) == pytest.approx(ns2, rel=0.03)


@pytest.fixture(scope="module")
def results() -> chappe.Results:
    return chappe.run(chappe.Scenario.load(SCENARIO, {"run.batches": 5, "run.warmup_batches": 0}))


def test_links_agree_with_flows_and_fates(results: chappe.Results) -> None:
    links = results.wired_links
    assert len(links) == 2 * 13
    lossy = links.filter(pl.col("link") == LOSSY)
    assert lossy["src"].to_list() == [7, 8]
    forward, back = lossy.iter_rows(named=True)
    assert forward["dropped_link_error"] == sum(results.packet_outcomes["dropped_link_error"].to_list()) > 0
    assert back["dropped_link_error"] == 0
    assert forward["utilization"] == pytest.approx(forward["throughput_bps"] / 2e6, abs=1e-4)
    # 37 of the 50 segments of five windows are queued; losses empty the queue.
    assert 20 < forward["mean_queue_packets"] < 37
    sent = links.filter(pl.col("src") < 5)["packets_sent"].sum()
    assert sent == results.flows["packets_sent"].sum()


def test_batches_sum_to_the_whole(results: chappe.Results) -> None:
    counts = ["packets_offered", "packets_sent", "bytes_sent", "dropped_queue_full", "dropped_link_error"]
    whole = results.wired_links.select("link", "src", "dst", *counts)
    parts = results.wired_link_batches.group_by("link", "src", "dst", maintain_order=True).agg(pl.col(counts).sum())
    assert parts.equals(whole)


def test_nodes_without_a_radio_have_no_place(results: chappe.Results) -> None:
    assert len(results.nodes) == 14
    assert results.nodes["x_m"].is_null().all()
    assert results.scenario.nodes.is_empty()
    assert results.frames_sent == 0


def test_the_command_prints_links() -> None:
    result = command("run", "scenarios/base-station.toml", "--set", "run.stop=220 delivered", cwd=REPOSITORY)
    assert result.returncode == 0, result.stderr
    assert "Chain of 4 nodes, 200 m apart, 2 nodes without radio, 2 links; 2 flows" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    start = next(i for i, row in enumerate(rows) if row[:3] == ["Link", "src", "dst"])
    assert [row[:3] for row in rows[start + 1 : start + 5]] == [
        ["0", "3", "4"],
        ["0", "4", "3"],
        ["1", "4", "5"],
        ["1", "5", "4"],
    ]


@pytest.mark.parametrize("protocol", ["shortest_path", "aodv"])
def test_a_hybrid_path_has_a_rate_and_a_queue_in_each_direction(protocol: str) -> None:
    path = chappe.Scenario.load(REPOSITORY / "scenarios" / "hybrid-path.toml")
    path = path.with_settings(
        {"run.stop": "15 s", "run.batches": 1, "run.warmup_batches": 0, "routing.protocol": protocol}
    )
    free = chappe.run(path)
    assert free.flows["packets_delivered"][0] > 300
    assert free.flows["mean_hops"][0] == 5, "hops over the radio"
    narrow = {"wired_link.0.rate": "300 kbit/s", "wired_link.0.queue.limit": 5, "wired_link.0.back.rate": "1 Mbit/s"}
    slow = chappe.run(path.with_settings(narrow))
    out, back = slow.wired_links.rows(named=True)
    # The sender never pauses, and acknowledgements (52 B per two segments of 1500 B) are not delayed.
    assert out["utilization"] > 0.95
    assert out["dropped_queue_full"] > 0
    assert back["dropped_queue_full"] == 0
    assert back["utilization"] < 0.02
    clamped = chappe.run(path.with_settings({"flow.0.tcp.max_cwnd": 4}))
    assert clamped.flows["mean_window_segments"][0] <= 4
    assert clamped.flows["mean_rtt_s"][0] < free.flows["mean_rtt_s"][0]
