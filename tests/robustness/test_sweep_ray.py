"""Studies on a real Ray cluster of two nodes on this machine."""

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chappe
import grpc
import pytest
import ray
from chappe import cli, study
from chappe.study.design import axes
from chappe.study.execution import cluster, driver
from chappe.study.execution import threads as work
from command import CHAPPE, contents, environment
from command import chappe as command
from ray.cluster_utils import Cluster

SCENARIO = chappe.Scenario.chain(2, {"tcp.variant": "vegas"}, stop="5500 delivered", extends="ns2-2.35")
AXES = {"topology.hops": [2, 3, 4], "tcp.receive_window": [4, 8]}
SEEDS = 8
STUDY = 'scenario = { extends = "ns2-2.35", topology.hops = 2, run.stop = "5500 delivered" }\nseeds = 24\n'

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


def processes() -> list[int]:
    """All processes."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def read(pid: int, what: str) -> bytes:
    """A file of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""


def workers_at_work() -> list[int]:
    """Processes of the cluster of the test that execute runs now."""
    title = f"ray::{driver.NAME}".encode()
    return [pid for pid in processes() if is_ours(pid) and read(pid, "cmdline").startswith(title)]


def is_ours(pid: int) -> bool:
    """Returns true if a process is a descendant of the current process."""
    while pid > 1 and pid != os.getpid():
        try:
            pid = int(read(pid, "stat").decode().rpartition(")")[2].split()[1])
        except (IndexError, ValueError):
            return False
    return pid == os.getpid()


def a_worker_at_work() -> int:
    """Waits for a process that executes runs."""
    while not (at_work := workers_at_work()):
        time.sleep(0.01)
    return at_work[0]


def start_sweep(on: str, out: str, folder: Path, **env: str) -> "subprocess.Popen[str]":
    """Starts the study of a folder on a cluster."""
    return subprocess.Popen(
        [*CHAPPE, "sweep", "study.toml", "--json", "--quiet", "--backend", on, "--out", out],
        cwd=folder,
        env=environment(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def setup_of(on: str, patience_s: float = 1.0) -> driver.Setup:
    """Setup of the process that drives Ray."""
    return driver.Setup(on, None, {}, driver.portable().identity(), patience_s, cluster.CHECK_S, 0)


def test_no_run_is_lost_when_a_worker_and_a_node_die(
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
            killed.append(a_worker_at_work())
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
    bad = chappe.run(SCENARIO, seed=3).flows

    def deadly(tables: Mapping[str, Any]) -> float:
        if tables["flows"].equals(bad):
            os._exit(1)
        return 1.0

    monkeypatch.setattr(cluster, "_RETRIES", 0)
    swept = chappe.sweep(SCENARIO, {}, seeds=12, measures={"deadly": deadly}, out=tmp_path, backend="ray")
    assert [f.item.seed for f in swept.failed] == [3]
    assert str(swept.failed[0]).startswith("RunError: no worker finished it: WorkerCrashedError: ")
    assert sorted(swept.runs["seed"]) == [s for s in range(1, 13) if s != 3]


@pytest.mark.usefixtures("nodes")
def test_another_epoch_on_all_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    epoch = chappe.RESULTS_EPOCH
    monkeypatch.setattr(chappe, "RESULTS_EPOCH", epoch + 1)
    with pytest.raises(study.ClusterError, match=f"epoch {epoch}, not {epoch + 1}") as e:
        chappe.sweep(SCENARIO, {}, seeds=2, out=tmp_path / "out", backend="ray")
    assert [str(e.value).count(n["NodeID"][:8]) for n in ray.nodes() if n["Alive"]] == [1, 1]
    assert e.value.code == 2
    assert not (tmp_path / "out").exists()


def test_a_node_without_chappe_takes_no_runs(nodes: Cluster, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "chappe.py").write_text("raise ModuleNotFoundError('No module', name='chappe')\n")
    here = chappe.sweep(SCENARIO, {}, seeds=24, out=tmp_path / "here")
    unfit = nodes.add_node(**NODE, env_vars={"PYTHONPATH": str(tmp_path / "none")})
    try:
        nodes.wait_for_nodes()
        with pytest.warns(chappe.ChappeWarning) as told:
            there = chappe.sweep(SCENARIO, {}, seeds=24, out=tmp_path / "there", backend="ray")
    finally:
        nodes.remove_node(unfit)
    (text,) = [str(w.message) for w in told]
    assert unfit.node_id[:8] in text
    assert text.endswith("of the Ray cluster takes no runs: Chappe is not installed there")
    assert there.failed == []
    assert sorted(there.runs["run"]) == sorted(here.runs["run"])
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_doubts_about_a_worker() -> None:
    own = driver.portable()
    here = own.identity()
    assert here[:2] == (chappe.__version__, chappe.RESULTS_EPOCH)
    assert own.doubt(here) is None
    assert own.doubt(here._replace(version="9")) == f"it has Chappe {chappe.__version__}, not 9"
    assert own.doubt(here._replace(files="")) == f"it has other code of Chappe {chappe.__version__}"


@pytest.mark.usefixtures("nodes")
def test_nodes_that_a_task_finds_unfit() -> None:
    """As those that join the cluster after the check."""
    other = setup_of("ray")._replace(identity=driver.portable().identity()._replace(version="9"))
    tasks = driver.Driver(ray, other)
    report = tasks.exchange({1: b"", 2: b""})
    while not report.refused:
        report = tasks.exchange({})
    assert not report.done
    assert not report.lost
    assert {reason for _, reason in report.unfit} == {f"it has Chappe {chappe.__version__}, not 9"}

    def until_none_is_left() -> None:
        for number in range(3, 1000):
            tasks.exchange({number: b""})

    with pytest.raises(study.ClusterError, match="no node of the Ray cluster"):
        until_none_is_left()


def test_tasks_of_unfit_nodes_are_repeated_and_unread_ones_fail() -> None:
    class Refusing:
        cores = 1
        answers = 0

        def exchange(self, tasks: dict[int, bytes]) -> driver.Report:
            self.answers += 1
            if self.answers == 1:
                return driver.Report({}, {}, {}, list(tasks), [])
            if self.answers == 2:
                return driver.Report({}, dict.fromkeys(tasks, "cannot be read"), {}, [], [])
            done = {number: work.execute_pickled(items) for number, items in tasks.items()}
            return driver.Report(done, {}, {}, [], [])  # type: ignore[arg-type]

    short = chappe.Scenario.chain(2, stop="110 delivered", extends="ns2-2.35")
    items = [axes.Item(axes.Point({}, short), seed) for seed in range(1, 9)]
    taken: list[Any] = []
    cluster._Work(Refusing(), items, taken.append, lambda _: None).run()  # type: ignore[arg-type]
    failed = [t for t in taken if isinstance(t, work.Failed)]
    finished = [t for t in taken if t is not None and t not in failed]
    assert {str(f) for f in failed} == {"RunError: cannot be read"}
    assert sorted([*(f.item.key for f in failed), *(f.key for f in finished)]) == sorted(i.key for i in items)
    assert 0 < len(failed) < len(items)
    assert str(work.execute_pickled(b"no pickle")).startswith("the worker cannot read it: UnpicklingError")


@pytest.mark.parametrize("by", ["RAY_ADDRESS", "ray://"])
def test_the_command_finds_the_cluster(by: str, nodes: Cluster, client_port: int, tmp_path: Path) -> None:
    """And what it prints stays JSON when a worker dies, of which Ray tells on standard output."""
    (tmp_path / "study.toml").write_text(STUDY)
    on = "ray" if by == "RAY_ADDRESS" else f"ray://127.0.0.1:{client_port}"
    started = start_sweep(on, "there", tmp_path, RAY_ADDRESS=nodes.address if by == "RAY_ADDRESS" else "")
    if by == "RAY_ADDRESS":
        os.kill(a_worker_at_work(), signal.SIGKILL)
    printed, told = started.communicate()
    assert (started.returncode, told) == (0, "")
    assert json.loads(printed)["folder"] == "there"
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

    class InThisProcess:
        cores = 1

        def __init__(self, on: str):
            driver.connect(setup_of(on))

    assert refused("slurm") == "error: cannot run on 'slurm': use ray or ray://HOST:PORT\n"
    monkeypatch.setattr(cluster, "_Cluster", InThisProcess)
    monkeypatch.setattr(ray, "init", no_answer)
    monkeypatch.setattr(driver, "_wants_token", lambda *_: False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert refused("ray") == "error: there is no Ray cluster on this machine: nobody answers\n"
    assert refused("ray://nowhere:1") == "error: there is no Ray cluster at ray://nowhere:1: nobody answers\n"
    monkeypatch.setenv("RAY_ADDRESS", "nowhere:6379")
    assert refused("ray") == "error: there is no Ray cluster at nowhere:6379 (RAY_ADDRESS): nobody answers\n"
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert refused("ray") == "error: Ray is not installed: install chappe[ray]\n"


@pytest.mark.parametrize("deaths", [0, 1, 2])
def test_a_cluster_with_a_dying_client_process(deaths: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [ConnectionAbortedError("Initialization failure from server:\nit died")] * deaths

    def init(**_: object) -> None:
        if left:
            raise left.pop()

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(driver, "_wants_token", lambda *_: False)
    with pytest.raises(study.ClusterError, match="Initialization") if deaths == 2 else contextlib.nullcontext():
        driver.connect(setup_of("ray://somewhere:1"))
    assert left == []


@pytest.mark.parametrize("by", ["RAY_ADDRESS", "ray://", "ray_current_cluster"])
def test_a_cluster_that_does_not_answer(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens but does not answer: Ray would wait for minutes."""
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray is left to wait"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text(address if by == "ray_current_cluster" else "nowhere:1")
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        monkeypatch.setenv("RAY_ADDRESS", address if by == "RAY_ADDRESS" else "")
        place = "on this machine" if by == "ray_current_cluster" else address
        with pytest.raises(study.ClusterError, match=rf"{place}.*: no answer for 1 seconds"):
            driver.connect(setup_of(f"ray://{address}" if by == "ray://" else "ray"))


def test_clusters_with_unknown_address_or_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(ray, "init", lambda address, **_: asked.append(address))
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    for address in ("", "auto"):
        monkeypatch.setenv("RAY_ADDRESS", address)
        driver.connect(setup_of("ray", 0.1))
    monkeypatch.setenv("RAY_USE_TLS", "1")
    driver.connect(setup_of("ray://nowhere:1", 0.1))
    assert asked == ["auto", "auto", "ray://nowhere:1"]


def test_an_address_for_which_ray_starts_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray starts a cluster"))
    monkeypatch.setenv("RAY_ADDRESS", "local")
    with pytest.raises(study.ClusterError, match="RAY_ADDRESS is local"):
        driver.connect(setup_of("ray"))


@pytest.mark.parametrize("mode", ["", "token", "none there"])
@pytest.mark.parametrize("on", ["ray", "ray://"])
def test_a_cluster_that_wants_a_token(on: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers as both services of Ray 2.60 do to a call without a token."""

    class Strict(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            assert details.method in ("/ray.rpc.NodeInfoGcsService/CheckAlive", "/ray.rpc.RayletDriver/ClusterInfo")
            return grpc.unary_unary_rpc_method_handler(
                lambda _, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, "missing or incorrect")
            )

    def init(**_: object) -> None:
        assert mode, "Ray is left to try without a token"
        if mode == "token":
            raise ConnectionError("Failed to connect to Ray cluster")
        raise ray.exceptions.AuthenticationError("Token authentication is enabled but no token was found")

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setenv("RAY_AUTH_MODE", "token" if mode else "")
    server = grpc.server(ThreadPoolExecutor(1), handlers=[Strict()])
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        monkeypatch.setenv("RAY_ADDRESS", address if on == "ray" else "")
        wrong = "does not take the token" if mode == "token" else "wants a token: set RAY_AUTH_MODE=token"
        with pytest.raises(study.ClusterError, match=rf"the Ray cluster at .*{address}.* {wrong}"):
            driver.connect(setup_of(on if on == "ray" else f"ray://{address}", 60.0))
    finally:
        server.stop(None)


SCRIPT = """
import sys

import chappe


class Gentle:
    def on_ack(self, ack):
        return ack.cwnd + 0.5 / ack.cwnd

    def on_congestion(self, signal):
        return signal.cwnd / 2


scenario = chappe.Scenario.chain(2, stop="20 s")
axes = {"tcp.congestion_control": [Gentle, "my_rules:Constant", "reno"]}
for backend in (None, "ray"):
    print(chappe.sweep(scenario, axes, seeds=2, backend=backend).runs["goodput_bps"].to_list())
"""


def test_rules_of_a_script_and_of_a_module_beside_it_run_on_the_cluster(nodes: Cluster, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    constant = "class Constant:\n    def on_ack(self, ack):\n        return 3\n\n    on_congestion = on_ack\n"
    (tmp_path / "my_rules.py").write_text(constant)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**environment(), "RAY_ADDRESS": nodes.address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    local, on_cluster = done.stdout.splitlines()
    assert local == on_cluster


def test_the_head_dies(nodes: Cluster, client_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cluster is started, no token is left, the reason is told, and the folders continue.

    This is the last test: it ends the cluster of the others.
    """
    (tmp_path / "study.toml").write_text(STUDY.replace("5500", "22000").replace("24", "96"))
    (tmp_path / "home").mkdir()
    mark = str(uuid.uuid4())
    # Ray waits for the head for 60 s, clients for 30 s.
    short = {"RAY_gcs_rpc_server_reconnect_timeout_s": "1", "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "1"}
    env = {"HOME": str(tmp_path / "home"), "RAY_ADDRESS": nodes.address, "CHAPPE_TEST": mark, **short}
    ray.shutdown()
    places = {
        "ray": f"at {nodes.address} (RAY_ADDRESS)",
        f"ray://127.0.0.1:{client_port}": f"at ray://127.0.0.1:{client_port}",
    }
    started = [start_sweep(on, str(n), tmp_path, **env) for n, on in enumerate(places)]
    while not all((tmp_path / str(n) / "study.json").exists() for n in range(2)):
        assert [one.poll() for one in started] == [None, None]
        time.sleep(0.05)
    nodes.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
    for one, place in zip(started, places.values(), strict=True):
        printed, told = one.communicate()
        assert (one.returncode, printed) == (1, "")
        assert told.startswith(f"error: the Ray cluster {place} is gone; ")
        assert told.endswith(" runs left, which the same study in the same folder makes\n")
    assert [pid for pid in processes() if mark.encode() in read(pid, "environ")] == []
    assert list((tmp_path / "home").iterdir()) == []
    monkeypatch.chdir(tmp_path)
    for n in range(2):
        # Few of its seeds: the others take too long for a test.
        assert cli.main(["sweep", "study.toml", "--seeds", "2", "--quiet", "--out", str(n)]) == 0
