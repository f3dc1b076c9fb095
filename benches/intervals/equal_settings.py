"""Equal settings that studies call different, and what stopping early costs.

``python benches/intervals/equal_settings.py`` draws studies in which no setting differs, and counts
those in which any two are called different: by ``compare`` over ten rows, by ``rank`` over ten combinations of three
settings (ranks, and settings that cannot be the best), and by a search over 32 values. Runs are normal, skewed, or
collapse now and then. Then it draws studies that stop at a precision, also from real runs of NewReno and Vegas over 8
hops, and prints how many of their intervals contain the true value. Settings of equal means and other shapes are
compared, too: how often they differ, by Welch's test and by ``compare``, and how often without a doubt. ``--quick``
draws and runs a twentieth; ``--write`` puts the tables into docs/studies.md, ``--only NAME`` one of them; ``--search``
makes the documented search of the receiver's window with 16 sets of seeds.
"""

import argparse
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import chappe
import numpy as np
import polars as pl
from chappe.measures import Totals
from chappe.stats import Share, difference, quotient, student_p
from chappe.stats.doubts import of_runs
from chappe.study import Item, Point, Precision
from chappe.study.analysis.analysis import Sample, compare, contrast, rank
from chappe.study.design.explore import explore
from chappe.study.design.stop import precise
from numpy.typing import NDArray

PAGE = Path(__file__).parents[2] / "docs" / "studies.md"
BEGIN, END = "<!-- {}: benches/intervals/equal_settings.py --write -->\n", "<!-- end of {} -->"
"""Lines of the page around a table, by its name."""

STUDIES = 400
"""Studies of each kind: a rate of 5 % has a standard error of 1.1 %."""

PAIRS = 2000
"""Comparisons of each pair of shapes: a rate of 7 % has a standard error of 0.6 %."""

REAL = 8
"""Real runs of a TCP variant for each study that draws from them."""

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
"""Totals of some runs: two columns."""


def _weightless(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([values, np.ones(len(values))], axis=1)


def _stalls(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Equally many packets; three runs in ten stall for about as long as they take."""
    time = 1 + 0.05 * rng.random(n) + (rng.random(n) < 0.3) * rng.exponential(1, n)
    return np.stack([np.ones(n), time], axis=1)


DRAWN: dict[str, tuple[Draw, float]] = {
    "normal, deviation 10 %": (lambda rng, n: _weightless(rng.normal(1, 0.1, n)), 1.0),
    "gamma, deviation 30 %": (lambda rng, n: _weightless(rng.gamma(11.1, 1 / 11.1, n)), 1.0),
    "lognormal, sigma 0.5": (lambda rng, n: _weightless(rng.lognormal(0, 0.5, n)), math.exp(0.125)),
    "stalls in 30 % of runs": (_stalls, 1 / (1 + 0.025 + 0.3)),
    "collapse of 10 % of runs": (
        lambda rng, n: _weightless(np.where(rng.random(n) < 0.1, 0.4, 1.0) * (1 + 0.01 * rng.normal(size=n))),
        0.94,
    ),
}
"""Runs by what they do, with the true value of their ratio of totals."""


def _even(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return _weightless(rng.normal(1, 0.01, n))


def _of_two(rng: np.random.Generator, n: int, share: float, rare: float) -> NDArray[np.float64]:
    """Runs of which a share has a rare level, and the others the one that makes the mean 1."""
    level = np.where(rng.random(n) < share, rare, (1 - share * rare) / (1 - share))
    return _weightless(level * rng.normal(1, 0.01, n))


SHAPES: dict[str, tuple[Draw, Draw]] = {
    "30 % of runs stall": (_even, lambda rng, n: _of_two(rng, n, 0.3, 0.1)),
    "lognormal, sigma 1": (_even, lambda rng, n: _weightless(rng.lognormal(-0.5, 1, n))),
    "20 % of runs at a sixth": (_even, lambda rng, n: _of_two(rng, n, 0.2, 0.2)),
    "20 % of runs sixfold": (_even, lambda rng, n: _of_two(rng, n, 0.2, 3.0)),
    "70 % of runs have none": (
        _even,
        lambda rng, n: _weightless(np.where(rng.random(n) < 0.7, 0.0, rng.exponential(1 / 0.3, n))),
    ),
    "lognormal and stalls": (
        lambda rng, n: _weightless(rng.lognormal(-0.5, 1, n)),
        lambda rng, n: _of_two(rng, n, 0.3, 0.1),
    ),
}
"""Pairs of settings with the same mean; the first is even, with a deviation of 1 %, unless named."""


def real(variant: str, runs: int) -> tuple[Draw, float]:
    """Draws from runs of 1,100 packets over 8 hops, and the true value: that of all of them together."""
    scenario = chappe.Scenario.chain(8, {"tcp.variant": variant}, stop="1100 delivered", extends="ns2-2.35")
    batches = chappe.sweep(scenario, seeds=runs).table("batches").filter("used")
    bits, time = 8.0 * pl.col("bytes_delivered"), pl.col("ended_at_s") - pl.col("started_at_s")
    totals = batches.group_by("seed").agg(bits.sum().alias("over"), time.sum().alias("under")).select("over", "under")
    rows = totals.to_numpy()
    return lambda rng, n: rng.choice(rows, n), float(rows[:, 0].sum() / rows[:, 1].sum())


def sample(rows: NDArray[np.float64], **labels: object) -> Sample:
    """Runs of a setting, with seeds from 1 on."""
    return Sample(dict(labels), list(range(1, len(rows) + 1)), Totals(rows, quotient))


def by_compare(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Returns true if ten rows of equal settings have a significant one."""
    samples = [sample(draw(rng, n), hops=h, variant=v) for h in range(10) for v in range(2)]
    return any(row["significant"] for row in compare(samples, {"variant": 0}, {"variant": 1}, 0.95))


def by_rank(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Returns true if a ranking of three equal settings at ten combinations has any but the first rank."""
    samples = [sample(draw(rng, n), hops=h, variant=v) for h in range(10) for v in range(3)]
    return any(row["rank"] > 1 or not row["can_be_best"] for row in rank(samples, ["variant"], "maximize", 0.95))


def by_search(rng: np.random.Generator, draw: Draw, n: int) -> bool:
    """Returns true if a search among equal values takes any for worse."""
    runs: dict[int, NDArray[np.float64]] = {}

    def sampled(wanted: Mapping[int, int]) -> dict[int, Sample]:
        for step, many in wanted.items():
            own = runs.setdefault(step, np.empty((0, 2)))
            runs[step] = np.concatenate([own, draw(rng, many - len(own))])
        return {step: sample(runs[step][:many]) for step, many in wanted.items()}

    found = explore(31, n, sampled, sign=1, max_points=40, max_runs=300)
    return found.tied != (0, 31)


class Apart(NamedTuple):
    """Shares of comparisons of equal means that call them different."""

    welch: float
    """By Welch's test alone."""
    told: float
    """By ``compare``."""
    unmarked: float
    """By ``compare``, without a doubt."""


def apart(shapes: tuple[Draw, Draw], n: int, pairs: int) -> Apart:
    """Compares settings of two shapes, with n runs each, as a row of ``compare`` does."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(pairs):
        a, b = (sample(draw(rng, n)) for draw in shapes)
        told = contrast(a, b).comparison
        is_told, doubt = told.p < 0.05, of_runs(n, 0, told.difference)
        welch = student_p(difference(a.estimate, b.estimate)) < 0.05
        found.append((welch, is_told, is_told and doubt is None))
    return Apart(*np.mean(found, axis=0).tolist())


SIZES = (3, 5, 10, 14, 20, 30)
"""Runs of each of two settings of other shapes."""

RUNS = (3, 5, 10)
"""Runs of each setting; of a search in its first round."""

WAYS = {"compare, 10 rows": by_compare, "rank, 10 x 3": by_rank, "search, 32 values": by_search}


class Stopped(NamedTuple):
    """Studies that stopped at a precision.

    Attributes:
        covered: Share of intervals that hold the true value.
        at_once: Share of intervals of the first runs only, all of them, that hold it.
        bias: Mean of the estimates by the true value, less 1.
        runs: Mean number of runs.
    """

    covered: Share
    at_once: Share
    bias: float
    runs: float


def stopped(draw: Draw, truth: float, first: int, within: float, studies: int, seed: int = 1) -> Stopped:
    """Studies that stop at a precision, by the rule of the package."""
    rng = np.random.default_rng(seed)
    rule = Precision("goodput_bps", within, max_seeds=200, min_seeds=first)
    point = Point({}, chappe.Scenario.chain(2, stop="110 delivered"))
    held, held_at_once, estimates, many = [], [], [], []
    for _ in range(studies):
        rows = draw(rng, 200)

        def measured(items: list[Item], rows: NDArray[np.float64] = rows) -> list[Totals | None]:
            return [Totals(rows[i.seed - 1 : i.seed], quotient) for i in items]

        n = len(precise([point], [1, 2], rule)(measured))
        for size, kept in ((n, held), (first, held_at_once)):
            low, high = Totals.of("goodput_bps", rows[:size], runs=True).pooled.interval()
            kept.append(float(low <= truth <= high))
        estimates.append(Totals(rows[:n], quotient).together.value)
        many.append(n)
    return Stopped(_share(held), _share(held_at_once), float(np.mean(estimates)) / truth - 1, float(np.mean(many)))


def _share(held: list[float]) -> Share:
    share = Share.of(held)
    assert isinstance(share, Share)
    return share


def equal_table(studies: int) -> list[str]:
    """Rows of the table of equal settings."""
    rows = [f"| runs | {' | '.join(WAYS)} |", "|---|---|---|---|"]
    for name, (draw, _) in DRAWN.items():
        cells = [name]
        for differs in WAYS.values():
            rng = np.random.default_rng(1)
            shares = [float(np.mean([differs(rng, draw, n) for _ in range(studies)])) for n in RUNS]
            cells.append(", ".join(f"{100 * share:.1f}" for share in shares) + " %")
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def shapes_table(pairs: int) -> list[str]:
    """Rows of the table of equal means of other shapes."""
    rows = [f"| compared with even runs | {' | '.join(f'n = {n}' for n in SIZES)} | unmarked, n = 14 | 20 | 30 |"]
    rows.append(f"|---|{'---:|' * (len(SIZES) + 3)}")
    for name, shapes in SHAPES.items():
        found = {n: apart(shapes, n, pairs) for n in SIZES}
        cells = [name, *(f"{100 * a.welch:.0f} → {100 * a.told:.0f}" for a in found.values())]
        cells += [f"{100 * found[n].unmarked:.0f}" for n in (14, 20, 30)]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def stopping_table(studies: int) -> list[str]:
    """Rows of the table of docs/studies.md."""
    rows = ["| runs | from | stopped | first runs only | bias | mean number |", "|---|---:|---:|---:|---:|---:|"]
    vegas, newreno = (real(variant, REAL * studies) for variant in ("vegas", "newreno"))
    kinds = {**DRAWN, "NewReno over 8 hops": newreno, "Vegas over 8 hops": vegas}
    for name, (draw, truth) in kinds.items():
        for first in (5, 10):
            s = stopped(draw, truth, first, 0.05, studies)
            rows.append(
                f"| {name} | {first} | {s.covered.mean:.1%} | {s.at_once.mean:.1%} | {s.bias:+.1%} | {s.runs:.0f} |"
            )
    return [re.sub(r"(\d)%", r"\1 %", row) for row in rows]


def searches() -> None:
    """Makes the documented search with 16 sets of seeds, and compares it with fresh runs of all values."""
    axes = {"run.stop": ["220 delivered"]}
    chain = chappe.Scenario.load(Path(__file__).parents[2] / "scenarios" / "chain.toml")
    swept = chappe.sweep(chain, {**axes, "tcp.receive_window": list(range(1, 33))}, seeds=range(5000, 5060))
    truth = {row["tcp.receive_window"]: row["estimate"] for row in swept.summary().iter_rows(named=True)}
    print(f"best of 60 runs each: {max(truth, key=truth.__getitem__)}")
    for k in range(16):
        seeds = range(1000 + 3 * k, 1003 + 3 * k)
        rows = chappe.search(chain, "tcp.receive_window", low=1, high=32, axes=axes, seeds=seeds).curve()
        (best,) = rows.filter("is_best").to_dicts()
        tied = rows.filter("is_tied")["tcp.receive_window"].to_list()
        print(
            f"best {best['tcp.receive_window']:>2}: {best['estimate'] / 1e3:.1f} kbit/s from {best['n']} fresh runs, "
            f"truth {truth[best['tcp.receive_window']] / 1e3:.1f}; {tied[0]} to {tied[-1]} of {len(rows)} values tied; "
            f"{rows['n'].sum()} runs, end: {best['end']}"
        )


def main(arguments: list[str] | None = None) -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the studies")
    parser.add_argument("--write", action="store_true", help="write the table into docs/studies.md")
    parser.add_argument("--only", metavar="NAME", help="one table: `equal settings`, `other shapes` or `stopping`")
    parser.add_argument("--search", action="store_true", help="make the documented search with 16 sets of seeds")
    args = parser.parse_args(arguments)
    if args.search:
        searches()
        return
    part = 20 if args.quick else 1
    studies = STUDIES // part
    for name, what, table in (
        (
            "equal settings",
            f"studies of equal settings, of {studies}, that call any two different, with 3, 5 and 10 runs",
            equal_table,
        ),
        (
            "other shapes",
            "comparisons of equal means of other shapes that differ [%]: by Welch's test → by compare; unmarked",
            lambda _: shapes_table(PAIRS // part),
        ),
        ("stopping", "intervals that hold the true value, of studies that stop within 5 %", stopping_table),
    ):
        if args.only not in (None, name):
            continue
        rows = table(studies)
        print(f"{what}:", *rows, sep="\n")
        if args.write:
            write(name, rows)


def write(name: str, rows: list[str]) -> None:
    """Puts a table into the page."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN.format(name))
    _, end, after = rest.partition(END.format(name))
    PAGE.write_text(f"{before}{begin}\n" + "\n".join(rows) + f"\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
