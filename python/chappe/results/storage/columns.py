"""Tables as plain lists: data frames take longer to load than most runs, and the summary of a run needs none."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    Table = pl.DataFrame | Mapping[str, Sequence[Any]]
    """Columns by name: a data frame, or lists."""

TABLES = (
    *("flows", "short_flows", "nodes", "batches", "flow_batches"),
    *("samples", "packet_outcomes", "airtime", "rates", "batteries", "wired_links", "wired_link_batches"),
)
"""Names of the tables of every run."""

RUN = "run"
"""Column with the key of the run of a row."""

RUN_INFO = "run_info"
"""Name of the table of a study with one row per run."""

Rows = Sequence[Mapping[str, Any]]
"""Rows of a table, by the names of its columns."""


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows of a table."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
