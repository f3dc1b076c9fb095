//! Causes of MAC losses: outcome of the last attempt at its intended receiver.

use crate::packet::Kind;

macro_rules! causes {
    ($( $(#[doc = $doc:literal])* $Variant:ident = $word:literal, )*) => {
        /// Outcome of an attempt to send a frame.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Cause { $( $(#[doc = $doc])* $Variant, )* }

        impl Cause {
            /// Every cause with its name in tables and its meaning.
            pub const ALL: &'static [(Cause, &'static str, &'static str)] =
                &[ $( (Cause::$Variant, $word, concat!("", $($doc),*)), )* ];

            /// Its name in tables.
            pub fn word(self) -> &'static str {
                Cause::ALL[self as usize].1
            }
        }
    };
}

causes! {
    /// Another frame destroyed it there, whose sender its own sender cannot sense.
    HiddenTerminal = "hidden_terminal",
    /// Another frame destroyed it there, whose sender its own sender can sense: it began before that could be noticed,
    /// or was an answer, for which no station listens first.
    SameSlot = "same_slot",
    /// The receiver was locked on another frame, which was the stronger one.
    Captured = "captured",
    /// The receiver was transmitting.
    Transmitting = "transmitting",
    /// The RTS arrived, but NAV or carrier sense forbade the CTS.
    Refused = "refused",
    /// The frame arrived, but its CTS or ACK did not.
    ResponseLost = "response_lost",
    /// An error model damaged it at the receiver, or noise where signals add up.
    Damaged = "damaged",
    /// Signal below sensitivity, without interference.
    OutOfRange = "out_of_range",
    /// The receiver was switched off, or the sender was switched off before the end of the frame.
    SwitchedOff = "switched_off",
}

/// Packets given up by the MAC, by kind and cause: those created in the warm-up, and those of the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses([[[u64; Cause::ALL.len()]; Kind::ALL.len()]; 2]);

impl Losses {
    /// Counts a packet that was given up.
    pub fn count(&mut self, measured: bool, kind: Kind, cause: Cause) {
        self.0[usize::from(measured)][kind as usize][cause as usize] += 1;
    }

    /// Number of packets of a kind given up for this cause, created in the measured part or before.
    pub fn get(&self, measured: bool, kind: Kind, cause: Cause) -> u64 {
        self.0[usize::from(measured)][kind as usize][cause as usize]
    }

    /// Counts all packets so far as packets of the warm-up.
    pub fn begin_measured(&mut self) {
        let [warmup, measured] = &mut self.0;
        let counts = warmup.as_flattened_mut().iter_mut().zip(std::mem::take(measured).into_iter().flatten());
        counts.for_each(|(sum, n)| *sum += n);
    }
}
