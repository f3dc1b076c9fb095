"""Reports in a browser: CPU time per picture of 120 nodes, size of the page, time to the first picture.

python benches/pages.py

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


def main() -> int:
    """Measures both kinds of pages."""
    playwright: Any = importlib.import_module("playwright.sync_api")
    failed = False
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, scenario in {"7 hops": CHAIN, "120 nodes": DENSE}.items():
            file = Path(folder) / "run.html"
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
        browser.close()
    if failed:
        print(f"The limits are {PAGE_BYTES:,} B, {FIRST_MS:.0f} ms, and {WORK_MS:g} ms a picture")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
