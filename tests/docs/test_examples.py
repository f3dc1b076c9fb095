"""Every example and every scenario file of the repository runs."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import chappe
import jsonschema
import polars as pl
import pytest
from chappe import cli, study
from command import REPOSITORY, contents, environment, parsed

EXAMPLES = sorted((REPOSITORY / "examples").glob("*.py"))
STUDIES = sorted((REPOSITORY / "examples").glob("*.toml"))
SCENARIOS = sorted((REPOSITORY / "scenarios").glob("*.toml"))


def name(path: Path) -> str:
    return path.name


def test_the_repository_has_examples() -> None:
    assert EXAMPLES
    assert SCENARIOS
    assert STUDIES


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_an_example_runs(example: Path, copies: Path) -> None:
    done = subprocess.run(
        [sys.executable, f"examples/{example.name}"],
        cwd=copies,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    if example.name == "short_transfers.py":
        carried = pl.read_csv(copies / "results" / "short_transfers" / "completion.csv")
        assert carried["began"].to_list() == carried["completed"].to_list() == [10_000] * 4
    written = [p for p in contents(copies) if p.split("/")[0] not in ("scenarios", "examples")]
    assert written
    assert all(p.startswith(f"results/{example.stem}/") for p in written), "the folder that its description names"


def test_aioquic_repeats_a_run(copies: Path) -> None:
    """Keys of TLS differ from process to process; sizes and times of datagrams do not."""
    begin = "import sys; from pathlib import Path; sys.path.insert(0, 'examples'); import aioquic_over_the_air as air; "
    made = []
    for folder in ("first", "second"):
        code = f"{begin}air.SECONDS = 2; air.main(Path('{folder}'))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=copies,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        made.append((done.stdout.splitlines()[:2], (copies / folder / "read.csv").read_bytes()))
    assert made[0] == made[1]
    assert made[0][1].count(b"\n") > 100


@pytest.mark.parametrize("scenario", SCENARIOS, ids=name)
@pytest.mark.usefixtures("copies")
def test_scenario_files_are_valid_and_run(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = f"scenarios/{scenario.name}"
    assert cli.main(["check", file]) == 0
    assert capsys.readouterr().err == "", "neither mistakes nor doubts"
    jsonschema.validate(tomllib.loads(scenario.read_text(encoding="utf-8")), chappe.schema())
    assert cli.main(["run", file, "--set", "run.stop=20 s"]) == 0
    # Every example delivers packets.
    assert (chappe.run(chappe.Scenario.load(file, {"run.stop": "20 s"})).flows["packets_delivered"] > 0).all()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=name)
def test_the_commands_in_the_comments_of_a_scenario(scenario: Path, copies: Path) -> None:
    text = (copies / "scenarios" / scenario.name).read_text(encoding="utf-8")
    # Several spaces separate a remark.
    commands = [re.split(r"\s{2,}", line)[0] for line in re.findall(r"^# +(chappe .*)$", text, re.MULTILINE)]
    assert f"chappe run scenarios/{scenario.name}" in commands
    for command in commands:
        arguments = shlex.split(command)[1:]
        assert parsed(arguments).file == f"scenarios/{scenario.name}"
        assert cli.main([*arguments, "--set", "run.stop=20 s"]) == 0


@pytest.mark.parametrize("example", STUDIES, ids=name)
@pytest.mark.usefixtures("copies")
def test_a_study_runs(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = re.findall(r"^#   chappe (.*)$", example.read_text(encoding="utf-8"), re.MULTILINE)
    assert command == f"sweep examples/{example.name}"
    assert cli.main(shlex.split(command)) == 0
    printed = capsys.readouterr()
    assert printed.err == "", "neither mistakes nor doubts"
    assert f"runs in results/{example.stem}." in printed.out
    if example.name == "adaptive_study.toml":
        adapted(study.Study(f"results/{example.stem}"))


def adapted(swept: study.Study) -> None:
    """Each of the variants sends less again than NewReno, and has more goodput over few hops."""
    newreno = {"case": "NewReno"}
    for other in ("NewReno, ACK thinning", "NewReno, limit from the hop count", "FeW", "TCP-AP", "Vegas"):
        again = swept.compare("retransmissions_per_10000", {"case": other}, newreno)
        assert len(again) == 3, other
        assert again["significant"].all(), other
        assert (again["relative"] < -0.4).all(), other
        goodput = swept.compare("goodput_bps", {"case": other}, newreno).filter(pl.col("topology.hops") <= 8)
        assert goodput["significant"].all(), other
        assert (goodput["relative"] > 0.1).all(), other
