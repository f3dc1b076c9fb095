//! Ideal source quench (`tcp.ecn.source_quench`): queues tell senders of segments that they mark or drop.

use super::Flows;
use super::flow::{Ends, Flow};
use crate::packet::{Body, Packet};
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::unit::Time;

impl Flows {
    /// Tells the sender of a packet that a queue has marked or dropped it.
    pub fn quench(&mut self, p: &Packet, now: Time, timers: &mut Timers) {
        let Body::Data(segment) = p.body else { return };
        let f = p.flow.index();
        let Some(flow) = self.list.get_mut(f).filter(|flow| p.born >= flow.since) else { return };
        match flow {
            Flow { split: Some(split), .. } if p.from_split => {
                split.halves.on_source_quench(segment.seq, now);
                timers.set(Timer::Split(f), split.halves.deadline());
            }
            Flow { ends: Ends::Tcp(ends), .. } => {
                ends.sender.on_source_quench(segment.seq, now);
                timers.set(Timer::Sender(f), ends.sender.deadline());
            }
            _ => {}
        }
    }
}
