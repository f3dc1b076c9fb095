"""Files of the previous version run unchanged, with warnings that name the new words; `chappe fix` rewrites them."""

import importlib
import json
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import _core, _former, cli
from chappe._former import COLUMNS, OF_TABLE
from chappe._results import TABLES
from chappe.study import _file as file
from chappe.study._axes import grid
from chappe.study._measure import measure
from polars.testing import assert_frame_equal
from test_experiments import program

FORMER = Path(__file__).parent / "former"
TODAY = Path(__file__).parent.parent
STATED = {"base-station.toml": {"wlan.rts_threshold": "always"}}
"""Settings that files of today state, and that were defaults of the previous version."""
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
    assert former.with_settings(STATED.get(name, {})) == chappe.Scenario.load(TODAY / "scenarios" / name)
    named = [w for w in former.warnings if w.code == "former_name"]
    assert bool(named) == bool(former_names((FORMER / "scenarios" / name).read_text())) or name == "vegas.toml"
    assert not [w for w in chappe.Scenario.load(TODAY / "scenarios" / name).warnings if w.code == "former_name"]


@pytest.mark.parametrize("name", STUDIES)
def test_studies_are_those_of_today(name: str) -> None:
    warned = pytest.warns(FutureWarning, match="is now") if name == "window_search.toml" else nullcontext()
    with warned:
        former = file.load(FORMER / "examples" / name)
    today = file.load(TODAY / "examples" / name)
    assert (former.scenario, former.axes, former.search) == (today.scenario, today.axes, today.search)
    points = [grid(f.scenario, f.axes, f.cases) for f in (former, today)]
    assert [p.identity for p in points[0]] == [p.identity for p in points[1]]


FORMER_STUDY = """\
# The study.
scenario.run.stop = "110 delivered"
scenario.run.batches = 20
seeds = 2
transient = "mser5" # MSER-5
measures = ["goodput_bps"]

# The rule.
[stop] # for each point
within = "5 %"
max_seeds = 4

[axes]
topology.hops = [1, 2]
"""
TODAY_STUDY = FORMER_STUDY.replace("transient", "warmup").replace("[stop]", "[precision]")


def test_keys_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    former, today = tmp_path / "former.toml", tmp_path / "today.toml"
    former.write_text(FORMER_STUDY)
    today.write_text(TODAY_STUDY)
    with pytest.warns(FutureWarning) as caught:
        loaded = file.load(former)
    messages = [str(w.message) for w in caught]
    assert messages == [f"{former}: `transient` is now `warmup`", f"{former}: `stop` is now `precision`"]
    assert [w.filename for w in caught] == [__file__, __file__]
    assert loaded == file.load(today)
    with pytest.warns(DeprecationWarning, match=r"StudyFile\.stop is deprecated: use StudyFile\.precision"):
        assert loaded.stop == loaded.precision
    former.write_text(FORMER_STUDY.replace('"5 %"', '"5 %"\nmaximum = 3'))
    with pytest.warns(FutureWarning), pytest.raises(chappe.StudyError) as error:
        file.load(former)
    assert [(p.path, p.line) for p in error.value.problems] == [("precision.maximum", 11)]
    former.write_text(FORMER_STUDY)
    assert cli.main(["fix", str(former)]) == 0
    assert "2 names changed: `transient` -> `warmup`, `stop` -> `precision`" in capsys.readouterr().out
    assert former.read_text() == TODAY_STUDY


def test_arguments_and_folder_of_a_study(tmp_path: Path) -> None:
    """`study.json` of the previous version has former keys."""
    base = chappe.Scenario.chain(1, {"run.batches": 20}, stop="110 delivered")
    rule = chappe.study.Precision("goodput_bps", 0.5, max_seeds=4)
    former: dict[str, Any] = {"stop": rule, "transient": "mser5"}
    with pytest.warns(DeprecationWarning, match="the argument") as caught:
        swept = chappe.sweep(base, seeds=2, out=tmp_path, jobs=1, **former)
    messages = [str(w.message) for w in caught]
    assert messages == [
        f"the argument {old} is deprecated: use {new}" for old, new in (("stop", "precision"), ("transient", "warmup"))
    ]
    about = json.loads((tmp_path / "study.json").read_text())
    assert (about["precision"]["within"], about["warmup"]) == (0.5, "mser5")
    about = {{"precision": "stop", "warmup": "transient"}.get(key, key): value for key, value in about.items()}
    (tmp_path / "study.json").write_text(json.dumps(about))
    again = chappe.Study(tmp_path)
    assert_frame_equal(again.summary(), swept.summary())
    assert again.summary()["met"].to_list() == [True]


def test_an_axis_with_a_former_name_is_warned_of_where_it_is_used() -> None:
    base = chappe.Scenario.chain(1, stop="110 delivered")
    with pytest.warns(FutureWarning, match=r"`tcp\.window` is now called `tcp\.receive_window`") as caught:
        study = chappe.sweep(base, {"tcp.window": [2, 4]}, progress=False, jobs=1)
    assert study.axes == ["tcp.receive_window"]
    assert [w.filename for w in caught] == [__file__]


def test_an_axis_by_both_names_is_refused() -> None:
    base = chappe.Scenario.chain(1, stop="110 delivered")
    for axes in (
        {"tcp.window": [2, 4], "tcp.receive_window": [3]},
        {"tcp.receive_window": [3], "tcp.window": [2, 4]},
    ):
        with pytest.warns(FutureWarning), pytest.raises(chappe.StudyError, match="is set twice, by its former"):
            grid(base, axes)


def test_a_former_name_in_a_study_file_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "base.toml").write_text('run.stop = "110 delivered"\n', encoding="utf-8")
    path = tmp_path / "s.toml"
    path.write_text('scenario = "base.toml"\n[axes]\ntcp.window = [4]\n', encoding="utf-8")
    assert cli.main(["sweep", str(path), "-q", "-o", str(tmp_path / "s")]) == 0
    assert capsys.readouterr().err.count("`tcp.window` is now called") == 1
    path.write_text('scenario = "base.toml"\n[axes]\ntcp.window = [4]\ntcp.receive_window = [4]\n', encoding="utf-8")
    assert cli.main(["sweep", str(path)]) == 2
    assert capsys.readouterr().err.count("is set twice") == 1


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
            fixed = chappe.Scenario.load(path).with_settings(STATED.get(path.name, {}))
            assert fixed == chappe.Scenario.load(TODAY / "scenarios" / path.name)
            assert not [w for w in chappe.Scenario.load(path).warnings if w.code == "former_name"]
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


def test_a_study_folder_is_read(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Finished runs of the previous version are read under the current names."""
    study = files / "study"
    before = chappe.Study(study)
    assert before.axes == ["tcp.receive_window", "tcp.max_cwnd"]
    assert before.rank("goodput_bps", "tcp.receive_window").height == 4
    with pytest.raises(ValueError, match=r"'tcp\.window' is not an axis: it is now called 'tcp\.receive_window'"):
        before.rank("goodput_bps", "tcp.window")
    with pytest.raises(ValueError, match=r"'tcp\.window' is not an axis: it is now called 'tcp\.receive_window'"):
        before.compare("goodput_bps", "tcp.window", baseline=2)
    # Its results are of another epoch: it can be read, but not continued.
    assert cli.main(["sweep", str(files / "study.toml"), "--out", str(study), "--json"]) == 2
    assert "epoch" in capsys.readouterr().err


def test_a_saved_run_is_opened() -> None:
    """Columns and words have the current names, and missing values are null."""
    with pytest.warns(chappe.ChappeWarning, match="has results of epoch 4"):
        former = chappe.open(FORMER / "run")
    assert isinstance(former, chappe.Results)
    again = chappe.run(former.scenario)
    for name in (*TABLES, "frames", "packets"):
        today, before = again.table(name), former.table(name)
        assert before.columns == today.columns, name
        # The previous version did not write these columns.
        added = list(_former.ADDED.get(name, ()))
        assert all(before[column].is_null().all() for column in added), name
    assert former.table("packets").schema["packet_type"] == again.table("packets").schema["packet_type"]
    assert former.flows.filter(src=0)["packets_delivered"].item() > 0
    assert former.flows["transport"].to_list() == ["tcp", "udp"]
    assert former.measured_from_s == again.measured_from_s == 1.0


VALUES = """# Values of the previous version
run.stop = "1 s"
topology.hops = 2

[tcp]
max_cwnd = "none"
max_timeouts = "none"      # no limit

[radio]
antenna_gain = "1"
receive_threshold = "none"
sinr = { noise_figure = "5.011872336272724", relock = "none" }
"""


def test_former_values_are_read_with_a_warning_and_rewritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "values.toml"
    path.write_text(VALUES)
    former = chappe.Scenario.load(path)
    assert [w.message for w in former.warnings if "is now written" in w.message] == [
        '`tcp.max_cwnd` = "none" is now written "unlimited"',
        '`tcp.max_timeouts` = "none" is now written "unlimited"',
        '`radio.antenna_gain` = "1" is now written "0 dB"',
        '`radio.receive_threshold` = "none" is now written "range"',
        '`radio.sinr.noise_figure` = "5.011872336272724" is now written "7 dB"',
        '`radio.sinr.relock` = "none" is now written "never"',
    ]
    plain = chappe.Scenario({"run.stop": "1 s", "topology.hops": 2, "tcp.max_timeouts": None})
    assert former == plain
    assert not [w for w in plain.warnings if "is now written" in w.message]
    assert cli.main(["fix", "--json", str(path)]) == 0
    changes = json.loads(capsys.readouterr().out)[0]["changes"]
    assert (len(changes), changes[0]) == (6, '`tcp.max_cwnd` = "none" -> "unlimited"')
    text = path.read_text()
    assert 'max_timeouts = "unlimited"      # no limit\n' in text
    assert 'sinr = { noise_figure = "7 dB", relock = "never" }' in text
    today = chappe.Scenario.load(path)
    assert today == former
    assert not [w for w in today.warnings if "is now written" in w]


def test_former_words_of_an_axis_are_rewritten(tmp_path: Path) -> None:
    base = chappe.Scenario.chain(1, stop="110 delivered")
    with pytest.warns(FutureWarning, match=r'`tcp\.max_cwnd` = "none" is now written "unlimited"'):
        study = chappe.sweep(base, {"tcp.max_cwnd": ["none", 4]}, progress=False, jobs=1)
    assert study.runs["tcp.max_cwnd"].to_list() == ["unlimited", "4"]
    path = tmp_path / "study.toml"
    path.write_text('seeds = 1\n[scenario]\nrun.stop = "1 s"\n[axes]\n"tcp.max_cwnd" = ["none", 4]\n')
    assert cli.main(["fix", str(path)]) == 0
    assert '"tcp.max_cwnd" = ["unlimited", 4]' in path.read_text()


def test_former_names_of_tables_work_with_a_warning() -> None:
    results = chappe.run(chappe.Scenario.chain(1, {"run.airtime": True}, stop="110 delivered"))
    study = chappe.sweep(results.scenario, seeds=2, progress=False)
    for old, new in _former.TABLES.items():
        for read in (
            lambda old=old: getattr(results, old),
            lambda old=old: results.table(old),
            lambda old=old: results.tables[old],
        ):
            with pytest.warns(DeprecationWarning, match=f"{old}.*{new}") as caught:
                table = read()
            assert_frame_equal(table, results.table(new))
            assert [w.filename for w in caught] == [__file__]
        with pytest.warns(DeprecationWarning, match=f"the table {old} is deprecated: use {new}"):
            assert_frame_equal(study.table(old), study.table(new))
    with pytest.warns(DeprecationWarning, match="the table facts is deprecated: use run_info"):
        assert_frame_equal(study.table("facts"), study.table("run_info"))
    with pytest.raises(ValueError, match="there is no table 'facts'"):
        results.table("facts")
    with pytest.warns(DeprecationWarning, match=r"Results\.frames is deprecated: use Results\.frames_sent"):
        assert results.frames == results.frames_sent  # type: ignore[attr-defined]  # a former name
    with pytest.warns(DeprecationWarning, match=r"Why\.air_time is deprecated: use Why\.airtime"):
        assert_frame_equal(results.why().air_time, results.why().airtime)  # type: ignore[attr-defined]  # a former name
    with pytest.raises(AttributeError, match="'Results' object has no attribute 'fate'"):
        _ = results.fate  # type: ignore[attr-defined]  # it is what is tried
    assert not {*_former.TABLES, "frames"} & {*results.to_dict(), *results.tables}


def test_former_columns_are_on_the_page() -> None:
    page = (TODAY / "docs" / "results.md").read_text(encoding="utf-8").partition("## Former names of columns")[2]
    listed = [("", *names) for names in COLUMNS.items()]
    listed += [(f"`{table}`", *names) for table, columns in OF_TABLE.items() for names in columns.items()]
    for table, today in _former.TABLES.items():
        assert f"| `{table}` | `{today}` |" in page
    for table, former, name in listed:
        assert f"| {table} | `{former}` | `{name}` |".replace("|  |", "| |") in page


def test_former_pairs_and_events_mean_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    former = """# Two lists of flows.
run.stop = "2 s"
topology.hops = 3

[[flow]]
to = 3

[[pairs]] # all to one
from = "1-3"
to = 0
lasts = "1 s"

[[event]]
at = "1 s"
node_down = 2

[[event]]
at = "1500 ms"
set = "flow.3.tcp.window"
to = 2
"""
    today = """# Two lists of flows.
run.stop = "2 s"
topology.hops = 3

[[flow]]
dst = 3

[[flow]] # all to one
src = "1-3"
dst = 0
duration = "1 s"

[[event]]
at = "1 s"
action = "node_down"
node = 2

[[event]]
at = "1500 ms"
action = "set"
setting = "flow.3.tcp.receive_window"
value = 2
"""
    path = tmp_path / "former.toml"
    path.write_text(former, encoding="utf-8")
    loaded = chappe.Scenario.load(path)
    assert "`pairs` is now called `flow`" in [w.message for w in loaded.warnings]
    assert cli.main(["fix", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == today
    assert "`pairs` -> the end of `flow`" in " ".join(capsys.readouterr().out.split())
    fixed = chappe.Scenario.load(path)
    assert fixed == loaded
    assert not [w for w in fixed.warnings if " is now called " in w]
    assert fixed.flows.rows() == [(0, 0, 3, 0.0), (1, 1, 0, 0.0), (2, 2, 0, 0.0), (3, 3, 0, 0.0)]
    assert chappe.run(loaded).flows.equals(chappe.run(fixed).flows)
    # A list that stays is named.
    path.write_text("traffic.file = 'flows.csv'\n[[pairs]]\nsrc = 1\ndst = 0\n", encoding="utf-8")
    assert cli.main(["fix", str(path)]) == 0
    assert "former.toml: `pairs` stays, because its flows come after" in capsys.readouterr().out


def test_programs_use_names_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenarios that benches and experiments write, whose names are not in their text as a whole."""
    monkeypatch.syspath_prepend(TODAY / "benches")
    scale, motion = (importlib.import_module(name) for name in ("scale", "motion"))
    layout = scale.Layout([(0.0, 0.0), (100.0, 0.0)], [(0, 1, 0.5)])
    written = [layout.scenario(""), *(motion.scenario(40, moving=moving)[0] for moving in (False, True))]
    assert [former_names(text) for text in written] == [[]] * 3
    everything = chappe.Scenario.chain(1, program("why_elrakabawy").ALL, stop="1 s")
    assert "former_name" not in {w.code for w in everything.warnings}


def test_axes_may_name_former_pairs() -> None:
    pairs = chappe.Scenario({"run.stop": "1 s", "topology.hops": 3, "pairs": [{"src": "1-2", "dst": 0}]})
    points = grid(pairs, {"pairs.0.start": ["0 s", "10 ms"]})
    assert [p.scenario.flows["started_at_s"].to_list() for p in points] == [[0.0, 0.0], [0.01, 0.01]]


def test_measures_of_the_tables_of_a_run_may_use_former_names() -> None:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")

    def also(tables: Mapping[str, pl.DataFrame]) -> dict[str, float]:
        with pytest.raises(KeyError, match="fate"):
            tables["fate"]
        return {"created": float(tables["fates"]["created"].sum())}

    with pytest.warns(DeprecationWarning, match="the table fates is deprecated: use packet_outcomes"):
        found = measure({"chain": scenario}, [1], also=also)["chain"]
    assert found["created"].item() == chappe.run(scenario, seed=1).packet_outcomes["created"].sum()
