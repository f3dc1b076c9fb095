"""User-defined measures of a single run, with intervals over its batches."""

from collections.abc import Iterable, Sequence

import polars as pl

from chappe._common.arguments import quoted
from chappe.expressions.own_measures import Own, own_of, split, totals_of, unknown_node
from chappe.expressions.parser import joined
from chappe.expressions.reductions import REDUCED, SCHEMA, of_part, recorded_rows
from chappe.measures import Totals, wrong
from chappe.results.results import Results
from chappe.results.storage.columns import RUN
from chappe.scenario import flow_selection

_WHOLE = "run"


def parse_measures(measures: Sequence[str]) -> tuple[list[str], dict[str, Own]]:
    """Names of measures, and the user-defined ones among them.

    Args:
        measures: Names, and texts ``name = expression``.

    Raises:
        ValueError: If there are no such measures.
    """
    names, texts = split(measures)
    own, problems = own_of(texts, (), "measures")
    if problems:
        raise ValueError(joined(problems))
    if unknown := [found for name in names if (found := wrong(name, [one.name for one in own]))]:
        raise ValueError("; ".join(map("; ".join, unknown)))
    return names, {one.name: one for one in own}


def recorded_for(measures: Iterable[Own]) -> list[str]:
    """Tables of ``run.record`` that measures need."""
    return sorted({part.source for own in measures for part in own.parts if part.is_recorded})


def of_run(results: Results, own: Own, choice: flow_selection.Flows | None) -> Totals:
    """Totals of a measure: of each batch, if it is made of recorded tables alone, else of the run.

    Raises:
        ValueError: If the run did not record its tables, or has no such flows or nodes.
    """
    if own.node is None:
        raise ValueError(f"`{own.name}` is a function: measures of a run are expressions")
    if results.scenario is not None and (unknown := unknown_node(own, [results.scenario.names])):
        raise ValueError(unknown)
    if missing := [name for name in recorded_for([own]) if name not in results.recorded]:
        help_ = f"record it in the scenario: run.record = [{', '.join(map(repr, missing))}]"
        raise ValueError(f"`{own.name}` needs the table {quoted(missing[0])}, which the run did not record; {help_}")
    if choice is not None and choice.of(results.flows).is_empty():
        raise ValueError(flow_selection.none_of(choice.text, results.flows))
    used = results.batches.filter("used")
    # An extreme of the run is none of its batches'.
    is_by_batch = all(part.is_recorded and part.kind not in ("max", "min") for part in own.parts)
    keys = [str(n) for n in used["batch"]] if is_by_batch else [_WHOLE]
    found = [pl.DataFrame(schema={RUN: pl.String, **SCHEMA})]
    for part in own.parts if is_by_batch or recorded_for([own]) else ():
        if not part.is_recorded:
            continue
        rows = recorded_rows(results, part.table)
        if is_by_batch:
            # A row at the end of a batch belongs to it, as the delivery that ends it does.
            place = used["ended_at_s"].search_sorted(rows["time_s"], side="left")
            rows = rows.with_columns(place.cast(pl.Int64).alias("_place")).filter(pl.col("_place") < len(keys))
            rows = rows.with_columns(pl.Series(keys).gather(rows["_place"]).alias(RUN))
        else:
            rows = rows.with_columns(pl.lit(_WHOLE).alias(RUN))
        found.append(of_part(rows, part, [RUN]))
    reductions = pl.concat(found)
    run_of = pl.DataFrame({RUN: keys})

    def table(name: str) -> pl.DataFrame:
        return reductions if name == REDUCED else run_of.join(results.table(name), how="cross")

    totals = totals_of(own, keys, table, choice)
    # A sum is that of the run, of which a batch is a part.
    totals.rows[:, 0] /= max(len(keys), 1)
    return totals
