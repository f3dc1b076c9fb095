"""Figures of runs over time, maps of scenarios, and what notebooks show: the numbers of the tables, and errors."""

import re
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.expressions.reductions import intervals
from chappe.plot.runs import KINDS
from command import REPOSITORY

CHAIN = {
    "extends": "ns2-2.35",
    "topology.hops": 2,
    "run.stop": "10 s",
    "run.record": ["cwnd", "queue", "energy"],
    "run.sample_interval": "500 ms",
    "radio.energy.battery": "100 J",
    "radio.energy.transmit": "1 W",
}


@pytest.fixture(scope="module")
def results() -> chappe.Results:
    return chappe.run(CHAIN)


def test_a_window_keeps_its_value_until_the_next(results: chappe.Results) -> None:
    (axes,) = results.plot("cwnd", from_s=1.0, until_s=4.0).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time [s]", "cwnd [segments]")
    assert axes.get_xlim() == (1.0, 4.0)
    (line,) = axes.lines
    times, windows = (np.asarray(values).tolist() for values in line.get_data())
    rows = results.recorded["cwnd"].sort("time_s", maintain_order=True)
    for at in (1.5, 2.5, 3.9):
        drawn = [w for t, w in zip(times, windows, strict=True) if t <= at][-1]
        assert drawn == [w for t, w in rows.select("time_s", "cwnd_segments").rows() if t <= at][-1]


def test_queues_and_batteries_of_each_node(results: chappe.Results) -> None:
    (axes,) = results.plot("queue").axes
    assert len(axes.lines) == results.recorded["queue"]["node"].n_unique()
    highest = max(float(np.max(line.get_ydata())) for line in axes.lines)
    assert highest == results.recorded["queue"]["packets"].max()
    (axes,) = results.plot("energy", only=[1]).axes
    (line,) = axes.lines
    left = results.recorded["energy"].filter(node=1)["remaining_j"].to_list()
    assert np.asarray(line.get_ydata()).tolist() == left


def test_several_queues_of_a_node_are_added() -> None:
    wired = chappe.run({"topology.kind": "none", "topology.wired_nodes": 3, "run.stop": "5 s", "run.record": ["queue"],
                        "wired_link": [{"src": 0, "dst": 1}, {"src": 1, "dst": 2}],
                        "flow": [{"src": 0, "dst": 2}, {"src": 2, "dst": 0}]})  # fmt: skip
    rows = wired.recorded["queue"].filter(node=1)
    assert rows["wired_dst"].n_unique() == 2
    lengths: dict[int, int] = {}
    most = 0
    for to, packets in rows.select("wired_dst", "packets").rows():
        lengths[to] = packets
        most = max(most, sum(lengths.values()))
    (axes,) = wired.plot("queue", only=[1]).axes
    assert float(np.max(axes.lines[0].get_ydata())) == most


def test_goodput_is_that_of_the_batches() -> None:
    results = chappe.run({name: value for name, value in CHAIN.items() if name != "run.sample_interval"})
    (axes,) = results.plot().axes
    assert np.asarray(axes.lines[0].get_ydata()) == pytest.approx(results.flow_batches["goodput_bps"].to_numpy() / 1e3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"what": "quue"}, f"there is no figure 'quue'; known: {', '.join(KINDS)}"),
        ({"what": "cwnd", "only": [3]}, "there is no flow 3 in this figure; known: 0"),
        ({"from_s": 5.0, "until_s": 2.0}, "a figure from 5 s until 2 s has no time: the run lasts 10 s"),
    ],
)
def test_errors(results: chappe.Results, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        results.plot(**arguments)  # type: ignore[arg-type]  # a mixture


def test_what_was_not_recorded_is_said() -> None:
    plain = chappe.run(chappe.Scenario.chain(1, stop="110 delivered"))
    for what in ("cwnd", "queue", "energy", "rtt"):
        with pytest.raises(ValueError, match=r"was not recorded: run with --set run\.record="):
            plain.plot(what)
    without = chappe.run(chappe.Scenario.chain(1, {"run.record": ["energy"]}, stop="110 delivered"))
    with pytest.raises(ValueError, match="there is nothing to draw: the table of energy has no rows"):
        without.plot("energy")


def test_the_map_has_all_nodes_and_flows() -> None:
    scenario = chappe.Scenario.load(REPOSITORY / "scenarios" / "cross.toml")
    (axes,) = scenario.plot().axes
    circles = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(circles) == len(scenario.nodes)
    assert f"{len(scenario.flows)} flows, whose route a protocol finds" in [text.get_text() for text in axes.texts]
    wires = {"topology": {"kind": "none", "wired_nodes": 2}, "wired_link": [{"src": 0, "dst": 1}]}
    wired = chappe.Scenario({"run.stop": "1 s", **wires, "flow": [{"src": 0, "dst": 1}]})
    with pytest.raises(ValueError, match="there is no map: no node has a radio"):
        wired.plot()


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    chain = str(REPOSITORY / "scenarios" / "chain.toml")
    assert cli.main(["draw", chain]) == 0
    assert Path("results/chain.svg").read_text().startswith("<?xml")
    short = ["--set", "run.stop=1100 delivered", "-q"]
    assert cli.main(["run", chain, *short, "--out", "run"]) == 0
    assert cli.main(["plot", "run", "-o", "goodput.png"]) == 0
    study = ["--axis", "topology.hops=1,2", "--axis", "tcp.variant=newreno,vegas", "--seeds", "2"]
    assert cli.main(["sweep", chain, *study, *short, "--out", "study"]) == 0
    assert cli.main(["plot", "study", "--where", "tcp.variant=vegas", "-o", "study.pdf", "--json"]) == 0
    assert '"study.pdf"' in capsys.readouterr().out
    assert {p.name for p in tmp_path.iterdir()} >= {"goodput.png", "study.pdf"}
    Path("empty").mkdir()
    Path("study.toml").write_text(f"scenario = '{chain}'\nseeds = 2\n")
    for wrong, message in (
        (["plot", "study"], "takes no mean over an axis"),
        (["plot", "study", "--where", "tcp.variant=vega"], "no point has tcp.variant = vega; known: newreno, vegas"),
        (["plot", "study", "--where", "hops"], "give an axis and a value, such as tcp.variant=vegas"),
        (
            ["plot", "study", "--what", "cwnd"],
            "--what is for runs and scenario files, and study has a study: --measure",
        ),
        (["plot", "study", "--variant", "vegas"], "--variant is for scenario files, and study has a study"),
        (["plot", "run", "--set", "tcp.mss=1 kB"], "--set is for scenario files, and run has a run, which is not"),
        (["plot", "run", "--data", "a.csv"], "--data is for scenario files, and run has a run"),
        (["plot", chain, "--measure", "goodput_bps"], "chain.toml is a scenario: --what chooses its figure"),
        (["plot", chain, "--variant", "vegas"], "--variant is for --what cwnd, and --what is goodput"),
        (["plot", chain, "--what", "rtt", "--data", "a.csv"], "--data is for --what cwnd, and --what is rtt"),
        (
            ["plot", chain, "--what", "air", "-s", "run.stop=10 s", "--from", "12 s"],
            "a figure from 12 s until 10 s has",
        ),
        (["plot", chain, "--what", "x"], "there is no figure 'x'; known: goodput, cwnd, rtt, queue, energy, air"),
        (["plot", "study.toml"], "study.toml is a study: use `chappe sweep study.toml`"),
        (["plot", ""], "PATH names no folder"),
        (["plot", "run", "-x", "topology.hops"], "-x is for studies, and run has a run"),
        (["plot", "run", "-o", "a.txt"], "a figure is an SVG, PNG or PDF file, and a.txt has none of these endings"),
        (["plot", "nowhere"], "there is no nowhere: name the folder of a run or a study, or a scenario file"),
        (["plot", "empty"], "empty has neither a run nor a study"),
        (["plot", "run", "--from", "9"], "--from: "),
    ):
        assert cli.main(wrong) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("what", ["goodput", "rtt", "queue", "air"])
def test_a_scenario_is_run_and_plotted(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure is that of a run which recorded what it needs."""
    monkeypatch.chdir(tmp_path)
    Path("chain.toml").write_text(chappe.Scenario(CHAIN).to_toml())
    until = ["--until", "3 s"]
    assert cli.main(["plot", "chain.toml", "--what", what, "--seed", "2", *until, "-q"]) == 0
    chappe.run({**CHAIN, "run.seed": 2, "run.record": ["cwnd", "queue", "frames"]}, out="run")
    assert cli.main(["plot", "run", "--what", what, *until, "-q", "-o", "again.svg"]) == 0
    assert Path(f"results/chain-{what}.svg").read_bytes() == Path("again.svg").read_bytes()


def test_the_air_has_a_bar_for_each_frame() -> None:
    results = chappe.run({**CHAIN, "run.record": ["frames"], "topology.hops": 3})
    rows = results.recorded["frames"]
    shown = rows.filter(pl.col("time_s") + pl.col("airtime_s") > 2, pl.col("time_s") < 2.2)
    figure = results.plot("air", from_s=2, until_s=2.2)
    (axes,) = figure.axes
    assert axes.get_xlim() == (2, 2.2)
    senders = shown["src"].unique().sort().to_list()
    assert [label.get_text() for label in axes.get_yticklabels()] == [f"node {n}" for n in senders]
    bars: list[Any] = list(axes.patches)
    drawn = sorted((senders[round(bar.get_y() + bar.get_height() / 2)], bar.get_x(), bar.get_width()) for bar in bars)
    expected = sorted(shown.select("src", "time_s", "airtime_s").iter_rows())
    assert np.array(drawn) == pytest.approx(np.array(expected))
    kept = shown["outcome"].cast(pl.String).is_in(["received", "broadcast"])
    assert sum(bar.get_hatch() is not None for bar in bars) == (~kept).sum() > 0
    (only,) = results.plot("air", only=[2], from_s=2, until_s=2.2).axes
    assert len(only.patches) == (shown["src"] == 2).sum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a figure has at most 3,000 of 40: choose a shorter time, or some nodes"),
        ({"until_s": 1e-6}, "no frame is on the air in this time"),
        ({"until_s": 1, "only": [9]}, "node 9 sends nothing in this time; senders: 0, 1, 2"),
    ],
)
def test_airs_that_cannot_be_drawn(arguments: dict[str, Any], message: str) -> None:
    results = chappe.run({**CHAIN, "run.record": ["frames"]})
    with pytest.raises(ValueError, match=message):
        results.plot("air", **arguments)
    with pytest.raises(ValueError, match="the table frames was not recorded"):
        chappe.run(CHAIN).plot("air")


def test_goodput_over_time_is_that_of_the_samples(results: chappe.Results) -> None:
    (axes,) = results.plot("goodput").axes
    (line,) = axes.get_lines()
    found = intervals(results.samples, results.flows)
    assert np.asarray(line.get_ydata()) == pytest.approx((found["goodput_bps"] / 1e3).to_numpy())


@pytest.mark.parametrize("file", sorted((REPOSITORY / "scenarios").glob("*.toml")), ids=lambda p: p.name)
def test_notebooks_show_a_scenario_in_30_kb_without_scripts(file: Path) -> None:
    shown = chappe.Scenario.load(file)._repr_html_()
    assert len(shown) < 30_000
    assert "<script" not in shown
    assert "style" not in shown


def test_notebooks_show_results_and_studies(results: chappe.Results) -> None:
    shown = results._repr_html_()
    assert "<td>goodput</td><td>kbit/s</td>" in shown
    hostile = chappe.sweep(chappe.Scenario.chain(1, stop="110 delivered"), {"tcp.receive_window": [1, 2]})
    assert hostile._repr_html_().count("<tr>") == 3
