"""The process between a study and a Ray cluster (https://www.ray.io).

Ray prints to the standard output of the process that is connected to a cluster, ends this process when the head of the
cluster dies, and starts a cluster on this machine where a call finds no connection. So the process of the user is never
connected: it starts this one, and exchanges messages with it over pipes. ``cluster.py`` has the other end.
"""

import contextlib
import functools
import os
import pickle
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chappe.errors import ClusterError

_COLORS = re.compile(r"\x1b\[[0-9;]*m")

_LOOK_S = 5.0
"""Time between two looks at the nodes of the cluster [s]."""

NAME = "chappe"
"""Name of the tasks in Ray."""

CHECK = "check_chappe"
"""Name in Ray of the tasks that ask a node for its Chappe."""


class Setup(NamedTuple):
    """Address to connect to; the first message to this process."""

    on: str
    """``"ray"`` or ``"ray://HOST:PORT"``."""
    connected: str | None
    """Address of the cluster to which the process of the user is connected."""
    runtime_env: Mapping[str, Any]
    """Environment of Ray that this connection has."""
    identity: "Identity"
    """The Chappe of this machine."""
    patience_s: float
    """Timeout of a connection to a cluster [s]."""
    check_s: float
    """Timeout of the check of a node [s]."""
    retries: int
    """Retries of a task with a dead worker."""


class Identity(NamedTuple):
    """An installation of Chappe."""

    version: str
    epoch: int
    files: str
    """Digest of the files of Python code, which differ between versions in development, too."""


class Unfit(NamedTuple):
    """A node of the cluster that takes no runs."""

    node: str
    reason: str


class Ready(NamedTuple):
    """The cluster can be used; the first answer."""

    cores: int
    unfit: list[Unfit]


class Refused(NamedTuple):
    """The cluster cannot be used, from the start or any more; the last answer."""

    message: str


class Report(NamedTuple):
    """Outcomes of the tasks; the answer to new tasks, which are pickled runs by number."""

    done: dict[int, bytes]
    """Pickled results by the number of the task."""
    unread: dict[int, str]
    """Reasons why a fit worker could not read a task."""
    lost: dict[int, str]
    """Reasons why no worker finished a task."""
    refused: list[int]
    """Tasks of workers of another Chappe, which did nothing."""
    unfit: list[Unfit]
    """Nodes of these workers."""


def where(on: str) -> str:
    """Place of a cluster, for messages."""
    address = os.environ.get("RAY_ADDRESS")
    if on != "ray":
        return f"at {on}"
    return f"at {address} (RAY_ADDRESS)" if address else "on this machine"


def connect(setup: Setup) -> Any:
    """Connects this process to a cluster, and returns the module ``ray``.

    Raises:
        ClusterError: If there is no cluster, or it does not let this process in.
    """
    import grpc
    import ray

    place = where(setup.on)
    wants_token = setup.connected is None and _wants_token(grpc, setup)
    has_token = os.environ.get("RAY_AUTH_MODE", "").lower() == "token"
    token = (
        f"the Ray cluster {place} wants a token: set RAY_AUTH_MODE=token, and the token in RAY_AUTH_TOKEN, in the file "
        "of RAY_AUTH_TOKEN_PATH or in ~/.ray/auth_token"
    )
    if wants_token and not has_token:
        raise ClusterError(token)
    try:
        _init(ray, setup)
    except ray.exceptions.AuthenticationError:
        raise ClusterError(token) from None
    except (ConnectionError, ImportError, RuntimeError, ValueError, ray.exceptions.RayError) as e:
        if wants_token:
            raise ClusterError(f"the Ray cluster {place} does not take the token of this environment") from None
        raise ClusterError(f"there is no Ray cluster {place}: {_first_line(e)}") from None
    return ray


def _init(ray: Any, setup: Setup) -> None:
    """Connects, with one retry.

    A cluster starts a process for each client, which sometimes dies immediately
    (https://github.com/ray-project/ray/issues/63202).
    """
    address = setup.connected or ("auto" if setup.on == "ray" else setup.on)
    env = {"runtime_env": dict(setup.runtime_env)} if setup.runtime_env else {}
    init = functools.partial(ray.init, address=address, log_to_driver=False, logging_level="error", **env)
    with warnings.catch_warnings(action="ignore"):
        try:
            init()
        except ConnectionAbortedError:
            init()


def _address(on: str) -> str | None:
    """Host and port of a cluster, by the rules of Ray; ``None`` if Ray has to search.

    Source: https://docs.ray.io/en/latest/ray-core/api/doc/ray.init.html, ``address``.

    Raises:
        ClusterError: If Ray would start a cluster.
    """
    address = os.environ.get("RAY_ADDRESS") if on == "ray" else on
    if address == "local":
        raise ClusterError("RAY_ADDRESS is local, for which Ray starts a cluster: give the address of a running one")
    if not address:
        try:
            address = (Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster").read_text()
        except OSError:
            return None
    _, _, address = address.rpartition("://")
    return address if ":" in address else None


def _wants_token(grpc: Any, setup: Setup) -> bool:
    """Asks the cluster for a sign of life, without a token: returns true if it wants one.

    Without an answer Ray retries for minutes and cannot be interrupted; without a token it retries as if there were no
    cluster. The time that a live cluster takes to accept a client is left to Ray.

    Raises:
        ClusterError: If there is no answer for :attr:`Setup.patience_s` seconds.
    """
    address = _address(setup.on)
    if address is None or os.environ.get("RAY_USE_TLS", "0") != "0":
        return False
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(setup.patience_s)
        except grpc.FutureTimeoutError:
            message = f"there is no Ray cluster {where(setup.on)}: no answer for {setup.patience_s:.0f} seconds"
            raise ClusterError(message) from None
        # Services of the head, and of its proxy for clients (ray/protobuf: gcs_service.proto, ray_client.proto).
        for method in ("NodeInfoGcsService/CheckAlive", "RayletDriver/ClusterInfo"):
            try:
                channel.unary_unary(f"/ray.rpc.{method}")(b"", timeout=setup.patience_s)
            except grpc.RpcError as e:
                if e.code() == grpc.StatusCode.UNAUTHENTICATED:
                    return True
    return False


def _first_line(e: BaseException) -> str:
    """First line of a message, without the colors that Ray gives it."""
    lines = _COLORS.sub("", str(e)).strip().splitlines()
    return lines[0] if lines else type(e).__name__


class Portable(NamedTuple):
    """Functions that a worker can execute without Chappe: Ray takes their code along, because they are local."""

    identity: Callable[[], Identity]
    """The Chappe of a process."""
    doubt: Callable[[Identity], str | None]
    """Reason for which a process is unfit for runs of this Chappe."""
    task: Callable[[Identity, bytes], bytes | str | tuple[str, str]]
    """Executes pickled runs: their pickled results; why they cannot be read; or node and reason if it is unfit."""


def portable() -> Portable:
    """Makes these functions."""

    def identity() -> Any:
        import hashlib
        import pathlib

        import chappe

        folder = pathlib.Path(chappe.__file__ or "").parent
        digest = hashlib.sha256()
        for file in sorted(folder.rglob("*.py")):
            digest.update(f"{file.relative_to(folder).as_posix()}\n".encode() + file.read_bytes())
        return chappe.__version__, chappe.RESULTS_EPOCH, digest.hexdigest()

    def doubt(wanted: Any) -> str | None:
        try:
            version, epoch, files = identity()
        except Exception as e:
            missing = isinstance(e, ModuleNotFoundError) and e.name == "chappe"
            return "Chappe is not installed there" if missing else f"Chappe cannot be imported there: {e}"
        if version != wanted[0]:
            return f"it has Chappe {version}, not {wanted[0]}"
        if epoch != wanted[1]:
            return f"it has results epoch {epoch}, not {wanted[1]}"
        return None if files == wanted[2] else f"it has other code of Chappe {version}"

    def task(wanted: Any, items: bytes) -> bytes | str | tuple[str, str]:
        reason = doubt(tuple(wanted))
        if reason is not None:
            import ray

            return ray.get_runtime_context().get_node_id(), reason
        from chappe.study.execution import threads as _work

        return _work.execute_pickled(items)

    return Portable(lambda: Identity(*identity()), doubt, task)


class Driver:
    """Tasks on the cluster.

    Args:
        ray: The connected module.
        setup: What to connect to.
    """

    def __init__(self, ray: Any, setup: Setup):
        self._ray = ray
        self._setup = setup
        own = portable()
        self._doubt = ray.remote(num_cpus=0, max_retries=setup.retries)(own.doubt)
        self._task = ray.remote(num_cpus=1, max_retries=setup.retries)(own.task)
        self._running: dict[Any, int] = {}
        self._unfit: dict[str, Unfit] = {}
        self._looked = time.monotonic()

    def check(self) -> Ready:
        """Asks each node for its Chappe.

        Raises:
            ClusterError: If no node is fit.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

        nodes = self._nodes()
        wanted = tuple(self._setup.identity)
        asked = {}
        for node in nodes:
            doubt = self._doubt.options(name=CHECK, scheduling_strategy=On(node, soft=False))
            asked[doubt.remote(wanted)] = node
        answered, silent = self._wait(asked, len(asked), self._setup.check_s)
        for reference in silent:
            self._found(asked[reference], f"no answer for {self._setup.check_s:.0f} seconds")
            self._cancel(reference)
        for reference in answered:
            try:
                reason = self._ray.get(reference)
            except self._ray.exceptions.TaskUnschedulableError:
                # The node is gone, or is not known everywhere yet: runs that reach it check for themselves.
                continue
            except self._ray.exceptions.RayError as e:
                reason = f"{type(e).__name__}: {_first_line(e)}"
            if reason is not None:
                self._found(asked[reference], reason)
        self._refuse_none(nodes)
        cores = sum(int(n["Resources"].get("CPU", 0)) for node, n in nodes.items() if node not in self._unfit)
        return Ready(cores, list(self._unfit.values()))

    def exchange(self, tasks: Mapping[int, bytes]) -> Report:
        """Submits tasks, waits for a short time, and reports.

        Raises:
            ClusterError: If no node is fit any more.
        """
        report = Report({}, {}, {}, [], [])
        for number, items in tasks.items():
            self._running[self._submit(items)] = number
        ready, _ = self._wait(self._running, 1, 0.1)
        for reference in ready:
            number = self._running.pop(reference)
            try:
                answer = self._ray.get(reference)
            except self._ray.exceptions.RayError as e:
                report.lost[number] = f"{type(e).__name__}: {_first_line(e)}"
                continue
            if isinstance(answer, bytes):
                report.done[number] = answer
            elif isinstance(answer, str):
                report.unread[number] = answer
            else:
                report.refused.append(number)
                if answer[0] not in self._unfit:
                    report.unfit.append(self._found(*answer))
        if ready:
            self._looked = time.monotonic()
        if report.unfit or time.monotonic() > self._looked + _LOOK_S:
            self._looked = time.monotonic()
            self._refuse_none(self._nodes())
        return report

    def is_connected(self) -> bool:
        """Returns true if the cluster answers."""
        try:
            return self._ray.is_initialized() and bool(self._ray.nodes())
        except Exception:  # Ray has no class for all of these: an end of the connection may be an `OSError`
            return False

    def end(self) -> None:
        """Ends what runs, and the connection."""
        for reference in self._running:
            self._cancel(reference)
        self._ray.shutdown()

    def _wait(self, references: Iterable[Any], number: int, seconds: float) -> tuple[list[Any], list[Any]]:
        """Waits for a number of tasks: those that have ended, and the others."""
        listed = list(references)
        return self._ray.wait(listed, num_returns=number, timeout=seconds) if listed else ([], [])

    def _cancel(self, reference: Any) -> None:
        with contextlib.suppress(Exception):
            self._ray.cancel(reference, force=True)

    def _submit(self, items: bytes) -> Any:
        # Source: https://docs.ray.io/en/latest/ray-core/scheduling/labels.html
        fit = {"label_selector": {"ray.io/node-id": f"!in({','.join(self._unfit)})"}} if self._unfit else {}
        return self._task.options(name=NAME, **fit).remote(tuple(self._setup.identity), items)

    def _nodes(self) -> dict[str, dict[str, Any]]:
        """Live nodes that have processors, by their number in Ray."""
        return {n["NodeID"]: n for n in self._ray.nodes() if n["Alive"] and n["Resources"].get("CPU", 0) >= 1}

    def _found(self, node: str, reason: str) -> Unfit:
        """Takes note of a node that is unfit."""
        self._unfit[node] = unfit = Unfit(self._named(node), reason)
        return unfit

    def _named(self, node: str) -> str:
        """Name of a node, for messages."""
        found: Iterable[dict[str, Any]] = (n for n in self._ray.nodes() if n["NodeID"] == node)
        for n in found:
            return f"{n['NodeManagerHostname']} ({n['NodeManagerAddress']}, {node[:8]})"
        return node[:8]

    def _refuse_none(self, nodes: Iterable[str]) -> None:
        """Refuses a cluster of unfit nodes only. One without nodes may yet get some."""
        nodes = list(nodes)
        if nodes and all(node in self._unfit for node in nodes):
            each = "; ".join(f"{self._unfit[node].node}: {self._unfit[node].reason}" for node in nodes)
            raise ClusterError(
                f"no node of the Ray cluster {where(self._setup.on)} can take runs ({each}): "
                f"install Chappe {self._setup.identity.version} as on this machine"
            )


def main() -> None:
    """Connects, and executes tasks until there are no more messages."""
    messages, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # The output of Ray is not for the user.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(answer: Ready | Report | Refused) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    driver: Driver | None = None
    try:
        setup: Setup = pickle.load(messages)
        driver = Driver(connect(setup), setup)
        say(driver.check())
        while True:
            say(driver.exchange(pickle.load(messages)))
    except EOFError:
        if driver is not None:
            driver.end()
    except ClusterError as e:
        say(Refused(str(e)))
    except Exception as e:
        # Without a connection the cluster is gone: no answer, as where Ray ends this process.
        if driver is not None and driver.is_connected():
            say(Refused(f"Ray has failed: {type(e).__name__}: {_first_line(e)}"))
