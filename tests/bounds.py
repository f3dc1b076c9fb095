"""Installs a wheel and the papers beside it, with the oldest and the newest allowed dependencies, and exercises them.

Called by ``make test-bounds``: ``python tests/bounds.py WHEEL``.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
USE = """
import sys
from pathlib import Path

import chappe
from chappe import cli
from chappe_papers.elrakabawy2005.design import DESIGN, Length

folder = Path(sys.argv[1])
scenario = chappe.Scenario.chain(2, {"run.airtime": True}, stop="110 delivered", extends="ns2-2.35")
results = chappe.run(scenario)
print(results.summary(), results.why())
results.save(folder / "run")
study = chappe.sweep(scenario, {"tcp.receive_window": [1, 2, 8]}, 3, out=folder / "study")
print(study.summary(), study.rank("goodput_bps", "tcp.receive_window"), study.table("flows"))
print(study.compare("goodput_bps", {"tcp.receive_window": 2}, {"tcp.receive_window": 1}))
print(chappe.search(scenario, "tcp.receive_window", low=1, high=4, seeds=2).curve())
chappe.sweep(scenario, {"tcp.receive_window": [1, 8]}, 4, out=folder / "study")
DESIGN.quick = Length(110, 110, 60, 60, 110, 110, 12, seeds=2, many=2, doubted=2, states=4, draws=1, x=(4, 8))
paper = ["paper", "elrakabawy2005", "--quick", "--figure", "6", "--out", str(folder / "paper")]
for command in (["explain", "--list"], ["completion", "bash"], paper):
    assert cli.main(command) == 0, command
"""


def oldest() -> list[str]:
    """The lower bounds of ``pyproject.toml`` as exact versions."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)", d) for d in project["dependencies"]]
    return [f"{b[1]}=={b[2]}" for b in bounds if b is not None]


def main(wheel: Path) -> None:
    """Tests both ends of the bounds."""
    for name, packages in (("oldest", oldest()), ("newest", [])):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = Path(folder) / "bin" / "python"
            pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
            both = (wheel.resolve(), REPOSITORY / "reproductions")
            subprocess.run([python, *pip, "--upgrade", *both, *packages], check=True)
            done = subprocess.run(
                [python, "-c", USE, str(Path(folder) / "out")], cwd=folder, capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(f"{name} packages: {done.stdout[-2000:]}{done.stderr}")
            print(f"{name} packages: works ({', '.join(packages) or 'as pip chooses'})")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
