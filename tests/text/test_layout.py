"""Tables fit terminals of 60, 80 and 120 columns without cutting headers or numbers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from chappe import cli
from chappe import text as printing
from chappe.printing import problems
from chappe.text.layout import Table
from command import CHAPPE
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from terminal import Terminal

WIDTHS = (60, 80, 120)


def whole(t: Table, width: int) -> None:
    """Checks that no line is too wide, and that every name and cell is printed."""
    lines = [line.text for line in t.lines(width)]
    longest = max((cell_len(w) for w in " ".join([*t.columns, *(c for row in t.rows for c in row)]).split()), default=0)
    assert max(map(cell_len, lines), default=0) <= max(width, longest + 2), (width, lines)
    text = "\n".join(lines)
    for name in t.columns if t.show_header else ():
        assert _stands(name, text), (name, width, text)
    for row in t.rows:
        for cell in row:
            if any(f" {cell} " in f" {line} " for line in lines):
                continue
            # Lines break between words only, never between a number and its unit or error.
            for word in cell.split():
                assert any(re.search(rf"(^|\s){re.escape(word)}(\s|$)", line) for line in lines), (word, width, text)


def _stands(name: str, text: str) -> bool:
    return re.search(rf"(^|\s){re.escape(name)}(\s|$)", text, re.MULTILINE) is not None


def numbers_whole(t: Table, width: int) -> None:
    """Checks that a number and its error are on one line."""
    text = "\n".join(line.text for line in t.lines(width))
    for row in t.rows:
        for cell in row:
            for number in re.findall(r"\d[\d,.]*(?: ± [\d,.]+)?", cell):
                assert re.search(rf"(?<![\d,.]){re.escape(number)}(?![\d,.]*\d)", text), (number, width, text)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """Tables printed during the test."""
    tables: list[Table] = []
    for module in (problems, printing):
        monkeypatch.setattr(module, "write", tables.append)
    return tables


SEVERAL = """extends = "ns2-2.35"
run.stop = "6 s"
topology = { kind = "grid", rows = 2, columns = 5, wired_nodes = 2 }
wired_link = [{ src = 9, dst = 10 }, { src = 10, dst = 11, rate = "1.25 Mbit/s" }]
flow = [{ dst = 9 }, { dst = 4, tcp.variant = "vegas" }, { dst = 11 }, { src = 5, dst = 9, app = "cbr" }, { dst = 6 },
  { dst = 1 }, { dst = 2 }, { dst = 3 }, { dst = 5 }]
"""
STUDY = """\
measures = ["goodput_bps", "link_drop_probability", "retransmissions_per_10000"]
seeds = 3
axes = { tcp.vegas.alpha = [1, 2.5], topology.spacing = ["200 m", "123.456789 m"] }
[scenario]
run.stop = "5 s"
topology.hops = 2
[cases."NewReno with a limit of the window as in the paper"]
tcp.receive_window = 4
[cases.vegas]
tcp.variant = "vegas"
"""


def test_tables_of_commands(printed: list[Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables printed by commands, of runs, studies, searches, lists and a paper."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "several.toml").write_text(SEVERAL)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "search.toml").write_text(
        'seeds = 2\nscenario.run.stop = "5 s"\naxes = { topology.hops = [1, 2] }\n'
        '[search]\nsetting = "tcp.rto.min"\nlow = "200 ms"\nhigh = "300 ms"\nresolution = "100 ms"\n'
    )
    tables_of: dict[str, int] = {}
    for command in (
        "run several.toml",
        "run several.toml --why",
        "sweep study.toml",
        "sweep search.toml",
        "explain --list",
        "paper",
        "paper elrakabawy2005 --table 1 --quick",
    ):
        before = len(printed)
        assert cli.main(command.split()) == 0, command
        tables_of[command] = len(printed) - before
    assert all(tables_of.values()), tables_of
    assert tables_of["run several.toml --why"] >= tables_of["run several.toml"] + 3
    for t in printed:
        for width in (*WIDTHS, 160):
            whole(t, width)
            numbers_whole(t, width)
    # Some tables do not fit unchanged.
    assert any(len(t.lines(60)) > len(t.lines(160)) for t in printed)


@pytest.mark.parametrize("width", WIDTHS)
def test_output_on_a_terminal(width: int, tmp_path: Path) -> None:
    """Complete output of a run: all lines fit, and all column names are printed."""
    (tmp_path / "several.toml").write_text(SEVERAL)
    terminal = Terminal(*CHAPPE, "run", "several.toml", "--why", cwd=tmp_path, columns=width)
    assert terminal.end() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.text).replace("\r", "")
    # The progress bar overwrites its line.
    lines = text[text.index("several.toml  ") :].splitlines()
    assert max(map(cell_len, lines)) <= width
    for header in (
        "variant",
        "retransmitted",
        "RTT",
        "throughput",
        "queue full",
        "flow 7",
        "share of losses",
        "all",
    ):
        assert _stands(header, "\n".join(lines)), header
    assert "All 10 nodes with a radio together, and the 5 that transmit most" in " ".join(" ".join(lines).split())
    assert "% of packets given to the MAC" in text


def tables_of_papers() -> Iterator[Table]:
    """Tables like those of figures, sheets and validations: many columns, long row names."""
    figure = Table("hops", *(f">{v} {r}" for v in ("newreno thinned", "vegas 2") for r in ("2 Mbit/s", "11 Mbit/s")))
    for hops in (2, 40):
        figure.add_row(str(hops), *["1,234.5 ± 12.3"] * 4)
    yield figure
    agree = Table("", "measure", ">agree", ">of", title="Ours beside ns-2.35", keys=2)
    agree.add_row("several flows over chains, paced", "link-layer drop probability", "118", "119")
    yield agree
    beside = Table("does not agree", "measure", ">ns-2", ">ours", ">difference", ">half width", keys=2)
    beside.add_row(
        "newreno, 32 hops, 5.5 Mbit/s, seed 3", "fast_retransmits_per_10000", "0.012", "0.34", "+2,800 %", "0.1"
    )
    yield beside


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_of_papers(width: int) -> None:
    for t in tables_of_papers():
        whole(t, width)
        numbers_whole(t, width)


words = st.text("abcµ中e\u0301([:±,.-0123456789", min_size=1, max_size=14)
texts = st.lists(words, max_size=6).map(" ".join)
widths = st.integers(10, 200)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    count = draw(st.integers(1, 8))
    names = [
        draw(st.sampled_from(["", ">", "~"])) + draw(st.one_of(words, st.just(""))).lstrip(">~") for _ in range(count)
    ]
    t = Table(*names, keys=draw(st.integers(0, count)))
    t.show_header = draw(st.booleans())
    for _ in range(draw(st.integers(0, 4))):
        t.add_row(*(draw(texts) for _ in names))
    return t


@given(tables(), widths)
def test_no_table_loses_text(t: Table, width: int) -> None:
    lines = t.lines(width)
    assert all(line.text == line.text.rstrip() for line in lines)
    for line in lines:
        if cell_len(line.text) > width:
            # A cell, or a word with its column name, is wider than the terminal.
            assert any(cell_len(w) + 2 > width for row in [t.columns, *t.rows] for c in row for w in c.split(" ")), line
    for row in t.rows:
        for word in " ".join(row).split():
            assert any(word in line.text for line in lines)


def test_a_wide_table_repeats_its_key_columns() -> None:
    t = Table("hops", "case", ">goodput", "", ">delivered", ">timeouts", keys=2)
    t.add_row("2", "vegas", "1,234 ± 5", "kbit/s", "12,345", "0")
    t.add_row("40", "newreno", "9 ± 1", "kbit/s", "5", "1,000,000")

    def shown(width: int) -> list[str]:
        return [line.text for line in t.lines(width)]

    assert shown(80) == [
        "hops  case       goodput          delivered   timeouts",
        "2     vegas    1,234 ± 5  kbit/s     12,345          0",
        "40    newreno      9 ± 1  kbit/s          5  1,000,000",
    ]
    assert shown(50) == [
        "hops  case       goodput          delivered",
        "2     vegas    1,234 ± 5  kbit/s     12,345",
        "40    newreno      9 ± 1  kbit/s          5",
        "",
        "hops  case      timeouts",
        "2     vegas            0",
        "40    newreno  1,000,000",
    ]
    assert shown(30) == [
        "hops       2",
        "case       vegas",
        "goodput    1,234 ± 5 kbit/s",
        "delivered  12,345",
        "timeouts   0",
        "",
        "hops       40",
        "case       newreno",
        "goodput    9 ± 1 kbit/s",
        "delivered  5",
        "timeouts   1,000,000",
    ]


def test_texts_wrap_between_words() -> None:
    t = Table("", "~")
    t.add_row("  reno", "Fast retransmit and fast recovery (RFC 5681), one loss a window")
    assert [line.text for line in t.lines(40)] == [
        "",
        "  reno  Fast retransmit and fast",
        "        recovery (RFC 5681), one loss a",
        "        window",
    ]


def test_cells_must_be_as_many_as_columns() -> None:
    with pytest.raises(ValueError, match="1 cell for 2 columns"):
        Table("a", "b").add_row("1")
