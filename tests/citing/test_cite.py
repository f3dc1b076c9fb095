"""`chappe cite`: every reference is used, every model that names a source has one, and the entries are BibTeX."""

import json
import re
from pathlib import Path

import chappe
import pytest
import yaml
from bibtexparser.entrypoint import parse_string
from chappe import Scenario, citing, cli
from chappe.citing import build
from chappe.scenario.explain import words
from chappe.scenario.scenario import parts
from command import REPOSITORY

REFERENCES = citing.references()

SOURCE = re.compile(r"RFC (\d+)|\b[A-Z][a-z]+(?: et al\.| and [A-Z]\w+)?,?(?: MobiCom)? ((?:19|20)\d\d)\b")
"""An RFC, or an author with a year."""


def named() -> list[tuple[str, str, str]]:
    """Words with the RFC or the year of a source that their descriptions name."""
    return [
        (f"{shelf['setting']}={part['keyword']}", match[1] or "", match[2] or "")
        for shelf in [*parts(), *words()]
        for part in shelf["parts"]
        for match in SOURCE.finditer(part["description"])
    ]


def of_word(word: str) -> list[dict[str, object]]:
    return [r for r in REFERENCES.values() if any(word in term.split(" and ") for term in r["of"])]


@pytest.mark.parametrize(("word", "rfc", "year"), named())
def test_a_source_that_a_word_names_has_a_reference(word: str, rfc: str, year: str) -> None:
    found = of_word(word)
    assert any(str(r.get("rfc")) == rfc if rfc else str(r.get("year")) == year for r in found), (word, rfc, year, found)


def test_enough_words_name_a_source() -> None:
    assert len(named()) > 70


def test_words_of_references_exist() -> None:
    known = {f"{s['setting']}={p['keyword']}" for s in [*parts(), *words()] for p in s["parts"]}
    known |= {"TCP", "UDP", "QUIC", "radio"}
    whole = Scenario({"run.stop": "1 s"})
    for key, reference in REFERENCES.items():
        for word in [w for term in reference["of"] for w in term.split(" and ")]:
            if word in known:
                continue
            name, _, value = word.partition("=")
            assert value == "true", (key, word)
            assert isinstance(whole[name], bool), (key, word)


def test_references_say_where_their_fields_stand() -> None:
    for key, reference in REFERENCES.items():
        assert reference["of"], key
        source = reference["source"]
        for page in re.findall(r"docs/[\w/]+\.md", source):
            text = (REPOSITORY / page).read_text("utf-8")
            asked = f"RFC {reference['rfc']}" if "rfc" in reference else str(reference["year"])
            assert asked in text or asked.removeprefix("RFC ") in text, (key, page)


def test_all_entries_are_bibtex() -> None:
    text = citing.bibtex(REFERENCES)
    library = parse_string(text)
    assert not library.failed_blocks
    assert [entry.key for entry in library.entries] == ["chappe", *REFERENCES]
    fields = {entry.key: entry.fields_dict for entry in library.entries}
    assert fields["brakmo1995"]["year"].value == "1995"
    assert fields["rfc8985"]["howpublished"].value == "RFC 8985"
    assert "of" not in fields["rfc8985"]


SCENARIO = {"run.stop": "1 s", "topology.hops": 2}


@pytest.mark.parametrize(
    ("changes", "there", "not_there"),
    [
        ({}, {"ieee80211", "rfc6582", "rfc3561", "rfc9293"}, {"brakmo1995", "rfc8289", "rfc9438"}),
        ({"tcp.variant": "vegas"}, {"brakmo1995"}, {"rfc6582"}),
        ({"tcp.variant": "sack", "tcp.sack.rule": "sack1"}, {"fall1996", "rfc2018"}, set()),
        ({"extends": "linux", "tcp.congestion_control": "bbr"}, {"cardwell2016", "rfc8985"}, {"rfc9438", "rfc6582"}),
        ({"queue.discipline": "fq_codel"}, {"rfc8290"}, {"rfc8033"}),
        ({"queue.pie.estimate": "departure_rate"}, set(), {"rfc8033"}),
        ({"flow.0.app": "cbr"}, {"ieee80211"}, {"rfc9293", "rfc6582", "rfc6298"}),
        ({"routing.protocol": "dsdv"}, {"perkins1994"}, {"rfc3561"}),
        ({"tcp.elfn.enabled": True}, {"holland1999"}, {"wang2002"}),
    ],
)
def test_models_in_use_are_cited(changes: dict[str, object], there: set[str], not_there: set[str]) -> None:
    with_flow = {**SCENARIO, "flow": [{"src": 0, "dst": 2}], **changes}
    with_flow["flow"] = [
        {"src": 0, "dst": 2, **({"app": with_flow.pop("flow.0.app")} if "flow.0.app" in changes else {})}
    ]
    keys = set(citing.cited([Scenario(with_flow)]))
    assert there <= keys
    assert not keys & not_there


def test_a_variant_of_one_flow_is_cited_beside_that_of_others() -> None:
    flows = [{"src": 0, "dst": 2, "tcp": {"variant": "vegas"}}, {"src": 0, "dst": 1}]
    assert {"brakmo1995", "rfc6582"} <= set(citing.cited([Scenario({**SCENARIO, "flow": flows})]))


def cite(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["cite", *arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_files_and_folders_of_runs_and_studies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.toml"
    file.write_text('run.stop = "1 s"\ntopology.hops = 2\n', "utf-8")
    assert cli.main(["run", str(file), "--out", str(tmp_path / "run"), "-q"]) == 0
    axis = ("--axis", "tcp.variant=newreno,vegas")
    assert cli.main(["sweep", str(file), *axis, "--out", str(tmp_path / "study"), "-q"]) == 0
    capsys.readouterr()
    of_file = cite(capsys, str(file))
    assert of_file == cite(capsys, str(tmp_path / "run"))
    of_study = cite(capsys, str(tmp_path / "study"))[1]
    assert "@article{brakmo1995," in of_study
    assert "@misc{rfc6582," in of_study
    listed = tmp_path / "s.toml"
    listed.write_text('scenario = "a.toml"\naxes.tcp.variant = ["newreno", "vegas"]\n', "utf-8")
    assert cite(capsys, str(listed))[1] == of_study
    found = json.loads(cite(capsys, "--json", str(file))[1])
    assert found["bibtex"] == of_file[1]
    assert found["references"][0] == "chappe"


def test_a_preset_that_stands_for_a_paper_is_cited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.toml"
    file.write_text('extends = "ivynet"\nrun.stop = "1 s"\n', "utf-8")
    assert "@misc{su2008," in cite(capsys, str(file))[1]


def test_chappe_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cite(capsys)
    assert code == 0
    assert f"Version {chappe.__version__}, results epoch {chappe.RESULTS_EPOCH}" in out
    assert out.count("@") == 1


def test_what_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = cite(capsys, str(tmp_path / "none.toml"))
    assert (code, out) == (2, "")
    assert "cannot read" in err
    code, out, err = cite(capsys, str(tmp_path))
    assert code != 0
    assert "neither results nor a study" in err
    (tmp_path / "wrong.toml").write_text("[tcp]\nwindo = 3\n", "utf-8")
    code, out, err = cite(capsys, str(tmp_path / "wrong.toml"))
    assert (code, out) == (2, "")
    assert "wrong.toml: 2 errors; nothing was run." in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a" * 40 + "\n", "a" * 40), ("b" * 40 + "-dirty\n", "b" * 40 + "-dirty"), ("", None), ("fatal: no git", None)],
)
def test_the_commit_of_the_build(
    text: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "files", lambda _: tmp_path)
    assert build.commit() is None
    (tmp_path / build.COMMIT).write_text(text, "ascii")
    assert build.commit() == expected


def test_citation_file_agrees_with_the_package() -> None:
    found = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= found.keys()
    assert found["version"] == chappe.__version__
    assert f"results epoch {chappe.RESULTS_EPOCH}:" in found["abstract"]
    assert found["title"] == re.sub(r"[{}]", "", citing.TITLE)
    assert [a["name"] for a in found["authors"]] == [re.sub(r"[{}]", "", citing.AUTHOR)]
