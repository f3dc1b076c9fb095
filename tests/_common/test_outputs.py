"""Commands and methods write over nothing but what Chappe wrote, and never over what they read."""

import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe._common import outputs
from command import CHAPPE, contents, environment

SCENARIO = 'run = { stop = "20 ms", batches = 2, warmup_batches = 0 }\ntopology.hops = 1\n'
MOVEMENT = "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n0,0,0,0,0,0,0\n0,1,9.50,0,9.5,0,0\n"
"""A file that somebody wrote: no program of ours writes 9.50."""
LINKS = "src,dst,signal_dbm\n0,1,-60\n1,0,-60\n"
STUDY = 'scenario = "s.toml"\nseeds = 2\n'

FOREIGN = {
    "note.txt": "what I want to keep\n",
    "page.html": "<!doctype html><title>A page of mine, about Chappe 1</title>",
    "figure.svg": '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
    "walk.csv": MOVEMENT,
    "walk.movements": "0.0 1 2 10.0 3 4\n",
    "track.txt": "0 0 0\n1 5 0\n2 10 0\n",
    "links.csv": LINKS,
    "study.toml": STUDY,
    "ns2.tcl": "# a walk\n$node_(0) set X_ 5\n$node_(0) set Y_ 5\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, a run, a study, links to the scenario, and files of somebody."""
    here = tmp_path_factory.mktemp("made")
    (here / "s.toml").write_text(SCENARIO)
    for name, text in FOREIGN.items():
        (here / name).write_text(text)
    pl.DataFrame({"mine": [1]}).write_parquet(here / "mine.parquet")
    chappe.run(here / "s.toml", out=here / "r")
    chappe.sweep(here / "s.toml", {"tcp.receive_window": [2, 4]}, seeds=2, out=here / "st", jobs=1)
    os.link(here / "s.toml", here / "hard.html")
    (here / "soft.html").symlink_to("s.toml")
    (here / "sub").mkdir()
    return here


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "here"
    shutil.copytree(made, copy, symlinks=True)
    (copy / "hard.html").unlink()
    os.link(copy / "s.toml", copy / "hard.html")
    monkeypatch.chdir(copy)
    return copy


NAMED = ("s.toml", "./sub/../s.toml", "hard.html", "soft.html", *FOREIGN, "mine.parquet", "r/run.json",
         "r/flows.parquet", "st/runs.parquet", "st/study.json", "sub", "st", ".")  # fmt: skip

COMMANDS: dict[str, list[str]] = {
    "run": ["run", "s.toml", "-q", "--report"],
    "sweep": ["sweep", "s.toml", "--seeds", "1", "-q", "-j", "1", "-o", "results/one", "--report"],
    "sweep study.toml": ["sweep", "study.toml", "-q", "-j", "1", "-o", "results/two", "--report"],
    "show": ["show", "st", "--parquet"],
    "show run": ["show", "r", "--parquet"],
    "compare": ["compare", "st", "--parquet"],
    "rank": ["rank", "st", "--parquet"],
    "teach": ["teach", "chain", "-q", "-o"],
    "draw": ["draw", "s.toml", "-q", "-o"],
    "plot": ["plot", "st", "-q", "-o"],
    "plot run": ["plot", "r", "-q", "-o"],
    "plot scenario": ["plot", "s.toml", "-q", "-o"],
    "plot windows": ["plot", "s.toml", "--what", "cwnd", "-q", "-o", "figure-of-windows.svg", "--data"],
    "export": ["export", "mobility", "s.toml", "--until", "1 s", "--path"],
    "new": ["new", "-q"],
}
"""Commands that write a file; its name is the last argument."""

FOLDERS: dict[str, list[str]] = {
    "run --out": ["run", "s.toml", "-q", "-o"],
    "run --pcap": ["run", "s.toml", "-q", "--pcap"],
    "sweep": ["sweep", "s.toml", "--seeds", "1", "-q", "-j", "1", "-o"],
    "advise": ["advise", "s.toml", "--change", "tcp.receive_window=2", "-q", "-j", "1", "-o"],
    "paper": ["paper", "zhou2004", "--quick", "--claim", "P3-F2-1", "-q", "-o"],
}
"""Commands that write a folder."""


@pytest.mark.usefixtures("with_module")
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_keep_what_is_not_theirs(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(here)
    for name in NAMED:
        assert cli.main([*COMMANDS[command], name]) == 2, name
        said = capsys.readouterr()
        assert said.err.startswith("error: "), name
        assert said.out == ""
        assert contents(here) == before, name
    assert (here / "soft.html").is_symlink()


@pytest.mark.parametrize("command", FOLDERS)
def test_commands_keep_the_folders_of_others(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {"claims.csv": "x\n", "study.json": "{}", "run.json": "{}"}.items():
        (here / f"of-{name}").mkdir()
        (here / f"of-{name}" / name).write_text(text)
    (here / "of-claims.csv" / "runs").mkdir()
    for name in ("points.parquet", "runs.parquet", "node-0.pcapng"):
        (here / f"of-{name}").mkdir()
        shutil.copy(here / "mine.parquet", here / f"of-{name}" / name)
    before = contents(here)
    for name in (".", "s.toml", *(p.name for p in sorted(here.glob("of-*")))):
        assert cli.main([*FOLDERS[command], name]) == 2, name
        assert capsys.readouterr().err.startswith("error: "), name
        assert contents(here) == before, name


@pytest.mark.usefixtures("with_module")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "new"])
def test_commands_replace_what_is_theirs(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = COMMANDS[command]
    ending = {"--parquet": ".parquet", "--path": ".anything", "--data": ".csv"}.get(options[-1], ".html")
    ending = ".svg" if options[0] in ("draw", "plot") and options[-1] == "-o" else ending
    for _ in range(2):
        assert cli.main([*options, f"sub/own{ending}"]) == 0, capsys.readouterr().err
    (here / "sub" / "link").symlink_to(f"own{ending}")
    if ending == ".svg":
        return
    # Files of Chappe are known by their content, under any name and through a link.
    assert cli.main([*options, "sub/link"]) == 0
    assert (here / "sub" / "link").is_symlink()
    assert {p.name for p in (here / "sub").iterdir()} == {"link", f"own{ending}"}
    if options[-1] != "--path":
        before = contents(here)
        assert cli.main([*options, "sub/new.toml"]) == 2
        assert f"name it sub/new{ending}" in capsys.readouterr().err
        assert contents(here) == before


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_figures_of_every_format_are_known(ending: str, here: Path) -> None:
    for _ in range(2):
        assert cli.main([*COMMANDS["draw"], f"own.{ending}"]) == 0
    chappe.Scenario.load("s.toml").plot().savefig(here / f"mine.{ending}")
    assert cli.main([*COMMANDS["draw"], f"mine.{ending}"]) == 2


@pytest.mark.parametrize("form", ["csv", "setdest", "bonnmotion"])
def test_movements_that_a_scenario_reads_are_kept(form: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that Chappe wrote itself."""
    ways = ["export", "mobility", "s.toml", "--until", "1 s", "--format", form, "--path", "ways"]
    assert cli.main(ways) == 0
    assert cli.main(ways) == 0
    (here / "below.toml").write_text('topology.kind = "motion"\nmobility = { model = "file", file = "ways" }\n')
    (here / "m.toml").write_text('extends = "below.toml"\nrun.stop = "1 s"\nflow = [{ src = 0, dst = 1 }]\n')
    before = contents(here)
    (here / "same").symlink_to("ways")
    for name in ("ways", "sub/../ways", "same", "m.toml", "below.toml"):
        assert cli.main(["export", "mobility", "m.toml", "--path", name]) == 2
        assert "is itself read for this" in capsys.readouterr().err
        with pytest.raises(FileExistsError, match="is itself read for this"):
            chappe.Scenario.load("m.toml").with_settings({"tcp.variant": "vegas"}).write_mobility(name)
    (here / "same").unlink()
    assert contents(here) == before


def test_methods_keep_what_is_not_theirs(here: Path) -> None:
    results, study = chappe.open("r"), chappe.open("st")
    scenario = chappe.Scenario.load("s.toml")
    before = contents(here)
    write: list[Callable[[str], None]] = [
        results.report,
        study.report,
        lambda name: scenario.write_mobility(name, until=1),
    ]
    for method in write:
        for name in (*FOREIGN, "s.toml", "hard.html", "soft.html", "mine.parquet"):
            with pytest.raises(FileExistsError, match=r"delete this one first|is itself read for this"):
                method(name)
    for method in write[:2]:
        with pytest.raises(outputs.EndingError, match=r"a report is an HTML file, and new\.txt has another ending"):
            method("new.txt")
    assert contents(here) == before


def test_a_run_keeps_the_scenario_that_it_reads(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = ["run", "r/scenario.toml", "-q", "-o", "r"]
    assert cli.main(again) == 0  # the same scenario
    before = contents(here)
    assert cli.main([*again, "-s", "tcp.variant=vegas"]) == 2
    assert "r/scenario.toml is itself read for this" in capsys.readouterr().err
    other = chappe.Scenario.load("r/scenario.toml", {"tcp.variant": "vegas"})
    with pytest.raises(FileExistsError, match="is itself read for this"):
        chappe.run(other, out="r")
    with pytest.raises(FileExistsError, match="is itself read for this"):
        chappe.run(other).save("r")
    assert contents(here) == before
    results = chappe.open("r")
    assert isinstance(results, chappe.Results)
    results.save("r")


def test_devices_are_written_and_stay(here: Path) -> None:
    assert cli.main([*COMMANDS["run"], "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
    done = subprocess.run(
        [*CHAPPE, *COMMANDS["export"], "/dev/stdout"], cwd=here, env=environment(), capture_output=True, check=True
    )
    assert done.stdout.startswith(b"time_s,node,")


@pytest.mark.parametrize("limit", [0, 1_000, 50_000])
def test_a_limit_leaves_no_empty_capture(limit: int, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, known = resource.getrlimit(resource.RLIMIT_FSIZE), contents(here)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        assert cli.main(["run", "s.toml", "-s", "run.stop=2 s", "-q", "--pcap", "pcap"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot write to pcap: file too large" in capsys.readouterr().err
    assert contents(here) == known
    assert not (here / "pcap").exists()
