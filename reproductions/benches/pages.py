"""Reports in a browser: pages of runs (CPU time per picture, size, time to the first picture) and of large studies.

python reproductions/benches/pages.py

Exit status 1: a limit is exceeded. Needs the module (`make wasm`), Chromium, and Playwright for Python.
"""

import bisect
import importlib
import json
import math
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chappe

DENSE = {
    "topology": {"kind": "random", "nodes": 120},
    "routing.protocol": "aodv",
    "traffic.flows": 10,
    "run.stop": "60 s",
}
CHAIN = {"extends": "ns2-2.35", "topology.hops": 7, "run.stop": "5500 delivered"}
SECONDS, LOADS = 6, 5
SPEEDS = (0.001, 1.0)
"""Time of the run in a second."""

WORK_MS, PAGE_BYTES, FIRST_MS = 8.0, 1_000_000, 700.0
"""Limits: 95 % of the CPU times of simulation and drawing, size of the page, median time to the first picture."""


SMALL = {"topology.hops": [2, 3], "tcp.variant": ["newreno", "vegas"]}
LARGE = 10_000
"""Points of a large study."""

STUDY_BYTES, OPEN_S, ROWS_S = 300_000, 0.5, 1.5
"""Limits: size of a page of a small study; CPU time to open the page of a large one, and to show all rows."""

SHOW = """() => new Promise(done => {
    [...document.querySelectorAll("button")].find(button => button.textContent.startsWith("Show all")).click();
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""


def work(events: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """CPU time for each picture [ms]: simulation and drawing; all of the main thread, with layout and painting."""
    drawn = [e for e in events if e["name"] == "FireAnimationFrame"]
    thread = drawn[0]["pid"], drawn[0]["tid"]
    own = [e for e in events if "tdur" in e and (e["pid"], e["tid"]) == thread]
    begun = sorted(e["ts"] for e in drawn)

    def per_picture(wanted: Callable[[str], bool]) -> list[float]:
        times = [0.0] * len(begun)
        for event in own:
            # A task begins before the picture in it.
            if wanted(event["name"]) and (k := bisect.bisect(begun, event["ts"] + event["dur"])):
                times[k - 1] += event["tdur"] / 1000
        return sorted(times)

    scripts = per_picture(lambda name: name in ("FireAnimationFrame", "TimerFire"))
    return scripts, per_picture(lambda name: name.endswith("::RunTask"))


def runs(browser: Any, file: Path) -> bool:
    """Measures pages of runs; true if a limit is exceeded."""
    failed = False
    for name, scenario in {"7 hops": CHAIN, "120 nodes": DENSE}.items():
        chappe.run(scenario).report(file, title=name)
        size, opened = file.stat().st_size, []
        for _ in range(LOADS):
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_selector("body[data-ready]")
            opened.append(float(page.get_attribute("body", "data-ready")))
            if len(opened) < LOADS:
                page.close()
        first = statistics.median(opened)
        print(f"{name}: {size:,} B, first picture after {first:.0f} ms ({min(opened):.0f} to {max(opened):.0f})")
        failed |= size > PAGE_BYTES or first > FIRST_MS
        for speed in SPEEDS:
            page.evaluate("chappe.seek(10)")
            page.fill("#speed", str(math.log10(speed)))
            browser.start_tracing(page=page, categories=["-*", "devtools.timeline", "toplevel"])
            page.click("#play")
            page.wait_for_timeout(1000 * SECONDS)
            page.click("#play")
            both = work(json.loads(browser.stop_tracing())["traceEvents"])
            script, whole = ([f"{statistics.median(t):.1f}", f"{t[int(0.95 * len(t))]:.1f}"] for t in both)
            print(f"    {speed:g} s a second, {len(both[0])} pictures: {script[0]} ms, 95 % below {script[1]} ms;")
            print(f"        with layout and painting {whole[0]} ms, 95 % below {whole[1]} ms")
            failed |= float(script[1]) > WORK_MS
        page.close()
    if failed:
        print(f"The limits are {PAGE_BYTES:,} B, {FIRST_MS:.0f} ms, and {WORK_MS:g} ms a picture")
    return failed


def spent(session: Any) -> float:
    """CPU time of the tasks of a page [s]."""
    measured = session.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in measured if m["name"] == "TaskDuration"))


def studies(browser: Any, file: Path) -> bool:
    """Measures pages of studies; true if a limit is exceeded."""
    chappe.sweep(chappe.Scenario.chain(2, stop="55 delivered"), SMALL, seeds=3).report(file, title="Small")
    size = file.stat().st_size
    limits = {"queue.limit": list(range(1, LARGE + 1))}
    chappe.sweep(chappe.Scenario.chain(1, stop="22 delivered"), limits).report(file, title="Large")
    opened, shown = [], []
    for _ in range(LOADS):
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        page = context.new_page()
        session = context.new_cdp_session(page)
        # CPU time of the main thread.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready]")
        opened.append(spent(session))
        page.evaluate(SHOW)
        shown.append(spent(session) - opened[-1])
        context.close()
    first, rows = statistics.median(opened), statistics.median(shown)
    print(f"Study of 4 points: {size:,} B")
    print(f"Study of {LARGE:,} points: {file.stat().st_size:,} B, opened within {first:.2f} s of CPU time "
          f"({min(opened):.2f} to {max(opened):.2f}), all rows within {rows:.2f} s")  # fmt: skip
    failed = size > STUDY_BYTES or first > OPEN_S or rows > ROWS_S
    if failed:
        print(f"The limits are {STUDY_BYTES:,} B, {OPEN_S:g} s and {ROWS_S:g} s")
    return failed


def main() -> int:
    """Measures all kinds of pages."""
    playwright: Any = importlib.import_module("playwright.sync_api")
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        failed = [measure(browser, Path(folder) / "page.html") for measure in (studies, runs)]
        browser.close()
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
