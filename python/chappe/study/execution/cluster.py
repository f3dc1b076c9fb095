"""Runs of a study on an existing Ray cluster (https://www.ray.io), through a process of their own (``driver.py``)."""

import contextlib
import importlib.util
import os
import pickle
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chappe._common.arguments import quoted
from chappe._common.words import count
from chappe.errors import ChappeWarning, ClusterError, RunError
from chappe.study.design.axes import Item
from chappe.study.execution.driver import Refused, Report, Setup, Unfit, portable, where
from chappe.study.execution.threads import Failed, Workers
from chappe.study.store.parts import Finished

PATIENCE_S = 10.0
"""Timeout of a connection to a cluster [s]."""

CHECK_S = 60.0
"""Timeout of the check of a node, which may have to start a worker [s]."""

CHUNK = 100
"""Runs per task of the cluster at most."""

_TASKS_PER_CORE = 4
"""Approximate number of tasks per core, so that no core waits long at the end."""

_RETRIES = 3
"""Retries of a task with a dead worker."""

_END_S = 3.0
"""Time for the process to end what it runs [s]."""

# The process begins with the paths, the arguments and the script of this one: Ray lets workers search the folder of the
# script for modules. Without -I the process would search the current folder before all others.
_BEGIN = """import pickle, sys
sys.path, sys.argv, script = pickle.load(sys.stdin.buffer)
if script is not None:
    __file__ = script
from chappe.study.execution import driver
driver.main()"""


def workers(on: str) -> Workers:
    """Workers on a cluster.

    Args:
        on: ``"ray"``: the connected cluster, or the cluster of this machine or of ``RAY_ADDRESS``;
            ``"ray://HOST:PORT"``: another cluster.

    Raises:
        ClusterError: If there is no cluster, or none of its nodes can take runs.
    """
    if on != "ray" and not on.startswith("ray://"):
        raise ClusterError(f"cannot run on {quoted(on)}: use ray or ray://HOST:PORT")
    if not (importlib.util.find_spec("ray") and importlib.util.find_spec("grpc")):
        raise ClusterError("Ray is not installed: install chappe[ray]")
    cluster = _Cluster(on)

    def work(
        items: Sequence[Item], take: Callable[[Finished | Failed | None], object], progress: Callable[[float], object]
    ) -> None:
        try:
            _Work(cluster, items, take, progress).run()
        except BaseException:
            cluster.close()
            raise

    return work


class _Cluster:
    """A cluster, through a process that is connected to it until it is closed or forgotten."""

    def __init__(self, on: str):
        self._on = on
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-c", _BEGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ray would start a cluster where it finds none.
            env={**os.environ, "RAY_ENABLE_AUTO_CONNECT": "0"},
            # An interrupt is for this process, which then ends the other one.
            start_new_session=True,
        )
        self.close = weakref.finalize(self, _end, self._child)
        try:
            self._say((sys.path, sys.argv, getattr(sys.modules["__main__"], "__file__", None)))
            connected, runtime_env = (None, {}) if on != "ray" else _connected()
            self._say(Setup(on, connected, runtime_env, portable().identity(), PATIENCE_S, CHECK_S, _RETRIES))
            answer = self._hear()
        except (OSError, EOFError):
            self.close()
            raise ClusterError(f"Ray has ended while it connected to the cluster {where(on)}") from None
        except BaseException:
            self.close()
            raise
        if isinstance(answer, Refused):
            self.close()
            raise ClusterError(answer.message)
        self.cores = max(1, answer.cores)
        self._warn(answer.unfit)

    def exchange(self, tasks: Mapping[int, bytes]) -> Report:
        """Gives tasks to the cluster, and returns what has happened to these and earlier ones.

        Raises:
            ClusterError: If the cluster is gone, or none of its nodes can take runs any more.
        """
        try:
            self._say(tasks)
            answer = self._hear()
        except (OSError, EOFError):
            raise ClusterError(f"the Ray cluster {where(self._on)} is gone") from None
        if isinstance(answer, Refused):
            raise ClusterError(answer.message)
        self._warn(answer.unfit)
        report: Report = answer
        return report

    def _say(self, message: object) -> None:
        assert self._child.stdin is not None
        pickle.dump(message, self._child.stdin)
        self._child.stdin.flush()

    def _hear(self) -> Any:
        assert self._child.stdout is not None
        return pickle.load(self._child.stdout)

    def _warn(self, unfit: Sequence[Unfit]) -> None:
        for node, reason in unfit:
            text = f"node {node} of the Ray cluster takes no runs: {reason}"
            warnings.warn(text, ChappeWarning, stacklevel=2)


def _connected() -> tuple[str | None, Mapping[str, Any]]:
    """Address and environment of the cluster to which this process is connected."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None, {}
    context = ray.get_runtime_context()
    client = ray.util.client.ray
    address = f"ray://{client.get_context().client_worker._conn_str}" if client.is_connected() else context.gcs_address
    return address, dict(context.runtime_env)


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Ends the process: it ends what it runs when there are no more messages."""
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(OSError):  # it has ended
        child.stdin.close()
    child.stdout.close()
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class _Work:
    """Distribution of runs over the cluster."""

    def __init__(
        self,
        cluster: _Cluster,
        items: Sequence[Item],
        take: Callable[[Finished | Failed | None], object],
        progress: Callable[[float], object],
    ):
        self._cluster = cluster
        self._take = take
        self._progress = progress
        self._total = len(items)
        self._finished = 0
        self._tasks = 0
        size = max(1, min(CHUNK, len(items) // (_TASKS_PER_CORE * cluster.cores)))
        # Points are ordered from small to large; tasks are taken from the end, so that long runs come first.
        self._waiting = [items[i : i + size] for i in range(0, len(items), size)]
        self._running: dict[int, Sequence[Item]] = {}

    def run(self) -> None:
        """Submits all tasks and collects their results."""
        from ray import cloudpickle

        while self._waiting or self._running:
            tasks = {}
            while self._waiting and len(self._running) < 2 * self._cluster.cores:
                self._tasks += 1
                self._running[self._tasks] = items = self._waiting.pop()
                # Functions of a script are taken along by their code.
                tasks[self._tasks] = cloudpickle.dumps(items)
            try:
                report = self._cluster.exchange(tasks)
            except ClusterError as e:
                left = count(self._total - self._finished, "run")
                raise ClusterError(f"{e}; {left} left, which the same study in the same folder makes", 1) from None
            self._done(report)
            self._take(None)
            self._progress(self._finished / self._total)

    def _done(self, report: Report) -> None:
        for number, results in report.done.items():
            del self._running[number]
            self._finish(pickle.loads(results))
        for number, reason in report.unread.items():
            self._finish([Failed(item, RunError(reason)) for item in self._running.pop(number)])
        for number in report.refused:
            self._waiting.append(self._running.pop(number))
        for number, reason in report.lost.items():
            items = self._running.pop(number)
            if len(items) > 1:
                # One run kills the worker; each run is retried alone, so that the rest succeed.
                self._waiting += [[item] for item in items]
            else:
                self._finish([Failed(items[0], RunError(f"no worker finished it: {reason}"))])

    def _finish(self, results: Sequence[Finished | Failed]) -> None:
        self._finished += len(results)
        for result in results:
            self._take(result)
