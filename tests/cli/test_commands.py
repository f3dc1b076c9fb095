"""Commands about saved results, names and studies without a file, and the completion of shells."""

import argparse
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.cli import options
from chappe.cli.studies import split, value_of
from chappe.measures import NAMES
from chappe.scenario.explain import explain, known, setting_names, suggestions
from command import CHAPPE, REPOSITORY, contents

SCENARIO = 'extends = "ns2-2.35"\nrun.stop = "20 s"\ntopology.hops = 2\n'
BAD = "[tcp]\nvarient = 1\n"


class Command:
    """A command in the current process: its exit code, its output and its messages."""

    def __init__(self, capsys: pytest.CaptureFixture[str]):
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        try:
            code = cli.main(arguments)
        except SystemExit as e:
            code = int(e.code or 0)
        written = self._capsys.readouterr()
        return code, written.out, written.err

    def json(self, *arguments: str) -> Any:
        """JSON that a successful command prints, without other output."""
        code, out, err = self(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(SCENARIO)
    (tmp_path / "bad.toml").write_text(BAD)
    return Command(capsys)


# ---- quiet and JSON ----


def test_quiet_commands_print_nothing(command: Command) -> None:
    for arguments in (
        ["run", "a.toml", "--why", "-o", "run"],
        ["show", "run", "--why"],
        ["sweep", "a.toml", "--seeds", "2", "-o", "study"],
        ["show", "study"],
        ["check", "a.toml"],
        ["plot", "a.toml", "--what", "cwnd", "-o", "cwnd.svg"],
        ["paper"],
        ["validate"],
    ):
        assert command(*arguments, "-q") == (0, "", "")
        # JSON is a result that was asked for.
        assert json.loads(command(*arguments, "-q", "--json")[1])


def test_windows_as_json(command: Command) -> None:
    printed = command.json(
        *("plot", "a.toml", "--what", "cwnd", "--variant", "vegas", "--variant", "reno", "--data", "w.csv"),
        *("-o", "w.svg", "-o", "w.pdf", "-o", "w.png"),
    )
    rows = pl.read_csv("w.csv")
    assert (printed["figures"], printed["data"], printed["flow"]) == (["w.svg", "w.pdf", "w.png"], "w.csv", 0)
    starts = {Path(name).read_bytes()[:4] for name in printed["figures"]}
    assert {b"%PDF", b"\x89PNG"} < starts
    for of_variant in printed["variants"]:
        own = rows.filter(variant=of_variant["variant"])
        assert of_variant["changes"] == len(own)
        assert of_variant["max_cwnd_segments"] == own["cwnd_segments"].max()
    assert [r["variant"] for r in printed["variants"]] == ["vegas", "reno"]


def test_a_precision_without_a_study_file(command: Command) -> None:
    options = ["sweep", "a.toml", "--seeds", "2", "-j", "1", "-o", "study"]
    printed = command.json(*options, "--precision", "90 %", "--max-seeds", "4", "--measure", "mean_rtt_s")
    (row,) = printed["summary"]
    assert (row["measure"], row["met"], row["n"]) == ("mean_rtt_s", True, 4)
    about = json.loads(Path("study/study.json").read_text())["precision"]
    assert (about["measure"], about["within"], about["max_seeds"]) == ("mean_rtt_s", 0.9, 4)
    for more, message in (
        (["--precision", "5"], "--precision '5' is not a share of the mean: write \"5 %\""),
        (["--precision", "0 %", "--max-seeds", "4"], "`--precision` is 0 %"),
        (["--precision", "5 %"], "`--max-seeds` is missing"),
        (["--precision", "5 %", "--max-seeds", "1"], "`--max-seeds` is 1"),
        (
            ["--precision", "5 %", "--max-seeds", "0"],
            "the number of seeds is a whole number from 1 to 999,999,999; it cannot be 0",
        ),
        (["--max-seeds", "3"], "--max-seeds has no effect without `--precision SHARE`"),
        (["--precision", "5 %", "--max-seeds", "4", "--seeds", "1"], "add `--seeds 10`"),
    ):
        code, out, err = command(*options, *more)
        assert (code, out) == (2, ""), more
        assert message in err


def test_many_seeds_are_refused_before_they_are_listed(command: Command) -> None:
    code, out, err = command("sweep", "a.toml", "--seeds", "900000000", "-o", "study")
    assert (code, out) == (2, "")
    assert "1 point with 900,000,000 runs each need about 2.0 TB of memory" in err
    assert not Path("study").exists()


def test_a_precision_in_place_of_that_of_a_study_file(command: Command, tmp_path: Path) -> None:
    precision = '[precision]\nmeasure = "mean_rtt_s"\nwithin = "1 %"\nmax_seeds = 3\n'
    (tmp_path / "s.toml").write_text(f'scenario = "a.toml"\nseeds = 2\n{precision}')
    command.json("sweep", "s.toml", "--precision", "90 %", "-j", "1", "-o", "study")
    about = json.loads(Path("study/study.json").read_text())["precision"]
    assert (about["measure"], about["within"], about["max_seeds"]) == ("mean_rtt_s", 0.9, 3)
    search = '[search]\nsetting = "tcp.receive_window"\nlow = 1\nhigh = 4\n'
    (tmp_path / "s.toml").write_text(f'scenario = "a.toml"\nseeds = 2\n{search}')
    code, _, err = command("sweep", "s.toml", "--precision", "5 %")
    assert code == 2
    assert "--precision is for studies without search" in err


# ---- check ----


def test_check_takes_several_files(command: Command) -> None:
    code, out, err = command("check", "a.toml", "bad.toml", "missing.toml", "a.toml")
    assert code == 2
    assert out.count("a.toml: no errors. Chain of 3 nodes") == 2
    assert "did you mean `variant`?" in err
    assert "error: cannot read missing.toml: no such file or directory" in err
    assert "Traceback" not in err


def test_problems_as_json(command: Command) -> None:
    code, out, err = command("check", "bad.toml", "a.toml", "missing.toml", "--json", "--set", "topology.hops=32")
    assert (code, err) == (2, "")
    printed = json.loads(out)
    of_bad = next(p for p in printed["problems"] if p["path"] == "tcp.varient")
    assert (of_bad["file"], of_bad["line"], of_bad["column"]) == ("bad.toml", 2, 1)
    assert (of_bad["message"], of_bad["help"]) == ("`tcp` has no setting `varient`", "did you mean `variant`?")
    missing = printed["problems"][-1]
    assert (missing["file"], missing["line"]) == ("missing.toml", None)
    assert [w["file"] for w in printed["warnings"]] == ["a.toml"]


@pytest.mark.parametrize(("text", "code"), [(SCENARIO, 0), (BAD, 2), ("\xff", 2)])
def test_standard_input_is_a_file(command: Command, text: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (["check", "-"], ["run", "-", "--json"], ["export", "mobility", "-", "--until=1 s"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("latin-1"))))
        done, out, err = command(*arguments)
        assert done == code, err
        assert (out == "") == (code == 2)
        assert code == 0 or "- is not UTF-8 text" in err or "--> -:2:1" in err


def test_files_in_standard_input_are_in_the_current_folder(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'extends = "a.toml"\ntopology.hops = 4\n')))
    assert "Chain of 5 nodes" in command("check", "-")[1]


# ---- studies from scenario files ----


def test_a_scenario_file_with_axes_is_a_study(command: Command) -> None:
    arguments = [
        "--axis",
        "tcp.receive_window=2,4",
        "--axis=tcp.variant=newreno,vegas",
        "--seeds",
        "1,3",
        "-s",
        "run.stop=5 s",
    ]
    measures = ["--measure", "goodput_bps", "--measure", "mean_delay_s"]
    printed = command.json("sweep", "a.toml", *arguments, *measures, "-q", "-j", "1")
    assert (printed["axes"], printed["seeds"], printed["run_count"]) == (
        ["tcp.receive_window", "tcp.variant"],
        [1, 3],
        8,
    )
    assert printed["folder"] == "results/a"
    axes = {"tcp.receive_window": [2, 4], "tcp.variant": ["newreno", "vegas"]}
    scenario = chappe.Scenario.load("a.toml", ["run.stop=5 s"])
    alike = chappe.sweep(scenario, axes, seeds=[1, 3], jobs=1).summary(["goodput_bps", "mean_delay_s"])
    for key in ("measure", "tcp.receive_window", "tcp.variant", "estimate"):
        assert [row[key] for row in printed["summary"]] == alike[key].to_list()


def test_options_change_a_study_file(command: Command) -> None:
    text = 'scenario = "a.toml"\nseeds = 3\nmeasures = ["mean_rtt_s"]\n[axes]\ntcp.receive_window = [2, 4]\n'
    Path("study.toml").write_text(text)
    changes = ["--axis", "tcp.receive_window=8", "--seeds=2", "--set", "run.stop=5 s", "--measure", "goodput_bps"]
    printed = command.json("sweep", "study.toml", *changes, "-q")
    assert (printed["seeds"], printed["run_count"]) == ([1, 2], 2)
    assert [(row["tcp.receive_window"], row["measure"]) for row in printed["summary"]] == [(8, "goodput_bps")]
    assert chappe.Study("results/study").scenario["run.stop"] == "5 s"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "add `--axis NAME=VALUES` or `--seeds N`, or use `chappe run a.toml`"),
        (["--axis", "tcp.receive_window"], "not of the form NAME=VALUE,VALUE"),
        (["--axis", "tcp.receive_window="], "not of the form NAME=VALUE,VALUE"),
        (["--axis", "=2"], "not of the form NAME=VALUE,VALUE"),
        (["--axis", "tcp.receive_windw=2,4"], "--> --axis\n  = help: did you mean `receive_window`?"),
        (["--axis", "tcp.variant=vega"], "did you mean `vegas`?"),
        (["--axis", "tcp.receive_window=2", "--axis", "tcp.receive_window=4"], "twice"),
        (["--seeds", "0"], "from 1 to 999,999,999, or give a list such as 1,2,7; it cannot be 0"),
        (["--seeds", "1000000000"], "whole number from 1 to 999,999,999, or give"),
        (["--seeds", "one"], "from 1 to 999,999,999, or give a list such as 1,2,7; it cannot be one"),
        (["--seeds", "1,-2"], "a seed is a whole number from 0"),
        (["--seeds", "2", "--measure", "goodput"], "did you mean `goodput_bps`?"),
        (["--seeds", "2", "--set", "tcp.receive_windw=2"], "did you mean `receive_window`?"),
        (["--seeds", "2", "--set", "tcp.receive_window"], "is not of the form name=value"),
    ],
)
def test_bad_studies_are_refused(command: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    before = contents(tmp_path)
    code, out, err = command("sweep", "a.toml", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert contents(tmp_path) == before


def test_a_study_is_not_read_from_standard_input(command: Command) -> None:
    assert "not from standard input" in command("sweep", "-", "--seeds=2")[2]


def test_values_are_those_of_set() -> None:
    assert [value_of(v) for v in ("2", "true", "vegas", "20 ms", '"2"', "[1, 2]", "1\ny = 2")] == [
        2, True, "vegas", "20 ms", "2", [1, 2], "1\ny = 2",
    ]  # fmt: skip
    assert split("2, 4") == ["2", "4"]
    assert split('[1, 2], "a,b", {a = [1, 2], b = "}"}, x') == ["[1, 2]", '"a,b"', '{a = [1, 2], b = "}"}', "x"]


# ---- show ----


def test_show_prints_what_run_printed(command: Command) -> None:
    _, out, _ = command("run", "a.toml", "-o", "r", "--why")
    before = contents(Path("r"))
    code, shown, err = command("show", "r", "--why")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert shown.splitlines() == [lines[0].replace("a.toml", "r", 1), *lines[1:-2]]
    assert command.json("show", "r") == chappe.run("r/scenario.toml").to_dict()
    assert contents(Path("r")) == before


def test_show_prints_what_sweep_printed(command: Command) -> None:
    _, out, _ = command("sweep", "a.toml", "--axis", "tcp.receive_window=2,4", "--seeds=2", "-o", "s")
    assert command("show", "s") == (0, out, "")
    (delay,) = {row["measure"] for row in command.json("show", "s", "--measure", "mean_delay_s")["summary"]}
    assert delay == "mean_delay_s"


def test_show_prints_the_curve_of_a_search(command: Command) -> None:
    Path("search.toml").write_text(
        'scenario = "a.toml"\nseeds = 2\n[search]\nsetting = "tcp.receive_window"\nlow = 1\nhigh = 2\n'
    )
    before = command("sweep", "search.toml", "-o", "s")
    assert command("show", "s") == before


def test_folders_without_results_are_refused(command: Command, tmp_path: Path) -> None:
    chappe.run("a.toml", out="results/r")
    chappe.sweep("a.toml", seeds=2, out="results/s")
    (tmp_path / "empty").mkdir()
    for arguments, message in (
        (["nowhere"], "there is no folder nowhere"),
        (["a.toml"], "a.toml is a file: name the folder of a run or a study"),
        (["results"], "neither a run nor a study: did you mean results/r or results/s?"),
        (["empty"], "neither a run nor a study: `chappe run --out DIR` writes such a folder"),
        ([""], "names no folder"),
        (["results/r", "--measure", "goodput"], "did you mean `goodput_bps`?"),
        (["results/s", "--why"], "--why is for runs"),
        (["results/s", "--measure", "goodput"], "did you mean `goodput_bps`?"),
    ):
        code, out, err = command("show", *arguments)
        assert (code, out) == (2, "")
        assert message in err


@pytest.mark.parametrize("damaged", ["run.json", "flows.parquet", "scenario.toml"])
def test_damaged_runs_are_refused(command: Command, damaged: str) -> None:
    chappe.run("a.toml", out="r").save("r")
    (Path("r") / damaged).write_text("{")
    code, out, err = command("show", "r")
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_results_of_another_epoch_are_named(command: Command) -> None:
    chappe.run("a.toml").save("r")
    facts = json.loads(Path("r/run.json").read_text())
    Path("r/run.json").write_text(json.dumps({**facts, "results_epoch": 0}))
    code, out, err = command("show", "r", "--json")
    assert (code, json.loads(out)["results_epoch"]) == (0, 0)
    assert "r has results of epoch 0 (version" in err
    assert (
        f"the run is repeated with seed 1 in results epoch {chappe.RESULTS_EPOCH}" in command("show", "r", "--why")[2]
    )


# ---- explain ----


def test_list_takes_a_word(command: Command) -> None:
    (shelf,) = command.json("explain", "--list", "tcp.variant")
    assert [p["keyword"] for p in shelf["parts"]] == next(
        [p["keyword"] for p in s["parts"]] for s in chappe.parts() if s["setting"] == "tcp.variant"
    )
    for shelf in command.json("explain", "--list", "vegas"):
        assert "vegas" in shelf["setting"] or all("vegas" in p["keyword"] for p in shelf["parts"])
    assert command.json("explain", "--list") == chappe.parts()
    rate_controls = command.json("explain", "--list", "minstrel_ht")[0]
    assert rate_controls["setting"] == "wlan.rate_control.algorithm"
    assert [p["keyword"] for p in rate_controls["parts"]] == ["minstrel_ht", "minstrel_ht_ns3"]
    assert command("explain", "--list", "nothing")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name what to explain, such as tcp.receive_window, or use --list or --schema"),
        (["--list", "vegas", "--schema"], "not allowed with argument"),
        (["--schema", "--all"], "--all is for a group of settings"),
        (["vegas", "--schema"], "not allowed with argument"),
        (["vegas", "--list"], "not allowed with argument"),
    ],
)
def test_explain_is_asked_one_thing(words: list[str], message: str, command: Command) -> None:
    code, out, err = command("explain", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_everything_known_is_explained() -> None:
    assert set(NAMES) <= set(known())
    assert len(setting_names()) > 400
    assert [name for name in known() if not all(e.text for e in explain(name))] == []
    assert [name for name in known() if not explain(name)] == []


def test_a_setting_is_explained(command: Command) -> None:
    found = command.json("explain", "tcp.receive_window")
    of_schema = chappe.schema()["properties"]["tcp"]["properties"]["receive_window"]
    (setting,) = found
    assert (setting["kind"], setting["name"]) == ("setting", "tcp.receive_window")
    assert setting["text"] in of_schema["description"]
    facts = setting["facts"]
    assert (facts["default"], facts["unit"]) == (str(of_schema["default"]), "segments")
    assert facts["type"] == f"whole number, {of_schema['minimum']} to {of_schema['maximum']}"
    of_preset = chappe.Scenario({"extends": "ns2-2.35", "run.stop": "1 s"}).settings["tcp"]["receive_window"]
    assert facts["presets"]["ns2-2.35"] == of_preset
    (place,) = explain("flow.3.tcp.receive_window")
    assert (place.name, place.facts.get("default", "")) == ("flow.N.tcp.receive_window", "")
    assert "No effect if the congestion control is not `vegas`." in command("explain", "tcp.vegas.alpha")[1]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("vegas", ["word"]),
        ("tcp.variant=vegas", ["word"]),
        ("tcp.vegas", ["group"]),
        ("flow", ["group"]),
        ("flow.0.dst", ["setting"]),
        ("nodes", ["table"]),
        ("flows.timeouts", ["column"]),
        ("jain_index", ["measure", "column"]),
    ],
)
def test_senses_of_a_name(name: str, kinds: list[str]) -> None:
    assert list(dict.fromkeys(e.kind for e in explain(name)))[: len(kinds)] == kinds


def test_a_group_lists_the_groups_below_it(command: Command) -> None:
    """With their first sentences, one level down: a member of a list is no group of its own."""
    (group, *_) = explain("tcp")
    below = group.facts["groups"]
    assert below["tcp.ecn"] == "Explicit congestion notification."
    assert below["tcp.rto"] == "Estimation of the retransmission timeout."
    assert {"tcp.receive_buffer", "tcp.reader", "tcp.vegas"} < set(below)
    assert "tcp.vegas.ns2" not in below
    assert explain("tcp.vegas")[0].facts["groups"] == {"tcp.vegas.ns2": "Defects of the Vegas agent of ns-2.35."}
    assert "wlan.link_rate.N" in explain("wlan")[0].facts["groups"]
    assert "groups" not in explain("flow")[0].facts
    assert list(explain("arrival_process")[0].facts["groups"]) == ["arrival_process.N.size"]
    assert "tcp.hop_limit" in command("explain", "tcp")[1]


def test_a_group_shows_the_settings_of_every_day_first(command: Command) -> None:
    (group, *_) = explain("queue")
    assert group.facts["everyday"] == ["queue.discipline", "queue.limit", "queue.ecn"]
    expert = group.facts["expert"]
    assert "queue.purge" in expert
    printed = command("explain", "queue")[1]
    assert f"{len(expert)} more: `chappe explain queue --all`" in printed
    assert "queue.limit" in printed
    assert "queue.purge" not in printed
    assert "queue.purge" in command("explain", "queue", "--all")[1]
    # A group without any is shown in full.
    assert "tcp.vegas.alpha" in command("explain", "tcp.vegas")[1]
    assert explain("queue.limit")[0].facts["level"] == "everyday"


def test_unknown_names_get_suggestions(command: Command) -> None:
    for name, near in (
        ("tcp.receive_windw", "tcp.receive_window"),
        ("goodput_bs", "goodput_bps"),
        ("alpha", "tcp.vegas.alpha"),
    ):
        code, out, err = command("explain", name)
        assert (code, out) == (2, "")
        assert near in err
    assert suggestions("qqqqqqqq") == []
    assert "`chappe explain --list` lists the models" in command("explain", "qqqqqqqq")[2]


# ---- completion ----


def completed(script: Path, *words: str) -> list[str]:
    """Completions that a bash offers for the last word."""
    bash = (
        f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; '
        '_shtab_chappe; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", bash, "bash", "chappe", *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "chappe.bash"
    script.write_text(command("completion", "bash")[1])
    assert completed(script, "s") == ["sweep", "show"]
    # Old names are not offered.
    assert completed(script, "m") == []
    assert completed(script, "run", "--s") == ["--set", "--seed"]
    assert completed(script, "export", "") == ["mobility", "mahimahi"]
    assert completed(script, "run", "a.toml", "--set", "tcp.vegas.al") == ["tcp.vegas.alpha"]
    assert completed(script, "sweep", "a.toml", "--axis", "tcp.vegas.al") == ["tcp.vegas.alpha"]
    assert completed(script, "explain", "goodput_") == ["goodput_bps"]
    assert completed(script, "show", "--measure", "jain") == ["jain_index", "jain_index_of_batches"]
    assert completed(script, "export", "mobility", "a.toml", "--format", "b") == ["bonnmotion"]
    assert completed(script, "completion", "z") == ["zsh"]
    assert completed(script, "run", "a.t") == ["a.toml"]
    assert completed(script, "check", "a.toml", "b") == ["bad.toml"]


def test_bash_reads_the_script_of_the_installed_command(tmp_path: Path) -> None:
    chappe_ = Path(CHAPPE[0]).parent / "chappe"
    bash = f'source <("{chappe_}" completion bash) && complete -p chappe'
    done = subprocess.run(["bash", "--norc", "-c", bash], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "-F _shtab_chappe chappe" in done.stdout


@pytest.mark.parametrize("shell", options.SHELLS)
def test_each_shell_has_a_script(command: Command, shell: str) -> None:
    code, out, err = command("completion", shell)
    assert (code, err) == (0, "")
    for name in ("mobility", "bonnmotion", "goodput_bps", "tcp.vegas.alpha"):
        assert name in out


# ---- the page ----


def test_the_page_has_every_command_and_option() -> None:
    page = (REPOSITORY / "docs" / "commands.md").read_text(encoding="utf-8")
    commands, names = set(), set()
    for name, parser in _parsers(options.parser()):
        commands.add(name)
        names |= {o for a in parser._actions for o in a.option_strings}
    assert {name for name in commands if f"| `{name}" not in page} == set()
    assert {name for name in names if f"`{name}" not in page} == set()


def _parsers(parser: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Parsers of commands."""
    for action in parser._actions:
        for name, inner in (action.choices if isinstance(action, argparse._SubParsersAction) else {}).items():
            nested = list(_parsers(inner, f"{prefix}{name} "))
            yield from nested or [(f"{prefix}{name}", inner)]


def test_options_are_not_abbreviated() -> None:
    for name, parser in _parsers(options.parser()):
        assert not parser.allow_abbrev, name


def test_short_options() -> None:
    found = options.parser().parsed(["sweep", "a.toml", "-s", "a=1", "-j", "2", "-q", "-o", "d"])
    assert (found.sets, found.jobs, found.quiet, found.out) == (["a=1"], 2, True, "d")
    assert re.fullmatch(r"chappe \S+ \(results epoch \d+\)", _version())


def _version() -> str:
    done = subprocess.run([*CHAPPE, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()
