"""Same scenario, same seed, same bytes: repeated, in parallel, from Python and from the command line."""

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import chappe
import pytest
from chappe import Scenario, cli
from chappe.results.storage.columns import TABLES
from command import chappe as command
from command import contents


def saved(scenario: Scenario, seed: int, folder: Path) -> dict[str, bytes]:
    chappe.run(scenario, seed=seed).save(folder)
    return contents(folder)


def everything(scenario: Scenario, seed: int) -> str:
    """Output of ``chappe run --json``."""
    return json.dumps(chappe.run(scenario, seed=seed).to_dict(), indent=2) + "\n"


def scenarios(mixed: Path) -> list[Scenario]:
    return [
        Scenario.load(mixed),
        Scenario.chain(
            7, {"tcp.variant": "vegas", "run.sample_interval": "1 s"}, stop="1100 delivered", extends="ns2-2.35"
        ),
        Scenario.chain(4, {"tcp.variant": "sack", "tcp.ack_policy": "delayed"}, stop="1100 delivered"),
    ]


def test_repeated_runs_are_identical(mixed: Path, tmp_path: Path) -> None:
    for i, scenario in enumerate(scenarios(mixed)):
        first = saved(scenario, 3, tmp_path / f"{i}a")
        assert len(first) == len(TABLES) + 2
        assert saved(scenario, 3, tmp_path / f"{i}b") == first
        other = saved(scenario, 4, tmp_path / f"{i}c")
        assert all(other[name] != first[name] for name in ("scenario.toml", "run.json", "flows.parquet"))


@pytest.mark.parametrize(
    "pool",
    [
        lambda: ThreadPoolExecutor(4),
        lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")),
    ],
    ids=["threads", "processes"],
)
def test_parallel_runs_are_identical(pool: Callable[[], Executor], mixed: Path) -> None:
    work = [(s, seed) for s in scenarios(mixed) for seed in (1, 2)] * 2
    alone = [everything(s, seed) for s, seed in work]
    with pool() as workers:
        together = list(workers.map(everything, *zip(*work, strict=True)))
    assert together == alone
    assert len(set(alone)) == len(work) // 2


def test_python_and_the_command_line_agree(mixed: Path, tmp_path: Path) -> None:
    scenario = Scenario.load(mixed, {"tcp.receive_window": 9})
    ours = saved(scenario, 5, tmp_path / "python")
    done = command("run", mixed, "--set", "tcp.receive_window=9", "--seed", 5, "--json", "--out", "shell", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == everything(scenario, 5)
    assert contents(tmp_path / "shell") == ours
    # In the current process, with the same command line.
    assert (
        cli.main(["run", str(mixed), "--set", "tcp.receive_window=9", "--seed=5", "--out", str(tmp_path / "main")]) == 0
    )
    assert contents(tmp_path / "main") == ours


def test_effective_settings_reproduce_the_files(mixed: Path, tmp_path: Path) -> None:
    first = command("run", mixed, "--seed", 6, "--json", "--out", "first", cwd=tmp_path)
    again = command("run", "first/scenario.toml", "--json", "--out", "again", cwd=tmp_path)
    assert (first.returncode, again.returncode) == (0, 0)
    assert contents(tmp_path / "again") == contents(tmp_path / "first")
    assert again.stdout == first.stdout


def test_all_ways_to_give_a_seed_agree(mixed: Path) -> None:
    given = Scenario.load(mixed, ["run.seed=8"])
    assert everything(given, 8) == everything(Scenario.load(mixed), 8)
    assert chappe.run(given).to_dict() == chappe.run(Scenario.load(mixed), seed=8).to_dict()
