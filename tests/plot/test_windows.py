"""``chappe plot SCENARIO --what cwnd``: congestion windows of several variants in one scenario."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.plot import STATES
from chappe.plot.window_runs import figure, measured
from chappe.scenario.scenario import Scenario
from matplotlib.colors import to_rgba

SCENARIO = (
    'run.stop = "8 s"\ntopology.hops = 3\ntcp.receive_window = 8\nflow = [{ dst = 3 }, { dst = 1, app = "cbr" }]\n'
)
WINDOWS = ["plot", "--what", "cwnd"]
LOSSES = 'wlan.error = { model = "uniform", rate = 0.05, layer = "net", frames = "data" }\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.toml").write_text(SCENARIO + LOSSES, encoding="utf-8")
    return tmp_path / "chain.toml"


def test_each_variant_is_run_and_drawn(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    variants = ["newreno", "veno"]
    asked = [word for v in variants for word in ("--variant", v)]
    assert cli.main([*WINDOWS, str(file), *asked, "--data", "windows.csv"]) == 0
    printed = capsys.readouterr().out
    assert all(v in printed for v in variants)
    assert "Written to results/chain-cwnd.svg and windows.csv." in printed
    assert (file.parent / "results" / "chain-cwnd.svg").stat().st_size > 1000
    rows = pl.read_csv(file.parent / "windows.csv")
    assert rows["variant"].unique(maintain_order=True).to_list() == variants
    # The plotted windows equal the recorded windows of a run.
    alone = Scenario.load(file).with_settings({"tcp.variant": "veno"})
    changes = measured(alone, ["veno"], 0)
    of_veno = rows.filter(pl.col("variant") == "veno")
    assert of_veno["cwnd_segments"].to_list() == pytest.approx(changes["cwnd_segments"].to_list())
    panels = figure(changes, ["veno"], title="", end_s=8.0).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["veno"]
    steps = panels[0].get_lines()[1]
    assert np.asarray(steps.get_ydata())[:-1].tolist() == pytest.approx(changes["cwnd_segments"].to_list())


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (["tcp.variant=e_newreno"], "e_newreno"),
        (["tcp.congestion_control=westwood", "tcp.loss_recovery=sack"], "westwood+sack"),
    ],
)
def test_without_variants_that_of_the_scenario_is_drawn(file: Path, changes: list[str], name: str) -> None:
    assert cli.main([*WINDOWS, str(file), *(word for c in changes for word in ("--set", c)), "--data", "a.csv"]) == 0
    rows = pl.read_csv(file.parent / "a.csv")
    assert set(rows["variant"]) == {name}


def test_variants_replace_the_parts_that_a_scenario_names(file: Path) -> None:
    plain = Scenario.load(file)
    parts = plain.with_settings({"tcp.congestion_control": "cubic", "tcp.loss_recovery": "sack"})
    assert measured(parts, ["veno", "reno"], 0).equals(measured(plain, ["veno", "reno"], 0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--variant", "venom"], "did you mean `veno`?"),
        (["--only", "1"], "flow 1 has no congestion window"),
        (["--only", "7"], "flow 7 has no congestion window"),
        (["--only", "0", "--only", "1"], "shows one flow of a scenario"),
        (["--out", ""], "--out"),
        (["--data", "windows.txt"], "a table of windows is a CSV file, and windows.txt has another ending"),
    ],
)
def test_errors_are_reported(
    file: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*WINDOWS, str(file), *arguments]) == 2
    written = capsys.readouterr()
    assert message in written.err
    assert written.out == ""


def test_a_part_of_the_time_is_drawn(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The window at the left end is the last one before it."""
    changes = measured(Scenario.load(file), ["newreno"], 0)
    axes = figure(changes, ["newreno"], title="", begin_s=3.0, end_s=5.0).axes[0]
    assert axes.get_xlim() == (3.0, 5.0)
    steps = axes.get_lines()[1]
    x, y = np.asarray(steps.get_xdata()), np.asarray(steps.get_ydata())
    before = changes.filter(pl.col("time_s") < 3.0)
    assert x[0] == before["time_s"][-1]
    assert y[0] == before["cwnd_segments"][-1]
    assert len(x) - 2 == len(changes.filter(pl.col("time_s").is_between(3.0, 5.0)))
    assert cli.main([*WINDOWS, str(file), "--from", "3 s", "--until", "5 s", "--quiet"]) == 0
    for options, message in ((["--from", "5 s", "--until", "5 s"], "has no time"), (["--from", "soon"], "--from: ")):
        assert cli.main([*WINDOWS, str(file), *options]) == 2
        assert message in capsys.readouterr().err


LINUX = {
    "extends": "linux",
    "run": {"stop": "11 s", "batches": 1, "warmup_batches": 0},
    "topology": {"kind": "none", "wired_nodes": 2},
    "wired.error": {"model": "uniform", "rate": 0.01},
    "wired_link": [{"src": 0, "dst": 1, "rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": 50}}],
    "flow": [{"src": 0, "dst": 1}],
}


@pytest.mark.parametrize("control", ["bbr", "cubic"])
def test_states_of_linux_are_recorded_and_drawn(control: str) -> None:
    changes = measured(Scenario({**LINUX, "tcp.congestion_control": control}), [], 0)
    states = changes["recovery_state"].cast(pl.String)
    assert {"open", "disorder", "by_count"} <= set(states)
    # Null where it does not apply.
    of_bbr = ("bbr_state", "pacing_gain", "pacing_rate_bps")
    assert all((changes[name].null_count() == len(changes)) == (control == "cubic") for name in of_bbr)
    drawn = figure(changes, [f"{control}+rack_tlp"], title="", end_s=11.0)
    labels = {text.get_text() for legend in drawn.legends for text in legend.get_texts()}
    assert "recovery, losses found by count" in labels
    probes = {"pacing rate", "BBR startup", "BBR probe of the round-trip time"}
    assert labels >= probes if control == "bbr" else not labels & probes
    right = [axes for axes in drawn.axes if axes.get_ylabel() == "pacing [Mbit/s]"]
    assert len(right) == (control == "bbr")
    # A band is as long as the states that it shows.
    seconds = changes.select(pl.col("time_s").shift(-1).fill_null(11.0) - pl.col("time_s")).to_series()
    spent = float(seconds.filter(states == "by_count").sum())
    color = STATES["recovery_state"][1]["by_count"][0]
    bands = [c for c in drawn.axes[0].collections if np.allclose(np.asarray(c.get_facecolor())[0], to_rgba(color))]
    widths = [np.ptp(np.asarray(path.vertices)[:, 0]) for path in bands[0].get_paths()]
    assert sum(widths) == pytest.approx(spent)


def test_variants_without_states_have_nulls(file: Path) -> None:
    changes = measured(Scenario.load(file), ["newreno"], 0)
    names = ("recovery_state", "reordering_window_s", "bbr_state", "pacing_gain", "pacing_rate_bps")
    assert all(changes[name].null_count() == len(changes) for name in names)
