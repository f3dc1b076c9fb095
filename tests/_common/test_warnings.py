"""Warnings are records with codes, which the page lists and `--ignore` suppresses."""

import json
from pathlib import Path

import chappe
import pytest
from chappe import cli
from chappe._common.notices import codes

PAGE = Path(__file__).parents[2] / "docs" / "scenarios.md"
DOUBTFUL = """\
run.stop = "2 s"
topology.hops = 2
tcp = { receive_window = 3, vegas.alpha = 2 }
flow = [{ dst = 2 }, { dst = 2, start = "3 s" }]
"""
CODES = ["late_flow", "unused_setting"]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.toml"
    path.write_text(DOUBTFUL, encoding="utf-8")
    return str(path)


def test_the_page_lists_all_codes() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("\n### Warnings\n")[2].partition("\n### ")[0]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert {code.strip("`"): text for code, text in rows} == codes()


def test_warnings_of_a_scenario_are_records(file: str) -> None:
    found = chappe.Scenario.load(file).warnings
    assert [(w.code, w.path) for w in found] == [
        ("late_flow", "flow.1.start"),
        ("unused_setting", "tcp.vegas.alpha"),
    ]
    assert str(found[0]) == found[0].message
    everything = chappe.run(file).to_dict()["warnings"]
    assert everything[:2] == [w._asdict() for w in found]


@pytest.mark.parametrize("ignored", [[], CODES[:1], CODES])
@pytest.mark.parametrize("command", ["check", "run", "sweep"])
def test_codes_are_ignored(
    command: str, ignored: list[str], file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--ignore={code}" for code in ignored]
    more = ["--seeds=1", f"--out={tmp_path / 'study'}"] if command == "sweep" else []
    assert cli.main([command, file, "--json", *options, *more]) == 0
    printed = capsys.readouterr()
    found = {w["code"] for w in json.loads(printed.out)["warnings"]}
    assert found & {*CODES} == {*CODES} - {*ignored}
    if command == "check":
        return  # it prints the warnings once
    told = {"late_flow": "flow 1 starts at 3 s", "unused_setting": "has no effect"}
    for code, text in told.items():
        assert (text in printed.err) == (code not in ignored), (code, printed.err)


def test_an_unknown_code_is_a_mistake(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main(["check", file, "--ignore", "unused_seting"])
    assert error.value.code == 2
    assert "there is no warning unused_seting; did you mean unused_setting?" in capsys.readouterr().err
