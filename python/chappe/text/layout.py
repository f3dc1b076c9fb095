"""Tables of text that fit the terminal: nothing in them is ever cut.

A table that is too wide is divided into several, which repeat the columns by which its rows are known. Where even that
is too wide, each row becomes lines of its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from chappe._common.words import count, plain

_GAP = 2
_READABLE = 24
"""Texts are not broken into lines shorter than this."""


class _Column(NamedTuple):
    name: str
    right: bool
    wraps: bool


class Line(NamedTuple):
    """A line of a table.

    Attributes:
        text: What it says.
        header: Whether it has the names of columns.
    """

    text: str
    header: bool = False


class Table:
    """A table without frame.

    Attributes:
        title: What stands above it.
        show_header: Whether the names of columns are shown.
    """

    def __init__(self, *columns: str, title: str | None = None, keys: int = 1):
        """Takes the names of columns, and by how many of them, the first ones, rows are known.

        A column whose name begins with ``>`` is aligned to the right; texts in one whose name begins with ``~`` may be
        broken between words. A column without a name belongs to the one before.
        """
        self.title = title
        self.show_header = True
        self._columns = [_Column(plain(c.lstrip(">~")), c.startswith(">"), c.startswith("~")) for c in columns]
        self._keys = keys
        self._rows: list[list[str]] = []

    def add_row(self, *cells: str) -> None:
        """Adds a row with a cell for each column."""
        if len(cells) != len(self._columns):
            raise ValueError(f"{count(len(cells), 'cell')} for {count(len(self._columns), 'column')}")
        self._rows.append([plain(c) for c in cells])

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [c.name for c in self._columns]

    @property
    def rows(self) -> list[list[str]]:
        """The cells, row by row."""
        return self._rows

    def lines(self, width: int) -> list[Line]:
        """The table in lines of at most this width, if its words are not longer than that."""
        parts = self._parts(width)
        if parts is None:
            return self._stacked(width)
        found: list[Line] = []
        for part in parts:
            found += [Line("")] if found else []
            found += self._beside(part, width)
        return found

    def _wide(self, i: int) -> int:
        header = cell_len(self._columns[i].name) if self.show_header else 0
        return max([header, *(cell_len(row[i]) for row in self._rows)])

    def _least(self, i: int) -> int:
        """The least width of a column: texts that may be broken need their longest word, and a readable line."""
        if not self._columns[i].wraps:
            return self._wide(i)
        words = [cell_len(word) for row in self._rows for word in row[i].split(" ")]
        return min(self._wide(i), max([_READABLE, cell_len(self._columns[i].name), *words]))

    def _together(self, columns: Sequence[int]) -> int:
        """The least width of these columns beside each other."""
        return sum(self._least(i) for i in columns) + _GAP * (len(columns) - 1)

    def _groups(self) -> list[list[int]]:
        """Columns with those that belong to them."""
        groups: list[list[int]] = []
        for i, column in enumerate(self._columns):
            if i > 0 and not column.name and not column.wraps:
                groups[-1].append(i)
            else:
                groups.append([i])
        return groups

    def _parts(self, width: int) -> list[list[int]] | None:
        """Columns that stand beside each other; ``None`` when no division is narrow enough."""
        every = list(range(len(self._columns)))
        if self._together(every) <= width:
            return [every]
        groups = self._groups()
        known = [i for g in groups for i in g if g[0] < self._keys]
        others = [g for g in groups if g[0] >= self._keys]
        if not others or any(self._together([*known, *g]) > width for g in others):
            return None
        parts = [[*known, *others[0]]]
        for g in others[1:]:
            if self._together([*parts[-1], *g]) <= width:
                parts[-1] += g
            else:
                parts.append([*known, *g])
        return parts

    def _beside(self, part: Sequence[int], width: int) -> list[Line]:
        left = width - self._together(part)
        widths = {}
        for i in part:
            widths[i] = min(self._wide(i), self._least(i) + left)
            left -= widths[i] - self._least(i)

        def line(cells: Sequence[str]) -> str:
            padded = []
            for i, cell in zip(part, cells, strict=True):
                space = " " * (widths[i] - cell_len(cell))
                padded.append(space + cell if self._columns[i].right else cell + space)
            return (" " * _GAP).join(padded).rstrip()

        found = [Line(line([self._columns[i].name for i in part]), header=True)] if self.show_header else []
        for row in self._rows:
            cells = [_broken(row[i], widths[i]) if self._columns[i].wraps else [row[i]] for i in part]
            height = max(map(len, cells))
            found += [Line(line([c[n] if n < len(c) else "" for c in cells])) for n in range(height)]
        return found

    def _stacked(self, width: int) -> list[Line]:
        groups = self._groups()
        names = [self._columns[g[0]].name if self.show_header else "" for g in groups]
        edge = max(map(cell_len, names)) + _GAP
        found: list[Line] = []
        for row in self._rows:
            found += [Line("")] if found else []
            for group, name in zip(groups, names, strict=True):
                value = " ".join(row[i] for i in group if row[i])
                if not name:
                    found += [Line(part) for part in _broken(value, width)]
                    continue
                space = width - edge
                lines = _broken(value, space) if self._columns[group[0]].wraps else [value]
                if max(map(cell_len, lines)) <= space:
                    found.append(Line(name + " " * (edge - cell_len(name)) + lines[0]))
                    found += [Line(" " * edge + more) for more in lines[1:]]
                else:
                    found += [Line(name), *(Line(" " * _GAP + more) for more in _broken(value, width - _GAP))]
        return [Line(f.text.rstrip()) for f in found]


def _broken(text: str, width: int) -> list[str]:
    """A text in lines of at most this width, broken between words; what it begins with is kept."""
    lines: list[str] = []
    indent = text[: len(text) - len(text.lstrip(" "))]
    for word in text.lstrip(" ").split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word if lines else indent + word)
    return lines
