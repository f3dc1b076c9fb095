"""``chappe new``: every scenario that it writes is right, and has comments."""

import io
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli
from chappe.scenario.explain import explain
from chappe.scenario.new import QUESTIONS, text_of
from command import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st

DEFAULTS = {q.name: q.default for q in QUESTIONS}
WORDS = {q.name: st.sampled_from(q.known) for q in QUESTIONS if q.known}


def _leaves(node: Any, name: str = "") -> Iterator[str]:
    """Dotted names of the settings of a scenario."""
    if not isinstance(node, dict | list):
        yield name
        return
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        yield from _leaves(inner, f"{name}.{key}".lstrip("."))


@settings(max_examples=40, deadline=None)
@given(st.fixed_dictionaries(WORDS), st.integers(2, 30), st.integers(1, 5))
def test_every_scenario_is_right(words: dict[str, str], nodes: int, flows: int) -> None:
    if words["topology"] == "random":
        nodes += 10
    text = text_of({**DEFAULTS, **words, "nodes": str(nodes), "flows": str(flows)})
    scenario = chappe.Scenario._from_text("new.toml", text, [])
    assert len(scenario.nodes) == nodes
    assert len(scenario.flows) == flows
    written = {re.sub(r"\.\d+\.", ".N.", name) for name in _leaves(tomllib.loads(text))}
    assert [n for n in written if explain(n)[0].facts["level"] != "everyday"] == []
    # A user who moves the nodes of a network with static routes is told so.
    assert {notice.code for notice in scenario.warnings} <= {"static_routes"}, text


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "mine.toml", "--topology", "grid", "--nodes", "6", "--variant", "vegas"]) == 0
    assert chappe.Scenario.load("mine.toml")["tcp.variant"] == "vegas"
    assert cli.main(["check", "mine.toml"]) == 0
    for name in ("cubic", "bbr"):
        assert cli.main(["new", f"{name}.toml", "--variant", name]) == 0
        linux = chappe.Scenario.load(f"{name}.toml")
        assert linux["tcp.congestion_control"] == name
        assert linux["tcp.loss_recovery"] == "rack_tlp"
        assert (
            linux["tcp.receive_window"]
            == chappe.Scenario({"extends": "linux", "run.stop": "1 s"})["tcp.receive_window"]
        )
    capsys.readouterr()
    for arguments, message in (
        (["mine.toml"], "mine.toml exists: name a new file"),
        (["b.toml", "--topology", "gird"], "--topology cannot be gird: did you mean grid?"),
        (["b.toml", "--nodes", "1"], "--nodes is a whole number from 2 to 10,000, not 1"),
        (["b.toml", "--rate", "2 Mbps"], 'did you mean "2 Mbit/s"'),
    ):
        assert cli.main(["new", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err
        assert not Path("b.toml").exists()
    assert cli.main(["new", "-"]) == 0
    assert capsys.readouterr().out == text_of(DEFAULTS)


def test_answers_on_pages_are_known() -> None:
    pages = [REPOSITORY / "README.md", *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("reproductions/**/*.md")]
    known = {q.name: q.known for q in QUESTIONS if q.known}
    found = [
        answer
        for page in pages
        for command in re.findall(r"chappe new[^`\n]*", page.read_text(encoding="utf-8"))
        for answer in re.findall(r"--(\w+) (\w+)", command)
    ]
    assert ("variant", "cubic") in found
    assert [(name, word) for name, word in found if word not in known.get(name, (word,))] == []


class Person(io.StringIO):
    """Somebody at a terminal."""

    def isatty(self) -> bool:
        return True


def test_questions_are_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answers = ["ring", "random", "20", *itertools.repeat("", len(QUESTIONS) - 2)]
    told = Person()
    monkeypatch.setattr(sys, "stdin", Person("\n".join(answers) + "\n"))
    monkeypatch.setattr(sys, "stderr", told)
    assert cli.main(["new", "asked.toml"]) == 0
    assert "--topology cannot be ring" in told.getvalue()
    assert len(chappe.Scenario.load("asked.toml").nodes) == 20
    monkeypatch.setattr(sys, "stdin", Person(""))
    assert cli.main(["new", "nobody.toml"]) == 2
    assert not Path("nobody.toml").exists()
