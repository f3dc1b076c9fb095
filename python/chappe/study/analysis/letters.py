"""Letters of a ranking: settings that share a letter are indistinguishable.

Piepho, *An algorithm for a letter-based representation of all-pairwise comparisons*, Journal of Computational and
Graphical Statistics 13, 2004: insert and absorb.
"""

import string
from collections.abc import Iterable, Sequence


def letters(order: Sequence[int], apart: Iterable[tuple[int, int]]) -> dict[int, str]:
    """Letters of each setting.

    Args:
        order: Settings from best to worst.
        apart: Pairs of settings that are significantly different.
    """
    groups = [frozenset(order)]
    for a, b in apart:
        divided = [
            part for group in groups for part in ((group - {a}, group - {b}) if a in group and b in group else (group,))
        ]
        # One that lies within another says nothing.
        kept: list[frozenset[int]] = []
        for group in sorted(divided, key=len, reverse=True):
            if not any(group <= other for other in kept):
                kept.append(group)
        groups = kept
    place = {setting: n for n, setting in enumerate(order)}
    groups.sort(key=lambda group: sorted(place[setting] for setting in group))
    return {setting: "".join(_name(n) for n, group in enumerate(groups) if setting in group) for setting in order}


def _name(n: int) -> str:
    """The n-th letter: a to z, then a1 and so on."""
    again, letter = divmod(n, len(string.ascii_lowercase))
    return string.ascii_lowercase[letter] + (str(again) if again else "")
