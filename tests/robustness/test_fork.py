"""Processes forked after polars was used lack its threads; calls that would hang raise an error."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chappe
from chappe import study
from chappe.results.budgets import Why
from chappe.results.storage.columns import TABLES
from command import PATIENCE_S, environment

FORKS = """
import os, pickle, signal, sys
import chappe
from chappe import study

scenario = chappe.Scenario.chain(1, {"run.record": ["packets"]}, stop="110 delivered")
plain = scenario.with_settings({"run.record": []})
axes, rule = {"tcp.receive_window": [2, 4]}, {"setting": "tcp.receive_window", "low": 1, "high": 4}
results, run = chappe.run(scenario), chappe.start(scenario)
driven = plain.with_settings({"flow": [{"src": 0, "dst": 1, "app": "external"}], "run.stop": "1 s"})
if {used}:
    swept = chappe.sweep(plain, axes, seeds=2, out="swept")
    swept.runs
    searched = chappe.search(plain, **rule, seeds=2, out="searched")
    why = chappe.run(plain).why()
calls = {calls}
for name, call in calls.items():
    child = os.fork()
    if child == 0:
        signal.alarm({patience})
        try:
            value = eval(call)
            print(f"{name}: {(value() if callable(value) else value)!r:.10}")
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {e}")
        sys.stdout.flush()
        os._exit(0)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(f"{name}: {code}")
"""

REFUSED = {
    "chappe.search": "chappe.search(plain, **rule, seeds=2)",
    "chappe.sweep": "chappe.sweep(plain, axes, seeds=2)",
    "chappe.run, out": "chappe.run(plain, out='out')",
    "chappe.advise": "chappe.advise(plain, [{'tcp.receive_window': 2}])",
    "chappe.follow": "chappe.follow(plain)",
    "study.measure": "study.measure({1: plain}, [1])",
    "study.search": "study.search(plain, **rule, seeds=2)",
    "study.sweep": "study.sweep(plain, axes, seeds=2)",
    "Results.completions": "results.completions",
    "Results.warnings": "results.warnings",
    "Results.recorded": "results.recorded",
    "Results.save": "results.save('saved')",
    "Results.plot": "results.plot()",
    "Results._repr_html_": "results._repr_html_()",
    "Results.player": "results.player",
    "Results.report": "results.report('page.html')",
    "Results.summary": "results.summary",
    "chappe.open": "chappe.open('saved')",
    "Results.to_dict": "results.to_dict",
    "Results.why": "results.why",
    "Results.__reduce__": "pickle.dumps(results)",
    "Study": "chappe.Study('swept')",
    "Study.compare": "swept.compare('goodput_bps', {'tcp.receive_window': 2}, {'tcp.receive_window': 4})",
    "Study.curve": "searched.curve",
    "Study.doubts": "swept.doubts",
    "Study.rank": "swept.rank('goodput_bps', 'tcp.receive_window')",
    "Study.runs": "searched.runs",
    "Study._repr_html_": "swept._repr_html_()",
    "Study.report": "swept.report('study.html')",
    "Study.plot": "swept.plot('tcp.receive_window')",
    "Study.summary": "swept.summary",
    "Study.table": "swept.table('flows')",
    "Study.to_pandas": "swept.to_pandas",
    "Study.to_xarray": "swept.to_xarray",
    "Study.warnings": "swept.warnings",
    "Study.__repr__": "repr(swept)",
    "Why.to_dict": "why.to_dict",
    "Why.__repr__": "repr(why)",
}
"""Calls that would hang, by name."""

ANSWERED = {
    "chappe.parts": "chappe.parts",
    "chappe.run": "chappe.run(scenario)",
    "chappe.schema": "chappe.schema",
    "chappe.start": "chappe.start(scenario)",
    "study.Precision": "study.Precision('goodput_bps', 0.05)",
    "study.Search": "study.Search('tcp.receive_window', 1, 4)",
    "study.load": "study.load('study.toml')",
    "Results.__reduce__, nothing recorded": "pickle.loads(pickle.dumps(chappe.run(plain))).flows",
    "Results.__repr__": "repr(results)",
    **{
        f"Results.{name}": f"results.{name}"
        for name in ("end", "epoch", "frames_sent", "measured_from_s", "seed", "simulated_s")
    },
    **{f"Results.{name}": f"results.{name}" for name in ("tables", "version", *TABLES)},
    "Results.table": "results.table('flows')",
    "Simulation.apply": "run.apply('node_down', node=1)",
    **{f"Simulation.{name}": f"run.{name}" for name in ("cancel", "done", "finish", "progress")},
    **{f"Simulation.{name}": f"run.{name}" for name in ("results", "time_ns", "time_s")},
    "Simulation.decide": "chappe.start(scenario.with_settings({'tcp.congestion_control': 'external'})).decide(0, 3)",
    "Simulation.endpoint": "chappe.start(driven).endpoint(0)",
    "Simulation.events": "list(run.events())",
    "Simulation.copy": "run.copy()",
    "Simulation.look": "run.look()",
    "Simulation.run_until": "run.run_until(1)",
    "Simulation.set": "chappe.start(scenario).set('flow.0.tcp.receive_window', 4)",
    "Simulation.stations": "run.stations()",
    "Simulation.__repr__": "repr(run)",
    "Scenario.chain": "chappe.Scenario.chain",
    "Scenario.load": "chappe.Scenario.load('scenario.toml')",
    "Scenario.with_settings": "scenario.with_settings({'tcp.receive_window': 3})",
    "Scenario.get": "scenario.get('tcp.receive_window')",
    "Scenario.mobility": "scenario.with_settings({'run.stop': '1 s'}).mobility",
    "Scenario.write_mobility": "scenario.write_mobility('ways', until=1)",
    **{
        f"Scenario.{name}": f"scenario.{name}"
        for name in (
            "flows",
            "items",
            "keys",
            "links",
            "names",
            "nodes",
            "settings",
            "to_toml",
            "transports",
            "values",
            "warnings",
        )
    },
    "Scenario.plot": "scenario.plot()",
    "Scenario._repr_html_": "scenario._repr_html_()",
    "Scenario.__repr__": "repr(scenario)",
    **{f"Study.{name}": f"swept.{name}" for name in ("axes", "is_search", "pool", "scenario", "seeds")},
    "Study.measure_of_search": "searched.measure_of_search",
}
"""Calls that work without threads."""


def forked(calls: dict[str, str], used: bool, folder: Path) -> list[str]:
    """Result or error of each call in a child process, after its name."""
    (folder / "scenario.toml").write_text('run.stop = "110 delivered"\n')
    (folder / "study.toml").write_text("scenario = 'scenario.toml'\n")
    filled = {"{used}": str(used), "{calls}": repr(calls), "{patience}": str(PATIENCE_S)}
    script = FORKS
    for place, text in filled.items():
        script = script.replace(place, text)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=folder,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def public() -> Iterator[str]:
    """Public functions, methods and properties of the API."""
    for module in (chappe, study):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not (isinstance(value, type) and issubclass(value, Exception)):
                yield f"{module.__name__.removeprefix('chappe.')}.{name}"
    for kind in (chappe.Results, chappe.Simulation, chappe.Scenario, chappe.Study, Why):
        yield f"{kind.__name__}.__repr__"
        yield from (f"{kind.__name__}.{name}" for name in dir(kind) if not name.startswith("_"))


KINDS = {
    "chappe.Results",
    "chappe.Simulation",
    "chappe.Scenario",
    "chappe.Study",
    "chappe.Advice",
    "chappe.CongestionEvent",
    "chappe.Controller",
    "chappe.Decision",
    "chappe.Endpoint",
    "chappe.Story",
    "chappe.Problem",
    "study.Also",
    "study.Item",
    "study.Point",
    "study.Relative",
    "study.RunCache",
    "study.Study",
}
"""Public classes."""


def test_all_public_names_are_covered() -> None:
    assert set(public()) - KINDS - {"study.StudyFile"} <= {*REFUSED, *ANSWERED}


def test_a_fork_without_threads_raises(tmp_path: Path) -> None:
    for result in forked(REFUSED, True, tmp_path):
        assert "RuntimeError: this process was forked from one that had used polars" in result
        assert 'get_context("spawn")' in result


def test_a_fork_without_threads_can_do_the_rest(tmp_path: Path) -> None:
    results = forked(ANSWERED, True, tmp_path)
    assert len(results) == len(ANSWERED)
    assert [result for result in results if "Error" in result] == []


def test_a_fork_of_a_process_that_has_not_used_polars_works(tmp_path: Path) -> None:
    unmade = ("swept", "searched", "why.to_dict", "repr(why)")
    calls = {name: call for name, call in REFUSED.items() if not any(x in call for x in unmade)}
    assert {"chappe.sweep", "chappe.run, out", "Results.why"} <= calls.keys()
    results = forked(calls, False, tmp_path)
    # The module of the player is not part of a plain build.
    failed = [result for result in results if "Error" in result and "there is no player" not in result]
    assert failed == []
