"""Former names and words of settings."""

import json
from collections.abc import Mapping
from typing import Any

from chappe import _core


def renamed_setting(name: object) -> str | None:
    """Current name of a setting with a former name; ``None`` for all else."""
    try:
        return _core.renamed_setting(name) if isinstance(name, str) else None
    except UnicodeEncodeError:  # no setting has this name
        return None


def settings_of_today(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Settings by dotted name under their current names and words, and messages about former ones.

    Values that no setting can have stay as they are, because the reader of a scenario reports them.
    """
    try:
        text, messages = _core.renamed(json.dumps(settings, default=str, allow_nan=False))
    except (RecursionError, ValueError):
        return dict(settings), []
    return (json.loads(text) if messages else dict(settings)), messages
