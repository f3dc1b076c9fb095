//! Declaration of counters: one list of names and meanings gives the struct, its sums, and the columns of tables.

/// Name of a counter and of its column, and its meaning with its unit.
pub type Field = (&'static str, &'static str);

/// Declares a list of `u64` counters with their meanings; the meaning of a plain count names no unit. A counter that only
/// flows over TCP have is marked: `timeouts: tcp`.
#[macro_export]
macro_rules! counters {
    ($(#[doc = $doc:literal])* pub struct $Name:ident {
        $( $(#[doc = $fdoc:literal])* $field:ident $(: $only:ident)?, )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $Name { $( $(#[doc = $fdoc])* pub $field: u64, )* }

        impl $Name {
            /// Every counter with its meaning.
            pub const FIELDS: &'static [$crate::count::Field] =
                &[ $( (stringify!($field), concat!("", $($fdoc),*)), )* ];

            /// Counters that only flows over TCP have.
            pub const OF_TCP: &'static [&'static str] = &[ $( $( $crate::counters!(@$only $field), )? )* ];

            /// All values, in the order of the fields.
            pub fn values(&self) -> [u64; $Name::FIELDS.len()] {
                [ $( self.$field, )* ]
            }

            /// Counts since `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &$Name) -> $Name {
                $Name { $( $field: self.$field - earlier.$field, )* }
            }

            /// Adds the counters of another.
            pub fn add(&mut self, other: &$Name) {
                $( self.$field += other.$field; )*
            }
        }
    };
    (@tcp $field:ident) => { stringify!($field) };
}

/// Number of distinct names in these lists.
pub const fn distinct(lists: &[&[Field]]) -> usize {
    let (mut n, mut i) = (0, 0);
    while i < lists.len() {
        let mut k = 0;
        while k < lists[i].len() {
            n += is_first(lists, i, k) as usize;
            k += 1;
        }
        i += 1;
    }
    n
}

/// Fields of these lists without duplicates, each at its first position.
pub const fn union<const N: usize>(lists: &[&[Field]]) -> [Field; N] {
    let mut all = [("", ""); N];
    let (mut n, mut i) = (0, 0);
    while i < lists.len() {
        let mut k = 0;
        while k < lists[i].len() {
            if is_first(lists, i, k) {
                all[n] = lists[i][k];
                n += 1;
            }
            k += 1;
        }
        i += 1;
    }
    all
}

/// Returns true if the `k`-th field of the `i`-th list is the first of its name.
const fn is_first(lists: &[&[Field]], i: usize, k: usize) -> bool {
    let mut before = 0;
    while before < i {
        let mut j = 0;
        while j < lists[before].len() {
            if is_same(lists[before][j].0, lists[i][k].0) {
                return false;
            }
            j += 1;
        }
        before += 1;
    }
    true
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
