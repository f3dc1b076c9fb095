"""Words for settings and their values in figures and tables for print."""

import re
from collections.abc import Mapping

from chappe._common.arguments import is_text, quoted

_ALONE = ("run", "topology")
"""Groups whose settings are known without the name of the group."""

_ACRONYMS = ("aodv", "cbr", "dsdv", "dsr", "ecn", "eln", "olsr", "red", "tcp", "wlan")


def in_words(setting: str) -> str:
    """Name of a setting in words, such as "congestion control" of ``tcp.congestion_control``.

    A word alone has its group before it: "TCP variant", "queue limit".
    """
    *groups, name = re.sub(r"\.\d+", "", setting).split(".")
    words = name.replace("_", " ")
    if " " in words or not groups or groups[-1] in _ALONE:
        return words
    group = groups[-1].replace("_", " ")
    return f"{group.upper() if group in _ACRONYMS else group} {words}"


class Labels:
    """Words for the names of settings and for values, with a note of those that were used."""

    def __init__(self, given: Mapping[str, str] | None = None, known: Mapping[str, str] | None = None):
        """Takes words by name of a setting or by value, and those for when none are given.

        Settings without any are put :func:`in_words`.

        Raises:
            TypeError: If they are no texts by name.
        """
        if not isinstance(given, Mapping | None) or not all(map(is_text, [*(given or {}), *(given or {}).values()])):
            raise TypeError(f"labels are texts by name, not {quoted(given)}")
        self._given = dict(given or {})
        self._known = dict(known or {})
        self._used: set[str] = set()

    def setting(self, name: str) -> str:
        """Words for a setting."""
        return self._found(name, in_words(name))

    def value(self, value: object) -> str:
        """Words for a value."""
        return self._found(str(value), str(value))

    def _found(self, name: str, otherwise: str) -> str:
        self._used.add(name)
        return self._given.get(name) or self._known.get(name, otherwise)

    def refuse_unused(self) -> None:
        """Refuses words that were given for what is not there.

        Raises:
            ValueError: If there are any.
        """
        if unused := [name for name in self._given if name not in self._used]:
            known = ", ".join(sorted(self._used))
            raise ValueError(f"no setting and no value shown is named {', '.join(unused)}; known: {known}")
