//! Tables of finished runs: columns of one run as Python lists, those of several runs joined as Arrow.

use crate::arrow::{Rowset, failed, flags, integers, numbers, present, texts};
use arrow_data::ArrayData;
use chappe_core::record::recorder::is_of_tcp;
use chappe_core::record::{Column, Recorder, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

/// Values of a column. A value that does not exist is `None` in Python: a number that is not finite, a missing count, an
/// empty text, and any value of a column of TCP in the row of another flow.
enum Values {
    /// NaN if it does not exist.
    Float(Vec<f64>),
    Int(Vec<Option<u64>>),
    Text(Vec<Option<String>>),
    Bool(Vec<bool>),
}

impl Values {
    fn of(column: Column, exists: impl Fn(usize) -> bool) -> Values {
        match column {
            Column::Float(v) => {
                let values = v.into_iter().enumerate();
                Values::Float(values.map(|(row, x)| if x.is_finite() && exists(row) { x } else { f64::NAN }).collect())
            }
            Column::Int(v) => {
                let values = v.into_iter().enumerate();
                Values::Int(values.map(|(row, x)| (x != Table::MISSING && exists(row)).then_some(x)).collect())
            }
            Column::Text(v) => {
                let values = v.into_iter().enumerate().map(|(row, x)| (exists(row) && !x.is_empty()).then_some(x));
                Values::Text(values.collect())
            }
            Column::Bool(v) => Values::Bool(v),
        }
    }

    /// The type, which an empty list does not show, and the values.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Values::Float(v) => {
                let values: Vec<Option<f64>> = v.iter().map(|x| (!x.is_nan()).then_some(*x)).collect();
                ("float", values).into_pyobject(py)?.into_any()
            }
            Values::Int(v) => ("int", v).into_pyobject(py)?.into_any(),
            Values::Text(v) => ("text", v).into_pyobject(py)?.into_any(),
            Values::Bool(v) => ("bool", v).into_pyobject(py)?.into_any(),
        })
    }

    /// Takes what [`Values::to_python`] gives.
    fn from_python(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<Values> {
        Ok(match kind {
            "float" => {
                let values: Vec<Option<f64>> = values.extract()?;
                Values::Float(values.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect())
            }
            "int" => Values::Int(values.extract()?),
            "text" => Values::Text(values.extract()?),
            "bool" => Values::Bool(values.extract()?),
            _ => return Err(PyValueError::new_err(format!("there is no type {kind:?}"))),
        })
    }

    /// A column without values of the same type.
    fn empty(&self) -> Values {
        match self {
            Values::Float(_) => Values::Float(Vec::new()),
            Values::Int(_) => Values::Int(Vec::new()),
            Values::Text(_) => Values::Text(Vec::new()),
            Values::Bool(_) => Values::Bool(Vec::new()),
        }
    }

    fn append(&mut self, other: &Values) {
        match (self, other) {
            (Values::Float(v), Values::Float(more)) => v.extend_from_slice(more),
            (Values::Int(v), Values::Int(more)) => v.extend_from_slice(more),
            (Values::Text(v), Values::Text(more)) => v.extend_from_slice(more),
            (Values::Bool(v), Values::Bool(more)) => v.extend_from_slice(more),
            _ => unreachable!("a column has one type in all runs"),
        }
    }

    /// Appends rows of a run without this column; only names of flows and their groups, and what is of QUIC, may be
    /// absent.
    fn append_none(&mut self, rows: usize) {
        match self {
            Values::Float(v) => v.resize(v.len() + rows, f64::NAN),
            Values::Int(v) => v.resize(v.len() + rows, None),
            Values::Text(v) => v.resize(v.len() + rows, None),
            Values::Bool(_) => unreachable!("truth values are in the tables of all runs"),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Float(v) => v.len(),
            Values::Int(v) => v.len(),
            Values::Text(v) => v.len(),
            Values::Bool(v) => v.len(),
        }
    }

    fn array(&self) -> PyResult<ArrayData> {
        let array = match self {
            Values::Float(v) => numbers(v),
            Values::Int(v) => integers(v.iter().map(|n| n.unwrap_or_default() as i64), present(v, &None)),
            Values::Text(v) => texts(v),
            Values::Bool(v) => flags(v.len(), |i| v[i]),
        };
        array.map_err(|e| failed(&e))
    }
}

/// A column: name and values.
type Named = (String, Values);

/// Columns of a table of a run.
fn columns(recorder: &Recorder, name: &str) -> PyResult<Vec<Named>> {
    let Some(table) = recorder.table(name) else {
        return Err(PyValueError::new_err(format!("there is no table {name:?}")));
    };
    // Of the tables with columns of TCP, these two have a row for each flow, in the order of the flows.
    let by_flow = matches!(name, "flows" | "flow_batches");
    let values = table.columns.into_iter().map(|(column, values)| {
        let tcp_only = by_flow && is_of_tcp(&column);
        let values = Values::of(values, |row| !tcp_only || recorder.is_tcp(row % recorder.flow_count()));
        (column, values)
    });
    Ok(values.collect())
}

/// A table as a dict from names of columns to types and values.
pub fn dict<'py>(py: Python<'py>, recorder: &Recorder, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (column, values) in columns(recorder, name)? {
        dict.set_item(column, values.to_python(py)?)?;
    }
    Ok(dict)
}

/// Tables of a run, which can be sent to another process.
#[pyclass(frozen, module = "chappe._core")]
pub struct Tables(Vec<(String, Vec<Named>)>);

/// Columns for Python.
type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// Arguments of [`Tables::new`] for Python.
type Arguments<'py> = (Vec<(String, Columns<'py>)>,);

/// A table from Python: its name, and the name, type and values of each column.
type Plain<'py> = (String, Vec<(String, (String, Bound<'py, PyAny>))>);

impl Tables {
    pub fn of(recorder: &Recorder, names: Vec<String>) -> PyResult<Tables> {
        let table = |name: String| columns(recorder, &name).map(|columns| (name, columns));
        names.into_iter().map(table).collect::<PyResult<_>>().map(Tables)
    }
}

#[pymethods]
impl Tables {
    #[new]
    fn new(tables: Vec<Plain<'_>>) -> PyResult<Tables> {
        let column = |(name, (kind, values)): (String, (String, Bound<'_, PyAny>))| {
            Ok((name, Values::from_python(&kind, &values)?))
        };
        let table = |(name, columns): Plain<'_>| Ok((name, columns.into_iter().map(column).collect::<PyResult<_>>()?));
        tables.into_iter().map(table).collect::<PyResult<_>>().map(Tables)
    }

    /// Sends the tables to another process, as arguments of [`Tables::new`].
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Arguments<'py>)> {
        let py = slf.py();
        let column = |(name, values): &Named| Ok((name.clone(), values.to_python(py)?));
        let table = |(name, columns): &(String, Vec<Named>)| {
            Ok((name.clone(), columns.iter().map(column).collect::<PyResult<_>>()?))
        };
        let tables = slf.get().0.iter().map(table).collect::<PyResult<_>>()?;
        Ok((slf.get_type(), (tables,)))
    }

    /// Joins the tables of several runs, which all have the same names.
    ///
    /// The first column is `key`, with the key of the run of a row. Truth values are in the tables of all runs; other columns may be absent.
    #[staticmethod]
    fn joined(key: &str, runs: Vec<(String, PyRef<'_, Tables>)>) -> PyResult<Vec<(String, Rowset)>> {
        let Some((_, first)) = runs.first() else { return Ok(Vec::new()) };
        let table = |(n, (name, _)): (usize, &(String, Vec<Named>))| {
            let of_runs: Vec<&[Named]> = runs.iter().map(|(_, tables)| tables.0[n].1.as_slice()).collect();
            let rows = |columns: &[Named]| columns.first().map_or(0, |(_, values)| values.len());
            let keys = runs
                .iter()
                .zip(&of_runs)
                .flat_map(|((run, _), columns)| std::iter::repeat_n(Some(run.clone()), rows(columns)));
            let mut joined = vec![(key.to_owned(), Values::Text(keys.collect()))];
            let mut done = 0;
            for columns in of_runs {
                for (name, values) in columns {
                    let place = joined.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                        let mut before = values.empty();
                        if done > 0 {
                            before.append_none(done);
                        }
                        joined.push((name.clone(), before));
                        joined.len() - 1
                    });
                    joined[place].1.append(values);
                }
                done += rows(columns);
                for (_, values) in joined.iter_mut().skip(1).filter(|(_, values)| values.len() < done) {
                    values.append_none(done - values.len());
                }
            }
            let arrays = joined.iter().map(|(name, values)| Ok((name.clone(), values.array()?)));
            Ok((name.clone(), Rowset::joined(arrays.collect::<PyResult<_>>()?)?))
        };
        first.0.iter().enumerate().map(table).collect()
    }
}
