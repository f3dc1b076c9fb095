"""The report of a run, without a browser: what it has, and must not have. ``make test-pages`` opens pages."""

import base64
import hashlib
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli, page

HOSTILE = "</title><script>alert(1)</script> & \u202etxt"
SCENARIO = chappe.Scenario.chain(3, stop="550 delivered", extends="ns2-2.35")


class Elements(html.parser.HTMLParser):
    """Elements of a page with their attributes, and the text of each kind."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def results() -> Any:
    return chappe.run(SCENARIO)


@pytest.mark.usefixtures("with_module")
def test_the_page_asks_for_nothing(results: Any) -> None:
    text = page.page(results, "A chain")
    elements = Elements(text)
    for _, attributes in elements.found:
        assert not {"src", "href", "style"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
    (policy,) = (m["content"] or "" for m in elements.attributes("meta") if m.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    style, script = elements.texts["style"][0], elements.texts["script"][-1]
    for part in (style, script):
        assert base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() in policy
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


@pytest.mark.usefixtures("with_module")
def test_texts_of_others_stay_texts(results: Any) -> None:
    text = page.page(results, HOSTILE)
    assert "<script>alert" not in text
    assert "\u202e" not in text
    data = page._embedded({"title": HOSTILE})
    assert "<" not in data
    assert json.loads(data) == {"title": HOSTILE}


@pytest.mark.usefixtures("with_module")
def test_the_page_has_what_was_measured(results: Any) -> None:
    elements = Elements(page.page(results, "A chain"))
    source, data = elements.texts["script"][0], json.loads(elements.texts["script"][1])
    assert json.loads(f"{{{source}}}") == {"open": results.scenario.settings}
    for name, digest in data["tables"].items():
        assert hashlib.sha256(results._measured.table_json(name).encode()).hexdigest() == digest
    cells = elements.texts["td"]
    assert f"{results.flows['goodput_bps'][0] / 1e3:.1f} kbit/s" in cells
    assert "Goodput of 1 flow: " in " ".join(elements.texts["li"])


def test_a_table_is_the_same_as_json(results: Any) -> None:
    """The text that a page hashes has the columns and numbers of the table."""
    table = json.loads(results._measured.table_json("flows"))
    assert list(table) == results.flows.columns
    assert table["goodput_bps"] == results.flows["goodput_bps"].to_list()


@pytest.mark.usefixtures("with_module")
def test_sliders_are_those_with_an_effect() -> None:
    wired = {
        "topology": {"kind": "none", "wired_nodes": 2},
        "wired_link": [{"src": 0, "dst": 1}],
        "flow": [{"src": 0, "dst": 1}],
        "tcp.receive_window": 90,
        "run.stop": "1 s",
    }
    text = page.page(chappe.run(wired), "A wire")
    sliders = {a["data-name"]: a for a in Elements(text).attributes("input") if a.get("class") == "slider"}
    assert {*sliders} == {"tcp.receive_window", "queue.limit"}
    slider = sliders["tcp.receive_window"]
    assert (slider["min"], slider["max"], slider["value"]) == ("1", "90", "90")
    assert "wires" in text
    chain = {
        a["data-name"] for a in Elements(page.page(chappe.run(SCENARIO), "")).attributes("input") if "data-name" in a
    }
    assert chain == {*page._SLIDERS}


@pytest.mark.usefixtures("with_module")
def test_the_command_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chain.toml").write_text(SCENARIO.to_toml(), encoding="utf-8")
    assert cli.main(["run", "chain.toml", "--report", "chain.html"]) == 0
    assert "Report written to chain.html (" in capsys.readouterr().out
    assert cli.main(["run", "chain.toml", "--report", "a.html", "--seed", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["report"]
    assert told == {"path": "a.html", "bytes": Path("a.html").stat().st_size, "player": True}
    assert "Seed 2, " in Path("a.html").read_text(encoding="utf-8")
    assert cli.main(["run", "chain.toml", "--report", "--seed", "2", "-q"]) == 0
    assert Path("results/chain.html").read_bytes() == Path("a.html").read_bytes()
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "--report", "chain.toml"])
    assert ended.value.code == 2
    assert "arguments are required: FILE; --report took chain.toml: give FILE before it" in capsys.readouterr().err
    for out, reason in (("none/a.html", "there is no folder none"), (".", "is a folder"), ("", "--")):
        assert cli.main(["run", "chain.toml", "--report", out]) == 2
        printed = capsys.readouterr()
        assert reason in printed.err
        assert printed.out == ""


def test_without_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(page, "module", lambda: None)
    file = tmp_path / "chain.toml"
    file.write_text(SCENARIO.to_toml(), encoding="utf-8")
    assert cli.main(["run", str(file), "--report", str(tmp_path / "run.html"), "-q"]) == 0
    assert "has no player: run `make wasm`" in capsys.readouterr().err
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    elements = Elements(text)
    for tag in ("script", "button", "canvas", "input"):
        assert not elements.attributes(tag)
    assert not re.search("player|simulator|make wasm", text[text.index("<body>") :], re.IGNORECASE)
    assert len(elements.attributes("table")) >= 2
    assert cli.main(["run", str(file), "--report", str(tmp_path / "none" / "run.html"), "-q"]) == 2


@pytest.mark.parametrize("kind", ["walk", "wires", "no radio"])
def test_maps(kind: str) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "walk": {
            "topology": {"kind": "random", "nodes": 60, "connected": False},
            "mobility.model": "random_waypoint",
            "traffic.flows": 3,
        },
        "wires": {
            "topology": {"hops": 2, "wired_nodes": 1},
            "wired_link": [{"src": 2, "dst": 3}],
            "flow": [{"src": 0, "dst": 3}],
        },
        "no radio": {
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [{"src": 0, "dst": 1}],
            "flow": [{"src": 0, "dst": 1}],
        },
    }
    text = page.page(chappe.run({**kinds[kind], "run.stop": "2 s"}), kind)
    elements = Elements(text)
    shapes = len(elements.attributes("circle")), len(elements.attributes("rect"))
    # A gateway is a square, once more in the legend.
    assert shapes == {"walk": (60, 0), "wires": (2, 2), "no radio": (0, 0)}[kind]
