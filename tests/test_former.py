"""Files of the previous version run unchanged, with warnings that name the new words; `chappe fix` rewrites them."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import chappe
import pytest
from chappe import _core, cli
from chappe._former import COLUMNS, OF_TABLE
from chappe._results import TABLES
from chappe.study import _file as file
from chappe.study._axes import grid
from polars.testing import assert_frame_equal

FORMER = Path(__file__).parent / "former"
TODAY = Path(__file__).parent.parent
SCENARIOS = sorted(p.name for p in (FORMER / "scenarios").glob("*.toml"))
STUDIES = sorted(p.name for p in (FORMER / "examples").glob("*.toml"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Copy of the files of the previous version."""
    return Path(shutil.copytree(FORMER, tmp_path / "former"))


def former_names(text: str) -> list[str]:
    return _core.fix_toml("file", text)[1]


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_those_of_today(name: str) -> None:
    former = chappe.Scenario.load(FORMER / "scenarios" / name)
    assert former == chappe.Scenario.load(TODAY / "scenarios" / name)
    named = [w for w in former.warnings if " is now called " in w]
    assert bool(named) == bool(former_names((FORMER / "scenarios" / name).read_text())) or name == "vegas.toml"
    assert not [w for w in chappe.Scenario.load(TODAY / "scenarios" / name).warnings if " is now called " in w]


@pytest.mark.parametrize("name", STUDIES)
def test_studies_are_those_of_today(name: str) -> None:
    warned = pytest.warns(FutureWarning, match="is now") if name == "window_search.toml" else nullcontext()
    with warned:
        former = file.load(FORMER / "examples" / name)
    today = file.load(TODAY / "examples" / name)
    assert (former.scenario, former.axes, former.search) == (today.scenario, today.axes, today.search)
    points = [grid(f.scenario, f.axes, f.cases) for f in (former, today)]
    assert [p.identity for p in points[0]] == [p.identity for p in points[1]]


def test_an_axis_with_a_former_name_is_warned_of_where_it_is_used() -> None:
    base = chappe.Scenario.chain(1, stop="110 delivered")
    with pytest.warns(FutureWarning, match=r"`tcp\.window` is now called `tcp\.receive_window`") as caught:
        study = chappe.sweep(base, {"tcp.window": [2, 4]}, progress=False, jobs=1)
    assert study.axes == ["tcp.receive_window"]
    assert [w.filename for w in caught] == [__file__]


def test_fix_rewrites_all_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = sorted([*(files / "scenarios").glob("*.toml"), *(files / "examples").glob("*.toml")])
    comments = {p: [line for line in p.read_text().splitlines() if line.startswith("#")] for p in paths}
    assert cli.main(["fix", *map(str, paths)]) == 0
    assert "chain.toml: 2 names changed: `run.sample` -> `run.sample_interval`" in capsys.readouterr().out
    for path in paths:
        text = path.read_text()
        assert former_names(text) == [], path
        assert [line for line in text.splitlines() if line.startswith("#")] == comments[path]
        if path.parent.name == "scenarios":
            assert chappe.Scenario.load(path) == chappe.Scenario.load(TODAY / "scenarios" / path.name)
            assert not [w for w in chappe.Scenario.load(path).warnings if " is now called " in w]
    # Nothing is left to do.
    assert cli.main(["fix", "--json", *map(str, paths)]) == 0
    assert [file["changes"] for file in json.loads(capsys.readouterr().out)] == [[]] * len(paths)


def test_a_mistake_in_one_file_changes_none(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = files / "bad.toml"
    bad.write_text("[tcp\n")
    chain = files / "scenarios" / "chain.toml"
    before = chain.read_bytes()
    assert cli.main(["fix", str(chain), str(bad)]) == 2
    assert "bad.toml:1" in capsys.readouterr().err
    assert chain.read_bytes() == before


def test_a_study_folder_is_read_but_not_continued_in_another_results_epoch(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finished runs of the previous version are read under the current names."""
    study = files / "study"
    before = chappe.Study(study)
    assert before.axes == ["tcp.receive_window", "tcp.max_cwnd"]
    assert before.rank("goodput_bps", "tcp.receive_window").height == 4
    assert len(before.runs) == 8
    assert cli.main(["sweep", str(files / "study.toml"), "--out", str(study), "--json"]) == 2
    assert "has results of epoch 4, which cannot be compared" in capsys.readouterr().err
    # Presets of ns-2 have the same results in this epoch.
    again = chappe.sweep(
        {"extends": "ns2-2.35", "run.stop": "220 delivered", "run.time_limit": "100 s", "topology.hops": 2},
        {"tcp.receive_window": [2, 4], "tcp.max_cwnd": ["none", 3]},
        seeds=2,
    )
    flows = before.table("flows")
    assert_frame_equal(again.table("flows").select(flows.columns).drop("run"), flows.drop("run"), check_dtypes=False)


def test_a_saved_run_is_opened() -> None:
    """Columns and words have the current names, and missing values are null."""
    with pytest.warns(
        chappe.ChappeWarning, match=f"epoch 4 .* cannot be compared with those of epoch {chappe.RESULTS_EPOCH}"
    ):
        former = chappe.open(FORMER / "run")
    assert isinstance(former, chappe.Results)
    again = chappe.run(former.scenario)
    for name in (*TABLES, "frames", "packets"):
        today, before = again.table(name), former.table(name)
        assert before.columns == [c for c in today.columns if (name, c) != ("series", "packets_delivered")], name
        if name in ("flows", "flow_batches"):
            # Columns of TCP had 0 for datagrams.
            before, today = before.filter(flow=0), today.filter(flow=0)
        assert_frame_equal(before, today.select(before.columns), check_dtypes=False, categorical_as_str=True)
    assert former.table("packets").schema["packet_type"] == again.table("packets").schema["packet_type"]
    assert former.flows.filter(src=0)["packets_delivered"].item() > 0
    assert former.why().losses.columns == ["packet_class", "cause", "packets", "share"]


def test_former_columns_are_on_the_page() -> None:
    page = (TODAY / "docs" / "results.md").read_text(encoding="utf-8").partition("## Former names of columns")[2]
    listed = [("", *names) for names in COLUMNS.items()]
    listed += [(f"`{table}`", *names) for table, columns in OF_TABLE.items() for names in columns.items()]
    for table, former, name in listed:
        assert f"| {table} | `{former}` | `{name}` |".replace("|  |", "| |") in page
