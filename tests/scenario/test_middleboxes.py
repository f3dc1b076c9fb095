"""Delays of flows through middleboxes: those of the recorded packets, of the story and of the flow are the same."""

from typing import Any

import chappe
import polars as pl
import pytest
from chappe.expressions.reductions import delays
from chappe.stories.story import story_of, watched
from hypothesis import given, settings
from hypothesis import strategies as st

RUN = {"run.batches": 1, "run.warmup_batches": 0}


def checked(scenario: dict[str, Any]) -> chappe.Results:
    """Results of a run in which all delays of each flow agree."""
    results = watched({**RUN, **scenario})
    found = delays(results)
    for flow in results.flows.iter_rows(named=True):
        of_flow = found.filter(flow=flow["flow"])["delay_s"]
        assert len(of_flow) == flow["delay_samples"]
        if len(of_flow):
            story = story_of(results, flow["flow"])
            # Times at one node are put in order, by propagation delays at most.
            assert of_flow.mean() == pytest.approx(flow["mean_delay_s"], abs=2e-6)
            assert story.delays["mean_s"].sum() == pytest.approx(flow["mean_delay_s"], abs=2e-6)
            assert story.paths["packets"].sum() == len(of_flow)
    return results


def line(n: int, *boxes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A line of nodes with links of 1 Mbit/s and 50 ms; segments of 1,500 B take 12 ms a link, the SYN 0.32 ms."""
    links = [{"src": i, "dst": i + 1} for i in range(n - 1)]
    return {
        "run.stop": "20 s",
        "topology": {"kind": "none", "wired_nodes": n},
        "wired": {"rate": "1 Mbit/s", "delay": "50 ms"},
        "wired_link": links,
        "middlebox": list(boxes),
        "tcp": {"receive_window": 1},
        **more,
    }


@pytest.mark.parametrize(("kind", "took"), [("split", 0.27496), ("snoop", 0.186), ("eln", 0.186)])
def test_the_delay_is_that_of_the_whole_path(kind: str, took: float) -> None:
    """One segment over three links: 3 (12 + 50) ms, the SYN 3 (0.32 + 50) ms.

    A split connection takes longer: the source may send at 2 (0.32 + 50) = 100.64 ms, and the second half, whose SYN
    left at 50.32 ms, at 50.32 + 4 (0.32 + 50) = 251.6 ms; then the segment needs 2 (12 + 50) ms.
    """
    flow = {"src": 0, "dst": 3, "bulk.segments": 1}
    results = checked(line(4, {"kind": kind, "node": 1}, flow=[flow]))
    found = delays(results)["delay_s"].to_list()
    assert found == pytest.approx([0.15096, took], abs=1e-9)


def test_what_snoop_sends_again_counts_from_the_source() -> None:
    """Only the link behind Snoop loses: what arrives late was sent again by Snoop, and by nobody else."""
    box = {"kind": "snoop", "node": 1, "snoop": {"min_timeout": "500 ms", "initial_srtt": "400 ms"}}
    links = [{"src": 0, "dst": 1}, {"src": 1, "dst": 2, "error": {"model": "uniform", "rate": 0.1}}]
    flow = {"src": 0, "dst": 2, "bulk.segments": 60}
    scenario = line(3, box, wired_link=links, flow=[flow], tcp={"receive_window": 4})
    results = checked({**scenario, "tcp.rto.min": "10 s", "tcp.rto.initial": "10 s", "run.stop": "100 s"})
    (of_flow,) = results.flows.iter_rows(named=True)
    late = delays(results).filter(pl.col("delay_s") > 0.2)
    assert of_flow["local_retransmissions"] > 0
    assert len(late) > 0
    made = results.recorded["packets"].filter(pl.col("event").cast(pl.String) == "injected")
    data = made.filter(pl.col("packet_type").cast(pl.String) == "tcp_data")
    assert (data["time_s"] > data["sent_at_s"]).all()
    story = story_of(results, 0)
    assert "middlebox" in story.delays["part"].to_list()


def test_the_second_half_repeats_nothing_of_the_first() -> None:
    results = checked(line(3, {"kind": "split", "node": 1}, flow=[{"src": 0, "dst": 2, "bulk.segments": 5}]))
    texts = story_of(results, 0, has_lines=True).events["text"].to_list()
    assert any(text.startswith("node 1 sends segment") for text in texts)
    assert not any(text.endswith("again") for text in texts)


@st.composite
def paths(draw: st.DrawFn) -> dict[str, Any]:
    """Lines of nodes, with radios or not, with losses, and middleboxes of all kinds."""
    hops, wires = draw(st.sampled_from([(0, 2), (0, 4), (1, 2), (2, 1), (3, 0), (3, 2)]))
    n = hops + wires + 1
    links = [{"src": i, "dst": i + 1, "delay": draw(st.sampled_from(["1 ms", "40 ms"]))} for i in range(hops, n - 1)]
    loss = draw(st.sampled_from([0.0, 0.02, 0.1]))
    error = {"model": "uniform", "rate": loss}
    air = {"hops": hops, "wired_nodes": wires} if wires else {"hops": hops}
    nodes = draw(st.lists(st.integers(1, n - 2), min_size=1, max_size=3, unique=True))
    kinds = [draw(st.sampled_from(["split", "snoop", "eln"])) for _ in nodes]
    if kinds.count("split") > 1:
        # A connection is split once.
        kinds = ["split"] + ["snoop"] * (len(kinds) - 1)
    second = {"variant": draw(st.sampled_from(["sack", "newreno"])), "syn": draw(st.booleans())}
    split = {"buffer_segments": draw(st.sampled_from([3, 100])), "tcp": second}
    ends = st.sampled_from([(0, n - 1), (n - 1, 0)])
    flow = st.builds(
        lambda e, app, more: {"src": e[0], "dst": e[1], "app": app, **(more if app == "bulk" else {})},
        ends,
        st.sampled_from(["bulk", "requests", "on_off"]),
        st.sampled_from([{}, {"bulk.segments": 7}, {"start": "1 s", "stop": "2 s"}]),
    )
    tcp = {"variant": draw(st.sampled_from(["newreno", "sack", "vegas"])), "receive_window": draw(st.integers(2, 40))}
    tcp |= draw(st.sampled_from([{}, {"fin": True}, {"syn": False}]))
    return {
        "run.stop": "4 s",
        "run.seed": draw(st.integers(1, 1000)),
        "topology": air if hops else {"kind": "none", "wired_nodes": n},
        **({"wired_link": links, "wired.error": error} if wires else {}),
        **({"wlan.error": {**error, "layer": "net"}, "routing.protocol": "shortest_path"} if hops else {}),
        "flow": draw(st.lists(flow, min_size=1, max_size=3)),
        "tcp": tcp,
        "middlebox": [
            {"kind": kind, "node": node, **({"split": split} if kind == "split" else {})}
            for kind, node in zip(kinds, nodes, strict=True)
        ],
    }


@settings(max_examples=25, deadline=None)
@given(paths())
def test_delays_agree_in_random_paths(scenario: dict[str, Any]) -> None:
    checked(scenario)


def test_short_flows_have_delays_of_their_own() -> None:
    """Eight flows of two segments, one after the other: SYN and both segments of each, 62 ms and more apart."""
    size = {"distribution": "fixed", "mean": "2920 B"}
    arrivals = [{"src": 0, "dst": 1, "rate": 0.5, "count": 8, "size": size}]
    scenario = line(2, arrival_process=arrivals, flow=[], middlebox=[], **{"run.stop": "60 s"})
    results = chappe.run({**RUN, **scenario, "run.record": ["packets"], "tcp": {"initial_window": 2}})
    assert results.short_flows["completion_time_s"].null_count() == 0
    found = delays(results)["delay_s"].to_list()
    assert len(found) == results.batches["delay_samples"].sum() == 24
    assert sum(found) / 24 == pytest.approx(results.batches["mean_delay_s"][0], abs=1e-9)
    assert max(found) == pytest.approx(0.074, abs=1e-9)
