//! Snapshot of all stations of a paused run. Read-only; costs nothing unless taken.

use super::Sim;
use super::air::mac::Mac;
use crate::net::queue::Queue;
use crate::packet::{NodeId, RadioId};
use crate::radio::{Channel, Incoming};
use crate::record::observe::stations::{Kept, Row, State};
use crate::unit::{BitRate, Time};
use crate::wlan::edca::CATEGORIES;

impl Sim {
    /// State of every radio and its station now.
    pub fn stations(&self) -> Kept {
        let energy = self.world.batteries.as_ref().map_or_else(Vec::new, |b| b.totals(self.now));
        let mut rows = Kept::default();
        for (r, mac) in (0..).map(RadioId).zip(&self.air.macs) {
            let Mac { station, rules, qos } = mac;
            let node = self.net.ports.node(r);
            let position = self.world.position(node, self.now);
            let (state, sender) = self.state_of(r, node);
            let seen = match self.air.channel.unreported(r, self.now) {
                _ if qos.is_some() => {
                    qos.as_ref().map_or_else(|| unreachable!(), |qos| qos.seen(self.now, &rules.timing))
                }
                None => station.seen(self.now, &rules.timing, &rules.dcf),
                // Stations learn of some signals only when they are called.
                Some(at) => {
                    let mut station = station.clone();
                    station.on_noise(true, at, &rules.timing, &rules.dcf);
                    station.seen(self.now, &rules.timing, &rules.dcf)
                }
            };
            let in_queues = self.net.ports.all_of(r).map(Queue::len).sum::<usize>();
            let in_mac = CATEGORIES.map(|category| mac.waiting(category).0).iter().sum::<usize>();
            let airtime = qos.as_ref().and_then(|qos| qos.least_airtime(&rules.dcf));
            rows.push(Row {
                time_s: self.now,
                node,
                channel: self.world.channel(r).into(),
                x_m: position.x,
                y_m: position.y,
                state,
                src: sender,
                nav_time_s: Time(seen.nav_until.0.max(self.now.0)).since(self.now).as_secs(),
                backoff_slots: seen.slots,
                counting: seen.counting,
                cw: seen.cw,
                holding: !mac.is_free(),
                short_retries: seen.short_retries,
                long_retries: seen.long_retries,
                packets: (in_queues + in_mac) as u32,
                airtime_neighbor: airtime.map(|(to, ..)| self.net.ports.node(to)),
                airtime_category: airtime.map(|(_, category, _)| category),
                airtime_deficit_us: airtime.map(|(.., deficit_us)| deficit_us),
                remaining_j: energy.get(node.index()).map_or(f64::NAN, |b| b.left),
            });
        }
        rows
    }

    fn state_of(&self, r: RadioId, node: NodeId) -> (State, Option<NodeId>) {
        if self.net.is_off(node) || self.net.is_radio_off(r) {
            return (State::Off, None);
        }
        let sending = &self.air.on_air[r.index()];
        if sending.began <= self.now && self.now < sending.end() {
            return (State::Transmitting, None);
        }
        let of = |sender: Option<RadioId>| sender.map(|s| self.net.ports.node(s));
        match self.air.channel.incoming(r, self.now) {
            None => (State::Idle, None),
            Some((Incoming::Decoding, sender)) => (State::Decoding, of(sender)),
            Some((Incoming::Sensing, sender)) => (State::Sensing, of(sender)),
            Some((Incoming::Colliding, sender)) => (State::Colliding, of(sender)),
        }
    }

    /// Links at the current positions: sender, receiver, channel, and the fastest rate at which the receiver decodes the
    /// sender's data frames, `None` if it only senses them.
    pub fn links(&self) -> Vec<(NodeId, NodeId, u16, Option<BitRate>)> {
        let radios = self.world.radios(self.now);
        let channel = Channel::new(&radios);
        let node = |r: RadioId| self.net.ports.node(r);
        let of = |from: RadioId| {
            let rules = &self.air.macs[from.index()].rules.dcf;
            let to = channel.signals(from).map(move |(to, _, rates)| (to, rules.fastest_decoded(rates)));
            to.map(move |(to, rate)| (node(from), node(to), self.world.channel(from), rate))
        };
        (0..radios.sites.len() as u32).map(RadioId).flat_map(of).collect()
    }

    /// The next instant at which anything happens, if nothing is commanded before; `None`: nothing will ever happen.
    pub fn next_at(&mut self) -> Option<Time> {
        (!self.timers.is_empty() && self.end().is_none()).then(|| self.timers.next_at().max(self.now))
    }
}
