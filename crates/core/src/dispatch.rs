//! Families of parts, such as queue disciplines: an enum of the parts, and a `match` in each method, written by macros.
//! Static dispatch: the compiler sees which method is called, and can inline it.

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

/// Declares a family of parts from the list of its parts, a line for each: the words by which settings choose a part,
/// the settings with a group for each part that has some, the enum that holds a part, and the calls of its methods.
///
/// - `words`: an enum with a word for each part, and methods that return constants of the part.
/// - `settings`: the settings, with the field that chooses a part and its path; methods that call functions of the part
///   with the settings. Empty if the settings stand elsewhere.
/// - `enum`: the enum that holds a part, and methods that return constants of the part.
/// - `dispatch`: methods of the part, as [`dispatch`](crate::dispatch!) takes them.
/// - A line: a part, how the enum holds it, its type, its word, and its group of settings, which may also serve another
///   part (`shared with`).
macro_rules! parts {
    (
        words { $(#[doc = $w:literal])* $Words:ident; $( $(#[$wm:meta])* $wf:ident: $W:ty = $WORD:ident; )* }
        settings { $($settings:tt)* }
        enum { $(#[$e:meta])* $ev:vis $Enum:ident; $( $(#[$cm:meta])* $cf:ident: $C:ty = $CONST:ident; )* }
        dispatch { $($methods:tt)* }
        $(
            $(#[doc = $doc:literal])*
            $Part:ident($Held:ty): $Type:ty = $word:literal
            $(, settings $group:ident: $Group:ty = $about:literal $(, shared with $other:literal)?)?;
        )*
    ) => {
        $crate::keywords! {
            $(#[doc = $w])*
            pub enum $Words {
                $( $(#[doc = $doc])* $Part = $word, )*
            }
        }

        $crate::dispatch::parts! { @constants_of_words $Words [$($Part: $Type;)*] $( $(#[$wm])* $wf: $W = $WORD; )* }

        $crate::dispatch::parts! {
            @settings $Words { $($settings)* }
            [$( $Part: $Type; )*]
            [$( $( $group: $Group = $about, $word $(or $other)?; )? )*]
        }

        $(#[$e])*
        $ev enum $Enum {
            $( $(#[doc = $doc])* $Part($Held), )*
        }

        $crate::dispatch::parts! { @constants $ev $Enum [$($Part: $Type;)*] $( $(#[$cm])* $cf: $C = $CONST; )* }

        $crate::dispatch! { $Enum [$($Part)*] $($methods)* }
    };

    (@constants_of_words $Words:ident $parts:tt $( $(#[$m:meta])* $name:ident: $T:ty = $CONST:ident; )*) => {
        impl $Words {
            $( $(#[$m])* pub fn $name(self) -> $T { $crate::dispatch::parts!(@constant self $Words $CONST $parts) } )*
        }
    };
    (@constants $vis:vis $Enum:ident $parts:tt $( $(#[$m:meta])* $name:ident: $T:ty = $CONST:ident; )*) => {
        impl $Enum {
            $( $(#[$m])* $vis fn $name(&self) -> $T { $crate::dispatch::parts!(@constant self $Enum $CONST $parts) } )*
        }
    };
    (@constant $self:ident $Enum:ident $CONST:ident [$($Part:ident: $Type:ty;)*]) => {
        match $self { $( $Enum::$Part { .. } => <$Type>::$CONST, )* }
    };

    (@settings $Words:ident {} $parts:tt $groups:tt) => {};
    (
        @settings $Words:ident {
            $(#[doc = $s:literal])*
            $Config:ident by $field:ident = $path:literal { $($fields:tt)* }
            $( $(#[$m:meta])* $vis:vis fn $name:ident(&self $(, $arg:ident: $T:ty)*) -> $R:ty; )*
        }
        $parts:tt
        [$( $group:ident: $Group:ty = $about:literal, $word:literal $(or $other:literal)?; )*]
    ) => {
        $crate::settings! {
            $(#[doc = $s])*
            pub struct $Config {
                $($fields)*
                $(
                    #[doc = $about]
                    pub $group: $Group = <$Group>::default()
                        ; used when |c| [$word $(, $other)?].contains(&c.$field.word()),
                        else $crate::dispatch::parts!(@why $path $word $($other)?),
                )*
            }
        }

        impl $Config {
            $(
                $(#[$m])*
                $vis fn $name(&self $(, $arg: $T)*) -> $R {
                    $crate::dispatch::parts!(@call self $Words $field $name (self $(, $arg)*) $parts)
                }
            )*
        }
    };
    (@call $self:ident $Words:ident $field:ident $name:ident $args:tt [$($Part:ident: $Type:ty;)*]) => {
        match $self.$field { $( $Words::$Part => <$Type>::$name $args, )* }
    };
    (@why $path:literal $word:literal) => { concat!("`", $path, "` is not `", $word, "`") };
    (@why $path:literal $word:literal $other:literal) => {
        concat!("`", $path, "` is neither `", $word, "` nor `", $other, "`")
    };
}
pub(crate) use parts;
