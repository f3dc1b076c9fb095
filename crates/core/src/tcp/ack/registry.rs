//! Registry of acknowledgement policies: each is one file with an [`Acknowledging`], and one line in the list of
//! `mod.rs`.

use super::interface::{AckWhen, Arrived};

/// An acknowledgement policy. Its method is called through the enum that the list declares, without virtual calls.
pub(super) trait Acknowledging {
    /// Decides when to acknowledge a segment that has arrived.
    fn on_segment(&mut self, arrived: &Arrived) -> AckWhen;

    /// Segments in order that are acknowledged at once when the application reads them; [`u32::MAX`]: reading changes
    /// nothing.
    fn due_when_read(&self) -> u32 {
        u32::MAX
    }
}

/// Declares the policies of a list: the word of each in a scenario, the policy of a receiver, and the call of its
/// method.
macro_rules! declare {
    ($cfg:ident: $(
        $(#[doc = $doc:literal])*
        $Part:ident = $word:literal: $new:expr $(, settings $group:ident: $module:ident = $about:literal)?;
    )*) => {
        $crate::dispatch::parts! {
            words {
                /// Acknowledgement policies.
                Policy;
            }
            settings {}
            enum {
                /// The policy of a receiver.
                #[derive(Clone, Debug)]
                pub AckPolicy;
            }
            dispatch {
                /// Decides when to acknowledge a segment that has arrived.
                pub fn on_segment(&mut self, arrived: &Arrived) -> AckWhen;

                /// Segments in order that are acknowledged at once when the application reads them; [`u32::MAX`]: reading
                /// changes nothing.
                pub fn due_when_read(&self) -> u32;
            }
            $( $(#[doc = $doc])* $Part($Part): $Part = $word; )*
        }
    };
}
pub(super) use declare;
