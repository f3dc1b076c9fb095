"""Errors and warnings have common bases."""

import inspect
import pickle

import chappe
import pytest
from chappe import errors as error

CHAIN = chappe.Scenario.chain(2, stop="110 delivered")


def test_errors_and_warnings_have_a_base_and_are_exported() -> None:
    classes = {
        name: cls
        for name, cls in inspect.getmembers(error, inspect.isclass)
        if issubclass(cls, Exception) and cls.__module__ == error.__name__ and not name.startswith("_")
    }
    assert set(classes) <= set(chappe.__all__)
    for name, cls in classes.items():
        base = chappe.ChappeWarning if name.endswith("Warning") else chappe.ChappeError
        assert issubclass(cls, base)
    assert {"ChappeError", "LimitError", "RunError", "StorageError", "WorkWarning"} <= set(classes)


def test_built_in_bases_of_errors() -> None:
    assert issubclass(chappe.ScenarioError, ValueError)
    assert issubclass(chappe.StudyError, ValueError)
    assert issubclass(chappe.RunError, RuntimeError)
    assert issubclass(chappe.LimitError, RuntimeError)


def test_a_run_beyond_its_memory_reaches_a_limit() -> None:
    greedy = {"run.stop": "100000000 delivered", "run.sample_interval": "10 us", "run.max_memory": "5 MB"}
    with pytest.raises(chappe.LimitError, match="of memory") as caught:
        chappe.run(greedy)
    (problem,) = caught.value.problems
    assert problem.path == "run.sample_interval"
    assert "\x1b[" in caught.value.colored
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.problems) == (str(caught.value), caught.value.problems)


def test_an_error_of_a_scenario_is_made_of_problems() -> None:
    problem = chappe.Problem("tcp.mss", "`tcp.mss` is 0", "use 1460 B", "a.toml", 3, 5)
    made = chappe.ScenarioError([problem])
    assert (made.problems, made.more, made.colored) == ([problem], 0, str(made))
    assert str(made) == "error: `tcp.mss` is 0\n --> a.toml:3\n  = help: use 1460 B"
    again = pickle.loads(pickle.dumps(made))
    assert (str(again), again.problems) == (str(made), made.problems)
    with pytest.raises(chappe.ScenarioError) as caught:
        CHAIN.with_settings({"tcp.variant": "vega"})
    copied = chappe.ScenarioError(*caught.value.args)
    assert (str(copied), copied.problems, copied.colored) == (
        str(caught.value),
        caught.value.problems,
        caught.value.colored,
    )
