"""Import of the package: fast, with complete names."""

import subprocess
import sys
from pathlib import Path

import chappe
import pytest

HEAVY = {"scipy", "matplotlib", "polars", "numpy", "jinja2"}
"""Packages that take longer to load than most commands to run."""


@pytest.mark.parametrize("arguments", [["list"], ["schema"], ["check", "scenarios/chain.toml"]], ids=" ".join)
def test_commands_that_need_no_statistics_start_without(arguments: list[str]) -> None:
    program = (
        f"import sys; from chappe import cli; assert cli.main({arguments}) == 0; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stderr.split()) == set()


DRAWING = """
import sys
from pathlib import Path
from chappe import plot
figure = plot.places([(0, 0), (200, 0)], [(0, 1)], title="two nodes")
plot.save(figure, Path(sys.argv[1]), "places")
"""


def test_fonts_are_embedded_as_publishers_ask(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", DRAWING, tmp_path], check=True)
    pdf = (tmp_path / "places.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_all_public_names_resolve() -> None:
    for name in chappe.__all__:
        assert getattr(chappe, name) is not None
    assert set(chappe.__all__) <= set(dir(chappe))
    assert chappe.stats.jain_index([1, 1]) == 1
    with pytest.raises(AttributeError, match="module 'chappe' has no attribute 'nothing'"):
        chappe.nothing  # noqa: B018
