"""Hints: what is said of names that there are not, and of tables that would say nothing."""

from pathlib import Path

import chappe
import pytest
from chappe import cli, measures

STUDY = """scenario = "chain.toml"
measures = ["goodput", "fairness", "delay", "beauty", "elegance"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chain.toml").write_text('run.stop = "3 s"\ntopology.hops = 1\n')
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def test_measures_are_named_that_are_near(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", str(folder / "study.toml"), "--out", str(folder / "out")]) == cli.BAD_INPUT
    said = capsys.readouterr().err
    for near in ("goodput_bps", "jain_index", "mean_delay_s"):
        assert f"did you mean `{near}`" in said
    # All names are listed once, and the line of the file is shown at each.
    assert said.count("known: ") == 1
    assert said.count('2 | measures = ["goodput", "fairness", "delay", "beauty", "elegance"]') == 5


def test_what_others_call_a_measure_is_one() -> None:
    for name in ("rtt", "latency", "timeouts", "window", "energy", "jain", "throughput", "goodput_bsp"):
        hint = measures.hint(name)
        assert hint.startswith("did you mean `")
        assert all(n in measures.NAMES for n in hint.split("`")[1::2])
    assert set(measures.OF_TCP) < set(measures.NAMES)


def test_descriptions_of_parts_are_lines() -> None:
    for shelf in chappe.parts():
        for part in shelf["parts"]:
            assert part["description"] == " ".join(part["description"].split())


def test_datagrams_have_no_rows_of_tcp(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "udp.toml").write_text('run.stop = "3 s"\ntopology.hops = 1\nflow = [{ to = 1, app = "cbr" }]\n')
    assert cli.main(["run", str(folder / "udp.toml")]) == 0
    udp = capsys.readouterr().out
    assert cli.main(["run", str(folder / "chain.toml")]) == 0
    tcp = capsys.readouterr().out
    for row in ("retransmissions ", "timeouts ", "fast retransmits "):
        assert row in tcp
        assert f"\n{row}" not in udp


def test_one_batch_has_no_interval(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["--set", "run.batches=1", "--set", "run.discard=0"]
    assert cli.main(["run", str(folder / "chain.toml"), *one]) == 0
    said = capsys.readouterr().out
    assert "confidence" not in said
    assert "without an interval" in said
