"""Estimates of a point from the runs of its seeds."""

import math
import statistics

import polars as pl
import pytest
from chappe_papers.elrakabawy2005.design import MEASURES
from chappe_papers.runs.measured import estimates, weighted_mean


def test_estimates_of_a_point_are_totals_of_its_seeds() -> None:
    """Three runs of 1 Mbit each take 10, 9 and 5 s: 3 Mbit in 24 s. Student's t of 2 degrees of freedom is 4.303."""
    times = [10.0, 9.0, 5.0]
    values = {"goodput_bps": [1e6 / t for t in times], "goodput_bps_over": [1e6] * 3, "goodput_bps_under": times}
    values |= {"delay_min_s": [1.0, 2.0, 4.0]}
    results = estimates(pl.DataFrame(values), MEASURES)
    goodput = results["goodput_bps"]
    assert goodput.mean == pytest.approx(125_000)
    pseudo = [3 * 125e3 - 2 * 2e6 / (24 - t) for t in times]
    assert goodput.half_width() == pytest.approx(4.303 * statistics.stdev(pseudo) / math.sqrt(3), rel=1e-4)
    delay = results["delay_min_s"]
    assert delay.mean == pytest.approx(7 / 3)
    assert delay.half_width() == pytest.approx(4.303 * statistics.stdev([1, 2, 4]) / math.sqrt(3), rel=1e-4)
    # Every place has equal weight.
    places = estimates(pl.DataFrame(values), MEASURES, places=True)["goodput_bps"]
    assert places.mean == pytest.approx(statistics.fmean(1e6 / t for t in times))


def test_a_mean_of_means_weighs_known_values() -> None:
    flows = pl.DataFrame({"mean_rtt_s": [1.0, 4.0, math.nan, None], "rtt_samples": [3, 1, 0, 0]})
    assert weighted_mean(flows, "mean_rtt_s", "rtt_samples") == pytest.approx((3 * 1.0 + 1 * 4.0) / 4)
    assert math.isnan(weighted_mean(flows.tail(2), "mean_rtt_s", "rtt_samples"))
