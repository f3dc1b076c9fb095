"""Commands report all mistakes of a command line at once."""

from pathlib import Path

import chappe
import pytest
from chappe import cli

SCENARIO = 'run.stop = "1 s"\ntopology.hops = 1\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, a run of it, and a study."""
    place = tmp_path_factory.mktemp("mistakes")
    (place / "one.toml").write_text(SCENARIO)
    chappe.run(place / "one.toml", out=place / "run")
    chappe.sweep(place / "one.toml", {"tcp.variant": ["reno", "vegas"]}, seeds=2, out=place / "study", progress=False)
    return place


@pytest.mark.parametrize(
    ("line", "mistakes"),
    [
        ("new a.toml --topology foo --nodes x", ["--topology cannot be foo", "--nodes is a whole number"]),
        (
            "run one.toml --seed x --ignore foo --bogus --blub=3",
            ["a seed is a whole number", "no warning foo", "no option --bogus", "no option --blub"],
        ),
        ("run --seed x", ["a seed is a whole number", "required: FILE"]),
        ("run one.toml --set a --set b --measure z", ["'a' and 'b' are not", "no measure 'z'"]),
        ("run one.toml --set a=1 --report none/x", ["no setting `a`", "no folder none"]),
        (
            "sweep one.toml --axis foo --axis bar --precision x --set q=3",
            ["--axis 'foo'", "--axis 'bar'", "--precision 'x'", "no setting `q`"],
        ),
        (
            "sweep one.toml --axis tcp.variant=reno,vega --seeds 2 --measure q --pool z",
            ["`tcp.variant` cannot be", "no measure 'q'", "--pool has 'z'"],
        ),
        ("plot study --where d=3 --where e", ["no axis d", "--where e: give"]),
        ("plot run --from x --until y", ["--from: 'x'", "--until: 'y'"]),
        ("plot one.toml --what rtt --set q=1 -o map.foo", ["no setting `q`", "map.foo has none of these endings"]),
        ("draw one.toml --set a=1 -o map.foo", ["no setting `a`", "map.foo has none of these endings"]),
        ("compare study --by foo --measure bar", ["'foo' is not an axis", "no measure 'bar'"]),
        (
            "rank study --by foo --by bar --measure z",
            ["'foo' is not an axis", "'bar' is not an axis", "no measure 'z'"],
        ),
        ("advise one.toml --change foo --change bar --set q=1", ["'foo' is not", "'bar' is not", "no setting `q`"]),
        ("plot one.toml --what cwnd --from x --until y --set q=1", ["--from: 'x'", "--until: 'y'", "no setting `q`"]),
        ("plot one.toml --what cwnd --variant a --variant b", ['cannot be "a"', 'cannot be "b"']),
        ("follow one.toml --from x --until y --set q=1", ["--from: 'x'", "--until: 'y'", "no setting `q`"]),
        ("export mobility one.toml --until x --set q=1", ["--until: 'x'", "no setting `q`"]),
        ("paper su2008 --figure 99 --table 98", ["no figure 99", "no table 98"]),
    ],
)
def test_all_mistakes_are_reported(
    folder: Path, line: str, mistakes: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    try:
        code = cli.main(line.split())
    except SystemExit as e:
        code = int(str(e.code))
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert [m for m in mistakes if m not in said.err] == []
    assert sorted(folder.rglob("*")) == before


def test_the_place_of_a_mistake_in_a_folder_is_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", str(folder / "study"), "--measure", "a"]) == 2
    assert f"{folder / 'study'}: 1 error" in capsys.readouterr().err
