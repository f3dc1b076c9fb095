"""Runs of a study on an existing Ray cluster (https://www.ray.io)."""

import contextlib
import functools
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chappe import RESULTS_EPOCH
from chappe._arguments import said
from chappe._error import ClusterError
from chappe.study._axes import Item
from chappe.study._parts import Finished
from chappe.study._work import Failed, Workers, execute

PATIENCE_S = 10.0
"""Timeout of a connection to a cluster [s]."""

CHUNK = 100
"""Runs per task of the cluster at most."""

_TASKS_PER_CORE = 4
"""Approximate number of tasks per core, so that no core waits long at the end."""

_RETRIES = 3
"""Retries of a task with a dead worker."""


def workers(on: str) -> Workers:
    """Workers on a cluster.

    Args:
        on: ``"ray"``: the connected cluster, or the cluster of this machine or of ``RAY_ADDRESS``;
            ``"ray://HOST:PORT"``: another cluster.

    Raises:
        ClusterError: If there is no cluster.
    """
    if on != "ray" and not on.startswith("ray://"):
        raise ClusterError(f"cannot run on {said(on)}: use ray or ray://HOST:PORT")
    try:
        import grpc
        import ray
    except ImportError:
        raise ClusterError("Ray is not installed: install chappe[ray]") from None
    if not ray.is_initialized():
        _refuse_silence(grpc, on)
        try:
            _connect(ray, on)
        except (ConnectionError, ImportError, RuntimeError, ValueError) as e:
            raise ClusterError(f"there is no Ray cluster {_where(on)}: {str(e).splitlines()[0]}") from None

    def work(
        items: Sequence[Item], take: Callable[[Finished | Failed | None], object], progress: Callable[[float], object]
    ) -> None:
        _Work(ray, items, take, progress).run()

    return work


def _connect(ray: Any, on: str) -> None:
    """Connects the current process to a cluster, with one retry.

    A cluster starts a process for each client, which sometimes dies immediately
    (https://github.com/ray-project/ray/issues/63202).
    """
    connect = functools.partial(
        ray.init, address="auto" if on == "ray" else on, log_to_driver=False, logging_level="error"
    )
    with warnings.catch_warnings(action="ignore"):
        try:
            connect()
        except ConnectionAbortedError:
            connect()


def _where(on: str) -> str:
    """Place of a cluster, for messages."""
    address = os.environ.get("RAY_ADDRESS")
    if on != "ray":
        return f"at {on}"
    return f"at {address} (RAY_ADDRESS)" if address else "on this machine"


def _address(on: str) -> str | None:
    """Host and port of a cluster, by the rules of Ray; ``None`` if Ray has to search.

    Source: https://docs.ray.io/en/latest/ray-core/api/doc/ray.init.html, ``address``.
    """
    address = os.environ.get("RAY_ADDRESS") if on == "ray" else on
    if not address:
        try:
            address = (Path(os.environ.get("RAY_TMPDIR", "/tmp")) / "ray" / "ray_current_cluster").read_text()
        except OSError:
            return None
    _, _, address = address.rpartition("://")
    return address if ":" in address else None


def _refuse_silence(grpc: Any, on: str) -> None:
    """Checks that the cluster answers: without an answer, Ray retries for minutes and cannot be interrupted.

    The time that a live cluster takes to accept a client is left to Ray.

    Raises:
        ClusterError: If there is no answer for :data:`PATIENCE_S` seconds.
    """
    address = _address(on)
    if address is None or os.environ.get("RAY_USE_TLS", "0") != "0":
        return
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(PATIENCE_S)
        except grpc.FutureTimeoutError:
            message = f"there is no Ray cluster {_where(on)}: no answer for {PATIENCE_S:.0f} seconds"
            raise ClusterError(message) from None


class _Answer(NamedTuple):
    """Result of a task."""

    epoch: int
    results: list[Finished | Failed]


def _task(epoch: int, items: Sequence[Item]) -> _Answer:
    """Executes runs on a worker of the cluster."""
    results: list[Finished | Failed] = []
    for item in items if epoch == RESULTS_EPOCH else ():
        try:
            results.append(execute(item))
        except BaseException as e:  # a panic of the core is not an Exception
            results.append(Failed(item, RuntimeError(f"{type(e).__name__}: {e}")))
    return _Answer(RESULTS_EPOCH, results)


class _Work:
    """Distribution of runs over the cluster."""

    def __init__(
        self,
        ray: Any,
        items: Sequence[Item],
        take: Callable[[Finished | Failed | None], object],
        progress: Callable[[float], object],
    ):
        self._ray = ray
        self._take = take
        self._progress = progress
        self._total = len(items)
        self._finished = 0
        self._remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(_task)
        self._cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        size = max(1, min(CHUNK, len(items) // (_TASKS_PER_CORE * self._cores)))
        # Points are ordered from small to large; tasks are taken from the end, so that long runs come first.
        self._waiting = [items[i : i + size] for i in range(0, len(items), size)]
        self._running: dict[Any, Sequence[Item]] = {}

    def run(self) -> None:
        """Submits all tasks and collects their results."""
        try:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < 2 * self._cores:
                    items = self._waiting.pop()
                    self._running[self._remote.remote(RESULTS_EPOCH, items)] = items
                ready, _ = self._ray.wait(list(self._running), timeout=0.1)
                for reference in ready:
                    self._done(reference, self._running.pop(reference))
                self._take(None)
                self._progress(self._finished / self._total)
        finally:
            for reference in self._running:
                with contextlib.suppress(Exception):
                    self._ray.cancel(reference, force=True)

    def _done(self, reference: Any, items: Sequence[Item]) -> None:
        try:
            answer: _Answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as e:
            if len(items) > 1:
                # One run kills the worker; each run is retried alone, so that the rest succeed.
                self._waiting += [[item] for item in items]
            else:
                self._finish([Failed(items[0], e)])
            return
        if answer.epoch != RESULTS_EPOCH:
            raise ClusterError(
                f"a worker of the cluster has results epoch {answer.epoch}, not {RESULTS_EPOCH}: "
                "install the same version of Chappe there"
            )
        self._finish(answer.results)

    def _finish(self, results: Sequence[Finished | Failed]) -> None:
        self._finished += len(results)
        for result in results:
            self._take(result)
