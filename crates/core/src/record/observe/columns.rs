//! Tables written row by row during a run, and read column by column.

use crate::packet::{FlowId, NodeId};
use crate::unit::{Span, Time};

/// Values of a column. The largest number of the type stands for a missing value; NaN for a missing number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// 64-bit floating-point numbers.
    Float(&'a [f64]),
    /// 64-bit counts.
    Long(&'a [u64]),
    /// Counts, and numbers of nodes and flows.
    Int(&'a [u32]),
    /// Truth values: 0 and 1.
    Flag(&'a [u8]),
    /// Words, as indices into a list.
    Word(&'a [u8], &'static [&'static str]),
}

/// Words with their meanings.
pub type Words = &'static [(&'static str, &'static str)];

/// A value of a column: how it is stored and read.
pub trait Cell {
    /// Type in which the value is stored.
    type Kept;
    /// Converts the value for storage.
    fn keep(self) -> Self::Kept;
    /// Views stored values as a column.
    fn values(kept: &[Self::Kept]) -> Values<'_>;
}

macro_rules! cells {
    ($( $T:ty as $Kept:ty = $Kind:ident: $keep:expr; )*) => { $(
        impl Cell for $T {
            type Kept = $Kept;
            fn keep(self) -> $Kept {
                #[allow(clippy::redundant_closure_call, reason = "how each is kept")]
                ($keep)(self)
            }
            fn values(kept: &[$Kept]) -> Values<'_> {
                Values::$Kind(kept)
            }
        }
    )* };
}

cells! {
    f64 as f64 = Float: |x: f64| x;
    Time as f64 = Float: Time::as_secs;
    Span as f64 = Float: Span::as_secs;
    Option<f64> as f64 = Float: |x: Option<f64>| x.unwrap_or(f64::NAN);
    Option<Time> as f64 = Float: |x: Option<Time>| x.map_or(f64::NAN, Time::as_secs);
    Option<Span> as f64 = Float: |x: Option<Span>| x.map_or(f64::NAN, Span::as_secs);
    u64 as u64 = Long: |x: u64| x;
    Option<u64> as u64 = Long: |x: Option<u64>| x.unwrap_or(u64::MAX);
    u32 as u32 = Int: |x: u32| x;
    Option<u32> as u32 = Int: |x: Option<u32>| x.unwrap_or(u32::MAX);
    // The broadcast address and "no flow" have the largest number.
    NodeId as u32 = Int: |x: NodeId| x.0;
    Option<NodeId> as u32 = Int: |x: Option<NodeId>| x.map_or(u32::MAX, |n| n.0);
    FlowId as u32 = Int: |x: FlowId| x.0;
    bool as u8 = Flag: u8::from;
}

/// Declares the words of a column: an enum whose variants have a word and its meaning.
macro_rules! words {
    ($(#[doc = $doc:literal])* pub enum $Name:ident {
        $( $(#[doc = $vdoc:literal])* $Variant:ident = $word:literal, )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $Name { $( $(#[doc = $vdoc])* $Variant, )* }

        impl $Name {
            /// Every word with its meaning.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[$( ($word, concat!("", $($vdoc),*)), )*];
        }

        $crate::record::observe::columns::word_cell!($Name, &[$($word),*]);
    };
}
pub(super) use words;

/// Makes an enum, and an optional enum, usable as a value of a column.
macro_rules! word_cell {
    ($Name:ty, $words:expr) => {
        impl $crate::record::observe::columns::Cell for $Name {
            type Kept = u8;
            fn keep(self) -> u8 {
                self as u8
            }
            fn values(kept: &[u8]) -> $crate::record::observe::columns::Values<'_> {
                $crate::record::observe::columns::Values::Word(kept, $words)
            }
        }

        impl $crate::record::observe::columns::Cell for Option<$Name> {
            type Kept = u8;
            fn keep(self) -> u8 {
                self.map_or(u8::MAX, |word| word as u8)
            }
            fn values(kept: &[u8]) -> $crate::record::observe::columns::Values<'_> {
                $crate::record::observe::columns::Values::Word(kept, $words)
            }
        }
    };
}
pub(super) use word_cell;

/// A table whose rows are read while others are added.
pub trait Rows {
    /// Names of the columns, which end in their unit, with their meanings.
    fn columns(&self) -> &'static [(&'static str, &'static str)];
    /// Values of each column.
    fn values(&self) -> Vec<Values<'_>>;
    /// Number of rows since the last `clear`.
    fn len(&self) -> usize;
    /// Returns true if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Drops the rows and keeps their memory.
    fn clear(&mut self);
    /// Memory of the rows \[B\].
    fn memory(&self) -> usize;
}

/// Declares a table once: its rows, its columns with their meanings, and their storage.
macro_rules! table {
    ($(#[doc = $doc:literal])* pub struct $Row:ident in $Kept:ident {
        $( $(#[doc = $cdoc:literal])* $column:ident: $T:ty, )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Row { $( $(#[doc = $cdoc])* pub $column: $T, )* }

        /// Stored rows, column by column.
        #[derive(Clone, Debug, Default)]
        pub struct $Kept { $( $column: Vec<<$T as $crate::record::observe::columns::Cell>::Kept>, )* }

        impl $Kept {
            /// Columns with their meanings.
            pub const COLUMNS: &'static [(&'static str, &'static str)] =
                &[$( (stringify!($column), concat!("", $($cdoc),*)), )*];

            /// Appends a row to the columns.
            pub fn push(&mut self, row: $Row) {
                use $crate::record::observe::columns::Cell;
                $( self.$column.push(row.$column.keep()); )*
            }
        }

        impl $crate::record::observe::columns::Rows for $Kept {
            fn columns(&self) -> &'static [(&'static str, &'static str)] {
                $Kept::COLUMNS
            }

            fn values(&self) -> Vec<$crate::record::observe::columns::Values<'_>> {
                vec![$( <$T as $crate::record::observe::columns::Cell>::values(&self.$column), )*]
            }

            fn len(&self) -> usize {
                self.time_s.len()
            }

            fn clear(&mut self) {
                $( self.$column.clear(); )*
            }

            fn memory(&self) -> usize {
                0 $( + std::mem::size_of_val(self.$column.as_slice()) )*
            }
        }
    };
}
pub(super) use table;
