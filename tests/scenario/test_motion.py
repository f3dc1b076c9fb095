"""Motion files: written and read again."""

from pathlib import Path

import chappe
import polars as pl
import pytest
from chappe import cli
from chappe.scenario.scenario import MobilityFormat

WALKERS = {
    "run": {"stop": "20 s", "record": ["positions"]},
    "topology": {"kind": "random", "nodes": 5, "width": "300 m", "height": "200 m"},
    "mobility": {"model": "random_waypoint", "min_speed": "5 m/s", "max_speed": "15 m/s", "pause": "1 s"},
    "flow": [{"dst": 1}],
}


@pytest.mark.parametrize("form", ["csv", "setdest", "bonnmotion"])
def test_exported_motion_reproduces_the_run(form: MobilityFormat, tmp_path: Path) -> None:
    walkers = chappe.Scenario(WALKERS)
    walkers.write_mobility(tmp_path / "ways", format=form, seed=3)
    as_file = {"topology.kind": "motion", "mobility.model": "file", "mobility.file": str(tmp_path / "ways")}
    again = walkers.with_settings(as_file)
    assert again.nodes["x_m"].to_list() == pytest.approx(walkers.with_settings({"run.seed": 3}).nodes["x_m"].to_list())
    results = [chappe.run(s.with_settings({"run.seed": 3})) for s in (walkers, again)]
    delivered = [r.flows["packets_delivered"].item() for r in results]
    assert delivered[0] == delivered[1] > 0
    # The scenario has already read the file.
    (tmp_path / "ways").unlink()
    for name, scenario in (("again", again), ("settings", chappe.Scenario(again.settings))):
        scenario.write_mobility(tmp_path / name, format=form)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "settings").read_bytes()


def test_the_table_of_movements_is_the_written_table(tmp_path: Path) -> None:
    walkers = chappe.Scenario(WALKERS)
    walkers.write_mobility(tmp_path / "ways.csv")
    movements = walkers.mobility
    assert movements.schema["node"] == pl.Int64
    assert movements["node"].n_unique() == 5
    assert movements.equals(pl.read_csv(tmp_path / "ways.csv", schema=movements.schema))
    with pytest.raises(ValueError, match="say up to when"):
        _ = walkers.with_settings({"run.stop": "110 delivered"}).mobility


def test_recorded_positions_are_a_motion_file(tmp_path: Path) -> None:
    walkers = chappe.Scenario(WALKERS)
    legs = chappe.run(walkers).recorded["positions"]
    legs.write_csv(tmp_path / "legs.csv")
    again = walkers.with_settings(
        {"topology.kind": "motion", "mobility.model": "file", "mobility.file": str(tmp_path / "legs.csv")}
    )
    assert chappe.run(again).recorded["positions"].select("node", "x_m").equals(legs.select("node", "x_m"))


def test_the_command_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "walkers.toml"
    file.write_text(chappe.Scenario(WALKERS).to_toml())
    assert (
        cli.main(["export", "mobility", str(file), "--format", "setdest", "--path", str(tmp_path / "walkers.mv")]) == 0
    )
    assert capsys.readouterr().out == ""
    chappe.Scenario(WALKERS).write_mobility(tmp_path / "again.mv", format="setdest")
    assert (tmp_path / "walkers.mv").read_text() == (tmp_path / "again.mv").read_text()
    assert cli.main(["export", "mobility", str(file), "--until", "1 s"]) == 0
    chappe.Scenario(WALKERS).write_mobility(tmp_path / "again.csv", until=1)
    assert capsys.readouterr().out == (tmp_path / "again.csv").read_text()
    assert cli.main(["export", "mobility", str(file), "--set", "run.stop=100 delivered"]) == 2
    assert "up to when" in capsys.readouterr().err
    assert cli.main(["export", "mobility", str(file), "--path", str(tmp_path / "no" / "folder")]) == 1


def test_invalid_requests_are_reported() -> None:
    walkers = chappe.Scenario(WALKERS)
    with pytest.raises(ValueError, match="one of: setdest, bonnmotion, csv"):
        walkers.write_mobility("ways", format="gpx")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="format is a text"):
        walkers.write_mobility("ways", format=3)  # type: ignore[arg-type]
    with pytest.raises(chappe.ScenarioError, match=r"`run\.seed` cannot be -1"):
        walkers.write_mobility("ways", seed=-1)
