"""Many runs at once are the runs one by one."""

import math
import statistics

import chappe
import polars as pl
import pytest
from chappe import study
from chappe.papers.elrakabawy2005.measures import MEASURES, estimates

POINTS = {hops: chappe.Scenario.chain(hops, stop="330 delivered", extends="ns2-2.35") for hops in (1, 2, 5)}
SEEDS = (3, 1, 2)


@pytest.mark.parametrize("jobs", [1, 4, None])
def test_points_and_seeds_stay_in_their_order(jobs: int | None) -> None:
    found = study.measure(POINTS, SEEDS, jobs=jobs)
    assert list(found) == list(POINTS)
    for hops, table in found.items():
        assert table["seed"].to_list() == list(SEEDS)
        for row in table.iter_rows(named=True):
            alone = chappe.run(POINTS[hops], row["seed"])
            assert (row["frames"], row["simulated_s"], row["end"]) == (alone.frames, alone.simulated_s, alone.end)
            assert row["queue_drops"] == alone.fates["dropped_queue_full"].sum()
            for m in alone.summary().iter_rows(named=True):
                name = m["measure"]
                assert row[name] == pytest.approx(m["mean"], nan_ok=True), name
                assert row[f"{name}_half_width"] == pytest.approx(m["half_width"], nan_ok=True), name


def test_a_mistake_in_one_run_ends_all() -> None:
    with pytest.raises(chappe.ScenarioError, match=r"run\.seed"):
        study.measure(POINTS, (1, -1), jobs=2)


def test_nothing_to_run() -> None:
    assert study.measure({}, SEEDS) == {}


def test_estimates_of_a_point_are_means_over_its_seeds() -> None:
    """Student's t for 95 % and 2 degrees of freedom is 4.303."""
    values = {m.ours: [1.0, 2.0, 4.0] for m in MEASURES} | {"goodput_bps": [100e3, 110e3, 150e3]}
    found = estimates(pl.DataFrame(values))
    goodput = found["goodput_kbps"]
    assert goodput.mean == pytest.approx(120)
    assert goodput.half_width() == pytest.approx(4.303 * statistics.stdev([100, 110, 150]) / math.sqrt(3), rel=1e-4)
    window = found["mean_window_pkts"]
    assert window.mean == pytest.approx(7 / 3)
    assert window.half_width() == pytest.approx(4.303 * statistics.stdev([1, 2, 4]) / math.sqrt(3), rel=1e-4)
