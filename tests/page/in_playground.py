"""The playground in browsers: ``make test-pages``."""

import urllib.parse
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe.page import playground
from in_browser import SCENARIOS, Opened, browser, chromium, hashes, launch

__all__ = ["browser", "chromium", "launch"]

TOML = """extends = "ns2-2.35"
run = { stop = "550 delivered", seed = 9007199254740993 }
topology.hops = 3

[[flow]]
src = 0
dst = 3

[[flow]]
src = 3
dst = 0
"""

WRONG = 'topology.hops = 3\nrun.stop = "1 s"\n\n[tcp]\nvarient = "vegas"\nreceive_window = "many"\n'


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written: Path = tmp_path_factory.mktemp("playground") / "playground.html"
    texts = {path.name: path.read_text(encoding="utf-8") for path in SCENARIOS if path.stem in ("chain", "udp")}
    written.write_text(playground.playground(texts), encoding="utf-8")
    return written


def ran(opened: Opened, seeds: int) -> None:
    opened.page.fill("#seeds", str(seeds))
    opened.page.click("#run")
    opened.page.wait_for_selector("body[data-ran]")


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_a_run_is_that_of_native_code(browser: Any, file: Path, seeds: int, tmp_path: Path) -> None:
    """Tables to the byte, and estimates and intervals as the package has them."""
    (tmp_path / "scenario.toml").write_text(TOML, encoding="utf-8")
    scenario = chappe.Scenario.load(tmp_path / "scenario.toml")
    first = scenario["run.seed"]
    native = chappe.run(scenario)
    if seeds == 1:
        rows = native.summary()
    else:
        rows = chappe.sweep(scenario, seeds=range(first, first + seeds)).summary([*playground.SHOWN])
    expected = {row["measure"]: row for row in rows.iter_rows(named=True)}
    assert file.stat().st_size < 2e6
    with Opened(browser, file) as opened:
        opened.page.fill("#editor", TOML)
        ran(opened, seeds)
        assert opened.page.evaluate("chappe.hashes") == hashes(native)
        found = {row["name"]: row for row in opened.page.evaluate("chappe.summary")}
        assert list(found) == list(playground.SHOWN)
        for name, row in found.items():
            told = [expected[name][column] for column in ("n", "estimate", "ci_low", "ci_high")]
            assert [row[column] for column in ("n", "mean", "low", "high")] == pytest.approx(told, rel=1e-9), name
        assert opened.page.locator("#measures tbody tr").count() == len(found)
        assert opened.page.locator("#plot circle").count() == seeds
        player = opened.page.frame_locator("#player")
        player.locator("body[data-ready]").wait_for()
        player.locator("#check").click()
        player.get_by_text("Equal to the byte").wait_for()
        assert opened.serious() == []
        assert opened.noted == []


def test_errors_are_those_of_the_terminal(browser: Any, file: Path) -> None:
    with pytest.raises(chappe.ScenarioError) as raised:
        chappe.Scenario._from_text("scenario.toml", WRONG, [])
    with Opened(browser, file) as opened:
        opened.page.fill("#editor", WRONG)
        opened.page.wait_for_selector("body[data-checked=bad]")
        told = opened.page.text_content("#problems")
        assert told.strip() == str(raised.value).strip()
        assert "did you mean `variant`?" in told
        opened.page.click("#run")
        opened.page.wait_for_selector("body[data-ran=refused]")
        assert not opened.page.locator("#results").is_visible()


def test_names_and_words_are_completed(browser: Any, file: Path) -> None:
    with Opened(browser, file) as opened:
        keys = opened.page.keyboard
        opened.page.fill("#editor", "[tcp]\n")
        opened.page.focus("#editor")
        keys.press("Control+End")
        keys.type("vari")
        options = opened.page.locator("#choices [role=option]")
        assert options.all_text_contents() == ["variant"]
        keys.press("ArrowDown")
        assert opened.page.text_content("#meaning").startswith("TCP variant")
        assert opened.serious() == []
        keys.press("Enter")
        keys.type(' = "ve')
        assert options.all_text_contents() == ['"vegas"', '"veno"']
        keys.press("ArrowDown")
        keys.press("Enter")
        assert opened.page.input_value("#editor") == '[tcp]\nvariant = "vegas"'
        keys.press("Enter")
        keys.type("rece")
        keys.press("Escape")
        assert options.count() == 0
        assert opened.noted == []


def test_a_link_has_the_scenario(browser: Any, file: Path) -> None:
    with Opened(browser, file) as opened:
        opened.page.fill("#editor", TOML)
        opened.page.fill("#seeds", "7")
        opened.page.click("#share")
        opened.page.get_by_text("The link is").wait_for()
        link = opened.page.url
    given = urllib.parse.parse_qs(urllib.parse.urlsplit(link).fragment)
    assert given == {"scenario": [TOML], "seeds": ["7"]}
    with Opened(browser, file, fragment=urllib.parse.urlsplit(link).fragment) as opened:
        assert opened.page.input_value("#editor") == TOML
        assert opened.page.input_value("#seeds") == "7"


def test_a_run_is_canceled(browser: Any, file: Path) -> None:
    with Opened(browser, file) as opened:
        opened.page.fill("#editor", TOML.replace("550", "99999999"))
        opened.page.fill("#seeds", "1")
        opened.page.click("#run")
        opened.page.wait_for_selector("#progress[value]:not([value='0'])")
        opened.page.click("#cancel")
        assert opened.page.text_content("#said") == "Canceled."
        assert not opened.page.locator("#progress").is_visible()
        opened.page.fill("#editor", TOML)
        ran(opened, 1)
        assert opened.page.locator("#results").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_playground_is_narrow(chromium: Any, file: Path, scheme: str) -> None:
    look: dict[str, Any] = {"viewport": {"width": 320, "height": 700}, "color_scheme": scheme}
    with Opened(chromium, file, **look) as opened:
        opened.page.fill("#editor", TOML)
        ran(opened, 2)
        opened.page.frame_locator("#player").locator("body[data-ready]").wait_for()
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 320
        assert opened.serious() == []
        assert opened.noted == []
