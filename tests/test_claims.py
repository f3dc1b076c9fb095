"""Claims: how they are judged, on numbers that are made to fit and not to fit."""

from collections.abc import Callable, Mapping
from pathlib import Path

import chappe
import pytest
from chappe import papers
from chappe.papers.elrakabawy2005 import chain
from chappe.papers.elrakabawy2005.claims import CLAIMS
from chappe.papers.paper import Verdict, about, above, judge
from chappe.stats import Estimate

HOPS = (2, 4, 6, 8, 10, 20, 32, 40)
GOODPUT, RETRANSMISSIONS, WINDOW, FAILURES = (
    "goodput_kbps",
    "retransmitted_pkts_per_10000",
    "mean_window_pkts",
    "false_route_failures_per_10000",
)


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([], Verdict.OPEN),
        ([None], Verdict.OPEN),
        ([None, None], Verdict.OPEN),
        ([True], Verdict.HOLDS),
        ([True, True], Verdict.HOLDS),
        ([False], Verdict.FAILS),
        ([False, False], Verdict.FAILS),
        ([False, None], Verdict.FAILS),
        ([True, False], Verdict.PARTLY),
        ([True, None], Verdict.PARTLY),
        ([True, False, None], Verdict.PARTLY),
    ],
)
def test_verdicts(checks: list[bool | None], verdict: Verdict) -> None:
    assert judge(checks) is verdict
    assert judge(checks[::-1]) is verdict


def estimate(mean: float, half_width: float) -> Estimate:
    """So many degrees of freedom that Student's t is 1.96."""
    return Estimate(mean, (half_width / 1.959964) ** 2, 1e12)


@pytest.mark.parametrize(
    ("mean", "half_width", "value", "expected"),
    [(10, 1, 8, True), (10, 1, 12, False), (10, 1, 10.5, None), (10, 1, 9.5, None), (0, 0, 0, None), (-3, 1, -5, True)],
)
def test_above(mean: float, half_width: float, value: float, expected: bool | None) -> None:
    assert above(estimate(mean, half_width), value) is expected


@pytest.mark.parametrize(
    ("mean", "half_width", "value", "expected"),
    [
        (10.4, 0.1, 10, True),
        (9.6, 5.0, 10, True),
        (10.6, 0.05, 10, False),
        (9.4, 0.05, 10, False),
        (10.6, 0.2, 10, None),
        (9.4, 0.2, 10, None),
        (-10.4, 0.1, -10, True),
        (-11, 0.1, -10, False),
    ],
)
def test_about_give_or_take_five_per_cent(mean: float, half_width: float, value: float, expected: bool | None) -> None:
    assert about(estimate(mean, half_width), value, 0.05) is expected


def test_nothing_is_decided_by_a_number_without_an_interval() -> None:
    unknown = Estimate.of([3.0])
    assert above(unknown, 1) is None
    assert above(unknown, 5) is None
    assert about(unknown, 5, 0.05) is None


Curves = Mapping[str, tuple[Callable[[int], float], Callable[[int], float]]]
"""NewReno and Vegas over the hops, by measure."""


def table(curves: Curves, error: float = 0.001) -> chain.Table:
    """Curves with this relative error."""
    values: dict[chain.Point, dict[str, Estimate]] = {}
    for h in HOPS:
        for variant, which in (("newreno", 0), ("vegas2", 1)):
            points = ((name, both[which](h)) for name, both in curves.items())
            values[chain.Point(variant, h)] = {name: estimate(y, abs(y) * error) for name, y in points}
    return chain.Table(values)


def gains(at: Mapping[int, float], other: float = 1.5) -> tuple[Callable[[int], float], Callable[[int], float]]:
    """Goodput that falls with the hops, and Vegas's by so much larger."""
    return lambda h: 1000 / h, lambda h: 1000 / h * at.get(h, other)


AS_THE_PAPER_SAYS: dict[str, Curves] = {
    "P0-F6-1": {GOODPUT: gains({8: 1.75, 10: 1.83})},
    "P0-F6-2, -3": {GOODPUT: gains({4: 1.07, 32: 1.30})},
    "P0-F6-5": {GOODPUT: gains({4: 1.07})},
    "P0-F7-1": {RETRANSMISSIONS: (lambda _: 1000, lambda h: 400 - 9.75 * h)},
    "P0-F7-2": {RETRANSMISSIONS: (lambda h: {6: 600, 8: 1140}.get(h, 900 - 5 * h), lambda _: 10)},
    "P0-F8-1": {WINDOW: (lambda _: 20, lambda h: 4 + h / 40)},
    "P0-F8-2": {WINDOW: (lambda _: 20, lambda h: h / 4)},
    "P0-F9-1": {FAILURES: (lambda _: 500, lambda h: 30 - h / 2)},
    "P0-F9-3": {FAILURES: (lambda h: 500 - h, lambda h: 30 - h / 2)},
}
OTHERWISE: dict[str, Curves] = {
    "P0-F6-1": {GOODPUT: gains({}, 1.2)},
    "P0-F6-2, -3": {GOODPUT: gains({4: 1.3, 32: 1.07})},
    "P0-F6-5": {GOODPUT: gains({4: 2.0})},
    "P0-F7-1": {RETRANSMISSIONS: (lambda _: 1000, lambda _: 500)},
    "P0-F7-2": {RETRANSMISSIONS: (lambda h: 100 * h, lambda _: 10)},
    "P0-F8-1": {WINDOW: (lambda _: 20, lambda _: 6)},
    "P0-F8-2": {WINDOW: (lambda _: 20, lambda _: 2.4)},
    "P0-F9-1": {FAILURES: (lambda _: 500, lambda _: 100)},
    "P0-F9-3": {FAILURES: (lambda h: 500 + h, lambda h: 30 + h)},
}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
@pytest.mark.parametrize(("curves", "verdict"), [(AS_THE_PAPER_SAYS, Verdict.HOLDS), (OTHERWISE, Verdict.FAILS)])
def test_every_claim_can_hold_and_fail(claim: papers.paper.Claim, curves: dict[str, Curves], verdict: Verdict) -> None:
    look = claim.look(table(curves[claim.id]))
    assert look is not None
    text, checks = look
    assert judge(checks) is verdict, (text, checks)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_no_claim_holds_on_wide_intervals_alone(claim: papers.paper.Claim) -> None:
    """Numbers that contradict the paper, known so badly that they do not."""
    look = claim.look(table(OTHERWISE[claim.id], error=20))
    assert look is not None
    assert judge(look[1]) in (Verdict.OPEN, Verdict.PARTLY)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_claims_say_when_the_runs_are_missing(claim: papers.paper.Claim) -> None:
    assert claim.look(chain.Table({})) is None
    assert claim.figure in papers.PAPERS[0].figures


def test_every_claim_is_looked_up_in_the_runs_of_ns2() -> None:
    ns2 = chain.ns2_table()
    assert {4, 8, 10, 20, 32, 40} <= set(ns2.hops("newreno")) & set(ns2.hops("vegas2"))
    for claim in CLAIMS:
        look = claim.look(ns2)
        # ns-2 was not run over 6 hops, without which nothing can be said about the rise from 6 to 8.
        assert (look is None) == (claim.id == "P0-F7-2")
        if look is not None:
            assert look[0]
            assert look[1]


def test_papers_are_found_by_name() -> None:
    assert papers.find("elrakabawy2005") is papers.PAPERS[0]
    assert papers.find("elrakabawy") is None
    assert len({p.name for p in papers.PAPERS}) == len(papers.PAPERS)


# ---- the chains ----


@pytest.mark.parametrize("variant", chain.VARIANTS)
def test_every_variant_is_a_scenario(variant: str) -> None:
    s = chain.scenario(chain.Point(variant, 10, 5.5), "1100 delivered").settings
    assert (s["topology"]["hops"], s["wlan"]["data_rate"], s["run"]["stop"]) == (10, "5.5 Mbit/s", "1100 delivered")
    assert (s["flow"][0]["from"], s["flow"][0]["to"]) == (0, 10)
    for name, value in chain.VARIANTS[variant].items():
        at = s
        for part in name.split("."):
            at = at[part]
        assert at == value


def test_packets_live_long_enough_for_long_chains() -> None:
    for h in (30, 32, 40):
        assert chain.scenario(chain.Point("newreno", h), "1100 delivered").warnings == []


def test_the_scenario_of_the_chains_is_a_file_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text(chain.text(), encoding="utf-8")
    assert chappe.Scenario.load(path) == chain.scenario(chain.Point("newreno", 7), "110000 delivered")


def test_records_of_ns2_are_complete() -> None:
    records = chain.records()
    assert {r.point.variant for r in records} >= set(chain.VARIANTS)
    for r in records:
        assert set(r.values) == {m.name for m in chain.MEASURES}
        assert all(e.mean >= 0 and e.variance >= 0 and e.df == r.batches - 1 for e in r.values.values())
