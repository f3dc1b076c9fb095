"""Studies on a real Ray cluster of two nodes on this machine."""

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chappe
import pytest
import ray
from chappe import cli, study
from chappe.study import _cluster as cluster
from chappe.study import _work as work
from command import chappe as command
from command import contents
from ray.cluster_utils import Cluster

SCENARIO = chappe.Scenario.chain(2, {"tcp.variant": "vegas"}, stop="5500 delivered", extends="ns2-2.35")
AXES = {"topology.hops": [2, 3, 4], "tcp.receive_window": [4, 8]}
SEEDS = 8


NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


@pytest.fixture(scope="module")
def client_port() -> int:
    """A free port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture(scope="module")
def nodes(client_port: int) -> Iterator[Cluster]:
    head = {**NODE, "include_dashboard": False, "ray_client_server_port": client_port}
    with pytest.MonkeyPatch.context() as m:
        # Reason: docs/studies.md, "On a Ray cluster".
        m.setenv("GRPC_ENABLE_FORK_SUPPORT", "0")
        # Ray workers have low priority, and would starve in parallel with other tests.
        m.setenv("RAY_worker_niceness", "0")
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            cluster.add_node(**NODE)
            cluster.wait_for_nodes()
            ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def workers_at_work() -> list[int]:
    """Processes of the cluster of the test that execute runs now."""
    workers = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and is_ours(int(entry.name)):
            try:
                title = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::_task"):
                workers.append(int(entry.name))
    return workers


def is_ours(pid: int) -> bool:
    """Returns true if a process is a descendant of the current process."""
    while pid > 1 and pid != os.getpid():
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return pid == os.getpid()


def test_a_worker_and_a_node_die_and_nothing_is_lost_or_counted_twice(
    nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = chappe.sweep(SCENARIO, AXES, seeds=SEEDS, out=tmp_path / "here")
    second = nodes.add_node(**NODE)
    nodes.wait_for_nodes()
    taken: list[str] = []
    killed: list[int] = []
    finish = cluster._Work._finish

    def disturbing(self: cluster._Work, results: Any) -> None:
        finish(self, results)
        taken.extend(r.key for r in results)
        if not killed:
            while not (at_work := workers_at_work()):
                time.sleep(0.01)
            killed.append(at_work[0])
            os.kill(killed[0], signal.SIGKILL)
        elif len(killed) == 1:
            killed.append(0)
            nodes.remove_node(second, allow_graceful=False)

    monkeypatch.setattr(cluster._Work, "_finish", disturbing)
    on_cluster = chappe.sweep(SCENARIO, AXES, seeds=SEEDS, out=tmp_path / "there", backend="ray")
    assert len(killed) == 2
    assert on_cluster.failed == []
    assert sorted(taken) == sorted(here.runs["run"])
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


@pytest.mark.usefixtures("nodes")
def test_a_run_that_ends_its_worker_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = study._axes.Item(study._axes.Point({}, SCENARIO), 3).key

    def task(epoch: int, items: Any) -> Any:
        if any(item.key == bad for item in items):
            os._exit(1)
        return cluster._Answer(epoch, [work.execute(item) for item in items])

    monkeypatch.setattr(cluster, "_task", task)
    monkeypatch.setattr(cluster, "_RETRIES", 0)
    swept = chappe.sweep(SCENARIO, {}, seeds=12, out=tmp_path, backend="ray")
    assert [f.item.seed for f in swept.failed] == [3]
    assert sorted(swept.runs["seed"]) == [s for s in range(1, 13) if s != 3]


@pytest.mark.usefixtures("nodes")
def test_another_epoch_on_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "RESULTS_EPOCH", chappe.RESULTS_EPOCH + 1)
    with pytest.raises(study.ClusterError, match=f"epoch {chappe.RESULTS_EPOCH}, not {chappe.RESULTS_EPOCH + 1}"):
        chappe.sweep(SCENARIO, {}, seeds=2, out=tmp_path, backend="ray")


@pytest.mark.parametrize("by", ["RAY_ADDRESS", "ray://"])
def test_the_command_finds_the_cluster(by: str, nodes: Cluster, client_port: int, tmp_path: Path) -> None:
    text = 'scenario = { extends = "ns2-2.35", run.stop = "110 delivered" }\nseeds = 4\n'
    (tmp_path / "study.toml").write_text(text)
    on = "ray" if by == "RAY_ADDRESS" else f"ray://127.0.0.1:{client_port}"
    env = {**os.environ, "RAY_ADDRESS": nodes.address if by == "RAY_ADDRESS" else ""}
    on_cluster = command("sweep", "study.toml", "--backend", on, "--out", "there", cwd=tmp_path, env=env)
    assert (on_cluster.returncode, on_cluster.stderr) == (0, "")
    assert command("sweep", "study.toml", "--out", "here", cwd=tmp_path).returncode == 0
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "study.toml").write_text('scenario = { run.stop = "110 delivered" }\n')
    monkeypatch.chdir(tmp_path)

    def refused(on: str) -> str:
        assert cli.main(["sweep", "study.toml", "--backend", on, "--out", "out"]) == 2
        written = capsys.readouterr()
        assert written.out == ""
        assert not (tmp_path / "out").exists()
        return written.err

    def no_answer(**_: object) -> None:
        raise ConnectionError("nobody answers\nat all")

    assert refused("slurm") == "error: cannot run on 'slurm': use ray or ray://HOST:PORT\n"
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", no_answer)
    monkeypatch.setattr(cluster, "_refuse_silence", lambda *_: None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert refused("ray") == "error: there is no Ray cluster on this machine: nobody answers\n"
    assert refused("ray://nowhere:1") == "error: there is no Ray cluster at ray://nowhere:1: nobody answers\n"
    monkeypatch.setenv("RAY_ADDRESS", "nowhere:6379")
    assert refused("ray") == "error: there is no Ray cluster at nowhere:6379 (RAY_ADDRESS): nobody answers\n"
    monkeypatch.setitem(sys.modules, "ray", None)
    assert refused("ray") == "error: Ray is not installed: install chappe[ray]\n"


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_cluster_with_a_dying_client_process(deaths: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [ConnectionAbortedError("Initialization failure from server:\nit died")] * deaths

    def init(**_: object) -> None:
        if left:
            raise left.pop()

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(cluster, "_refuse_silence", lambda *_: None)
    with pytest.raises(study.ClusterError, match="Initialization") if deaths == 2 else contextlib.nullcontext():
        cluster.workers("ray://somewhere:1")
    assert left == []


@pytest.mark.parametrize("by", ["RAY_ADDRESS", "ray://", "ray_current_cluster"])
def test_a_cluster_that_does_not_answer(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens but does not answer: Ray would wait for minutes."""
    monkeypatch.setattr(cluster, "PATIENCE_S", 1.0)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray is left to wait"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text(address if by == "ray_current_cluster" else "nowhere:1")
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        monkeypatch.setenv("RAY_ADDRESS", address if by == "RAY_ADDRESS" else "")
        place = "on this machine" if by == "ray_current_cluster" else address
        with pytest.raises(study.ClusterError, match=rf"{place}.*: no answer for 1 seconds"):
            cluster.workers(f"ray://{address}" if by == "ray://" else "ray")


def test_clusters_with_unknown_address_or_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_S", 0.1)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    asked: list[str] = []
    monkeypatch.setattr(ray, "init", lambda address, **_: asked.append(address))
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    for address in ("", "auto"):
        monkeypatch.setenv("RAY_ADDRESS", address)
        cluster.workers("ray")
    monkeypatch.setenv("RAY_USE_TLS", "1")
    cluster.workers("ray://nowhere:1")
    assert asked == ["auto", "auto", "ray://nowhere:1"]
