"""ns-2 results on pages equal ``reference.csv``, read line by line and recalculated."""

import csv
import math
import statistics
from importlib.resources import files
from typing import Any

import pytest
from chappe_papers.elrakabawy2005.claims import ALL
from chappe_papers.elrakabawy2005.design import DESIGN as ELRAKABAWY
from chappe_papers.elrakabawy2005.points import PLACES
from chappe_papers.zhou2004.design import DESIGN as ZHOU

OF_RUN = ("source", "seed", "batches", "packets_per_batch")
CLAIM = {c.id: c for c in ALL}


def lines(paper: str, **wanted: str) -> list[dict[str, str]]:
    """Lines of the runs of ns-2.35."""
    text = files(f"chappe_papers.{paper}").joinpath("reference.csv").read_text(encoding="utf-8")
    rows = [r for r in csv.DictReader(text.splitlines()) if r["source"] == "ns-2.35"]
    return [r for r in rows if all(r[name] == value for name, value in wanted.items())]


def point_of(row: dict[str, str], point: Any) -> Any:
    """Point of a line; empty fields have defaults."""
    kinds = {name: type(default) for name, default in point._field_defaults.items()}
    return point(**{n: kinds.get(n, str)(row[n]) for n in point._fields if row.get(n)})


def test_every_cell_of_elrakabawy_is_that_of_the_first_seed() -> None:
    table, seen, count = ELRAKABAWY.ns2(), set(), 0
    for row in lines("elrakabawy2005"):
        point = point_of(row, ELRAKABAWY.point)
        numbers = {n: float(v) for n, v in row.items() if v and n not in (*OF_RUN, *point._fields) and "half" not in n}
        for name, value in numbers.items() if point not in seen else ():
            e = table.get(point, name)
            assert e is not None, (point, name)
            assert e.mean == pytest.approx(value, rel=1e-12), (point, name)
            half = row.get(f"{name}_half_width_95")
            assert not half or e.half_width() == pytest.approx(float(half), rel=1e-9), (point, name)
            count += 1
        seen.add(point)
    assert count > 1000


def test_every_unfairness_of_zhou_is_the_median_of_its_runs() -> None:
    """Unfairness of flows with equal start times is the unfairness of their deliveries."""
    runs: dict[Any, list[float]] = {}
    for row in lines("zhou2004"):
        if delivered := [float(row[f"delivered_{n}"]) for n in range(5) if row[f"delivered_{n}"]]:
            least = min(delivered)
            unfair = (max(delivered) - least) / least if least else math.inf
            runs.setdefault(point_of(row, ZHOU.point), []).append(unfair)
    table = ZHOU.ns2()
    assert len(runs) > 50
    for point, of_point in runs.items():
        e = table.get(point, "unfairness")
        assert e is not None, point
        assert e.mean == pytest.approx(statistics.median(of_point), rel=1e-9), point


@pytest.mark.parametrize("place", ["random120_1", "random120_2"])
def test_flows_that_starve(place: str) -> None:
    """P0-F19-1: in the first topology, the flows with 0.43 and 0.80 of 2,941 kbit/s have less than 1 %."""
    [row] = lines("elrakabawy2005", place=place, variant="newreno", rate_mbps="11")
    flows = sorted(float(row[f"flow{n}_bps"]) for n in range(10))
    shares = [f / sum(flows) for f in flows]
    assert sum(s < 0.01 for s in shares) >= 2
    effects = [c.effect.mean for c in CLAIM["P0-F19-1"].observe(ELRAKABAWY.ns2()) if c.group == PLACES[place]]
    assert effects == pytest.approx([shares[1], shares[-1]], rel=1e-6)


def test_where_queues_overflow() -> None:
    """P0-A-6: the 910 packets of NewReno belong to a chain of one hop; no chain of the claim drops packets."""
    dropped = {int(r["hops"]) for r in lines("elrakabawy2005", place="") if float(r["queue_drops"] or 0)}
    assert dropped == {1, 2}
    effects = {c.group: c.effect.mean for c in CLAIM["P0-A-6"].observe(ELRAKABAWY.ns2())}
    assert effects["chains"] == 0
    for place in ("grid7x3_c135", "random120_1", "random120_2"):
        rows = [r for r in lines("elrakabawy2005", place=place) if not r["variant"].startswith("vegas2_fix")]
        assert effects[PLACES[place]] == max(float(r["queue_drops"]) for r in rows) > 0
