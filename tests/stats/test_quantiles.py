"""Lists and tables have a fixed order, independent of polars and of the order in which runs finish."""

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import study
from chappe.errors import RunError
from chappe.results.budgets import LOSSES, explain
from chappe.study.design.axes import Item
from chappe.study.execution import sweep as run
from chappe.study.execution import threads as work

SHUFFLES = range(8)


def shuffled(table: pl.DataFrame, drawn: random.Random) -> pl.DataFrame:
    rows = list(range(len(table)))
    drawn.shuffle(rows)
    return table[rows]


class Groups:
    """Groups of rows in random order."""

    def __init__(self, groups: Any, drawn: random.Random):
        self._groups = groups
        self._drawn = drawn

    def agg(self, *columns: Any, **named: Any) -> pl.DataFrame:
        return shuffled(self._groups.agg(*columns, **named), self._drawn)


def disorder(patch: pytest.MonkeyPatch, seed: int) -> None:
    """Shuffles rows wherever polars guarantees no order."""
    drawn = random.Random(seed)
    join, unique, sort, group_by = (getattr(pl.DataFrame, name) for name in ("join", "unique", "sort", "group_by"))

    def any_join(self: pl.DataFrame, *arguments: Any, maintain_order: str | None = None, **how: Any) -> pl.DataFrame:
        joined = join(self, *arguments, maintain_order=maintain_order, **how)
        return joined if maintain_order not in (None, "none") else shuffled(joined, drawn)

    def any_unique(self: pl.DataFrame, *columns: Any, maintain_order: bool = False, **how: Any) -> pl.DataFrame:
        joined = unique(self, *columns, maintain_order=maintain_order, **how)
        return joined if maintain_order else shuffled(joined, drawn)

    def any_sort(self: pl.DataFrame, *columns: Any, maintain_order: bool = False, **how: Any) -> Any:
        return sort(self if maintain_order else shuffled(self, drawn), *columns, maintain_order=True, **how)

    def any_groups(self: pl.DataFrame, *columns: Any, maintain_order: bool = False, **named: Any) -> Any:
        joined = group_by(self, *columns, maintain_order=True, **named)
        return joined if maintain_order else Groups(joined, drawn)

    for name, other in (("join", any_join), ("unique", any_unique), ("sort", any_sort), ("group_by", any_groups)):
        patch.setattr(pl.DataFrame, name, other)


def repeated(call: Callable[[], object]) -> list[object]:
    """Results of a call with several shufflings, and without."""
    results = [call()]
    for seed in SHUFFLES:
        with pytest.MonkeyPatch.context() as patch:
            disorder(patch, seed)
            results.append(call())
    return results


def several() -> chappe.Scenario:
    """Flows with many kinds of losses; flows from 2 on deliver nothing."""
    late = [{"src": n % 5, "dst": 5, "start": "40 s"} for n in range(3)]
    flows = [{"dst": 5}, {"src": 5, "dst": 0}, *late]
    rules = {"wlan.rts_threshold": "always", "tcp.ack_policy": "every"}
    return chappe.Scenario({"topology.hops": 5, "run.stop": "20 s", "flow": flows, **rules})


CASES = {
    "others": {"flow.0.start": "41 s", "flow.3.start": "0 s"},
    "last": {"flow.4.start": "0 s", "flow.1.start": "50 s"},
    "most": {"flow.0.start": "30 s", "flow.2.start": "0 s", "flow.3.start": "0 s"},
}


@pytest.fixture(scope="module", params=[True, False], ids=["finished", "unfinished"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("study")
    chappe.sweep(several(), seeds=[3, 1, 2], cases=CASES, out=out)
    if not request.param:
        (out / "runs.parquet").unlink()
    return out


def test_study_output_has_a_fixed_order(folder: Path) -> None:
    def said() -> object:
        opened = chappe.Study(folder)
        a, b = {"case": "last"}, {"case": "most"}
        tables = [
            opened.runs,
            *map(opened.table, ("flows", "packet_outcomes", "run_info")),
            opened.summary(["goodput_bps"]),
        ]
        tables += [opened.compare("goodput_bps", a, b), opened.rank("goodput_bps", "case")]
        return opened.doubts(["goodput_bps", "mean_rtt_s"]), [t.write_ndjson() for t in tables]

    first, *rest = repeated(said)
    assert all(other == first for other in rest)


def test_silent_flows_are_reported_in_order(folder: Path) -> None:
    *named, more = [text for text in chappe.Study(folder).doubts() if "nothing" in text]
    assert [text.partition(" (")[0] for text in named] == [
        f"flow {flow} delivered nothing in {runs} of 9 runs" for flow, runs in ((0, 6), (1, 3), (2, 6))
    ]
    assert "(with case = others, seed = 3: " in named[0]
    assert more == "2 more flows delivered nothing in some runs"


def test_run_output_has_a_fixed_order() -> None:
    results = chappe.run(several().with_settings({"run.airtime": True}), seed=1)
    # Equal numbers of packets by cause leave the order open.
    equal = results.packet_outcomes.with_columns(pl.lit(1).alias(name) for name in LOSSES)

    def said() -> object:
        why = explain(results.flows, equal, results.airtime, results.nodes)
        return chappe.run(several(), seed=1).to_dict(), why.to_dict(), repr(why)

    first, *rest = repeated(said)
    assert all(repr(other) == repr(first) for other in rest)


def in_any_order(seed: int) -> Callable[[int | None], work.Workers]:
    """Workers that finish runs in any order; runs with even seeds fail."""

    def workers(_: int | None) -> work.Workers:
        def make(items: Sequence[Item], take: Callable[[Any], object], progress: Callable[[float], object]) -> None:
            progress(0.0)
            for item in random.Random(seed).sample(items, len(items)):
                take(work.execute(item) if item.seed % 2 else work.Failed(item, RuntimeError(f"of seed {item.seed}")))

        return make

    return workers


def test_failed_runs_are_reported_in_the_order_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")
    # The function `search` hides the module of that name.
    measure = import_module("chappe.study.execution.measure")
    for seed in SHUFFLES:
        monkeypatch.setattr(run, "threads", in_any_order(seed))
        monkeypatch.setattr(measure, "threads", in_any_order(seed))
        swept = chappe.sweep(scenario, {"tcp.receive_window": [2, 4]}, seeds=[4, 1, 2])
        failed = [(f.item.point.labels["tcp.receive_window"], f.item.seed) for f in swept.failed]
        assert failed == [(2, 4), (2, 2), (4, 4), (4, 2)]
        with pytest.raises(RunError, match="2 runs failed, the first with seed = 4: RuntimeError: of seed 4"):
            study.measure({0: scenario}, [4, 1, 2])
