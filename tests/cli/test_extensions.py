"""Commands of other distributions: found by their entry points, listed, completed, and named where they are missing."""

import subprocess
import sys
from pathlib import Path

import pytest
from chappe import cli
from command import REPOSITORY

MODULE = """
from chappe.cli.extensions import Command

HELLO = Command("greet somebody", lambda q: q.add_argument("name"), lambda args: print(f"hello {args.name}") or 0)
"""
BROKEN = "import there_is_no_such_module\n"


@pytest.fixture
def greeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with a command, and one that cannot be imported."""
    for name, module, command in (("greeting", MODULE, "hello"), ("broken", BROKEN, "bye")):
        (tmp_path / f"{name}.py").write_text(module)
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[chappe.commands]\n{command} = {name}:HELLO\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("greeting")
def test_a_command_of_another_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hello", "Claude"]) == 0
    assert capsys.readouterr().out == "hello Claude\n"
    assert cli.main([]) == 0
    assert "greet somebody" in capsys.readouterr().out
    assert cli.main(["completion", "bash"]) == 0
    assert "hello" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        cli.main(["helo"])
    assert "there is no command 'helo'; did you mean hello?" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.main(["bye"])
    assert "there is no command 'bye'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["paper", "validate"])
def test_missing_papers_are_named(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [])
    with pytest.raises(SystemExit, match="2"):
        cli.main([command])
    written = capsys.readouterr().err
    assert f"the command '{command}' is in the package chappe-papers, which is not installed" in written
    assert "`pip install ./reproductions`" in written


@pytest.mark.parametrize("words", [["explain", "--schema"], ["check", "scenarios/chain.toml", "--quiet"]], ids=" ".join)
def test_own_commands_do_not_look_for_others(words: list[str]) -> None:
    program = f"import sys; from chappe import cli; cli.main({words}); assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, check=True)
