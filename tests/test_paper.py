"""Reproduction and validation, shortened: what they print and write."""

import csv
import dataclasses
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from chappe import cli
from chappe.papers.elrakabawy2005 import chain, reproduce, validate
from chappe.papers.elrakabawy2005.claims import CLAIMS
from chappe.stats import Estimate
from command import contents

FIGURES = [f"figure{n}.{kind}" for n in (6, 7, 8, 9) for kind in ("csv", "pdf", "png", "svg")]


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "QUICK", reproduce.Length(packets=440, seeds=3))
    monkeypatch.setattr(reproduce, "HOPS", (2, 4, 8, 10))


class Loads(HTMLParser):
    """What a browser fetches to show a page: everything that is not a link to click on."""

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


@pytest.mark.usefixtures("shortened")
def test_a_reproduction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["paper", "elrakabawy2005", "--quick", "--jobs", "2", "--out"]
    assert cli.main([*arguments, str(tmp_path / "a")]) == 0
    printed, complaints = capsys.readouterr()
    assert complaints == ""
    for claim in CLAIMS:
        assert re.search(rf"^{claim.id}: (holds|holds partly|does not hold|not decidable)$", printed, re.MULTILINE)
    for said in ("paper says", "ns-2 says", "we measure", "Figure 6: Goodput - goodput [kbit/s]", "Shortened runs"):
        assert said in printed
    files = contents(tmp_path / "a")
    assert sorted(files) == [*FIGURES, "index.html"]
    beginnings = {"pdf": b"%PDF-", "png": b"\x89PNG", "svg": b"<?xml", "csv": b"hops,variant,source,"}
    for name in FIGURES:
        assert files[name].startswith(beginnings[name[-3:]])

    # The same files again, with another number of threads.
    assert cli.main([*arguments[:-2], "1", "--out", str(tmp_path / "b")]) == 0
    assert contents(tmp_path / "b") == files

    page = files["index.html"].decode()
    loads = Loads()
    loads.feed(page)
    assert loads.tags.count("svg") == 4
    assert loads.found, "the figures refer to parts of themselves"
    assert all(reference.startswith("#") for reference in loads.found)
    assert "script" not in loads.tags
    for claim in CLAIMS:
        assert claim.id in page
    assert "extends = &#34;ns2-2.35&#34;" in page
    # Numbers of the page, and those of the files.
    rows = list(csv.DictReader(files["figure6.csv"].decode().splitlines()))
    assert {(r["hops"], r["variant"], r["source"]) for r in rows} == {
        (h, v, s) for h in ("2", "4", "8", "10") for v in ("newreno", "vegas2") for s in ("chappe", "ns-2.35")
    }
    ns2 = next(r for r in rows if (r["hops"], r["variant"], r["source"]) == ("2", "newreno", "ns-2.35"))
    assert float(ns2["goodput_kbps"]) == 628.963
    assert float(ns2["half_width_95"]) == pytest.approx(1.25637)
    ours = next(r for r in rows if (r["hops"], r["variant"], r["source"]) == ("2", "newreno", "chappe"))
    assert f"{float(ours['goodput_kbps']):.1f}"[:4] in page


@pytest.mark.usefixtures("shortened")
def test_a_single_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "one"
    assert cli.main(["paper", "elrakabawy2005", "--figure", "8", "--quick", "--out", str(out)]) == 0
    assert sorted(contents(out)) == [f for f in FIGURES if "8" in f] + ["index.html"]
    printed = capsys.readouterr().out
    assert {c.id for c in CLAIMS if f"\n{c.id}: " in printed} == {"P0-F8-1", "P0-F8-2"}


@pytest.mark.usefixtures("shortened")
def test_results_go_into_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["paper", "elrakabawy2005", "--figure", "6", "--quick"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["results"]
    assert (tmp_path / "results" / "elrakabawy2005" / "index.html").exists()


# ---- validation ----


def record(variant: str, hops: int) -> chain.Record:
    point = chain.Point(variant, hops)
    return next(r for r in chain.records() if r.point == point)


def comparison(ns2: Estimate, ours: Estimate, tolerance: float) -> validate.Comparison:
    measure = chain.MEASURES[0]._replace(tolerance=tolerance)
    return validate.Comparison(record("newreno", 2)._replace(values={measure.name: ns2}), measure, ours)


@pytest.mark.parametrize(
    ("ns2", "ours", "error", "off", "agrees"),
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
    ns2: float, ours: float, error: float, off: float, agrees: bool
) -> None:
    c = comparison(Estimate(ns2, error**2, 9), Estimate(ours, error**2, 9), 0.03)
    # The same variance on both sides: 18 degrees of freedom, for which Student's t is 2.1009.
    assert c.half_width == pytest.approx(2.1009 * math.sqrt(2) * error, rel=1e-4)
    assert c.off == pytest.approx(off)
    assert c.agrees is agrees


def test_runs_are_compared_with_the_others() -> None:
    """One of four is far from three that are equal; with it among the others, every interval is wide."""
    exact = [Estimate(mean, 0.0, 9) for mean in (100.0, 100.0, 100.0, 200.0)]
    c = comparison(exact[0], exact[0], 0.03)
    assert dataclasses.replace(c, runs=exact).strangers == 1
    assert dataclasses.replace(c, runs=exact[:3]).strangers == 0


def test_further_seeds_have_an_answer_of_their_own() -> None:
    c = comparison(Estimate(100, 0, 9), Estimate(110, 0, 9), 0.03)
    assert c.agrees is False
    assert c.agrees_with_further is None
    assert dataclasses.replace(c, further=Estimate(108, 0, 5)).agrees_with_further is True
    assert dataclasses.replace(c, further=Estimate(100, 0, 5)).agrees_with_further is False
    known = chain.further_seeds()
    assert known
    for (point, measure), e in known.items():
        assert point.variant in chain.VARIANTS
        assert measure in {m.name for m in chain.MEASURES}
        assert e.df >= 2


def test_short_chains_carry_what_they_carry_in_ns2() -> None:
    """Over one and two hops next to nothing is lost, so that a few seeds say what the long runs of ns-2 say."""
    records = [record(variant, h) for variant in ("newreno", "vegas2") for h in (1, 2)]
    found = validate.compare([r._replace(packets_per_batch=1000) for r in records], jobs=2, seeds=(1, 2, 3))
    assert len(found) == len(records) * len(chain.MEASURES)
    goodput = [c for c in found if c.measure.name == "goodput_kbps"]
    assert [c.record.point for c in goodput] == [r.point for r in records]
    for c in goodput:
        assert abs(c.off) < 0.03, (c.record.point, c.ns2, c.ours)


def test_a_validation(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record("newreno", 2)._replace(packets_per_batch=100), record("vegas2", 4)._replace(packets_per_batch=20)]
    thinned = records[0]._replace(point=chain.Point("newreno_thin", 2))
    monkeypatch.setattr(chain, "records", lambda: [*records, thinned])
    assert cli.main(["paper", "elrakabawy2005", "--validate", "--out", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr().out
    assert "does not agree" in printed
    files = contents(tmp_path / "a")
    assert sorted(files) == ["validation.csv", "validation.md"]
    rows = list(csv.DictReader(files["validation.csv"].decode().splitlines()))
    assert [(r["variant"], r["hops"], r["measure"]) for r in rows] == [
        (r.point.variant, str(r.point.hops), m.name) for r in records for m in chain.MEASURES
    ]
    agreeing = sum(r["agrees"] == "True" for r in rows)
    page = files["validation.md"].decode()
    assert f"**{agreeing} of {len(rows)} values agree.**" in page
    page, everything = page.split("\n## All values\n")
    assert (everything.count("| yes |"), everything.count("| **no** |")) == (agreeing, len(rows) - agreeing)
    differing = page.split("\n## Values that do not agree\n")[1]
    assert differing.count("| vegas2, 4 hops") + differing.count("| newreno, 2 hops") == len(rows) - agreeing
    assert cli.main(["paper", "elrakabawy2005", "--validate", "--jobs", "1", "--out", str(tmp_path / "b")]) == 0
    assert contents(tmp_path / "b") == files
