"""Reports in a browser: ``make test-pages``. They need the module, Playwright for Python and Chromium."""

import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import _page as page

# Not in requirements.lock, because nothing else needs it.
playwright: Any = importlib.import_module("playwright.sync_api")

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
HOSTILE = "</title><script>alert(1)</script> & \u202etxt"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    assert page.module() is not None, "make wasm builds the module"
    with playwright.sync_playwright() as p:
        started = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page from disk, with the network off; notes every message and request."""

    def __init__(self, browser: Any, file: Path, **options: Any):
        context = browser.new_context(offline=True, **options)
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.noted: list[str] = []
        self.page.on("console", lambda m: self.noted.append(m.text))
        self.page.on("pageerror", lambda e: self.noted.append(str(e)))
        self.page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else self.noted.append(r.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("body[data-ready]")

    def step(self, kind: str, to: int) -> float:
        self.page.evaluate(f"chappe.step({kind!r}, {to})")
        return float(self.page.evaluate("chappe.time()"))


def short(file: Path) -> chappe.Scenario:
    scenario = chappe.Scenario.load(file)
    stop = str(scenario.settings["run"]["stop"])
    number, _, unit = stop.partition(" ")
    is_long = unit == "delivered" and float(number) > 3000
    return scenario.with_settings({"run.stop": "2200 delivered"}) if is_long else scenario


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_runs_in_the_page_are_those_of_native_code(browser: Any, file: Path, tmp_path: Path) -> None:
    chappe.run(short(file)).report(tmp_path / "run.html", title=file.name)
    opened = Opened(browser, tmp_path / "run.html")
    opened.page.click("#check")
    opened.page.wait_for_selector("body[data-checked]", timeout=300_000)
    assert opened.page.get_attribute("body", "data-checked") == "equal"
    assert opened.noted == []


def test_steps_are_those_of_the_recorded_frames(browser: Any, tmp_path: Path) -> None:
    scenario = chappe.Scenario.chain(5, stop="550 delivered", extends="ns2-2.35")
    chappe.run(scenario).report(tmp_path / "run.html", title=HOSTILE)
    recorded = chappe.run(scenario.with_settings({"run.record": ["frames"]})).recorded["frames"].sort("time_s")
    opened = Opened(browser, tmp_path / "run.html", viewport={"width": 390, "height": 800}, color_scheme="dark")
    assert "<script>" in opened.page.title()
    begin = opened.page.evaluate("chappe.time()")
    times = [t for t in recorded["time_s"].unique().sort().to_list() if t > begin][:30]
    assert [opened.step("frame", 1) for _ in times] == pytest.approx(times, abs=2e-9)
    assert [opened.step("frame", -1) for _ in times[1:]] == pytest.approx(times[-2::-1], abs=2e-9)
    fates = ("hidden_terminal", "same_slot", "captured")
    lost = [t for t, fate in recorded.select("time_s", "outcome").iter_rows() if fate in fates]
    opened.page.evaluate("chappe.seek(0)")
    assert [opened.step("collision", 1) for _ in range(3)] == pytest.approx(sorted(set(lost))[:3], abs=2e-9)
    opened.page.fill("#name", "tcp.varient")
    opened.page.click("#again")
    opened.page.get_by_text("did you mean `variant`?").wait_for()
    assert opened.noted == []
