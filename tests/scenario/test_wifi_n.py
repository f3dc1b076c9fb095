"""802.11n and 802.11ac with all around them: topologies, routing, motion, batteries, channels, records, advice."""

from pathlib import Path
from typing import Any

import chappe
import polars as pl
import pytest
from chappe.printing.problems import sketch

Preset = str | list[str]

PRESETS: tuple[Preset, ...] = ("802.11n", "802.11ac", "linux-mesh", ["linux-mesh", "802.11ac"])

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "chain": {"hops": 3, "spacing": "30 m"},
    "grid": {"kind": "grid", "columns": 3, "rows": 2, "spacing": "30 m"},
    "random": {"kind": "random", "nodes": 6, "width": "60 m", "height": "60 m", "seed": 1},
    "list": {"kind": "list", "positions": [["0 m", "0 m"], ["30 m", "0 m"], ["60 m", "10 m"], ["90 m", "0 m"]]},
    "file": {"kind": "file", "file": "nodes.csv"},
}


def run(preset: Preset, **changes: Any) -> chappe.Results:
    """A short run with all tables and airtime."""
    settings = {
        "extends": preset,
        "run.stop": "300 ms",
        "run.airtime": True,
        "run.record": ["packets", "frames", "mpdus", "cwnd", "queue", "routes"],
        "topology": TOPOLOGIES["chain"],
        "flow": [{"dst": 3}, {"src": 3, "dst": 0, "dscp": 46, "app": "cbr"}],
        **changes,
    }
    return chappe.run(settings)


def check(results: chappe.Results) -> None:
    """Packets arrive, air time adds up, and no flow has more than the rate of the PHY."""
    assert min(results.flows["packets_delivered"]) > 0
    assert results.flows["goodput_bps"].sum() < max(results.recorded["frames"]["rate_bps"])
    why = results.why()
    assert why.airtime.group_by("node").agg(pl.col("share").sum())["share"].to_list() == pytest.approx(
        [1] * why.airtime["node"].n_unique()
    )
    mpdus = results.recorded["mpdus"]
    of_data = results.recorded["frames"].filter(pl.col("mpdus") > 0)
    assert mpdus.height >= of_data["mpdus"].sum() > 0
    assert str(why)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_topologies(preset: Preset, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nodes.csv").write_text("x_m,y_m\n0,0\n30,0\n60,5\n90,0\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    check(run(preset, topology=TOPOLOGIES[kind]))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("protocol", ["aodv", "batman_adv", "dsdv", "dsr", "olsr", "shortest_path"])
def test_routing(preset: Preset, protocol: str) -> None:
    stop = "8 s" if protocol in ("batman_adv", "dsdv", "olsr") else "300 ms"
    check(run(preset, **{"routing.protocol": protocol, "run.stop": stop, "tcp.receive_window": 8}))


@pytest.mark.parametrize("preset", PRESETS)
def test_motion_batteries_and_channels(preset: Preset) -> None:
    area = {"width": "90 m", "height": "30 m", "initial": "topology"}
    motion = {"model": "random_waypoint", "max_speed": "20 m/s", **area}
    moving = run(preset, mobility=motion, **{"radio.energy.battery": "0.5 J"})
    check(moving)
    assert max(moving.batteries["remaining_j"]) < 0.5
    check(run(preset, **{"radio.channels": [1, 36], "routing.protocol": "aodv"}))


@pytest.mark.parametrize("preset", PRESETS)
def test_rate_control_and_loss(preset: Preset) -> None:
    for algorithm in ("aarf", "minstrel_ht", "minstrel_ht_ns3", "ideal"):
        results = run(preset, **{"wlan.rate_control.algorithm": algorithm, "wlan.ppdu.mcs": 0})
        check(results)
        assert results.recorded["frames"]["rate_bps"].n_unique() > 2


def test_the_rate_is_that_of_the_mcs() -> None:
    """A scenario is described, and its links are, by the MCS of its data, not by the rate of other frames."""
    of_n = chappe.Scenario({"extends": "802.11n", "run.stop": "1 s", "topology": TOPOLOGIES["chain"]})
    assert "; 65 Mbit/s (MCS 7); " in sketch(of_n)
    assert of_n.links["rate_bps"].max() == 65_000_000
    of_ac = chappe.Scenario(
        {"extends": "802.11ac", "run.stop": "1 s", "topology": TOPOLOGIES["chain"], "wlan.ppdu.streams": 2}
    )
    assert "; 351 Mbit/s (MCS 4, 2 streams); " in sketch(of_ac)
    assert of_ac.links["rate_bps"].max() == 780_000_000
    assert "; 2 Mbit/s; " in sketch(chappe.Scenario.chain(2, stop="110 delivered"))
    adaptive = chappe.Scenario.chain(2, stop="110 delivered", extends="linux-mesh")
    assert "; rates by minstrel_ht; " in sketch(adaptive)


def test_linux_mesh_has_the_radio_of_802_11n() -> None:
    """The preset has the headers of QoS stations, also if 802.11n does not follow it."""
    alone, followed = (
        chappe.Scenario({"extends": presets, "run.stop": "1 s", "topology": TOPOLOGIES["chain"]}).settings
        for presets in ("linux-mesh", ["linux-mesh", "802.11n"])
    )
    assert alone == followed


@pytest.mark.parametrize("radio", ["802.11n", "802.11n-2.4ghz", "802.11ac"])
def test_a_kernel_behind_a_tun_device_leaves_the_station_as_it_is(radio: str) -> None:
    """No driver of Linux is below the device: nodes hold what those of the emulated network do."""
    alone, behind = (
        chappe.Scenario({"extends": presets, "run.stop": "1 s", "topology": TOPOLOGIES["chain"]})
        for presets in (radio, [radio, "linux-tun"])
    )
    assert behind.settings["wlan"]["edca"] == alone.settings["wlan"]["edca"]


def test_advice_tries_shorter_aggregates() -> None:
    """A change of aggregates is tried only where there are any."""
    scenario = chappe.Scenario.chain(2, {"topology.spacing": "30 m"}, stop="300 delivered", extends="802.11n")
    changes = [{"wlan.aggregation.max_mpdus": 1}, {"tcp.receive_window": 1}, {"queue.limit": 10}]
    advice = chappe.advise(scenario, changes, jobs=1)
    verdicts = dict(advice.table.filter(pl.col("measure") == "goodput_bps").select("change", "verdict").iter_rows())
    assert verdicts["wlan.aggregation.max_mpdus = 1"] == verdicts["tcp.receive_window = 1"] == "worse"


def test_bands_have_their_times() -> None:
    """Saturated links at 2.4 GHz against the sums of their times [us]: frames, SIFS, DIFS or AIFS, mean backoffs."""
    long_slots = {"wlan.slot_time": "20 us", "wlan.cca_time": "15 us", "wlan.protection": "11 Mbit/s"}
    for preset, changes, packets, cycle in (
        # 1536 B at 54 Mbit/s and an ACK at 24 Mbit/s, each with 6 us of extension.
        ("802.11g", {}, 1, (248 + 6) + 10 + (28 + 6) + 28 + 7.5 * 9),
        # A CTS of 14 B at 11 Mbit/s before it, and long slots.
        ("802.11g", long_slots, 1, 203 + 10 + (248 + 6) + 10 + (28 + 6) + 50 + 7.5 * 20),
        # 28 MPDUs at 65 Mbit/s and a block acknowledgement at 24 Mbit/s.
        ("802.11n-2.4ghz", {}, 28, (5360 + 6) + 10 + (32 + 6) + 70 + 7.5 * 20),
    ):
        results = chappe.run(
            {
                "extends": preset,
                "run": {"stop": "3 s", "batches": 2, "warmup_batches": 1},
                "topology": {"hops": 1, "spacing": "20 m"},
                "routing.protocol": "shortest_path",
                "cbr": {"interval": "100 us", "payload": "1472 B"},
                "flow": [{"dst": 1, "app": "cbr"}],
                **changes,
            }
        )
        goodput = results.flows["goodput_bps"].item()
        assert goodput == pytest.approx(packets * 1472 * 8 / cycle * 1e6, rel=0.01), (preset, changes)
