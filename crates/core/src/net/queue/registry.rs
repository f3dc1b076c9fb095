//! Registry of queue disciplines: each is one file with a [`Queueing`], and one line in the list of `mod.rs`.

use super::{Config, Cx, Outlet};
use crate::packet::{PacketId, PacketPool};
use crate::rng::Stream;

/// A queue discipline. Its methods are called through the enum that the list declares, without virtual calls.
pub(super) trait Queueing: Sized {
    /// True if packets can be dropped or marked before the queue is full, by a rule of the discipline.
    const MANAGED: bool = false;
    /// True if the arriving packet can count against the limits (`queue.limit_includes_arrival`).
    const COUNTS_ARRIVAL: bool = false;
    /// True if arrivals are marked by the number of waiting packets (`queue.mark_threshold`).
    const MARKS_BY_LENGTH: bool = false;

    /// An empty queue in front of an outlet, with a random stream of its own.
    fn new(cfg: &Config, outlet: Outlet, rng: Stream) -> Self;

    /// Enqueues, marks or drops a packet that arrives.
    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>);

    /// An urgent packet arrives. It overtakes all others if the discipline distinguishes urgent packets.
    fn push_front(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.push(packet, cx);
    }

    /// Takes the next packet; an empty queue records that it is idle.
    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId>;

    /// Removes the first packet that matches.
    fn remove(&mut self, cx: &Cx<'_>, matches: impl FnMut(PacketId) -> bool) -> Option<PacketId>;

    /// The first waiting packet that matches, where flow control asks.
    fn find(&self, _matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        None
    }

    /// Number of waiting packets that match, where flow control asks.
    fn count(&self, _matches: impl FnMut(PacketId) -> bool) -> usize {
        0
    }

    /// Number of waiting packets.
    fn len(&self) -> usize;

    /// Free places, in packets.
    fn room(&self) -> usize;

    /// Changes `queue.limit`; packets that wait stay.
    fn set_limit(&mut self, packets: usize);

    /// Size of the waiting packets \[B\].
    fn bytes(&self, pool: &PacketPool) -> u64;

    /// Number of marked packets.
    fn marks(&self) -> u64;

    /// Number of flow buckets that a queue with these settings allocates.
    fn buckets(_cfg: &Config) -> u64 {
        0
    }
}

/// Declares the disciplines: the word of each in a scenario, the settings of the queue with those of each discipline,
/// the queue, and the calls of its methods. A discipline has settings of its own (`settings red: red::Config`), perhaps
/// those of another, too (`shared with fq_codel`).
macro_rules! disciplines {
    (
        settings { $($fields:tt)* }
        $(
            $(#[doc = $doc:literal])*
            $Part:ident($Held:ty) = $word:literal
            $(, settings $group:ident: $Group:ty = $about:literal $(, shared with $other:literal)?)?;
        )*
    ) => {
        $crate::dispatch::parts! {
            words {
                /// Queue disciplines.
                Discipline;
                /// Returns true if packets can be dropped or marked before the queue is full, by a rule of the discipline.
                is_managed: bool = MANAGED;
                /// Returns true if the arriving packet can count against the limits.
                counts_arrival: bool = COUNTS_ARRIVAL;
                /// Returns true if `queue.mark_threshold` marks packets.
                marks_by_length: bool = MARKS_BY_LENGTH;
            }
            settings {
                /// The queue of every node in front of its MAC, and in front of each of its wired links.
                Config by discipline = "queue.discipline" { $($fields)* }

                /// Number of flow buckets that a queue with these settings allocates.
                pub fn buckets(&self) -> u64;
            }
            enum {
                /// Queue of any discipline.
                #[derive(Clone, Debug)]
                pub Queue;
            }
            dispatch {
                /// Enqueues, marks or drops a packet that arrives.
                #[inline]
                pub fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                fn push_front(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// Takes the next packet. Must be called whenever the outlet is free: an empty queue records that it is
                /// idle.
                #[inline]
                pub fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId>;

                fn remove(&mut self, cx: &Cx<'_>, matches: impl Fn(PacketId) -> bool) -> Option<PacketId>;

                fn find(&self, matches: impl Fn(PacketId) -> bool) -> Option<PacketId>;

                fn count(&self, matches: impl Fn(PacketId) -> bool) -> usize;

                /// Number of packets that wait.
                pub fn len(&self) -> usize;

                /// Largest number of packets that may wait.
                pub fn room(&self) -> usize;

                /// Changes `queue.limit`; packets that wait stay.
                pub fn set_limit(&mut self, packets: usize);

                /// Bytes of the packets that wait.
                pub fn bytes(&self, pool: &PacketPool) -> u64;

                /// Number of packets that were marked.
                pub fn marks(&self) -> u64;
            }
            $(
                $(#[doc = $doc])*
                $Part($Held): $Part = $word
                $(, settings $group: $Group = $about $(, shared with $other)?)?;
            )*
        }

        impl Queue {
            /// An empty queue in front of an outlet, with a random stream of its own.
            pub fn new(cfg: &Config, outlet: Outlet, rng: Stream) -> Queue {
                match cfg.discipline {
                    $( Discipline::$Part => Queue::$Part(<$Held>::from($Part::new(cfg, outlet, rng))), )*
                }
            }
        }
    };
}
pub(super) use disciplines;
