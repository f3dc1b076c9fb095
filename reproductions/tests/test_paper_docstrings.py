"""Every name that a docstring of the package of the papers refers to can be imported."""

from pathlib import Path

import pytest
from command import REPOSITORY
from test_docstrings import unknown

ROOT = REPOSITORY / "reproductions"
MODULES = sorted((ROOT / "chappe_papers").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_names_in_docstrings_exist(path: Path) -> None:
    assert unknown(path, ROOT) == []
