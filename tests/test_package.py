"""The package as it is imported: quick to start, complete when it is used."""

import subprocess
import sys

import chappe
import pytest

HEAVY = {"scipy", "matplotlib", "polars", "numpy", "jinja2"}
"""What takes longer to load than most commands to run."""


@pytest.mark.parametrize("arguments", [["list"], ["schema"], ["check", "scenarios/chain.toml"]], ids=" ".join)
def test_commands_that_need_no_statistics_start_without(arguments: list[str]) -> None:
    program = (
        f"import sys; from chappe import cli; assert cli.main({arguments}) == 0; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stderr.split()) == set()


def test_every_name_is_there_when_it_is_asked_for() -> None:
    for name in chappe.__all__:
        assert getattr(chappe, name) is not None
    assert set(chappe.__all__) <= set(dir(chappe))
    assert chappe.stats.jain_index([1, 1]) == 1
    with pytest.raises(AttributeError, match="module 'chappe' has no attribute 'nothing'"):
        chappe.nothing  # noqa: B018
