"""Shortened reproduction and validation: output and files."""

import csv
import dataclasses
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli, plot
from chappe.results.storage.columns import TABLES
from chappe.stats import Estimate
from chappe.study import RunCache
from chappe_papers.elrakabawy2005 import PAPER, udp
from chappe_papers.elrakabawy2005.claims import ALL as CLAIMS
from chappe_papers.elrakabawy2005.design import COMPARED, DESIGN, GOODPUT, JAIN, MEASURES, Length
from chappe_papers.elrakabawy2005.extras import EXTRAS, components
from chappe_papers.elrakabawy2005.figures import FIGURES
from chappe_papers.elrakabawy2005.figures import TABLES as SHEETS
from chappe_papers.elrakabawy2005.points import RATES, UDP, VARIANTS, WINDOWS, Point, scenario
from chappe_papers.elrakabawy2005.udp import CLIFF, OPTIMUM, delay_point
from chappe_papers.elrakabawy2005.validate import VALIDATION, kind
from chappe_papers.judging.words import Verdict
from chappe_papers.runs.estimates import Measure
from chappe_papers.runs.reference import Record
from chappe_papers.runs.runner import Runner
from chappe_papers.validation.records import Recorded, run_key
from command import contents
from markdown import blocks

SHORT = Length(110, 110, 60, 60, 110, 110, 12, seeds=2, many=2, doubted=2, states=4, draws=1, x=(4, 7, 8))


def files(number: int) -> list[str]:
    return [f"figure{number}.{kind}" for kind in ("csv", "pdf", "png", "svg")]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[RunCache]:
    with DESIGN.run_cache(tmp_path, 2) as cache:
        yield cache


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DESIGN, "quick", SHORT)


class Loads(HTMLParser):
    """Resources that a browser loads to show a page, without hyperlinks."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "srcset", "href", "xlink:href", "data", "poster", "background", "action") and tag != "a":
                self.found.append(value or "")
            if name == "style":
                self.handle_data(value or "")

    def handle_data(self, data: str) -> None:
        self.found += re.findall(r"url\(\s*['\"]?([^)'\"]*)", data) + re.findall(r"@import\s*['\"]([^'\"]*)", data)


def reproduced(out: Path, *arguments: str) -> dict[str, bytes]:
    assert cli.main(["paper", "elrakabawy2005", "--quick", "--out", str(out), *arguments]) == 0
    return {name: data for name, data in contents(out).items() if not name.startswith("runs/")}


@pytest.mark.usefixtures("shortened")
def test_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as m:
        # Other tests write the other formats.
        m.setattr(plot, "FORMATS", ("svg",))
        written = reproduced(tmp_path / "a", "--jobs", "2")
    printed, complaints = capsys.readouterr()
    assert complaints == ""
    words = "|".join(v.value for v in Verdict)
    unwrapped = re.sub(r" ?\n(?!- |Claims: )", " ", printed)
    for f in PAPER.findings:
        assert re.search(
            rf"^- {re.escape(f.says)}: ({words})\b.* \(published: ({words})\b.*; "
            rf"{re.escape(f.of)}: paper .*; here .*\)(: .*)?\. \[.*\]$",
            unwrapped,
            re.MULTILINE,
        )
    for text in ("Claims: ", "Figure 6: goodput", "Table 3: Jain's index"):
        assert text in printed
    figures = [f"{figure}.{end}" for figure in ("key", *(f"figure{n}" for n in FIGURES)) for end in ("csv", "svg")]
    tables = [f"{name}.csv" for name in (*EXTRAS, *(f"table{n}" for n in SHEETS))]
    files_ = ("answers.csv", "claims.csv", "findings.csv", "searches.csv", "unknowns.csv", "index.html", "paper.md")
    assert sorted(written) == sorted([*figures, *tables, *files_])

    # Existing runs are not repeated.
    reproduced(tmp_path / "a", "--table", "3")
    assert re.search(r"^Runs: 0 of \d+ were made, the others were available\.", capsys.readouterr().out, re.MULTILINE)

    # Another number of threads gives identical files.
    beginnings = {"csv": b"", "pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml"}
    for n in (6, 10):
        first = reproduced(tmp_path / "a", "--figure", str(n))
        again = reproduced(tmp_path / "b", "--figure", str(n), "--jobs", "1")
        assert {f: again[f] for f in files(n)} == {f: first[f] for f in files(n)}
        assert all(again[f].startswith(beginnings[f[-3:]]) for f in files(n))

    page = written["index.html"].decode()
    loads = Loads()
    loads.feed(page)
    assert loads.tags.count("svg") == len(FIGURES) + 1
    assert loads.found, "the figures refer to parts of themselves"
    assert all(found.startswith("#") for found in loads.found)
    assert "script" not in loads.tags
    for claim in CLAIMS:
        assert claim.id in page
    assert "extends = &#34;ns2-2.35&#34;" in page

    # Every tried value, and again for values with long runs.
    tried = list(csv.DictReader(written["searches.csv"].decode().splitlines()))
    windows = [
        float(r["value"])
        for r in tried
        if (r["setting"], r["hops"], r["rate_mbps"]) == ("tcp.receive_window", "7", "11.0")
    ]
    assert windows == [float(w) for w in WINDOWS]
    paced = [r for r in tried if (r["setting"], r["hops"], r["rate_mbps"]) == ("cbr.interval_ms", "8", "2.0")]
    assert len({r["value"] for r in paced}) == 13 + 8
    short, long = ({r["value"]: float(r["goodput_bps"]) for r in paced if (r["runs"] == "1") == one} for one in (1, 0))
    order = sorted(short, key=lambda t: -short[t])
    promise = [short[t] > 1.005 * max(long[u] for u in order[:i]) for i, t in enumerate(order[: len(long)]) if i]
    assert set(long) == set(order[: len(long)])
    assert all(promise)
    assert len(long) == 5 or short[order[len(long)]] <= 1.005 * max(long.values())
    assert all(float(r["half_width_95"]) > 0 if int(r["runs"]) > 1 else r["half_width_95"] == "" for r in paced)

    # Numbers of the page equal numbers of the files.
    rows = list(csv.DictReader(written["figure6.csv"].decode().splitlines()))
    assert {(r["hops"], r["variant"]) for r in rows if r["source"] == "chappe"} == {
        (h, v) for h in ("4", "7", "8") for v in ("newreno", "vegas2", "newreno_thin", UDP)
    }
    recorded = next(r for r in rows if (r["hops"], r["variant"], r["source"]) == ("4", "newreno", "ns-2.35"))
    assert float(recorded["value"]) == pytest.approx(250_900, abs=50)
    ours = next(r for r in rows if (r["hops"], r["variant"], r["source"]) == ("4", "newreno", "chappe"))
    assert f"{float(ours['value']) / 1e3:.1f}"[:3] in page


@pytest.mark.usefixtures("shortened")
def test_the_page_in_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reproduced(tmp_path, "--figure", "8")
    page = tmp_path / "paper.md"
    assert list(blocks(page)) == []
    text = page.read_text(encoding="utf-8")
    for heading in ("## Claims", "![Figure 8: mean window", "## Method"):
        assert heading in text
    assert re.search(r", date: \d{4}-\d\d-\d\d, cost: ", text)
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in tables)
    assert "table" not in text
    capsys.readouterr()


@pytest.mark.usefixtures("shortened")
@pytest.mark.parametrize(
    ("arguments", "written", "claims"),
    [
        (("--figure", "1"), files(1), set()),
        (("--figure", "8"), files(8), {"P0-A-8", "P0-F8-1", "P0-F8-2", "P0-F8-3"}),
        (("--figure", "15"), files(15), set()),
        (("--figure", "10"), files(10), {"P0-F10-1", "P0-F10-2"}),
        (("--table", "1"), ["table1.csv"], set()),
        (("--table", "2"), ["table2.csv"], set()),
        (("--claim", "P0-F17-1"), [], {"P0-F17-1"}),
        (("--claim", "P0-A-8"), [], {"P0-A-8"}),
    ],
)
def test_a_part(
    arguments: tuple[str, str],
    written: list[str],
    claims: set[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = ["claims.csv"] if claims else []
    created = set(reproduced(tmp_path / "one", *arguments)) - {"searches.csv"}
    assert created == {*written, *more, "index.html", "paper.md"}
    printed = capsys.readouterr().out
    assert {c.id for c in CLAIMS if f"\n{c.id}: " in printed} == claims


def test_nodes_that_reach_each_other() -> None:
    """Three nodes in a row, 250 m apart, and two others, a step farther away."""
    xy_m = np.array([[0, 0], [250, 0], [500, 0], [751, 0], [751, 250]], dtype=float)
    assert [sorted(sizes) for sizes in components(np.array([xy_m, 2 * xy_m, 0 * xy_m]), 250.0)] == [
        [2, 3],
        [1, 1, 1, 1, 1],
        [5],
    ]
    assert components(np.array([xy_m]), 251.0) == [[5]]


def test_tables_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reproduced(tmp_path, "--table", "1")
    rows = list(csv.DictReader((tmp_path / "table1.csv").read_text().splitlines()))
    assert [(r["name"], r["paper"], r["ours"]) for r in rows] == [
        ("Wmax", "64", "64"),
        ("Winit", "1", "1, 1"),
        ("alpha = beta", "2", "2, 2"),
        ("gamma", "alpha", "2"),
    ]
    capsys.readouterr()


# ---- measures of a run ----


def test_measures_of_a_run_of_several_flows() -> None:
    results = chappe.run(scenario(Point("newreno", 0, 11.0, "grid5x5m4"), "660 delivered", batches=6), seed=1)
    numbers = DESIGN.of_run({name: getattr(results, name) for name in TABLES})
    goodput = results.flows["goodput_bps"].to_list()
    assert [numbers[f"flow{f}_bps"] for f in range(6)] == goodput
    ends = {0, 4, 8, 12, 16, 20, 2, 18}
    between = [r for r in results.nodes.iter_rows(named=True) if r["node"] not in ends]
    values = [r["link_drop_probability"] for r in between if not math.isnan(r["link_drop_probability"])]
    assert numbers["intermediate_drops"] == pytest.approx(sum(values) / len(values))


def test_slow_start_is_the_time_below_ssthresh() -> None:
    """A window and ssthresh of 3 leave almost no slow start; sampling does not change the run."""
    plain = scenario(Point("newreno", 4), "1100 delivered")
    sampled = plain.with_settings({"run.sample_interval": "100 ms"})
    results = chappe.run(sampled, seed=1)
    assert results.flows.equals(chappe.run(plain, seed=1).flows)
    numbers = DESIGN.of_run({name: getattr(results, name) for name in TABLES})
    begin = results.batches.filter("used")["started_at_s"].min()
    later = results.samples.filter(pl.col("time_s") >= begin)
    slow = later.filter(pl.col("cwnd_segments") < pl.col("ssthresh_segments"))
    assert numbers["slow_start"] == pytest.approx(len(slow) / len(later))
    assert 0 < numbers["slow_start"] < 1


# ---- paced UDP ----


def test_delays_of_lone_datagrams_are_those_of_the_arithmetic(runs: RunCache) -> None:
    """Four hops, each with DIFS, backoff of 0 to 30 slots, RTS, CTS, DATA, ACK and 3 SIFS.

    The last ACK and the SIFS before it do not count. The link layer delay of 25 us counts at both ends; at relays it
    overlaps the ACK.
    """
    runner = Runner(DESIGN, SHORT._replace(delay_packets=1000), runs)
    runner.run([delay_point(4, r, preamble) for r in RATES for preamble in ("long", "short")])
    for rate in (2.0, 5.5, 11.0):
        hop = 50 + 352 + 304 + 304 + 30 + 192 + (1480 + 34) * 8 / rate
        alone = (4 * hop - 314 + 50) / 1e3
        names = {"min": "delay_min_s", "mean": "mean_delay_s", "max": "delay_max_s"}
        delays = {n: 1e3 * runner.get(delay_point(4, rate), name).mean for n, name in names.items()}
        assert alone < delays["min"] < delays["mean"] < delays["max"] < alone + 4 * 0.6 + 0.01
        assert delays["mean"] == pytest.approx(alone + 4 * 0.3, abs=0.05)
        # Only the data frame has a short preamble: frames at 1 Mbit/s always have a long preamble.
        short = 1e3 * runner.get(delay_point(4, rate, "short"), "mean_delay_s").mean
        assert delays["mean"] - short == pytest.approx(4 * 0.096, abs=0.05)


def test_the_search_finds_the_best_time(runs: RunCache) -> None:
    """Goodput over two hops corresponds to two successive MAC exchanges of at most 7.59 ms each."""
    runner = Runner(DESIGN, SHORT._replace(udp_packets=2200, search_packets=2200, delay_packets=200), runs)
    udp.best(runner, [Point(UDP, 2)])
    best = runner.values[Point(UDP, 2)]
    assert best["interval_ms"].mean <= 2 * 7.588 * 1.02
    assert best[GOODPUT].mean == pytest.approx(DESIGN.ns2().values[Point(UDP, 2)][GOODPUT].mean, rel=0.02)


def test_the_cliff(runs: RunCache) -> None:
    runner = Runner(DESIGN, SHORT._replace(udp_packets=4400), runs)
    wanted = [*(Point(UDP, 7, interval_ms=t) for t in (28.0, *CLIFF, 50.0)), OPTIMUM]
    for stage in DESIGN.stages(wanted, runner.length):
        stage(runner)
    for t in CLIFF:
        p = Point(UDP, 7, interval_ms=t)
        assert len(runner.runs[p]) == 4
        collapsed = runner.runs[p]["last_bps"] < 0.75 * 1460 * 8e3 / t
        assert runner.get(p, "collapsed").mean == pytest.approx(collapsed.mean())
    assert 34 <= runner.values[OPTIMUM]["interval_ms"].mean <= 36.5
    assert runner.get(Point(UDP, 7, interval_ms=28.0), "collapsed").mean == 1
    assert runner.get(Point(UDP, 7, interval_ms=50.0), "collapsed").mean == 0


@pytest.mark.usefixtures("shortened")
def test_results_go_into_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["paper", "elrakabawy2005", "--figure", "6", "--quick"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["results"]
    assert (tmp_path / "results" / "elrakabawy2005" / "index.html").exists()


# ---- validation ----


def record(variant: str, hops: int) -> Record:
    point = Point(variant, hops)
    return next(r for r in VALIDATION.records() if r.point == point)


def comparison(theirs: Estimate, ours: Estimate, tolerance: float, absolute: bool = False) -> Recorded:
    measure = Measure("goodput", 1, tolerance, absolute)
    return Recorded("", "", Point("newreno", 2), GOODPUT, measure, theirs, ours, record=record("newreno", 2))


@pytest.mark.parametrize(
    ("reference", "ours", "error", "off", "agrees"),
    [
        (100.0, 102.9, 0.0, 0.029, True),
        (100.0, 97.1, 0.0, -0.029, True),
        (100.0, 103.1, 0.0, 0.031, False),
        (100.0, 110.0, 10.0, 0.1, True),
        (100.0, 110.0, 1.0, 0.1, False),
        (0.0, 0.0, 0.0, 0.0, True),
        (0.0, 1.0, 0.1, math.inf, False),
        (0.0, 1.0, 1.0, math.inf, True),
    ],
)
def test_numbers_agree_within_the_tolerance_or_the_interval(
    reference: float, ours: float, error: float, off: float, agrees: bool
) -> None:
    c = comparison(Estimate(reference, error**2, 9), Estimate(ours, error**2, 9), 0.03)
    # Equal variances: 18 degrees of freedom, Student's t is 2.1009.
    assert c.half_width == pytest.approx(2.1009 * math.sqrt(2) * error, rel=1e-4)
    assert c.off == pytest.approx(off)
    assert c.agrees is agrees


def test_runs_are_compared_with_the_others() -> None:
    """One of four runs is far from three equal runs; as a member of the rest, it widens every interval."""
    exact = [Estimate(mean, 0.0, 9) for mean in (100.0, 100.0, 100.0, 200.0)]
    c = comparison(exact[0], exact[0], 0.03)
    assert dataclasses.replace(c, every=exact).strangers == 1
    assert dataclasses.replace(c, every=exact[:3]).strangers == 0


def test_further_seeds_have_an_answer_of_their_own() -> None:
    c = comparison(Estimate(100, 0, 9), Estimate(110, 0, 9), 0.03)
    assert c.agrees is False
    assert c.agrees_with(Estimate(108, 0, 5), c.ours) is True
    assert c.agrees_with(Estimate(100, 0, 5), c.ours) is False
    further = VALIDATION.further_seeds()
    assert further
    for (point, measure), e in further.items():
        assert point.variant in {*VARIANTS, UDP}
        assert measure in MEASURES
        assert e.df >= 2


def test_short_chains_agree_with_ns2(runs: RunCache) -> None:
    """One and two hops have almost no losses, so that a few seeds agree with the long ns-2 runs."""
    records = [record(variant, h) for variant in ("newreno", "vegas2") for h in (1, 2)]
    short = [r._replace(packets_per_batch=1000) for r in records]
    tables = VALIDATION.repeat(short, (1, 2, 3), runs)
    comparisons = [c for r in short for c in VALIDATION.comparisons(r, tables[run_key(r)])]
    assert len(comparisons) == len(records) * len(COMPARED)
    goodput = [c for c in comparisons if c.name == GOODPUT]
    assert [c.point for c in goodput] == [r.point for r in records]
    for c in goodput:
        assert abs(c.off) < 0.03, (c.point, c.ns2, c.ours)


@pytest.mark.parametrize(
    ("value", "beyond", "p"),
    [(1.0, 1, 4 / 20), (0.0, 0, 2 / 20), (30.0, 0, 2 / 20), (18.5, 1, 4 / 20), (10.0, 10, 1.0)],
)
def test_a_run_of_ns2_among_runs_of_ours(value: float, beyond: int, p: float) -> None:
    """19 runs with the values 1 to 19: the probability of an extreme value among twenty is 2/20."""
    c = comparison(Estimate(value, 0, 9), Estimate(10, 0, 9), 0.05)
    ranked = dataclasses.replace(c, many=[float(n) for n in range(1, 20)])
    assert ranked.beyond == beyond
    assert ranked.p == pytest.approx(p)


def test_runs_with_two_states() -> None:
    two_states = {
        (r.point.variant, r.point.rate_mbps, r.point.interval_ms)
        for r in VALIDATION.records()
        if VALIDATION.two_states(r)
    }
    assert {v for v, *_ in two_states} == {UDP, "vegas2_thin", "vegas3_thin", "vegas4_thin", "vegas2_fix_thin"}
    assert {t for v, _, t in two_states if v == UDP} >= {34.0, 34.5, 34.75, 35.25, 36.175, 36.5}
    assert all(rate > 2 for v, rate, _ in two_states if v != UDP)


@pytest.mark.parametrize(("ours", "agrees"), [(0.349, True), (0.251, True), (0.351, False), (0.249, False)])
def test_jain_indices_agree_within_a_difference(ours: float, agrees: bool) -> None:
    assert comparison(Estimate(0.3, 0, 9), Estimate(ours, 0, 9), 0.05, absolute=True).agrees is agrees


def test_a_validation(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    every = VALIDATION.records()
    records = [
        record("newreno", 2)._replace(packets_per_batch=100),
        record("vegas2", 4)._replace(packets_per_batch=20),
        record("newreno_thin", 2)._replace(packets_per_batch=100),
        next(r for r in every if r.point == Point(UDP, 4, interval_ms=30.949))._replace(packets_per_batch=50),
        next(r for r in every if r.point == Point(UDP, 7, interval_ms=35.25))._replace(packets_per_batch=20),
        next(r for r in every if r.point.place == "grid5x5m4")._replace(packets_per_batch=30),
        next(r for r in every if r.point.place == "random120_1")._replace(packets_per_batch=30),
    ]
    monkeypatch.setattr(VALIDATION, "records", lambda: records)
    assert cli.main(["paper", "elrakabawy2005", "--compare", "--out", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr().out
    assert "does not agree" in printed
    files = {name: data for name, data in contents(tmp_path / "a").items() if not name.startswith("runs/")}
    assert sorted(files) == ["validation.csv", "validation.md"]
    rows = list(csv.DictReader(files["validation.csv"].decode().splitlines()))
    assert [(r["variant"], r["place"], r["hops"], r["measure"]) for r in rows] == [
        (r.point.variant, r.point.place, str(r.point.hops), name) for r in records for name in VALIDATION.compared(r)
    ]
    agreeing = sum(r["agrees"] == "True" for r in rows)
    page = files["validation.md"].decode()
    assert f"**{agreeing} of {len(rows)} values agree, " in page
    for r in records:
        assert f"\n## {kind(r.point)[:1].upper()}{kind(r.point)[1:]}\n" in page
    page, everything = page.split("\n## All values\n")
    assert (everything.count("| yes |"), everything.count("| **no** |")) == (agreeing, len(rows) - agreeing)
    page, differing = page.split("\n## Values that do not agree\n")
    page, states = page.split("\n## Runs with two states\n")
    assert re.search(
        r"^\| udp, 35.25 ms, 7 hops, 2 Mbit/s, seed 1 \| 220 \|.*\| \d+ of 40 \| - \| - \|$", states, re.MULTILINE
    )
    unlike = [r for r in rows if r["agrees"] == "False" and r["measure"] in (GOODPUT, JAIN)]
    page, singles = page.split("\n## Goodput and Jain's index where they do not agree\n")
    assert len(re.findall(r"^\| .*, seed 1 \|.*\| \d+ of 40 \|", singles, re.MULTILINE)) == len(unlike)
    assert "| chains: the others | 1 |" in page.split("\n## How far the batches of one run can be trusted\n")[1]
    assert len(re.findall(r"^\| .*, seed 1 \|", differing, re.MULTILINE)) == len(rows) - agreeing
    assert cli.main(["paper", "elrakabawy2005", "--compare", "--jobs", "1", "--out", str(tmp_path / "b")]) == 0
    again = {name: data for name, data in contents(tmp_path / "b").items() if not name.startswith("runs/")}
    assert again == files
