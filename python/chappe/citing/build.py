"""The commit of the build: ``make`` writes it beside the package; builds without git or make have none."""

import re
from importlib.resources import files

COMMIT = "commit.txt"
"""File of the package that ``make`` writes when it builds."""


def commit() -> str | None:
    """Commit from which the package was built, with ``-dirty`` if files had been changed; ``None``: not known."""
    try:
        text = files("chappe").joinpath(COMMIT).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if re.fullmatch(r"[0-9a-f]{40}(-dirty)?", text) else None
