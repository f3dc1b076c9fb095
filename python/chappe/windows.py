"""The windows of TCP variants in one scenario, one figure under the other: what ``chappe windows`` draws."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from chappe import plot, show, tables
from chappe.files import UNFINISHED
from chappe.results import run
from chappe.scenario import Scenario
from chappe.words import count


def measured(scenario: Scenario, variants: Sequence[str], flow: int) -> pl.DataFrame:
    """The changes of the window of a flow under each variant, with the column ``variant`` before those of ``cwnd``.

    Args:
        scenario: What is run; every variant with the same seed.
        variants: Words of ``tcp.variant``.
        flow: Number of the flow.

    Returns:
        The rows of the table ``cwnd``; none of a variant under which the flow has not begun.

    Raises:
        ScenarioError: A variant is not known, or does not go with the scenario.
    """
    under = {v: scenario.with_({"tcp.variant": v, "run.record": ["cwnd"]}) for v in variants}
    found = [
        run(s).recorded["cwnd"].filter(pl.col("flow") == flow).select(pl.lit(v).alias("variant"), pl.all())
        for v, s in under.items()
    ]
    return pl.concat(found)


def figure(changes: pl.DataFrame, variants: Sequence[str], *, title: str, end_s: float) -> Figure:
    """Windows over time, a panel for each variant, with ssthresh, and marks where a loss or a mark was noticed.

    Args:
        changes: What :func:`measured` returns.
        variants: The panels, in this order.
        title: Stands above them.
        end_s: Right end of the time axes [s].
    """
    panels = {v: changes.filter(pl.col("variant") == v) for v in variants}
    return plot.windows(panels, title=title, end_s=end_s)


def last(changes: pl.DataFrame) -> float:
    """When the last change was [s]."""
    return float(changes["time_s"].to_numpy().max())


def table(changes: pl.DataFrame, variants: Sequence[str]) -> None:
    """Prints how many losses and timeouts each variant has noticed, and what it sent its data with."""
    rows = show.table("Variant", ">changes", ">fast retransmits", ">timeouts", ">largest window")
    for v in variants:
        own = changes.filter(pl.col("variant") == v)
        events = own["event"].cast(pl.String)
        largest = own["cwnd_segments"].to_numpy()
        rows.add_row(
            v,
            str(len(own)),
            str((events == "fast_retransmit").sum()),
            str((events == "timeout").sum()),
            show.number(float(largest.max()), 3) if len(own) else "",
        )
    show.write(rows)


NAMES = frozenset(f"windows.{kind}{end}" for kind in (*plot.FORMATS, "csv") for end in ("", UNFINISHED))
"""The files that :func:`write` makes."""


def refuse_others(folder: Path) -> None:
    """Refuses a folder that has anything but what :func:`write` makes.

    Raises:
        FileExistsError: When it is so.
    """
    if others := sorted({p.name for p in folder.iterdir()} - NAMES):
        raise FileExistsError(f"{folder} has other files, such as {others[0]}: use a new folder, or empty this one")


def write(folder: Path, changes: pl.DataFrame, drawn: Figure) -> str:
    """Writes the figure and the numbers behind it; says what was written."""
    plot.save(drawn, folder, "windows")
    tables.write_csv(changes, folder / "windows.csv")
    return f"Written to {folder}: windows.pdf, windows.svg, windows.png and windows.csv ({count(len(changes), 'row')})."
