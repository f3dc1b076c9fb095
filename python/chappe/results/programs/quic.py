"""Runs with QUIC, which the program of the distribution `chappe-quic` makes: it has a library for QUIC."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from chappe import _core
from chappe._common.files import make_folder, take_away
from chappe.errors import Problem, RunError, ScenarioError
from chappe.scenario.scenario import Scenario

PROGRAM = "chappe-quic"

COLUMNS = {
    **dict.fromkeys(("quic_stack", "quic_congestion_control", "quic_role", "quic_lost_because"), "text"),
    **dict.fromkeys(("quic_handshake_time_s", "quic_srtt_s", "quic_min_rtt_s", "quic_mean_response_time_s"), "float"),
    **dict.fromkeys(("quic_streams_opened", "quic_packets_sent", "quic_packets_lost", "quic_pings_sent"), "int"),
    **dict.fromkeys(("quic_mtu_probes_sent", "quic_congestion_events", "quic_cwnd_bytes", "quic_mtu_bytes"), "int"),
    "quic_responses": "int",
}
"""Further columns of the table `flows` in runs with QUIC, and their types."""

_LOG = re.compile(r"flow-\d+-(client|server)\.sqlog")
"""Names of the qlogs that the program writes."""

_PATIENCE_S = 0.1
"""Time between two looks whether the run is to be ended."""


class Answer(NamedTuple):
    """Results of a run, as the program gives them.

    Attributes:
        tables: Types and values of the columns of each table.
    """

    version: str
    epoch: int
    end: str
    simulated_s: float
    measured_from_s: float
    frames_sent: int
    fastest_bps: int | None
    tables: dict[str, dict[str, tuple[str, list[Any]]]]

    def joinable(self) -> _core.Tables:
        """The tables as those of runs of studies."""
        tables = self.tables.items()
        return _core.Tables([(name, [(c, (kind, v)) for c, (kind, v) in columns.items()]) for name, columns in tables])


def run(scenario: Scenario, progress: Callable[[float], object] | None, qlog: Path | None = None) -> Answer:
    """Runs a scenario with flows of QUIC in a process of its own.

    Args:
        scenario: The scenario.
        progress: Function that is called several times a second with the share 0, and may raise to end the run.
        qlog: Folder for a qlog of each end of each connection, which exists; ``None``: none is written.

    Raises:
        ScenarioError: If the program is not installed, or belongs to another version, or tables are to be recorded.
        RunError: If the program fails.
    """
    if scenario._core.is_recording():
        raise refusal("run.record", "a run with QUIC records no tables", "set run.record = [], or leave QUIC out")
    command = [_program(), *([] if qlog is None else [f"--qlog={qlog}"])]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8") as process:
        given: str | None = scenario.to_toml()
        try:
            while True:
                try:
                    out, err = process.communicate(given, _PATIENCE_S)
                    break
                except subprocess.TimeoutExpired:
                    given = None
                    if progress is not None:
                        progress(0.0)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RunError(f"{PROGRAM}: {err.strip().removeprefix('error: ') or f'exit code {process.returncode}'}")
    answer = Answer(**json.loads(out))
    if (answer.version, answer.epoch) != (_core.VERSION, _core.RESULTS_EPOCH):
        message = f"{command[0]} is of version {answer.version} with results epoch {answer.epoch}, this is version "
        message += f"{_core.VERSION} with epoch {_core.RESULTS_EPOCH}"
        raise refusal("quic.congestion_control", message, 'install both together: pip install --upgrade "chappe[quic]"')
    return answer


@contextlib.contextmanager
def logs(folder: Path) -> Iterator[Path]:
    """Collects the qlogs of a run, which replace those of an earlier run in the folder once it has succeeded.

    Args:
        folder: The folder; created if it does not exist.

    Yields:
        A folder to write into.

    Raises:
        FileExistsError: If the folder has files that are no qlogs of a run.
        OSError: If the folder cannot be written.
    """
    made = make_folder(folder)
    try:
        earlier = sorted(folder.iterdir())
        if foreign := [p for p in earlier if not _LOG.fullmatch(p.name) or not p.is_file()]:
            raise FileExistsError(
                f"{folder} has what is no qlog of a run, such as {foreign[0].name}: use a new folder, or empty this "
                "one; a folder that has only qlogs of a run is replaced"
            )
        with tempfile.TemporaryDirectory(prefix=".", dir=folder) as unfinished:
            yield Path(unfinished)
            for path in earlier:
                path.unlink()
            for path in Path(unfinished).iterdir():
                path.rename(folder / path.name)
    finally:
        take_away(made)


def _program() -> str:
    """Path of the program: that of this installation, or else one in the path of commands.

    Raises:
        ScenarioError: If there is none.
    """
    own = shutil.which(PROGRAM, path=sysconfig.get_path("scripts"))
    if found := own or shutil.which(PROGRAM, path=os.environ.get("PATH")):
        return found
    message = f"QUIC needs the program {PROGRAM}, which is not installed"
    raise refusal("quic.congestion_control", message, 'install it: pip install "chappe[quic]"')


def refusal(setting: str, message: str, help_: str) -> ScenarioError:
    """Error for what a run with QUIC cannot do."""
    return ScenarioError([Problem(setting, message, help_, None, None, None)])
