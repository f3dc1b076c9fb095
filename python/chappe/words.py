"""Words for people: what messages and tables are made of."""

import contextlib
import os
import re
import sys

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def plain(text: object) -> str:
    r"""A text with what a terminal would obey, or hide, written as ``\u{1b}``, as the core does.

    These are control characters, line breaks, marks of the direction of writing, characters without width, and bytes
    of a file's name that are no text.
    """
    return _OBEYED.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", str(text))


def count(n: int, thing: str) -> str:
    """A number of things: ``1 node``, ``2,000 nodes``."""
    return f"{n:,} {thing}{'' if n == 1 else 'es' if thing.endswith('ch') else 's'}"


def tell(text: str) -> None:
    """Prints on standard error. Where that cannot be written, nobody is there to be told."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        # Python would try again when it ends, and call that a failure.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
