//! Rows of tables as Arrow arrays, over its C data interface.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use chappe_core::record::observe::columns::{Rows, Values};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub fn failed(e: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("a table could not be made: {e}"))
}

/// Rows of a table: a struct array with a field for each column.
#[pyclass(frozen, module = "chappe._core")]
pub struct Rowset {
    data: ArrayData,
    words: Vec<(&'static str, &'static [&'static str])>,
}

/// Validity of each value.
pub fn present<T: PartialEq>(values: &[T], none: &T) -> Option<NullBuffer> {
    let all = values.iter().all(|v| v != none);
    (!all).then(|| NullBuffer::new(BooleanBuffer::collect_bool(values.len(), |i| values[i] != *none)))
}

/// Numbers; null where a number is not finite, because it does not exist.
pub fn numbers(values: &[f64]) -> Result<ArrayData, ArrowError> {
    let all = values.iter().all(|v| v.is_finite());
    let nulls = (!all).then(|| NullBuffer::new(BooleanBuffer::collect_bool(values.len(), |i| values[i].is_finite())));
    let data = Buffer::from(values.to_vec());
    ArrayData::builder(DataType::Float64).len(values.len()).nulls(nulls).add_buffer(data).build()
}

/// 64-bit integers as in all other tables, because keys can be joined only with those of the same type.
pub fn integers(values: impl Iterator<Item = i64>, nulls: Option<NullBuffer>) -> Result<ArrayData, ArrowError> {
    let values: Vec<i64> = values.collect();
    ArrayData::builder(DataType::Int64).len(values.len()).nulls(nulls).add_buffer(Buffer::from(values)).build()
}

/// Truth values.
pub fn flags(length: usize, value: impl FnMut(usize) -> bool) -> Result<ArrayData, ArrowError> {
    let bits = BooleanBuffer::collect_bool(length, value);
    ArrayData::builder(DataType::Boolean).len(length).add_buffer(bits.into_inner()).build()
}

/// Texts; null where there is none.
pub fn texts(values: &[Option<String>]) -> Result<ArrayData, ArrowError> {
    let nulls = present(values, &None);
    let ends = values.iter().scan(0, |end, text| {
        *end += text.as_deref().map_or(0, str::len) as i64;
        Some(*end)
    });
    let ends: Vec<i64> = std::iter::once(0).chain(ends).collect();
    let bytes: Vec<u8> = values.iter().flatten().flat_map(|text| text.bytes()).collect();
    let array = ArrayData::builder(DataType::LargeUtf8).len(values.len()).nulls(nulls);
    array.add_buffer(Buffer::from(ends)).add_buffer(Buffer::from(bytes)).build()
}

/// Words as indices into a dictionary.
fn dictionary(codes: &[u8], words: &[&str]) -> Result<ArrayData, ArrowError> {
    let ends = words.iter().scan(0, |end, word| {
        *end += word.len() as i32;
        Some(*end)
    });
    let ends: Vec<i32> = std::iter::once(0).chain(ends).collect();
    let list = ArrayData::builder(DataType::Utf8)
        .len(words.len())
        .add_buffer(Buffer::from(ends))
        .add_buffer(Buffer::from(words.concat().into_bytes()))
        .build()?;
    let keys: Vec<u32> = codes.iter().map(|&code| if code == u8::MAX { 0 } else { code.into() }).collect();
    ArrayData::builder(DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8)))
        .len(keys.len())
        .nulls(present(codes, &u8::MAX))
        .add_buffer(Buffer::from(keys))
        .add_child_data(list)
        .build()
}

fn array(values: &Values<'_>) -> Result<ArrayData, ArrowError> {
    match values {
        Values::Float(v) => numbers(v),
        Values::Long(v) => integers(v.iter().map(|&n| n as i64), present(v, &u64::MAX)),
        Values::Int(v) => integers(v.iter().map(|&n| n.into()), present(v, &u32::MAX)),
        Values::Flag(v) => flags(v.len(), |i| v[i] == 1),
        Values::Word(codes, words) => dictionary(codes, words),
    }
}

impl Rowset {
    /// Copies the rows of a table.
    pub fn of(rows: &dyn Rows) -> PyResult<Rowset> {
        let names = rows.columns().iter().map(|c| c.0);
        let values = rows.values();
        let words = names.clone().zip(&values).filter_map(|(name, values)| match values {
            Values::Word(_, words) => Some((name, *words)),
            _ => None,
        });
        let words = words.collect();
        let arrays = values.iter().map(array).collect::<Result<_, _>>().map_err(|e| failed(&e))?;
        Rowset::with(names, arrays, rows.len(), words)
    }

    /// Rows of columns of numbers and texts.
    pub fn joined(columns: Vec<(String, ArrayData)>) -> PyResult<Rowset> {
        let rows = columns.first().map_or(0, |(_, array)| array.len());
        let (names, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        Rowset::with(names.into_iter(), arrays, rows, Vec::new())
    }

    fn with(
        names: impl Iterator<Item = impl Into<String>>,
        arrays: Vec<ArrayData>,
        rows: usize,
        words: Vec<(&'static str, &'static [&'static str])>,
    ) -> PyResult<Rowset> {
        let fields = names.zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        let data = ArrayData::builder(DataType::Struct(fields.collect())).len(rows).child_data(arrays).build();
        Ok(Rowset { data: data.map_err(|e| failed(&e))?, words })
    }

    /// Memory of the rows \[B\].
    pub fn memory(&self) -> u64 {
        self.data.get_array_memory_size() as u64
    }
}

#[pymethods]
impl Rowset {
    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The requested schema is a hint that may be ignored.
        let _ = requested_schema;
        let schema = FFI_ArrowSchema::try_from(self.data.data_type()).map_err(|e| failed(&e))?;
        let array = FFI_ArrowArray::new(&self.data);
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    /// Columns of words, with all possible words.
    fn words(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        self.words.iter().map(|(name, words)| (*name, words.to_vec())).collect()
    }
}
