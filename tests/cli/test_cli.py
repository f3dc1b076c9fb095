"""The command line: output, exit codes and error messages."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import chappe
import pytest
from chappe import cli
from command import CHAPPE, PATIENCE_S, REPOSITORY, contents, environment
from command import chappe as command

GOOD = 'extends = "ns2-2.35"\nrun.stop = "20 s"\ntopology.hops = 3\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a valid scenario and invalid files."""
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "torn.toml").write_text("run = { stop = \n[[[\n")
    (tmp_path / "many.toml").write_text(
        '[run]\nstop = "soon"\n[tcp]\nvarient = "reno"\nreceive_window = 0\n[wlan]\ndata_rate = "3 Mbit/s"\n'
    )
    return tmp_path


class Here:
    """The command in the current process, for speed; unexpected exceptions propagate."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
        monkeypatch.chdir(folder)
        self._capsys = capsys

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        try:
            code = cli.main(arguments)
        except SystemExit as e:  # argparse
            code = int(e.code or 0)
        written = self._capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, written.out, written.err)


@pytest.fixture
def here(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(folder, capsys, monkeypatch)


def refused(result: "subprocess.CompletedProcess[str]", *message: str) -> None:
    """Checks a refusal: exit code 2, a message, nothing on standard output."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    for text in message:
        assert text in result.stderr
    for text in ("Traceback", "panicked", "\x1b["):
        assert text not in result.stderr


# ---- commands ----


def test_run_prints_a_table(folder: Path) -> None:
    before = contents(folder)
    result = command("run", "good.toml", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    r = chappe.run(folder / "good.toml")
    (flow,) = r.flows.to_dicts()
    lines = result.stdout.splitlines()
    assert lines[0].startswith("good.toml  Chain of 4 nodes, 200 m apart; 1 flow; 2 Mbit/s; aodv; TCP newreno.")
    row = re.split(r"\s{2,}", next(line for line in lines if line.startswith("0  ")))
    assert row[:4] == ["0", "0", "3", "newreno"]
    assert row[4] == f"{flow['goodput_bps'] / 1e3:.1f} kbit/s"
    assert row[5:8] == [str(flow[name]) for name in ("packets_delivered", "retransmissions", "timeouts")]
    assert re.search(r"goodput +\d+ (± \d+|\(\d+ to \d+\)) +kbit/s", result.stdout)
    assert "retry limit" in lines[-1]
    assert "\x1b[" not in result.stdout
    assert max(map(len, lines)) <= 160
    assert contents(folder) == before, "nothing is written without --out"


def test_empty_batteries_are_reported(here: Here, folder: Path) -> None:
    text = 'run.stop = "10 s"\ntopology.hops = 1\nflow = [{ dst = 1, app = "cbr" }]\n'
    power = 'idle = "0 W", receive = "1 W", transmit = "1 W"'
    for battery, message in [("0.05 J", "2 of 2 are empty, the first at node "), ("50 J", "0 of 2 are empty.")]:
        (folder / "b.toml").write_text(f'{text}radio.energy = {{ {power}, battery = "{battery}" }}\n')
        assert f"Batteries: {message}" in here("run", "b.toml").stdout


def test_run_as_json(folder: Path) -> None:
    result = command("run", "good.toml", "--json", "--set", "tcp.variant=vegas", "--seed", "7", cwd=folder)
    assert result.returncode == 0
    read = json.loads(result.stdout)
    assert (read["seed"], read["scenario"]["tcp"]["variant"], read["version"]) == (7, "vegas", chappe.__version__)
    assert (read["flows"][0]["transport"], read["flows"][0]["variant"]) == ("tcp", "vegas")


def test_run_writes_a_folder(folder: Path) -> None:
    result = command("run", "good.toml", "--out", "new/results", cwd=folder)
    assert result.returncode == 0
    assert "Written to new/results" in result.stdout.splitlines()[-1]
    assert tomllib.loads((folder / "new/results/scenario.toml").read_text())["topology"]["hops"] == 3
    # A second run into the same folder replaces the files.
    assert command("run", "good.toml", "--out", "new/results", "--seed=2", cwd=folder).returncode == 0
    assert json.loads((folder / "new/results/run.json").read_text())["seed"] == 2


def test_a_run_that_ends_before_its_first_batch(folder: Path) -> None:
    result = command(
        "run", "good.toml", "--set", "run.time_limit=1 s", "--set", "run.stop=9999999 delivered", cwd=folder
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "run.time_limit" in result.stdout


def test_warnings_are_printed_on_standard_error(folder: Path) -> None:
    result = command("run", "good.toml", "--set", "topology.hops=32", "--json", cwd=folder)
    assert result.returncode == 0
    assert result.stderr.startswith("warning: flow 0 needs 32 hops")
    assert json.loads(result.stdout)["warnings"]


def test_check_runs_nothing(folder: Path) -> None:
    before = contents(folder)
    result = command("check", "good.toml", "--set", "run.stop=190000 s", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("good.toml: no errors. Chain of 4 nodes")
    assert contents(folder) == before


def test_list_shows_every_part(folder: Path) -> None:
    result = command("explain", "--list", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    for shelf in chappe.parts():
        assert f"{shelf['name']}  ({shelf['setting']})" in result.stdout
        for part in shelf["parts"]:
            assert re.search(rf"^  {re.escape(part['keyword'])} +\S", result.stdout, re.MULTILINE)


def test_schema_is_the_schema(folder: Path) -> None:
    result = command("explain", "--schema", cwd=folder)
    assert result.returncode == 0
    assert json.loads(result.stdout) == chappe.schema()


def test_paper_lists_the_papers(folder: Path) -> None:
    result = command("paper", cwd=folder)
    assert result.returncode == 0
    assert "elrakabawy2005    1-19     1-4" in result.stdout
    assert list(folder.glob("results*")) == []


def test_version_and_help(folder: Path) -> None:
    assert (
        command("--version", cwd=folder).stdout
        == f"chappe {chappe.__version__} (results epoch {chappe.RESULTS_EPOCH})\n"
    )
    for arguments in ([], ["--help"], ["run", "--help"], ["paper", "--help"]):
        result = command(*arguments, cwd=folder)
        assert result.returncode == 0
        assert result.stdout.startswith("usage: chappe")


def test_the_installed_script_is_the_same_command(folder: Path) -> None:
    script = Path(CHAPPE[0]).parent / "chappe"
    result = subprocess.run([script, "check", "good.toml"], cwd=folder, capture_output=True, text=True, check=False)
    assert result.stdout == command("check", "good.toml", cwd=folder).stdout


# ---- bad input ----


@pytest.mark.parametrize("verb", ["run", "check"])
@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("missing.toml", "cannot read missing.toml: no such file or directory"),
        ("folder", "cannot read folder: is a directory"),
        ("good.toml/x", "cannot read good.toml/x: not a directory"),
        ("binary.toml", "binary.toml is not UTF-8 text"),
        ("empty.toml", "`run.stop` does not say when the run ends"),
        ("torn.toml", "torn.toml:2"),
        ("x" * 5000, "file name too long"),
    ],
)
def test_invalid_scenario_files(verb: str, file: str, message: str, folder: Path, here: Here) -> None:
    before = contents(folder)
    refused(here(verb, file), message)
    assert contents(folder) == before


def test_all_errors_are_reported_and_nothing_is_written(folder: Path) -> None:
    before = contents(folder)
    result = command("run", "many.toml", "--out", "results", "--set", "tcp.ack_policy=evry", cwd=folder)
    refused(
        result,
        "--> many.toml:2:8",
        "--> many.toml:4:1",
        "`tcp` has no setting `varient`",
        "did you mean `variant`?",
        "--> many.toml:5:18",
        "`tcp.receive_window` is 0",
        "--> many.toml:7:13",
        "it must be 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s, 6 Mbit/s, 9 Mbit/s, 12 Mbit/s, 18 Mbit/s, "
        "24 Mbit/s, 36 Mbit/s, 48 Mbit/s or 54 Mbit/s",
        "--> --set:1:16",
        "did you mean `every`?",
        "many.toml: 5 errors; nothing was run.",
    )
    assert contents(folder) == before
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "tcp.receive_window"], "is not of the form name=value"),
        (["--set", "=3"], "is not of the form name=value"),
        (["--set", ""], "is not of the form name=value"),
        (["--set", "tcp.receive_windw=3"], "did you mean `receive_window`?"),
        # The position is the position of the name, not of the value.
        (["--set", "tcp.receive_windw=3"], "--> --set:1:5"),
        (["--set", "radoi.sinr.floor=3"], "--> --set:1:1\n"),
        (["--set", "tcp.receive_window="], "`tcp.receive_window`"),
        (["--set", "tcp.receive_window=[1"], "`tcp.receive_window`"),
        (["--set", "tcp=3"], "`tcp`"),
        (["--set", "..=3"], "error"),
        (["--set", "tcp.variant=\udcff"], "is not UTF-8 text"),
        (["--set", "extends=nowhere.toml"], "nowhere.toml"),
        (["--set"], "expected one argument"),
        (["--seed", "-1"], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--seed", "1.5"], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--seed", "one"], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--seed", ""], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--seed", str(2**63)], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--seed", "9" * 400], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--seed", "nan"], "--seed: a seed is a whole number from 0 to 9223372036854775807, not "),
        (["--out", "good.toml"], "cannot write to good.toml: file exists; --out names a folder"),
        (["--pcap", "good.toml"], "cannot write to good.toml: file exists; --pcap names a folder"),
        (["--out", "good.toml/below"], "cannot write to good.toml/below: not a directory"),
        (["--out", "/dev/null/x"], "cannot write to /dev/null/x: not a directory"),
        (["--out", "x" * 5000], "file name too long"),
        (["--frobnicate"], "there is no option --frobnicate"),
    ],
)
def test_bad_arguments_of_run(arguments: list[str], message: str, folder: Path, here: Here) -> None:
    before = contents(folder)
    refused(here("run", "good.toml", *arguments), message)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "there is no command 'rum'; did you mean run?"),
        (
            ["frobnicate"],
            "there is no command 'frobnicate'; known: new, import, run, live, sweep, show, plot, draw, compare, rank,",
        ),
        (["run", "good.toml", "--js"], "there is no option --js; did you mean --json?"),
        (["run", "good.toml", "--sed=3"], "there is no option --sed; did you mean --seed?"),
        (["run", "good.toml", "other.toml"], "unrecognized arguments: other.toml"),
        (["export", "mobilty", "good.toml"], "there is no part 'mobilty'; did you mean mobility?"),
        (["export"], "required: PART"),
        (["completion", "bsh"], "there is no 'bsh'; did you mean bash?"),
        (["run"], "required: FILE"),
        (["paper", "elrakabawy2050"], "there is no paper 'elrakabawy2050'; known papers: elrakabawy2005"),
        (["paper", "elrakabawy2005", "--figure", "20"], "known figures: 1, 2, 3, 4, 5, 6,"),
        (["paper", "elrakabawy2005", "--table", "5"], "known tables: 1, 2, 3, 4"),
        (["paper", "elrakabawy2005", "--claim", "P0-F6-9"], "has no claim P0-F6-9 to reproduce; known claims: P0-A-1,"),
        (["paper", "elrakabawy2005", "--table", "2", "--claim", "P0-F6-1"], "--table and --claim exclude each other"),
        (["paper", "elrakabawy2005", "--figure", "six"], "'six'"),
        (["paper", "elrakabawy2005", "--jobs", "0"], "0 is not a whole number of at least 1"),
        (["paper", "elrakabawy2005", "--jobs", "-2"], "'-2' is not a whole number of at least 1"),
        (["paper", "elrakabawy2005", "--jobs", "two"], "'two' is not a whole number of at least 1"),
        (["paper", "elrakabawy2005", "--jobs", "1.5"], "'1.5' is not a whole number of at least 1"),
        (
            ["paper", "elrakabawy2005", "--compare", "--quick"],
            "it excludes --figure, --table, --claim, --extra and --quick",
        ),
        (
            ["paper", "elrakabawy2005", "--compare", "--figure", "6"],
            "it excludes --figure, --table, --claim, --extra and --quick",
        ),
        (["paper", "elrakabawy2005", "--quick", "--out", "good.toml"], "cannot write to good.toml: file exists"),
        (["paper", "su2008", "--compare"], "there are no ns-2 runs of su2008 to compare with"),
        (["validate", "ns4"], "there is no comparison 'ns4'; known comparisons: standard"),
        (["validate", "zhou2004"], "for papers: chappe paper zhou2004 --compare"),
        (["validate", "standard", "--jobs", "0"], "0 is not a whole number of at least 1"),
        (["validate", "standard", "--out", "good.toml"], "cannot write to good.toml: file exists"),
    ],
)
def test_bad_command_lines(arguments: list[str], message: str, folder: Path, here: Here) -> None:
    before = contents(folder)
    refused(here(*arguments), message)
    assert contents(folder) == before


def test_a_study_is_not_a_scenario(here: Here, folder: Path) -> None:
    """The message names the right command, but only for files that the command accepts."""
    (folder / "study.toml").write_text('scenario = "good.toml"\naxes = { topology.hops = [1, 2] }\n')
    (folder / "inline.toml").write_text('seeds = 2\n[scenario]\nrun.stop = "1 s"\n')
    (folder / "both.toml").write_text('scenario = "good.toml"\nrun.stop = "1 s"\n')
    for study in ("study.toml", "inline.toml"):
        for verb in ("run", "check"):
            refused(here(verb, study), f"{study} is a study: use `chappe sweep {study}`")
    refused(
        here("sweep", "good.toml"),
        "good.toml is a scenario: add `--axis NAME=VALUES` or `--seeds N`, or use `chappe run",
    )
    refused(here("run", "both.toml"), "a scenario has no setting `scenario`")
    refused(here("sweep", "both.toml"), "`run` is a setting of scenarios", "write it under [scenario]")
    refused(here("sweep", "empty.toml"), "`scenario` is missing")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "binary.toml"],
        ["check", "torn.toml"],
        ["run", "good.toml", "--seed=-1", "--out", "results"],
        ["run", "good.toml", "--out", "/dev/null/x"],
        ["paper", "elrakabawy2005", "--jobs", "0"],
        ["frobnicate"],
    ],
)
def test_exit_codes_of_refusals(arguments: list[str], folder: Path) -> None:
    before = contents(folder)
    refused(command(*arguments, cwd=folder))
    assert contents(folder) == before
    assert not (folder / "results").exists()


def limited(written: int, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Runs the command with a limit on the size of files."""
    limit = f"import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({written}, {written}))"
    return subprocess.run(
        [sys.executable, "-c", f"{limit}; from chappe import cli; sys.exit(cli.main(sys.argv[1:]))", *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


def test_unwritable_tables_are_reported(folder: Path) -> None:
    """The folder can be created, but files cannot: the run succeeds, and the scenario is not blamed."""
    (folder / "good.toml").write_text(GOOD + 'run.record = ["packets"]\n')
    assert command("run", "good.toml", "--out", "results", "--seed=1", cwd=folder).returncode == 0
    before = contents(folder)
    for written in (100, 2_000, 20_000):
        # Simulates a full disk.
        result = limited(written, "run", "good.toml", "--out", "results", cwd=folder)
        assert (result.returncode, result.stderr) == (1, "error: cannot write to results: file too large\n")
        assert contents(folder) == before


def test_names_with_brackets_are_printed_literally(folder: Path) -> None:
    (folder / "[bold]").mkdir()
    (folder / "[bold]" / "[red]x.toml").write_text(GOOD)
    result = command("run", "[bold]/[red]x.toml", cwd=folder)
    assert result.stdout.startswith("[bold]/[red]x.toml  Chain")


# ---- output ----


@pytest.mark.parametrize("arguments", [["run", "good.toml"], ["check", "good.toml"], ["explain", "--schema"]])
@pytest.mark.parametrize("unbuffered", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_a_closed_pipe_ends_quietly(arguments: list[str], unbuffered: dict[str, str], folder: Path) -> None:
    """``chappe ... | head`` ends quietly, with an exit code for incomplete output."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as closed:
        result = subprocess.run(
            [*CHAPPE, *arguments],
            cwd=folder,
            env=environment(**unbuffered),
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.parametrize("arguments", [["run", "good.toml"], ["check", "good.toml"], ["explain", "--schema"]])
def test_unwritable_output_is_reported(arguments: list[str], folder: Path) -> None:
    """Simulates a full disk: files may not grow."""
    with (folder / "out.txt").open("w") as out:
        result = subprocess.run(
            ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', *CHAPPE, *arguments],
            cwd=folder,
            env=environment(),
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert result.returncode == 1
    assert result.stderr == "error: cannot write the output: file too large\n"


def test_output_without_utf8(folder: Path) -> None:
    # Over one hop the delays of batches are symmetric, so that a half width is printed.
    one_hop = ("--set", "topology.hops=1", "--set", "tcp.variant=vegas")
    result = command("run", "good.toml", *one_hop, cwd=folder, env=environment(PYTHONIOENCODING="ascii"))
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"one-way delay +[\d.]+ \? [\d.]+", result.stdout)


def test_commands_work_from_any_folder(folder: Path) -> None:
    assert command("check", folder / "good.toml", cwd=REPOSITORY.parent).returncode == 0


def test_an_empty_folder_name_is_rejected(here: Here, folder: Path) -> None:
    (folder / "study.toml").write_text('scenario = "good.toml"\n')
    before = contents(folder)
    for arguments in (["run", "good.toml"], ["sweep", "study.toml"], ["paper", "zhou2004", "--quick"]):
        refused(here(*arguments, "--out", ""), "--out names no folder")
    assert contents(folder) == before


def test_changing_an_unlisted_flow_gives_a_hint(here: Here) -> None:
    refused(
        here("check", "good.toml", "--set", "flow.0.dst=2"),
        "no `flow` is listed: there is no `flow.0`",
        "flow = [{ ... }]",
    )
