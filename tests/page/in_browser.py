"""Reports in browsers: ``make test-pages``.

They need the module, Chromium, Firefox, and Playwright and axe for Python.
"""

import hashlib
import importlib
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import page
from chappe.page import lessons
from chappe_papers.paper import Wanted
from small_paper import PAPER

# Not in requirements.lock, because nothing else needs it.
playwright: Any = importlib.import_module("playwright.sync_api")

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
HOSTILE = "</title><script>alert(1)</script> & \u202etxt"
COLLISIONS = ("hidden_terminal", "same_slot", "captured")
MOST = 1100
"""Deliveries of a run at most; its length at most is 20 s."""

LOOKS: list[dict[str, Any]] = [{}, {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}]
"""Wide and light, narrow and dark."""

KINDS: dict[str, dict[str, Any]] = {
    "motion": {
        "extends": "ns2-2.35",
        "topology": {"kind": "random", "nodes": 20, "width": "1200 m", "height": "800 m", "seed": 14},
        "mobility": {"model": "random_waypoint", "max_speed": "20 m/s"},
        "traffic.flows": 3,
        "routing.protocol": "aodv",
        "run.stop": "10 s",
    },
    "wires": {
        "topology": {"hops": 3, "wired_nodes": 2},
        "wired_link": [{"src": 3, "dst": 4}, {"src": 4, "dst": 5, "rate": "4 Mbit/s", "delay": "20 ms"}],
        "flow": [{"src": 0, "dst": 5}, {"src": 5, "dst": 0}],
        "run.stop": "550 delivered",
    },
    "two channels": {
        "topology.hops": 3,
        "node": [{"nodes": "1-2", "radio.channels": [1, 6]}, {"nodes": 3, "radio.channels": [6]}],
        "run.stop": "550 delivered",
    },
    "SINR": {
        "topology": {"kind": "grid", "rows": 3, "columns": 4},
        "radio.reception": "sinr",
        "traffic.flows": 3,
        "routing.protocol": "aodv",
        "run.stop": "550 delivered",
    },
    "a battery that dies": {
        "topology.hops": 3,
        "radio.energy.battery": "4 J",
        "routing.protocol": "aodv",
        "run.stop": "8 s",
    },
    "120 nodes": {
        "topology": {"kind": "random", "nodes": 120},
        "routing.protocol": "aodv",
        "traffic.flows": 10,
        "run.stop": "4 s",
    },
}


ELSEWHERE = "chappe.test"
"""Name of this machine that browsers take for another one."""


@pytest.fixture(scope="module")
def launch() -> Iterator[Callable[[str], Any]]:
    """Browsers of the system by name, each started once: Firefox is driven by WebDriver BiDi."""
    assert page.module() is not None, "make wasm builds the module"
    started: dict[str, Any] = {}
    with playwright.sync_playwright() as p:
        found = shutil.which("firefox-esr") or shutil.which("firefox")
        ways = {
            "chromium": lambda: p.chromium.launch(
                executable_path=shutil.which("chromium"),
                args=["--no-sandbox", f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"],
            ),
            "firefox": lambda: p.firefox.launch(
                channel="moz-firefox",
                executable_path=found,
                firefox_user_prefs={"network.dns.localDomains": ELSEWHERE},
            ),
        }

        def get(name: str) -> Any:
            if name not in started:
                started[name] = ways[name]()
            return started[name]

        yield get
        for browser in started.values():
            browser.close()


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def browser(request: Any, launch: Callable[[str], Any]) -> Any:
    return launch(request.param)


@pytest.fixture(scope="module")
def chromium(launch: Callable[[str], Any]) -> Any:
    """For what Playwright cannot ask of Firefox: clipboards, downloads, printing, and pages without scripts."""
    return launch("chromium")


class Opened:
    """A page from disk, with the network off; notes every message and request."""

    def __init__(
        self, browser: Any, file: Path, *, scripted: bool = True, origin: str = "", fragment: str = "", **options: Any
    ):
        self.context = browser.new_context(offline=not origin, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.noted: list[str] = []
        self.page.on("console", lambda m: self.noted.append(m.text))
        self.page.on("pageerror", lambda e: self.noted.append(str(e)))
        self.page.on("request", self._request)
        self.page.goto((f"{origin}/{file.name}" if origin else file.as_uri()) + (f"#{fragment}" if fragment else ""))
        if scripted:
            self.page.wait_for_selector("body[data-ready]")

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:", f"http://{ELSEWHERE}:")):
            self.noted.append(request.url)

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def time(self) -> float:
        return float(self.page.evaluate("chappe.time()"))

    def seek(self, time_s: float) -> None:
        self.page.evaluate(f"chappe.seek({time_s})")

    def steps(self, kind: str, to: int, n: int) -> list[float]:
        """Instants of some steps to the next or to the previous event."""
        times = []
        for _ in range(n):
            self.page.evaluate(f"chappe.step({kind!r}, {to})")
            times.append(self.time())
        return times

    def run(self, act: Any) -> dict[str, str]:
        """Hashes of the tables of a run in the page."""
        self.page.evaluate("() => { delete document.body.dataset.checked; }")
        act()
        self.page.wait_for_selector("body[data-checked]", timeout=300_000)
        return dict(self.page.evaluate("chappe.hashes"))

    def serious(self) -> list[str]:
        """Rules of accessibility that the page breaks seriously."""
        script = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        self.page.evaluate(script)
        # Frames from disk cannot talk to each other: each is looked at on its own.
        found = self.page.evaluate("axe.run({ iframes: false })")["violations"]
        for frame in self.page.frames[1:]:
            frame.evaluate(script)
            found += frame.evaluate("axe.run()")["violations"]
        return [f"{v['id']}: {v['nodes'][0]['html']}" for v in found if v["impact"] in ("serious", "critical")]


def short(file: Path) -> chappe.Scenario:
    scenario = chappe.Scenario.load(file)
    number, _, unit = str(scenario["run.stop"]).partition(" ")
    most = MOST if unit == "delivered" else 20
    return scenario.with_settings({"run.stop": f"{most} {unit}"}) if float(number) > most else scenario


def hashes(results: chappe.Results) -> dict[str, str]:
    measured: Any = results._measured
    texts = {name: measured.table_json(name) for name in page._CHECKED}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items() if text is not None}


def events(scenario: chappe.Scenario) -> dict[str, list[float]]:
    """Instants of the events of each kind in a recorded run."""
    tables = chappe.run(scenario.with_settings({"run.record": ["frames", "packets", "cwnd", "routes"]})).recorded
    frames = tables["frames"]
    rows = {
        "frame": frames,
        "collision": frames.filter(frames["outcome"].cast(str).is_in(COLLISIONS)),
        "drop": tables["packets"].filter(event="dropped"),
        "timeout": tables["cwnd"].filter(event="timeout"),
        "route": tables["routes"].filter(event="removed"),
    }
    return {kind: apart(table["time_s"].sort().to_list()) for kind, table in rows.items()}


@cache
def meetings(scenario: chappe.Scenario) -> list[float]:
    """Instants at which a frame that is lost in a collision and another frame are on the air, one of them newly."""
    frames = chappe.run(scenario.with_settings({"run.record": ["frames"]})).recorded["frames"]
    rows = [(f["time_s"], f["time_s"] + f["airtime_s"], f["outcome"]) for f in frames.iter_rows(named=True)]
    lost = [row for row in rows if row[2] in COLLISIONS]
    return sorted({max(a[0], b[0]) for a in lost for b in rows if b[0] < a[1] and b[1] > a[0] and b is not a})


def apart(times: Sequence[float]) -> list[float]:
    """Without events at the instant of another one."""
    return [t for i, t in enumerate(times) if i == 0 or t > times[i - 1] + 1e-9]


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_page_is_the_run_of_native_code(browser: Any, file: Path, tmp_path: Path) -> None:
    scenario = short(file)
    chappe.run(scenario).report(tmp_path / "run.html", title=file.name)
    with Opened(browser, tmp_path / "run.html") as opened:
        for kind, times in events(scenario).items():
            opened.seek(0)
            # A few steps forward, and back over all but the last.
            if kind == "collision":
                continue
            first = [t for t in times if t > 1e-9][:4]
            assert opened.steps(kind, 1, len(first)) == pytest.approx(first, abs=2e-9), kind
            assert opened.steps(kind, -1, len(first) - 1) == pytest.approx(first[-2::-1], abs=2e-9), kind
        opened.seek(0)
        forward = opened.steps("collision", 1, min(4, len(meetings(scenario))))
        assert all(any(abs(t - m) < 2e-9 for m in meetings(scenario)) for t in forward)
        assert forward == sorted({*forward})
        assert opened.steps("collision", -1, len(forward) - 1) == pytest.approx(forward[-2::-1], abs=2e-9)
        assert opened.run(lambda: opened.page.click("#check")) == hashes(chappe.run(scenario))
        assert opened.page.get_attribute("body", "data-checked") == "equal"
        assert "Equal to the byte" in opened.page.text_content("#said")
        slider = opened.page.locator("input.slider").first
        name, value = slider.get_attribute("data-name"), int(slider.get_attribute("data-measured"))
        other = value // 2 if value > 1 else 2
        changed = chappe.run(scenario.with_settings({name: other}))
        assert opened.run(lambda: slider.fill(str(other))) == hashes(changed)
        assert opened.noted == []


def test_the_player_names_the_rates_of_links(browser: Any, tmp_path: Path) -> None:
    """The slower rate of both directions of each pair, as the map of the scenario has them, also after a node moved."""
    scenario = chappe.Scenario.load(Path(__file__).parents[2] / "scenarios/ivynet.toml")
    away = {"at": "10 ms", "action": "node_move", "node": 5, "destination": ["30 m", "30 m"], "speed": "10000 m/s"}
    scenario = scenario.with_settings({"run.stop": "20 ms", "event": [away]})
    found = {(a, b): rate for a, b, _, rate in scenario._core.links() if rate}
    slower = {min(rate, found[b, a]) for (a, b), rate in found.items() if (b, a) in found}
    named = [f"{rate / 1e6:g} Mbit/s" for rate in sorted(slower)]
    assert len(named) > 2
    chappe.run(scenario).report(tmp_path / "run.html")
    with Opened(browser, tmp_path / "run.html") as opened:
        assert opened.page.locator("#rates .rate").all_text_contents() == named
        opened.seek(15e-3)
        assert opened.page.locator("#rates .rate").all_text_contents() == named
        assert opened.serious() == []
        assert opened.noted == []


def test_every_step_is_one_of_native_code(browser: Any, tmp_path: Path) -> None:
    scenario = chappe.Scenario.chain(5, stop="550 delivered", extends="ns2-2.35")
    chappe.run(scenario).report(tmp_path / "run.html", title=HOSTILE)
    options: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
    with Opened(browser, tmp_path / "run.html", **options) as opened:
        assert "<script>" in opened.page.title()
        native = events(scenario)
        opened.seek(0)
        assert opened.steps("frame", 1, 40) == pytest.approx(native["frame"][:40], abs=2e-9)
        late = native["drop"][-5:]
        opened.seek(late[-1] + 1e-6)
        assert opened.steps("drop", -1, 5) == pytest.approx(late[::-1], abs=2e-9)
        opened.page.fill("#name", "tcp.varient")
        opened.page.click("#again")
        opened.page.get_by_text("did you mean `variant`?").wait_for()
        assert opened.noted == []


@pytest.mark.parametrize("kind", KINDS)
def test_pages_of_all_kinds(browser: Any, kind: str, tmp_path: Path) -> None:
    results = chappe.run(KINDS[kind])
    results.report(tmp_path / "run.html", title=kind)
    assert (tmp_path / "run.html").stat().st_size < 1e6
    with Opened(browser, tmp_path / "run.html") as opened, chappe.start(KINDS[kind]) as native:
        # The map is some microseconds ahead.
        for at in ("0.9 s", "1.7 s", "3.2 s"):
            ahead = f"{round(float(at.split()[0]) * 1e9) + 3000} ns"
            opened.seek(float(at.split()[0]))
            if opened.time() < float(at.split()[0]) or not native.run_until(ahead):
                break
            seen = opened.page.evaluate("chappe.run.stations")
            assert seen == [pytest.approx(row, nan_ok=True) for row in native.stations().to_dicts()]
            opened.page.evaluate("chappe.advance(0.013)")
        opened.page.click("#play")
        opened.page.wait_for_timeout(300)
        opened.page.click("#play")
        opened.page.select_option("#node", "1")
        assert opened.page.text_content("#seen").startswith("Node 1")
        assert opened.serious() == []
        opened.page.emulate_media(color_scheme="dark")
        assert opened.serious() == []
        assert opened.noted == []


def test_a_capture_from_the_page_is_that_of_native_code(chromium: Any, tmp_path: Path) -> None:
    scenario = chappe.Scenario.chain(3, stop="220 delivered", extends="ns2-2.35")
    chappe.run(scenario, pcap=tmp_path / "native").report(tmp_path / "run.html", title="A chain")
    with Opened(chromium, tmp_path / "run.html") as opened:
        opened.page.select_option("#node", "2")
        with opened.page.expect_download() as download:
            opened.page.click("#capture")
        assert download.value.suggested_filename == "node-2.pcapng"
        written = Path(download.value.path()).read_bytes()
        assert written == (tmp_path / "native" / "node-2.pcapng").read_bytes()
        assert opened.noted == []


def test_findings_and_tables_need_no_script(chromium: Any, tmp_path: Path) -> None:
    chappe.run(KINDS["SINR"]).report(tmp_path / "run.html", title="Without a script")
    context = chromium.new_context(offline=True, java_script_enabled=False)
    opened = context.new_page()
    opened.goto((tmp_path / "run.html").as_uri())
    assert opened.locator("ul.findings li").first.is_visible()
    tables = opened.locator("table:not(details table)")
    assert tables.count() >= 3
    assert all(table.is_visible() for table in tables.all())
    opened.locator("details summary").first.click()
    assert opened.locator("details table").first.is_visible()
    assert opened.locator("svg.map").is_visible()
    assert not opened.locator("#play").is_visible()
    context.close()


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 60 s over a chain."""
    file: Path = tmp_path_factory.mktemp("chain") / "run.html"
    chappe.run(chappe.Scenario.chain(3, stop="60 s", extends="ns2-2.35")).report(file, title="A chain")
    return file


def test_the_last_of_two_seeks_holds(browser: Any, chain: Path) -> None:
    with Opened(browser, chain) as opened:
        opened.page.evaluate("Promise.all([chappe.seek(55), chappe.seek(2)])")
        assert opened.time() == 2
        assert opened.page.evaluate("chappe.run.sim") < 10
        assert opened.steps("frame", 1, 1)[0] == pytest.approx(2, abs=0.1)


def test_the_last_of_two_runs_writes_its_result(browser: Any, chain: Path) -> None:
    with Opened(browser, chain) as opened:
        for stop in ("600 s", "5 s"):
            opened.page.fill("#name", "run.stop")
            opened.page.fill("#value", stop)
            opened.page.click("#again")
        opened.page.get_by_text("With run.stop = 5 s.").wait_for()
        # The first one has ended: a run after it says so, and nothing follows.
        opened.run(lambda: opened.page.click("#check"))
        opened.page.wait_for_timeout(3000)
        assert "Equal to the byte" in opened.page.text_content("#said")
        assert opened.noted == []


def test_whole_numbers_above_2_to_the_53rd(browser: Any, tmp_path: Path) -> None:
    seed = 2**53 + 1
    scenario = chappe.Scenario.chain(2, stop="55 delivered").with_settings({"run.seed": seed})
    chappe.run(scenario).report(tmp_path / "run.html")
    with Opened(browser, tmp_path / "run.html") as opened:
        assert opened.run(lambda: opened.page.click("#check")) == hashes(chappe.run(scenario))
        opened.page.fill("#name", "run.seed")
        opened.page.fill("#value", str(seed + 2))
        other = chappe.run(scenario.with_settings({"run.seed": seed + 2}))
        assert opened.run(lambda: opened.page.click("#again")) == hashes(other)
        assert f"run.seed = {seed + 2}" in opened.page.text_content("#said")


def test_keys_of_the_browser_stay_its_own(browser: Any, chain: Path) -> None:
    with Opened(browser, chain) as opened:
        opened.seek(1)
        keys = opened.page.keyboard
        table = opened.page.locator("details").first
        for is_open in (True, False):
            table.locator("summary").focus()
            keys.press("Space")
            assert table.evaluate("d => d.open") is is_open
            assert opened.page.text_content("#play") == "Play"
        for key in ("Control+c", "Alt+ArrowUp"):
            opened.page.evaluate("document.activeElement.blur()")
            keys.press(key)
        opened.page.locator("main > .scroll").first.focus()
        keys.press("ArrowRight")
        opened.page.wait_for_timeout(300)
        assert opened.time() == 1
        opened.page.evaluate("document.activeElement.blur()")
        keys.press("ArrowRight")
        opened.page.evaluate(
            "new Promise(r => { const look = () => chappe.time() > 1 ? r() : setTimeout(look, 20); look(); })"
        )
        keys.press("Space")
        assert opened.page.text_content("#play") == "Pause"


def test_map_and_lanes_by_keys(browser: Any, chain: Path) -> None:
    with Opened(browser, chain) as opened:
        opened.seek(1)
        keys = opened.page.keyboard
        opened.page.focus("#place")
        for node in (0, 1, 2):
            keys.press("ArrowDown")
            assert opened.page.text_content("#seen").startswith(f"Node {node}")
        keys.press("ArrowUp")
        assert opened.page.text_content("#seen").startswith("Node 1")
        opened.page.focus("#lanes")
        keys.press("ArrowDown")
        first = opened.page.text_content("#story p")
        keys.press("ArrowUp")
        assert opened.page.text_content("#story p") != first
        keys.press("ArrowDown")
        assert opened.page.text_content("#story p") == first
        assert "By node: " in first
        assert opened.time() == 1


def test_a_page_over_plain_http(browser: Any, chain: Path) -> None:
    """As a server in a classroom has it: browsers have no digest there."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(chain.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            with Opened(browser, chain, origin=f"http://{ELSEWHERE}:{server.server_port}") as opened:
                assert opened.page.evaluate("isSecureContext") is False
                opened.run(lambda: opened.page.click("#check"))
                assert opened.page.get_attribute("body", "data-checked") == "equal"
        finally:
            server.shutdown()


def test_a_page_of_320_pixels(browser: Any, chain: Path) -> None:
    with Opened(browser, chain, viewport={"width": 320, "height": 700}) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_closed_parts_are_printed(chromium: Any, chain: Path) -> None:
    with Opened(chromium, chain) as opened:
        inside = opened.page.locator("details table").first
        shown = "e => e.checkVisibility({ contentVisibilityAuto: true }) && e.getBoundingClientRect().height > 20"
        assert not inside.evaluate(shown)
        opened.page.emulate_media(media="print")
        assert inside.evaluate(shown)


def test_a_map_says_what_it_leaves_out(browser: Any, tmp_path: Path) -> None:
    network = {"topology": {"kind": "random", "nodes": 1000, "connected": False}, "traffic.flows": 2, "run.stop": "1 s"}
    chappe.run(network).report(tmp_path / "run.html")
    with Opened(browser, tmp_path / "run.html") as opened:
        links = opened.page.evaluate("chappe.run.links.length")
        assert links > 6000
        text = f"Not drawn for 1,000 nodes: the {links:,} links; names and queues of the nodes."
        assert opened.page.text_content("#left-out").startswith(text)


@pytest.fixture(scope="module")
def study() -> chappe.Study:
    axes = {"topology.hops": [2, 3, 4], "tcp.variant": ["newreno", "vegas"], "tcp.receive_window": [2, 8]}
    return chappe.sweep(chappe.Scenario.chain(2, stop="55 delivered"), axes, seeds=3)


def test_a_page_of_a_study(browser: Any, study: chappe.Study, tmp_path: Path) -> None:
    study.report(tmp_path / "study.html", measures=["goodput_bps", "mean_delay_s"], title=HOSTILE)
    assert (tmp_path / "study.html").stat().st_size < 3e5
    for options in LOOKS:
        with Opened(browser, tmp_path / "study.html", **options) as opened:
            assert "<script>" in opened.page.title()
            figure = opened.page.locator(".figure").first
            curves = figure.locator('.curve[data-group="0"]')
            assert curves.count() == 2
            figure.locator(".toggle").first.uncheck()
            assert not curves.first.is_visible()
            assert figure.locator('.curve[data-group="1"]').first.is_visible()
            point = figure.locator('.curve[data-group="1"] .point').first
            point.focus()
            assert figure.locator(".tip").text_content() == point.locator("title").text_content()
            sheet = opened.page.locator(".sheet").first
            head = sheet.locator("th", has_text="estimate")
            head.locator("button").click()
            assert head.get_attribute("aria-sort") == "ascending"
            cells = [float(c.replace(",", "")) for c in sheet.locator("td:nth-child(5)").all_text_contents()]
            assert cells == sorted(cells)
            # No part is wider than the page.
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert opened.serious() == []
            assert opened.noted == []


def test_a_table_is_copied_with_tabs(chromium: Any, study: chappe.Study, tmp_path: Path) -> None:
    study.report(tmp_path / "study.html")
    with Opened(chromium, tmp_path / "study.html", permissions=["clipboard-read", "clipboard-write"]) as opened:
        sheet = opened.page.locator(".sheet").first
        sheet.locator(".copy").click()
        opened.page.get_by_text("12 rows copied").wait_for()
        lines = opened.page.evaluate("navigator.clipboard.readText()").splitlines()
        assert lines[0].split("\t")[:4] == ["topology.hops", "tcp.variant", "tcp.receive_window", "measure"]
        assert len(lines) == 13
        assert opened.noted == []


def test_a_study_needs_no_script(chromium: Any, study: chappe.Study, tmp_path: Path) -> None:
    study.report(tmp_path / "study.html")
    context = chromium.new_context(offline=True, java_script_enabled=False)
    opened = context.new_page()
    opened.goto((tmp_path / "study.html").as_uri())
    for part in ("ul.findings li", "svg.plot", "table", "pre"):
        assert opened.locator(part).first.is_visible()
    opened.emulate_media(media="print")
    assert not opened.locator(".copy").first.is_visible()
    assert opened.locator("svg.plot").first.is_visible()
    context.close()


def test_a_long_table(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows beyond the first are text until they are wanted, and a table of their own without scripts."""
    monkeypatch.setattr("chappe.page.study._MANY", 300)
    limits = {"queue.limit": list(range(1, 302))}
    chappe.sweep(chappe.Scenario.chain(1, stop="22 delivered"), limits).report(tmp_path / "study.html")
    with Opened(chromium, tmp_path / "study.html", permissions=["clipboard-read", "clipboard-write"]) as opened:
        sheet = opened.page.locator(".sheet").first
        rows = sheet.locator("tbody tr")
        assert rows.count() == 200
        sheet.locator(".copy").click()
        opened.page.get_by_text("301 rows copied").wait_for()
        copied = opened.page.evaluate("navigator.clipboard.readText()").splitlines()
        assert [line.split("\t")[0] for line in copied[1:]] == [str(limit) for limit in range(1, 302)]
        for first in ("1", "301"):
            sheet.locator("th").first.locator("button").click()
            assert rows.first.locator("td").first.text_content() == first
        assert rows.count() == 200
        sheet.get_by_text("Show all 301 rows").click()
        assert rows.count() == 301
        assert rows.last.locator("td").first.text_content() == "1"
        assert opened.serious() == []
        assert opened.noted == []
    context = chromium.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "study.html").as_uri())
    assert page.locator(".sheet").first.locator("tbody tr").count() == 301
    assert page.locator("caption").first.is_visible()
    context.close()


@pytest.mark.parametrize("name", lessons.ORDER)
def test_a_lesson(browser: Any, name: str, tmp_path: Path) -> None:
    """Every number of every answer is in the table of runs, after the run that the answer names."""
    (tmp_path / "lesson.html").write_text(lessons.page_of(name), encoding="utf-8")
    assert (tmp_path / "lesson.html").stat().st_size < 1e6
    taught = lessons.lesson(name)
    columns = [reading.name for reading in taught.readings]
    with Opened(browser, tmp_path / "lesson.html") as opened:
        answers = opened.page.locator("ol.questions .answer")
        assert answers.count() == len(taught.questions)
        assert not answers.first.locator("p").is_visible()
        answers.first.locator("summary").press("Enter")
        assert answers.first.locator("p").is_visible()
        row = opened.page.locator("#log tbody tr").first.locator("td")
        shown: dict[str, str] = {}
        for i, preset in enumerate(taught.presets, 1):
            opened.page.get_by_role("button", name=preset, exact=True).click()
            opened.page.wait_for_selector(f"body[data-went='{i}']")
            run, *cells = row.all_text_contents()
            assert run.startswith(f"{i}. ")
            shown |= {f"{preset}|{column}": cell for column, cell in zip(columns, cells, strict=True)}
        numbers = opened.page.locator("ol.questions data").all()
        assert numbers
        for number in numbers:
            assert number.text_content() == shown[number.get_attribute("value")], number.get_attribute("value")
        # Another knob keeps what the preset has set, and the player shows that run.
        knob = opened.page.locator("select.knob").last
        knob.select_option(index=1 if knob.input_value() == "0" else 0)
        opened.page.click("#go")
        opened.page.wait_for_selector(f"body[data-went='{len(taught.presets) + 1}']")
        assert row.first.text_content().partition(" ")[2] in opened.page.text_content("#shown")
        opened.page.click("#play")
        opened.page.wait_for_timeout(200)
        assert opened.time() > 0
        assert opened.serious() == []
        for width, scheme in ((320, "dark"), (1280, "light")):
            opened.page.set_viewport_size({"width": width, "height": 800})
            opened.page.emulate_media(color_scheme=scheme)
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert opened.serious() == []
        assert opened.noted == []


def test_a_lesson_is_printed_without_answers_and_with_them(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "lesson.html").write_text(lessons.page_of("hidden-terminal"), encoding="utf-8")
    with Opened(chromium, tmp_path / "lesson.html") as opened:
        opened.page.locator(".teacher summary").first.click()
        opened.page.emulate_media(media="print")

        def visible(*parts: str) -> list[bool]:
            return [opened.page.locator(part).first.is_visible() for part in parts]

        parts = (".lines", "table.blank", ".answer p", ".teacher table")
        assert visible(*parts) == [True, True, False, False]
        opened.page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
        opened.page.evaluate("document.getElementById('solved').click()")
        assert visible(*parts) == [False, False, True, True]
        opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visible(*parts) == [True, True, False, False]


def test_the_first_step_to_a_collision_shows_one(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "lesson.html").write_text(lessons.page_of("hidden-terminal"), encoding="utf-8")
    with Opened(browser, tmp_path / "lesson.html") as opened:
        opened.page.keyboard.press("c")
        opened.page.wait_for_function("chappe.time() > 0.0003")
        states = opened.page.evaluate("chappe.run.stations.map((s) => s.state)")
        assert states == ["transmitting", "colliding", "transmitting"]


def test_a_player_in_a_frame(browser: Any, tmp_path: Path) -> None:
    """As a notebook shows it: the page plays, and cannot reach the page around it."""
    player = chappe.run(chappe.Scenario.chain(2, stop="55 delivered")).player(title=HOSTILE)
    text = (
        f"<!doctype html><html lang=en><title>Notebook</title><body><main>{player._repr_html_()}</main></body></html>"
    )
    (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
    with Opened(browser, tmp_path / "notebook.html", scripted=False) as opened:
        frame = opened.page.frame_locator("iframe")
        frame.locator("body[data-ready]").wait_for()
        frame.locator("#play").click()
        inner = opened.page.frames[1]
        assert inner.evaluate("window.origin") == "null"
        assert opened.noted == []


def test_a_page_of_a_paper(browser: Any, tmp_path: Path) -> None:
    assert PAPER.reproduce(tmp_path, wanted=Wanted(), quick=False, jobs=1) == 0
    for options in LOOKS:
        with Opened(browser, tmp_path / "index.html", scripted=False, **options) as opened:
            assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert opened.serious() == []
            assert opened.noted == []
