"""Interactive runs."""

import math
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe._common import progress as _progress
from chappe.results.storage.columns import TABLES

CHAIN = chappe.Scenario.chain(2, {"run.batches": 4, "run.sample_interval": "500 ms"}, stop="10 s")
EVENTS = [
    {"at": "2 s", "action": "node_down", "node": 1},
    {"at": "4 s", "action": "node_up", "node": 1},
    {"at": "6 s", "action": "set", "setting": "flow.0.tcp.receive_window", "value": 4},
    {"at": "8 s", "action": "flow_stop", "flow": 0},
]
COMMANDS: list[tuple[str, Callable[[chappe.Simulation], None]]] = [
    ("2 s", lambda sim: sim.apply("node_down", node=1)),
    ("4 s", lambda sim: sim.apply("node_up", node=1)),
    ("6 s", lambda sim: sim.set("flow.0.tcp.receive_window", 4)),
    ("8 s", lambda sim: sim.apply("flow_stop", flow=0)),
]


def same(a: chappe.Results, b: chappe.Results) -> None:
    assert (a.end, a.simulated_s, a.frames_sent) == (b.end, b.simulated_s, b.frames_sent)
    for name in TABLES:
        assert getattr(a, name).equals(getattr(b, name), null_equal=True), name


def test_commands_are_events() -> None:
    listed = chappe.run(CHAIN.with_settings({"event": EVENTS}), seed=3)
    with chappe.start(CHAIN, seed=3) as run:
        for at, command in COMMANDS:
            assert run.run_until(at)
            command(run)
        driven = run.finish()
    same(listed, driven)
    assert listed.packet_outcomes["dropped_node_off"].sum() > 0


def test_a_flow_does_not_start_again_after_its_fin() -> None:
    with chappe.start(CHAIN.with_settings({"tcp.fin": True})) as run:
        run.run_until("1 s")
        run.apply("flow_stop", flow=0)
        run.run_until("2 s")
        with pytest.raises(
            chappe.ScenarioError, match="flow 0 has started at 0 s; its connection ends with a FIN"
        ) as e:
            run.apply("flow_start", flow=0)
        assert e.value.problems[0].help == "start another flow, or set `flow.0.tcp.fin = false`"
        assert run.finish().flows["close_time_s"][0] > 0


def test_recovery_takes_as_long_as_the_samples_say() -> None:
    """The program "How long does recovery take?" of the documentation."""
    scenario = chappe.Scenario.chain(3, {"run.sample_interval": "1 s"}, stop="90 s")
    with chappe.start(scenario, seed=1) as sim:
        sim.run_until("20 s")
        sim.apply("node_down", node=2)
        sim.run_until("30 s")
        sim.apply("node_up", node=2)
        results = sim.finish()
    samples = results.table("samples")
    after = samples.filter(pl.col("time_s") > 30)
    first = after.filter(pl.col("packets_delivered").diff() > 0)["time_s"].first()
    assert isinstance(first, float)
    assert 30 < first < 60
    assert samples["packets_delivered"].is_sorted()
    silent = samples.filter(pl.col("time_s").is_between(21, first - 1))["packets_delivered"]
    assert silent.n_unique() == 1
    every = chappe.Scenario.chain(
        3, {"run.sample_interval": "1 s", "run.batches": 1, "run.warmup_batches": 0}, stop="20 s"
    )
    r = chappe.run(every, seed=1)
    assert r.samples["packets_delivered"][-1] <= r.flows["packets_delivered"].item()
    assert r.samples["packets_delivered"][-1] > 100


def test_pauses_and_observation_do_not_change_a_run() -> None:
    plain = chappe.run(CHAIN, seed=1)
    run = chappe.start(CHAIN, seed=1)
    assert (run.time_s, run.progress, run.done) == (0.0, 0.0, False)
    seen = []
    for at in np.arange(0.25, 10, 0.25):
        assert run.run_until(float(at))
        assert run.time_s == at
        assert run.progress == pytest.approx(at / 10)
        so_far = run.results()
        assert (so_far.end, so_far.simulated_s) == ("running", at)
        seen.append(int(so_far.batches["packets_delivered"].sum()))
    assert seen == sorted(seen)
    assert "running" in repr(run)
    assert not run.run_until("20 s"), "it ends before"
    assert (run.done, run.time_s, run.progress) == (True, 10.0, 1.0)
    same(plain, run.results())
    same(plain, run.finish())


def test_texts_and_numbers_give_the_same_instant() -> None:
    for at in ("1500 ms", "1.5 s", 1.5, np.float64(1.5)):
        run = chappe.start(CHAIN)
        run.run_until(at)
        assert run.time_s == 1.5


@pytest.mark.parametrize(
    ("at", "error", "message"),
    [
        ("3 seconds", ValueError, "'3 seconds' is not an instant of a run"),
        ("\ud800", ValueError, "is not an instant of a run"),
        (-1, ValueError, "-1 s is not an instant of a run"),
        (math.nan, ValueError, "nan s is not an instant of a run"),
        (10**400, ValueError, "s is not an instant of a run"),
        (True, TypeError, 'an instant is a text such as "3 s" or a number of seconds, not True'),
        (None, TypeError, 'an instant is a text such as "3 s" or a number of seconds, not None'),
        ("1 s", ValueError, "the run is at 2 s and cannot go back to '1 s'"),
        (1, ValueError, "the run is at 2 s and cannot go back to 1"),
    ],
)
def test_invalid_instants_are_rejected(at: Any, error: type[Exception], message: str) -> None:
    run = chappe.start(CHAIN)
    run.run_until(2)
    with pytest.raises(error) as caught:
        run.run_until(at)
    assert message in str(caught.value)
    assert run.time_s == 2.0


@pytest.mark.parametrize(
    ("command", "path", "message"),
    [
        (lambda sim: sim.apply("node_down", node=9), "node", "there is no node 9"),
        (lambda sim: sim.apply("node_down", node="x"), "node", "no node is named 'x'"),
        (lambda sim: sim.apply("node_down", node=1, channel=6), "channel", "node 1 has no radio on channel 6"),
        (lambda sim: sim.apply("flow_start", flow=1), "flow", "there is no flow 1"),
        (lambda sim: sim.set("tcp.receive_window", 3), "setting", "`tcp.receive_window` cannot change during a run"),
        (
            lambda sim: sim.set("flow.0.tcp.receive_window", None),
            "setting",
            "`flow.0.tcp.receive_window` gets no value",
        ),
        (lambda sim: sim.set("flow.0.tcp.receive_window", object()), "value", "`value` cannot be"),
    ],
)
def test_invalid_commands_are_rejected(command: Callable[[Any], None], path: str, message: str) -> None:
    run = chappe.start(CHAIN)
    with pytest.raises(chappe.ScenarioError) as caught:
        command(run)
    (problem,) = caught.value.problems
    assert problem.path == path
    assert message in problem.message


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        (lambda sim: sim.apply("node_off", node=1), ValueError, "there is no action 'node_off'; known: node_down, "),
        (lambda sim: sim.apply(3), ValueError, "there is no action 3"),
        (lambda sim: sim.apply("node_down"), TypeError, 'apply("node_down") needs node=...'),
        (lambda sim: sim.apply("node_down", node=1, flow=1), TypeError, "flow does not belong to apply('node_down')"),
        (lambda sim: sim.apply("node_down", node=1, node_up=1), TypeError, "unexpected keyword argument 'node_up'"),
    ],
)
def test_wrong_arguments_of_commands_are_named(
    command: Callable[[Any], None], error: type[Exception], message: str
) -> None:
    sim = chappe.start(CHAIN)
    with pytest.raises(error) as caught:
        command(sim)
    assert message in str(caught.value)


def test_a_finished_run_rejects_commands() -> None:
    with chappe.start(CHAIN) as run:
        run.run_until(1)
    assert run.done
    assert run.results().end == "canceled"
    assert run.results().simulated_s == 1.0
    with pytest.raises(chappe.RunError, match=r"the run is over \(canceled\)"):
        run.apply("node_down", node=1)
    assert not run.run_until(3)
    assert run.finish().end == "canceled"


def test_a_run_can_be_canceled_from_another_thread() -> None:
    run = chappe.start(chappe.Scenario.chain(7, stop="100000000 delivered"))
    begun = threading.Event()
    driver = threading.Thread(target=run.finish, kwargs={"progress": lambda _: begun.set()})
    driver.start()
    assert begun.wait(60)
    # Other threads may read the progress.
    assert run.time_s > 0
    assert repr(run)
    run.cancel()
    driver.join(60)
    assert not driver.is_alive()
    assert run.results().end == "canceled"


def test_a_bar_or_a_function_follows_a_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = chappe.Scenario.chain(2, stop="110 delivered")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(_progress, "PATIENCE_S", -1.0)
    for work in (
        lambda progress: chappe.run(scenario, progress=progress),
        lambda progress: chappe.start(scenario).finish(progress=progress),
        lambda progress: chappe.start(scenario).run_until("1 s", progress=progress),
    ):
        work(False)
        assert capsys.readouterr().err == ""
        work(True)
        assert "Run" in capsys.readouterr().err
        shares: list[float] = []
        work(shares.append)
        assert shares
        assert capsys.readouterr().err == ""
        with pytest.raises(TypeError, match="progress must be a function of the completed share, or"):
            work(3)


def test_a_bar_in_a_notebook_is_html_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    def display(html: str, *, display_id: bool) -> Handle:
        assert display_id
        shown.append(html)
        return Handle()

    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    in_kernel = SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython.display", in_kernel)
    monkeypatch.setattr(_progress, "PATIENCE_S", -1.0)
    monkeypatch.setattr(_progress, "_PAUSE_S", -1.0)
    chappe.run(chappe.Scenario.chain(2, stop="110 delivered"), progress=True)
    assert shown[0].startswith("<progress value=")
    assert "Run" in shown[0]
    assert shown[-1] == ""
    assert not [html for html in shown if "<script" in html]
    with _progress.bar("</progress><script>") as update:
        update(0.5)
    assert "<script" not in "".join(shown)


def test_progress_is_reported_and_its_errors_pause_the_run() -> None:
    run = chappe.start(chappe.Scenario.chain(7, stop="100000000 delivered"))
    shares: list[float] = []

    class EnoughError(Exception):
        pass

    def look(share: float) -> None:
        shares.append(share)
        with pytest.raises(chappe.RunError, match="the run is being driven by another thread"):
            run.apply("node_down", node=1)
        if len(shares) == 3:
            raise EnoughError

    with pytest.raises(EnoughError):
        run.finish(progress=look)
    assert len(shares) == 3
    run.run_until(run.time_s + 1)
    with pytest.raises(TypeError, match="progress must be a function"):
        run.finish(progress=3)  # type: ignore[arg-type]  # it is what is tried


def test_memory_is_limited() -> None:
    greedy = CHAIN.with_settings(
        {"run.stop": "100000000 delivered", "run.sample_interval": "10 us", "run.max_memory": "5 MB"}
    )
    with pytest.raises(chappe.LimitError, match="of memory"):
        chappe.start(greedy).finish()


# ---- transfers ----


def short(**changes: Any) -> chappe.Scenario:
    arrivals = {"src": 0, "dst": 1, "rate": 20, "size": {"mean": "10 kB"}}
    settings = {
        "run": {"stop": "50 s", "batches": 5},
        "topology": {"kind": "none", "wired_nodes": 2},
        "wired_link": [{"src": 0, "dst": 1}],
        "arrival_process": [arrivals],
    }
    return chappe.Scenario(settings).with_settings(changes)


def test_transfers_have_rows_and_quantiles() -> None:
    r = chappe.run(short())
    t = r.short_flows
    assert 800 < len(t) < 1200
    assert t["started_at_s"].is_sorted()
    done = t.filter(pl.col("completion_time_s").is_not_null())
    assert len(t) - len(done) < 20
    # The handshake alone takes two propagation delays.
    assert (done["completion_time_s"] > 0.002).all()
    (row,) = r.completions().to_dicts()
    counted = done.filter(pl.col("started_at_s") >= 10)
    assert (row["what"], row["began"], row["completed"]) == (
        "short_flows",
        len(t.filter(pl.col("started_at_s") >= 10)),
        len(counted),
    )
    assert row["p50_s"] < row["p95_s"] < row["p99_s"]
    # The smallest time by which 95 % have completed; the few that have not are the latest.
    began = t.filter(pl.col("started_at_s") >= 10)
    ages = began["completion_time_s"].fill_null(r.simulated_s - began["started_at_s"])
    assert row["p95_s"] in counted["completion_time_s"].to_list()
    assert row["p95_s"] == pytest.approx(float(ages.quantile(0.95) or 0), rel=0.1)
    assert r.flows.is_empty()
    # 90 % of the transfers that begin in the measured part complete there.
    delivered = r.batches.filter(pl.col("used"))["bytes_delivered"].sum()
    assert delivered == pytest.approx(t.filter(pl.col("started_at_s") >= 10)["bytes"].sum(), rel=0.1)


def test_responses_have_completion_times() -> None:
    """Responses of 14.6 kB over a chain, each one second after the one before."""
    requests = {"think": "1 s", "think_distribution": "fixed", "size": {"distribution": "fixed", "mean": "14600 B"}}
    changes = {"requests": requests, "flow": [{"dst": 2, "app": "requests"}], "run.warmup_batches": 1}
    r = chappe.run(chappe.Scenario.chain(2, changes, stop="20 s"))
    t = r.short_flows
    assert set(t["flow"]) == {0}
    assert t["arrival_process"].is_null().all()
    assert set(t["bytes"]) == {14_600}
    # The request comes after the delivery, with the acknowledgement.
    ended = t["started_at_s"] + t["completion_time_s"]
    assert (t["started_at_s"][1:] - ended[:-1] > 1).all()
    assert (t["started_at_s"][1:] - ended[:-1] < 1.3).all()
    (row,) = r.completions().to_dicts()
    assert row["what"] == "responses"
    assert row["began"] == t["measured"].sum() < len(t)
    assert row["mean_s"] == pytest.approx(t.filter(pl.col("measured"))["completion_time_s"].mean(), rel=0.1)


def test_files_have_completion_times_and_they_are_printed(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    scenario = short(flow=[{"src": 0, "dst": 1, "start": "20 s", "bulk": {"bytes": "1000 kB"}}])
    r = chappe.run(scenario)
    assert r.completions()["what"].to_list() == ["flows", "short_flows"]
    # 1 MB takes 0.8 s at 10 Mbit/s without competing traffic.
    assert 0.8 < r.flows["completion_time_s"].item() < 3
    assert r.flows["bytes_delivered"].item() == 1_000_000
    (tmp_path / "short.toml").write_text(scenario.to_toml())
    assert cli.main(["run", str(tmp_path / "short.toml")]) == 0
    printed = capsys.readouterr().out
    assert "Completion" in printed
    assert "short flows" in printed


@pytest.mark.parametrize(
    ("quantiles", "error"),
    [
        ([1.1], ValueError),
        ([-0.1], ValueError),
        (["x"], ValueError),
        ("x", TypeError),
        (3, TypeError),
        ([0.5] * 2, ValueError),
    ],
)
def test_invalid_quantiles_are_rejected(quantiles: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="quantile"):
        chappe.run(short(**{"run.stop": "1 s"})).completions(quantiles)


def test_a_program_moves_a_node() -> None:
    run = chappe.start({"run.stop": "10 s", "run.record": ["positions"], "topology.hops": 2})
    run.run_until("2 s")
    run.apply("node_move", node=1, destination=["200 m", "100 m"], speed="50 m/s")
    run.run_until("5 s")
    run.apply("node_move", node=1, position=["200 m", "0 m"])
    legs = run.finish().recorded["positions"].filter(node=1)
    assert legs["time_s"].to_list() == [0, 2, 4, 5]
    assert legs["y_m"].to_list() == pytest.approx([0, 0, 100, 0])
    assert legs["speed_mps"].to_list() == [0, 50, 0, 0]
    with pytest.raises(chappe.ScenarioError, match="the position or destination is missing"):
        chappe.start({"run.stop": "10 s"}).apply("node_move", node=1)


def test_a_run_without_events_ends_as_in_run() -> None:
    """The file is too short for the stop rule: no event is left after the last acknowledgement."""
    changes = {
        "flow": [{"dst": 1, "bulk": {"segments": 100}}],
        "run.batches": 1,
        "run.warmup_batches": 0,
        "run.time_limit": "1000 s",
    }
    scenario = chappe.Scenario.chain(1, changes, stop="10000 delivered")
    closed = chappe.run(scenario)
    assert closed.end == "idle"
    for step in (0.3, 1.0, 7.0):
        run, at = chappe.start(scenario), 0.0
        while run.run_until(at := at + step):
            pass
        driven = run.results()
        assert (driven.end, driven.simulated_s, run.time_s) == (closed.end, closed.simulated_s, closed.simulated_s)
        assert driven.flows.equals(closed.flows)
        assert at < closed.simulated_s + 2 * step


def test_stations_are_seen_while_a_run_pauses() -> None:
    with chappe.start({"run.stop": "2 s", "topology.hops": 3, "radio.energy.battery": "100 J"}, seed=1) as sim:
        begin = sim.stations()
        assert begin["node"].to_list() == [0, 1, 2, 3]
        assert begin["x_m"].to_list() == [0.0, 200.0, 400.0, 600.0]
        assert begin["state"].to_list() == ["idle"] * 4
        assert begin["backoff_slots"].to_list() == [None] * 4
        assert begin["airtime_deficit_us"].to_list() == [None] * 4
        sim.run_until("1.5 s")
        now = sim.stations()
        assert now["time_s"].unique().to_list() == [1.5]
        assert (now["remaining_j"] < 100).all()
        looked_at = sim.finish()
    same(looked_at, chappe.run(sim.scenario))


def test_stations_show_the_queues_of_the_mac() -> None:
    """The packets that wait in them, as in the recorded table, and the airtime that is left to the neighbor."""
    network = {
        "extends": ["802.11n", "linux-mesh"],
        "run": {"stop": "1 s", "record": ["queue"]},
        "topology": {"hops": 1, "spacing": "20 m"},
        "routing.protocol": "shortest_path",
        "wlan.rate_control.algorithm": "fixed",
        "flow": [{"src": 0, "dst": 1, "app": "cbr", "cbr.interval": "150 us"}],
    }
    with chappe.start(network) as sim:
        sim.run_until("900 ms")
        sender, receiver = sim.stations().to_dicts()
        lengths = sim.results().recorded["queue"].filter(node=0)["packets"]
    assert sender["packets"] == lengths[-1] > 0
    assert (sender["airtime_neighbor"], receiver["airtime_neighbor"]) == (1, 0)
    assert sender["airtime_category"] == "best_effort"
    assert receiver["airtime_deficit_us"] == 256 != sender["airtime_deficit_us"], "nothing waits at the receiver"
