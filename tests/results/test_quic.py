"""Runs with QUIC, which the program `chappe-quic` makes."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import cli, gym
from chappe.results.programs import quic
from chappe.results.storage.tables import TYPES
from command import REPOSITORY

BOTH = [{"src": 0, "dst": 3, "app": "external"}, {"src": 3, "dst": 0, "app": "external"}]
CHAIN = {
    "run": {"stop": "10 s", "batches": 5},
    "topology.hops": 3,
    "routing.protocol": "shortest_path",
    "wlan.data_rate": "11 Mbit/s",
    "flow": BOTH,
    "quic.congestion_control": "cubic",
}


def events(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and events of a qlog: JSON text sequences (RFC 7464)."""
    texts = file.read_text(encoding="utf-8").split("\x1e")
    assert texts[0] == ""
    assert all(text.endswith("\n") for text in texts[1:])
    header, *rest = map(json.loads, texts[1:])
    return header, rest


def test_flows_have_the_words_of_quic() -> None:
    results = chappe.run(CHAIN, seed=1)
    client, server = results.flows.rows(named=True)
    assert client["quic_stack"] == server["quic_stack"] == "quinn-proto 0.11.19"
    assert (client["quic_role"], server["quic_role"]) == ("client", "server")
    assert client["quic_congestion_control"] == "cubic"
    assert (client["quic_streams_opened"], server["quic_streams_opened"]) == (1, 0)
    assert 0 < client["quic_handshake_time_s"] < server["quic_handshake_time_s"] < 1
    # Three hops of 802.11b carry some 1.7 Mbit/s; the other way there are acknowledgements alone.
    assert 1.4e6 < client["goodput_bps"] < 2e6
    assert client["throughput_bps"] > client["goodput_bps"]
    assert (server["goodput_bps"], server["bytes_delivered"]) == (0, 0)
    assert server["packets_delivered"] > 100
    assert client["retransmissions"] is None, "a column of TCP"
    used = results.batches.filter("used")
    assert used["bytes_delivered"].sum() == client["bytes_delivered"]
    page = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
    section = page.partition("\n## QUIC in `flows`\n")[2].partition("\n## ")[0]
    others = chappe.run({**CHAIN, "quic.congestion_control": "none"}).flows.columns
    added = results.flows.select(pl.exclude(others)).schema
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(added)
    assert {name: TYPES[kind]() for name, kind in quic.COLUMNS.items()} == dict(added)


def test_a_seed_repeats_a_run() -> None:
    first, again, other = (chappe.run({**CHAIN, "quic.congestion_control": "bbr"}, seed=s) for s in (1, 1, 2))
    for name, table in first.tables.items():
        assert table.equals(again.tables[name]), name
    assert not first.flows.equals(other.flows)


@pytest.mark.parametrize("control", ["cubic", "newreno", "bbr"])
def test_a_seed_repeats_a_qlog(control: str, tmp_path: Path) -> None:
    logs = []
    for name in ("first", "second"):
        chappe.run({**CHAIN, "quic.congestion_control": control}, qlog=tmp_path / name)
        logs.append([(f.name, f.read_bytes()) for f in sorted((tmp_path / name).iterdir())])
    assert logs[0] == logs[1]


def test_responses() -> None:
    settings = {**CHAIN, "quic.traffic": "requests", "quic.response": "5000 B", "quic.think": "100 ms"}
    _, server = chappe.run(settings).flows.rows(named=True)
    assert server["quic_responses"] * 5000 >= server["bytes_delivered"] > 100_000
    assert server["quic_responses"] * (0.1 + server["quic_mean_response_time_s"]) == pytest.approx(10, rel=0.03)


def test_a_qlog_has_the_packets_that_the_library_counts(tmp_path: Path) -> None:
    results = chappe.run({**CHAIN, "quic.congestion_control": "bbr"}, qlog=tmp_path / "logs")
    assert results.flows.equals(chappe.run({**CHAIN, "quic.congestion_control": "bbr"}).flows)
    assert sorted(file.name for file in (tmp_path / "logs").iterdir()) == [
        "flow-0-client.sqlog",
        "flow-0-server.sqlog",
    ]
    seen = {}
    for row in results.flows.iter_rows(named=True):
        header, log = events(tmp_path / "logs" / f"flow-0-{row['quic_role']}.sqlog")
        assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
        assert header["description"] == row["quic_stack"]
        times = [event["time"] for event in log]
        assert times == sorted(times)
        assert 0 <= times[0] < 1000, "time of the run [ms]"
        assert 9_000 < times[-1] <= 10_000
        named = {name: [e["data"] for e in log if e["name"] == name] for name in {e["name"] for e in log}}
        assert len(named["transport:packet_sent"]) == row["quic_packets_sent"]
        assert len(named.get("recovery:packet_lost", [])) == row["quic_packets_lost"]
        windows = [d["congestion_window"] for d in named["recovery:metrics_updated"] if "congestion_window" in d]
        assert windows[-1] == row["quic_cwnd_bytes"]
        seen[row["quic_role"]] = {
            name: {(d["header"]["packet_type"], d["header"]["packet_number"]) for d in data}
            for name, data in named.items()
            if "packet" in name
        }
    client, server = seen["client"], seen["server"]
    assert client["recovery:packet_lost"] <= client["transport:packet_sent"]
    assert server["transport:packet_received"] <= client["transport:packet_sent"]
    # Nobody received a packet that was dropped on the way; the library's BBR loses many, few of them spuriously.
    spurious = client["recovery:packet_lost"] & server["transport:packet_received"]
    assert len(client["recovery:packet_lost"]) > 50
    assert len(spurious) < 0.1 * len(client["recovery:packet_lost"])


def test_a_study_compares_quic_with_tcp(tmp_path: Path) -> None:
    tcp = {"flow": [{"src": 0, "dst": 3}], "quic.congestion_control": "none", "tcp.congestion_control": "cubic"}
    cases = {"QUIC": {}, "TCP": tcp}
    lost = {"lost": "sum(flows.quic_packets_lost) / sum(flows.quic_packets_sent)"}
    base = {**CHAIN, "extends": "linux-tun"}
    study = chappe.sweep(base, cases=cases, seeds=3, jobs=2, out=tmp_path / "study", measures=lost)
    assert 0 < study.runs.filter(case="QUIC")["lost"].min() < 0.1  # type: ignore[operator]  # a number
    assert study.runs.filter(case="TCP")["lost"].is_null().all()
    summary = study.summary(["goodput_bps"])
    assert summary["case"].to_list() == ["QUIC", "TCP"]
    assert (summary["n"] == 3).all()
    assert (summary["ci_low"] < summary["estimate"]).all()
    compared = study.compare("goodput_bps", "case", baseline="TCP")
    assert compared["p"].is_not_null().all()
    assert -0.3 < compared["relative"][0] < 0.3
    stacks = study.table("flows").select("case", "quic_stack", "quic_packets_sent").unique("case").sort("case")
    assert stacks["quic_stack"].to_list() == ["quinn-proto 0.11.19", None]
    # The runs are those of single runs, and are kept.
    alone = chappe.run({**CHAIN, "extends": "linux-tun"}, seed=2).flows["goodput_bps"][0]
    assert study.runs.filter(case="QUIC", seed=2)["goodput_bps"][0] == pytest.approx(alone)
    again = chappe.open(tmp_path / "study")
    assert isinstance(again, chappe.Study)
    assert again.runs.equals(study.runs)


def test_the_output_names_library_and_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "quic.toml"
    file.write_text(chappe.Scenario(CHAIN).to_toml(), encoding="utf-8")
    saved = tmp_path / "saved"
    assert cli.main(["run", str(file), "--out", str(saved), "--qlog", str(tmp_path / "logs")]) == 0
    shown = capsys.readouterr().out
    assert "Flow 0 is from a client of quinn-proto 0.11.19 with its cubic:" in shown
    assert f"qlogs written to {tmp_path / 'logs'}" in shown
    assert "; QUIC cubic." in " ".join(shown.split())
    assert "Jain's index counts both flows of a connection of QUIC" in shown
    assert cli.main(["show", str(saved), "--flows", "0"]) == 0
    chosen = capsys.readouterr().out
    assert "goodput of 0" in chosen
    assert "timeouts of 0" not in chosen, "a measure of TCP"
    assert "Jain" not in chosen
    opened = chappe.open(saved)
    assert isinstance(opened, chappe.Results)
    assert opened.flows["quic_stack"].to_list() == ["quinn-proto 0.11.19"] * 2


def test_qlogs_replace_those_of_an_earlier_run_and_nothing_else(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    chappe.run({**CHAIN, "flow": BOTH * 2}, qlog=logs)
    assert len(list(logs.iterdir())) == 4
    chappe.run(CHAIN, qlog=logs)
    assert sorted(p.name for p in logs.iterdir()) == ["flow-0-client.sqlog", "flow-0-server.sqlog"]
    kept = (logs / "flow-0-client.sqlog").read_bytes()

    def stop(_share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chappe.run({**CHAIN, "run": {"stop": "1000 s"}}, qlog=logs, progress=stop)
    assert sorted(p.name for p in logs.iterdir()) == ["flow-0-client.sqlog", "flow-0-server.sqlog"]
    assert (logs / "flow-0-client.sqlog").read_bytes() == kept, "lost by a run that was stopped"
    (logs / "notes.txt").touch()
    with pytest.raises(FileExistsError, match=r"no qlog of a run, such as notes\.txt: use a new folder"):
        chappe.run(CHAIN, qlog=logs)
    assert (logs / "notes.txt").exists()


def test_without_the_program_a_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(quic, "PROGRAM", "chappe-quic-that-is-not-there")
    file = tmp_path / "quic.toml"
    file.write_text(chappe.Scenario(CHAIN).to_toml(), encoding="utf-8")
    assert cli.main(["run", str(file)]) == 2
    assert 'pip install "chappe[quic]"' in capsys.readouterr().err
    with pytest.raises(chappe.ScenarioError, match="which is not installed"):
        chappe.sweep(CHAIN, seeds=2)


def test_what_a_run_with_quic_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(chappe.ScenarioError, match="records no tables"):
        chappe.run({**CHAIN, "run.record": ["packets"]})
    with pytest.raises(chappe.ScenarioError, match="writes no captures"):
        chappe.run(CHAIN, pcap=tmp_path / "pcap")
    with pytest.raises(chappe.ScenarioError, match="no flow is QUIC"):
        chappe.run({**CHAIN, "quic.congestion_control": "none"}, qlog=tmp_path / "logs")
    with pytest.raises(chappe.ScenarioError, match="cannot be driven"):
        chappe.start(CHAIN)
    with pytest.raises(chappe.ScenarioError, match="cannot be driven"):
        gym.Env(CHAIN, actions={"queue.limit": [5, 50]})
    with pytest.raises(chappe.ScenarioError, match=r"QUIC begins with datagrams of 1,200 B .*packets of 1.?228 B"):
        chappe.Scenario({**CHAIN, "net.mtu": "1227 B"})
    assert chappe.run({**CHAIN, "net.mtu": "1228 B"}).flows["quic_handshake_time_s"].is_not_null().all()
    with pytest.raises(chappe.ScenarioError, match="no free external flow leads back from node 3 to node 0"):
        chappe.Scenario({**CHAIN, "flow": BOTH[:1]})
    with pytest.raises(chappe.ScenarioError, match="flow 2 is QUIC, and no free external flow leads back"):
        chappe.Scenario({**CHAIN, "flow": [*BOTH, BOTH[0]]})
    with pytest.raises(chappe.ScenarioError, match="did you mean"):
        chappe.Scenario({**CHAIN, "quic.congestion_control": "cubik"})
    assert list(tmp_path.iterdir()) == []


def test_settings_of_the_way_back_have_no_effect() -> None:
    own = [BOTH[0], {**BOTH[1], "quic": {"traffic": "download"}}]
    (warning,) = chappe.Scenario({**CHAIN, "flow": own}).warnings
    assert warning.path == "flow.1.quic.traffic"
    assert "the flow is the way back of a connection" in warning.message
    # Alone, they make the second flow that of the client.
    alone = [BOTH[0], {**BOTH[1], "quic": {"congestion_control": "cubic"}}]
    results = chappe.run({**CHAIN, "quic.congestion_control": "none", "flow": alone}, seed=1)
    assert results.flows["quic_role"].to_list() == ["server", "client"]


def test_round_trip_times_without_a_handshake_are_null() -> None:
    flows = chappe.run({**CHAIN, "run": {"stop": "5 ms"}}, seed=1).flows
    for column in ("quic_handshake_time_s", "quic_srtt_s", "quic_min_rtt_s"):
        assert flows[column].to_list() == [None, None]


def test_a_study_tells_of_connections_without_deliveries(tmp_path: Path) -> None:
    short = {**CHAIN, "run": {"stop": "200 ms"}, "routing.protocol": "aodv"}
    study = chappe.sweep(short, seeds=2, out=tmp_path / "short")
    told = [warning.message for warning in study.warnings if warning.code == "silent_flow"]
    assert len(told) == 1
    assert told[0].startswith("flow 0 delivered nothing in 2 of 2 runs")
    assert [w.message for w in chappe.open(tmp_path / "short").warnings if w.code == "silent_flow"] == told


def test_a_program_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "chappe-quic"
    answer = dict.fromkeys(quic.Answer._fields, 0) | {"version": "9.9.9"}
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(answer)}'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(quic, "_program", lambda: str(program))
    with pytest.raises(chappe.ScenarioError, match=r"of version 9\.9\.9 with results epoch 0, this is version"):
        chappe.run(CHAIN)


def test_the_extra_names_the_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["quic"] == [f"chappe-quic=={chappe.__version__}"]
