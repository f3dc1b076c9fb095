"""Captures read by tshark: nothing malformed, checksums right, and an analysis of TCP that agrees with our counters.

Needs tshark; ``make test-captures`` runs it.
"""

import subprocess
from pathlib import Path

import captured
import chappe
import pytest
from captured import RUNS

CHECKED = [
    *("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"),
    *("-o", "udp.check_checksum:TRUE", "-o", "wlan.check_checksum:TRUE"),
]

BAD = (
    "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 "
    "|| wlan.fcs.status == 0"
)


def matching(file: Path, condition: str) -> list[str]:
    """Lines of the packets of a file that meet a condition of tshark."""
    command = ["tshark", "-n", *CHECKED, "-r", str(file), "-Y", condition]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def at_ip(file: Path) -> Path:
    """A copy of a file with the packets of the interface ``ip`` only."""
    copy = file.with_name(f"ip-{file.name}")
    command = ["tshark", "-r", str(file), "-Y", 'frame.interface_name == "ip"', "-w", str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    return copy


@pytest.mark.parametrize("name", RUNS)
def test_tshark_finds_nothing_wrong_and_counts_as_we_do(name: str, tmp_path: Path) -> None:
    results = captured.run(RUNS[name], pcap=tmp_path)
    for file in sorted(tmp_path.glob("node-*.pcapng")):
        assert matching(file, BAD) == []
        order = subprocess.run(["capinfos", "-o", str(file)], check=True, capture_output=True, text=True).stdout
        assert "Strict time order:   True" in order
    compared = 0
    for flow in results.flows.filter(results.flows["variant"].is_not_null()).to_dicts():
        file = at_ip(tmp_path / f"node-{flow['src']}.pcapng")
        sent = f"tcp.srcport == {40000 + flow['flow']} && "
        received = f"tcp.dstport == {40000 + flow['flow']} && "
        # Wireshark calls a retransmission within the first round-trip time out of order: a segment cannot be that where
        # it is sent.
        again = len(matching(file, sent + "(tcp.analysis.retransmission || tcp.analysis.out_of_order)"))
        duplicates = len(matching(file, received + "tcp.analysis.duplicate_ack"))
        # These repeat a number without being duplicates (RFC 5681, section 2).
        answers = len(matching(file, received + "tcp.flags.syn == 1"))
        updates = len(matching(file, received + "tcp.analysis.window_update"))
        repeated = duplicates + max(answers - 1, 0) + updates
        assert (again, repeated) == captured.expected(results, flow["flow"])
        assert duplicates >= updates
        compared += again
    assert compared > 0
    assert flow_fields(name, tmp_path)


def flow_fields(name: str, folder: Path) -> bool:
    """True if the files have what the run is named after."""
    wanted = {
        "aodv": "aodv.type == 3 || aodv.type == 2",
        "dsr": "dsr.option.type == 96",
        "dsr_flow_state": "dsr.flowstate == 1",
        "babel": "babel.message.metric == 256",
        "batman_adv": "batadv.iv_ogm.flags.directlink == 1 && batadv.iv_ogm.tvlv_len == 28",
        "dsdv": "udp.port == 50000",
        "olsr": "olsr.message_type == 2 && olsr.ansn",
        "olsr_quality": "olsr.message_type == 202",
        "sack": "tcp.options.sack_le && tcp.options.timestamp.tsval",
        "ecn": "tcp.flags.ece == 1 && ip.dsfield.ecn == 0",
        "wires": 'frame.interface_name == "wire to 5"',
        "split": 'frame.comment contains "consumed by a middlebox"',
        "snoop": 'frame.comment contains "created by a middlebox"',
        "eln": 'frame.comment contains "explicit loss notification"',
        "short_flows": "tcp.dstport == 5001 && tcp.srcport > 40000 && tcp.flags.syn == 1",
        "closing": "tcp.flags.fin == 1 && tcp.srcport == 5001",
        "neighborhood_red": 'frame.comment contains "congestion notification"',
        "ns2_vegas": "aodv",
        "aggregates": "wlan.fc.type_subtype == 0x28 && radiotap.ampdu.reference && radiotap.mcs.index == 7",
        "vht": "wlan.fc.type_subtype == 0x19 && wlan.fixed.ssc.sequence",
        "minstrel_ht": "radiotap.mcs.index == 15 && radiotap.channel.freq == 2412",
        "two_channels": 'frame.interface_name == "radio 1" && radiotap.channel.freq == 5180',
    }
    return any(matching(file, wanted[name]) for file in sorted(folder.glob("node-*.pcapng")))


@pytest.mark.parametrize("seed", range(4))
def test_short_flows_have_the_retransmissions_of_the_table(seed: int, tmp_path: Path) -> None:
    """Random loads over lossy links, with repeated SYNs, FINs and last segments."""
    size = {"distribution": ["exponential", "pareto", "fixed"][seed % 3], "mean": ["500 B", "5 kB", "20 kB"][seed % 3]}
    results = captured.run(
        {
            "run": {"stop": "20 s", "batches": 1, "warmup_batches": 0, "seed": seed + 1},
            "topology": {"kind": "none", "wired_nodes": 3},
            "wired": {"rate": "2 Mbit/s", "delay": "15 ms", "error": {"model": "uniform", "rate": 0.1}},
            "wired_link": [{"src": 0, "dst": 1}, {"src": 1, "dst": 2}],
            "tcp": {"syn": False} if seed == 3 else {"fin": seed % 2 == 0},
            "flow": [{"src": 0, "dst": 2, "app": "requests"}],
            "arrival_process": [
                {"src": 0, "dst": 2, "rate": 3, "size": size},
                {"src": 0, "dst": 1, "rate": 3, "size": size},
            ],
        },
        pcap=tmp_path,
    )
    file = at_ip(tmp_path / "node-0.pcapng")
    short = results.short_flows.filter(results.short_flows["flow"].is_null())
    wanted = [results.flows["retransmissions"][0], *short["retransmissions"]]
    command = ["tshark", "-n", "-r", str(file), "-T", "fields", "-e", "tcp.srcport", "-Y"]
    # A segment of one byte that is repeated looks like a keep-alive.
    kinds = "tcp.analysis.retransmission || tcp.analysis.out_of_order || tcp.analysis.keep_alive"
    again = f"tcp.srcport >= 40000 && ({kinds})"
    found = subprocess.run([*command, again], check=True, capture_output=True, text=True).stdout.split()
    assert [found.count(str(40_000 + number)) for number in range(len(wanted))] == wanted
    assert sum(wanted) > 10


@pytest.mark.parametrize(("preset", "sifs_us"), [("standard", 10), ("802.11a", 16), ("802.11n", 16)])
def test_an_acknowledgement_follows_after_sifs(preset: str, sifs_us: int, tmp_path: Path) -> None:
    flow = {"src": 0, "dst": 1, "app": "cbr", "cbr.interval": "5 ms"}
    settings = {"extends": preset, "topology.hops": 1, "run": {"stop": "0.3 s", "batches": 2}, "flow": [flow]}
    chappe.run(settings, pcap=tmp_path)
    command = ["tshark", "-r", str(tmp_path / "node-0.pcapng"), "-o", "wlan_radio.tsf_at_end:FALSE"]
    acks = ["-Y", "wlan.fc.type_subtype in {0x1d, 0x19}", "-T", "fields", "-e", "wlan_radio.ifs"]
    said = subprocess.run([*command, *acks], check=True, capture_output=True, text=True).stdout.split()
    # Propagation there and back, and times in whole microseconds.
    assert set(map(int, said)) <= {sifs_us, sifs_us + 1, sifs_us + 2}
    assert len(said) > 30


def test_merged_captures_keep_their_nodes(tmp_path: Path) -> None:
    chappe.run(chappe.Scenario.chain(2, {"node": [{"nodes": 1, "name": "mill"}]}, stop="20 delivered"), pcap=tmp_path)
    merged, files = tmp_path / "merged.pcapng", sorted(map(str, tmp_path.glob("node-*.pcapng")))
    subprocess.run(["mergecap", "-w", str(merged), *files], check=True, capture_output=True)
    for file, node in zip(files, ("node 0", "node 1, mill", "node 2"), strict=True):
        assert len(matching(merged, f'frame.interface_description == "{node}"')) == len(matching(Path(file), "frame"))
