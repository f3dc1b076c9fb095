//! Registry of loss recoveries: each is one file with a [`LossRecovery`], and one line in the list of `mod.rs`.

use super::view::RackView;
use crate::packet::{AckSegment, SackBlocks};
use crate::tcp::connection::Connection;
use crate::tcp::sender::send_times::SendTimes;

/// A loss recovery. Its methods are called through the enum that the list declares, without virtual calls.
pub(super) trait LossRecovery {
    /// The count of duplicate acknowledgements is reset by a timeout.
    const RESETS_DUP_ACKS: bool = true;
    /// The recovery reverts its effects of each duplicate that it was passed, so that only the recovery may count them.
    const COUNTS_DUPLICATES_ITSELF: bool = false;
    /// The recovery also handles acknowledgements that are neither new nor duplicates.
    const TAKES_EVERY_ACK: bool = false;
    /// The recovery handles the expiration of the timer with data outstanding itself.
    const OWNS_TIMER: bool = false;

    /// Handles an acknowledgement that is not older than the last one: recovers, and sends the segments that it allows.
    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection);

    /// Resumes sending when the node has room for packets again.
    fn go_on(&mut self, conn: &mut Connection) {
        conn.send_allowed();
    }

    /// The application has provided more segments, or the receiver has opened its window.
    fn on_write(&mut self, conn: &mut Connection) {
        conn.send_allowed();
    }

    /// The time until which a recovery that paces segments itself lets them wait has come.
    fn on_pace(&mut self, conn: &mut Connection) {
        conn.send_paced();
    }

    /// Congestion without a loss: a mark that the receiver has echoed, or a drop in the own node. Returns true if the
    /// recovery reduces the window itself.
    fn reduces_window(&mut self, _echoed: bool, _conn: &mut Connection) -> bool {
        false
    }

    /// The timer has expired, which the recovery has set itself.
    fn on_timer(&mut self, _conn: &mut Connection) {}

    /// Returns true if the running timer is the retransmission timeout.
    fn awaits_timeout(&self) -> bool {
        true
    }

    /// Returns true if losses are being repaired after duplicate acknowledgements.
    fn is_going_on(&self, conn: &Connection) -> bool;

    /// The retransmission timer has expired with data outstanding; the sender goes back to the first hole.
    fn on_timeout(&mut self, _conn: &Connection) {}

    /// The retransmission timer has expired with data outstanding. Returns true if the recovery sends a probe instead
    /// of the usual reaction.
    fn probes_at_timeout(&mut self, _conn: &mut Connection) -> bool {
        false
    }

    /// Returns true if only probes are sent until one is answered.
    fn is_probing(&self) -> bool {
        false
    }

    /// Takes the SACK blocks of an acknowledgement that `on_ack` does not get. Returns true if any segment is new.
    fn take_blocks(&mut self, _blocks: &SackBlocks, _conn: &Connection) -> bool {
        false
    }

    /// The table of send times that the recovery needs, for a window of this many segments.
    fn send_times(&self, _window: u32) -> Option<SendTimes> {
        None
    }

    /// Memory of the scoreboard \[B\].
    fn memory(&self) -> usize {
        0
    }

    /// State of the recovery for observers.
    fn view(&self) -> Option<RackView> {
        None
    }

    /// Returns true if the retransmission timer causes a timeout although nothing is outstanding.
    fn times_out_when_idle(&self) -> bool {
        false
    }

    /// Ranges of the scoreboard that were looked at, which tests count.
    #[cfg(test)]
    fn looks(&self) -> u64 {
        0
    }
}

/// Declares the recoveries of a list: each with the method, and the rule for SACK, under which it is made of the
/// settings `cfg` of a connection; the recovery of a connection, and the calls of its methods.
macro_rules! recoveries {
    ($cfg:ident: $( $(#[doc = $doc:literal])* $Part:ident: $Method:ident, $rule:pat => $new:expr; )*) => {
        /// The loss recovery of a connection.
        #[derive(Clone, Debug)]
        pub enum Recovery {
            $( $(#[doc = $doc])* $Part($Part), )*
        }

        impl Recovery {
            /// The recovery with its settings.
            pub fn new(method: Method, $cfg: &Config) -> Recovery {
                match (method, $cfg.sack.rule) { $( (Method::$Method, $rule) => Recovery::$Part($new), )* }
            }

            /// The retransmission timer has expired with data outstanding; the sender goes back to the first hole.
            pub fn on_timeout(&mut self, conn: &mut Connection) {
                match self { $( Recovery::$Part(r) => {
                    if $Part::RESETS_DUP_ACKS {
                        conn.set_dup_acks(0);
                    }
                    r.on_timeout(conn);
                } )* }
            }

            /// The recovery also handles acknowledgements that are neither new nor duplicates.
            pub fn takes_every_ack(&self) -> bool {
                match self { $( Recovery::$Part(_) => $Part::TAKES_EVERY_ACK, )* }
            }

            /// The recovery handles the expiration of the timer with data outstanding itself.
            pub fn owns_timer(&self) -> bool {
                match self { $( Recovery::$Part(_) => $Part::OWNS_TIMER, )* }
            }

            /// The recovery reverts its effects of each duplicate that it was passed, so that only the recovery may
            /// count them.
            pub fn counts_duplicates_itself(&self) -> bool {
                match self { $( Recovery::$Part(_) => $Part::COUNTS_DUPLICATES_ITSELF, )* }
            }
        }

        $crate::dispatch! { Recovery [$($Part)*]
            /// Handles an acknowledgement that is not older than the last one: recovers, and sends the segments that it
            /// allows.
            pub fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection);

            /// Congestion without a loss. Returns true if the recovery reduces the window itself.
            pub fn reduces_window(&mut self, echoed: bool, conn: &mut Connection) -> bool;

            /// Resumes sending when the node has room for packets again.
            pub fn go_on(&mut self, conn: &mut Connection);

            /// The application has provided more segments, or the receiver has opened its window.
            pub fn on_write(&mut self, conn: &mut Connection);

            /// The time until which segments wait has come.
            pub fn on_pace(&mut self, conn: &mut Connection);

            /// The timer has expired, which the recovery has set itself.
            pub fn on_timer(&mut self, conn: &mut Connection);

            /// Returns true if the running timer is the retransmission timeout.
            pub fn awaits_timeout(&self) -> bool;

            /// Returns true if losses are being repaired after duplicate acknowledgements.
            pub fn is_going_on(&self, conn: &Connection) -> bool;

            /// The retransmission timer has expired with data outstanding. Returns true if the recovery sends a probe
            /// instead of the usual reaction.
            pub fn probes_at_timeout(&mut self, conn: &mut Connection) -> bool;

            /// Returns true if only probes are sent until one is answered.
            pub fn is_probing(&self) -> bool;

            /// Takes the SACK blocks of an acknowledgement that `on_ack` does not get. Returns true if any segment is
            /// new.
            pub fn take_blocks(&mut self, blocks: &SackBlocks, conn: &Connection) -> bool;

            /// The table of send times that the recovery needs, for a window of this many segments.
            pub fn send_times(&self, window: u32) -> Option<SendTimes>;

            /// Memory of the scoreboard \[B\].
            pub fn memory(&self) -> usize;

            /// State of the recovery for observers.
            pub fn view(&self) -> Option<RackView>;

            /// Returns true if the retransmission timer causes a timeout although nothing is outstanding.
            pub fn times_out_when_idle(&self) -> bool;

            /// Ranges of the scoreboard that were looked at.
            #[cfg(test)]
            pub(super) fn looks(&self) -> u64;
        }
    };
}
pub(super) use recoveries;
