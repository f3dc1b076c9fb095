"""Hints about unknown names and binary files."""

import gzip
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


def test_similar_measures_are_suggested(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", str(folder / "study.toml"), "--out", str(folder / "out")]) == 2
    output = capsys.readouterr().err
    for near in ("goodput_bps", "jain_index", "mean_delay_s"):
        assert f"did you mean `{near}`" in output
    # All names are listed once, and each error shows its line.
    assert output.count("known: ") == 1
    assert output.count('2 | measures = ["goodput", "fairness", "delay", "beauty", "elegance"]') == 5


def test_synonyms_of_measures_are_suggested() -> None:
    for name in ("rtt", "latency", "timeouts", "window", "energy", "jain", "throughput", "goodput_bsp"):
        hint = measures.hint(name)
        assert hint.startswith("did you mean `")
        assert all(n in measures.NAMES for n in hint.split("`")[1::2])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(b"0 1 1", mtime=0), "it is compressed (gzip): unpack it"),
        (b"PK\x03\x04\x14\x00\xff", "it is an archive or a spreadsheet"),
        ("x_m,y_m\n0,0\n".encode("utf-16"), "it is UTF-16 text: save it as UTF-8"),
        ("x_m,y_m\n0,0\n".encode("utf-16-be").join((b"\xfe\xff", b"")), "it is UTF-16 text"),
        ("x_m,y_m\n# gr\u00fcn\n".encode("latin-1"), "it is not UTF-8 text"),
    ],
    ids=["gzip", "zip", "utf-16", "utf-16-be", "latin-1"],
)
def test_binary_files_are_recognized(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(data)
    (tmp_path / "scenario.toml").write_text('run.stop = "1 s"\ntopology = { kind = "file", file = "theirs" }\n')
    with pytest.raises(chappe.ScenarioError) as error:
        chappe.Scenario.load(tmp_path / "scenario.toml")
    assert error.value.problems[0].message.startswith(f"cannot read `theirs`: {why}")


def test_descriptions_of_parts_are_lines() -> None:
    for shelf in chappe.parts():
        for part in shelf["parts"]:
            assert part["description"] == " ".join(part["description"].split())
