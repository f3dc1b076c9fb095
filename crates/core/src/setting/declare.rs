//! Macros with which layers declare their settings.

/// Declares a group of settings: a struct with documented fields and defaults.
///
/// An everyday setting is marked, `pub(everyday) limit: u32 = 50`; all others are expert settings.
///
/// After its type an optional setting has the word that stands for no value, `Option<Time> | "never"` (see
/// [`optional`](mod@crate::setting::optional)). After its default a setting may have a limit, `=> at_least(1)` (see
/// [`limit`](mod@crate::setting::limit)), and a condition on the group without which it has no effect:
/// `; used when |c| c.adaptive, else "why not"`. A condition on the group that contains this one follows:
/// `; used within |queue: &queue::Config| queue.ecn, else "why not"`; where another group contains it, it holds. A
/// setting may have several of both. A group with a switch among its own settings begins with it:
/// `pub struct Config if enabled, else "why not"`. A group that knows when settings of its subgroups have no effect ends
/// with them: `where { "ecn.beta", "ecn.ns2.below_one" used when |c| c.reads_beta(), else "why not"; }`. A value outside
/// the limit is an error, a setting without effect is a warning, and the schema contains both.
#[macro_export]
macro_rules! settings {
    ($(#[doc = $doc:literal])* pub struct $Name:ident $(if $switch:ident, else $off:literal)? {
        $(
            $(#[doc = $fdoc:literal])*
            pub $(($level:ident))? $field:ident : $T:ty $(| $word:literal)? = $default:expr $(=> $limit:expr)?
                $(; used when $used:expr, else $why:expr)*
                $(; used within $inside:expr, else $outside:expr)*,
        )*
    } $(where { $( $($deep:literal),+ used when $reads:expr, else $unread:expr; )* })?) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name {
            $( $(#[doc = $fdoc])* pub $field: $T, )*
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $( $field: $default, )* }
            }
        }

        impl $crate::setting::Setting for $Name {
            fn apply(&mut self, node: &$crate::setting::Node, path: &str, report: &mut $crate::setting::Report) {
                let Some(table) = report.table(node, path, &[$( stringify!($field), )*]) else { return };
                $( if let Some(n) = table.get(stringify!($field)) {
                    let path = $crate::setting::join(path, stringify!($field));
                    $crate::settings!(@apply (&mut self.$field $(, $word)?) $(($limit))? n, &path, report);
                } )*
            }

            fn write(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $( map.insert(stringify!($field).into(), $crate::settings!(@write &self.$field $(, $word)?)); )*
                serde_json::Value::Object(map)
            }

            fn changes(&self, from: &Self) -> Option<serde_json::Value> {
                let mut map = serde_json::Map::new();
                $( if let Some(value) = $crate::settings!(@changes &self.$field, &from.$field $(, $word)?) {
                    map.insert(stringify!($field).into(), value);
                } )*
                (!map.is_empty()).then_some(serde_json::Value::Object(map))
            }

            fn schema(&self) -> serde_json::Value {
                if !$crate::setting::HAS_SCHEMA {
                    return serde_json::Value::Null;
                }
                let mut map = serde_json::Map::new();
                $(
                    let doc = concat!("", $($fdoc, "\n"),*);
                    $( let doc = $crate::setting::without_effect(&doc, $why); )*
                    $( let doc = $crate::setting::without_effect(&doc, $outside); )*
                    let schema = $crate::settings!(@schema (&self.$field $(, $word)?) $(($limit))?);
                    let level = $crate::settings!(@level $($level)?);
                    map.insert(stringify!($field).into(), $crate::setting::documented(schema, &doc, level));
                )*
                let doc = concat!("", $($doc, "\n"),*);
                $( let doc = $crate::setting::switched(doc, stringify!($switch), $off); )?
                let schema = $crate::setting::group_schema(&doc, map);
                $( let mut schema = schema;
                $( $( $crate::setting::add_reason(&mut schema, $deep, $unread); )+ )* )?
                schema
            }

            fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
                if $crate::setting::HAS_SCHEMA {
                    $(
                        let at = $crate::setting::join(path, stringify!($field));
                        $crate::settings!(@show (&self.$field $(, $word)?) &at, to);
                    )*
                }
            }

            fn unused_within(&self, path: &str, _above: &dyn std::any::Any) -> Option<&'static str> {
                let (name, _rest) = path.split_once('.').unwrap_or((path, ""));
                $( if !self.$switch && name != stringify!($switch) {
                    return Some($off);
                } )?
                $( if name == stringify!($field) {
                    $(
                        let used: fn(&$Name) -> bool = $used;
                        if !used(self) {
                            return Some($why);
                        }
                    )*
                    $(
                        if !$crate::setting::is_used_within(_above, $inside) {
                            return Some($outside);
                        }
                    )*
                    let unused = $crate::settings!(@unused &self.$field, _rest, self $(, $word)?);
                    if unused.is_some() {
                        return unused;
                    }
                } )*
                $( $(
                    let reads: fn(&$Name) -> bool = $reads;
                    if [$($deep),+].contains(&path) && !reads(self) {
                        return Some($unread);
                    }
                )* )?
                None
            }
        }
    };
    (@level) => { $crate::setting::EXPERT };
    (@level everyday) => { $crate::setting::EVERYDAY };
    (@apply ($field:expr) $node:expr, $path:expr, $report:expr) => {
        $crate::setting::Setting::apply($field, $node, $path, $report)
    };
    (@apply ($field:expr) ($limit:expr) $node:expr, $path:expr, $report:expr) => {
        $crate::setting::limit::apply_within($field, &$limit, $node, $path, $report)
    };
    (@apply ($field:expr, $word:literal) $node:expr, $path:expr, $report:expr) => {
        $crate::setting::optional::apply($field, $word, $node, $path, $report)
    };
    (@apply ($field:expr, $word:literal) ($limit:expr) $node:expr, $path:expr, $report:expr) => {
        $crate::setting::optional::apply_within($field, $word, &$limit, $node, $path, $report)
    };
    (@write $field:expr) => { $crate::setting::Setting::write($field) };
    (@write $field:expr, $word:literal) => { $crate::setting::optional::write($field, $word) };
    (@changes $field:expr, $from:expr) => { $crate::setting::Setting::changes($field, $from) };
    (@changes $field:expr, $from:expr, $word:literal) => { $crate::setting::optional::changes($field, $from, $word) };
    (@schema ($field:expr)) => { $crate::setting::Setting::schema($field) };
    (@schema ($field:expr) ($limit:expr)) => { $crate::setting::limit::schema_within($field, &$limit) };
    (@schema ($field:expr, $word:literal)) => { $crate::setting::optional::schema($field, $word) };
    (@schema ($field:expr, $word:literal) ($limit:expr)) => {
        $crate::setting::optional::schema_within($field, $word, &$limit)
    };
    (@show ($field:expr) $path:expr, $to:expr) => { $crate::setting::Setting::show($field, $path, $to) };
    (@show ($field:expr, $word:literal) $path:expr, $to:expr) => { $to($path, Some($word)) };
    (@unused $field:expr, $rest:expr, $above:expr) => {
        $crate::setting::Setting::unused_within($field, $rest, $above)
    };
    (@unused $field:expr, $rest:expr, $above:expr, $word:literal) => { None };
}

/// Declares a setting with a fixed set of words: an enum whose variants have a word and one line of help.
#[macro_export]
macro_rules! keywords {
    ($(#[doc = $doc:literal])* pub enum $Name:ident {
        $( $(#[doc = $vdoc:literal])* $Variant:ident = $word:literal, )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name {
            $( $(#[doc = $vdoc])* $Variant, )*
        }

        impl $Name {
            /// Every word with its line of help, in the order of declaration.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[
                $( ($word, concat!("", $($vdoc, "\n"),*)), )*
            ];

            /// Every variant, in the same order.
            pub const ALL: &'static [$Name] = &[$( $Name::$Variant, )*];

            /// Word of this variant.
            pub fn word(self) -> &'static str {
                match self { $( $Name::$Variant => $word, )* }
            }
        }

        impl $crate::setting::Scalar for $Name {
            fn read(node: &$crate::setting::Node) -> Result<Self, String> {
                let known = [$( $word, )*];
                if let $crate::setting::Value::Text(t) = &node.value {
                    match t.as_str() {
                        $( $word => return Ok($Name::$Variant), )*
                        _ => {}
                    }
                    if let Some(s) = $crate::setting::suggest(t, &known) {
                        return Err($crate::setting::and_known(&s, &format!("known: {}", known.join(", "))));
                    }
                }
                Err(format!("expected one of: {}", known.join(", ")))
            }
            fn written(&self) -> serde_json::Value {
                serde_json::json!(self.word())
            }
            fn describe() -> serde_json::Value {
                serde_json::json!({ "enum": [$( $word, )*] })
            }
        }

        impl $crate::setting::Listed for $Name {
            fn example() -> serde_json::Value {
                serde_json::json!($Name::WORDS[0].0)
            }
        }
    };
}
