"""Invalid arguments: refused with equal messages on the command line and in Python."""

# The tests pass arguments of forbidden types.
# mypy: disable-error-code="arg-type, index, list-item"

import itertools
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import chappe
import numpy as np
import pytest
from chappe import cli, study
from chappe._common.arguments import MANY, problem_of_jobs
from chappe.study.design.axes import grid, seeds_of
from chappe.study.execution.threads import threads
from command import REPOSITORY

CHAIN = chappe.Scenario.chain(1, {"run.batches": 2}, stop="40 delivered")
RULE: dict[str, Any] = {"setting": "tcp.receive_window", "low": 1, "high": 20}
CYCLIC: list[Any] = []
CYCLIC.append(CYCLIC)
NESTED: dict[str, Any] = {}
NESTED["tcp"] = NESTED
PRECISE = study.Precision("goodput_bps", 0.1, max_seeds=4)

Call = Callable[..., Any]


def sweep(**arguments: Any) -> Any:
    return chappe.sweep(CHAIN, **arguments)


def search(**arguments: Any) -> Any:
    return chappe.search(CHAIN, **{**RULE, **arguments})


def refused(call: Call, **arguments: Any) -> list[str]:
    """Problems of arguments."""
    with pytest.raises(study.StudyError) as error:
        call(**arguments)
    return [f"{p.path}: {p.message}" for p in error.value.problems]


@pytest.mark.parametrize("call", [sweep, search])
@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        (-1, "-1 is not a whole number of at least 1"),
        (0, "0 is not a whole number of at least 1"),
        (1.5, "1.5 is not a whole number of at least 1"),
        (True, "True is not a whole number of at least 1"),
        ("2", "'2' is not a whole number of at least 1"),
        ([2], "[2] is not a whole number of at least 1"),
        (math.nan, "nan is not a whole number of at least 1"),
        (10**6, "1000000 is more than 1000 parallel runs"),
        pytest.param(10**5000, "a value of type int is more than 1000 parallel runs", id="digits"),
    ],
)
def test_jobs(call: Call, jobs: Any, message: str) -> None:
    assert refused(call, jobs=jobs) == [f"jobs: `jobs`: {message}"]
    assert refused(threads, jobs=jobs) == [f"jobs: `jobs`: {message}"]
    assert refused(study.measure, points={"a": CHAIN}, seeds=[1], jobs=jobs) == [f"jobs: `jobs`: {message}"]


@pytest.mark.parametrize("jobs", [-1, 0, 1001])
@pytest.mark.parametrize("command", [["sweep", "study.toml"], ["paper", "elrakabawy2005"]])
def test_the_command_line_gives_the_same_message(
    command: list[str], jobs: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command, f"--jobs={jobs}"])
    message = problem_of_jobs(jobs)
    assert message is not None
    # Arguments of the command line are texts.
    assert message in capsys.readouterr().err.replace("'", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "ray", "jobs": 2}, "`jobs` is for the cores of this machine"),
        ({"backend": 3}, "`backend` cannot be 3"),
        ({"out": ""}, "`out` names no folder"),
        ({"out": 3}, "`out` cannot be 3"),
        ({"out": b"here"}, "`out` cannot be b'here'"),
        ({"out": "a\0b"}, "no folder can be named"),
        ({"progress": 1}, "`progress` cannot be 1"),
        ({"title": None}, "`title` cannot be None"),
        ({"warmup": "none"}, "`warmup` cannot be 'none'"),
        ({"warmup": ["discard"]}, "`warmup` cannot be ['discard']"),
        ({"axes": 3}, "`axes` cannot be 3"),
        ({"axes": [("tcp.receive_window", [1])]}, "`axes` cannot be"),
        ({"axes": {3: [1]}}, "`axes` cannot have 3"),
        ({"axes": {"tcp.receive_window": 3}}, "the axis `tcp.receive_window` is not a list of values"),
        (
            {"axes": {"tcp.receive_window": itertools.count()}},
            f"the axis `tcp.receive_window` has more than {MANY:,} values",
        ),
        ({"axes": {"tcp.receive_window": [10**5000]}}, "`tcp.receive_window` cannot be"),
        ({"axes": {"flow.0.src": [10**5000]}}, "there is no `flow.0`"),
        ({"axes": {"tcp.tahoe\ud800": [1]}}, "`axes` cannot have 'tcp.tahoe\\ud800'"),
        ({"axes": {"arrival_process": [math.nan]}}, "`arrival_process` must be a list"),
        ({"axes": {"arrival_process": [CYCLIC]}}, "`arrival_process.0` must be a table, not a list"),
        ({"cases": "vegas"}, "`cases` cannot be 'vegas'"),
        ({"cases": {"\ud800": {}}}, "`cases` cannot have '\\ud800'"),
        ({"cases": {"a": NESTED}}, "`tcp` has no setting `tcp`, in the case `a`"),
        ({"cases": {1: {}}}, "`cases` cannot have 1"),
        ({"cases": {"a": [1]}}, "the case `a` is not a set of changes"),
        ({"seeds": None}, "`seeds` is neither a number nor a list of whole numbers: None"),
        ({"seeds": b"12"}, "`seeds` cannot be b'12'"),
        ({"seeds": {1: 2}}, "`seeds` cannot be {1: 2}"),
        ({"seeds": [1.0]}, "`seeds` is neither a number nor a list of whole numbers"),
        ({"seeds": itertools.count()}, "`seeds` is neither a number nor a list of whole numbers"),
        ({"seeds": 10**30}, "`seeds` is 1000000000000000000000000000000"),
        ({"seeds": 10**9}, "1 point with 1,000,000,000 runs each need about 2.2 TB of memory, and at most 4.0 GB"),
        ({"seeds": range(10**9)}, "1 point with 1,000,000,000 runs each need about 2.2 TB of memory"),
        (
            {
                "axes": {
                    name: range(1, 1001)
                    for name in ("tcp.receive_window", "topology.hops", "queue.limit", "cbr.datagrams")
                }
            },
            "1,000,000,000,000 points need about ",
        ),
    ],
)
@pytest.mark.parametrize("call", [sweep, search])
def test_invalid_arguments_of_studies(call: Call, arguments: dict[str, Any], message: str) -> None:
    problems = refused(call, **arguments)
    assert len(problems) == 1, problems
    assert message in problems[0]


@pytest.mark.parametrize(
    ("value", "written"), [(math.nan, '"nan"'), (10**400, '"a number with more than 300 digits"'), (CYCLIC, "a list")]
)
def test_values_that_no_setting_has(value: object, written: str) -> None:
    first, second = refused(sweep, axes={"tcp.receive_window": ["none", value]})
    assert first == 'tcp.receive_window: `tcp.receive_window` cannot be "none"'
    assert second == f"tcp.receive_window: `tcp.receive_window` cannot be {written}"


@pytest.mark.parametrize(
    ("precision", "message"),
    [
        ("5 %", "`precision` is '5 %'"),
        (5.0, "`precision` is 500 %"),
        (study.Precision(["goodput_bps"], 0.1, 4), "there is no measure ['goodput_bps']"),
        (study.Precision("goodput_bps", "5 %", 4), "`precision.within` is '5 %'"),
        (study.Precision("goodput_bps", True, 4), "`precision.within` is True"),
        (study.Precision("goodput_bps", math.nan, 4), "`precision.within` is nan %"),
        (study.Precision("goodput_bps", 5.0, 4), "`precision.within` is 500 %"),
        (study.Precision("goodput_bps", 0.1, True), "`precision.max_seeds`: True is not a whole number of at least 1"),
        (study.Precision("goodput_bps", 0.1, 0), "`precision.max_seeds`: 0 is not a whole number of at least 1"),
        (
            study.Precision("goodput_bps", 0.1, 4, min_seeds=0),
            "`precision.min_seeds`: 0 is not a whole number",
        ),
        (study.Precision("goodput_bps", 0.1, 10**9), "1 point with 1,000,000,000 runs each need about 2.2 TB"),
    ],
)
def test_invalid_stopping_rules(precision: Any, message: str) -> None:
    limits = {} if isinstance(precision, study.Precision) else {"max_seeds": 4}
    problems = refused(sweep, precision=precision, seeds=2, **limits)
    assert len(problems) == 1, problems
    assert message in problems[0]


def test_limits_of_a_precision() -> None:
    assert refused(sweep, precision=0.05, seeds=2) == ["max_seeds: `max_seeds` is missing"]
    assert refused(sweep, precision=0.05) == ["max_length: `max_length` is missing"]
    assert refused(sweep, precision=0.05, max_length=4, min_seeds=3) == [
        "min_seeds: `min_seeds` needs several seeds at the start"
    ]
    assert refused(sweep, max_seeds=9) == ["max_seeds: `max_seeds` has no effect without `precision`"]
    assert refused(sweep, min_seeds=9) == ["min_seeds: `min_seeds` has no effect without `precision`"]
    assert refused(sweep, measure="godput") == ["measure: `measure` has no effect without `precision`"]
    assert refused(search, max_runs=1) == ["max_runs: `max_runs`: 1 is not a whole number of at least 2"]
    assert refused(search, seeds=[7]) == ["seeds: a search needs at least 2 seeds, better 10"]
    unknown = refused(sweep, precision=0.05, measure="goodput", seeds=2, max_seeds=4)
    assert unknown == ["measure: there is no measure 'goodput'"]


def test_a_run_cannot_exceed_simulated_time() -> None:
    rule = study.Precision("goodput_bps", 0.1, max_length=10**30)
    assert refused(sweep, precision=rule) == [
        "precision.max_length: a run cannot be extended by a factor of 1000000000000000000000000000000"
    ]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"setting": None}, "`setting` is None"),
        ({"setting": ["tcp.receive_window"]}, "`setting` is ['tcp.receive_window']"),
        ({"low": None}, "`low` is missing"),
        ({"high": "1e999999999"}, "`high` is not a number with or without unit"),
        ({"high": 10**5000}, "`high` is not a number with or without unit"),
        ({"high": 1}, "`high` must be at least one `resolution` above `low`"),
        ({"low": True}, "`low` is not a number with or without unit: True"),
        ({"low": [1]}, "`low` is not a number"),
        ({"low": "1 s"}, "mixes units: `low` s, `high` none, `resolution` none"),
        ({"max_points": "9"}, "'9' is not a whole number of at least 9"),
        ({"max_points": 8}, "8 is not a whole number of at least 9"),
        ({"direction": "up"}, "`direction` cannot be 'up'"),
        ({"measure": "mean_window_segments"}, "mean_window_segments has no better direction"),
    ],
)
def test_invalid_searches(rule: dict[str, Any], message: str) -> None:
    problems = refused(search, **rule)
    assert len(problems) == 1, problems
    assert message in problems[0]


def test_all_errors_are_reported_at_once() -> None:
    problems = refused(sweep, jobs=-1, out="", progress=None, seeds="3", axes={"tcp.windw": [1]}, max_seeds=3)
    assert [problem.partition(":")[0] for problem in problems] == [
        *("jobs", "out", "progress", "max_seeds", "seeds", "tcp.windw")
    ]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: chappe.run(3), TypeError, "a scenario is a Scenario, a dict or the name of a file, not 3"),
        (lambda: chappe.sweep(None), TypeError, "a scenario is a Scenario, a dict or the name of a file, not None"),
        (lambda: chappe.search([1], **RULE), TypeError, "a scenario is a Scenario"),
        (
            lambda: chappe.run(CHAIN, progress=3),
            TypeError,
            "progress must be a function of the completed share, or true or false, not 3",
        ),
        (lambda: chappe.run(CHAIN, seed=-1), chappe.ScenarioError, "`run.seed` cannot be -1"),
        (lambda: chappe.run(CHAIN, seed=1.5), chappe.ScenarioError, "`run.seed` cannot be 1.5"),
        (lambda: chappe.run(CHAIN, seed=True), chappe.ScenarioError, "`run.seed` cannot be true"),
        (lambda: chappe.run(CHAIN, seed=10**5000), chappe.ScenarioError, "`run.seed` cannot be"),
        (lambda: CHAIN.with_settings([1]), TypeError, "settings is a dict of dotted names and values, not [1]"),
        (lambda: CHAIN[3], KeyError, "there is no setting 3"),
        (lambda: CHAIN["tcp"], KeyError, "there is no setting 'tcp'; it is the group of tcp.variant, "),
        (lambda: CHAIN["tcp.varient"], KeyError, "there is no setting 'tcp.varient'; did you mean 'tcp.variant'?"),
        (lambda: chappe.Scenario(3), TypeError, "settings is a dict of dotted names and values, not 3"),
        (lambda: chappe.Scenario("a.toml"), TypeError, "for a file use Scenario.load('a.toml')"),
        (lambda: chappe.Scenario(Path("a.toml")), TypeError, "for a file use Scenario.load("),
        (lambda: chappe.Scenario('{"run.stop": "1 s"}'), TypeError, "settings is a dict"),
        (
            lambda: CHAIN.with_settings({"tcp.receive_window": itertools.count()}),
            ValueError,
            "a list has at most 1,000,000 entries",
        ),
        (lambda: CHAIN.with_settings({"tcp.variant": "\ud800"}), ValueError, "'\\ud800' is not UTF-8 text"),
        (lambda: chappe.Scenario.load(3), TypeError, "path is the name of a file, not 3"),
        (lambda: chappe.Scenario.load("a\0b"), ValueError, "no file can be named 'a\\x00b'"),
        (lambda: chappe.Scenario.load("x", "a=b"), TypeError, "settings is a dict, or a list such as"),
        (lambda: chappe.Scenario.load("x", [3]), TypeError, "settings is a dict, or a list such as"),
        (lambda: chappe.Scenario.load("x", 3), TypeError, "settings is a dict, or a list such as"),
        (lambda: chappe.Scenario({}, base_dir=3), TypeError, "base_dir is the name of a file, not 3"),
        (lambda: chappe.Scenario.chain("two"), chappe.ScenarioError, "`topology.hops` cannot be"),
        (lambda: chappe.Study(3), TypeError, "folder is the name of a file, not 3"),
        (lambda: study.load(3), TypeError, "path is the name of a file, not 3"),
        (lambda: study.measure([CHAIN], [1]), TypeError, "points is a dict of scenarios"),
        (lambda: study.measure({"a": CHAIN}, 3), TypeError, "seeds is a list of seeds, not 3"),
    ],
)
def test_arguments_of_wrong_types(call: Call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()


@pytest.fixture(scope="module")
def stored() -> chappe.Study:
    return chappe.sweep(CHAIN, {"tcp.receive_window": [2, 4]}, seeds=2)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("summary", {"measures": 3}, "measures is a name or a list of names, not 3"),
        ("summary", {"measures": ["goodput_bps", 3]}, "measures is a name or a list of names"),
        ("doubts", {"measures": None}, "measures is a name or a list of names, not None"),
        (
            "plot",
            {"x": "topology.hops", "measure": ["goodput_bps", 3]},
            "measure is a name or a list of names, not ['goodput_bps', 3]",
        ),
        ("plot", {"x": "topology.hops", "measure": "goodput"}, "there is no measure 'goodput'"),
        ("table", {"name": 3}, "name is a name, not 3"),
        ("table", {"name": "nodez"}, "there is no table 'nodez'"),
        ("compare", {"measure": "goodput_bps", "a": 1, "b": 2}, "a is a dict of dotted names and values, not 1"),
        (
            "compare",
            {"measure": "goodput_bps", "a": {"tcp.receive_window": object}, "b": {"tcp.receive_window": 2}},
            "a is a dict of names and values; 'tcp.receive_window' cannot be <class 'object'>",
        ),
        ("rank", {"measure": "goodput_bps", "over": 3}, "over is a name or a list of names, not 3"),
        (
            "rank",
            {"measure": "goodput_bps", "over": "tcp.receive_window", "direction": 3},
            "direction is 3; it must be 'maximize' or 'minimize'",
        ),
        ("rank", {"measure": "goodput_bps", "over": "tcp.variant"}, "'tcp.variant' is not an axis"),
    ],
)
def test_invalid_queries_of_a_study(stored: chappe.Study, method: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        getattr(stored, method)(**arguments)


def test_values_of_other_libraries_are_accepted() -> None:
    assert seeds_of(cast(int, np.int64(3))) == [1, 2, 3]
    assert seeds_of(np.array([5, 7])) == [5, 7]
    axes = {"tcp.receive_window": np.array([2, 4]), "tcp.variant": (name for name in ("reno", "vegas"))}
    points = grid(CHAIN, axes)
    assert [tuple(p.labels.values()) for p in points] == [(2, "reno"), (2, "vegas"), (4, "reno"), (4, "vegas")]


def test_large_seeds_do_not_slow_a_study() -> None:
    rule = study.Precision("goodput_bps", 0.0001, max_seeds=4)
    runs = chappe.sweep(CHAIN, seeds=[2**62, 1], precision=rule).runs
    assert runs["seed"].to_list() == [2**62, 1, 2, 3]


def test_long_studies_cause_a_warning(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", encoding="utf-8")
    long = CHAIN.with_settings({"topology.hops": 7, "run.stop": "2000000000 delivered", "run.time_limit": "8640000 s"})
    # The folder cannot be used, so nothing is run.
    with pytest.warns(study.WorkWarning, match="3 runs take about .* on 2 cores"), pytest.raises(study.StorageError):
        chappe.sweep(long, seeds=3, out=in_the_way, jobs=2)


def test_the_command_line_warns_before_it_begins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = tmp_path / "long.toml"
    path.write_text('[scenario]\nrun = { stop = "1000000000 delivered", time_limit = "8640000 s" }\n', encoding="utf-8")
    assert cli.main(["sweep", str(path), "--out", str(tmp_path / "file"), "--jobs", "1"]) == 2
    assert re.search(r"warning: a run takes about \d+ h on one core", capsys.readouterr().err)


def test_parallel_runs_count_towards_memory() -> None:
    large = CHAIN.with_settings({"run.max_memory": "1 MB", "run.batches": 10})
    assert refused(lambda **a: chappe.sweep(large, **a), jobs=40, seeds=40)[0].startswith("jobs: parallel runs need")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("lists", "x = " + "[" * 5000, "more than 32 nested tables and lists"),
        (
            "axis",
            "[axes]\ntcp.window = [" + "[" * 70 + "]" * 70 + "]",
            "more than 32 nested tables and lists",
        ),
        ("scenario", "[scenario]\n" + "a." * 300 + "b = 1", "more than 32 nested tables and lists"),
        ("case", "[cases.x]\n" + "a." * 60_000 + "b = 1", "more than 32 nested tables and lists"),
        ("digits", "seeds = " + "9" * 5000, "is too large"),
        ("size", "x = 1\n" * 100_000, "has more than 0.2 MB"),
        ("names", "x = '''\n" + ".".join("a" * 100) + "!\n'''\n", "a study has no setting `x`"),
        ("keys", "".join(f"k{i} = 1\n" for i in range(5000)), "... and 4,9"),
    ],
)
def test_malformed_study_files_are_reported(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(study.StudyError, match=re.escape(message)):
        study.load(path)


@pytest.mark.parametrize("verb", ["check", "sweep"])
def test_long_files_and_names_are_reported_quickly(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Detecting the kind of a file must be fast; some TOML parsers took minutes."""
    monkeypatch.chdir(tmp_path)
    texts = {"names": 'run.stop = "1 s"\n' + "a." * 80_000 + "b = 1\n", "size": "# x\n" * 3_000_000}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
        assert cli.main([verb, name]) == 2
    errors = capsys.readouterr().err
    assert "has more than 0.2 MB" in errors if verb == "sweep" else "a scenario has at most 10 MB" in errors


def test_deeply_nested_values_are_rejected() -> None:
    deep: Any = 1
    for _ in range(130):
        deep = [deep]
    for changes in (
        {"tcp.receive_window": deep},
        {"tcp": {"receive_window": deep}},
        {"tcp.receive_window": range(1, 3)},
    ):
        with pytest.raises(chappe.ScenarioError, match=r"`tcp\.receive_window` cannot be a list"):
            CHAIN.with_settings(changes)
    with pytest.raises(study.StudyError, match="cannot be a list"):
        chappe.sweep(CHAIN, {"tcp.receive_window": [1, deep]})


def test_empty_names_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["run", ""], ["check", ""], ["sweep", ""], ["validate", "standard", "--out", ""]):
        assert cli.main(arguments) == 2, arguments
    with pytest.raises(ValueError, match="no file can be named ''"):
        chappe.run("")
    assert refused(lambda **a: chappe.sweep(CHAIN, **a), backend="")[0].startswith("backend: `backend` cannot be ''")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("argument", ["run", "check", "sweep"])
def test_an_endless_file_is_rejected(argument: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chappe.cli", argument, "/dev/zero"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=REPOSITORY,
        check=False,
    )
    assert done.returncode == 2
    assert "has more than" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_wrong_entries_of_a_list_are_named() -> None:
    with pytest.raises(chappe.ScenarioError, match=r"`run\.record` has an entry that cannot be read") as e:
        chappe.Scenario.chain(2, {"run.record": ["packts", "frames", 3, "a", "b"]})
    known = "frames, mpdus, heard, packets, cwnd, queue, routes, energy, positions"
    assert e.value.problems[0].help == (
        f'entry 0 is "packts": did you mean `packets`? known: {known}; entry 2 is 3: expected one of: {known}; '
        f'entry 3 is "a": expected one of: {known}; and 1 more'
    )
