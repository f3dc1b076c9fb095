"""Maps that the seed of a run draws: `topology.seed = "run"`."""

import math
from pathlib import Path
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli
from chappe.measures import Totals
from chappe.stats import quotient
from chappe.study.analysis.analysis import Sample, compare, pooled

MAPS: dict[str, Any] = {
    "extends": "ns2-2.35",
    "run.stop": "10 s",
    "topology": {"kind": "random", "nodes": 12, "width": "500 m", "height": "500 m", "seed": "run"},
    "traffic.flows": 2,
}
"""A random map of each seed."""


def test_each_seed_has_a_map_of_its_own() -> None:
    """Places and ends of flows are drawn anew for each seed, alike at all points, so that runs are pairs."""
    study = chappe.sweep(MAPS, {"tcp.variant": ["newreno", "vegas"]}, seeds=3)
    for table, columns in (("nodes", ("x_m", "y_m")), ("flows", ("src", "dst"))):
        drawn = study.table(table).group_by("tcp.variant", "seed", maintain_order=True).agg(*columns)
        maps = [str(row) for row in drawn.sort("tcp.variant", "seed").select(columns).rows()]
        assert maps[:3] == maps[3:]
        assert len(set(maps)) == 3
    compared = study.compare("goodput_bps", "tcp.variant", baseline="newreno")
    assert compared["test"].to_list() == ["paired"]


def test_a_map_of_a_number_is_that_of_all_seeds() -> None:
    study = chappe.sweep({**MAPS, "topology": {**MAPS["topology"], "seed": 7}}, seeds=2)
    places = study.table("nodes").group_by("seed", maintain_order=True).agg("x_m")["x_m"].to_list()
    assert places[0] == places[1]


POOLED = {**MAPS, "run.stop": "5 s", "topology": {**MAPS["topology"], "seed": 1}}
AXES = {"topology.seed": [1, 2, 3], "tcp.variant": ["newreno", "vegas"]}


def test_pooled_maps_are_the_units() -> None:
    """The measure is that of all runs together; each map has one row of totals, whatever its number of seeds."""
    each = chappe.sweep(POOLED, AXES, seeds=2)
    study = chappe.sweep(POOLED, AXES, seeds=2, pool="topology.seed", measures={"n": "sum(flows.packets_delivered)"})
    assert study.pool == ["topology.seed"]
    assert study.runs.drop("n").equals(each.runs)
    summary = study.summary("goodput_bps")
    assert summary.columns[:2] == ["tcp.variant", "measure"]
    assert summary.select("n", "of").rows() == [(3, "topology.seed")] * 2
    totals = study.table("totals").filter(measure="goodput_bps").group_by("tcp.variant", maintain_order=True)
    together = totals.agg(pl.col("numerator").sum() / pl.col("denominator").sum())
    assert summary["estimate"].to_list() == pytest.approx(together["numerator"].to_list())
    compared = study.compare("goodput_bps", "tcp.variant", baseline="newreno").row(0, named=True)
    assert (compared["test"], compared["n"]) == ("paired", 3)
    assert study.rank("mean_delay_s", "tcp.variant")["n"].to_list() == [3, 3]
    delivered = study.runs.group_by("tcp.variant", maintain_order=True).agg(pl.col("n").mean())
    assert study.summary("n")["estimate"].to_list() == pytest.approx(delivered["n"].to_list())
    with pytest.raises(ValueError, match=r"'topology\.seed' is not an axis"):
        study.compare("goodput_bps", "topology.seed", baseline=1)


def test_one_seed_on_each_map_is_a_sample() -> None:
    study = chappe.sweep(POOLED, AXES, seeds=1, pool=["topology.seed"])
    assert study.summary("goodput_bps")["n"].to_list() == [3, 3]
    assert study.compare("goodput_bps", "tcp.variant", baseline="newreno")["test"].item() == "paired"
    assert study.warnings is not None


def test_pools_that_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(chappe.StudyError, match=r"`pool` has 'topology\.sed', which is not an axis"):
        chappe.sweep(POOLED, AXES, seeds=2, pool="topology.sed")
    with pytest.raises(chappe.StudyError, match="a study has `pool` or `precision`, not both"):
        chappe.sweep(POOLED, AXES, seeds=2, pool="topology.seed", precision=0.5, max_seeds=4)
    (tmp_path / "maps.toml").write_text(chappe.Scenario(POOLED).to_toml(), encoding="utf-8")
    lines = [
        'scenario = "maps.toml"',
        "seeds = 1",
        'baseline = { tcp.variant = "newreno" }',
        'pool = ["topology.seed"]',
    ]
    axes = ["[axes]", "topology.seed = [1, 2, 3]", 'tcp.variant = ["newreno", "vegas"]']
    file = tmp_path / "study.toml"
    file.write_text("\n".join([*lines, *axes]), encoding="utf-8")
    assert cli.main(["sweep", str(file), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "all topology.seed" in printed
    assert "compared with tcp.variant = newreno" in printed
    assert cli.main(["rank", str(tmp_path / "out")]) == 0
    file.write_text("\n".join([*lines[:3], 'pool = ["tcp.variant"]', *axes]), encoding="utf-8")
    assert cli.main(["sweep", str(file)]) == 2
    assert "`baseline` has `tcp.variant`, over whose values `pool` pools" in capsys.readouterr().err
    file.write_text("\n".join([*lines[:2], "pool = 3", *axes]), encoding="utf-8")
    assert cli.main(["sweep", str(file)]) == 2
    assert "study.toml:3" in capsys.readouterr().err


def drawn(rng: np.random.Generator, maps: int, seeds: int, gain: float) -> list[Sample]:
    """Runs of two settings on the same maps: goodputs differ more between maps than between the runs on a map."""
    samples = []
    levels = rng.lognormal(0.0, 0.5, maps)
    for variant, factor in (("a", 1.0), ("b", gain)):
        for number, level in enumerate(levels):
            bits = factor * level * rng.lognormal(0.0, 0.1, seeds)
            rows = np.column_stack([bits, np.ones(seeds)])
            labels = {"topology.seed": number, "variant": variant}
            samples.append(Sample(labels, list(range(seeds)), Totals(rows, quotient)))
    return samples


def test_intervals_of_pooled_maps_cover() -> None:
    """Over drawn maps 95 % intervals cover the mean of all maps; those of all runs as one sample do not."""
    true = math.exp(0.5**2 / 2 + 0.1**2 / 2)
    studies, hits, of_runs = 400, 0, 0
    for seed in range(studies):
        samples = [s for s in drawn(np.random.default_rng(seed), 12, 5, 1.0) if s.labels["variant"] == "a"]
        (of_maps,) = pooled(samples, ["topology.seed"])
        low, high = of_maps.estimate.interval()
        hits += low <= true <= high
        alone = Totals(np.concatenate([s.totals.rows for s in samples]), quotient)
        low, high = alone.pooled.interval()
        of_runs += low <= true <= high
    # Three standard errors of a share of 95 %.
    assert abs(hits / studies - 0.95) < 3 * math.sqrt(0.95 * 0.05 / studies)
    assert of_runs / studies < 0.75


def test_comparisons_pair_maps() -> None:
    """Of equal settings 5 % differ significantly; 10 % of gain is seen although maps differ by 50 %."""
    studies, wrong, found = 400, 0, 0
    for seed in range(studies):
        for gain in (1.0, 1.1):
            samples = pooled(drawn(np.random.default_rng(seed), 12, 5, gain), ["topology.seed"])
            (row,) = compare(samples, {"variant": "b"}, {"variant": "a"}, 0.95)
            assert row["test"] == "paired"
            wrong += gain == 1.0 and row["significant"]
            found += gain > 1.0 and row["significant"]
    assert wrong / studies < 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert found / studies > 0.5
