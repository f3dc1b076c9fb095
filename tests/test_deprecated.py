"""Old names of Python work for one more version, with a warning that names the new one and the line that uses it."""

# mypy: disable-error-code="call-arg"

from collections.abc import Callable
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import Scenario

CHAIN = Scenario.chain(2, stop="110 delivered")
OTHER = {"tcp.window": 4}
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
            lambda: Scenario.load("a.toml", sets=["tcp.window=4"]),
            lambda: Scenario.load("a.toml", ["tcp.window=4"]),
            "sets .* use settings",
        ),
        (
            lambda: Scenario.load("a.toml", OTHER, sets=["tcp.window=5", "run.seed=2"]),
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


def written(scenario: chappe.Scenario) -> str:
    scenario.write_mobility("ways.csv", until=1)
    return Path("ways.csv").read_text(encoding="utf-8")
