"""Formatting of texts for messages and tables."""

import contextlib
import os
import re
import sys
from collections.abc import Mapping

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def plain(text: object) -> str:
    r"""Escapes characters that a terminal would interpret or hide as ``\u{1b}``, like the core.

    Escaped are control characters, line breaks, direction marks, zero-width characters, and undecodable bytes of file
    names.
    """
    return _OBEYED.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", str(text))


def count(n: int, thing: str) -> str:
    """Number with noun: ``1 node``, ``2,000 nodes``."""
    return f"{n:,} {thing}{'' if n == 1 else 'es' if thing.endswith('ch') else 's'}"


def times(n: int) -> str:
    """Number of times: ``once``, ``twice``, ``2,000 times``."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def node_label(node: int | str, names: Mapping[int, str]) -> str:
    """Name of a node; its number if it has none."""
    return names.get(int(node), str(node))


def tell(text: str) -> None:
    """Prints on standard error, and ignores a closed standard error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        # Python would write again at exit, and fail.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
