"""The report of a study, without a browser: what it has, and must not have. ``make test-pages`` opens pages."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli
from chappe.page.study import page, study_file
from chappe.page.svg import ticks
from chappe.study import file
from hypothesis import given
from hypothesis import strategies as st
from test_page import Elements

HOSTILE = "</title><script>alert(1)</script> & \u202etxt"
AXES = {"topology.hops": [1, 2, 3], "tcp.variant": ["newreno", "vegas"]}
CHAIN = chappe.Scenario.chain(2, stop="55 delivered")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> chappe.Study:
    measures = {"timeouts": "sum(flows.timeouts)"}
    return chappe.sweep(CHAIN, AXES, seeds=3, measures=measures, out=tmp_path_factory.mktemp("report") / "study")


def test_the_page_asks_for_nothing_and_keeps_texts(study: chappe.Study) -> None:
    text = page(study, ["goodput_bps"], title=HOSTILE)
    elements = Elements(text)
    for tag, attributes in elements.found:
        assert not {"src", "href", "style"} & attributes.keys(), tag
        assert not [name for name in attributes if name.startswith("on")]
    (policy,) = (m["content"] or "" for m in elements.attributes("meta") if m.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    for part in (elements.texts["style"][0], elements.texts["script"][-1]):
        assert base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() in policy
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert str(study.folder) not in text
    assert len(text) < 300_000


def test_the_page_has_the_numbers_of_the_summary(study: chappe.Study) -> None:
    text = page(study, ["goodput_bps", "timeouts"], title="A study")
    elements = Elements(text)
    rows = study.summary(["goodput_bps", "timeouts"])
    assert sum(tag == "tr" for tag, _ in elements.found) >= len(rows)
    points = [t for t in elements.texts["title"] if t.startswith("topology.hops = ")]
    assert len(points) == len(rows) == 12
    assert any(t.startswith("topology.hops = 2, tcp.variant = vegas: ") and t.endswith(" kbit/s") for t in points)
    best = study.rank("goodput_bps", list(AXES)).filter("can_be_best")
    answers = " ".join(elements.texts["li"])
    assert f"topology.hops = {best['topology.hops'][0]}, tcp.variant = {best['tcp.variant'][0]}" in answers
    assert "tcp.variant = vegas compared with newreno" in answers
    assert text.count('class="toggle"') == 4
    curves = [a for a in elements.attributes("g") if (a.get("class") or "").startswith("curve")]
    assert len(curves) == 4


def test_the_study_file_makes_the_same_runs(study: chappe.Study, tmp_path: Path) -> None:
    """A sweep of the file into the folder of the study finds all runs."""
    path = tmp_path / "again.toml"
    path.write_text(study_file(study, ["goodput_bps", "timeouts"]), encoding="utf-8")
    loaded = file.load(path)
    before = {p: p.stat().st_mtime_ns for p in study.folder.glob("chunks/*/*.parquet")}
    again = chappe.sweep(loaded.scenario, loaded.axes, seeds=loaded.seeds, measures=loaded.own, out=study.folder)
    assert again.runs.equals(study.runs)
    assert {p: p.stat().st_mtime_ns for p in study.folder.glob("chunks/*/*.parquet")} == before


def test_one_seed_a_search_and_a_study_without_axes(tmp_path: Path) -> None:
    single = chappe.sweep(CHAIN, AXES, seeds=1)
    assert "With one seed nothing is compared" in page(single, ["goodput_bps"], title="One seed")
    found = chappe.search(CHAIN, "tcp.receive_window", low=1, high=4, seeds=2)
    text = page(found, [], title="A search")
    assert "Which value of tcp.receive_window gives the highest goodput?" in text
    assert "from fresh seeds" in text
    (tmp_path / "s.toml").write_text(study_file(found, ["goodput_bps"]), encoding="utf-8")
    rule = file.load(tmp_path / "s.toml").search
    assert rule is not None
    assert vars(rule) == vars(found._rule)
    none = chappe.sweep(CHAIN, seeds=2)
    assert "What is goodput?" in page(none, ["goodput_bps"], title="No axes")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chain.toml").write_text('run.stop = "55 delivered"\ntopology.hops = 2\n', encoding="utf-8")
    arguments = ["sweep", "chain.toml", "--axis", "tcp.variant=newreno,vegas", "--seeds", "2", "--quiet"]
    assert cli.main([*arguments, "--out", "results/c", "--report", "page.html"]) == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert "chappe sweep chain.toml --axis tcp.variant=newreno,vegas --seeds 2 --report page.html" in text
    assert str(tmp_path) not in text
    assert cli.main([*arguments, "--out", "results/c", "--report", "missing/page.html"]) == 1
    assert cli.main([*arguments, "--report"]) == 0
    text = Path("results/chain.html").read_text(encoding="utf-8")
    assert "chappe sweep chain.toml --axis tcp.variant=newreno,vegas --seeds 2 --report<" in text


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_round_and_span_the_values(low: float, span: float) -> None:
    found = ticks(low, low + span)
    slack = 1e-6 * span + 1e-6 * abs(low)
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack
    assert 2 <= len(found) <= 9


def test_players_are_frames_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from chappe import page as _page

    results: Any = chappe.run(CHAIN)
    monkeypatch.setattr(_page, "module", lambda: None)
    with pytest.raises(RuntimeError, match="there is no player"):
        results.player()
    monkeypatch.setattr(_page, "module", lambda: _page.Module(b"gzip", b"lzma"))
    (frame,) = Elements(results.player(title=HOSTILE)._repr_html_()).attributes("iframe")
    assert frame["sandbox"] == "allow-scripts"
    assert (frame["src"] or "").startswith("data:text/html;charset=utf-8;base64,")
    assert "<script" not in results.player(title=HOSTILE)._repr_html_()
