"""Analysis of studies: comparisons, rankings, searches, on synthetic values with known true values."""

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import chappe
import numpy as np
import pytest
from chappe import study
from chappe.measures import MEASURES, Direction, Measure, Totals
from chappe.stats import Estimate, quotient
from chappe.study._analysis import Sample, better, compare, rank
from chappe.study._axes import Item, Point
from chappe.study._search import GRID, Search, curve, searching, tied
from chappe.study._stop import UnknownError, precise
from command import contents
from scipy.stats import ttest_rel

CHAIN = chappe.Scenario.chain(2, stop="110 delivered", extends="ns2-2.35")
SEEDS = list(range(1, 11))


def means(values: Iterable[float]) -> Totals:
    """Totals with the mean of the values as measure: equal weights."""
    return Totals(np.array([(v, 1.0) for v in values]), quotient)


def sample(values: Iterable[float], **labels: object) -> Sample:
    totals = means(values)
    return Sample(labels, list(range(1, len(totals.rows) + 1)), totals)


# ---- comparisons ----


def test_a_comparison_is_of_pairs_with_the_same_seed() -> None:
    rng = np.random.default_rng(1)
    common = rng.normal(100, 20, 12)
    a, b = common + rng.normal(5, 2, 12), common + rng.normal(0, 2, 12)
    expected = ttest_rel(a, b)
    (row,) = compare([sample(a, variant="a"), sample(b, variant="b")], {"variant": "a"}, {"variant": "b"}, 0.95)
    low, high = expected.confidence_interval(0.95)
    assert (row["ci_low"], row["ci_high"], row["p"]) == pytest.approx((low, high, expected.pvalue))
    assert row["difference"] == pytest.approx(np.mean(a) - np.mean(b))
    assert row["relative"] == pytest.approx(np.mean(a) / np.mean(b) - 1)
    assert row["effect"] == pytest.approx(np.mean(a - b) / np.std(a - b, ddof=1))
    assert row["significant"]
    # The order of seeds is irrelevant; seeds of only one sample are dropped.
    mixed = Sample({"variant": "b"}, [*range(12, 0, -1), 99], means([*b[::-1], 1e9]))
    (again,) = compare([sample(a, variant="a"), mixed], {"variant": "a"}, {"variant": "b"}, 0.95)
    assert again["n"] == 12
    assert again["p"] == pytest.approx(row["p"])


def test_points_are_compared_at_equal_other_axes() -> None:
    samples = [
        sample([h + v + k * k for k in range(8)], hops=h, variant=v) for h in (1, 2, 3) for v in (10, 20) if h + v != 23
    ]
    rows = compare(samples, {"variant": 20}, {"variant": 10}, 0.95)
    assert [row["hops"] for row in rows] == [1, 2]
    assert [row["difference"] for row in rows] == pytest.approx([10, 10])
    assert all(row["significant"] for row in rows)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({}, {}, "same axes"),
        ({"variant": 1}, {"hops": 1}, "same axes"),
        ({"varian": 1}, {"varian": 2}, "'varian' is not an axis; the axes are hops, variant"),
        ({"variant": 1}, {"variant": 9}, "no point has variant = 9"),
    ],
)
def test_invalid_comparisons_are_rejected(a: dict[str, int], b: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare([sample([1, 2], hops=1, variant=1), sample([1, 2], hops=1, variant=2)], a, b, 0.95)


def test_one_seed_compares_batches() -> None:
    swept = chappe.sweep(CHAIN, {"tcp.receive_window": [1, 8]})
    (row,) = swept.compare("goodput_bps", {"tcp.receive_window": 8}, {"tcp.receive_window": 1}).to_dicts()
    runs = [chappe.run(CHAIN.with_settings({"tcp.receive_window": w})) for w in (8, 1)]
    welch = chappe.stats.difference(*(next(r._totals(["goodput_bps"]))[1].together.estimate for r in runs))
    assert (row["difference"], row["ci_low"], row["ci_high"]) == pytest.approx((welch.mean, *welch.interval()))


def test_a_study_compares_and_ranks(tmp_path: Path) -> None:
    swept = chappe.sweep(CHAIN, {"topology.hops": [1, 3], "tcp.receive_window": [1, 2, 8]}, seeds=8, out=tmp_path)
    rows = swept.compare("goodput_bps", {"tcp.receive_window": 2}, {"tcp.receive_window": 1}).to_dicts()
    assert [row["topology.hops"] for row in rows] == [1, 3]
    ranked = study.Study(tmp_path).rank("goodput_bps", "tcp.receive_window").to_dicts()
    assert [row["topology.hops"] for row in ranked] == [1, 1, 1, 3, 3, 3]
    assert ranked[0]["rank"] == ranked[3]["rank"] == 1
    with pytest.raises(ValueError, match="there is no measure 'goodput'"):
        swept.summary("goodput")


def test_all_values_of_an_axis_are_compared_with_a_baseline(tmp_path: Path) -> None:
    swept = chappe.sweep(CHAIN, {"topology.hops": [1, 3], "tcp.receive_window": [1, 2, 8]}, seeds=8, out=tmp_path)
    rows = swept.compare("goodput_bps", "tcp.receive_window", baseline=2).to_dicts()
    assert [(row["topology.hops"], row["tcp.receive_window"], row["baseline"]) for row in rows] == [
        (1, 1, 2),
        (1, 8, 2),
        (3, 1, 2),
        (3, 8, 2),
    ]
    # Numbers are those of pairs; the adjustment is over all rows.
    for window in (1, 8):
        pairs = swept.compare("goodput_bps", {"tcp.receive_window": window}, {"tcp.receive_window": 2}).to_dicts()
        for row, pair in zip([r for r in rows if r["tcp.receive_window"] == window], pairs, strict=True):
            for name in set(pair) - {"p_adjusted", "significant"}:
                assert row[name] == pair[name]
    assert [row["p_adjusted"] for row in rows] == pytest.approx(chappe.stats.holm([row["p"] for row in rows]))
    for baseline, message in ((3, "no point has tcp.receive_window = 3"), ([1], "no point has")):
        with pytest.raises(ValueError, match=message):
            swept.compare("goodput_bps", "tcp.receive_window", baseline=baseline)
    with pytest.raises(ValueError, match=r"'tcp\.windw' is not an axis"):
        swept.compare("goodput_bps", "tcp.windw", baseline=1)
    with pytest.raises(TypeError, match="give baseline="):
        swept.compare("goodput_bps", "tcp.receive_window")
    with pytest.raises(TypeError, match="belongs to the name of an axis"):
        swept.compare("goodput_bps", {"tcp.receive_window": 1}, {"tcp.receive_window": 2}, baseline=2)


def test_variants_are_compared_over_hops() -> None:
    """The first program of the page on studies."""
    base = chappe.Scenario({"extends": "ns2-2.35", "run.stop": "110 delivered", "tcp.receive_window": 16})
    axes = {"topology.hops": [2, 4, 8], "tcp.variant": ["newreno", "sack", "vegas"]}
    swept = chappe.sweep(base, axes, seeds=5)
    compared = swept.compare("goodput_bps", "tcp.variant", baseline="newreno")
    assert compared.columns[:3] == ["topology.hops", "tcp.variant", "baseline"]
    assert len(compared) == 3 * 2
    assert (compared["p_adjusted"] >= compared["p"]).all()


# ---- rankings ----


def test_settings_that_do_not_differ_share_a_rank() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 1, (4, 10))
    means = {"a": 50, "b": 50, "c": 20, "d": 90}
    samples = [sample(means[name] + x, name=name) for name, x in zip(means, noise, strict=True)]
    rows = rank(samples, ["name"], "maximize", 0.95)
    assert rows[0]["name"] == "d"
    assert {(r["name"], r["rank"]) for r in rows} == {("d", 1), ("a", 2), ("b", 2), ("c", 4)}
    lowest = rank(samples, ["name"], "minimize", 0.95)
    assert {(r["name"], r["rank"]) for r in lowest} == {("c", 1), ("a", 2), ("b", 2), ("d", 4)}


def test_rankings_rarely_separate_equal_settings() -> None:
    """At most 5 % of 400 rankings of six equal settings report a difference; 4 standard errors are 4.4 %."""
    rng = np.random.default_rng(3)
    wrong = sum(any(better([sample(x) for x in rng.normal(0, 1, (6, 8))], 1, 0.95)) for _ in range(400))
    assert wrong / 400 <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("measure", MEASURES, ids=[m.name for m in MEASURES])
def test_the_measure_has_a_better_end(measure: Measure, tmp_path: Path) -> None:
    """The better end in rankings, searches and study files, for every measure; an explicit end has priority."""
    airtime = {"run.airtime": True}
    swept = chappe.sweep(CHAIN.with_settings(airtime), {"topology.hops": [2, 6]}, seeds=3)
    file = tmp_path / "search.toml"
    file.write_text(
        '[scenario]\nrun.stop = "110 delivered"\nrun.airtime = true\n'
        f'[search]\nsetting = "tcp.receive_window"\nlow = 1\nhigh = 9\nmeasure = "{measure.name}"\n',
        encoding="utf-8",
    )
    for direction in get_args(Direction):
        rows = swept.rank(measure.name, "topology.hops", direction=direction)["estimate"].to_list()
        defined = [m for m in rows if m is not None]
        assert defined == sorted(defined, reverse=direction == "maximize")
        assert Search("tcp.receive_window", 1, 9, measure=measure.name, direction=direction).direction == direction
    if measure.direction is None:
        with pytest.raises(ValueError, match=f"{measure.name} has no better direction"):
            swept.rank(measure.name, "topology.hops")
        for refused in (
            lambda: chappe.search(
                CHAIN.with_settings(airtime), "tcp.receive_window", low=1, high=9, measure=measure.name
            ),
            lambda: study.load(file),
        ):
            with pytest.raises(study.StudyError, match=f"{measure.name} has no better direction"):
                refused()
    else:
        ranked = swept.rank(measure.name, "topology.hops")
        assert ranked.equals(swept.rank(measure.name, "topology.hops", direction=measure.direction))
        assert Search("tcp.receive_window", 1, 9, measure=measure.name).direction == measure.direction
        read = study.load(file).search
        assert read is not None
        assert read.direction == measure.direction


def test_less_delay_is_better() -> None:
    """A single packet takes longer over more hops."""
    swept = chappe.sweep(CHAIN.with_settings({"tcp.receive_window": 1}), {"topology.hops": [4, 2, 6]}, seeds=4)
    assert swept.rank("mean_delay_s", "topology.hops")["topology.hops"].to_list() == [2, 4, 6]
    for direction in ("smallest", ""):
        with pytest.raises(ValueError, match="must be 'maximize' or 'minimize'"):
            swept.rank("mean_delay_s", "topology.hops", direction=direction)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="direction is a name, not 1"):
        swept.rank("mean_delay_s", "topology.hops", direction=1)  # type: ignore[arg-type]


# ---- sequential studies ----


def measured_by(
    truth: Callable[[Item], float], noise: float
) -> tuple[Callable[[Sequence[Item]], list[Totals]], dict[str, Item]]:
    """Runs with synthetic values, equal for equal points and seeds."""
    executed: dict[str, Item] = {}

    def measured(items: Sequence[Item]) -> list[Totals]:
        unknown = [i for i in items if i.key not in executed]
        if unknown:
            raise UnknownError(unknown)
        # Random numbers depend on labels, not keys, so that new settings of scenarios do not change them.
        rng = [np.random.default_rng([i.seed, zlib.crc32(repr(i.point.labels).encode())]) for i in items]
        return [means([truth(i) + noise * r.normal()]) for i, r in zip(items, rng, strict=True)]

    return measured, executed


def carried_out(design: Callable[..., list[Item]], truth: Callable[[Item], float], noise: float) -> list[Item]:
    measured, executed = measured_by(truth, noise)
    while True:
        try:
            return design(measured)
        except UnknownError as e:
            executed.update({i.key: i for i in e.items})


def test_precise_intervals_cover_the_truth() -> None:
    """Nominal coverage is 95 %; sequential stopping costs a little, but coverage stays above 88 %."""
    rule = study.Precision("goodput_bps", within=0.05, max_seeds=200)
    inside, sequences = 0, 600
    for n in range(sequences):
        point = Point({"n": n}, CHAIN.with_settings({"tcp.receive_window": n + 1}))
        items = carried_out(precise([point], SEEDS[:5], rule), lambda _: 100.0, 10.0)
        measured, executed = measured_by(lambda _: 100.0, 10.0)
        executed.update({i.key: i for i in items})
        e = Estimate.of([float(t.each[0]) for t in measured(items)])
        assert e.half_width() <= 5.0 * e.mean / 100
        inside += e.interval()[0] <= 100 <= e.interval()[1]
    assert inside / sequences >= 0.88


def window(item: Item) -> int:
    return int(item.point.labels["tcp.receive_window"])


def searched(search: Search, truth: Callable[[Item], float], noise: float) -> dict[int | str, list[float]]:
    points, seeds = [Point({}, CHAIN)], SEEDS
    items = carried_out(searching(points, seeds, search), truth, noise)
    measured, executed = measured_by(truth, noise)
    executed.update({i.key: i for i in items})
    values: dict[int | str, list[float]] = {}
    for i, v in zip(items, measured(items), strict=True):
        values.setdefault(i.point.labels[search.setting], []).append(float(v.each[0]))
    return values


@pytest.mark.parametrize("best", range(1, 101, 9))
def test_a_search_without_noise_finds_the_best(best: int) -> None:
    search = Search("tcp.receive_window", 1, 100)
    results = searched(search, lambda i: -((window(i) - best) ** 2) + 1e-6 * i.seed, 0.0)
    assert max(results, key=lambda v: np.mean(results[v])) == best
    assert {v for v in (best - 1, best, best + 1) if 1 <= v <= 100} <= set(results)
    assert len(results) <= search.max_points + GRID


def distance(best: int, item: Item) -> float:
    """Delay of ten, plus a tenth per step from the best window."""
    return 10 + abs(window(item) - best) / 10


def test_a_search_with_noise_holds_the_best() -> None:
    """The true best is tied with the found best in most of 30 searches with noise of 10 %."""
    hits = 0
    for n in range(30):
        best = 3 + 3 * n
        search = Search("tcp.receive_window", 1, 100, direction="minimize")
        results = searched(search, partial(distance, best), 1.0)
        samples = [sample(v, **{"tcp.receive_window": w}) for w, v in sorted(results.items())]
        rows = [row for row in curve(samples, "tcp.receive_window", "minimize") if row["is_tied"]]
        hits += rows[0]["tcp.receive_window"] - 3 <= best <= rows[-1]["tcp.receive_window"] + 3
    assert hits >= 27


def test_a_search_with_a_unit() -> None:
    search = Search("tcp.rto.min", "20.5 ms", "60.5 ms", resolution="0.5 ms", direction="minimize")

    def truth(i: Item) -> float:
        return (float(str(i.point.labels["tcp.rto.min"]).split()[0]) - 34.5) ** 2 + 1e-6 * i.seed

    results = searched(search, truth, 0.0)
    assert min(results, key=lambda v: np.mean(results[v])) == "34.5 ms"
    assert {"20.5 ms", "60.5 ms", "34 ms", "35 ms"} <= set(results)


def test_the_best_value_and_its_ties() -> None:
    steps = [sample(np.array([0.0, 0.1, -0.1]) * k + v) for k, v in ((1, 1), (2, 5), (3, 5.01), (2, 5), (1, 2), (3, 5))]
    assert tied(steps, 1) == (1, 3)
    assert tied(steps, -1) == (0, 0)


def test_a_search_is_stored_and_continues(tmp_path: Path) -> None:
    axes = {"topology.hops": [3, 5]}
    searched_study = chappe.search(
        CHAIN, "tcp.receive_window", low=1, high=12, axes=axes, seeds=4, out=tmp_path / "a", jobs=2
    )
    rows = searched_study.curve().to_dicts()
    for hops in (3, 5):
        of_hops = [row for row in rows if row["topology.hops"] == hops]
        assert [row["tcp.receive_window"] for row in of_hops] == sorted(row["tcp.receive_window"] for row in of_hops)
        (best,) = (row for row in of_hops if row["is_best"])
        assert best["estimate"] == max(row["estimate"] for row in of_hops)
        assert best["is_tied"]
    assert len(searched_study.runs) == 4 * len(rows)
    chappe.search(CHAIN, "tcp.receive_window", low=1, high=12, axes=axes, seeds=4, out=tmp_path / "b", jobs=1)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
