"""Expressions over the tables of a run, such as ``sum(flows.timeouts) / sum(flows.packets_delivered)``.

They are parsed here and never evaluated as code. Inside of a function stand columns of one table, row by row, perhaps
of some of its rows: ``count(losses where node = 3 and drop_reason = queue_full)``, with nodes by number or
by name, ``node = "roof-17"``. Outside stand functions and numbers.
A ratio of sums is one of totals over all runs.
"""

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe._common.arguments import quoted
from chappe.errors import Problem
from chappe.results.storage.recorded import NODES

FUNCTIONS = ("sum", "mean", "max", "min", "count", "quantile")
"""Functions of the values of all rows."""

LONGEST = 1000
"""Longest expression, in characters."""

_DEEPEST = 50
"""Largest depth of parentheses."""

_CALCULATED = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_COMPARED = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
SIGNS = tuple(_COMPARED)
"""Comparisons of a column with a value."""

_OF_WORDS = ("=", "!=")

FORM = "such as sum(flows.timeouts) / sum(flows.packets_delivered)"
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z_]\w*)|(\"[^\"]*\"|'[^']*')|(<=|>=|!=|[-+*/().,=<>]))"
)


class Wrong(NamedTuple):
    """A problem of an expression.

    Attributes:
        message: The problem.
        help: Suggestion.
    """

    message: str
    help: str | None


def joined(problems: Iterable[Wrong | Problem]) -> str:
    """Problems with their suggestions, as one message."""
    return "; ".join(f"{p.message}{f': {p.help}' if p.help else ''}" for p in problems)


class ExpressionError(ValueError):
    """An expression with problems.

    Attributes:
        problems: All of them.
    """

    def __init__(self, problems: Sequence[Wrong]):
        """Keeps the problems."""
        super().__init__(joined(problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class Number:
    """A number."""

    value: float

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    table: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True)
class Negative:
    """The negative of an expression."""

    of: "Node"

    def __str__(self) -> str:
        return f"(-{self.of})"


@dataclass(frozen=True)
class Binary:
    """Two expressions with an operator."""

    sign: str
    left: "Node"
    right: "Node"

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


@dataclass(frozen=True)
class Condition:
    """A condition on the rows of a table.

    Attributes:
        column: Name of the column.
        sign: One of :data:`SIGNS`.
        value: A number, a word, or true and false.
        names: Column with the names of the nodes in ``column``, if the value is a name; empty otherwise.
    """

    column: str
    sign: str
    value: float | str | bool
    names: str = ""

    def __str__(self) -> str:
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        value = f'"{value}"' if self.names else value
        return f"{self.column} {self.sign} {value}"

    @property
    def is_met(self) -> pl.Expr:
        """The condition as an expression of polars; not met by unknown values.

        The name of a node without a name differs from all others.
        """
        if self.names:
            name = pl.col(self.names).cast(pl.String).fill_null("")
            met_by_name: pl.Expr = _COMPARED[self.sign](name, self.value)
            return met_by_name
        column = pl.col(self.column)
        if not isinstance(self.value, bool):
            column = column.cast(pl.Float64 if isinstance(self.value, float) else pl.String)
        met: pl.Expr = _COMPARED[self.sign](column, self.value)
        return met


def rows_where(where: Sequence[Condition]) -> str:
    """Text of the conditions on the rows of a table, behind its column."""
    return f" where {' and '.join(map(str, where))}" if where else ""


@dataclass(frozen=True)
class Aggregate:
    """A function of the values of rows of a table.

    Attributes:
        function: One of :data:`FUNCTIONS`.
        table: Name of the table.
        of: Value of a row; ``None``: ``count`` of the rows.
        q: Order of a quantile.
        where: Conditions that the rows meet.
    """

    function: str
    table: str
    of: "Node | None"
    q: float = 0.5
    where: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        rest = f", {self.q!r}" if self.function == "quantile" else ""
        return f"{self.function}({self.table if self.of is None else self.of}{rows_where(self.where)}{rest})"


Node = Number | Column | Negative | Binary | Aggregate


def parsed(text: str, tables: Mapping[str, Mapping[str, pl.DataType]]) -> Node:
    """Expression of a text.

    Args:
        text: The text.
        tables: Columns of each table with their types.

    Raises:
        ExpressionError: With all problems.
    """
    return _Parser(text, tables).whole()


def aggregates(node: Node) -> Iterator[Aggregate]:
    """Functions of an expression."""
    if isinstance(node, Aggregate):
        yield node
    elif isinstance(node, Negative):
        yield from aggregates(node.of)
    elif isinstance(node, Binary):
        yield from aggregates(node.left)
        yield from aggregates(node.right)


def of_rows(node: Node) -> pl.Expr:
    """Value of a row of the table, as an expression of polars."""
    match node:
        case Number(value):
            return pl.lit(value)
        case Column(_, name):
            return pl.col(name).cast(pl.Float64)
        case Negative(of):
            return -of_rows(of)
        case Binary(sign, left, right):
            result: pl.Expr = _CALCULATED[sign](of_rows(left), of_rows(right))
            return result
    raise TypeError("a function has no value in a row")


Values = NDArray[np.float64]


def value(node: Node, of_aggregate: Callable[[Aggregate], Values]) -> Values:
    """Value of an expression, from those of its functions; NaN where it is not defined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        match node:
            case Number(number):
                return np.asarray(number, dtype=float)
            case Aggregate():
                return of_aggregate(node)
            case Negative(of):
                return -value(of, of_aggregate)
            case Binary(sign, left, right):
                result = _CALCULATED[sign](value(left, of_aggregate), value(right, of_aggregate))
                return np.where(np.isfinite(result), result, np.nan)
    raise TypeError("a column has no value without a function")


class _Parser:
    """Parser of one text, by recursive descent."""

    def __init__(self, text: str, tables: Mapping[str, Mapping[str, pl.DataType]]):
        self._text = text
        self._tables = tables
        self._problems: list[Wrong] = []
        self._tokens: list[str] = []
        self._place = 0
        self._depth = 0

    def whole(self) -> Node:
        if len(self._text) > LONGEST:
            raise ExpressionError([Wrong(f"an expression has at most {LONGEST} characters", None)])
        self._split()
        node = self._sum(None)
        if self._place < len(self._tokens):
            self._stop(f"{quoted(self._now)} is left over")
        if not self._problems and not any(aggregates(node)):
            self._problems.append(
                Wrong(f"{quoted(self._text)} measures nothing", f"use a function of a column, {FORM}")
            )
        if self._problems:
            raise ExpressionError(self._problems)
        return node

    def _split(self) -> None:
        at, text = 0, self._text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                rest = text[at:].lstrip()
                self._place = len(self._tokens)
                raise ExpressionError([Wrong(f"{quoted(rest[0])} has no meaning in an expression", FORM)])
            self._tokens.append(found[0].strip())
            at = found.end()

    @property
    def _now(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    @property
    def _next(self) -> str:
        return self._tokens[self._place + 1] if self._place + 1 < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str | None:
        if self._now and self._now in wanted:
            self._place += 1
            return self._tokens[self._place - 1]
        return None

    def _need(self, wanted: str) -> None:
        if self._take(wanted) is None:
            self._stop(f"`{wanted}` is missing{f' before {quoted(self._now)}' if self._now else ' at the end'}")

    def _stop(self, message: str) -> None:
        raise ExpressionError([*self._problems, Wrong(message, FORM)])

    def _sum(self, inside: list[str] | None) -> Node:
        """Terms with + and -; ``inside``: tables of the columns of the function around it."""
        node = self._product(inside)
        while sign := self._take("+", "-"):
            node = Binary(sign, node, self._product(inside))
        return node

    def _product(self, inside: list[str] | None) -> Node:
        node = self._factor(inside)
        while sign := self._take("*", "/"):
            node = Binary(sign, node, self._factor(inside))
        return node

    def _factor(self, inside: list[str] | None) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._stop(f"parentheses are nested deeper than {_DEEPEST}")
        try:
            if self._take("-"):
                return Negative(self._factor(inside))
            if self._take("("):
                node = self._sum(inside)
                self._need(")")
                return node
            word = self._now
            if re.match(r"[\d.]", word) and word != ".":
                self._place += 1
                return Number(float(word))
            if not re.match(r"[A-Za-z_]", word):
                self._stop(f"a value is missing{f' before {quoted(word)}' if word else ' at the end'}")
            self._place += 1
            if self._now == "(":
                return self._function(word, inside)
            return self._column(word, inside)
        finally:
            self._depth -= 1

    def _function(self, word: str, inside: list[str] | None) -> Node:
        if word not in FUNCTIONS:
            self._problems.append(Wrong(f"there is no function {quoted(word)}", _near(word, FUNCTIONS)))
        if inside is not None:
            self._problems.append(Wrong(f"the function `{word}` stands inside of another one", "take it out"))
        self._need("(")
        found: list[str] = []
        argument: Node | None
        if word == "count" and self._now in self._tables and self._next in (")", "where"):
            found, argument = [self._now], None
            self._place += 1
        else:
            argument = self._sum(found)
        where = self._where(found[0] if found else "") if self._take("where") else ()
        q = self._order() if word == "quantile" else 0.5
        self._need(")")
        if len(set(found)) > 1:
            both = " and ".join(f"`{name}`" for name in dict.fromkeys(found))
            self._problems.append(Wrong(f"`{word}` has columns of the tables {both}", "use one table in a function"))
        elif not found and not self._problems:
            self._problems.append(Wrong(f"`{word}` has no column", FORM))
        return Aggregate(word, found[0] if found else "", argument, q, where)

    def _where(self, table: str) -> tuple[Condition, ...]:
        """Conditions on the rows of a table, with ``and`` between them."""
        conditions = [self._condition(table)]
        while self._take("and"):
            conditions.append(self._condition(table))
        return tuple(conditions)

    def _condition(self, table: str) -> Condition:
        column, sign = self._now, self._next
        if not re.match(r"[A-Za-z_]", column) or sign not in SIGNS:
            self._stop(
                f"a condition is missing before {quoted(column)}" if column else "a condition is missing at the end"
            )
        self._place += 2
        minus = "-" if self._take("-") else ""
        word = self._now
        if word[:1] in ("'", '"') and not minus:
            return self._name(table, column, sign, word[1:-1])
        if not re.match(r"[\w.]", word) or (minus and not re.match(r"[\d.]", word)):
            self._stop(f"a value is missing behind `{column} {sign}`")
        self._place += 1
        value: float | str | bool = float(minus + word) if re.match(r"[\d.]", word) else word
        kind = self._tables.get(table, {}).get(column)
        if kind is None:
            if table in self._tables:
                help_ = _near(column, tuple(self._tables[table]))
                self._problems.append(Wrong(f"the table `{table}` has no column {quoted(column)}", help_))
            return Condition(column, sign, value)
        if kind == pl.Boolean:
            if word not in ("true", "false"):
                self._problems.append(Wrong(f"`{table}.{column}` is true or false, not {quoted(word)}", None))
            value = word == "true"
        elif isinstance(value, str) is kind.is_numeric():
            what = "a number" if kind.is_numeric() else "a word"
            self._problems.append(Wrong(f"`{table}.{column}` is {what}, not {quoted(word)}", None))
        elif isinstance(kind, pl.Enum) and value not in (known := kind.categories.to_list()):
            self._problems.append(Wrong(f"`{table}.{column}` is never {quoted(word)}", _near(word, known)))
        if not (kind.is_numeric() or sign in _OF_WORDS):
            self._problems.append(Wrong(f"`{table}.{column}` has words, which are not ordered", "compare with = or !="))
        return Condition(column, sign, value)

    def _name(self, table: str, column: str, sign: str, name: str) -> Condition:
        """A condition on the name of a node."""
        self._place += 1
        if table in self._tables and (column not in NODES or column not in self._tables[table]):
            known = [node for node in NODES if node in self._tables[table]]
            help_ = f"nodes are {' and '.join(known)}" if known else "the table has no nodes"
            self._problems.append(Wrong(f"`{table}.{column}` is no node, and only nodes have names", help_))
        elif sign not in _OF_WORDS:
            self._problems.append(Wrong(f"`{table}.{column}` has names, which are not ordered", "compare with = or !="))
        return Condition(column, sign, name, "name" if table == "nodes" else f"{column}_name")

    def _order(self) -> float:
        """Order of a quantile, behind a comma."""
        self._need(",")
        try:
            q = float(self._now)
        except ValueError:
            q = -1.0
        if not 0 <= q <= 1:
            self._stop(f"{quoted(self._now)} is not the order of a quantile, a number from 0 to 1")
        self._place += 1
        return q

    def _column(self, table: str, inside: list[str] | None) -> Node:
        if not self._take("."):
            help_ = f"columns are written as table.column, {FORM}"
            if table in FUNCTIONS:
                help_ = f"write {table}(table.column)"
            self._problems.append(Wrong(f"{quoted(table)} is no column", help_))
            return Column("", table)
        name = self._now
        self._place += 1
        if table not in self._tables:
            self._problems.append(Wrong(f"there is no table {quoted(table)}", _near(table, tuple(self._tables))))
        elif name not in self._tables[table]:
            help_ = _near(name, tuple(self._tables[table]))
            self._problems.append(Wrong(f"the table `{table}` has no column {quoted(name)}", help_))
        elif not (self._tables[table][name].is_numeric() or self._tables[table][name] == pl.Boolean):
            self._problems.append(Wrong(f"`{table}.{name}` has words, not numbers", None))
        if inside is None:
            help_ = f"say of which rows: sum({table}.{name}), or mean, max, min, count, quantile"
            self._problems.append(Wrong(f"`{table}.{name}` stands outside of a function", help_))
        else:
            inside.append(table)
        return Column(table, name)


def _near(word: str, known: Sequence[str]) -> str:
    """Suggestion for an unknown name."""
    found = difflib.get_close_matches(word, known, 1)
    return f"did you mean `{found[0]}`?" if found else f"known: {', '.join(known)}"
