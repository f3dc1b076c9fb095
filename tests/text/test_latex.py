"""Tables as LaTeX: the numbers of the tables, in columns that siunitx aligns."""

import re
from pathlib import Path

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.study import Study
from chappe.text import latex
from chappe.text.labels import in_words

AXES = {"tcp.variant": ["newreno", "vegas"], "topology.hops": [1, 4]}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    chain = chappe.Scenario.chain(2, {"run.stop": "2 s"})
    return chappe.sweep(chain, AXES, seeds=4, out=tmp_path_factory.mktemp("study"))


def _rows(text: str) -> list[list[str]]:
    """Cells of the body of a table."""
    body = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
    return [[cell.strip() for cell in line.removesuffix(" \\\\").split(" & ")] for line in body.splitlines()]


def _columns(text: str) -> list[str]:
    """Forms of the columns."""
    return re.findall(r"S\[table-format=[-\d.]+\]|l", text.split("\\begin{tabular}")[1].splitlines()[0])


def test_a_summary_has_both_ends_of_each_interval(study: Study) -> None:
    rows = study.summary()
    text = latex(rows)
    cells = _rows(text)
    assert len(cells) == len(rows)
    assert all(len(row) == len(_columns(text)) for row in cells)
    for row, of in zip(cells, rows.to_dicts(), strict=True):
        assert row[:2] == [of["tcp.variant"], str(of["topology.hops"])]
        half = (of["ci_high"] - of["ci_low"]) / 2 / 1e3
        for cell, name in zip(row[2:5], ("estimate", "ci_low", "ci_high"), strict=True):
            assert abs(float(cell) - of[name] / 1e3) <= max(0.05 * half, 1e-3 * of[name] / 1e3)
    assert "{goodput (kbit/s)}" in text
    assert "few runs: fewer than 14 runs" in text


def test_columns_have_room_for_all_digits(study: Study) -> None:
    text = latex(study.summary(["goodput_bps", "mean_delay_s"]))
    assert {row[2] for row in _rows(text)} == {"goodput (kbit/s)", "one-way delay (ms)"}
    for column, form in enumerate(_columns(text)):
        if room := re.search(r"=(-?)(\d)\.(\d)", form):
            for row in _rows(text):
                whole, _, part = row[column].lstrip("-").partition(".")
                assert len(whole) <= int(room[2])
                assert len(part) <= int(room[3])


def test_a_comparison_and_a_ranking_name_their_measure(study: Study) -> None:
    compared = study.compare("goodput_bps", "tcp.variant", baseline="newreno")
    text = latex(compared, "goodput_bps", labels={"newreno": "NewReno & others", "tcp.variant": "sender"})
    assert r"{NewReno \& others}" in text
    assert "hops & sender &" in text or "sender & hops &" in text
    differences = [row[4] for row in _rows(text)]
    assert [float(d) for d in differences] == pytest.approx([100 * d for d in compared["relative"]], abs=1)
    ranked = study.rank("goodput_bps", ["tcp.variant"])
    assert [row[6] for row in _rows(latex(ranked, "goodput_bps"))] == ranked["letters"].to_list()
    for table in (compared, ranked):
        with pytest.raises(ValueError, match="name the measure"):
            latex(table)
    with pytest.raises(ValueError, match="no summary, curve, comparison or ranking"):
        latex(pl.DataFrame({"a": [1]}))


def test_a_curve_says_what_is_best() -> None:
    chain = chappe.Scenario.chain(2, {"run.stop": "2 s"})
    found = chappe.search(chain, "tcp.receive_window", low=1, high=4, seeds=2, max_points=9)
    notes = [row[-2] for row in _rows(latex(found.curve(), "goodput_bps"))]
    assert sum(note.startswith("best") for note in notes) == found.curve()["is_best"].sum() == 1


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("tcp.congestion_control", "congestion control"),
        ("tcp.variant", "TCP variant"),
        ("queue.limit", "queue limit"),
        ("topology.hops", "hops"),
        ("flow.0.tcp.variant", "TCP variant"),
        ("case", "case"),
    ],
)
def test_settings_in_words(setting: str, words: str) -> None:
    assert in_words(setting) == words


def test_the_commands(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(study.folder)
    assert cli.main(["compare", folder, "--by", "tcp.variant", "--latex", "--label", "vegas=Vegas"]) == 0
    assert "& Vegas &" in capsys.readouterr().out
    assert cli.main(["rank", folder, "--by", "tcp.variant", "--latex"]) == 0
    assert capsys.readouterr().out == latex(study.rank("goodput_bps", ["tcp.variant"]), "goodput_bps")
    assert cli.main(["show", folder, "--latex"]) == 0
    assert capsys.readouterr().out == latex(study.summary())
    assert cli.main(["show", folder, "--label", "vegas=Vegas"]) == 2
    assert "--label is for --latex" in capsys.readouterr().err


def test_show_prints_the_measures_of_the_study_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "chain.toml").write_text(chappe.Scenario.chain(2, {"run.stop": "2 s"}).to_toml(), encoding="utf-8")
    folder = str(tmp_path / "study")
    asked = ["--measure", "mean_delay_s", "--measure", "late = sum(flows.timeouts) / sum(flows.packets_sent)"]
    assert cli.main(["sweep", str(tmp_path / "chain.toml"), "--seeds", "2", *asked, "--out", folder, "-q"]) == 0
    capsys.readouterr()
    assert cli.main(["show", folder, "--csv"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["mean_delay_s", "late"]
    chappe.sweep(str(tmp_path / "chain.toml"), seeds=3, out=folder)
    assert Study(folder)._asked == ["goodput_bps"], "another study forgets what the first one was asked for"
    assert cli.main(["compare", folder, "--latex"]) == 2, "there is no axis"
    capsys.readouterr()
    (tmp_path / "study" / "asked.json").write_text("{", encoding="utf-8")
    assert cli.main(["show", folder]) == 2
    assert "run the study again" in capsys.readouterr().err


def test_words_of_a_study_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "chain.toml").write_text(chappe.Scenario.chain(2, {"run.stop": "2 s"}).to_toml(), encoding="utf-8")
    text = """
    scenario = "chain.toml"
    seeds = 2
    labels = { tcp.variant = "sender", vegas = "Vegas", "unused" = "nothing" }
    [axes]
    tcp.variant = ["newreno", "vegas"]
    """
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    folder = str(tmp_path / "study")
    assert cli.main(["sweep", str(tmp_path / "study.toml"), "--out", folder, "-q"]) == 0
    capsys.readouterr()
    assert cli.main(["show", folder, "--latex", "--label", "newreno=NewReno"]) == 0
    out = capsys.readouterr().out
    assert "sender & " in out
    assert [row[0] for row in _rows(out)] == ["NewReno", "Vegas"]
    assert Study(folder).plot().axes[0].get_xlabel() == "sender"
    assert cli.main(["show", folder, "--latex", "--label", "reno=Reno"]) == 2
    assert "--label: no setting and no value shown is named reno" in capsys.readouterr().err
    (tmp_path / "wrong.toml").write_text(text.replace('"Vegas"', "3"), encoding="utf-8")
    assert cli.main(["sweep", str(tmp_path / "wrong.toml"), "--out", folder, "-q"]) == 2
    assert "`labels.vegas` cannot be 3" in capsys.readouterr().err
