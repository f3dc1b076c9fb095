"""Values that do not exist are null in every table, and JSON is strict."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import polars.selectors as cs
import pytest
from chappe import cli
from chappe.results.storage.columns import TABLES
from chappe.results.storage.recorded import RECORDED

EVERYTHING = ["frames", "mpdus", "heard", "packets", "cwnd", "queue", "routes", "positions"]
BATTERY: dict[str, Any] = {"node": [{"nodes": 1, "radio.energy.battery": "2 J"}]}
MIXED: dict[str, Any] = {"flow": [{"src": 0, "dst": 2}, {"src": 2, "dst": 0, "app": "cbr"}]}

LOST: dict[str, Any] = {"wlan.error": {"model": "uniform", "rate": 1.0}}

SCENARIOS: dict[str, dict[str, Any]] = {
    "TCP and UDP": {"topology.hops": 2, **MIXED, "run.airtime": True},
    "a battery": {"topology.hops": 2, **BATTERY, **MIXED, "run.record": [*EVERYTHING, "energy"]},
    "no delivery": {"topology.hops": 2, **LOST, "run.airtime": True},
    "no flow has begun": {"topology.hops": 1, "flow": [{"dst": 1, "start": "4 s"}]},
    "short flows": {
        "topology.kind": "none",
        "topology.wired_nodes": 2,
        "wired_link": [{"src": 0, "dst": 1}],
        "arrival_process": [{"src": 0, "dst": 1, "rate": 20, "size": {"mean": "10 kB"}}],
    },
    "aborted flows": {
        "topology.hops": 2,
        "tcp.max_timeouts": 1,
        "event": [{"at": "1 s", "action": "node_down", "node": 1}],
        "run.stop": "60 s",
    },
    "rate control": {"topology.hops": 2, "wlan.rate_control.algorithm": "sample_rate", **MIXED},
    "a long run": {"topology.hops": 2, "run.stop": "330 delivered", "flow": [{"dst": 2, "bulk": {"segments": 400}}]},
    "the shortest run": {"topology.hops": 2, "run.stop": "1 ns", **MIXED},
}


def made(name: str) -> chappe.Results:
    settings = {"run.stop": "3 s", "run.sample_interval": "100 ms", "run.record": EVERYTHING, **SCENARIOS[name]}
    return chappe.run(settings)


def strict(text: str) -> Any:
    def refused(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refused)


def finite(table: pl.DataFrame, name: str) -> None:
    for column in table.select(cs.float()):
        values = column.drop_nulls()
        assert values.is_finite().all(), f"{name}.{column.name}"


def frames(r: chappe.Results) -> Iterator[tuple[str, pl.DataFrame]]:
    yield from r.tables.items()
    yield "summary", r.summary()
    yield "completions", r.completions()
    why = r.why()
    yield from ((name, getattr(why, name)) for name in ("flow_time", "routes", "losses", "airtime"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_table_has_nan_or_infinity(name: str, tmp_path: Path) -> None:
    r = made(name)
    for table, rows in frames(r):
        finite(rows, table)
    r.save(tmp_path)
    for file in tmp_path.glob("*.parquet"):
        finite(pl.read_parquet(file), file.name)
    strict((tmp_path / "run.json").read_text())
    strict(json.dumps({**r.to_dict(), "why": r.why().to_dict()}))


def test_missing_values_are_null() -> None:
    r = made("a battery")
    assert r.batteries["capacity_j"].to_list() == [None, 2.0, None]
    assert r.batteries["remaining_j"].null_count() == 2
    assert set(r.recorded["energy"].filter(pl.col("node") != 1)["remaining_j"]) == {None}
    late = made("no flow has begun").flows
    assert late["completion_time_s"].null_count() == 1
    assert late["retransmissions"].to_list() == [0]
    aborted = made("aborted flows").flows
    assert aborted["aborted_at_s"].null_count() == 0
    assert made("TCP and UDP").flows["aborted_at_s"].null_count() == 2


def test_columns_of_tcp_are_null_for_udp() -> None:
    r = made("TCP and UDP")
    ends = {"completion_time_s", "close_time_s", "aborted_at_s"}
    may_miss = ends | {"drop_reason", "retry_cause", "mean_route_life_s"}
    tcp, udp = ({name for name, value in row.items() if value is None} for row in r.flows.iter_rows(named=True))
    assert tcp <= may_miss
    of_tcp = udp - may_miss
    # Of each kind: counters of both ends and of middleboxes, means with their divisors, uses of time.
    assert of_tcp > {"variant", "timeouts", "ecn_cuts", "local_timeouts", "mean_rtt_s", "rtt_samples", "slow_start_s"}
    assert not of_tcp & {"packets_delivered", "copies_received", "goodput_bps", "delay_samples", "route_breaks"}
    batches = r.flow_batches
    of_tcp -= {"variant"}
    missing = batches.filter(flow=1).select(pl.exclude("mean_route_life_s")).null_count().row(0, named=True)
    assert {name: n for name, n in missing.items() if n} == dict.fromkeys(of_tcp, len(r.batches))
    counted = batches.filter(flow=0).select(of_tcp - {"mean_window_segments", "mean_rtt_s"})
    assert counted.null_count().sum_horizontal().item() == 0
    # Sums skip what is missing.
    assert r.flows["retransmissions"].sum() == r.flows["retransmissions"][0]
    assert r.batches["timeouts_after_ecn_cut"].null_count() == 0


def test_json_of_commands_is_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    s = chappe.Scenario({"run.stop": "3 s", **SCENARIOS["a battery"], "run.record": []})
    (tmp_path / "a.toml").write_text(s.to_toml())
    assert cli.main(["run", str(tmp_path / "a.toml"), "--json", "--why"]) == 0
    printed = strict(capsys.readouterr().out)
    assert (printed["format"], printed["version"]) == (1, chappe.__version__)
    assert (printed["results_epoch"], "chappe" in printed) == (chappe.RESULTS_EPOCH, False)
    assert printed["batteries"][0]["capacity_j"] is None
    assert cli.main(["explain", "--schema"]) == 0
    strict(capsys.readouterr().out)
    measures = '["goodput_bps", "jain_index", "mean_rtt_s"]'
    (tmp_path / "s.toml").write_text(f'scenario = "a.toml"\nseeds = 2\nmeasures = {measures}\n')
    assert cli.main(["sweep", str(tmp_path / "s.toml"), "--json", "--out", str(tmp_path / "s")]) == 0
    printed = strict(capsys.readouterr().out)
    assert (printed["format"], printed["version"]) == (1, chappe.__version__)
    for file in (tmp_path / "s").rglob("*.json"):
        strict(file.read_text())


def test_tables_of_a_study_have_no_nan(tmp_path: Path) -> None:
    s = chappe.Scenario({"run.stop": "3 s", "topology.hops": 2, **LOST})
    study = chappe.sweep(s, {"tcp.receive_window": [2, 4]}, seeds=2, out=tmp_path / "a", jobs=1, progress=False)
    names = ["goodput_bps", "jain_index", "mean_rtt_s"]
    found = {
        **{name: study.table(name) for name in TABLES},
        "runs": study.runs,
        "runs.parquet": pl.read_parquet(tmp_path / "a" / "runs.parquet"),
        "summary": study.summary(names),
        "compare": study.compare("mean_rtt_s", {"tcp.receive_window": 2}, {"tcp.receive_window": 4}),
        "rank": study.rank("mean_rtt_s", "tcp.receive_window"),
    }
    for name, table in found.items():
        finite(table, name)
    assert "mean_rtt_s" not in found["summary"]["measure"]
    assert found["compare"].schema["estimate_a"] == pl.Float64


def test_all_recorded_tables_are_tried() -> None:
    assert {*EVERYTHING, "energy"} == set(RECORDED)
