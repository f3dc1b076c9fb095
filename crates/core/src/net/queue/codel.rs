//! CoDel: controlled delay (RFC 8289). Once the sojourn time of packets has exceeded a target for an interval, packets
//! are dropped at the head, more often the longer this lasts.

use super::fifo::{Fifo, over_fifo};
use super::registry::Queueing;
use super::{Cx, Marking, Outlet};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, above, at_most};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// CoDel, alone and in each queue of FQ-CoDel.
    pub struct Config {
        /// TARGET: acceptable sojourn time.
        pub target: Span = Span::ms(5) => above(Span::ZERO).at_most(HOUR),
        /// INTERVAL: time for which the sojourn time may exceed TARGET before a packet is dropped; about the longest
        /// round-trip time.
        pub interval: Span = Span::ms(100) => above(Span::ZERO).at_most(HOUR),
        /// Backlog up to which nothing is dropped: one full packet of the link.
        pub mtu: Bytes = Bytes(1514) => at_most(LARGEST_PACKET),
    }
}

/// Queue from which CoDel takes packets.
pub(super) trait Source {
    /// Oldest packet, and its arrival time.
    fn pop(&mut self, cx: &Cx<'_>) -> Option<(PacketId, Time)>;
    /// Number of waiting bytes.
    fn bytes(&self) -> u64;
}

impl Source for Fifo {
    fn pop(&mut self, cx: &Cx<'_>) -> Option<(PacketId, Time)> {
        Fifo::pop(self, cx)
    }

    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}

/// Control law of CoDel, with the variable names of RFC 8289, section 5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    first_above_time: Option<Time>,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Control {
    pub(super) const NEW: Control =
        Control { first_above_time: None, drop_next: Time::ZERO, count: 0, lastcount: 0, dropping: false };

    /// Takes the next packet, and drops or marks packets by the control law.
    pub(super) fn pop(
        &mut self,
        source: &mut impl Source,
        cfg: &Config,
        marking: &mut Marking,
        cx: &mut Cx<'_>,
    ) -> Option<PacketId> {
        let Some((mut packet, ok_to_drop)) = self.dodequeue(source, cfg, cx) else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && cx.now >= self.drop_next {
                self.count += 1;
                if marking.mark(&mut cx.pool[packet]) {
                    self.drop_next = self.control_law(self.drop_next, cfg);
                    break;
                }
                cx.discard(packet, Reason::Aqm);
                let next = self.dodequeue(source, cfg, cx);
                self.dropping = next.is_some_and(|n| n.1);
                packet = next?.0;
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next, cfg);
                }
            }
        } else if ok_to_drop {
            self.dropping = true;
            // Starts from the last drop rate that controlled the queue, if that is recent.
            let delta = self.count.saturating_sub(self.lastcount);
            let recent = cx.now.since(self.drop_next) < cfg.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.lastcount = self.count;
            self.drop_next = self.control_law(cx.now, cfg);
            if !marking.mark(&mut cx.pool[packet]) {
                cx.discard(packet, Reason::Aqm);
                packet = self.dodequeue(source, cfg, cx)?.0;
            }
        }
        Some(packet)
    }

    /// Next packet; true if it may be dropped.
    fn dodequeue(&mut self, source: &mut impl Source, cfg: &Config, cx: &Cx<'_>) -> Option<(PacketId, bool)> {
        let Some((packet, came)) = source.pop(cx) else {
            self.first_above_time = None;
            return None;
        };
        let mut ok_to_drop = false;
        if cx.now.since(came) < cfg.target || source.bytes() <= u64::from(cfg.mtu.0) {
            self.first_above_time = None;
        } else {
            match self.first_above_time {
                None => self.first_above_time = Some(cx.now + cfg.interval),
                Some(time) => ok_to_drop = cx.now >= time,
            }
        }
        Some((packet, ok_to_drop))
    }

    fn control_law(&self, t: Time, cfg: &Config) -> Time {
        t + Span((cfg.interval.0 as f64 / f64::from(self.count).sqrt()).round() as u64)
    }
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub struct CoDel {
    cfg: Config,
    fifo: Fifo,
    marking: Marking,
    control: Control,
}

impl Queueing for CoDel {
    const MANAGED: bool = true;

    fn new(cfg: &super::Config, _: Outlet, _: Stream) -> CoDel {
        CoDel { cfg: cfg.codel.clone(), fifo: Fifo::new(cfg), marking: Marking::new(cfg), control: Control::NEW }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.fifo.has_room(cx.size(packet)) {
            self.fifo.push(packet, cx);
        } else {
            cx.discard(packet, Reason::QueueFull);
        }
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        self.control.pop(&mut self.fifo, &self.cfg, &mut self.marking, cx)
    }

    over_fifo!();
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config as Queue, Discipline};
    use super::*;
    use crate::packet::Ecn;
    use crate::unit::BitRate;

    fn bench() -> Bench {
        let cfg = Queue { discipline: Discipline::CoDel, limit: 100_000, ..Queue::default() };
        Bench::new(&cfg, BitRate::mbps(2))
    }

    /// Takes one packet and adds one every 0.1 ms until that many milliseconds after the start, so that only drops
    /// change the length of the queue.
    fn stand(b: &mut Bench, until: u64, ecn: Ecn) {
        while b.now < Time::ZERO + Span::ms(until) {
            b.pop();
            b.push(0, 500, ecn);
            b.now += Span::us(100);
        }
    }

    fn drop_times(b: &Bench) -> Vec<f64> {
        b.dropped.iter().map(|d| d.0.as_secs() * 1e3).collect()
    }

    fn assert_near(times: &[f64], expected: &[f64]) {
        // A packet is dropped when one is taken: at most 0.1 ms late.
        let near = times.iter().zip(expected).all(|(t, e)| (-0.051..0.151).contains(&(t - e)));
        assert!(near && times.len() >= expected.len(), "{times:?} for {expected:?}");
    }

    /// RFC 8289, 5.5: the next drop follows the last one by interval / sqrt(count).
    #[test]
    fn drops_come_faster_and_faster() {
        let mut b = bench();
        (0..1000).for_each(|_| b.push(0, 500, Ecn::NotEct));
        b.now += Span::ms(5);
        stand(&mut b, 400, Ecn::NotEct);
        // The first drop comes 100 ms after packets have waited 5 ms.
        assert_near(&drop_times(&b), &[105.0, 205.0, 275.7, 333.4, 383.4]);
        assert!(b.dropped.iter().all(|d| d.2 == Reason::Aqm));
    }

    #[test]
    fn ecn_capable_packets_are_marked_when_others_would_be_dropped() {
        let mut b = bench();
        (0..1000).for_each(|_| b.push(0, 500, Ecn::Ect));
        b.now += Span::ms(5);
        let mut marks = vec![];
        while b.now < Time::ZERO + Span::ms(400) {
            let (_, _, ecn) = b.pop().expect("the queue stands");
            if ecn == Ecn::Ce {
                marks.push(b.now.as_secs() * 1e3);
            }
            b.push(0, 500, Ecn::Ect);
            b.now += Span::us(100);
        }
        assert_near(&marks, &[105.0, 205.0, 275.7, 333.4, 383.4]);
        assert_eq!((b.dropped.len(), b.queue.marks()), (0, marks.len() as u64));
    }

    #[test]
    fn short_queue_is_never_dropped_from() {
        let mut b = bench();
        for _ in 0..100 {
            b.push(0, 1000, Ecn::NotEct);
            b.push(0, 500, Ecn::NotEct);
            b.now += Span::ms(50);
            b.pop();
            b.pop();
        }
        assert!(b.drops().is_empty(), "after each packet at most 1514 B wait");
    }

    #[test]
    fn sojourn_below_target_causes_no_drop() {
        let mut b = bench();
        // 49 packets wait 4.9 ms.
        (0..49).for_each(|_| b.push(0, 500, Ecn::NotEct));
        stand(&mut b, 1000, Ecn::NotEct);
        assert!(b.drops().is_empty());
    }

    /// RFC 8289, 5.6: a queue that is bad again soon is controlled at the rate that helped the last time.
    #[test]
    fn the_rate_is_remembered_for_a_while() {
        // Five drops, the first with a count of 1: the next time it is 5 - 1, or again 1.
        for (pause, count) in [(200, 4.0f64), (1700, 1.0)] {
            let mut b = bench();
            (0..200).for_each(|_| b.push(0, 500, Ecn::NotEct));
            b.now += Span::ms(5);
            stand(&mut b, 390, Ecn::NotEct);
            assert_eq!(b.dropped.len(), 5);
            while b.pop().is_some() {}
            b.dropped.clear();
            b.now += Span::ms(pause);
            (0..200).for_each(|_| b.push(0, 500, Ecn::NotEct));
            b.now += Span::ms(5);
            let began = b.now.0 / 1_000_000;
            stand(&mut b, began + 220, Ecn::NotEct);
            let times = drop_times(&b);
            assert!((times[1] - times[0] - 100.0 / count.sqrt()).abs() < 0.151, "{times:?} after {pause} ms");
        }
    }

    #[test]
    fn a_full_queue_drops_the_arrival() {
        let cfg = Queue { discipline: Discipline::CoDel, limit: 3, ..Queue::default() };
        let mut b = Bench::new(&cfg, BitRate::mbps(2));
        (0..5).for_each(|_| b.push(0, 500, Ecn::Ect));
        assert_eq!(b.drops(), [3, 4]);
        assert!(b.dropped.iter().all(|d| d.2 == Reason::QueueFull));
    }
}
