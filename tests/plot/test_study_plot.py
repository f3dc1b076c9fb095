"""Figures of a study show its summary, and no mean over an axis."""

from pathlib import Path

import chappe
import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="module")
def study() -> chappe.Study:
    base = chappe.Scenario({"extends": "ns2-2.35", "run.stop": "330 delivered", "tcp.receive_window": 16})
    axes = {"topology.hops": [4, 2], "tcp.variant": ["newreno", "vegas"], "topology.spacing": ["200 m", "150 m"]}
    return chappe.sweep(base, axes, seeds=3)


def test_the_wished_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    base = chappe.Scenario({"extends": "ns2-2.35", "run.stop": "1100 delivered", "tcp.receive_window": 16})
    study = chappe.sweep(base, {"topology.hops": [2, 4, 8], "tcp.variant": ["newreno", "sack", "vegas"]}, seeds=5)
    assert len(study.compare("goodput_bps", "tcp.variant", baseline="newreno")) == 6
    study.plot("topology.hops", "goodput_bps", by="tcp.variant").savefig("goodput.svg")
    assert Path("goodput.svg").read_text().startswith("<?xml")


def test_a_figure_shows_the_summary(study: chappe.Study) -> None:
    figure = study.plot("topology.hops", "goodput_bps", by="tcp.variant", where={"topology.spacing": "150 m"})
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("topology.hops", "goodput [kbit/s]")
    assert figure.get_suptitle() == "goodput by tcp.variant (95 % intervals), topology.spacing = 150 m"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["newreno", "vegas"]
    for container, variant in zip(axes.containers, ["newreno", "vegas"], strict=True):
        rows = study.summary("goodput_bps").filter(
            pl.col("topology.spacing") == "150 m", pl.col("tcp.variant") == variant
        )
        rows = rows.sort("topology.hops")
        line, _, (bars,) = container
        assert np.asarray(line.get_xdata()).tolist() == [2, 4]
        assert np.asarray(line.get_ydata()) == pytest.approx(rows["estimate"].to_numpy() / 1e3)
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert ends == pytest.approx(rows.select("ci_low", "ci_high").to_numpy() / 1e3)


def test_panels_quantities_and_words(study: chappe.Study) -> None:
    figure = study.plot("topology.spacing", by="tcp.variant", across="topology.hops")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["topology.hops = 4", "topology.hops = 2"]
    assert figure.axes[0].get_xlabel() == "topology.spacing [m]"
    assert np.asarray(figure.axes[0].containers[0][0].get_xdata()).tolist() == [150, 200]
    bars = study.plot("tcp.variant", by="topology.hops", where={"topology.spacing": "150 m"}).axes[0]
    assert [label.get_text() for label in bars.get_xticklabels()] == ["newreno", "vegas"]
    rows = study.summary().filter(pl.col("topology.spacing") == "150 m")
    heights = {round(patch.get_height(), 6) for patch in bars.patches}  # type: ignore[attr-defined]  # they are bars
    assert heights == {round(value / 1e3, 6) for value in rows["estimate"]}


def test_several_measures_have_panels(study: chappe.Study) -> None:
    where = {"topology.spacing": "200 m"}
    figure = study.plot("topology.hops", ["goodput_bps", "mean_rtt_s"], by="tcp.variant", where=where)
    assert [axes.get_ylabel() for axes in figure.axes] == ["goodput [kbit/s]", "round-trip time [ms]"]
    rows = study.summary("mean_rtt_s").filter(pl.col("topology.spacing") == "200 m")
    drawn = {round(float(y), 9) for line in figure.axes[1].get_lines() for y in np.asarray(line.get_ydata())}
    assert {round(1e3 * y, 9) for y in rows["estimate"]} <= drawn


def test_one_seed_is_drawn_with_its_batches() -> None:
    one = chappe.sweep(chappe.Scenario.chain(1, stop="110 delivered"), {"tcp.receive_window": [1, 2]})
    assert len(one.plot("tcp.receive_window").axes) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": "topology.hops"}, "the points differ in tcp.variant, topology.spacing, too, and a figure takes no mean"),
        ({"x": "topology.hops", "by": "tcp.variant"}, r"such as where=\{'topology.spacing': '200 m'\}"),
        ({"x": "hops"}, "'hops' is not an axis; the axes are topology.hops, tcp.variant, topology.spacing"),
        ({"x": "topology.hops", "by": "topology.hops"}, "'topology.hops' has two places in the figure"),
        ({"x": "topology.hops", "where": {"topology.hops": 2}}, "'topology.hops' has two places in the figure"),
        (
            {"x": "topology.hops", "where": {"tcp.variant": "sack"}},
            "no point has tcp.variant = 'sack'; known: newreno, vegas",
        ),
        ({"x": "topology.hops", "where": {"tcp.mss": 3}}, "'tcp.mss' is not an axis"),
        ({"x": "topology.hops", "measure": "goodput"}, "there is no measure 'goodput'"),
        (
            {"measure": ["goodput_bps", "mean_rtt_s"], "by": "tcp.variant", "across": "topology.spacing"},
            "several measures have a panel each: plot one of them across topology.spacing",
        ),
    ],
)
def test_refused_figures(study: chappe.Study, arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        study.plot(**arguments)  # type: ignore[arg-type]  # a mixture


def test_too_many_curves() -> None:
    many = chappe.sweep(
        chappe.Scenario.chain(1, stop="110 delivered"),
        {"tcp.receive_window": list(range(1, 14)), "topology.hops": [1, 2]},
    )
    with pytest.raises(ValueError, match="at most 12 curves in each of 12 panels, and this one would have 13 in 1"):
        many.plot("topology.hops", by="tcp.receive_window")
