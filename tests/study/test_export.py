"""Studies for other packages: CSV, pandas and xarray, which need not be installed."""

import contextlib
import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chappe
import numpy as np
import polars as pl
import pytest
from chappe import cli

AXES = {"tcp.receive_window": [2, 4], "tcp.variant": ["newreno", "vegas"]}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> chappe.Study:
    scenario = chappe.Scenario.chain(2, stop="110 delivered", extends="ns2-2.35")
    return chappe.sweep(scenario, AXES, seeds=[3, 5, 9], out=tmp_path_factory.mktemp("export") / "out")


def printed(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert cli.main(arguments) == 0
    return out.getvalue()


def test_the_summary_as_csv(study: chappe.Study, tmp_path: Path) -> None:
    text = printed("show", str(study.folder), "--csv", "--measure", "mean_delay_s")
    assert text == study.summary("mean_delay_s").write_csv()
    results = chappe.run(chappe.Scenario.chain(1, stop="110 delivered"), out=tmp_path / "run")
    assert printed("show", str(tmp_path / "run"), "--csv") == results.summary().write_csv()
    with pytest.raises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as err:
        cli.main(["show", str(study.folder), "--csv", "--json"])
    assert "not allowed with argument" in err.getvalue()


@pytest.mark.parametrize("name", ["pandas", "xarray"])
def test_a_missing_package_is_named(study: chappe.Study, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"needs {name}, which is not installed: pip install {name}"):
        getattr(study, f"to_{name}")()


def test_a_dataset_has_the_axes_as_dimensions(study: chappe.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def dataset(variables: Any, coords: Any, attrs: Any) -> Any:
        return SimpleNamespace(variables=variables, coords=coords, attrs=attrs)

    monkeypatch.setitem(sys.modules, "xarray", SimpleNamespace(Dataset=dataset))
    found = study.to_xarray()
    assert found.coords == {**AXES, "seed": [3, 5, 9]}
    assert found.attrs["results_epoch"] == chappe.RESULTS_EPOCH
    names, goodputs = found.variables["goodput_bps"]
    assert names == [*AXES, "seed"]
    assert goodputs.shape == (2, 2, 3)
    for row in study.runs.iter_rows(named=True):
        place = tuple(found.coords[name].index(row[name]) for name in names)
        assert goodputs[place] == row["goodput_bps"]
    assert np.isnan(found.variables["jain_index"][1]).all()


def test_data_frames_have_the_columns_of_the_tables(study: chappe.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    for name, table in (("runs", study.runs), ("flows", study.table("flows"))):
        frame = study.to_pandas(name)
        assert list(frame) == table.columns
        assert list(frame["seed"]) == table["seed"].to_list()
        assert pl.Series(frame["tcp.variant"]).equals(table["tcp.variant"])
    with pytest.raises(ValueError, match="there is no table 'flow'"):
        study.to_pandas("flow")
