"""Studies for other packages, which are no dependencies: pandas and xarray."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl


def package(name: str, what: str) -> Any:
    """An optional package.

    Raises:
        ImportError: If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{what} needs {name}, which is not installed: pip install {name}") from None


def to_pandas(table: pl.DataFrame) -> Any:
    """A table as a data frame of pandas; missing numbers are NaN."""
    pandas = package("pandas", "to_pandas()")
    return pandas.DataFrame({column.name: _values(column) for column in table})


def _values(column: pl.Series) -> Any:
    """Values of a column: an array of numpy, or a list where it has words or missing truth values."""
    is_number = column.dtype.is_numeric()
    return column.to_numpy() if is_number or (column.dtype == pl.Boolean and not column.null_count()) else list(column)


def to_xarray(runs: pl.DataFrame, axes: Sequence[str], attributes: Mapping[str, Any]) -> Any:
    """Numbers of runs as a dataset of xarray, over the axes and the seeds; NaN where there is no run.

    Args:
        runs: One row per run, with the axes, ``seed``, and numbers.
        axes: Names of the axes.
        attributes: Attributes of the dataset.
    """
    xarray = package("xarray", "to_xarray()")
    names = [*axes, "seed"]
    values = [runs[name].unique(maintain_order=True).to_list() for name in names]
    shape = tuple(map(len, values))
    places = []
    for name, of_axis in zip(names, values, strict=True):
        number = {value: place for place, value in enumerate(of_axis)}
        places.append([number[value] for value in runs[name]])
    left_out = {*names, "point"}
    numbers = [c for c in runs if c.name not in left_out and c.dtype.is_numeric()]
    variables = {}
    for column in numbers:
        array = np.full(shape, np.nan)
        array[tuple(places)] = column.cast(pl.Float64).to_numpy()
        variables[column.name] = (names, array)
    coordinates = dict(zip(names, values, strict=True))
    return xarray.Dataset(variables, coords=coordinates, attrs=dict(attributes))
