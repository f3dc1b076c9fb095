"""Lessons: their claims hold, their answers have no number of their own, their pages have all parts."""

import re
from pathlib import Path

import pytest
from chappe import Results, Scenario, cli, page, run
from chappe.page import lessons
from command import REPOSITORY
from test_page import Elements

SCENARIOS = REPOSITORY / "python/chappe/page/lessons"

MORE = {
    "hidden-terminal": [
        ("RTS|both", "as it is|both"),
        ("as it is|failed", "short frames|failed"),
        ("all hear each other|both", "near, with RTS|both"),
        ("TCP|first", "TCP|second"),
        ("TCP, RTS|second", "TCP|second"),
    ],
    "exposed-terminal": [
        ("gap of 300 m|both", "as it is|both"),
        ("as it is|both", "RTS|both"),
        ("gap of 300 m|both", "far carrier sense|both"),
        ("TCP|second", "TCP|first"),
    ],
    "rate-anomaly": [
        ("as it is|near", "one far away|near"),
        ("equal airtime|near", "one far away|near"),
        ("one far away|far", "equal airtime|far"),
        ("three near, one far|delay", "three near, equal airtime|delay"),
        ("as it is|mpdus", "one far away|mpdus"),
    ],
    "chain": [
        ("one hop|goodput", "two hops|goodput"),
        ("two hops|goodput", "three hops|goodput"),
        ("three hops|goodput", "four hops, Vegas|goodput"),
        ("Vegas|goodput", "as it is|goodput"),
        ("as it is|window", "Vegas|window"),
        ("as it is|failures", "Vegas|failures"),
        ("window 2|goodput", "as it is|goodput"),
    ],
    "bufferbloat": [
        ("as it is|call", "100 packets|call"),
        ("as it is|download", "10 packets|download"),
        ("100 packets|call", "FQ-CoDel|call"),
        ("slow radio|call", "slow radio, FQ-CoDel|call"),
        ("as it is|call", "BBR|call"),
    ],
    "aggregation": [
        ("two|goodput", "as it is|goodput"),
        ("64|goodput", "two|goodput"),
        ("slow, 64|goodput", "slow|goodput"),
        ("small packets, 64|goodput", "small packets|goodput"),
        ("TCP, 64|goodput", "TCP|goodput"),
    ],
    "moving-node": [
        ("as it is|waits", "as it is|no_route"),
        ("as it is|goodput", "DSDV|goodput"),
        ("as it is|breaks", "20 m/s|breaks"),
    ],
}
"""Numbers of which the texts say that the first is larger."""


def test_every_file_is_a_lesson() -> None:
    assert {file.stem for file in SCENARIOS.glob("*.toml")} == {*lessons.ORDER} == {*MORE}


@pytest.mark.usefixtures("with_module")
@pytest.mark.parametrize("name", lessons.ORDER)
def test_a_lesson_has_all_parts_and_is_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taught = lessons.lesson(name)
    assert sum(minutes for minutes, _ in taught.plan) == lessons.MINUTES
    base = Scenario(taught.scenario)
    first = next(iter(taught.presets))
    assert base.with_settings(taught.changes(first)).settings == base.settings
    # Knobs combine: none takes back what another one has set.
    touched = [{key for settings in knob.choices.values() for key in settings} for knob in taught.knobs]
    assert sum(map(len, touched)) == len(set.union(*touched))
    for knob in taught.knobs:
        for settings in knob.choices.values():
            assert {*settings} == touched[taught.knobs.index(knob)]
            base.with_settings(settings)
    runs = lessons.runs_of(taught)
    readings = {reading.name: reading for reading in taught.readings}

    def value(number: str) -> float:
        preset, _, reading = number.partition("|")
        return readings[reading].of(runs[preset])

    for larger, smaller in MORE[name]:
        assert value(larger) > value(smaller), (larger, smaller)
    monkeypatch.setattr(lessons, "runs_of", lambda _: runs)
    elements = Elements(lessons.page_of(name))
    headings = elements.texts["h2"]
    assert [h for h in ("Runs", "Player", "Questions") if h in headings] == ["Runs", "Player", "Questions"]
    assert "Findings" not in headings
    assert sum(t == "Answer" for t in elements.texts["summary"]) == len(taught.questions) >= 3
    used = {number for a in elements.attributes("data") if (number := a["value"])}
    assert {number.partition("|")[0] for number in used} == {*taught.presets}


@pytest.mark.parametrize("name", lessons.ORDER)
def test_answers_have_no_number_that_the_simulator_does_not_give(name: str) -> None:
    """A quantity that is typed is a setting of the lesson or a word of a knob."""
    taught = lessons.lesson(name)
    text = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
    settings = text[text.index("[scenario]") : text.index("[[question]]")]
    for _, answer in taught.questions:
        assert "|" in answer
        typed = re.sub(r"\{.*?\}", "", answer)
        for quantity in re.findall(r"\d[\d.,]* ?(?:[kM]bit/s|ms|us|s|m|%|B|segments|packets|MPDUs)\b", typed):
            assert quantity in settings, quantity


def test_numbers_are_written_with_three_digits() -> None:
    of = lessons.Reading("x", "x", "delay").text
    values = {0.0: "0.00", 1.0: "1.00", 12.345: "12.3", 99.96: "100", 1234.5: "1235", float("nan"): "-"}
    assert [of(value) for value in values] == [*values.values()]
    assert lessons.Reading("x", "x", "timeouts").text(3.0) == "3"


def test_a_lesson_needs_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page, "module", lambda: None)
    assert cli.main(["teach", "hidden-terminal"]) == 2
    assert "run `make wasm`" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("with_module")
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["teach"]) == 0
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == list(lessons.ORDER)
    assert cli.main(["teach", "hidden-terminal"]) == 0
    assert Path("hidden-terminal.html").stat().st_size > 5000
    capsys.readouterr()
    assert cli.main(["teach", "hidden-termina"]) == 2
    assert "did you mean hidden-terminal?" in capsys.readouterr().err


@pytest.mark.usefixtures("with_module")
def test_a_page_of_datagrams_has_no_rows_of_tcp() -> None:
    def texts(results: Results) -> set[str]:
        elements = Elements(page.page(results, "A run"))
        return {*elements.texts["th"], *elements.texts["td"]}

    tcp = {"retransmitted", "timeouts", "retransmissions", "fast retransmits", "window", "RTT"}
    scenario = Scenario.chain(1, stop="2 s")
    assert tcp <= texts(run(scenario))
    datagrams = scenario.with_settings({"flow": [{"src": 0, "dst": 1, "app": "cbr"}]})
    assert not tcp & texts(run(datagrams))
