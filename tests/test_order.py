"""Lists and tables have an order of their own, wherever polars promises none and whichever run is done first."""

import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import study
from chappe.error import RunsError
from chappe.study import run, work
from chappe.study.axes import Item
from chappe.why import LOSSES, explain

SHUFFLES = range(8)


def shuffled(table: pl.DataFrame, drawn: random.Random) -> pl.DataFrame:
    rows = list(range(len(table)))
    drawn.shuffle(rows)
    return table[rows]


class Groups:
    """Groups of rows that come in any order."""

    def __init__(self, groups: Any, drawn: random.Random):
        self._groups = groups
        self._drawn = drawn

    def agg(self, *columns: Any, **named: Any) -> pl.DataFrame:
        return shuffled(self._groups.agg(*columns, **named), self._drawn)


def disorder(patch: pytest.MonkeyPatch, seed: int) -> None:
    """Puts rows into any order where polars does not say which they have."""
    drawn = random.Random(seed)
    join, unique, sort, group_by = (getattr(pl.DataFrame, name) for name in ("join", "unique", "sort", "group_by"))

    def any_join(self: pl.DataFrame, *others: Any, maintain_order: str | None = None, **how: Any) -> pl.DataFrame:
        found = join(self, *others, maintain_order=maintain_order, **how)
        return found if maintain_order not in (None, "none") else shuffled(found, drawn)

    def any_unique(self: pl.DataFrame, *columns: Any, maintain_order: bool = False, **how: Any) -> pl.DataFrame:
        found = unique(self, *columns, maintain_order=maintain_order, **how)
        return found if maintain_order else shuffled(found, drawn)

    def any_sort(self: pl.DataFrame, *columns: Any, maintain_order: bool = False, **how: Any) -> Any:
        return sort(self if maintain_order else shuffled(self, drawn), *columns, maintain_order=True, **how)

    def any_groups(self: pl.DataFrame, *columns: Any, maintain_order: bool = False, **named: Any) -> Any:
        found = group_by(self, *columns, maintain_order=True, **named)
        return found if maintain_order else Groups(found, drawn)

    for name, other in (("join", any_join), ("unique", any_unique), ("sort", any_sort), ("group_by", any_groups)):
        patch.setattr(pl.DataFrame, name, other)


def repeated(said: Callable[[], object]) -> list[object]:
    """What comes of it in several disorders, and without."""
    found = [said()]
    for seed in SHUFFLES:
        with pytest.MonkeyPatch.context() as patch:
            disorder(patch, seed)
            found.append(said())
    return found


def several() -> chappe.Scenario:
    """Flows that lose packets of many kinds, of which those from 2 on deliver nothing."""
    late = [{"from": n % 5, "to": 5, "start": "40 s"} for n in range(3)]
    flows = [{"to": 5}, {"from": 5, "to": 0}, *late]
    return chappe.Scenario({"topology.hops": 5, "run.stop": "20 s", "flow": flows})


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


def test_what_a_study_says_has_an_order(folder: Path) -> None:
    def said() -> object:
        opened = chappe.Study(folder)
        a, b = {"case": "last"}, {"case": "most"}
        tables = [opened.runs, *map(opened.table, ("flows", "fates", "facts")), opened.summary(["goodput_bps"])]
        tables += [opened.compare("goodput_bps", a, b), opened.rank("goodput_bps", "case")]
        return opened.doubts(["goodput_bps", "mean_rtt_s"]), [t.write_ndjson() for t in tables]

    first, *others = repeated(said)
    assert all(other == first for other in others)


def test_silent_flows_are_told_by_their_numbers(folder: Path) -> None:
    *found, more = [text for text in chappe.Study(folder).doubts() if "nothing" in text]
    assert [text.partition(" (")[0] for text in found] == [
        f"flow {flow} delivered nothing in {runs} of 9 runs" for flow, runs in ((0, 6), (1, 3), (2, 6))
    ]
    assert "(with case = others, seed = 3: " in found[0]
    assert more == "2 more flows delivered nothing in some runs"


def test_what_a_run_says_has_an_order() -> None:
    results = chappe.run(several().with_({"run.air_time": True}), seed=1)
    # As many packets of each cause: there is no order by their number.
    equal = results.fates.with_columns(pl.lit(1).alias(name) for name in LOSSES)

    def said() -> object:
        why = explain(results.flows, equal, results.air_time)
        return chappe.run(several(), seed=1).to_dict(), why.to_dict(), repr(why)

    first, *others = repeated(said)
    assert all(repr(other) == repr(first) for other in others)


def in_any_order(seed: int) -> Callable[[int | None], work.Workers]:
    """Workers of whose runs any may be done first; those with an even seed fail."""

    def workers(_: int | None) -> work.Workers:
        def make(items: Sequence[Item], take: Callable[[Any], object], progress: Callable[[float], object]) -> None:
            progress(0.0)
            for item in random.Random(seed).sample(items, len(items)):
                take(work.execute(item) if item.seed % 2 else work.Failed(item, RuntimeError(f"of seed {item.seed}")))

        return make

    return workers


def test_runs_that_fail_are_told_in_the_order_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = chappe.Scenario.chain(1, stop="110 delivered")
    # Its function has the same name.
    measure = import_module("chappe.study.measure")
    for seed in SHUFFLES:
        monkeypatch.setattr(run, "threads", in_any_order(seed))
        monkeypatch.setattr(measure, "threads", in_any_order(seed))
        found = chappe.sweep(scenario, {"tcp.window": [2, 4]}, [4, 1, 2])
        failed = [(f.item.point.labels["tcp.window"], f.item.seed) for f in found.failed]
        assert failed == [(2, 4), (2, 2), (4, 4), (4, 2)]
        with pytest.raises(RunsError, match="2 runs failed, the first with seed = 4: RuntimeError: of seed 4"):
            study.measure({0: scenario}, [4, 1, 2])
