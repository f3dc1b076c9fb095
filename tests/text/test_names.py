"""Control characters in names of files, settings, cases and values are escaped in all output."""

import contextlib
import io
import itertools
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import chappe
import pytest
from chappe import cli, study
from chappe import text as show
from chappe.text import count, plain
from chappe.text.layout import Table

OBEYED = [chr(n) for n in (*range(0x20), *range(0x7F, 0xA0)) if n != 0]
MARKS = [*"\u061c\u200e\u200f\u2028\u2029", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
EVIL = "\x1b]0;x\x07\x1b[2J\n\r\u202e\u2066\x9b"
"""Sequences that set the window title, clear the screen, break the line and reverse the text."""


def harmless(text: str) -> bool:
    return not any(c in text for c in [*OBEYED, *MARKS] if c != "\n")


def test_control_characters_are_escaped() -> None:
    for c in [*OBEYED, *MARKS, "\0", "\udcff"]:
        assert plain(f"a{c}b") == f"a\\u{{{ord(c):x}}}b"
    # All control, format and line separator characters of Unicode, but no letters and no space.
    for c in map(chr, range(sys.maxunicode + 1)):
        category = unicodedata.category(c)
        if category in ("Cc", "Zl", "Zp", "Cs"):
            assert plain(c) != c, hex(ord(c))
        elif category[0] in "LMNPS":
            assert plain(c) == c, hex(ord(c))
    assert plain("Grüße, 中文, e\u0301: 20 µs ± 3") == "Grüße, 中文, e\u0301: 20 µs ± 3"


def test_counts_of_nouns() -> None:
    assert [count(n, "flow") for n in (0, 1, 2, 1000)] == ["0 flows", "1 flow", "2 flows", "1,000 flows"]
    assert [count(n, "batch") for n in (1, 2)] == ["1 batch", "2 batches"]


class Screen:
    """Output of a command in the current process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]):
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str]:
        try:
            code = cli.main(arguments)
        except SystemExit as e:
            code = int(e.code or 0)
        written = self._capsys.readouterr()
        return code, written.out + written.err


@pytest.fixture
def screen(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.chdir(tmp_path)
    return Screen(capsys)


def commands() -> Iterator[tuple[int, list[str]]]:
    """Commands with such names, and their exit codes."""
    good, bad, many = f"good{EVIL}.toml", f"bad{EVIL}.toml", f"study{EVIL}.toml"
    yield 0, ["run", good, "--out", f"results{EVIL}"]
    yield 0, ["run", good, "--why"]
    yield 0, ["check", good]
    yield 0, ["sweep", many]
    yield 0, ["sweep", f"search{EVIL}.toml", "--out", f"out{EVIL}"]
    for verb in ("run", "check"):
        yield 2, [verb, bad]
        yield 2, [verb, f"missing{EVIL}.toml"]
        yield 2, [verb, f"binary{EVIL}.toml"]
        yield 2, [verb, f"torn{EVIL}.toml"]
        yield 2, [verb, many]
        yield 2, [verb, good, f"--{EVIL}"]
        for written in (f"tcp.{EVIL}=1", f"tcp.variant={EVIL}", EVIL, f"{EVIL}=3", f"flow.0.{EVIL}=2", f"a={EVIL}"):
            yield 2, [verb, good, "--set", written]
        yield 2, [verb, good, "--set", f"topology.file=nodes{EVIL}.csv", "--set", "topology.kind=file"]
    yield 2, ["run", good, "--seed", EVIL]
    yield 2, ["run", good, "--out", f"{good}/below{EVIL}"]
    yield 2, ["sweep", good]
    yield 2, ["sweep", bad]
    yield 2, ["sweep", f"bad-study{EVIL}.toml"]
    yield 2, ["sweep", many, "--out", good]
    yield 2, ["sweep", many, "--out", f"full{EVIL}"]
    yield 2, ["sweep", many, "--backend", EVIL]
    yield 2, ["sweep", many, "--jobs", EVIL]
    yield 2, ["paper", EVIL]
    yield 2, ["paper", "zhou2004", "--claim", EVIL]
    yield 2, ["paper", "zhou2004", "--extra", EVIL]
    yield 2, ["paper", "zhou2004", "--out", f"{good}/below{EVIL}"]
    yield 2, [EVIL]


def test_commands_show_names_escaped(screen: Screen, tmp_path: Path) -> None:
    escaped = '"\\u001b]0;\\u0007\\n\\u202e\\u0085'
    files = {
        "good": 'run.stop = "2 s"\ntopology.hops = 1\n',
        "bad": f'run.stop = "2 s"\ntcp.variant = {escaped}"\n{escaped}" = 1\ntcp.window = 0 # \u202e \u0085 \u200f\n',
        "torn": f'run = {{ stop = {escaped}\n[[[\u202e\n',
        "study": f'measures = ["goodput_bps"]\nscenario.run.stop = "2 s"\n[cases.{escaped}"]\n[cases.{escaped} b"]\n'
        'tcp.receive_window = 7\n',
        "search": 'seeds = 2\nscenario.run.stop = "2 s"\n[search]\nsetting = "tcp.receive_window"\nlow = 1\nhigh = 2\n'
        f'[cases.{escaped}"]\n',
        "bad-study": f'{escaped}" = 1\nscenario = {escaped}"\nmeasures = [{escaped}"]\n'
        f'[axes]\n{escaped}" = [1, 1, 2.0]\n'
        f'tcp.variant = [{escaped}"]\n"tcp.{escaped[1:]}" = 3\n[cases.{escaped}"]\ntcp.variant = {escaped}"\n'
        f'[search]\nsetting = {escaped}"\nlow = {escaped}"\nhigh = 1\ndirection = {escaped}"\nmeasure = {escaped}"\n'
        f'[precision]\nmeasure = {escaped}"\nwithin = {escaped}"\nmax_seeds = {escaped}"\n{escaped}" = 1\n',
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}{EVIL}.toml").write_text(text, encoding="utf-8")
    (tmp_path / f"binary{EVIL}.toml").write_bytes(b"\xff\x00")
    (tmp_path / f"nodes{EVIL}.csv").write_text(f"x_m,x_m{EVIL}\n", encoding="utf-8")
    (tmp_path / f"full{EVIL}").mkdir()
    (tmp_path / f"full{EVIL}" / "thesis.tex").write_text("years of work")
    for expected, arguments in commands():
        code, text = screen(*arguments)
        assert (code, harmless(text)) == (expected, True), (arguments, text)
        # The line break in the name is escaped, too.
        assert "\n\\u{d}" not in text, (arguments, text)
        assert "Traceback" not in text
        assert "u{1b}" in text or "\\x1b" in text, (arguments, text)


def test_warnings_and_errors_in_python_escape_names() -> None:
    evil = {"tcp.variant": EVIL, EVIL: EVIL, f"flow.{EVIL}": 1}
    with pytest.raises(chappe.ScenarioError) as error:
        chappe.Scenario.chain(1, evil)
    assert harmless(str(error.value))
    assert all(harmless(p.message + (p.help or "")) for p in error.value.problems)
    with pytest.raises(study.StudyError) as wrong:
        chappe.sweep(chappe.Scenario.chain(1), {name: [value, value] for name, value in evil.items()})
    assert harmless(str(wrong.value))


def test_tables_show_cells_escaped() -> None:
    t = Table(f"a{EVIL}", f"~b{EVIL}", f">c{EVIL}", title="t")
    t.add_row(EVIL, EVIL, EVIL)
    for width in (20, 200):
        assert harmless("".join(line.text for line in t.lines(width)))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        show.say(f"{EVIL} :smile: [bold]x[/]")
    assert harmless(out.getvalue())
    assert ":smile: [bold]x[/]" in out.getvalue()


def test_every_combination_of_two_marks() -> None:
    for a, b in itertools.product([*MARKS, "\x1b", "\n"], repeat=2):
        assert harmless(plain(a + b))
        assert "\n" not in plain(a + b)
