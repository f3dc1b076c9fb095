"""`chappe import`: one invented network in every format, against what it is."""

import contextlib
import csv
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import chappe
import pytest
from chappe import cli
from chappe.importing import DUMPS, FORMATS, Named, read
from chappe.importing.scenario import Written
from chappe.importing.source import MisreadError, Source
from chappe.importing.survey import HT_MBPS
from hypothesis import given, settings
from hypothesis import strategies as st

FILES = Path(__file__).parent / "files"

NAMES = ("mill", "chapel", "barn", "ridge", "school", "quay")

CALL = "Q0CALL-{}"
"""Names of AREDN."""


def of_files(*names: str, owner: str = "", form: str | None = None) -> Written:
    return read([Named(str(FILES / name), owner) for name in names], form)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def truth(name: str) -> list[dict[str, str]]:
    return rows((FILES / f"truth-{name}.csv").read_text(encoding="utf-8"))


def name_of(number: int, text: str) -> str:
    """Name of a node in an import, which may have an address or a name of another form."""
    forms = (
        NAMES[number], CALL.format(NAMES[number].upper()), f"n-10.9.0.{number + 1}", f"02-00-5e-00-0{number + 1}-01",
        f"n-42-00-00-00-0{number}-00", f"02-00-5e-00-0{number + 1}-00", f"sta{number + 1}", f"n{number + 1}",
    )  # fmt: skip
    found = [form for form in forms if f"{form}," in text]
    assert len(found) < 2, (number, found)
    # A dump of a node knows its neighbors alone.
    return found[0] if found else ""


LINKS: dict[str, tuple[str, str, int, dict[str, float]]] = {
    # file: owner, nodes of the directions, their number, and what is known with which tolerance
    "meshviewer-yanic.json": ("", "all", 14, {"loss": 1 / 255}),
    "hopglass-graph-v1.json": ("", "worse", 14, {"loss": 1 / 255}),
    "alfred-vis.json": ("", "all", 14, {"loss": 1 / 255}),
    "respondd-neighbours.json": ("", "from chapel", 3, {"loss": 1 / 255}),
    "openwifimap-rows.json": ("", "all", 14, {"signal_dbm": 0, "mcs": 0, "loss": 1 / 255}),
    "netjson-graph-olsr.json": ("", "all", 14, {"loss": 0.001}),
    "netjson-monitoring-openwisp.json": ("", "to chapel", 3, {"signal_dbm": 0}),
    "meshnet-lab-graph.json": ("", "all", 14, {"loss": 1 / 255}),
    "libremesh-wifi_links_info.json": ("", "three nodes", 8, {"signal_dbm": 0, "mcs": 0}),
    "libremesh-bat_links_info.json": ("", "all", 14, {"loss": 1 / 255}),
    "aredn-sysinfo-1.x-olsr.json": ("", "both of chapel", 6, {"signal_dbm": 0, "mcs": 0, "loss": 0.001}),
    "aredn-sysinfo-2.0-babel.json": ("", "both of chapel", 6, {"signal_dbm": 0}),
    "olsrd-jsoninfo-0.6.json": ("", "all", 14, {"loss": 0.001}),
    "olsrd-jsoninfo-0.9.json": ("", "all", 14, {"loss": 0.001}),
    "olsrd-txtinfo.txt": ("", "all", 14, {"loss": 0.001}),
    "oonf-nhdpinfo-link.json": ("chapel", "to chapel", 3, {"mcs": 0, "loss": 1 / 32}),
    "batctl-o-iv.txt": ("", "from chapel", 3, {"loss": 1 / 255}),
    "batctl-oj.json": ("chapel", "from chapel", 3, {"loss": 1 / 255}),
    # Hellos of 16 intervals, of which the newest weigh more in a cost.
    "babeld-dump.txt": ("", "both of chapel", 6, {"loss": 0.08}),
    "bird-show-babel-neighbors.txt": ("chapel", "both of chapel", 6, {"loss": 1 / 16}),
    "iw-station-dump.txt": ("chapel", "both of chapel", 6, {"signal_dbm": 0, "mcs": 0}),
    "iw-scan.txt": ("chapel", "to chapel", 3, {"signal_dbm": 0}),
    "nodes.geojson": ("", "signals", 7, {"signal_dbm": 0}),
    "wmediumd-snr.cfg": ("", "all", 14, {"signal_dbm": 0}),
    "wmediumd-prob.cfg": ("", "all", 14, {"loss": 0}),
}


@pytest.mark.parametrize("file", LINKS)
def test_links_are_those_of_the_network(file: str) -> None:
    """Signal, MCS and loss of each direction equal the truth as far as the format tells them."""
    owner, which, number, known = LINKS[file]
    found = of_files(file, owner=owner)
    survey = found.files["links.csv"]
    # Below the first comment are signals that nobody measured.
    head, *_ = survey.partition("# signals by")
    signals = {(r["src"], r["dst"]): r["signal_dbm"] for r in rows(head)}
    measured = {
        (r["src"], r["dst"]): {
            "signal_dbm": signals.get((r["src"], r["dst"]), ""),
            "mcs": str(HT_MBPS.index(float(r["bitrate_bps"]) / 1e6)) if r["bitrate_bps"] else "",
            "loss": r["frame_loss"],
        }
        for r in rows(survey)
    }
    compared = dict.fromkeys(known, 0)
    for link in truth("links"):
        src, dst = int(link["src"]), int(link["dst"])
        if "chapel" in which and 1 not in (src, dst):
            continue
        row = measured.get((name_of(src, survey), name_of(dst, survey)))
        if row is None:
            # Nothing was measured of it.
            continue
        for column, tolerance in known.items():
            if row[column] == "":
                continue
            true = float(link[column])
            if which == "worse":
                true = max(
                    true,
                    *(float(b["loss"]) for b in truth("links") if (b["src"], b["dst"]) == (link["dst"], link["src"])),
                )
            assert float(row[column]) == pytest.approx(true, abs=tolerance + 1e-3), (link, row)
            compared[column] += 1
    assert max(compared.values()) == number, compared


PLACES = {
    "meshviewer-yanic.json": 6,
    "hopglass-nodes-v2.json": 7,
    "openwifimap-rows.json": 6,
    "meshnet-lab-graph.json": 6,
    "nodes.geojson": 6,
    "nodes.kml": 7,
    "track.gpx": 6,
    "wmediumd-path_loss.cfg": 6,
    "core-scenario.xml": 6,
    "core-scenario.imn": 6,
    "mininet_wifi_mesh.py.txt": 6,
}


@pytest.mark.parametrize("file", PLACES)
def test_places_are_those_of_the_network(file: str) -> None:
    """Up to the origin, and half of a meter: coordinates have six digits, pixels a tenth."""
    nodes = of_files(file).files["nodes.csv"]
    found = {r["name"]: (float(r["x_m"]), float(r["y_m"])) for r in rows(nodes)}
    assert len(found) == PLACES[file]
    true = [(float(r["x_m"]), float(r["y_m"])) for r in truth("positions")][:6]
    placed = [found[name_of(n, nodes)] for n in range(6)]
    dx, dy = (placed[0][i] - true[0][i] for i in (0, 1))
    for (x, y), (tx, ty) in zip(placed, true, strict=True):
        assert math.hypot(x - dx - tx, y - dy - ty) < 0.5, (file, x, y)


ALONE = sorted(
    p.name for p in FILES.iterdir()
    if not p.name.startswith(("truth", "cbrgen", "batctl-gwl", "batctl-tg", "iw-survey", "respondd-n", "respondd-s"))
)  # fmt: skip


@pytest.mark.parametrize("file", ALONE)
def test_an_import_runs(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    owner = "" if LINKS.get(file, ("",))[0] == "" and not file.startswith("iw-") else "chapel="
    assert cli.main(["import", f"{owner}{FILES / file}", "--out", "my"]) == 0
    assert cli.main(["check", "my/scenario.toml"]) == 0
    results = chappe.run(chappe.Scenario.load("my/scenario.toml").with_settings({"run.stop": "2 s"}))
    assert results.flows["packets_delivered"].sum() > 0


def test_all_formats_are_tried() -> None:
    from chappe.importing import _recognized
    from chappe.importing.source import Source

    found = {
        _recognized(Source(p.name, p.read_text(encoding="utf-8")), None).name
        for p in FILES.iterdir()
        if not p.name.startswith("truth")
    }
    assert found == {form.name for form in FORMATS}


def test_files_of_a_network_become_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A map has places and qualities, a dump signals and bitrates, batctl the gateways."""
    map_, dump, gateways = (
        str(FILES / n) for n in ("meshviewer-yanic.json", "iw-station-dump.txt", "batctl-gwl-iv.txt")
    )
    arguments = ["import", map_, f"chapel={dump}", gateways, str(FILES / "babeld-dump.txt"), "-o", str(tmp_path / "my")]
    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    assert "6 nodes with a radio, 7 radio links; 1 node behind wires" in out
    assert "Left out: 2 tunnels, no radio links" in out
    assert "Left out: 1 node behind tunnels alone: far-vpn" in out
    scenario = chappe.Scenario.load(tmp_path / "my" / "scenario.toml")
    assert list(scenario.names.values()) == [*NAMES, "attic", "internet"]
    survey = rows((tmp_path / "my" / "links.csv").read_text(encoding="utf-8"))
    to_chapel = {r["src"]: r for r in survey if r["dst"] == "chapel"}
    expected = {"mill": "-64.0", "barn": "-74.0", "ridge": "-69.0"}
    assert {name: r["signal_dbm"] for name, r in to_chapel.items()} == expected
    assert to_chapel["barn"]["bitrate_bps"] == "26000000"
    wires = [(r["src"], r["dst"]) for r in scenario.settings["wired_link"]]
    # attic at mill, and the uplinks of mill and quay.
    assert wires == [(0, 6), (7, 0), (7, 5)]
    assert scenario["wired_link"][1]["rate"] == "50 Mbit/s"
    results = chappe.run(scenario)
    assert results.flows["goodput_bps"][0] > 1e6
    # The first of those that are two hops from the nearest gateway, over the air.
    assert results.flows.select("src_name", "dst_name").row(0) == ("internet", "ridge")
    assert results.frames_sent > 0
    assert len(scenario.plot().axes[0].texts) >= 6
    # Nothing is replaced.
    assert cli.main(arguments) == 2
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("others", "owner", "said"),
    [
        (["iw-station-dump.txt"], "chapel", []),
        (["iw-station-dump.txt"], "CHAPEL", []),
        (
            ["iw-station-dump.txt"],
            "chapl",
            ["no other file names chapl, on which iw-station-dump.txt was made: did you mean chapel?"],
        ),
        (["iw-station-dump.txt"], "tower", ["no other file names tower, on which iw-station-dump.txt was made"]),
        (["iw-station-dump.txt"], "ridge", ["a file says that ridge hears itself: was the file made on another node?"]),
        (
            ["olsrd-txtinfo.txt", "olsrd-jsoninfo-0.9.json"],
            "",
            [
                "files have no node in common, by name or address, and make 2 networks: meshviewer-yanic.json; "
                "olsrd-txtinfo.txt, olsrd-jsoninfo-0.9.json"
            ],
        ),
    ],
)
def test_what_hardly_belongs_together_is_said(others: list[str], owner: str, said: list[str]) -> None:
    found = read([Named(str(FILES / "meshviewer-yanic.json")), *(Named(str(FILES / name), owner) for name in others)])
    assert found.doubtful == said
    assert all(f"# - {text}\n" in found.files["scenario.toml"] for text in said)


@pytest.mark.parametrize("form", DUMPS)
def test_a_dump_that_ends_amid_a_line_is_refused(tmp_path: Path, form: str) -> None:
    (name, *_) = [p.name for p in sorted(FILES.iterdir()) if _format(p) == form]
    cut = (FILES / name).read_text(encoding="utf-8").rstrip()[:-1]
    dump = tmp_path / name
    dump.write_text(cut, encoding="utf-8")
    lines = len(cut.splitlines())
    with pytest.raises(MisreadError, match=rf"line {lines}: it has no end: is the file cut off\?"):
        read([Named(str(dump), "chapel")])


def _format(file: Path) -> str | None:
    """Name of the format of a file."""
    source = Source(file.name, file.read_text(encoding="utf-8"))
    return next((form.name for form in FORMATS if form.is_this(source)), None)


STATION = """Station 02:00:00:00:00:02 (on mesh0)
	signal:  	{signal} dBm
	tx packets:	100
	tx bitrate:	{bitrate}
"""


def imported(tmp_path: Path, *files: tuple[str, str, str]) -> Written:
    """Import of files with these names, owners and texts."""
    for name, _, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    return read([Named(str(tmp_path / name), owner) for name, owner, _ in files])


@pytest.mark.parametrize(
    ("bitrate", "bps"),
    [
        ("300.0 MBit/s MCS 15 40MHz short GI", 270_000_000),
        ("270.0 MBit/s MCS 15 40MHz", 270_000_000),
        ("130.0 MBit/s MCS 15", 130_000_000),
        ("292.5 MBit/s VHT-MCS 7 80MHz VHT-NSS 1", 292_500_000),
    ],
)
def test_bitrates_of_wide_channels_are_those_that_were_measured(tmp_path: Path, bitrate: str, bps: int) -> None:
    files = imported(tmp_path, ("a.txt", "A", STATION.format(signal=-60, bitrate=bitrate))).files
    assert f",{bps}," in files["links.csv"]
    wide = "measured in channels of up to"
    assert (wide in files["scenario.toml"]) == (bps != 130_000_000)


def test_neighbors_that_no_other_file_knows_are_doubtful(tmp_path: Path) -> None:
    dump = STATION.format(signal=-60, bitrate="65.0 MBit/s MCS 7")
    points = [
        {"type": "Feature", "properties": {"name": n}, "geometry": {"type": "Point", "coordinates": [9 + i / 1000, 48]}}
        for i, n in enumerate("ABC")
    ]
    places = "places.geojson", "", json.dumps({"type": "FeatureCollection", "features": points})
    other = dump.replace(":02 ", ":01 ")
    told = imported(tmp_path, places, ("a.txt", "A", dump), ("b.txt", "B", other)).doubtful
    new = "no neighbor in {} is a node of another file, by name or address: it makes 1 new node"
    assert [text.partition(";")[0] for text in told] == [new.format("a.txt"), new.format("b.txt")]
    survey = (FILES / "iw-survey-dump.txt").read_text(encoding="utf-8")
    assert imported(tmp_path, ("a.txt", "A", dump), ("survey.txt", "A", survey)).doubtful == []


def test_signals_without_a_minus_are_doubtful(tmp_path: Path) -> None:
    told = imported(tmp_path, ("a.txt", "A", STATION.format(signal=64, bitrate="65.0 MBit/s MCS 7"))).doubtful
    assert told == ["1 link with signals above 0 dBm: is a minus missing?"]


@pytest.mark.parametrize(
    ("text", "format_", "message"),
    [
        (
            STATION.format(signal="loud", bitrate="1"),
            None,
            "line 2: it is not in the form of its format: 'loud' is no number",
        ),
        ('{"nodes": 3, "links": "x"}', "meshviewer", "it is not in the form of its format"),
    ],
)
def test_mistakes_are_told_in_words(tmp_path: Path, text: str, format_: str | None, message: str) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    with pytest.raises(MisreadError) as e:
        read([Named(str(tmp_path / "a.txt"), "A")], format_)
    assert str(e.value).endswith(f"a.txt: {message}")


def test_a_network_is_checked_against_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bit rates, retries and expected throughputs of `iw` stand beside those of the model, the worst first."""
    dump = FILES / "iw-station-dump.txt"
    assert cli.main(["import", f"chapel={dump}", "-o", str(tmp_path / "my")]) == 0
    scenario = chappe.Scenario.load(tmp_path / "my" / "scenario.toml")
    survey = scenario.survey
    assert survey["factor"].to_list() == sorted(survey["factor"], reverse=True)
    from_chapel = survey.filter(survey["src"] == {name: n for n, name in scenario.names.items()}["chapel"])
    # 12,614 retries of 130,887 packets; iw prints 34.277 for 34.277 x 1,024 x 1,024 bit/s.
    assert from_chapel["measured_retry_share"].to_list() == [pytest.approx(12614 / (130887 + 12614), abs=1e-4)] * 3
    assert from_chapel["measured_throughput_bps"].max() == pytest.approx(34.277 * 1024**2, abs=1)
    assert from_chapel.select("measured_bitrate_bps").equals(
        from_chapel.select(measured_bitrate_bps="modeled_bitrate_bps")
    )
    assert from_chapel["src_name"].unique().to_list() == ["chapel"]
    assert survey["dst_name"].null_count() == 0
    worst = survey.row(0, named=True)
    assert worst["factor"] == pytest.approx(worst["modeled_throughput_bps"] / worst["measured_throughput_bps"])
    capsys.readouterr()
    assert cli.main(["check", str(tmp_path / "my" / "scenario.toml")]) == 0
    out = capsys.readouterr().out
    assert "rates by wlan.link_rate" in out
    assert "Measured and modeled links, the worst first (6 directions)" in out
    assert "9 %, model 0 %" in out
    assert cli.main(["check", "--json", str(tmp_path / "my" / "scenario.toml")]) == 0
    assert len(json.loads(capsys.readouterr().out)["survey"]) == 6


def test_a_signal_that_was_measured_several_times_has_a_deviation(tmp_path: Path) -> None:
    text = (FILES / "iw-station-dump.txt").read_text(encoding="utf-8")
    later = tmp_path / "later.txt"
    later.write_text(text.replace("-64 [-67, -67]", "-68 [-71, -71]"), encoding="utf-8")
    files = [Named(str(FILES / "iw-station-dump.txt"), "chapel"), Named(str(later), "chapel")]
    found = {(r["src"], r["dst"]): r for r in rows(read(files).files["links.csv"])}
    measured = {r["signal_dbm"]: r["sd_db"] for ends, r in found.items() if ends[1] == "chapel"}
    assert measured == {"-66.0": "2.8", "-74.0": "", "-69.0": ""}


def test_assumptions_on_links_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "my.toml"
    file.write_text(
        'extends = "802.11n"\nrun.stop = "1 s"\ntopology.hops = 2\nflow = [{ src = 0, dst = 1 }]\nwlan.ppdu.mcs = 0\n'
        '[radio]\npropagation = "links"\nlinks_symmetric = true\nlinks_sd = "2 dB"\nsinr.fading = "rayleigh"\n'
        'links_table = """src,dst,signal_dbm,frame_loss\n0,1,-60,\n1,2,,0.3\n"""\n',
        encoding="utf-8",
    )
    assert cli.main(["check", str(file)]) == 0
    out = capsys.readouterr().out
    assert "Signals of 1 direction follow from lost frames." in out
    assert "2 directions of links were not measured: they have the signal of the other direction" in out
    assert "Signals are drawn anew for each run" in out
    assert "30 %, model 30 %" in out


METRICS = {
    "babeld-dump.txt": "babel",
    "bird-show-babel-neighbors.txt": "babel",
    "aredn-sysinfo-2.0-babel.json": "babel",
    "aredn-sysinfo-1.x-olsr.json": "etx",
    "olsrd-txtinfo.txt": "etx",
    "olsrd-jsoninfo-0.9.json": "etx",
    "netjson-graph-olsr.json": "etx",
    "openwifimap-rows.json": "etx",
    "netjson-collection-olsrv2.json": "ett",
    "oonf-nhdpinfo-link.json": "ett",
    "batctl-o-v.txt": "ett",
    "batctl-o-iv.txt": "tq",
    "batctl-oj.json": "tq",
    "alfred-vis.json": "tq",
    "hopglass-graph-v1.json": "tq",
    "respondd-neighbours.json": "tq",
    "libremesh-bat_links_info.json": "tq",
    "iw-mpath-dump.txt": "linux_airtime",
    "meshviewer-yanic.json": "",
}


@pytest.mark.parametrize("file", METRICS)
def test_routes_have_the_metric_of_the_daemon(file: str) -> None:
    text = of_files(file, owner="chapel").files["scenario.toml"]
    if METRICS[file]:
        assert f'\nmetric = "{METRICS[file]}"    # by ' in text
    else:
        assert "\nmetric = " not in text
        assert "no file tells the routing daemon" in text


def test_files_of_several_daemons_name_their_metrics() -> None:
    text = of_files("batctl-o-iv.txt", "babeld-dump.txt").files["scenario.toml"]
    assert "\nmetric = " not in text
    choice = '`routing.metric = "tq"` (batman-adv IV) or `routing.metric = "babel"` (babeld)'
    assert f"the files are of several daemons: choose {choice}" in text


def test_traffic_and_places_of_ns2() -> None:
    found = of_files("setdest.tcl", "cbrgen.tcl")
    text = found.files["scenario.toml"]
    assert rows(found.files["nodes.csv"])[2] == {"name": "n-2", "x_m": "200.0", "y_m": "50.0"}
    udp, tcp = text.split("[[flow]]\n")[1:]
    assert udp.split("\n")[:6] == [
        'src = "n-1"', 'dst = "n-2"', 'start = "2.55684 s"', 'app = "cbr"', 'cbr.payload = "512 B"',
        'cbr.interval = "0.25 s"',
    ]  # fmt: skip
    assert tcp.split("\n")[:3] == ['src = "n-4"', 'dst = "n-5"', 'start = "3.5 s"']
    with pytest.raises(MisreadError, match="import them with a file of positions"):
        of_files("cbrgen.tcl")


def test_an_older_form_of_wmediumd_has_its_parameters_in_a_list(tmp_path: Path) -> None:
    """At 1 m a power of 15 dBm is 15 - 40.1 dBm; 20 m take 35 log 20 more."""
    file = tmp_path / "a.cfg"
    file.write_text(
        'ifaces : { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00"]; };\npath_loss : { positions = ((0, 0), (20.0, '
        '0.0)); tx_powers = (15.0, 15.0); model_params = ("log_distance", 3.5, 0.0); };',
        encoding="utf-8",
    )
    found = rows(read([Named(str(file))]).files["links.csv"])
    assert [float(r["signal_dbm"]) for r in found] == [pytest.approx(15 - 40.1 - 45.5, abs=0.1)] * 2


def test_a_name_of_two_nodes_of_a_file_joins_none(tmp_path: Path) -> None:
    def point(n: int) -> object:
        place = {"type": "Point", "coordinates": [7.1 + n, 54.2]}
        return {"type": "Feature", "geometry": place, "id": n, "properties": {"name": "a b"}}

    file = tmp_path / "a.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [point(0), point(1)]}), encoding="utf-8")
    found = read([Named(str(file))])
    assert [r["name"] for r in rows(found.files["nodes.csv"])] == ["a-b", "a-b-2"]
    assert "Names of 2 nodes were changed" in found.files["scenario.toml"]


MISTAKES: list[tuple[str, str]] = [
    ("", "it is empty"),
    ("hello", "its format is not recognized"),
    ('{"nodes": [{"node_id": "1"}, ', "line 1, column 30: expecting value; is the file cut off?"),
    ('{"nodes": [{"node_id": "1"}, {}], "links": []}', r"nodes\[1\]: it has no \'node_id\'"),
    ('{"nodes": [{"node_id": "1", "location": {"latitude": 99, "longitude": 1}}], "links": []}', "are no place"),
    ('{"nodes": [{"node_id": "1"}], "links": [{"source": "1"}]}', r"links\[0\]: it has no 'target'"),
    ('{"type": "NetworkGraph", "nodes": [], "links": [{"source": "a", "target": "b", "cost": "x"}]}', "links"),
    ("<kml><Placemark>", "is the file cut off"),
    ('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><kml/>', "document type or entities"),
    ("Station 02:00:00:00:00:01 (on mesh0)\n\tsignal: -x\n", "line 2: it is not in the form of its format"),
    ('ifaces : {\n ids = ["42:00:00:00:00:00"', "its brackets are not closed"),
    ("from mn_wifi.net import x\nnet.addStation('a'", "line 2: it is no Python program"),
    ("node n1 {\n type router\n", "its braces are not closed"),
    ("Table: Topology\na b\n1 2\n", "line 3: a value is missing"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_mistakes_are_told_with_their_place(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "my.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(MisreadError, match=said):
        read([Named(str(file), "me")])


def test_nothing_is_written_with_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text((FILES / "meshviewer-yanic.json").read_text(encoding="utf-8")[:3000], encoding="utf-8")
    station = FILES / "iw-station-dump.txt"
    assert cli.main(["import", str(cut), str(station), "-o", str(tmp_path / "my")]) == 2
    err = capsys.readouterr().err
    assert "cut.json: line" in err
    assert "it does not say on which node it was made: give it as NAME=" in err
    assert "nothing was written" in err
    assert not (tmp_path / "my").exists()
    assert cli.main(["import", str(station), "--format", "nothing", "-o", str(tmp_path / "my")]) == 2
    assert "there is no format nothing" in capsys.readouterr().err


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(p.name for p in FILES.iterdir())), st.data())
def test_a_damaged_file_is_read_or_refused(name: str, data: st.DataObject) -> None:
    text = (FILES / name).read_text(encoding="utf-8")
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = (
        text[:at]
        + data.draw(st.sampled_from(["", "0", '"', "null", "{", "-"]))
        + text[at + data.draw(st.integers(0, 40)) :]
    )
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_text(damaged, encoding="utf-8")
        with contextlib.suppress(MisreadError):
            assert read([Named(str(file), "me")]).files
