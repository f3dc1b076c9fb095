//! Calls of a family of parts: an enum of the parts, and a `match` in each method, written by a macro. Static dispatch:
//! the compiler sees which method is called, and can inline it.

/// Declares methods of an enum, each of which calls the method of the same name of the part that the enum holds.
///
/// ```
/// #[derive(Clone)]
/// struct Square(f64);
///
/// impl Square {
///     fn area(&self) -> f64 {
///         self.0 * self.0
///     }
/// }
///
/// enum Shape {
///     Square(Square),
/// }
///
/// chappe_core::dispatch! { Shape [Square]
///     /// Its area.
///     fn area(&self) -> f64;
/// }
/// assert_eq!(Shape::Square(Square(2.0)).area(), 4.0);
/// ```
#[macro_export]
macro_rules! dispatch {
    (@arms $self:ident $Enum:ident $name:ident $args:tt [$($Part:ident)*]) => {
        match $self { $( $Enum::$Part(part) => part.$name $args, )* }
    };
    ($Enum:ident $parts:tt) => {};
    (
        $Enum:ident $parts:tt
        $(#[$meta:meta])* $vis:vis fn $name:ident(&self $(, $arg:ident: $T:ty)*) $(-> $R:ty)?;
        $($rest:tt)*
    ) => {
        impl $Enum {
            $(#[$meta])*
            $vis fn $name(&self $(, $arg: $T)*) $(-> $R)? {
                $crate::dispatch!(@arms self $Enum $name ($($arg),*) $parts)
            }
        }
        $crate::dispatch! { $Enum $parts $($rest)* }
    };
    (
        $Enum:ident $parts:tt
        $(#[$meta:meta])* $vis:vis fn $name:ident(&mut self $(, $arg:ident: $T:ty)*) $(-> $R:ty)?;
        $($rest:tt)*
    ) => {
        impl $Enum {
            $(#[$meta])*
            $vis fn $name(&mut self $(, $arg: $T)*) $(-> $R)? {
                $crate::dispatch!(@arms self $Enum $name ($($arg),*) $parts)
            }
        }
        $crate::dispatch! { $Enum $parts $($rest)* }
    };
}
