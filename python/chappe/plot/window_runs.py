"""Congestion windows of TCP variants in one scenario, as plotted by ``chappe windows``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from chappe import plot
from chappe import text as show
from chappe._common import outputs
from chappe._common.files import UNFINISHED
from chappe._common.words import count
from chappe.results.results import run
from chappe.results.storage import tables
from chappe.scenario.scenario import Scenario


def measured(scenario: Scenario, variants: Sequence[str], flow: int) -> pl.DataFrame:
    """Runs each variant and returns the window changes of a flow: the column ``variant``, then those of ``cwnd``.

    Args:
        scenario: The scenario; all variants use the same seed.
        variants: Values of ``tcp.variant``; empty: the scenario as it is.
        flow: Number of the flow.

    Returns:
        Rows of the table ``cwnd``; no rows of variants with which the flow did not start.

    Raises:
        ScenarioError: If a variant is unknown or does not fit the scenario.
    """
    # The settings of the parts of a variant would override it.
    parts = {"tcp.congestion_control": "variant", "tcp.loss_recovery": "variant"}
    changes: list[tuple[str | None, dict[str, str]]] = [(v, {"tcp.variant": v, **parts}) for v in variants]
    under = [(v, scenario.with_settings({**change, "run.record": ["cwnd"]})) for v, change in changes or [(None, {})]]
    tables = []
    for v, s in under:
        results = run(s)
        of_flow = results.flows.filter(pl.col("flow") == flow)["variant"].to_list()
        name = pl.lit(v or next(iter(of_flow), None), dtype=pl.String).alias("variant")
        tables.append(results.recorded["cwnd"].filter(pl.col("flow") == flow).select(name, pl.all()))
    return pl.concat(tables)


def figure(changes: pl.DataFrame, variants: Sequence[str], *, title: str, end_s: float, begin_s: float = 0.0) -> Figure:
    """Plots windows and ssthresh over time, one panel per variant, with markers for losses and ECN marks.

    Args:
        changes: Result of :func:`measured`.
        variants: Variants of the panels, in order.
        title: Title of the figure.
        end_s: Right end of the time axes [s].
        begin_s: Left end of the time axes [s].
    """
    panels = {v: changes.filter(pl.col("variant") == v) for v in variants}
    return plot.windows(panels, title=title, end_s=end_s, begin_s=begin_s)


def last(changes: pl.DataFrame) -> float:
    """Time of the last change [s]."""
    return float(changes["time_s"].to_numpy().max())


def summary(changes: pl.DataFrame, variants: Sequence[str]) -> list[dict[str, Any]]:
    """Window changes, fast retransmits, timeouts and the largest window of each variant; ``None`` without changes."""
    rows = []
    for v in variants:
        of_variant = changes.filter(pl.col("variant") == v)
        events = of_variant["event"].cast(pl.String)
        largest = of_variant["cwnd_segments"].to_numpy()
        rows.append(
            {
                "variant": v,
                "changes": len(of_variant),
                "fast_retransmits": int((events == "fast_retransmit").sum()),
                "timeouts": int((events == "timeout").sum()),
                "max_cwnd_segments": float(largest.max()) if len(of_variant) else None,
            }
        )
    return rows


def table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints the rows of :func:`summary`."""
    t = show.table("Variant", ">changes", ">fast retransmits", ">timeouts", ">largest window")
    for r in rows:
        largest = "" if r["max_cwnd_segments"] is None else show.number(r["max_cwnd_segments"], 3)
        t.add_row(r["variant"], str(r["changes"]), str(r["fast_retransmits"]), str(r["timeouts"]), largest)
    show.write(t)


NAMES = frozenset(f"windows.{kind}{end}" for kind in (*plot.FORMATS, "csv") for end in ("", UNFINISHED))
"""Files that :func:`write` creates."""


_HEADER = b"variant,time_s,flow,"
"""Begin of ``windows.csv``."""


def refuse_others(folder: Path) -> None:
    """Refuses a folder with files that :func:`write` does not create.

    Raises:
        FileExistsError: If there are such files.
    """
    if foreign := sorted(p.name for p in folder.iterdir() if not _is_ours(p)):
        raise FileExistsError(f"{folder} has other files, such as {foreign[0]}: use a new folder, or empty this one")


def _is_ours(path: Path) -> bool:
    """Returns true for a file that :func:`write` has written, or left unfinished."""
    if path.name not in NAMES or path.is_symlink() or not path.is_file():
        return False
    if path.name.endswith(UNFINISHED) or not path.stat().st_size:
        return True
    if path.suffix == ".csv":
        with path.open("rb") as file:
            return file.readline().startswith(_HEADER)
    return outputs.is_ours(path, outputs.FIGURE)


def write(folder: Path, changes: pl.DataFrame, drawn: Figure) -> str:
    """Writes the figure and its data; returns a message with the names of the files."""
    plot.save(drawn, folder, "windows")
    tables.write_csv(changes, folder / "windows.csv")
    return f"Written to {folder}: windows.pdf, windows.svg, windows.png and windows.csv ({count(len(changes), 'row')})."
