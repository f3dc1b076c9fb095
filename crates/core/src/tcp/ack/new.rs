//! The policy of a receiver, made of its settings. A file of its own: the settings ask the list for its words.

use super::*;
use crate::tcp::config::Config;

macro_rules! construct {
    ($cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $word:literal: $new:expr $(, settings $group:ident: $module:ident = $about:literal)?;
    )*) => {
        impl AckPolicy {
            /// The policy with its settings.
            pub fn new($cfg: &Config) -> AckPolicy {
                match $cfg.ack_policy { $( Policy::$Part => AckPolicy::$Part($new), )* }
            }
        }
    };
}

policies!(construct);
