"""User-defined measures: expressions over the tables of a run, over all runs of a point, with their intervals."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chappe._common.arguments import names_of, problem, quoted
from chappe.errors import Problem
from chappe.expressions.parser import Aggregate, ExpressionError, Node, aggregates, parsed, value
from chappe.expressions.reductions import (
    INTERVALS,
    OPTIONAL,
    REDUCED,
    Function,
    Part,
    Reduction,
    columns,
    intervals,
    of_function,
    of_measured,
    parts_of,
    quantile,
    reduced,
    together,
)
from chappe.measures import KNOWN, NAMES, Direction, Totals
from chappe.results.storage import tables
from chappe.results.storage.columns import RUN
from chappe.results.storage.tables import known
from chappe.scenario import flow_selection
from chappe.stats import Statistic, quotient

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DEFINED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", re.DOTALL)
_TAKEN = ("run", "point", "seed", "end", "simulated_s", "frames_sent", "fastest_bps", "measure", "case")


@dataclass(frozen=True)
class Own:
    """A user-defined measure.

    Attributes:
        name: Its name.
        text: Its expression; ``None``: it is a function.
        node: The expression.
        function: The function; ``None`` in a study that was opened.
    """

    name: str
    text: str | None
    node: Node | None
    function: Function | None = None

    @property
    def parts(self) -> list[Part]:
        """Reductions that it is made of."""
        if self.node is None:
            return []
        found = [part for aggregate in aggregates(self.node) for part in parts_of(aggregate)]
        return list({part.name: part for part in found}.values())

    @property
    def direction(self) -> Direction | None:
        """Better direction; ``None`` if it is not known."""
        return "minimize" if self.name in KNOWN else None


def unknown_node(own: Own, names: Iterable[Mapping[int, str]]) -> str | None:
    """Message about a node of a measure that no scenario has.

    Args:
        own: The measure.
        names: Names of the nodes of each scenario.
    """
    asked = [str(c.value) for part in own.parts for c in part.where if c.names]
    known = sorted({name for of_one in names for name in of_one.values()}) if asked else []
    if lost := next((name for name in asked if name not in known), None):
        near = difflib.get_close_matches(lost, known, 1)
        help_ = f"did you mean {quoted(near[0])}?" if near else "name it in the scenario: node.N.name"
        return f"`{own.name}`: no node is named {quoted(lost)}; {help_}"
    return None


def defined(text: str) -> tuple[str, str] | None:
    """Name and expression of a measure written as ``name = expression``; ``None`` for the name of a measure."""
    found = _DEFINED.fullmatch(text)
    return (found[1], found[2].strip()) if found else None


def split(given: Iterable[str]) -> tuple[list[str], list[str]]:
    """Names of measures, and the user-defined ones among them, for :func:`own_of`.

    Args:
        given: Names, perhaps of measures of chosen flows, and texts ``name = expression``.
    """
    names, own = [], []
    for text in given:
        if found := defined(text):
            names.append(found[0])
            own.append(text)
            continue
        names.append(text)
        if (name := text.partition(flow_selection.OF)[0]) in KNOWN and name not in own:
            own.append(name)
    return names, own


def with_rule(given: object, measure: object) -> Any:
    """User-defined measures as given, with that of a rule, if it is one that a study makes when it is asked for."""
    name = measure.partition(flow_selection.OF)[0] if isinstance(measure, str) else None
    if name not in KNOWN:
        return given
    if isinstance(given, Mapping):
        return {**given, name: KNOWN[name]}
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return list(dict.fromkeys([*given, name]))
    return given


def direction_in(own: Iterable[Own], measure: object) -> Direction | None:
    """Better direction of a user-defined measure; ``None`` of any other, and if it is not known."""
    name = measure.partition(flow_selection.OF)[0] if isinstance(measure, str) else None
    return next((one.direction for one in own if one.name == name), None)


def rows_of(totals: Totals) -> list[Totals]:
    """Totals of several runs, one by one."""
    return [totals._replace(rows=totals.rows[n : n + 1]) for n in range(len(totals.rows))]


def own_of(
    given: Mapping[str, object] | Iterable[str], axes: Iterable[str], path: str
) -> tuple[list[Own], list[Problem]]:
    """User-defined measures, and problems.

    Args:
        given: Expressions and functions by name; or names of :data:`KNOWN`, and texts ``name = expression``.
        axes: Names of the axes, which no measure has.
        path: Setting or argument that has them.
    """
    problems: list[Problem] = []
    if isinstance(given, Mapping):
        pairs: list[tuple[Any, Any]] = list(given.items())
    else:
        try:
            pairs = [defined(text) or (text, KNOWN.get(text)) for text in names_of(path, given)]
        except (TypeError, ValueError):
            help_ = "it is a list of names, or a dict of names and expressions"
            return [], [problem(path, f"`{path}` cannot be {quoted(given)}", help_)]
    found: dict[str, Own] = {}
    first: dict[Any, Any] = {}
    for name, text in pairs:
        # A dict has each name once.
        if not isinstance(given, Mapping) and first.setdefault(name, text) != text:
            problems.append(problem(path, f"the measure `{name}` is defined twice", "keep one of its definitions"))
            continue
        where = f"{path}.{name}" if isinstance(given, Mapping) else path
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            help_ = "it has small letters, digits and `_`, and begins with a letter"
            problems.append(problem(where, f"{quoted(name)} cannot name a measure", help_))
        elif name in NAMES or name in _TAKEN or name in tuple(axes):
            problems.append(problem(where, f"the name `{name}` is taken", "choose another name for the measure"))
        elif name in KNOWN and text != KNOWN[name]:
            problems.append(problem(where, f"`{name}` is a measure of its own: {KNOWN[name]}", "choose another name"))
        elif isinstance(text, pl.Expr) or _is_pair(text):
            found[name] = Own(name, None, None, Columns(text))
        elif callable(text):
            found[name] = Own(name, None, None, text)
        elif not isinstance(text, str):
            near = difflib.get_close_matches(name, KNOWN, 1)
            help_ = f"did you mean `{near[0]}`?" if near else 'such as "sum(flows.timeouts) / sum(flows.packets_sent)"'
            problems.append(problem(where, f"the measure `{name}` has no expression", help_))
        else:
            try:
                found[name] = Own(name, text, parsed(text, columns()))
            except ExpressionError as e:
                problems += [problem(where, f"`{name}`: {p.message}", p.help) for p in e.problems]
    return list(found.values()), problems


class Columns:
    """Measure of the table ``flows``, as one or two expressions of polars: a numerator, and perhaps a denominator."""

    def __init__(self, expressions: object):
        """Keeps the expressions."""
        self._pair = expressions if isinstance(expressions, tuple) else (expressions,)

    def __call__(self, tables: Mapping[str, pl.DataFrame]) -> tuple[float, float]:
        """Numerator and denominator of a run."""
        over, *under = (tables["flows"].select(e).item() for e in self._pair)
        return over, *(under or [1.0])

    def __repr__(self) -> str:
        return " ".join(e.meta.serialize(format="json") for e in self._pair)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(e, pl.Expr) for e in value)


def stored(measures: Iterable[Own]) -> dict[str, str | None]:
    """Measures as in ``study.json``."""
    return {own.name: own.text for own in measures}


def of_stored(texts: object) -> dict[str, Own]:
    """Measures of ``study.json``.

    Raises:
        ValueError: If they are none.
    """
    if not isinstance(texts, dict):
        raise ValueError("it has no measures")
    return {name: Own(name, text, None if text is None else parsed(text, columns())) for name, text in texts.items()}


def reduction_of(measures: Iterable[Own]) -> Reduction | None:
    """Reductions for which tables are recorded in the runs; ``None`` without any."""
    found = {part.name: part for own in measures for part in own.parts if part.is_recorded}
    functions = tuple((own.name, own.function) for own in measures if own.function is not None)
    return Reduction(tuple(found.values()), functions) if found or functions else None


def choice_of(own: Own, choice: flow_selection.Flows | None) -> None:
    """Refuses chosen flows of tables without flows.

    Raises:
        ValueError: If there are such tables.
    """
    if choice is None:
        return
    if own.node is None:
        raise ValueError(f"`{own.name}` is a function, which no flows can be chosen for")
    for part in own.parts:
        if "flow" not in columns()[part.table]:
            raise ValueError(f"`{own.name}` has columns of `{part.table}`, which has no flows to choose")


Tables = Callable[[str], pl.DataFrame]


def totals_of(own: Own, keys: Sequence[str], table: Tables, choice: flow_selection.Flows | None = None) -> Totals:
    """Totals of a measure in several runs, one row each.

    The first column counts runs: a sum is one per run, and a ratio of sums is that of totals over all runs.

    Args:
        own: The measure.
        keys: Names of the runs.
        table: Function from a name to the table of these runs, with the column ``run``.
        choice: Chosen flows.
    """
    choice_of(own, choice)
    if own.node is None:
        return _totals_of_function(own, keys, table(REDUCED))
    runs = pl.DataFrame({RUN: list(keys)}, schema={RUN: pl.String})
    flows = None if choice is None else choice.of(table("flows"), [RUN]).select(RUN, "flow")
    used = table("batches").filter("used").group_by(RUN).agg(pl.col("started_at_s").min().alias("begin_s"))
    blocks: list[NDArray[np.float64]] = [np.ones((len(keys), 1))]
    places: dict[str, tuple[slice, NDArray[np.int64]]] = {}
    width = 1
    for part in own.parts:
        rows = _reductions(part, table, flows, used)
        cells = rows["cell"].unique().sort().to_numpy() if part.kind == "histogram" else np.zeros(1, dtype=np.int64)
        block = np.full((len(keys), len(cells)), np.nan if part.kind in ("max", "min") else 0.0)
        of_run = runs.with_row_index("_run").join(rows, on=RUN)
        place = np.searchsorted(cells, of_run["cell"].to_numpy())
        block[of_run["_run"].to_numpy(), place] = of_run["value"].to_numpy()
        blocks.append(block)
        places[part.name] = slice(width, width + len(cells)), cells
        width += len(cells)
    limits = _limits(own)
    return Totals(np.concatenate(blocks, axis=1), _statistic(own.node, places), limits=limits, is_own=True)


def _limits(own: Own) -> tuple[float, float]:
    """Smallest and largest possible value of a measure; those of expressions of others are not known."""
    if own.text != KNOWN.get(own.name, ""):
        return -math.inf, math.inf
    return 0.0, 1.0 if own.name.endswith("_share") else math.inf


def _totals_of_function(own: Own, keys: Sequence[str], rows: pl.DataFrame) -> Totals:
    """Numerator and denominator of each run."""
    of_measure = rows.filter(pl.col("measure") == of_function(own.name))
    numbers: dict[tuple[str, int], float | None] = {
        (run, cell): number for run, cell, number in of_measure.select(RUN, "cell", "value").iter_rows()
    }
    pairs = [[numbers.get((key, cell)) for cell in (0, 1)] for key in keys]
    return Totals(np.array(pairs, dtype=float).reshape(len(keys), 2), quotient, is_own=True)


def _reductions(part: Part, table: Tables, flows: pl.DataFrame | None, begins: pl.DataFrame) -> pl.DataFrame:
    """Reduction of each run: ``run``, ``cell``, ``value``."""
    if part.is_recorded:
        rows = table(REDUCED).filter(pl.col("measure") == part.name)
        if flows is not None:
            rows = rows.join(flows, on=[RUN, "flow"], how="semi")
        return together(rows, part.kind, [RUN])
    is_made = part.table == INTERVALS
    whole = intervals(table("samples"), table("flows"), [RUN]) if is_made else table(part.table)
    if part.table == "flows":
        missing = [name for name in OPTIONAL if name not in whole.columns]
        whole = whole.with_columns(pl.lit(None, tables.TYPES[OPTIONAL[name]]).alias(name) for name in missing)
    rows = of_measured(part.table, whole, begins)
    if flows is not None:
        rows = rows.join(flows, on=[RUN, "flow"], how="semi")
    return reduced(rows, part, [RUN])


def _statistic(node: Node, places: Mapping[str, tuple[slice, NDArray[np.int64]]]) -> Statistic:
    """Function from sums of rows to the measure."""

    def statistic(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        runs = totals[..., 0]

        def block(part: Part) -> NDArray[np.float64]:
            return totals[..., places[part.name][0]]

        def of_aggregate(a: Aggregate) -> NDArray[np.float64]:
            parts = parts_of(a)
            if a.function == "quantile":
                # Rounding of the jackknife leaves counts a little below 0.
                return quantile(block(parts[0]).clip(0.0), places[parts[0].name][1], a.q)
            over = block(parts[0])[..., 0]
            return over / (block(parts[1])[..., 0] if a.function == "mean" else runs)

        return value(node, of_aggregate)

    return statistic


def with_own(runs: pl.DataFrame, measures: Iterable[Own], table: Tables) -> pl.DataFrame:
    """Runs with a column for each user-defined measure."""
    keys = runs[RUN].unique(maintain_order=True).to_list()
    found = [pl.Series(own.name, totals_of(own, keys, table).each, dtype=pl.Float64) for own in measures]
    if not found or not keys:
        return runs
    columns_of = known(pl.DataFrame([pl.Series(RUN, keys, dtype=pl.String), *found]))
    return runs.join(columns_of, on=RUN, how="left", maintain_order="left")
