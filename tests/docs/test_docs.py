"""README and docs do what they say: their commands and programs run, their links lead somewhere.

Blocks of a page are taken in order, in a folder of their own with ``scenarios`` and ``examples``:

- ``toml`` whose first line is a comment with a name, ``# my.toml``, is written to that file. It must be free of
  mistakes unless a ``console`` block shows what is wrong with it. With ``scenario`` it is a study. Without a name it is
  a part of a file.
- ``sh`` holds commands that must succeed. Those that begin with ``chappe`` are run. Not run are those that set up or
  build (``NOT_RUN``), and ``chappe paper`` with a paper unless ``--quick`` is given, which would take many minutes;
  their arguments are only checked to be right.
- ``console`` holds one command after ``$`` and what it prints, word for word; it may fail.
- ``python`` is run, and also written to a file if the first line is a comment with its name, ``# my_rules.py``.
"""

import contextlib
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from chappe import cli, study
from command import REPOSITORY, parsed
from markdown import anchors, blocks, indented, links

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
ALL_PAGES = [*PAGES, REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "CHANGELOG.md"]
NOT_RUN = ("make", "git", "pip", "cargo", "sudo", "uv", "cd", ".")
LANGUAGES = {"", "console", "python", "rust", "sh", "text", "toml"}


def name(page: Path) -> str:
    return page.name


def words(command: str) -> list[str]:
    """The words of a command without the help of a shell."""
    assert not re.search(r"[|<>;&`*?]|\$\w", re.sub(r'"[^"]*"', "", command)), f"{command!r} needs a shell"
    return shlex.split(command, comments=True)


def is_right(file: str) -> bool:
    """True if a scenario or a study has no mistakes."""
    if "scenario" in tomllib.loads(Path(file).read_text(encoding="utf-8")):
        return bool(study.load(file).seeds)
    return cli.main(["check", file]) == 0


def takes_long(arguments: list[str]) -> bool:
    """True if a paper is reproduced or validated at full length."""
    return arguments[:1] == ["paper"] and len(arguments) > 1 and "--quick" not in arguments


def run(command: str, where: str) -> int | None:
    """Runs a command; ``None`` when it is of those that are not run."""
    program, *arguments = words(command)
    if program in NOT_RUN:
        return None
    assert program == "chappe", f"{where}: nobody says whether {program!r} is to be run"
    parsed(arguments)
    return None if takes_long(arguments) else cli.main(arguments)


@pytest.mark.usefixtures("with_module")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_programs_run(page: Path, copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown_wrong = {
        w for b in blocks(page) if b.language == "console" for w in words(b.text.splitlines()[0].removeprefix("$ "))
    }
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        first = block.text.splitlines()[0] if block.text else ""
        match block.language:
            case "toml":
                if named := re.fullmatch(r"# (\S+\.toml)", first):
                    (copies / named[1]).write_text(block.text, encoding="utf-8")
                    assert named[1] in shown_wrong or is_right(named[1]), where
            case "sh":
                for command in block.text.replace("\\\n", " ").splitlines():
                    if command.strip() and not command.startswith("#"):
                        assert run(command, where) in (0, None), (where, command, capsys.readouterr().err)
            case "console":
                command, _, printed = block.text.removeprefix("$ ").partition("\n")
                capsys.readouterr()
                run(command, where)
                written = capsys.readouterr()
                assert (written.out + written.err).strip() == printed.strip(), where
            case "python":
                if named := re.fullmatch(r"# (\S+\.py)", first):
                    (copies / named[1]).write_text(block.text, encoding="utf-8")
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", ALL_PAGES, ids=name)
def test_indented_commands_are_right(page: Path) -> None:
    for line in indented(page):
        with contextlib.suppress(ValueError):  # a picture or a formula
            if (found := shlex.split(line))[:1] == ["chappe"]:
                parsed(found[1:])


@pytest.mark.parametrize("page", ALL_PAGES, ids=name)
def test_every_block_has_a_language_that_is_known(page: Path) -> None:
    assert {b.language for b in blocks(page)} <= LANGUAGES
    assert page.read_text(encoding="utf-8").count("\n```") % 2 == 0


@pytest.mark.parametrize("page", ALL_PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"https?:|mailto:", link):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_the_first_pages_show_commands_and_programs() -> None:
    languages = [b.language for b in blocks(REPOSITORY / "README.md")]
    assert {"sh", "toml", "python"} <= set(languages)
