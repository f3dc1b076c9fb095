//! The window rule of a connection, made of its settings. A file of its own: the settings ask the list what a rule
//! uses.

use super::*;
use crate::tcp::config::Config;

macro_rules! construct {
    ($cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $word:literal: $new:expr
        $(, settings $group:ident: $module:ident = $about:literal $(, shared with $Other:ident)?, else $why:literal)?;
    )*) => {
        impl CongestionControl {
            /// The rule with its settings.
            pub fn new(rule: Rule, $cfg: &Config) -> CongestionControl {
                match rule { $( Rule::$Part => CongestionControl::$Part($new), )* }
            }
        }
    };
}

window_rules!(construct);
