"""Figures of a study show its summary, and no mean over an axis."""

from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli, plot

FONT_TYPE = plot.STYLE["pdf.fonttype"]
"""Kind of embedded fonts, which other tests replace by a faster one."""


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
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hops", "goodput [kbit/s]")
    assert figure.get_suptitle() == "goodput by TCP variant (95 % intervals), spacing = 150 m"
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
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["hops = 4", "hops = 2"]
    assert figure.axes[0].get_xlabel() == "spacing [m]"
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


def test_words_and_width_for_print(study: chappe.Study) -> None:
    labels = {"tcp.variant": "sender", "newreno": "NewReno", "topology.hops": "number of hops"}
    where = {"topology.spacing": "200 m"}
    figure = study.plot("topology.hops", by="tcp.variant", where=where, labels=labels, title="", width_in=3.5)
    assert figure.get_figwidth() == 3.5
    assert figure.get_suptitle() == ""
    assert figure.axes[0].get_xlabel() == "number of hops"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["NewReno", "vegas"]
    narrow = study.plot("topology.hops", by="tcp.variant", across="topology.spacing", width_in=3.5)
    assert len({axes.get_position().x0 for axes in narrow.axes}) == 1, "panels stand below each other"
    with pytest.raises(ValueError, match=r"no setting and no value shown is named reno; known: .*newreno"):
        study.plot("topology.hops", by="tcp.variant", where=where, labels={"reno": "Reno"})


def test_differences_have_the_intervals_of_the_comparison(study: chappe.Study) -> None:
    where = {"topology.spacing": "200 m"}
    figure = study.plot(by="tcp.variant", compare="newreno", where=where, within=0.1)
    (axes,) = figure.axes
    rows = study.compare("goodput_bps", "tcp.variant", baseline="newreno", within=0.1)
    rows = rows.filter(pl.col("topology.spacing") == "200 m").sort("topology.hops")
    (container,) = axes.containers
    _, _, (bars,) = container
    drawn = [segment[:, 1] for segment in bars.get_segments() if len(segment)]
    known = rows.drop_nulls(["relative_ci_low", "relative_ci_high"])
    assert np.array(drawn) == pytest.approx(100 * known.select("relative_ci_low", "relative_ci_high").to_numpy())
    assert [text.get_text() for text in axes.texts] == ["no interval"] * (len(rows) - len(known))
    assert axes.get_ylabel() == "goodput: difference [%]"
    assert axes.get_xlabel() == "hops"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["vegas", "the same as newreno within 10 %"]
    everything = {"topology.spacing": "200 m", "topology.hops": 2}
    (alone,) = study.plot(by="tcp.variant", compare="newreno", where=everything).axes
    assert [label.get_text() for label in alone.get_xticklabels()] == ["vegas"]
    assert not alone.patches[1:], "no bars"


def test_the_command_for_print(
    study: chappe.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(plot.STYLE, "pdf.fonttype", FONT_TYPE)
    figure, data = str(tmp_path / "differences.pdf"), str(tmp_path / "differences.csv")
    options = ["--by", "tcp.variant", "--where", "topology.spacing=150 m", "-o", figure, "--data", data]
    command = ["plot", str(study.folder), *options]
    assert cli.main([*command, "--compare", "newreno", "--width", "9 cm", "--title", "", "--label", "vegas=Vegas"]) == 0
    assert b"/FontFile2" in Path(figure).read_bytes(), "fonts are embedded"
    rows = study.compare("goodput_bps", "tcp.variant", baseline="newreno").filter(pl.col("topology.spacing") == "150 m")
    assert Path(data).read_text(encoding="utf-8") == rows.write_csv()
    assert cli.main(command) == 0
    rows = study.summary().filter(pl.col("topology.spacing") == "150 m")
    assert Path(data).read_text(encoding="utf-8") == rows.write_csv(), "its own earlier numbers are replaced"
    capsys.readouterr()
    for wrong, message in (
        (["--compare", "sack"], "--compare: no point has tcp.variant = sack; known: newreno, vegas"),
        (["--within", "5 %"], "--within is for --compare"),
        (["--label", "reno=Reno"], "no setting and no value shown is named reno"),
    ):
        assert cli.main([*command, *wrong]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main([*command, "--width", "3.5"])
    assert "a width has a unit (in, cm, mm) and is at most 40 in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"within": 0.1}, "within has no effect without compare"),
        ({"width_in": float("nan")}, "width_in is from 1 to 40 in, not nan"),
        ({"width_in": 1e9}, "width_in is from 1 to 40 in"),
        ({"compare": "newreno"}, "compare is for one measure and the axis by"),
        ({"compare": "newreno", "by": "tcp.variant"}, "the points differ in"),
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width_in": "3"}, "width_in is a number of inches, not '3'"),
        ({"title": 3}, "title is a text, not 3"),
        ({"labels": "newreno"}, "labels are texts by name, not 'newreno'"),
        ({"labels": {"newreno": 3}}, "labels are texts by name"),
    ],
)
def test_arguments_of_other_types(study: chappe.Study, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        study.plot(by="tcp.variant", where={"topology.spacing": "150 m"}, **arguments)


def test_too_many_curves() -> None:
    many = chappe.sweep(
        chappe.Scenario.chain(1, stop="110 delivered"),
        {"tcp.receive_window": list(range(1, 14)), "topology.hops": [1, 2]},
    )
    with pytest.raises(ValueError, match="at most 12 curves in each of 12 panels, and this one would have 13 in 1"):
        many.plot("topology.hops", by="tcp.receive_window")
