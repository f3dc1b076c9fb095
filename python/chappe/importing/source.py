"""A file that is imported: its text, what it was parsed to, and the place that is read."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from chappe.importing.survey import Survey, address


class MisreadError(ValueError):
    """A file cannot be imported: what is wrong, and where."""


@dataclass
class Source:
    """A file.

    Attributes:
        file: Its name.
        text: Its content.
        owner: Name of the node on which a dump was made; empty: the file says so, or nobody.
        place: Place that is being read, for messages.
    """

    file: str
    text: str
    owner: str = ""
    place: str = ""

    @cached_property
    def json(self) -> Any:
        """Its content as JSON; ``None`` if it does not begin as such.

        Raises:
            MisreadError: If it begins as JSON and is none.
        """
        if not self.text.lstrip("\ufeff \t\r\n").startswith(("{", "[")) or re.match(r"\s*\[(?!\s*[\[{\]])", self.text):
            return None
        try:
            return json.loads(self.text.lstrip("\ufeff"))
        except json.JSONDecodeError as e:
            raise MisreadError(f"line {e.lineno}, column {e.colno}: {e.msg.lower()}; is the file cut off?") from None
        except RecursionError:
            raise MisreadError("its JSON is nested too deeply") from None

    @cached_property
    def xml(self) -> ET.Element | None:
        """Its content as XML; ``None`` if it does not begin as such.

        Raises:
            MisreadError: If it begins as XML and is none, or declares entities, which are not resolved.
        """
        if not self.text.lstrip("\ufeff \t\r\n").startswith("<"):
            return None
        if "<!DOCTYPE" in self.text or "<!ENTITY" in self.text:
            raise MisreadError("it declares a document type or entities, which are not read")
        try:
            return ET.fromstring(self.text.lstrip("\ufeff").encode())
        except ET.ParseError as e:
            line, column = e.position
            raise MisreadError(
                f"line {line}, column {column + 1}: {e.msg.partition(':')[0]}; is the file cut off?"
            ) from None

    def each(self, entries: Iterable[Any], name: str) -> Iterator[Any]:
        """Entries of a list, or keys and values of an object, one after the other, with their places."""
        numbered = entries.items() if isinstance(entries, dict) else enumerate(entries)
        for at, entry in numbered:
            self.place = f"{name}[{json.dumps(at)}]"
            yield (at, entry) if isinstance(entries, dict) else entry
        self.place = ""

    def lines(self) -> Iterator[str]:
        """Lines, with their places."""
        for number, line in enumerate(self.text.splitlines(), 1):
            self.place = f"line {number}"
            yield line
        self.place = ""

    def has(self, *keys: str) -> bool:
        """True if the content is a JSON object with these keys."""
        return isinstance(self.json, dict) and all(key in self.json for key in keys)

    def own(self, survey: Survey, *addresses: str) -> str:
        """Key of the node on which the dump was made.

        Raises:
            MisreadError: If nothing says which node it is.
        """
        keys = [found for text in addresses if (found := address(text))]
        if not self.owner and not keys:
            raise MisreadError(f"it does not say on which node it was made: give it as NAME={self.file}")
        if not keys:
            keys = [f"{self.file}#"]
        survey.node(*keys, file=self.file, name=self.owner)
        return keys[0]


class Format(NamedTuple):
    """A format: a line of :data:`chappe.importing.FORMATS`.

    Attributes:
        name: Word of the option ``--format``.
        title: Its name for people.
        is_this: True if a file is of this format.
        read: Reads a file into a survey.
    """

    name: str
    title: str
    is_this: Callable[[Source], bool]
    read: Callable[[Source, Survey], None]


def number(value: Any) -> float:
    """A finite number, also in a text.

    Raises:
        ValueError: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{json.dumps(value)[:40]} is no number")
    found = float(value)
    if found - found != 0:
        raise ValueError(f"{value} is no finite number")
    return found


def latlon(lat: Any, lon: Any) -> tuple[float, float] | None:
    """Latitude and longitude [degrees]; ``None`` where a file says that there are none.

    Raises:
        ValueError: If they are out of range.
    """
    # LibreMesh writes a word until somebody sets the place of a node.
    unset = (None, "", "FIXME")
    if lat in unset or lon in unset:
        return None
    found = number(lat), number(lon)
    if not (abs(found[0]) <= 90 and abs(found[1]) <= 180):
        raise ValueError(f"latitude {lat} and longitude {lon} are no place")
    # 0, 0 is in the sea, and what devices have before anybody sets it.
    return None if found == (0.0, 0.0) else found
