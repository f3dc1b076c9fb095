"""Captures: structure, order, headers and checksums, without Wireshark; the folder that they are written to."""

import os
import resource
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import captured
import chappe
import pytest
from captured import RUNS, check, packets
from chappe import cli
from chappe.results.storage.captures import Captures
from command import environment
from polars.testing import assert_frame_equal

HEADERS = {
    "aodv": {"aodv", "tcp", "arp", "rts", "cts", "ack"},
    "dsr": {"dsr", "dsr+tcp", "tcp"},
    "dsr_flow_state": {"dsr", "dsr+tcp", "tcp"},
    "babel": {"babel", "tcp"},
    "batman_adv": {"batman_adv", "batman_adv+tcp", "tcp"},
    "dsdv": {"dsdv", "tcp"},
    "olsr": {"olsr", "tcp"},
    "olsr_quality": {"olsr", "tcp"},
    "neighborhood_red": {"notification", "tcp"},
    "two_channels": {"aodv", "tcp", "udp"},
    "aggregates": {"tcp", "block_ack", "block_ack_request", "action", "cf_end", "rts", "cts"},
    "vht": {"tcp", "block_ack", "action"},
    "minstrel_ht": {"tcp", "block_ack", "action"},
}


@pytest.mark.parametrize("name", RUNS)
def test_captures_are_whole_and_in_order(name: str, tmp_path: Path) -> None:
    results = captured.run(RUNS[name], pcap=tmp_path / "pcap")
    plain = captured.run(RUNS[name])
    for table in ("flows", "nodes", "batches", "packet_outcomes", "wired_links"):
        assert_frame_equal(getattr(results, table), getattr(plain, table))
    for table, rows in plain.recorded.items():
        assert_frame_equal(results.recorded[table], rows)
    files = sorted((tmp_path / "pcap").iterdir())
    assert len(files) == len(results.nodes)
    headers: Counter[str] = Counter()
    sent = created = 0
    for file in files:
        times = []
        for packet in packets(file):
            headers[check(packet)] += 1
            times.append(packet.time_ns)
            sent += packet.interface.startswith("radio") and packet.direction == "out"
            created += packet.interface == "ip" and packet.direction == "out"
        assert times == sorted(times)
    assert headers.keys() >= HEADERS.get(name, {"tcp"})
    assert sent == results.recorded["frames"]["mpdus"].clip(1).sum()
    born = results.recorded["packets"].filter(event="created").drop_nulls("flow")
    injected = results.recorded["packets"].filter(event="injected")
    assert created == len(born) + len(injected)


def test_both_ends_close_with_numbers_that_follow_each_other(tmp_path: Path) -> None:
    """Each FIN takes a number of its own, which the last acknowledgements name."""
    captured.run({**RUNS["closing"], "wlan.error": {"model": "none"}}, pcap=tmp_path)
    seen = [p.data[20:34] for p in packets(tmp_path / "node-0.pcapng") if p.interface == "ip" and p.data[9] == 6]
    headers = [struct.unpack("!HHIIBB", header) for header in seen]
    ends = [(source == 5001, seq, ack, flags & 0x01) for source, _, seq, ack, _, flags in headers][-3:]
    after = 1 + 20 * 1448
    assert ends == [
        (True, 1, after + 1, 0),
        (True, 1, after + 1, 1),
        (False, after + 1, 2, 0),
    ]


def test_numbers_count_the_bytes_of_short_segments(tmp_path: Path) -> None:
    tcp = {"nagle": "off", "initial_window": 8, "small_queue": "unlimited"}
    bulk = {"bytes": "4000 B", "write_size": "700 B"}
    captured.run(
        {**RUNS["closing"], "wlan.error": {"model": "none"}, "flow": [{"dst": 2, "tcp": tcp, "bulk": bulk}]},
        pcap=tmp_path,
    )
    seen = [p.data for p in packets(tmp_path / "node-0.pcapng") if p.interface == "ip" and p.direction == "out"]
    sent = [(struct.unpack_from("!I", data, 24)[0], len(data) - 52, data[33] & 0x08) for data in seen[1:7]]
    assert sent == [(1 + 700 * i, 700 if i < 5 else 500, 0x08) for i in range(6)]


def test_a_lost_frame_names_the_cause_and_the_sender(tmp_path: Path) -> None:
    """Node 2 cannot sense node 0, and both reach node 1: its frames destroy those of node 0 there."""
    settings = {**RUNS["aodv"], "topology.hops": 3, "wlan.rts_threshold": "never", "routing.protocol": "shortest_path"}
    settings |= {"radio.propagation": "range", "radio.range": "250 m", "radio.sense_range": "250 m"}
    results = captured.run(settings, pcap=tmp_path)
    lost = results.recorded["frames"].filter(src=0, dst=1, outcome="hidden_terminal")
    assert len(lost) > 10
    comments = Counter(p.comment for p in packets(tmp_path / "node-0.pcapng") if "lost" in p.comment)
    assert comments["lost at node 1: collision, hidden terminal, node 2"] == len(lost)


@pytest.mark.parametrize("more", [[], ["--out=results"]])
def test_the_command_writes_captures(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text("topology.hops = 2\nrun = { stop = '20 delivered', batches = 1, warmup_batches = 0 }\n")
    assert cli.main(["run", "a.toml", "--pcap=new/pcap", *more]) == 0
    assert "Captures written to new/pcap: a pcapng file for each node." in capsys.readouterr().out
    before = {p.name: p.read_bytes() for p in Path("new/pcap").iterdir()}
    assert sorted(before) == ["node-0.pcapng", "node-1.pcapng", "node-2.pcapng"]
    # Captures of an earlier run are replaced, those of other nodes go.
    assert cli.main(["run", "a.toml", "--pcap=new/pcap", "--set=topology.hops=1", *more]) == 0
    assert sorted(p.name for p in Path("new/pcap").iterdir()) == ["node-0.pcapng", "node-1.pcapng"]
    assert cli.main(["run", "a.toml", "--pcap=new/pcap", *more]) == 0
    assert {p.name: p.read_bytes() for p in Path("new/pcap").iterdir()} == before


@pytest.mark.parametrize("name", ["notes.txt", "node-7.pcapng", "node-1"])
def test_files_of_others_are_not_touched(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text("topology.hops = 1\nrun.stop = '20 delivered'\n")
    chappe.run("a.toml", pcap="pcap")
    (tmp_path / "pcap" / name).write_bytes(b"\x0a\x0d\x0d\x0a of another program")
    before = {p.name: p.read_bytes() for p in Path("pcap").iterdir()}
    with pytest.raises(FileExistsError, match=f"no capture of a run, such as {name}"):
        chappe.run("a.toml", pcap="pcap")
    assert cli.main(["run", "a.toml", "--pcap=pcap"]) == 2
    assert f"such as {name}: use a new folder" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in Path("pcap").iterdir()} == before


@pytest.mark.parametrize("out", ["pcap", "pcap/results", "."])
def test_results_and_captures_have_folders_of_their_own(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "a.toml").write_text("topology.hops = 1\nrun.stop = '20 delivered'\n")
    with pytest.raises(FileExistsError, match="need folders of their own"):
        chappe.run("../a.toml", pcap="pcap", out=out)
    assert cli.main(["run", "../a.toml", "--pcap=pcap", f"--out={out}"]) == 2
    assert "need folders of their own" in capsys.readouterr().err
    assert not list(Path().iterdir())


def test_a_wrong_scenario_keeps_earlier_captures(tmp_path: Path) -> None:
    settings = {"topology.hops": 1, "run.stop": "20 delivered"}
    chappe.run(settings, pcap=tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(chappe.ScenarioError):
        chappe.run({**settings, "topology.hops": "many"}, pcap=tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_captures_can_be_read_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text("topology.hops = 2\nrun.stop = '1000 delivered'\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, before[1]))
    try:
        assert cli.main(["run", "a.toml", "--pcap=pcap"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot write to pcap: file too large" in capsys.readouterr().err
    for file in Path("pcap").iterdir():
        assert sum(1 for packet in packets(file) if check(packet)) > 100


def test_captures_can_be_read_after_a_limit(tmp_path: Path) -> None:
    settings = {"topology.hops": 3, "run.stop": "1 h", "run.max_memory": "2 MB", "run.record": ["packets"]}
    with pytest.raises(chappe.LimitError):
        chappe.run(settings, pcap=tmp_path)
    assert all(sum(1 for packet in packets(file) if check(packet)) > 100 for file in tmp_path.iterdir())


def test_an_interrupted_write_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"topology.hops": 3, "run.stop": "300 delivered"}
    chappe.run(settings, pcap=tmp_path / "whole")
    write = Captures.__call__
    calls = iter(range(1000))

    def interrupted(captures: Captures, node: int, position: int, blocks: bytes) -> None:
        write(captures, node, position, blocks)
        if next(calls) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Captures, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        chappe.run(settings, pcap=tmp_path / "cut")
    for node in range(4):
        whole, cut = (list(packets(tmp_path / name / f"node-{node}.pcapng")) for name in ("whole", "cut"))
        assert 100 < len(cut) <= len(whole)
        assert cut == whole[: len(cut)]


def test_captures_can_be_read_after_an_interrupt(tmp_path: Path) -> None:
    text = "topology.hops = 3\nrun.stop = '100000000 delivered'\nrun.time_limit = '1000 h'\n"
    (tmp_path / "a.toml").write_text(text)
    command = [sys.executable, "-m", "chappe.cli", "run", "a.toml", "--pcap=pcap", "--quiet"]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL)
    files = [tmp_path / "pcap" / f"node-{node}.pcapng" for node in range(4)]
    while process.poll() is None and not all(f.exists() and f.stat().st_size > 10_000 for f in files):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    for file in files:
        assert sum(1 for packet in packets(file) if check(packet)) > 10
    assert sorted(os.listdir(tmp_path / "pcap")) == sorted(f.name for f in files)


def test_short_flows_are_connections_of_their_own(tmp_path: Path) -> None:
    """In the order of their starts they have ports behind those of flows, one SYN, and segments of their process."""
    size = {"distribution": "fixed", "mean": "5000 B"}
    arrivals = {"src": 0, "dst": 1, "rate": 4.0, "count": 8, "size": size}
    results = captured.run(
        {
            "run": {"stop": "20 s", "batches": 1, "warmup_batches": 0},
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [{"src": 0, "dst": 1}],
            "flow": [{"src": 0, "dst": 1, "bulk.segments": 3}],
            "arrival_process": [arrivals, {**arrivals, "tcp.mss": "500 B"}],
        },
        pcap=tmp_path,
    )
    data = (tmp_path / "node-0.pcapng").read_bytes()
    syns: list[int] = []
    payload: dict[int, list[int]] = {}
    place = 0
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        if kind == 6:
            interface, _, _, size_of, _ = struct.unpack_from("<IIIII", data, place + 8)
            packet = data[place + 28 : place + 28 + size_of]
            port = int.from_bytes(packet[20:22], "big")
            if interface == 0 and packet[9] == 6 and port >= 40_000:
                header = 20 + (packet[32] >> 4) * 4
                payload.setdefault(port, []).append(len(packet) - header)
                syns += [port] if packet[33] & 2 else []
        place += length
    assert syns == list(range(40_000, 40_017))
    for number, row in enumerate(results.short_flows.iter_rows(named=True)):
        full = [1460] * 3 + [620] if row["arrival_process"] == 0 else [500] * 10
        assert [n for n in payload[40_001 + number] if n] == full
