//! Ideal source quench (`tcp.ecn.source_quench`): queues tell senders of segments that they mark or drop.

use super::{Ends, Flow, Flows};
use crate::packet::{Body, Packet};
use crate::run::{Setup, Transport};
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::tcp::Config;
use crate::unit::Time;

/// Tells if a sender is to be told of marks and drops.
pub fn is_wanted(setup: &Setup) -> bool {
    let wants = |cfg: &Config| cfg.ecn.enabled && cfg.ecn.source_quench;
    let of_flow = |t: &Transport| matches!(t, Transport::Tcp(cfg) if wants(cfg));
    setup.flows.iter().any(|f| of_flow(&f.transport) || f.split.as_ref().is_some_and(|s| wants(&s.tcp)))
        || setup.arrivals.iter().any(|a| wants(&a.tcp))
}

impl Flows {
    /// Tells the sender of a packet that a queue has marked or dropped it.
    pub fn quench(&mut self, p: &Packet, now: Time, timers: &mut Timers) {
        let Body::Data(segment) = p.body else { return };
        let f = p.flow.index();
        let Some(flow) = self.list.get_mut(f).filter(|flow| p.born >= flow.since) else { return };
        match flow {
            Flow { split: Some(split), .. } if p.halfway => {
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
