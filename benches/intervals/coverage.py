"""Coverage of 95 % intervals: of drawn values with known means, of several runs, and of the batches of a single run.

``python benches/intervals/coverage.py --out FOLDER --write`` measures and writes the tables of
``docs/studies.md``. Runs are NewReno and Vegas over 8 hops as ns-2.35 does it; their truth is that of all runs
together. ``--out`` keeps their batches in files, and a second command uses them. ``--quick`` takes a hundredth of draws
and runs.
"""

import argparse
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import chappe
import numpy as np
import polars as pl
from chappe.measures import Totals
from chappe.stats import exact_share, spread
from chappe.stats.doubts import of_batches, of_runs, tests_of
from numpy.typing import NDArray

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[Values, Values | float]]

PAGE = Path(__file__).parents[2] / "docs" / "studies.md"

DRAWS = 4000
"""Samples of each distribution and number of runs."""

NUMBERS = (2, 3, 5, 10, 20, 30)
"""Numbers of runs of a sample."""

POINTS = {("newreno", 1_100): 3000, ("vegas", 1_100): 3000, ("newreno", 11_000): 100, ("vegas", 11_000): 100}
"""Variant and packets of a run, and how many runs there are."""

LEAST = 20
"""Intervals from which a coverage is told."""


def jain(share: Values) -> Values:
    """Jain's index of two flows, of which one has a share."""
    return 1 / (2 * (share**2 + (1 - share) ** 2))


def collapsing(share: float) -> Draw:
    """Runs of which some have 40 % of the goodput of the others."""
    return lambda rng, s: (np.where(rng.random(s) < share, 0.4, 1.0) * rng.normal(1, 0.01, s), 1.0)


def stalling(rng: np.random.Generator, s: tuple[int, int]) -> tuple[Values, Values]:
    """Runs of equal packets, of which three in ten stall."""
    return np.ones(s), 1 + 0.05 * rng.random(s) + (rng.random(s) < 0.3) * rng.exponential(1, s)


CASES: dict[str, tuple[str, Draw, float]] = {
    "normal": ("goodput_bps", lambda rng, s: (rng.normal(1, 0.1, s), 1.0), 1.0),
    "exponential": ("goodput_bps", lambda rng, s: (rng.exponential(1, s), 1.0), 1.0),
    "lognormal, sigma 1": ("goodput_bps", lambda rng, s: (rng.lognormal(0, 1, s), 1.0), math.exp(0.5)),
    "Pareto, index 1.5": ("goodput_bps", lambda rng, s: (1 + rng.pareto(1.5, s), 1.0), 3.0),
    "counts, Poisson 0.3 a run": ("timeouts_per_10000", lambda rng, s: (rng.poisson(0.3, s) + 0.0, 1.0), 0.3),
    "equal packets, 30 % of runs stall": ("goodput_bps", stalling, 1 / 1.325),
    "equal packets, lognormal time": (
        "goodput_bps",
        lambda rng, s: (np.ones(s), rng.lognormal(0, 1, s)),
        math.exp(-0.5),
    ),
    "10 % of runs collapse": ("goodput_bps", collapsing(0.1), 0.94),
    "5 % of runs collapse": ("goodput_bps", collapsing(0.05), 0.97),
    "Jain's index of two flows, Beta(½, ½)": (
        "jain_index",
        lambda rng, s: (jain(rng.beta(0.5, 0.5, s)), 1.0),
        math.sqrt(0.5),
    ),
    "half of the runs at a half": (
        "goodput_bps",
        lambda rng, s: (np.where(rng.random(s) < 0.5, 0.5, 1.0) * rng.normal(1, 0.01, s), 1.0),
        0.75,
    ),
    "20 % of runs at a sixth": (
        "goodput_bps",
        lambda rng, s: (np.where(rng.random(s) < 0.2, 0.2, 1.2) * rng.normal(1, 0.01, s), 1.0),
        1.0,
    ),
    "70 % of runs have none, others exponential": (
        "goodput_bps",
        lambda rng, s: (np.where(rng.random(s) < 0.7, 0.0, rng.exponential(1 / 0.3, s)), 1.0),
        1.0,
    ),
    "counts: 20 % of runs have five": (
        "timeouts_per_10000",
        lambda rng, s: (np.where(rng.random(s) < 0.2, 5.0, 0.0), 1.0),
        1.0,
    ),
    "counts by exponential time": (
        "mean_delay_s",
        lambda rng, s: (rng.poisson(2, s) + 0.0, 1e-3 + rng.exponential(1, s)),
        2 / 1.001,
    ),
}
"""Distributions: the measure that they stand for, the totals of runs, and the true value."""


class Counted(NamedTuple):
    """Shares of intervals that contain the true value."""

    of: int
    student: float
    """Of Student-t intervals."""
    held: float
    """Of the intervals of a summary."""
    silent: float
    """Share of all intervals that are wrong, and have no mark."""

    @property
    def text(self) -> str:
        """Student-t and summary."""
        return f"{100 * self.student:.0f} → {100 * self.held:.0f}"


def counted(samples: Sequence[Totals], truth: float, *, batches: bool = False) -> Counted:
    """Counts the intervals that hold the truth."""
    student, held, silent = [], [], []
    for totals in samples:
        together = totals.together
        e = totals.estimate(together)
        low, high = e.interval()
        student.append(abs(together.value - truth) <= together.estimate.half_width() + 1e-12)
        held.append(low - 1e-12 <= truth <= high + 1e-12)
        doubt = of_batches(tests_of(together.pseudo), short=False) if batches else of_runs(len(together.pseudo), 0, e)
        silent.append(doubt is None and not held[-1])
    return Counted(len(held), *(float(np.mean(x)) for x in (student, held, silent)))


def drawn(trials: int) -> Iterator[tuple[str, list[Counted]]]:
    """Coverage for each distribution and number of runs."""
    for name, (measure, draw, truth) in CASES.items():
        rng = np.random.default_rng(1)
        row = []
        for n in NUMBERS:
            over, under = draw(rng, (trials, n))
            units = np.stack([over, np.broadcast_to(under, over.shape)], axis=-1)
            row.append(counted([Totals.of(measure, u, 2, runs=True) for u in units], truth))
        yield name, row


def batches_of(variant: str, packets: int, runs: int, out: Path | None) -> list[Values]:
    """Delivered bits and time of the batches of each run."""
    path = out / f"{variant}-{packets}.parquet" if out else None
    if path and path.exists():
        table = pl.read_parquet(path)
    else:
        scenario = chappe.Scenario.chain(8, {"tcp.variant": variant}, stop=f"{packets} delivered", extends="ns2-2.35")
        study = chappe.sweep(scenario, seeds=runs, progress=True, title=f"{variant}, {packets:,} packets")
        bits, time = 8.0 * pl.col("bytes_delivered"), pl.col("ended_at_s") - pl.col("started_at_s")
        table = study.table("batches").filter("used").select("seed", "batch", bits.alias("over"), time.alias("under"))
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            table.write_parquet(path)
    return [own.select("over", "under").to_numpy() for own in table.partition_by("seed", maintain_order=True)]


def by_papers(group: Sequence[Values], truth: float) -> bool:
    """True if the interval by the rule for few runs of a paper holds the truth."""
    each = [Totals.of("goodput_bps", batches) for batches in group]
    means = [t.together for t in each]
    p = spread([m.value for m in means], [m.estimate.variance for m in means], len(group[0]) - 1)[1]
    units = np.stack([batches.sum(axis=0) for batches in group]) if p < 1 / 3 else np.concatenate(group)
    low, high = Totals.of("goodput_bps", units).together.estimate.interval()
    return low <= truth <= high


def real(runs: Sequence[Values]) -> list[str]:
    """Coverage of the intervals of 3, 5, 10 and 30 runs, of one run, and by the papers' rule from three and five."""
    totals = np.stack([batches.sum(axis=0) for batches in runs])
    truth = float(totals[:, 0].sum() / totals[:, 1].sum())
    cells = []
    for n in (3, 5, 10, 30):
        groups = totals[: len(totals) // n * n].reshape(-1, n, 2)
        samples = [Totals.of("goodput_bps", g, runs=True) for g in groups]
        cells.append(counted(samples, truth).text if len(samples) >= LEAST else "-")
    for n in (3, 5):
        groups_of = [runs[i : i + n] for i in range(0, len(runs) - n + 1, n)]
        held = [by_papers(g, truth) for g in groups_of]
        cells.append(f"{100 * np.mean(held):.0f}" if len(held) >= LEAST else "-")
    samples = [Totals.of("goodput_bps", batches) for batches in runs]
    one = counted(samples, truth, batches=True)
    words = [of_batches(tests_of(t.together.pseudo), short=False).split(", ") for t in samples]
    marked = [sum(word in w for w in words) / len(words) for word in ("correlated", "trend")]
    low, high = exact_share(one.held * one.of, one.of)
    return [
        *cells,
        f"{one.text} ({100 * low:.0f} to {100 * high:.0f}) of {one.of:,}",
        f"{100 * marked[0]:.0f}, {100 * marked[1]:.0f}",
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, whose columns but the first are aligned to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(divisor: int, out: Path | None) -> dict[str, str]:
    """The tables by name."""
    rows = [
        [name, *(c.text for c in found), *(f"{100 * c.silent:.0f}" for c in found[-2:])]
        for name, found in drawn(DRAWS // divisor)
    ]
    heads = ["values of runs", *(f"n = {n}" for n in NUMBERS), "wrong, unmarked, n = 20", "n = 30"]
    real_heads = ["variant, packets", *(f"{n} runs" for n in (3, 5, 10, 30)), "papers' rule, 3 runs", "5 runs"]
    points = [
        [f"{variant}, {packets:,}", *real(batches_of(variant, packets, max(runs // divisor, LEAST), out))]
        for (variant, packets), runs in POINTS.items()
    ]
    return {
        "drawn": table(heads, rows),
        "runs": table([*real_heads, "10 batches of one run", "marked correlated, trend"], points),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints or writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of draws and runs")
    parser.add_argument("--out", type=Path, help="folder in which batches are kept")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/studies.md")
    args = parser.parse_args(arguments)
    text = PAGE.read_text(encoding="utf-8")
    for name, found in tables(100 if args.quick else 1, args.out).items():
        print(f"{found}\n")
        text = re.sub(rf"(?s)(<!-- coverage: {name} -->\n).*?(<!-- end -->)", rf"\g<1>{found}\n\2", text)
    if args.write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
