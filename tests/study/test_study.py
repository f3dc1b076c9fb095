"""Parallel runs equal single runs."""

import chappe
import pytest
from chappe import study
from chappe.measures import column

POINTS = {hops: chappe.Scenario.chain(hops, stop="330 delivered", extends="ns2-2.35") for hops in (1, 2, 5)}
SEEDS = (3, 1, 2)


@pytest.mark.parametrize("jobs", [1, 4, None])
def test_points_and_seeds_stay_in_their_order(jobs: int | None) -> None:
    tables = study.measure(POINTS, SEEDS, jobs=jobs)
    assert list(tables) == list(POINTS)
    for hops, table in tables.items():
        assert table["seed"].to_list() == list(SEEDS)
        for row in table.iter_rows(named=True):
            alone = chappe.run(POINTS[hops], seed=row["seed"])
            assert (row["frames_sent"], row["simulated_s"], row["end"]) == (
                alone.frames_sent,
                alone.simulated_s,
                alone.end,
            )
            assert row["queue_drops"] == alone.packet_outcomes["dropped_queue_full"].sum()
            for m in alone.summary().iter_rows(named=True):
                name = m["measure"]
                assert row[name] == pytest.approx(m["estimate"]), name
                for end in ("ci_low", "ci_high"):
                    assert row[column(name, end)] == pytest.approx(m[end]), name


def test_invalid_seeds_are_reported_before_any_run() -> None:
    with pytest.raises(study.StudyError, match="`seeds` cannot have -1"):
        study.measure(POINTS, (1, -1), jobs=2)


def test_nothing_to_run() -> None:
    assert study.measure({}, SEEDS) == {}
