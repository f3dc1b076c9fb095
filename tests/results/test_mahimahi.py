"""Traces for Mahimahi: delivery opportunities of the path of a flow."""

import itertools
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli
from chappe.results.mahimahi import PAYLOAD_BYTES, trace

WIRE = {
    "run": {"stop": "1 s", "batches": 1, "warmup_batches": 0},
    "topology": {"kind": "none", "wired_nodes": 2},
    "wired_link": [{"src": 0, "dst": 1, "rate": "8 Mbit/s", "delay": "10 ms", "back": {"rate": "4 Mbit/s"}}],
    "flow": [{"src": 0, "dst": 1, "start": "200 ms"}],
}
MS = 10**6


def times(scenario: chappe.Scenario, flow: int = 0, **options: Any) -> list[int]:
    """Times of a trace [ms]."""
    text = trace(scenario, flow, **{"reverse": False, "until_ns": None, "window": 16, **options})
    assert text.endswith("\n")
    return [int(line) for line in text.splitlines()]


def test_a_wire_delivers_at_its_rate_in_each_direction() -> None:
    wire = chappe.Scenario(WIRE)
    # 1,500 B take 1.5 ms, or 3 ms, and then 10 ms.
    assert times(wire) == [-(-(115 + 15 * n) // 10) for n in range(526)]
    assert times(wire, reverse=True) == [13 + 3 * n for n in range(263)]
    assert times(wire, until_ns=220 * MS) == [12, 13, 15, 16, 18, 19]
    # A datagram that arrives is replaced at once.
    assert times(wire, window=1) == [-(-(115 * n) // 10) for n in range(1, 70)]


def test_a_saturated_hop_has_the_goodput_of_its_trace() -> None:
    hop = {"run": {"stop": "20 s", "batches": 1, "warmup_batches": 0}, "topology.hops": 1}
    full = {"cbr": {"payload": f"{PAYLOAD_BYTES} B", "interval": "1 ms"}, "flow": [{"src": 0, "dst": 1, "app": "cbr"}]}
    goodput_bps = chappe.run(chappe.Scenario(hop | full)).flows["goodput_bps"].item()
    rate_bps = len(times(chappe.Scenario(hop))) * PAYLOAD_BYTES * 8 / 20
    assert rate_bps == pytest.approx(goodput_bps, rel=0.005)


def test_other_flows_share_the_air_and_the_flow_itself_is_silent() -> None:
    chain = {"run.stop": "5 s", "topology.hops": 1, "traffic": {"flows": 1, "start": "0 s"}, "flow": []}
    pair = chappe.Scenario(chain)
    alone = len(times(pair))
    busy = pair.with_settings({"flow": [{"src": 1, "dst": 0, "app": "cbr"}]})
    assert busy.flows["flow"].to_list() == [0, 1]
    # The second flow, a random one, is the other of the two that send.
    assert len(times(busy, 0, reverse=True)) < 0.8 * alone
    external = pair.with_settings({"flow": [{"src": 0, "dst": 1, "app": "external"}], "traffic.flows": 0})
    assert times(external) == times(external.with_settings({"flow": [{"src": 0, "dst": 1}]}))


def test_lost_datagrams_are_replaced() -> None:
    lossy = chappe.Scenario(WIRE).with_settings({"wired_link.0.error": {"model": "uniform", "rate": 0.5}})
    assert 200 < len(times(lossy)) < 326
    off = chappe.Scenario(WIRE).with_settings(
        {
            "event": [
                {"at": "300 ms", "action": "node_down", "node": 0},
                {"at": "900 ms", "action": "node_up", "node": 0},
            ]
        }
    )
    found = times(off)
    # Packets that are on the wire at 300 ms still arrives, within 10 ms; the first one after 900 ms takes 11.5 ms.
    assert max(b - a for a, b in itertools.pairwise(found)) == pytest.approx(602, abs=2)


def test_the_command_writes_both_directions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, up, down = tmp_path / "wire.toml", tmp_path / "up", tmp_path / "down"
    file.write_text(chappe.Scenario(WIRE).to_toml())
    assert cli.main(["export", "mahimahi", str(file), "--up", str(up), "--down", str(down)]) == 0
    assert capsys.readouterr().out == ""
    assert [int(line) for line in up.read_text().splitlines()] == times(chappe.Scenario(WIRE))
    assert len(down.read_text().splitlines()) == 263
    assert cli.main(["export", "mahimahi", str(file)]) == 0
    assert capsys.readouterr().out == up.read_text()
    assert cli.main(["export", "mahimahi", str(file), "--up", str(up)]) == 2
    assert "name another file, or delete this one first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--flow", "1"], "there is no flow 1: the scenario has 1 flow"),
        (["--until", "100 ms"], "flow 0 starts at 0.2 s: the trace must end later"),
        (["--until", "soon"], "--until: 'soon'"),
        (["--set", "run.stop=10 delivered"], "say up to when its trace is wanted"),
        (["--until", "201 ms"], "no datagram has arrived on the path from the source of flow 0: name a later end"),
        (["--up", "a", "--down", "a"], "--up and --down name the same file"),
        (["--set", "flow.0.start=event"], "flow 0 is started by an event"),
    ],
)
def test_mistakes_are_named(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wire.toml"
    file.write_text(chappe.Scenario(WIRE).to_toml())
    assert cli.main(["export", "mahimahi", str(file), *arguments]) == 2
    printed = capsys.readouterr()
    assert (printed.out, message in printed.err) == ("", True), printed.err


def test_quic_is_silenced_by_its_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "quic.toml"
    both = [{"src": src, "dst": 1 - src, "app": "external"} for src in (0, 1)]
    file.write_text(chappe.Scenario({**WIRE, "flow": both, "quic.congestion_control": "bbr"}).to_toml())
    assert cli.main(["export", "mahimahi", str(file)]) == 2
    assert "flows of QUIC cannot go on beside a trace" in capsys.readouterr().err
    assert cli.main(["export", "mahimahi", str(file), "--set", "quic.congestion_control=none"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 600


def test_an_event_of_a_random_flow_is_refused() -> None:
    event = [{"at": "1 s", "action": "flow_stop", "flow": 1}]
    pair = {"run.stop": "5 s", "topology.hops": 1, "traffic.flows": 1, "flow": [{"src": 0, "dst": 1}], "event": event}
    with pytest.raises(ValueError, match=r"an event names a flow of `traffic`, .*: give it in `flow`"):
        times(chappe.Scenario(pair))
    event[0]["flow"] = 0
    assert times(chappe.Scenario(pair))
