//! A queue under CoDel (RFC 8289).

use super::fifo::{Fifo, over_fifo};
use super::registry::Queueing;
use super::{Cx, Marking, Outlet};
use crate::codel::{Config, Control, Managed};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::unit::Time;

/// Packets that wait for CoDel.
pub(super) trait Waiting {
    /// Oldest packet, and its arrival time.
    fn pop(&mut self, cx: &Cx<'_>) -> Option<(PacketId, Time)>;
    /// Number of waiting bytes.
    fn bytes(&self) -> u64;
}

impl Waiting for Fifo {
    fn pop(&mut self, cx: &Cx<'_>) -> Option<(PacketId, Time)> {
        Fifo::pop(self, cx)
    }

    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}

/// Waiting packets under CoDel, with what it needs to mark and to drop them.
pub(super) struct UnderCoDel<'a, 'c, W> {
    pub waiting: &'a mut W,
    pub marking: &'a mut Marking,
    pub cx: &'a mut Cx<'c>,
}

impl<W: Waiting> Managed for UnderCoDel<'_, '_, W> {
    fn pop(&mut self) -> Option<(PacketId, Time)> {
        self.waiting.pop(self.cx)
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn mark(&mut self, packet: PacketId) -> bool {
        self.marking.mark(&mut self.cx.pool[packet])
    }

    fn discard(&mut self, packet: PacketId) {
        self.cx.discard(packet, Reason::Aqm);
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
        let now = cx.now;
        let mut queue = UnderCoDel { waiting: &mut self.fifo, marking: &mut self.marking, cx };
        self.control.pop(&mut queue, &self.cfg, now)
    }

    over_fifo!();

    fn set_limit(&mut self, packets: usize) {
        self.fifo.room = packets;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config as Queue, Discipline};
    use super::*;
    use crate::packet::Ecn;
    use crate::unit::{BitRate, Span};

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
