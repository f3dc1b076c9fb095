"""Old names of Python work for one more version, with a warning that names the new one and the line that uses it."""

# mypy: disable-error-code="call-arg, arg-type"

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import Scenario, cli
from chappe.measures import MEASURES
from chappe.study import Precision, Search, load

CHAIN = Scenario.chain(2, stop="110 delivered")
OTHER = {"tcp.receive_window": 4}
Call = Callable[[], Any]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text('run.stop = "110 delivered"\ntopology.hops = 2\n', encoding="utf-8")


def check(old: Call, new: Call, message: str) -> None:
    """Checks that a call warns at its line, and answers as another call, which does not warn."""
    with pytest.warns(DeprecationWarning, match=message) as warned:
        answer = old()
    assert [w.filename for w in warned] == [__file__]
    assert answer == new()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (lambda: CHAIN.with_(OTHER), lambda: CHAIN.with_settings(OTHER), "use Scenario.with_settings"),
        (lambda: CHAIN.flat(), lambda: dict(CHAIN), r"use dict\(scenario\)"),
        (lambda: Scenario(CHAIN, OTHER), lambda: CHAIN.with_settings(OTHER), "use Scenario.with_settings"),
        (lambda: Scenario.chain(changes=OTHER), lambda: Scenario.chain(settings=OTHER), "changes .* use settings"),
        (
            lambda: Scenario.load("a.toml", changes=OTHER),
            lambda: Scenario.load("a.toml", OTHER),
            "changes .* use settings",
        ),
        (
            lambda: Scenario.load("a.toml", sets=["tcp.receive_window=4"]),
            lambda: Scenario.load("a.toml", ["tcp.receive_window=4"]),
            "sets .* use settings",
        ),
        (
            lambda: Scenario.load("a.toml", OTHER, sets=["tcp.receive_window=5", "run.seed=2"]),
            lambda: Scenario.load("a.toml", {**OTHER, "run.seed": 2}),
            "sets .* use settings",
        ),
        (
            lambda: Scenario.inline({"extends": "a.toml"}, "."),
            lambda: Scenario({"extends": "a.toml"}, base_dir="."),
            "use Scenario.*base_dir",
        ),
        (lambda: CHAIN.motion(until=1), lambda: written(CHAIN), "use Scenario.write_mobility"),
    ],
)
def test_scenarios(old: Call, new: Call, message: str) -> None:
    check(old, new, message)


PRECISE = Precision("goodput_bps", 0.05, max_seeds=3)
AXES = {"tcp.receive_window": [2, 4]}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            lambda: chappe.run(CHAIN, 3).flows.write_ndjson(),
            lambda: chappe.run(CHAIN, seed=3).flows.write_ndjson(),
            "seed=",
        ),
        (lambda: chappe.start(CHAIN, 3).scenario, lambda: chappe.start(CHAIN, seed=3).scenario, "seed="),
        (lambda: runs(chappe.sweep(CHAIN, AXES, 2)), lambda: runs(chappe.sweep(CHAIN, AXES, seeds=2)), "seeds="),
        (
            lambda: runs(chappe.sweep(CHAIN, seeds=2, stop=PRECISE)),
            lambda: runs(chappe.sweep(CHAIN, seeds=2, precision=0.05, max_seeds=3)),
            "the argument stop .* use precision",
        ),
        (
            lambda: runs(chappe.sweep(CHAIN, quiet=True)),
            lambda: runs(chappe.sweep(CHAIN, progress=False)),
            "the argument quiet .* use progress",
        ),
        (
            lambda: runs(chappe.search(CHAIN, Search("tcp.receive_window", 1, 4), seeds=2)),
            lambda: runs(chappe.search(CHAIN, "tcp.receive_window", low=1, high=4, seeds=2)),
            "low=1, high=32",
        ),
        (
            lambda: Search("tcp.receive_window", 1, 4, best="lowest").direction,
            lambda: "minimize",
            "best .* use direction=",
        ),
        (lambda: MEASURES[0].best, lambda: "highest", "use Measure.direction"),
    ],
)
def test_studies(old: Call, new: Call, message: str) -> None:
    check(old, new, message)


def test_directions_of_rankings() -> None:
    swept = chappe.sweep(CHAIN, AXES, seeds=2)
    check(
        lambda: swept.rank("goodput_bps", "tcp.receive_window", best="lowest").to_dicts(),
        lambda: swept.rank("goodput_bps", "tcp.receive_window", direction="minimize").to_dicts(),
        "best .* use direction=",
    )
    check(lambda: swept.summary("goodput_bps", 0.9).to_dicts(), lambda: swept.summary(confidence=0.9).to_dicts(), "=")


def test_old_names_of_a_search_in_a_file() -> None:
    file = '[scenario]\nrun.stop = "110 delivered"\n[search]\nsetting = "tcp.receive_window"\n'
    for name, text in (
        ("old", 'from = 1\nto = 4\nbest = "lowest"\n'),
        ("new", 'low = 1\nhigh = 4\ndirection = "minimize"\n'),
    ):
        Path(f"{name}.toml").write_text(file + text, encoding="utf-8")
    with pytest.warns(FutureWarning, match=r"`search\.") as warned:
        old = load("old.toml")
    assert [str(w.message).rpartition(": ")[2] for w in warned] == [
        "`search.from` is now `search.low`",
        "`search.to` is now `search.high`",
        "`search.best` is now `search.direction`",
    ]
    assert old == load("new.toml")


def test_a_command_tells_old_names_of_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        'seeds = 2\nscenario.run.stop = "110 delivered"\n[search]\nsetting = "tcp.receive_window"\nfrom = 1\nto = 2\n'
    )
    Path("old.toml").write_text(text, encoding="utf-8")
    assert cli.main(["sweep", "old.toml", "--quiet"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == [
        "warning: old.toml: `search.from` is now `search.low`",
        "warning: old.toml: `search.to` is now `search.high`",
    ]


def runs(study: chappe.Study) -> str:
    return study.runs.write_ndjson()


def written(scenario: chappe.Scenario) -> str:
    scenario.write_mobility("ways.csv", until=1)
    return Path("ways.csv").read_text(encoding="utf-8")
