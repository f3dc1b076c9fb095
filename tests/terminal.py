"""A command on a terminal of its own."""

import os
import pty
import subprocess
from pathlib import Path

from command import PATIENCE_S, environment


class Terminal:
    """A command on its own terminal."""

    def __init__(self, *command: object, cwd: Path, columns: int = 100):
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [str(c) for c in command],
            cwd=cwd,
            env=environment(COLUMNS=str(columns)),
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.text = ""

    def read_until(self, wanted: str | None) -> None:
        """Reads until a text appears, or to the end of the command."""
        while wanted is None or wanted not in self.text:
            try:
                more = os.read(self._master, 4096)
            except OSError:
                more = b""  # Linux says so at the end
            if not more:
                break
            self.text += more.decode()

    def end(self) -> int:
        self.read_until(None)
        os.close(self._master)
        return self.process.wait(PATIENCE_S)
