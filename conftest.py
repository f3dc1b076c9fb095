"""Fixtures and order of both trees of tests, ``tests`` and ``reproductions/tests``."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import plot
from chappe.study.execution import threads as work
from command import REPOSITORY
from hypothesis import settings

# Deterministic examples without deadlines.
settings.register_profile("chappe", derandomize=True, deadline=None)
settings.load_profile("chappe")

MIXED = """extends = "ns2-2.35"

[run]
stop = "60 s"
batches = 6
warmup_batches = 1
sample_interval = "500 ms"

[topology]
kind = "list"
positions = [["0 m", "0 m"], ["200 m", "0 m"], ["400 m", "0 m"], ["200 m", "200 m"]]

[[flow]]
src = 0
dst = 2
tcp = { variant = "vegas" }

[[flow]]
src = 3
dst = 1
app = "cbr"
start = "5 s"

[[flow]]
src = 2
dst = 0
start = "10 s"
"""

SLOW = (
    "fuzz",
    "sweep_failures",
    "paper",
    "paper_runs",
    "paper_wheel",
    "work",
    "zhou",
    "sweep_ray",
    "examples",
    "streams",
    "terminal",
    "wheel",
    "ahmed",
    "classroom",
    "cli",
    "decide",
    "determinism",
    "docs",
    "drawn",
    "experiments",
    "fork",
    "full_disk",
    "layout",
    "measured_coverage",
    "memory",
    "package",
    "ramarathinam",
    "recipes",
    "recompute",
    "records",
    "small_paper",
    "su",
    "sweep_analysis",
    "typing",
    "validation",
    "validation_dsr",
    "validation_sinr",
)
"""Files of slow tests: they run papers and comparisons, start programs, end them, or read a corpus.

`make test-quick` leaves them out. The longest stand first and are run first: who began one of them last would let the
other workers wait.
"""


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {f"test_{name}": n for n, name in enumerate(SLOW)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))
    for item in items:
        if item.path.stem in order:
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Excludes what was imported and collected from garbage collections, which take a twelfth of the time otherwise."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(autouse=True, scope="session")
def _fonts_are_embedded_quickly() -> Iterator[None]:
    """Disables TrueType embedding, which takes five times as long as the rest of a figure; one test covers it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plot.STYLE, "pdf.fonttype", 3)
        yield


@pytest.fixture(autouse=True, scope="session")
def _the_disk_is_not_waited_for() -> Iterator[None]:
    """Disables fsync, which takes half of the time of a small study; separate processes keep it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def _modules_of_a_test_are_forgotten() -> Iterator[None]:
    """Modules in folders that a test has added to the path of Python: those of other tests have the same names."""
    path = list(sys.path)
    yield
    for folder in set(sys.path) - set(path):
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
                del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Current folder with copies of the scenarios and examples, so that nothing is written to the repository."""
    for part in ("scenarios", "examples"):
        shutil.copytree(REPOSITORY / part, tmp_path / part)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A scenario file with three interfering flows of three kinds."""
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def mixed_results(tmp_path_factory: pytest.TempPathFactory) -> chappe.Results:
    path = tmp_path_factory.mktemp("mixed") / "mixed.toml"
    path.write_text(MIXED, encoding="utf-8")
    return chappe.run(path)


@pytest.fixture(scope="session")
def chain_results() -> chappe.Results:
    """A chain of five hops with losses of every kind of packet, no discarded batch, and airtime."""
    changes = {"run.warmup_batches": 0, "run.airtime": True}
    scenario = chappe.Scenario.chain(5, changes, stop="3300 delivered", extends="ns2-2.35")
    return chappe.run(scenario)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the runs executed during the test."""
    keys: list[str] = []
    execute = work.execute

    def noting(item: Any, *rest: Any) -> Any:
        keys.append(item.key)
        return execute(item, *rest)

    monkeypatch.setattr(work, "execute", noting)
    return keys


@pytest.fixture
def with_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of pages that no browser runs, where none was built."""
    from chappe import page

    monkeypatch.setattr(page, "module", lambda: page.Module(b"gzip", b"lzma"))
