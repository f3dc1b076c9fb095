"""Choices of flows of a scenario, as in the name of a measure: ``"mean_delay_s of tcp"``."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from chappe._common.arguments import quoted
from chappe.scenario.scenario import Scenario, schema

if TYPE_CHECKING:
    import polars as pl

    from chappe.results.storage.columns import Table

OF = " of "
"""Stands between a measure and the flows that it is taken of."""

ALL = "all"
"""Choice of every flow."""

WORST = "worst"
"""First word of the choice of one flow of each run, that with the least goodput; behind it may stand a choice."""

EACH = "each"
"""First word of the choice of every flow by itself, which only a summary takes; behind it may stand a choice."""

FORM = "such as tcp, udp, vegas, cbr, 4, src=0, `tcp src=0`, `0, 3` or `worst tcp`"
"""Examples of choices."""

LABELS = ("name", "group")
"""Columns of the table ``flows`` that it has only where a scenario gives names or groups."""

_LABEL = "label"
"""Condition on the name or the group of a flow, in place of a column."""


class Flows(NamedTuple):
    """A choice of flows.

    Attributes:
        text: As it is written.
        any_of: A flow that meets all conditions of one of these is chosen; none: every flow. A condition is a column of
            the table ``flows`` and its value, or :data:`_LABEL` and the name or the group.
        is_worst: True if only the one with the least goodput is.
    """

    text: str
    any_of: tuple[tuple[tuple[str, str | int], ...], ...]
    is_worst: bool

    @property
    def labels(self) -> list[str]:
        """Names and groups of the choice."""
        return [str(value) for every in self.any_of for column, value in every if column == _LABEL]

    def of(self, flows: "pl.DataFrame", keys: Sequence[str] = ()) -> "pl.DataFrame":
        """Rows of the table ``flows`` of these flows.

        Args:
            flows: The table, of one run or of several.
            keys: Columns that tell runs apart.
        """
        import polars as pl

        has = flows.columns
        wanted = [pl.all_horizontal(_is(name, value, has) for name, value in every) for every in self.any_of]
        chosen = flows.filter(pl.any_horizontal(wanted)) if wanted else flows
        if not self.is_worst:
            return chosen
        least = pl.col("bytes_delivered") == pl.col("bytes_delivered").min()
        if not keys:
            return chosen.filter(least).head(1)
        return chosen.filter(least.over(keys)).unique(keys, keep="first", maintain_order=True)


def _is(column: str, value: str | int, has: Sequence[str]) -> "pl.Expr":
    """Condition on the flows of a table with these columns."""
    import polars as pl

    if column != _LABEL:
        # Flows have no columns of names where no node has a name.
        return pl.col(column) == value if column in has else pl.lit(False)
    return pl.any_horizontal(pl.lit(False), *(pl.col(name) == value for name in LABELS if name in has))


@cache
def _words() -> dict[str, str]:
    """Words of choices, with the columns of the table ``flows`` that have them."""
    groups = schema()["properties"]
    apps = dict.fromkeys(groups["flow"]["items"]["properties"]["app"]["enum"], "app")
    variants = dict.fromkeys(groups["tcp"]["properties"]["variant"]["enum"], "variant")
    return {"tcp": "transport", "udp": "transport", **apps, **variants}


@cache
def flows_of(text: str) -> Flows:
    """Choice of flows from its text.

    Raises:
        ValueError: If it is not a choice.
    """
    first, _, rest = text.strip().partition(" ")
    is_worst = first == WORST
    alternatives = (rest if is_worst else text).strip()
    written = [part.split() for part in alternatives.split(",")] if alternatives else []
    if alternatives == ALL or (is_worst and not alternatives):
        written = []
    elif not written or not all(written):
        raise ValueError(f"{quoted(text)} chooses no flows: give a choice {FORM}")
    return Flows(text, tuple(tuple(_condition(word, text) for word in words) for words in written), is_worst)


def _condition(word: str, text: str) -> tuple[str, str | int]:
    if found := re.fullmatch(r"(?:(flow|src|dst)=)?([0-9]{1,9})", word):
        return found[1] or "flow", int(found[2])
    if found := re.fullmatch(r"(src|dst)=([\w.-]+)", word):
        return f"{found[1]}_name", found[2]
    if (column := _words().get(word)) is not None:
        return column, word
    if re.fullmatch(r"[^\W\d_][\w-]*", word):
        return _LABEL, word
    raise ValueError(_no_flows(word, text, ()))


def _no_flows(word: str, text: str, labels: Iterable[str]) -> str:
    """Message about a word of a choice, with the names and groups that there are."""
    import difflib

    near = difflib.get_close_matches(word, [*labels, *_words(), WORST], 1)
    help_ = f"did you mean `{near[0]}`?" if near else f"give a choice {FORM}"
    return f"there are no flows {quoted(word)} in the choice {quoted(text)}; {help_}"


def check_labels(text: str, labels: Iterable[str]) -> None:
    """Refuses a choice, perhaps of one flow after the other, with a name or a group that is not given.

    Args:
        text: The choice.
        labels: Names and groups of flows.

    Raises:
        ValueError: If there is such a name, or the text is not a choice.
    """
    there = sorted(labels)
    for word in labels_in_text(text):
        if word not in there:
            raise ValueError(_no_flows(word, text, there))


def labels_in_text(text: str) -> list[str]:
    """Names and groups in a choice, perhaps of one flow after the other.

    Raises:
        ValueError: If it is not a choice.
    """
    return all_of(text).labels


def all_of(text: str) -> Flows:
    """Choice of flows, which is that of all of them together if it takes one after the other.

    Raises:
        ValueError: If it is not a choice.
    """
    return flows_of((_behind_each(text) or ALL) if is_each(text) else text)


def labels_in(flows: "pl.DataFrame") -> set[str]:
    """Names and groups in the table ``flows``."""
    return {label for name in LABELS if name in flows.columns for label in flows[name].unique() if label is not None}


def labels_of(scenarios: Iterable["Scenario"]) -> set[str]:
    """Names and groups of the flows of scenarios."""
    entries = [entry for scenario in scenarios for entry in scenario.settings["flow"]]
    return {entry[name] for entry in entries for name in LABELS if entry[name] != "none"}


def known(text: str) -> str:
    """A choice of flows, which may be one flow after the other.

    Raises:
        ValueError: If it is not a choice.
    """
    labels_in_text(text)
    return text


def is_each(text: str | None) -> bool:
    """True for the choice of one flow after the other."""
    return text is not None and text.split()[:1] == [EACH]


def _behind_each(text: str) -> str:
    return text.strip().removeprefix(EACH).strip()


def of(measures: Iterable[str], flows: str | None, table: Callable[[], "pl.DataFrame"] | None = None) -> list[str]:
    """Names of measures of chosen flows; those that name their flows stay as they are.

    Args:
        measures: Names of measures.
        flows: The choice; ``None``: all flows.
        table: Function that returns the table ``flows``, of which :data:`EACH` takes one flow after the other.

    Raises:
        ValueError: If the choice is invalid.
    """
    measures = list(measures)
    if flows is None:
        return measures
    if not is_each(flows):
        choices = [flows_of(flows).text]
    elif table is None:
        raise ValueError(f"{quoted(flows)} is for summaries: choose one set of flows, {FORM}")
    else:
        choices = [f"flow={n}" for n in flows_of(_behind_each(flows) or ALL).of(table())["flow"].unique().sort()]
    return list(dict.fromkeys(m if OF in m else f"{m}{OF}{choice}" for choice in choices for m in measures))


def none_of(choice: str, flows: "pl.DataFrame") -> str:
    """Message about a choice of which there are no flows."""
    import polars as pl

    kinds = flows.select(pl.coalesce("variant", "transport")).to_series().value_counts(sort=True)
    there = ", ".join(f"{n} {kind}" for kind, n in kinds.iter_rows())
    return f"no flow is {quoted(choice)}: there are {there or 'no flows'}"


def kinds_of(flows: "Table") -> dict[str, int]:
    """Numbers of TCP and of UDP flows in the table ``flows``."""
    return dict(sorted(Counter(flows["transport"]).items()))


def parts(measure: str) -> tuple[str, Flows | None]:
    """Name of the measure itself, and the chosen flows.

    Raises:
        ValueError: If the choice is invalid.
    """
    name, is_of, choice = measure.partition(OF)
    return name, flows_of(choice) if is_of else None
