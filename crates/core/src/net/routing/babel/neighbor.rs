//! Neighbors of a Babel node: the history of their Hellos, and the costs of their links (RFC 8966, appendix A).

use super::outbox::Outbox;
use super::{Config, INFINITE, LinkQuality};
use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// Time for which a neighbor may be silent before it is forgotten.
const FORGOTTEN: Span = Span::secs(300);

/// A neighbor, from the first packet that was received from it.
#[derive(Clone, Debug)]
pub(super) struct Neighbor {
    pub(super) node: NodeId,
    /// The last 16 Hellos, the newest in the highest bit; 1: it was received.
    pub(super) reach: u16,
    /// Sequence number of the last Hello that was received or missed; `None` before the first.
    hello_seqno: Option<u16>,
    /// Time of that Hello.
    hello_at: Time,
    pub(super) hello_interval: Span,
    /// Cost of the link to it, as it says.
    pub(super) txcost: u16,
    /// Time of the last IHU.
    ihu_at: Time,
    pub(super) ihu_interval: Span,
    /// TLVs for this neighbor alone.
    pub(super) outbox: Outbox,
}

impl Neighbor {
    /// A neighbor of which nothing is known; the outbox is empty.
    pub(super) fn new(node: NodeId, outbox: Outbox, now: Time) -> Neighbor {
        Neighbor {
            node,
            reach: 0,
            hello_seqno: None,
            hello_at: now,
            hello_interval: Span::ZERO,
            txcost: INFINITE,
            ihu_at: now,
            ihu_interval: Span::ZERO,
            outbox: Outbox { to: node, ..outbox },
        }
    }

    /// A Hello was received. More than 8 Hellos too early, it is the first of a node that was switched on again.
    pub(super) fn on_hello(&mut self, seqno: u16, interval: Span, now: Time) {
        if let Some(last) = self.hello_seqno {
            match seqno.wrapping_sub(last.wrapping_add(1)).cast_signed() {
                missed @ 0.. => self.shift(missed.unsigned_abs().into()),
                late @ -8..0 => self.reach = self.reach.unbounded_shl(late.unsigned_abs().into()),
                _ => self.reach = 0,
            }
        }
        self.reach = self.reach >> 1 | 0x8000;
        (self.hello_seqno, self.hello_at, self.hello_interval) = (Some(seqno), now, interval);
    }

    /// Counts the Hellos that should have come by now as missed, each 1.7 intervals after the one before; true if there
    /// are any.
    pub(super) fn miss(&mut self, now: Time) -> bool {
        let (Some(seqno), interval) = (self.hello_seqno, self.hello_interval.0) else { return false };
        if interval == 0 {
            return false;
        }
        let missed = now.since(self.hello_at).0.saturating_sub(interval / 10 * 7) / interval;
        self.shift(missed);
        self.hello_seqno = Some(seqno.wrapping_add(missed as u16));
        self.hello_at += self.hello_interval * missed;
        missed > 0
    }

    fn shift(&mut self, missed: u64) {
        self.reach = self.reach.unbounded_shr(missed.min(16) as u32);
    }

    /// Nothing is left of the neighbor.
    pub(super) fn is_gone(&self, now: Time) -> bool {
        self.reach == 0 || now.since(self.hello_at) >= FORGOTTEN
    }

    /// An IHU of the neighbor was received; true if its cost has changed.
    pub(super) fn on_ihu(&mut self, rxcost: u16, interval: Span, now: Time) -> bool {
        (self.ihu_at, self.ihu_interval) = (now, interval);
        std::mem::replace(&mut self.txcost, rxcost) != rxcost
    }

    /// Forgets what the neighbor has said if its IHUs do not come any more; true if the cost has changed. One that
    /// hears many Hellos is given more time, because the IHU may be lost.
    pub(super) fn forget_txcost(&mut self, now: Time) -> bool {
        let silent = now.since(self.ihu_at);
        if self.ihu_interval > Span::ZERO && silent < self.ihu_interval * 3 {
            return false;
        }
        let is_long = self.ihu_interval > Span::ZERO && silent >= self.ihu_interval * 10;
        if silent < Span::secs(180) && self.reach & 0xfff0 != 0 && !is_long {
            return false;
        }
        self.ihu_at = now;
        std::mem::replace(&mut self.txcost, INFINITE) != INFINITE
    }

    /// The link needs an IHU with every Hello, because its cost changes.
    pub(super) fn is_marginal(&self, cfg: &Config) -> bool {
        u32::from(self.txcost) >= cfg.rxcost * 3 / 2 || self.reach & 0xf000 != 0xf000
    }

    /// Cost of the link from the neighbor. The two newest Hellos weigh only half, each newer one twice as much as the
    /// one before.
    pub(super) fn rxcost(&self, cfg: &Config, now: Time) -> u16 {
        let is_heard = |mask: u16| self.reach & mask == mask;
        match cfg.link_quality {
            LinkQuality::TwoOutOfThree => {
                let is_up = is_heard(0xc000) || is_heard(0xa000) || is_heard(0x6000);
                if is_up { cfg.rxcost as u16 } else { INFINITE }
            }
            LinkQuality::Etx => {
                let reach = u64::from(self.reach);
                let sum = (reach & 0x8000) / 4 + (reach & 0x4000) / 2 + (reach & 0x3fff);
                let mut cost = 32_768 * u64::from(cfg.rxcost) / (sum + 1);
                // A Hello that is long overdue.
                let delay = now.since(self.hello_at).0 / 1_000_000;
                if delay >= 40_000 {
                    cost = (cost * (delay - 20_000) + 10_000) / 20_000;
                }
                cost.min(INFINITE.into()) as u16
            }
        }
    }

    /// Cost of the link for routes.
    pub(super) fn cost(&self, cfg: &Config, now: Time) -> u16 {
        let (tx, rx) = (self.txcost, self.rxcost(cfg, now));
        if tx == INFINITE || rx == INFINITE {
            return INFINITE;
        }
        let nominal = u64::from(cfg.rxcost);
        let (wide_tx, wide_rx) = (u64::from(tx), u64::from(rx));
        if cfg.link_quality == LinkQuality::TwoOutOfThree || (wide_tx < nominal && wide_rx < nominal) {
            return tx;
        }
        let cost = (wide_tx.max(nominal) * wide_rx.max(nominal) + nominal / 2) / nominal;
        cost.min(INFINITE.into()) as u16
    }

    /// Time until the cost of the link is to be computed again.
    pub(super) fn check_within(&self) -> Option<Span> {
        [self.hello_interval, self.ihu_interval].into_iter().filter(|&i| i > Span::ZERO).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Span::secs(s)
    }

    fn with(reach: u16, txcost: u16) -> Neighbor {
        Neighbor { reach, txcost, hello_at: at(1), ..Neighbor::new(NodeId(1), Outbox::new(NodeId(1)), at(1)) }
    }

    #[test]
    fn rxcosts_of_histories_are_those_of_babeld() {
        let cfg = Config::default();
        let recorded = [1023, 511, 341, 292, 273, 264, 260, 258, 256];
        for (k, cost) in recorded.into_iter().enumerate() {
            assert_eq!(with(!(0x7fff >> k), INFINITE).rxcost(&cfg, at(1)), cost, "{} Hellos of a new link", k + 1);
        }
        for lost in [0x7fff, 0xbfff, 0xdfff] {
            assert_eq!(with(lost, 256).rxcost(&cfg, at(1)), 341, "one of the newest three");
        }
        let costs: Vec<u16> = (2..10).map(|k| with(0xffff >> k, 256).rxcost(&cfg, at(1))).collect();
        assert_eq!(costs, [512, 1024, 2048, 4096, 8192, 16_384, 32_768, INFINITE]);
        assert_eq!(with(0xffff, 256).rxcost(&cfg, at(61)), 512, "60 s of silence");
    }

    #[test]
    fn costs_are_those_of_babeld() {
        let cfg = Config::default();
        let cost = |reach, tx| with(reach, tx).cost(&cfg, at(1));
        assert_eq!([cost(0xffff, 341), cost(0x7fff, 341), cost(0x3fff, 512)], [341, 454, 1024]);
        assert_eq!([cost(0xffff, INFINITE), cost(0, 256)], [INFINITE; 2]);
        let wired = Config { rxcost: 96, link_quality: LinkQuality::TwoOutOfThree, ..Config::default() };
        let rxcost = |reach| with(reach, 96).rxcost(&wired, at(1));
        assert_eq!([0xc000, 0xa000, 0x6000, 0xffff].map(rxcost), [96; 4]);
        assert_eq!([0x8000, 0x4000, 0x3fff, 0x9fff].map(rxcost), [INFINITE; 4]);
    }

    #[test]
    fn hellos_are_missed_after_1_7_intervals() {
        let mut n = Neighbor::new(NodeId(1), Outbox::new(NodeId(1)), at(0));
        let four = Span::secs(4);
        n.on_hello(65_535, four, at(10));
        assert!(!n.miss(at(10) + Span::ms(6799)));
        assert!(n.miss(at(10) + Span::ms(6800)));
        assert_eq!(n.reach, 0x4000);
        // The Hello after the one that is missed; then one of two is missing.
        n.on_hello(1, four, at(17));
        assert_eq!(n.reach, 0xa000);
        n.on_hello(3, four, at(24));
        assert_eq!(n.reach, 0xa800);
        n.on_hello(2000, four, at(28));
        assert_eq!(n.reach, 0x8000, "all between were missed");
        n.on_hello(5, four, at(32));
        assert_eq!(n.reach, 0x8000, "switched on again");
    }

    #[test]
    fn txcost_is_kept_while_hellos_come() {
        let mut n = with(0xffff, 256);
        n.on_ihu(300, Span::secs(12), at(0));
        assert!(!n.forget_txcost(at(35)));
        assert!(!n.forget_txcost(at(119)));
        assert!(n.clone().forget_txcost(at(120)));
        n.reach = 0x000f;
        assert!(n.forget_txcost(at(36)));
        assert_eq!(n.txcost, INFINITE);
    }
}
