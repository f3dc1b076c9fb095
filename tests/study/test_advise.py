"""Advice for a network: which changes are tried, verdicts, findings, the command."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import chappe
import pytest
from chappe import cli
from chappe.study.advise import AS_IT_IS, CHANGES, DELAY, FAIRNESS, FIRST, GOODPUT, _findings, cases_of

CHAIN = chappe.Scenario.chain(6, {"tcp.variant": "newreno"}, stop="550 delivered", extends="ns2-2.35")


def test_changes_without_effect_are_left_out() -> None:
    """The scenario is NewReno's already, and a data network without a radio has no RTS."""
    cases = cases_of(CHAIN, CHANGES)
    assert cases[AS_IT_IS] == {}
    assert "tcp.variant = newreno" not in cases
    assert "tcp.variant = vegas" in cases
    of_wires = chappe.Scenario(
        {
            "topology": {"kind": "none", "wired_nodes": 2},
            "wired_link": [{"src": 0, "dst": 1}],
            "flow": [{"src": 0, "dst": 1}],
            "run.stop": "1 s",
        }
    )
    assert not [name for name in cases_of(of_wires, CHANGES) if "wlan" in name]
    with pytest.raises(ValueError, match="none of the changes has an effect"):
        chappe.advise(CHAIN, [{"tcp.variant": "newreno"}])
    with pytest.raises(chappe.ScenarioError, match="did you mean `variant`"):
        chappe.advise(CHAIN, [{"tcp.varient": "vegas"}])


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
    fifo, of_linux = (set(cases_of(access_point(senders), CHANGES)) for senders in ("linux", "linux-mesh"))
    limits = "wlan.queues = mac80211, wlan.mac80211.limit_low = 1500 us, wlan.mac80211.limit_high = 5 ms"
    tried = {limits, "wlan.queues = mac80211, wlan.mac80211.airtime_fairness = false", "wlan.basic_rate = 24 Mbit/s"}
    tried |= {"wlan.aggregation.max_mpdus = 8", "wlan.aggregation.max_airtime = 2 ms"}
    assert fifo >= tried | {"wlan.queues = mac80211", "queue.discipline = fq_codel"}
    assert of_linux >= tried
    assert "wlan.queues = mac80211" not in of_linux
    assert not [name for name in cases_of(CHAIN, CHANGES) if "mac80211" in name or "basic_rate" in name]


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
    assert _findings(rows, 40, 4) == [
        "4 changes tried with 40 seeds each; 95 % confidence for all of them together.",
        "a: goodput +40 (+35 to +45) %; delay +30 (+25 to +35) %; Jain's index not decided.",
        "b: delay -50 (-55 to -45) %.",
        "Do not: c (-30 (-35 to -25) %).",
        "Not decided with 40 seeds: d.",
    ]
    rts = [row("wlan.rts_threshold = never", GOODPUT, 0.3, "better")]
    assert _findings(rts, 40, 1)[1] == (
        "wlan.rts_threshold = never: goodput +30 (+25 to +35) %. On Linux: `iw phy phy0 set rts off` (`iw help`; "
        "OpenWrt: `uci delete wireless.radio0.rts; uci commit wireless; wifi`)."
    )
    only = [row("d", GOODPUT, 0.02, "open")]
    assert _findings(only, 40, 1)[1] == "No change certainly brings more goodput: none brings more than 7 %."


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
    assert out.startswith("1 change tried with ")
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
    ):
        code, out, err = told(*wrong)
        assert (code, out) == (2, "")
        assert message in err
