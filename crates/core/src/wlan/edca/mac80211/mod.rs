//! Queues of mac80211, the MAC of Linux (Linux 6.18, `net/mac80211/tx.c`): a queue for each station and TID, and one for
//! broadcasts. The queues of a category take turns by the airtime of their stations (airtime fairness), and give a
//! driver packets up to a limit of pending airtime (airtime queue limits).

mod flows;

pub use flows::Waiting;

use super::AccessCategory;
use crate::codel;
use crate::packet::{PacketId, RadioId};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, above, at_most, range};
use crate::settings;
use crate::unit::{Bytes, Span, Time};
use crate::wlan::{Mode, Out, Timing};
use flows::{Flows, Rounds};
use std::collections::VecDeque;

settings! {
    /// CoDel in each flow (`ieee80211_txq_setup_flows`).
    pub struct CoDel {
        /// TARGET: acceptable sojourn time.
        pub target: Span = Span::ms(20) => above(Span::ZERO).at_most(HOUR),
        /// INTERVAL: time for which the sojourn time may exceed TARGET before a packet is dropped.
        pub interval: Span = Span::ms(100) => above(Span::ZERO).at_most(HOUR),
    }
}

settings! {
    /// Queues of mac80211, with the values of Linux 6.18.
    pub struct Config {
        /// Number of buckets into which the flows of all queues are hashed (`ieee80211_txq_setup_flows`).
        pub flows: u32 = 4096 => range(1, 65_536),
        /// Number of bytes that a flow may send per round (`fq_init`).
        pub quantum: Bytes = Bytes(300) => range(Bytes(1), LARGEST_PACKET),
        /// Largest number of packets that wait in all queues of a device (`fq_init`).
        pub limit: u32 = 8192 => range(1, 1_000_000),
        /// Largest memory of the waiting packets, with 772 B for each on top of its MSDU; "by_phy": 16 MiB with VHT,
        /// 4 MiB without (`ieee80211_txq_setup_flows`).
        pub limit_memory: Option<Bytes> | "by_phy" = None => range(Bytes(4096), Bytes(4_000_000_000)),
        /// CoDel in each flow.
        pub codel: CoDel = CoDel::default(),
        /// Marks ECN-capable packets where CoDel would drop them.
        pub ecn: bool = true,
        /// Largest number of aggregates of a category in the driver: one is on the air, the others are ready
        /// (ath9k: `ATH_AGGR_MIN_QDEPTH`).
        pub aggregates: u32 = 2 => range(1, 16),
        /// Gives stations equal airtime: each station pays for the frames to it and from it, retries included.
        /// Otherwise queues take turns.
        pub airtime_fairness: bool = true,
        /// Airtime that a station gets per round (`IEEE80211_DEFAULT_AIRTIME_WEIGHT`).
        pub airtime_quantum: Span = Span::us(256) => range(Span::us(1), Span::ms(100))
            ; used when |c| c.airtime_fairness, else "`airtime_fairness` is false",
        /// Limits the airtime of the packets in the driver (airtime queue limits).
        pub airtime_limits: bool = true,
        /// Airtime of a station's packets in the driver below which the driver gets more of them
        /// (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`).
        pub limit_low: Span = Span::us(5000) => above(Span::ZERO).at_most(Span::secs(1))
            ; used when |c| c.airtime_limits, else "`airtime_limits` is false",
        /// Airtime that replaces `limit_low` while the packets of all stations in the driver need less than
        /// `limit_total` (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`).
        pub limit_high: Span = Span::us(12_000) => above(Span::ZERO).at_most(Span::secs(1))
            ; used when |c| c.airtime_limits, else "`airtime_limits` is false",
        /// Airtime of the packets of all stations in the driver below which `limit_high` holds
        /// (`IEEE80211_AQL_THRESHOLD`).
        pub limit_total: Span = Span::us(24_000) => at_most(Span::secs(1))
            ; used when |c| c.airtime_limits, else "`airtime_limits` is false",
        /// Airtime of the broadcasts in the driver below which the driver gets more of them
        /// (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_BC`).
        pub limit_broadcast: Span = Span::us(50_000) => above(Span::ZERO).at_most(Span::secs(1))
            ; used when |c| c.airtime_limits, else "`airtime_limits` is false",
    }
}

impl CoDel {
    /// Settings of the control law, which drops all but the last packet.
    fn law(&self) -> codel::Config {
        codel::Config { target: self.target, interval: self.interval, mtu: Bytes(0) }
    }
}

/// Memory of waiting packets with VHT, and without \[B\].
const VHT_MEMORY: u64 = 16 << 20;
const MEMORY: u64 = 4 << 20;

/// Time for which a station is active after something waited for it: it pays for airtime, and keeps its place in the
/// round while it owes some (`ieee80211_sta_keep_active`).
const STAYS_ACTIVE: Span = Span::ms(100);

/// The queue of a station and a TID, or that of broadcasts.
#[derive(Clone, Debug)]
struct Queue {
    to: RadioId,
    tid: u8,
    rounds: Rounds,
    /// The queue is in the round of its category.
    scheduled: bool,
}

/// Airtime of a station in a category.
#[derive(Clone, Copy, Debug)]
struct Airtime {
    to: RadioId,
    category: AccessCategory,
    /// Airtime left in this round \[ns\].
    deficit: i64,
    /// Expected airtime of the station's packets in the driver.
    pending: Span,
    /// Last instant at which something waited for the station; `None`: nothing has yet.
    active: Option<Time>,
}

/// Queues of a device.
#[derive(Clone, Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    flows: Flows,
    airtimes: Vec<Airtime>,
    /// Queues of each category that have something to send, in turn.
    round: [VecDeque<usize>; 4],
    /// Expected airtime of all packets in the driver that are no broadcasts.
    pending: Span,
}

impl Queues {
    /// No queues, and a stream for the salt of their hash.
    pub fn new(mut rng: Stream) -> Queues {
        Queues {
            queues: Vec::new(),
            flows: Flows::new(u64::from(rng.below(u32::MAX))),
            airtimes: Vec::new(),
            round: Default::default(),
            pending: Span::ZERO,
        }
    }

    /// Number of packets that wait.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Returns true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of packets that CoDel has marked.
    pub fn marks(&self) -> u64 {
        self.flows.marks
    }

    /// Number of packets that wait for a station and a TID.
    pub fn waiting(&self, to: RadioId, tid: u8) -> usize {
        self.queues.iter().find(|q| (q.to, q.tid) == (to, tid)).map_or(0, |q| q.rounds.packets)
    }

    /// Packets and bytes that wait in the queues of a category.
    pub fn of(&self, category: AccessCategory) -> (usize, u64) {
        let of_category = self.queues.iter().filter(|q| AccessCategory::of(q.tid) == category);
        of_category.fold((0, 0), |sum, q| (sum.0 + q.rounds.packets, sum.1 + self.flows.bytes(&q.rounds)))
    }

    /// The station with the least airtime left in its category, and its deficit \[us\].
    pub fn least_airtime(&self) -> Option<(RadioId, AccessCategory, f64)> {
        let stations = self.airtimes.iter().filter(|a| !a.to.is_broadcast());
        stations.min_by_key(|a| a.deficit).map(|a| (a.to, a.category, a.deficit as f64 / 1000.0))
    }

    fn queue(&mut self, to: RadioId, tid: u8) -> usize {
        let known = self.queues.iter().position(|q| (q.to, q.tid) == (to, tid));
        known.unwrap_or_else(|| {
            self.queues.push(Queue { to, tid, rounds: self.flows.rounds(), scheduled: false });
            self.queues.len() - 1
        })
    }

    /// Airtime of a station in a category, which begins with that of a round.
    fn airtime(&mut self, to: RadioId, category: AccessCategory, cfg: &Config) -> &mut Airtime {
        let known = self.airtimes.iter().position(|a| (a.to, a.category) == (to, category));
        let i = known.unwrap_or_else(|| {
            let deficit = cfg.airtime_quantum.0 as i64;
            self.airtimes.push(Airtime { to, category, deficit, pending: Span::ZERO, active: None });
            self.airtimes.len() - 1
        });
        &mut self.airtimes[i]
    }

    /// A packet of the flow with this hash comes.
    pub fn push(
        &mut self,
        (to, tid): (RadioId, u8),
        w: Waiting,
        hash: u64,
        (cfg, timing): (&Config, &Timing),
        out: &mut Vec<Out>,
    ) {
        let by_phy = if timing.delimits_single() { VHT_MEMORY } else { MEMORY };
        let memory = cfg.limit_memory.map_or(by_phy, |most| most.0.into());
        let q = self.queue(to, tid);
        self.flows.push(q, &mut self.queues[q].rounds, w, hash, cfg);
        while self.flows.exceeds(cfg, memory) {
            let (loser, count) = self.flows.drop_from_fattest(out);
            self.queues[loser].rounds.packets -= count;
        }
        self.schedule(q, false, w.came, cfg);
    }

    /// Puts a queue into the round of its category if it has something to send. `again`: the driver has packets of its
    /// stream that it is to send again.
    fn schedule(&mut self, q: usize, again: bool, now: Time, cfg: &Config) {
        let Queue { to, tid, ref rounds, scheduled } = self.queues[q];
        if scheduled {
            return;
        }
        let category = AccessCategory::of(tid);
        let waits = again || rounds.packets > 0;
        let fair = cfg.airtime_fairness && !to.is_broadcast();
        if fair && waits {
            self.airtime(to, category, cfg).active = Some(now);
        } else if fair {
            let a = self.airtime(to, category, cfg);
            if a.left() >= 0 || !a.is_active(now) {
                return;
            }
        } else if !waits {
            return;
        }
        self.queues[q].scheduled = true;
        // A station goes first until it owes airtime.
        if fair && waits {
            self.round[category as usize].push_front(q);
        } else {
            self.round[category as usize].push_back(q);
        }
    }

    /// The driver is done with a queue that [`next`](Self::next) has given it (`ieee80211_return_txq`), or is to send
    /// packets of its stream `again`.
    pub fn put_back(&mut self, (to, tid): (RadioId, u8), again: bool, now: Time, cfg: &Config) {
        let q = self.queue(to, tid);
        self.schedule(q, again, now, cfg);
    }

    /// Takes the queue of a category out of the round whose turn it is (`ieee80211_next_txq`). `driver` tells what the
    /// driver can make of a stream: nothing now, or an aggregate; `true`: of packets that it has already, for which the
    /// airtime limits do not ask again.
    pub fn next(
        &mut self,
        category: AccessCategory,
        cfg: &Config,
        driver: impl Fn(RadioId, u8) -> Option<bool>,
    ) -> Option<(RadioId, u8)> {
        let (mut first, mut any) = (None, false);
        loop {
            let q = *self.round[category as usize].front()?;
            if first == Some(q) && !std::mem::take(&mut any) {
                return None;
            }
            first.get_or_insert(q);
            let Queue { to, tid, .. } = self.queues[q];
            let mut takes = driver(to, tid).is_some_and(|again| again || self.has_airtime(to, category, cfg));
            any |= takes;
            if cfg.airtime_fairness && !to.is_broadcast() {
                let a = self.airtime(to, category, cfg);
                if a.left() < 0 {
                    a.deficit += cfg.airtime_quantum.0 as i64;
                    takes = false;
                }
            }
            let round = &mut self.round[category as usize];
            if takes {
                round.pop_front();
                self.queues[q].scheduled = false;
                return Some((to, tid));
            }
            round.rotate_left(1);
        }
    }

    /// Returns true if the driver may get more for a station (`ieee80211_txq_airtime_check`).
    fn has_airtime(&mut self, to: RadioId, category: AccessCategory, cfg: &Config) -> bool {
        let all = self.pending;
        let pending = self.airtime(to, category, cfg).pending;
        if to.is_broadcast() {
            return !cfg.airtime_limits || pending < cfg.limit_broadcast;
        }
        !cfg.airtime_limits || pending < cfg.limit_low || (all < cfg.limit_total && pending < cfg.limit_high)
    }

    /// Takes the next packet for a station and a TID (`ieee80211_tx_dequeue`), and the airtime that it is expected to
    /// need, which is pending from now on.
    pub fn pop(
        &mut self,
        (to, tid): (RadioId, u8),
        cfg: &Config,
        expected: impl Fn(u32) -> Span,
        now: Time,
        out: &mut Vec<Out>,
    ) -> Option<(Waiting, Span)> {
        let category = AccessCategory::of(tid);
        if !self.has_airtime(to, category, cfg) {
            return None;
        }
        let q = self.queue(to, tid);
        let w = self.flows.pop(&mut self.queues[q].rounds, cfg, now, out)?;
        let airtime = if cfg.airtime_limits { expected(w.msdu) } else { Span::ZERO };
        let a = self.airtime(to, category, cfg);
        a.pending += airtime;
        if !to.is_broadcast() {
            self.pending += airtime;
        }
        out.push(Out::Taken { packet: w.packet });
        Some((w, airtime))
    }

    /// The driver is done with a packet.
    pub fn give_back(&mut self, (to, tid): (RadioId, u8), airtime: Span, cfg: &Config) {
        let a = self.airtime(to, AccessCategory::of(tid), cfg);
        a.pending = a.pending - airtime;
        if !to.is_broadcast() {
            self.pending = self.pending - airtime;
        }
    }

    /// A frame to a station, or from it, was on the air (`ieee80211_sta_register_airtime`). Only an active station
    /// pays: otherwise one that has sent for long would wait for long before it gets its first packet.
    pub fn charge(&mut self, (station, tid): (RadioId, u8), airtime: Span, now: Time, cfg: &Config) {
        if !cfg.airtime_fairness {
            return;
        }
        let a = self.airtime(station, AccessCategory::of(tid), cfg);
        if a.is_active(now) {
            a.deficit -= airtime.0 as i64;
        }
    }

    /// Takes out the packets of a station.
    pub fn clear_to(&mut self, station: RadioId, mut taken: impl FnMut(PacketId)) {
        for queue in self.queues.iter_mut().filter(|q| q.to == station) {
            self.flows.clear(&mut queue.rounds, &mut taken);
        }
    }

    /// Takes out all packets, and forgets the stations: the device is switched off.
    pub fn clear(&mut self, mut taken: impl FnMut(PacketId)) {
        for queue in &mut self.queues {
            self.flows.clear(&mut queue.rounds, &mut taken);
            queue.scheduled = false;
        }
        self.round.iter_mut().for_each(VecDeque::clear);
        self.airtimes.clear();
        self.pending = Span::ZERO;
    }
}

impl Airtime {
    fn is_active(&self, now: Time) -> bool {
        self.active.is_some_and(|last| now <= last + STAYS_ACTIVE)
    }

    /// Airtime left in this round when all that is pending is sent \[ns\].
    fn left(&self) -> i64 {
        self.deficit - self.pending.0 as i64
    }
}

/// Airtime that an MPDU is expected to need (`ieee80211_calc_expected_tx_airtime`): of its bytes, and its share of the
/// preamble of an aggregate, which is taken to be longer the faster it is. There is no part for AIFS, backoff and
/// responses.
pub fn expected_airtime((to, mode): (RadioId, Mode), category: AccessCategory, bytes: u32, timing: &Timing) -> Span {
    if to.is_broadcast() {
        return timing.broadcast(bytes);
    }
    let airtime = if !mode.is_ht() || category == AccessCategory::Voice {
        timing.data_in(mode, bytes)
    } else {
        let preamble = Span::us(36 + 4 * u64::from(mode.streams()));
        let shift = match mode.rate().airtime(1024).0 / 1000 {
            401.. => 1,
            251.. => 2,
            151.. => 3,
            71.. => 4,
            _ => 5,
        };
        mode.rate().airtime(bytes) + Span(preamble.0 >> shift)
    };
    // The kernel keeps ten bits of 4 us.
    let us = (airtime.0 / 1000).clamp(4, 4095);
    Span::us(us & !3)
}
