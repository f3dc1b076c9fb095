"""Tables of runs and studies leave out what means nothing, and say how many intervals may miss."""

import json
from pathlib import Path

import chappe
import pytest
from chappe import cli
from chappe.printing import studies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chain.toml").write_text('run.stop = "3 s"\ntopology.hops = 1\n')
    return tmp_path


def test_udp_runs_print_no_tcp_measures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "udp.toml").write_text('run.stop = "3 s"\ntopology.hops = 1\nflow = [{ dst = 1, app = "cbr" }]\n')
    assert cli.main(["run", str(folder / "udp.toml")]) == 0
    udp = capsys.readouterr().out
    assert cli.main(["run", str(folder / "chain.toml")]) == 0
    tcp = capsys.readouterr().out
    for row in ("retransmissions ", "timeouts ", "fast retransmits "):
        assert row in tcp
        assert f"\n{row}" not in udp


def test_one_batch_has_no_interval(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["--set", "run.batches=1", "--set", "run.warmup_batches=0"]
    assert cli.main(["run", str(folder / "chain.toml"), *one]) == 0
    output = capsys.readouterr().out
    assert "confidence" not in output
    assert "without an interval" in output


def test_a_table_says_how_many_intervals_may_miss(capsys: pytest.CaptureFixture[str]) -> None:
    chain = chappe.Scenario.chain(2, stop="110 delivered", extends="ns2-2.35")
    for points, title in ((1, "95 % confidence"), (20, "95 % confidence each: about 1 of 20 intervals misses")):
        swept = chappe.sweep(chain, {"tcp.receive_window": list(range(1, points + 1))}, seeds=2)
        studies.study(swept, ["goodput_bps"])
        assert title in capsys.readouterr().out.splitlines()
        assert json.loads(studies.as_json(swept, ["goodput_bps"]))["expected_misses"] == points / 20
