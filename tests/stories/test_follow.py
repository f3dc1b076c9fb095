"""The story of a flow or of a packet: journeys add up to delays, findings are those of the tables."""

import contextlib
import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.printing import stories as printing
from chappe.stories import overview as stories
from chappe.stories import story as stories_of
from chappe.stories.journey import PARTS, journeys
from chappe.stories.overview import overview
from chappe.stories.story import KINDS, attempts, follow, has_mac_queues
from command import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st

MOVING: dict[str, Any] = {
    "run.stop": "40 s",
    "topology": {"kind": "random", "nodes": 15, "width": "700 m", "height": "700 m", "connected": False},
    "mobility": {"model": "random_waypoint", "min_speed": "1 m/s", "max_speed": "10 m/s"},
    "traffic": {"flows": 4},
}
STARVED = {
    "extends": "ns2-2.35",
    "run.stop": "30 s",
    "topology": {"kind": "list", "positions": [["0 m", "0 m"], ["200 m", "0 m"], ["400 m", "0 m"]]},
    "event": [{"at": "100 ms", "action": "node_down", "node": 2}],
    "flow": [{"src": 0, "dst": 1}, {"src": 1, "dst": 2, "start": "1 s"}, {"src": 0, "dst": 1, "app": "cbr"}],
}


def changed(name: str, **changes: Any) -> chappe.Scenario:
    return chappe.Scenario.load(REPOSITORY / "scenarios" / name).with_settings({"run.stop": "8 s", **changes})


def access_point(senders: str, **changes: Any) -> chappe.Scenario:
    """A fast and a slow station behind an access point, node 0, and a host behind a wire, node 3."""
    return chappe.Scenario(
        {
            "extends": ["802.11n", senders],
            "run.stop": "2 s",
            "topology": {"kind": "list", "positions": [[f"{x} m", "0 m"] for x in (0, 20, -20)], "wired_nodes": 1},
            "wired_link": [{"src": 3, "dst": 0, "rate": "100 Mbit/s", "delay": "5 ms"}],
            "routing.protocol": "shortest_path",
            "wlan.rate_control.algorithm": "fixed",
            "wlan.link_rate": [{"src": 0, "dst": 2, "mcs": 0}],
            "flow": [{"src": 3, "dst": 1}, {"src": 3, "dst": 2}],
            **changes,
        }
    )


SCENARIOS = {
    "chain": lambda: changed("chain.toml"),
    "RTS": lambda: changed("chain.toml", **{"wlan.rts_threshold": "0 B"}),
    "wires": lambda: changed("base-station.toml"),
    "a split connection": lambda: changed("hybrid-path.toml"),
    "aggregates": lambda: chappe.Scenario(
        {
            "extends": "802.11n",
            "run.stop": "1 s",
            "topology": {"hops": 3, "spacing": "60 m"},
            "wlan.error": {"model": "uniform", "rate": 0.1},
            "wlan.aggregation.amsdu_size": "3500 B",
        }
    ),
    "queues of mac80211": lambda: access_point("linux-mesh"),
    "a walk with AODV": lambda: chappe.Scenario(MOVING),
    "a walk with DSR": lambda: chappe.Scenario({**MOVING, "routing.protocol": "dsr", "run.seed": 2}),
    "a walk with DSDV": lambda: chappe.Scenario({**MOVING, "routing.protocol": "dsdv", "run.seed": 3}),
}


def check_journeys(scenario: chappe.Scenario) -> int:
    """The parts of the journey of every delivered packet add up to its delay; number of such packets."""
    results = chappe.run(scenario.with_settings({"run.record": ["packets", "frames", "mpdus"]}))
    packets, frames = results.recorded["packets"], attempts(results.recorded)
    kind, event = pl.col("packet_type").cast(pl.String), pl.col("event").cast(pl.String)
    data = packets.filter(kind.is_in(["tcp_data", "udp"]))
    # The journey of a packet that a middlebox made begins at the source, too.
    begun = dict(data.filter(event.is_in(["created", "injected"])).select("packet", "sent_at_s").iter_rows())
    ended = data.filter((event == "delivered") & (pl.col("node") == pl.col("dst"))).unique(
        "packet", keep="first", maintain_order=True
    )
    delays = {packet: time_s - begun[packet] for packet, time_s in ended.select("packet", "time_s").iter_rows()}
    found = {legs[0].packet: legs for legs in journeys(data, frames, has_mac_queues(scenario))}
    assert found.keys() == delays.keys()
    for packet, legs in found.items():
        assert sum(leg.end_s - leg.begin_s for leg in legs) == pytest.approx(delays[packet], abs=1e-6)
        assert all(a.end_s == b.begin_s for a, b in itertools.pairwise(legs))
        assert {leg.part for leg in legs} <= PARTS.keys()
        assert min(leg.end_s - leg.begin_s for leg in legs) >= 0
    return len(found)


@pytest.mark.parametrize("name", SCENARIOS)
def test_journeys_add_up_to_the_delay_of_every_packet(name: str) -> None:
    assert check_journeys(SCENARIOS[name]()) > 50


@st.composite
def networks(draw: st.DrawFn) -> dict[str, Any]:
    """Random small networks with their traffic."""
    shape = draw(st.sampled_from(["chain", "grid", "random"]))
    shapes: dict[str, dict[str, Any]] = {
        "chain": {"hops": draw(st.integers(1, 5))},
        "grid": {"kind": "grid", "rows": 2, "columns": draw(st.integers(2, 4))},
        "random": {"kind": "random", "nodes": 10, "width": "600 m", "height": "500 m", "connected": False},
    }
    topology = shapes[shape]
    last = {"chain": topology.get("hops"), "grid": 2 * topology.get("columns", 0) - 1, "random": 9}[shape]
    app = st.sampled_from(["bulk", "cbr", "on_off", "requests"])
    flows = [{"src": 0, "dst": last, "app": draw(app)}, {"src": last, "dst": 0, "app": draw(app), "start": "500 ms"}]
    walk = {"mobility": {"model": "random_waypoint", "min_speed": "1 m/s", "max_speed": "20 m/s"}}
    return {
        **({"extends": "ns2-2.35"} if draw(st.booleans()) else {}),
        "run.stop": "5 s",
        "run.seed": draw(st.integers(1, 1000)),
        "topology": topology,
        "flow": flows,
        "cbr.interval": "50 ms",
        "tcp.variant": draw(st.sampled_from(["newreno", "vegas", "sack"])),
        "routing.protocol": draw(st.sampled_from(["aodv", "dsr", "dsdv"])),
        "queue.discipline": draw(st.sampled_from(["droptail", "codel", "red"])),
        "queue.limit": draw(st.sampled_from([2, 20])),
        "wlan.rts_threshold": draw(st.sampled_from(["0 B", "never"])),
        "radio.reception": draw(st.sampled_from(["pairwise", "sinr"])),
        **(walk if shape == "random" and draw(st.booleans()) else {}),
    }


@settings(max_examples=15, deadline=None)
@given(networks())
def test_journeys_add_up_in_random_networks(network: dict[str, Any]) -> None:
    check_journeys(chappe.Scenario(network))


@pytest.mark.parametrize("queues", ["fifo", "mac80211"])
def test_a_packet_waits_in_the_mac_for_its_next_hop(queues: str) -> None:
    """Two datagrams come at once: the second waits until the frame of the first has ended, and then for the medium."""
    flows = [{"src": 0, "dst": dst, "app": "cbr", "start": "1 s"} for dst in (1, 2)]
    changes = {"flow": flows, "cbr.datagrams": 1, "arp.enabled": False, "wlan.queues": queues}
    scenario = access_point("standard", **changes, **{"run.record": ["frames"]})
    frames = chappe.run(scenario).recorded["frames"].filter(pl.col("frame_type").cast(pl.String) == "data")
    first, second = (frames.filter(dst=dst).row(0, named=True) for dst in (1, 2))
    end_s = first["time_s"] + first["airtime_s"]
    waited = {row["part"]: row for row in follow(scenario, 1).delays.to_dicts()}
    assert waited["mac"]["next_hop"] == 2
    assert waited["mac"]["mean_s"] == pytest.approx(end_s - 1, abs=1e-9)
    assert waited["access"]["mean_s"] == pytest.approx(second["time_s"] - end_s, abs=1e-9)
    assert "queue" not in waited
    others = {row["part"] for row in follow(scenario, 0).delays.to_dicts()}
    assert "mac" not in others, "it finds the MAC empty"


def test_the_queue_of_the_interface_is_told_from_the_mac() -> None:
    """With queues of mac80211 no packet waits in front of them; the driver below holds a few packets by each rule."""
    linux = follow(access_point("linux"), 1)
    at_access_point = {row["part"]: row["mean_s"] for row in linux.delays.filter(node=0).to_dicts()}
    assert at_access_point["queue"] > at_access_point["mac"] > 5 * at_access_point["access"]
    of_mac = follow(access_point("linux-mesh"), 1)
    assert set(of_mac.delays.filter(part="queue")["node"]) == {3}, "the host has a queue in front of its wire"
    assert of_mac.delays.filter(part="mac").select("node", "next_hop").rows() == [(0, 2)]
    assert "% waiting in the MAC for node 2 at node 0" in "\n".join(of_mac.findings)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        printing.summary(of_mac)
    assert "waiting in the MAC for node 2" in printed.getvalue()


def test_each_node_has_its_own_queues() -> None:
    entries = [{"nodes": "0-1, 4", "wlan.queues": "mac80211"}, {"nodes": 1, "wlan.queues": "fifo"}, {"nodes": 2}]
    scenario = chappe.Scenario({"extends": "802.11n", "run.stop": "1 s", "topology.hops": 5, "node": entries})
    assert [*map(has_mac_queues(scenario), range(6))] == [True, False, False, False, True, False]
    assert not has_mac_queues(changed("chain.toml"))(0)


def test_a_better_route_is_told_with_both_metrics() -> None:
    scenario = chappe.Scenario(
        {
            "run.stop": "60 s",
            "topology": {"kind": "grid", "rows": 3, "columns": 3},
            "flow": [{"dst": 8, "start": "20 s"}],
            "routing": {"protocol": "olsr", "olsr": {"metric": "etx", "tc_redundancy": 2}},
            "wlan.error": {"model": "uniform", "rate": 0.2},
        }
    )
    found = follow(scenario, 0)
    told = [line for line in found.findings if "changed its route to node 8" in line]
    assert len(told) == 1
    numbers = re.search(r"over node ([13]), because ([\d.]+) < ([\d.]+)\. It changed", told[0])
    assert numbers is not None
    assert float(numbers[2]) < float(numbers[3])
    results = chappe.run(scenario.with_settings({"run.record": ["routes"]}))
    rows = results.recorded["routes"].filter(node=0, dst=8, event="changed")
    better = rows.filter(pl.col("metric") < pl.col("previous_metric"))
    assert better["next_hop"][-1] == int(numbers[1])
    assert any("because" in text for text in found.events.filter(kind="route")["text"])


def test_a_route_of_batman_adv_is_told_with_both_qualities() -> None:
    scenario = chappe.Scenario(
        {
            "run.stop": "120 s",
            "topology": {"kind": "grid", "rows": 3, "columns": 3},
            "flow": [{"dst": 8, "start": "40 s"}],
            "routing.protocol": "batman_adv",
            "wlan.error": {"model": "uniform", "rate": 0.2},
        }
    )
    found = follow(scenario, 0)
    (told,) = [line for line in found.findings if "changed its route to node 8" in line]
    numbers = re.search(r"over node ([13]), because TQ (\d+) > (\d+)\. It changed", told)
    assert numbers is not None, told
    assert int(numbers[2]) > int(numbers[3])


def test_the_story_of_a_starved_flow() -> None:
    """Its receiver cannot be reached: every segment dies without a route, and the timer is all that runs."""
    story = follow(STARVED, 1)
    assert story.findings[0] == (
        "Flow 1, node 1 to node 2, TCP newreno, starves: 0 kbit/s, 0 packets arrived in the run; "
        + story.findings[0].partition("; ")[2]
    )
    assert story.findings[1].startswith("It spends 9")
    assert "waiting for a route; its timer expires 3 times and backs off to 24.0 s" in story.findings[1]
    assert story.findings[-1] == f"Lost: {story.losses['packets'].sum()} segments at node 1 (no route)."
    assert story.delays.is_empty()
    assert story.paths.is_empty()
    assert set(story.events["kind"]) == {"sent", "loss", "timer"}


def test_the_story_of_a_flow_is_that_of_its_tables() -> None:
    scenario = changed("chain.toml")
    story = follow(scenario)
    results = chappe.run(scenario.with_settings({"run.record": ["packets", "cwnd"]}))
    packets = results.recorded["packets"]
    event = pl.col("event").cast(pl.String)
    ends = packets.filter((event == "delivered") & (pl.col("flow") == 0) & (pl.col("node") == pl.col("dst")))
    assert (story.events["kind"] == "delivered").sum() == ends["packet"].n_unique()
    assert story.losses["packets"].sum() == packets.filter((event == "dropped") & (pl.col("flow") == 0)).height
    cwnd = results.recorded["cwnd"].filter(pl.col("event").cast(pl.String).is_in(["timeout", "fast_retransmit"]))
    assert (story.events["kind"] == "timer").sum() == len(cwnd)
    assert story.delays["share"].sum() == pytest.approx(1)
    assert story.paths["path"].to_list() == ["0 - 1 - 2 - 3 - 4 - 5 - 6 - 7"]
    assert set(story.events["kind"]) <= set(KINDS)
    assert story.events["time_s"].is_sorted()


@pytest.mark.parametrize("preset", ["standard", "ns2-2.35"])
def test_a_path_includes_a_destination_without_delay(preset: str) -> None:
    story = follow(chappe.Scenario.chain(2, stop="200 delivered", extends=preset))
    assert story.paths["path"].to_list() == ["0 - 1 - 2"]
    assert story.findings[1] == "Its packets take 2 hops: 0 - 1 - 2."


WIRED = {
    "run": {"stop": "1 s", "batches": 1, "warmup_batches": 0},
    "topology": {"hops": 1, "wired_nodes": 2},
    "wired_link": [{"src": 1, "dst": 2}, {"src": 2, "dst": 3, "rate": "1 Mbit/s"}],
    "flow": [{"src": 2, "dst": 3}, {"src": 0, "dst": 1}, {"src": 0, "dst": 3, "app": "cbr"}],
}


def test_a_flow_that_no_radio_carries_has_a_story() -> None:
    """It fills its link; the story of a flow over both names the busier of medium and link."""
    link = "Its bottleneck is the link from node 2 to node 3, busy"
    assert follow(WIRED, 0).findings[-1].startswith(link)
    assert follow(WIRED, 1).findings[-1].startswith("Its bottleneck is node")
    told = overview(chappe.run(WIRED), 3)
    assert set(told.stories) == {0, 1, 2}
    alone = {**WIRED, "topology": {"kind": "none", "wired_nodes": 4}, "flow": [{"src": 1, "dst": 3}]}
    assert overview(chappe.run(alone), 3).stories[0].findings[-1].startswith(link)


def test_a_cause_stands_before_its_effect() -> None:
    """Actions of a sender follow the events of the same instant that cause them, whatever their tables."""
    moving = changed(
        "chain.toml", **{"run.stop": "20 s", "wlan.error": {"model": "uniform", "rate": 0.2, "layer": "net"}}
    )
    for scenario in (moving, STARVED, SCENARIOS["a walk with AODV"]()):
        events = follow(scenario, 1 if scenario is STARVED else 0).events
        causes = 0
        for _, lines in itertools.groupby(events.iter_rows(named=True), key=lambda line: line["time_s"]):
            told = [(line["kind"], line["node"], line["text"]) for line in lines]
            for place, (kind, node, text) in enumerate(told):
                before = [k for k, n, _ in told[:place] if n == node]
                after = [(k, t) for k, n, t in told[place + 1 :] if n == node]
                if kind == "timer":
                    causes += 1
                    assert "sent" not in before, text
                    assert not any(k == "delivered" for k, _ in after), text
                if kind == "loss" and "no route" in text:
                    assert not any(k == "route" and "any more" in t for k, t in after), text
        assert causes > 0


@pytest.mark.parametrize(("more", "end"), [(0, "."), (1, ", and 1 other."), (1200, ", and 1,200 others.")])
def test_losses_beyond_the_three_most_frequent_kinds_are_counted(more: int, end: str) -> None:
    counts = {"queue_full": 5000, "link_loss": 4000, "no_route": 3000, **({"hop_limit": more} if more else {})}
    kinds = [{"packet_type": "udp", "node": 0, "drop_reason": reason, "retry_cause": None} for reason in counts]
    losses = pl.DataFrame(kinds).with_columns(packets=pl.Series(list(counts.values())))
    (text,) = stories_of._lost(losses)
    assert text.startswith("Lost: 5,000 ")
    assert text.removesuffix(end).endswith("at node 0 (no route)")


def test_a_reader_that_holds_a_flow_back_is_named() -> None:
    def told(rate: str) -> str:
        return " ".join(follow(chappe.Scenario.chain(2, {"tcp.reader.rate": rate}, stop="400 delivered")).findings)

    assert "The application of its receiver reads at 200 kbit/s and holds it back." in told("200 kbit/s")
    assert "bottleneck" not in told("200 kbit/s")
    assert "application" not in told("5 Mbit/s")


def test_recoveries_and_states_in_the_story_of_a_linux_sender() -> None:
    """Causes, probes and reductions taken back are those of the table; other senders have no such sentences."""
    linux = {
        "extends": "linux",
        "run": {"stop": "12 s", "batches": 1, "warmup_batches": 0},
        "topology": {"kind": "none", "wired_nodes": 2},
        "wired.error": {"model": "uniform", "rate": 0.02},
        "wired_link": [{"src": 0, "dst": 1, "rate": "10 Mbit/s", "delay": "20 ms", "queue": {"limit": 50}}],
        "flow": [{"src": 0, "dst": 1}, {"src": 0, "dst": 1, "tcp.congestion_control": "bbr"}],
    }
    results = stories_of.watched(linux)
    for flow in (0, 1):
        rows = results.recorded["cwnd"].filter(pl.col("flow") == flow)
        causes = [word for word, _ in itertools.groupby(rows["recovery_state"].cast(pl.String).to_list())]
        by_time, by_count = causes.count("by_time"), causes.count("by_count")
        found = "\n".join(stories_of.story_of(results, flow).findings)
        assert f"{by_time} of them found by time and {by_count} by count" in found
        assert ("BBR spends" in found) == (flow == 1)
    assert "% in probe_bw" in found
    assert by_count > 0
    assert "found by time" not in "\n".join(follow(changed("chain.toml")).findings)


def test_the_story_of_a_packet() -> None:
    story = follow(changed("chain.toml"), packet=100)
    assert story.findings[0].startswith("Packet 100, ")
    assert story.events["packet"].unique().to_list() == [100]
    assert story.events["text"][0].endswith("creates it")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"flow": 9}, "there is no flow 9: the scenario has 1 flow"),
        ({"packet": 10**8}, "there is no packet 100000000: their numbers are from"),
        ({"flow": 0, "packet": 1}, "give a flow or a packet, not both"),
    ],
)
def test_stories_of_nothing(choice: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        follow(changed("chain.toml"), **choice)


def told(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(["follow", *arguments])
        except SystemExit as e:
            code = int(e.code or 0)
    return code, out.getvalue(), err.getvalue()


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "starved.toml"
    file.write_text(chappe.Scenario(STARVED).to_toml(), encoding="utf-8")
    code, out, _ = told(str(file), "--flow", "1", "--only", "timer", "--lines", "2")
    assert code == 0
    assert out.startswith("Flow 1, node 1 to node 2, TCP newreno, starves")
    assert out.count("the timer of node 1 expires") == 2
    assert "further lines" in out
    code, out, _ = told(str(file), "--flow", "1", "--from", "3 s", "--until", "9 s", "--json")
    assert code == 0
    assert all(3 <= line["time_s"] <= 9 for line in json.loads(out)["events"])
    for wrong, message in (
        (["--flow", "7"], "there is no flow 7"),
        (["--from", "soon"], "--from: 'soon' is not an instant"),
        (["--only", "lost"], "did you mean loss"),
        (["--flow", "1", "--packet", "1"], "not allowed with argument"),
        (["--lines", "0"], "a number of lines is a whole number"),
    ):
        code, out, err = told(str(file), *wrong)
        assert (code, out) == (2, "")
        assert message in err


def test_of_many_flows_the_worst_are_told_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others have a line each, in the terminal as on the page, and it is said."""
    late = {"src": 0, "dst": 1, "start": "29 s"}
    many = {**STARVED, "flow": [*STARVED["flow"], {"src": 1, "dst": 0}, late, {**late, "start": "1 h"}]}
    results = chappe.run(many)
    of_flows = overview(results, 2)
    flows = results.flows.with_columns(
        (pl.col("goodput_bps") / pl.col("goodput_bps").mean().over("transport")).alias("x")
    )
    worst = flows.filter(pl.col("started_at_s") < 30).sort("x", "flow")["flow"].head(2).to_list()
    assert list(of_flows.stories) == worst
    assert worst[0] == 1
    assert of_flows.stories[1].findings == follow(many, 1).findings
    others = [flow for flow in range(6) if flow not in worst]
    assert [line.partition(",")[0] for line in of_flows.others] == [f"Flow {flow}" for flow in others]
    assert of_flows.others[-1] == "Flow 5, node 0 to node 1, TCP newreno: it did not begin."
    assert of_flows.note.startswith("Of 6 flows the 2 with the least goodput")
    results.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    # Five flows began, and a page tells eight.
    assert page.count("<h3>Flow ") == 5
    assert "it did not begin" in page
    monkeypatch.setattr(stories, "QUICK", 10)
    long = overview(results, 2)
    assert (long.stories, len(long.others)) == ({}, 6)
    assert long.note == "Stories are told of runs of at most 10 frames."
    monkeypatch.undo()
    small = chappe.run({**many, "run.max_memory": "1 MB"})
    assert overview(small, 2).note.startswith("Stories of flows need more memory")
    assert overview(chappe.run({**STARVED, "run.stop": "1 ms", "flow": [late], "event": []}), 2) == ({}, [], "", "")


def test_paths_and_gateways_are_told() -> None:
    story = follow(changed("base-station.toml"), 0)
    assert story.findings[1].startswith("Its packets take ")
    assert "; they pass gateway " in story.findings[1]
    assert follow(changed("chain.toml")).findings[1] == "Its packets take 7 hops: 0 - 1 - 2 - 3 - 4 - 5 - 6 - 7."


def test_why_tells_the_stories_of_chosen_flows(tmp_path: Path) -> None:
    """Each story is that of `follow`, in words first; the run itself has the results that it has without stories."""
    file = tmp_path / "starved.toml"
    file.write_text(chappe.Scenario(STARVED).with_settings({"flow.1.name": "far"}).to_toml(), encoding="utf-8")

    def printed(*arguments: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            assert cli.main(["run", str(file), "--quiet", *arguments]) == 0
        return out.getvalue()

    assert printed("--why", "--flows", "each") == ""
    told = json.loads(printed("--why", "--flows", "each", "--json"))
    assert [story["flow"] for story in told["why"]["stories"]] == [0, 1, 2]
    for story in told["why"]["stories"]:
        followed = follow(str(file), story["flow"])
        assert story["findings"] == followed.findings
        assert story["delays"] == followed.delays.to_dicts()
    one = json.loads(printed("--why", "--flows", "far", "--json"))
    assert [story["flow"] for story in one["why"]["stories"]] == [1]
    assert one["flows"] == json.loads(printed("--json"))["flows"]
    of_all = json.loads(printed("--why", "--json"))
    by_flow = {story["flow"]: story for story in told["why"]["stories"]}
    assert {story["flow"]: story for story in of_all["why"]["stories"]} == by_flow
    assert of_all["why"]["stories"][0]["flow"] == 1
    assert of_all["flows"] == one["flows"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert cli.main(["run", str(file), "--why", "--flows", "far"]) == 0
    assert "Flow 1, node 1 to node 2, TCP newreno" in out.getvalue()


def test_a_route_by_a_metric_has_its_reason() -> None:
    positions = [["0 m", "0 m"], ["180 m", "120 m"], ["180 m", "-120 m"], ["360 m", "0 m"]]
    scenario = chappe.Scenario(
        {
            "run.stop": "100 s",
            "topology": {"kind": "list", "positions": positions},
            "routing.protocol": "babel",
            "flow": [{"dst": 3, "app": "cbr", "start": "30 s"}],
            "event": [{"at": "35 s", "action": "node_down", "node": node} for node in (1, 2)],
        }
    )
    story = follow(scenario, flow=0)
    texts = story.events.filter(kind="route", node=0)["text"].to_list()
    assert all(", 2 hops" in text for text in texts[:-1]), texts
    assert texts[-1] == "node 0 has no route to node 3 any more"
    # Both ways have two hops, so that a change of a route that is still there is one by metrics.
    (told,) = [f for f in story.findings if f.startswith("At ")]
    found = re.search(r"node 0 changed its route to node 3: over node [12], because (\d+) < (\d+)\. It changed", told)
    assert found is not None, told
    assert int(found[1]) < int(found[2])
