"""Advice for a network: which changes are tried, verdicts, findings, the command."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli
from chappe.importing import Named, read
from chappe.study.advise import (
    AS_IT_IS,
    DELAY,
    FAIRNESS,
    FIRST,
    GOODPUT,
    KEPT,
    MEASURES,
    SCREENED,
    WORST,
    Plan,
    _Clock,
    _findings,
    _screened,
    plan_of,
)
from chappe.study.trials import PARTS, trials_of
from chappe.study.trials.trial import OPERATOR, OWNER, SENDER, WHO, Trial

CHAIN = chappe.Scenario.chain(6, {"tcp.variant": "newreno"}, stop="550 delivered", extends="ns2-2.35")


def reasons(plan: Plan) -> dict[str, str]:
    return {left.change: left.reason for left in plan.left_out}


def test_changes_without_effect_are_left_out() -> None:
    """The scenario is NewReno's already, and a data network without a radio has no RTS."""
    plan = plan_of(CHAIN, None)
    assert "tcp.variant = vegas" in plan.trials
    why = reasons(plan)
    assert why["tcp.variant = newreno"] == "the network has it"
    assert why["1 switched off"] == "node 6 cannot be reached from node 0"
    assert why["routing.metric"] == "it belongs to `shortest_path`, and `routing.protocol` is `aodv`"
    assert why["wlan.aggregation.max_mpdus = 8"].startswith("`wlan.aggregation.max_mpdus` has no effect")
    of_wires = chappe.Scenario(
        {
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [{"src": 0, "dst": 1}],
            "flow": [{"src": 0, "dst": 1}],
            "run.stop": "1 s",
        }
    )
    assert not [name for name in plan_of(of_wires, None).trials if "wlan" in name]
    with pytest.raises(ValueError, match="none of the changes has an effect"):
        chappe.advise(CHAIN, [{"tcp.variant": "newreno"}])
    with pytest.raises(ValueError, match="limit_s is a time above 0 s"):
        chappe.advise(CHAIN, [{"tcp.variant": "vegas"}], limit_s=0)
    with pytest.raises(chappe.ScenarioError, match="did you mean `variant`"):
        chappe.advise(CHAIN, [{"tcp.varient": "vegas"}])


def mesh(**settings: Any) -> chappe.Scenario:
    """A chain of measured links from the gateway, node 0, whose host is node 4, to node 3; a weak link skips node 1."""
    signals = ((0, 1, -70), (1, 2, -72), (2, 3, -71), (0, 2, -89))
    rows = "".join(f"{a},{b},{dbm}\n{b},{a},{dbm}\n" for a, b, dbm in signals)
    return chappe.Scenario(
        {
            "extends": "802.11n-2.4ghz",
            "run": {"stop": "300 ms", "batches": 2},
            "topology": {"hops": 3, "spacing": "50 m", "wired_nodes": 1},
            "node": [{"nodes": n, "name": name} for n, name in enumerate(("mill", "barn", "ridge", "quay"))],
            "radio": {"propagation": "links", "links_table": f"src,dst,signal_dbm\n{rows}"},
            "wired_link": [{"src": 4, "dst": 0, "rate": "50 Mbit/s", "delay": "10 ms"}],
            "routing.protocol": "shortest_path",
            "wlan.ppdu.mcs": 0,
            "wlan.rate_control.algorithm": "ideal",
            "flow": [{"src": 4, "dst": 3}],
            **settings,
        }
    )


def test_what_an_engineer_of_a_mesh_can_change() -> None:
    """Routes by hops take the weak link from node 0 to node 2."""
    plan = plan_of(mesh(), None)
    who = {name: trial.who for name, trial in plan.trials.items()}
    assert who["a gateway at quay, an end of a flow, with an uplink like that of mill"] == OPERATOR
    assert who["a gateway at ridge with an uplink like that of mill"] == OPERATOR
    assert who["a second radio and channel between mill and ridge"] == OWNER
    assert who["3 dB more power at mill and ridge"] == OWNER
    assert who["3 dB less power at all nodes"] == OPERATOR
    assert who["antennas with 6 dB more between mill and ridge"] == OWNER
    assert who["the link between mill and ridge not used"] == OPERATOR
    assert who["routing.metric = airtime"] == OPERATOR
    assert (
        who["ridge switched off"] == OPERATOR if "ridge switched off" in who else "ridge switched off" in reasons(plan)
    )
    assert who["tcp.variant = cubic"] == SENDER
    assert reasons(plan)["moving a node"].startswith("measured signals hold for the places")

    def ways(name: str) -> list[list[int] | None]:
        return mesh().with_settings(dict(plan.trials[name].change))._core.paths()

    assert mesh()._core.paths() == [[4, 0, 2, 3]]
    assert ways("the link between mill and ridge not used") == [[4, 0, 1, 2, 3]]
    assert ways("routing.metric = airtime") == [[4, 0, 1, 2, 3]]
    assert ways("a gateway at quay, an end of a flow, with an uplink like that of mill") == [[4, 3]]
    signals = {(a, b): dbm for a, b, dbm, _ in mesh()._core.links()}
    better = mesh().with_settings(dict(plan.trials["antennas with 6 dB more between mill and ridge"].change))
    risen = {(a, b): dbm - signals[a, b] for a, b, dbm, _ in better._core.links()}
    assert {pair for pair, db in risen.items() if db > 5.9} == {(0, 2), (2, 0)}
    assert max(db for pair, db in risen.items() if pair not in ((0, 2), (2, 0))) < 0.1
    by_airtime = plan_of(mesh(**{"routing.metric": "airtime"}), None)
    assert "routing.metric = hops" in by_airtime.trials
    assert reasons(by_airtime)["routing.metric = ett"] == "routes of the flows are the same"


def test_rates_of_links_follow_their_signals() -> None:
    """A bitrate that was measured rises as far as the fastest rate that is decoded."""
    rates = [{"src": a, "dst": b, "mcs": 0} for a, b in ((0, 2), (2, 0), (0, 1))]
    plan = plan_of(mesh(**{"wlan.link_rate": rates, "wlan.rate_control.algorithm": "fixed"}), None)
    risen = plan.trials["antennas with 6 dB more between mill and ridge"].change["wlan.link_rate"]
    fastest = {(a, b): rate for a, b, _, rate in mesh()._core.links()}
    # At -89 dBm the model decodes MCS 0, at -83 dBm MCS 2: 6 dB are the difference of their sensitivities within 1 dB
    # (IEEE 802.11-2020, table 19-23: -82 and -77 dBm).
    assert fastest[0, 2] == 6_500_000
    assert [entry["mcs"] for entry in risen] == [2, 2, 0]


def test_places_are_moved_where_they_decide() -> None:
    plan = plan_of(
        chappe.Scenario(
            {
                "extends": "802.11n",
                "run.stop": "1 s",
                "topology": {"kind": "list", "positions": [["0 m", "0 m"], ["40 m", "0 m"], ["84 m", "0 m"]]},
                "routing.protocol": "shortest_path",
                "radio.propagation": "log_distance",
                "wlan.ppdu.mcs": 7,
                "flow": [{"src": 0, "dst": 2}],
            }
        ),
        None,
    )
    moved = plan.trials["1 moved a quarter of the way towards 2"]
    assert moved.who == OWNER
    assert moved.change["topology.positions"] == [["0.0 m", "0.0 m"], ["51.0 m", "0.0 m"], ["84.0 m", "0.0 m"]]


def test_each_change_has_who_can_make_it() -> None:
    assert len(PARTS) == 6
    for scenario in (CHAIN, mesh(), access_point("linux-mesh")):
        trials, left_out = trials_of(scenario)
        assert {trial.who for trial in trials} <= set(WHO)
        titles = [trial.title for trial in trials]
        assert len(titles) == len(set(titles))
        assert all(left.reason and not left.reason.endswith(".") for left in left_out)
        changed = [trial.uci for trial in trials if trial.uci.startswith("uci ")]
        assert changed
        assert all(
            re.fullmatch(r"uci [^;]+; uci commit (wireless; wifi|network; service network restart)", uci)
            for uci in changed
        )
    assert {trial.title for trial in trials_of(access_point("linux-mesh"))[0]} >= {
        f"tcp.congestion_control = {name}" for name in ("reno", "cubic", "bbr")
    }


def test_the_best_of_a_screen_are_measured_anew() -> None:
    """Windows of one segment are worse, and seeds of the screen are not those of the result."""
    told: list[str] = []
    changes = [{"tcp.receive_window": n} for n in (1, 2, 3, 4, 5, 6, 8)]
    advice = chappe.advise(CHAIN.with_settings({"run.stop": "110 delivered"}), changes, within=0.9, told=told.append)
    assert told[0].startswith(f"7 changes: {len(SCREENED)} runs of each, then the best anew, ")
    assert len(advice.screened) == 7
    assert 1 <= advice.screened["kept"].sum() <= KEPT
    measured = set(advice.table["change"])
    assert measured == set(advice.screened.filter(kept=True)["change"])
    assert not set(advice.study.runs["seed"]) & set(SCREENED)
    assert "They are the best of 7 in 3 runs of each, measured anew with other seeds" in " ".join(advice.findings)


def test_without_time_changes_are_left_out() -> None:
    changes = [{"tcp.receive_window": n} for n in range(1, 9)]
    advice = chappe.advise(CHAIN.with_settings({"run.stop": "110 delivered"}), changes, within=0.9, limit_s=1e-9)
    assert len(advice.screened) == 1
    assert advice.seeds == FIRST
    assert set(advice.left_out["reason"]) == {"the time limit leaves no time to try it"}


def test_without_time_after_the_screen_the_very_best_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([24, 3 * FIRST, 0])
    monkeypatch.setattr(_Clock, "runs_left", lambda _: next(left))
    changes = [{"tcp.receive_window": n} for n in range(1, 8)]
    advice = chappe.advise(CHAIN.with_settings({"run.stop": "110 delivered"}), changes, within=0.9)
    best = advice.screened.filter(kept=True)["change"].to_list()
    assert advice.table["change"].unique(maintain_order=True).to_list() == best[:2]
    assert advice.left_out["change"].to_list() == best[2:]
    assert set(advice.left_out["reason"]) == {"the time limit leaves no time to measure it anew"}


def test_a_screen_keeps_the_best_in_goodput_and_in_delay() -> None:
    gains = {"a": (0.5, 0.1), "b": (-0.05, -0.5), "c": (-0.3, -0.9), "d": (-0.01, 0.2)}
    rows = [
        {"change": name, "measure": measure, "relative": value}
        for name, of in gains.items()
        for measure, value in zip((GOODPUT, DELAY), of, strict=True)
    ]
    plan = Plan({name: Trial({}, OWNER, name) for name in gains}, [])
    screened = _screened(rows, plan, within=0.1)
    assert [row["change"] for row in screened] == ["a", "d", "b", "c"]
    assert [row["change"] for row in screened if row["kept"]] == ["a", "b"]


def access_point(senders: str) -> chappe.Scenario:
    """Two stations at MCS 0 behind an access point, which is node 0, and their host, node 3."""
    return chappe.Scenario(
        {
            "extends": ["802.11n", senders],
            "run": {"stop": "500 ms", "batches": 2},
            "topology": {"kind": "list", "positions": [[f"{x} m", "0 m"] for x in (0, 20, -20)], "wired_nodes": 1},
            "wired_link": [{"src": 3, "dst": 0, "rate": "100 Mbit/s", "delay": "5 ms"}],
            "routing.protocol": "shortest_path",
            "wlan.ppdu.mcs": 0,
            "flow": [{"src": 3, "dst": 1}, {"src": 3, "dst": 2}],
        }
    )


def test_queues_of_the_mac_are_tried_where_packets_wait_there() -> None:
    """Without the queues of mac80211, these are tried, too."""
    fifo, of_linux = (set(plan_of(access_point(senders), None).trials) for senders in ("linux", "linux-mesh"))
    limits = "wlan.queues = mac80211, wlan.mac80211.limit_low = 1500 us, wlan.mac80211.limit_high = 5 ms"
    tried = {limits, "wlan.queues = mac80211, wlan.mac80211.airtime_fairness = false", "wlan.basic_rate = 24 Mbit/s"}
    tried |= {"wlan.aggregation.max_mpdus = 8", "wlan.aggregation.max_airtime = 2 ms"}
    assert fifo >= tried | {"wlan.queues = mac80211", "queue.discipline = fq_codel"}
    assert of_linux >= tried
    assert "wlan.queues = mac80211" not in of_linux
    assert not [name for name in plan_of(CHAIN, None).trials if "mac80211" in name or "basic_rate" in name]


def test_advice_says_where_packets_wait_and_what_linux_is_told() -> None:
    """An interface queue that orders nothing is not the fault of its discipline."""
    changes: list[dict[str, Any]] = [{"queue.discipline": "fq_codel"}, {"tcp.max_cwnd": 20}]
    advice = chappe.advise(access_point("linux"), changes, within=0.9)
    assert advice.findings[-1].startswith(
        "The MAC holds up to 128 packets of a category, first in, first out (`wlan.edca.held_packets`); `queue` orders "
        "only those in front of it. In a run as it is, a packet spends "
    )
    assert advice.findings[-1].endswith(" % in the queue.")
    linux = dict(advice.table.select("change", "linux").iter_rows())
    source = "tc-fq_codel(8); no packet waits there above the queues of mac80211"
    assert linux == {
        "queue.discipline = fq_codel": f"`tc qdisc replace dev wlan0 root fq_codel` ({source})",
        "tcp.max_cwnd = 20": None,
    }
    advice = chappe.advise(access_point("linux-mesh"), [{"wlan.aggregation.max_mpdus": 8}], within=0.9)
    assert advice.findings[-1].startswith("Packets wait in the queues of the MAC, which `wlan.mac80211` sets. In a run")
    assert advice.findings[-1].endswith(" % waiting in the MAC.")
    assert set(advice.table["linux"]) == {"no switch"}


def test_advice_is_that_of_the_comparison() -> None:
    advice = chappe.advise(CHAIN, [{"tcp.variant": "vegas"}, {"tcp.receive_window": 1}], within=0.5)
    compared = advice.study.compare(GOODPUT, "case", baseline=AS_IT_IS)
    relative = dict(advice.table.filter(measure=GOODPUT).select("change", "relative").iter_rows())
    assert relative == pytest.approx(dict(compared.select("case", "relative").iter_rows()))
    assert advice.seeds == advice.study.runs["seed"].n_unique() >= FIRST
    assert set(advice.table["verdict"]) <= {"better", "worse", "same", "open"}
    assert str(advice) == "\n".join(advice.findings)


def test_the_worst_flow_is_compared_if_all_are_measured() -> None:
    two = CHAIN.with_settings({"flow": [{"dst": 6}, {"src": 6, "dst": 0}], "run.stop": "110 delivered"})
    all_flows, one = (chappe.advise(two, [{"tcp.receive_window": 2}], flows=flows, within=0.9) for flows in (None, "0"))
    rows = {row["measure"]: row["estimate"] for row in all_flows.table.iter_rows(named=True)}
    assert set(rows) == {*MEASURES, WORST}
    assert 0 < rows[WORST] < rows[GOODPUT]
    assert WORST not in set(one.table["measure"])
    assert two.with_settings(all_flows.changes["tcp.receive_window = 2"])["tcp.receive_window"] == 2


def test_findings_say_gains_and_costs() -> None:
    def row(change: str, measure: str, relative: float, verdict: str) -> dict[str, object]:
        ends = {"relative_ci_low": relative - 0.05, "relative_ci_high": relative + 0.05}
        return {"change": change, "measure": measure, "relative": relative, **ends, "verdict": verdict}

    rows = [
        *(
            row("a", m, *of)
            for m, of in ((GOODPUT, (0.4, "better")), (DELAY, (0.3, "worse")), (FAIRNESS, (0.0, "open")))
        ),
        *(row("b", m, *of) for m, of in ((GOODPUT, (0.0, "same")), (DELAY, (-0.5, "better")))),
        *(row("c", m, *of) for m, of in ((GOODPUT, (-0.3, "worse")), (DELAY, (-0.9, "better")))),
        row("d", GOODPUT, 0.02, "open"),
    ]
    assert _findings(rows, [], 40) == [
        "Best: a: goodput +40 (+35 to +45) %; delay +30 (+25 to +35) %; Jain's index not decided.",
        "b: delay -50 (-55 to -45) %.",
        "Do not: c (-30 (-35 to -25) %).",
        "Not decided with 40 seeds: d.",
        "4 changes measured with 40 seeds each; 95 % confidence for all of them together.",
    ]
    (never,) = [t for t in trials_of(CHAIN)[0] if t.title == "wlan.rts_threshold = never"]
    rts = [{**row(never.title, GOODPUT, 0.3, "better"), "who": never.who, "linux": never.said}]
    assert _findings(rts, [], 40)[0] == (
        "Best: wlan.rts_threshold = never: goodput +30 (+25 to +35) %. For the operator of the network. On Linux: "
        "`iw phy phy0 set rts off` (`iw help`; OpenWrt: `uci delete wireless.radio0.rts; uci commit wireless; wifi`)."
    )
    starving = [
        *(row("g", m, *of) for m, of in ((GOODPUT, (0.5, "better")), (WORST, (-0.7, "worse")))),
        *(row("h", m, *of) for m, of in ((GOODPUT, (0.3, "better")), (WORST, (-0.1, "worse")))),
        *(row("i", m, *of) for m, of in ((GOODPUT, (0.2, "better")), (WORST, (0.6, "better")))),
        *(
            row("j", m, *of)
            for m, of in ((GOODPUT, (0.1, "open")), (DELAY, (-0.4, "better")), (WORST, (-0.8, "worse")))
        ),
    ]
    assert _findings(starving, [], 40)[:3] == [
        "Best: h: goodput +30 (+25 to +35) %; goodput of the worst flow -10 (-15 to -5) %.",
        "i: goodput +20 (+15 to +25) %; goodput of the worst flow +60 (+55 to +65) %.",
        "Do not: g (goodput of the worst flow -70 (-75 to -65) %); j (goodput of the worst flow -80 (-85 to -75) %).",
    ]
    assert _findings(starving[:2], [], 40)[:2] == [
        "No change certainly brings more goodput and keeps the worst flow.",
        "Do not: g (goodput of the worst flow -70 (-75 to -65) %).",
    ]
    only = [row("d", GOODPUT, 0.02, "open")]
    lost = [{"change": "e", "goodput": -0.5}, {"change": "f", "goodput": -0.1}]
    assert _findings(only, lost, 40)[:2] == [
        "No change certainly brings more goodput: none brings more than 7 %.",
        "Do not: e (-50 % in the screen).",
    ]


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(CHAIN.with_settings({"run.stop": "220 delivered"}).to_toml(), encoding="utf-8")

    def told(*arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(tmp_path):
            try:
                code = cli.main(["advise", str(file), *arguments])
            except SystemExit as e:
                code = int(e.code or 0)
        return code, out.getvalue(), err.getvalue()

    changes = ("--change", "tcp.variant=vegas,tcp.receive_window=8", "--within", "90 %")
    code, out, _ = told(*changes)
    assert code == 0
    assert "1 change measured with " in out
    assert "tcp.variant = vegas, tcp.receive_window = 8" in out
    assert (tmp_path / "results/chain-advice/study.json").exists()
    code, out, _ = told(*changes, "--json")
    assert code == 0
    assert {row["change"] for row in json.loads(out)["rows"]} == {"tcp.variant = vegas, tcp.receive_window = 8"}
    for wrong, message in (
        (["--change", "vegas"], "is not of the form NAME=VALUE"),
        (["--change", "tcp.varient=vegas"], "did you mean `variant`?"),
        (["--change", "tcp.variant=newreno"], "none of the changes has an effect"),
        (["--flows", "each", *changes], "'each' is for summaries"),
        (["--within", "2"], "a share is between"),
        (["--limit", "0 s", *changes], "limit_s is a time above 0 s"),
        (["--limit", "soon", *changes], "--limit: 'soon' is not an instant"),
    ):
        code, out, err = told(*wrong)
        assert (code, out) == (2, "")
        assert message in err


def test_a_metric_that_changes_the_way_back_alone_is_tried(tmp_path: Path) -> None:
    """Data go the same way by hops as by TQ, acknowledgements do not: they leave through the other gateway."""
    files = Path(__file__).parents[1] / "importing" / "files"
    named = [Named(str(files / "meshviewer-yanic.json")), Named(str(files / "iw-station-dump.txt"), "chapel")]
    named += [Named(str(files / name)) for name in ("batctl-gwl-iv.txt", "batctl-o-iv.txt")]
    for name, text in read(named).files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    scenario = chappe.Scenario.load(tmp_path / "scenario.toml")
    by_hops = scenario.with_settings({"routing.metric": "hops"})
    assert scenario._core.paths() == by_hops._core.paths()
    assert "routing.metric = hops" in plan_of(scenario, None).trials


def test_flows_without_a_way_back_get_advice() -> None:
    """Datagrams go over a wire in one direction: no path leads back."""
    wire = {"src": 0, "dst": 1, "duplex": False}
    flow = {"src": 0, "dst": 1, "app": "cbr"}
    scenario = chappe.Scenario(
        {"run.stop": "2 s", "topology": {"kind": "none", "wired_nodes": 2}, "wired_link": [wire], "flow": [flow]}
    )
    assert plan_of(scenario, None).trials is not None
