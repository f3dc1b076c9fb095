//! Nodes and single radios that are switched off and on.
//!
//! A node that is switched off drops all packets that it holds and cuts the frame that it is sending. While the node is
//! off, no packet reaches it, and packets from its flows are dropped at once. Switching the node on resets its
//! stations, queues and router; applications and ends of connections have kept their state. The node neither sends nor
//! receives until a frame that it has cut would have ended, because other stations hold the medium for the length
//! announced in the PLCP header of that frame.
//!
//! A single radio that is switched off drops the packets of its queue and its station. Its node continues: the router
//! gets back packets for this radio at once, as if the station had given them up.

use crate::net::queue;
use crate::packet::{NodeId, PacketId, RadioId, Reason};
use crate::record::loss::Cause;
use crate::record::note::Note;
use crate::sim::Sim;
use crate::sim::timer_numbers::{Clock, Timer};

impl Sim {
    /// Switches a node off, if it is on.
    pub(in crate::sim) fn switch_off(&mut self, n: NodeId) {
        if self.net.is_off(n) {
            return;
        }
        for r in self.net.ports.of(n) {
            if !self.net.ports.is_down(r) {
                self.switch_radio_off(n, r);
            }
        }
        self.with_router(n, |router, cx| router.switch_off(cx));
        let node = &mut self.net.nodes[n.index()];
        node.off = true;
        let table = std::mem::take(&mut node.arp);
        self.net.dropped.extend(table.into_held().map(|packet| (packet, Reason::NodeOff)));
        self.net.transit.clear(n, &mut self.net.dropped);
        self.timers.set_transit(self.net.transit.deadline());
        self.end_dropped(n);
        self.cut_links(n);
        self.find_gateways();
    }

    /// Switches a node on, if it is off and its battery is not empty.
    pub(in crate::sim) fn switch_on(&mut self, n: NodeId) {
        if !self.net.is_off(n) || self.world.has_run_down(n) {
            return;
        }
        self.net.nodes[n.index()].off = false;
        for r in self.net.ports.of(n) {
            if !self.net.ports.is_down(r) {
                self.switch_radio_on(r);
            }
        }
        self.with_router(n, |router, cx| router.switch_on(cx));
        self.find_gateways();
    }

    /// Switches a single radio off or on. While its node is off, the radio is off, too.
    pub(in crate::sim) fn switch_radio(&mut self, r: RadioId, off: bool) {
        let n = self.net.ports.node(r);
        if self.net.ports.set_down(r, off) && !self.net.is_off(n) {
            match off {
                true => self.switch_radio_off(n, r),
                false => self.switch_radio_on(r),
            }
            self.find_gateways();
        }
    }

    /// Returns a packet for a radio that is off to the router; drops a broadcast.
    #[cold]
    pub(in crate::sim) fn on_radio_off(&mut self, n: NodeId, packet: PacketId) {
        if self.pool[packet].next_hop.is_broadcast() {
            return self.drop_packet(n, packet, Reason::NodeOff);
        }
        self.net.nodes[n.index()].attempt = Cause::SwitchedOff;
        self.on_undeliverable(n, packet, Reason::RetryLimit);
    }

    fn switch_radio_on(&mut self, r: RadioId) {
        self.switch_battery(r, false);
        self.book_airtime(r);
        // A frame that was cut may still hold the medium: the station is silent until its planned end.
        let silent_until = self.air.on_air[r.index()].end().max(self.now);
        self.air.channel.switch_on(r, self.now, silent_until);
        // The station may have sensed signals while it was off.
        self.air.restart(r, &mut self.timers, &mut Vec::new());
        if silent_until > self.now {
            if self.air.qos.is_some() {
                self.air.call_qos(r, self.now, &mut self.timers, |station, _| station.be_silent(silent_until));
            } else {
                self.air.call(r, self.now, &mut self.timers, |station, _| station.be_silent(silent_until));
            }
        }
        if let Some(air) = &mut self.watch.airtime {
            air.switch(r, self.now, false);
        }
    }

    fn switch_radio_off(&mut self, n: NodeId, r: RadioId) {
        self.flush_deferred(r, self.now);
        if let Some(air) = &mut self.watch.airtime {
            air.switch(r, self.now, true);
        }
        self.air.channel.switch_off(r, self.now);
        self.switch_battery(r, true);
        // No receiver can decode the cut frame, so its packet is no longer needed.
        let frame = &mut self.air.on_air[r.index()];
        if !frame.ended && frame.over.is_none() {
            frame.frame.packet = None;
        }
        let mut held = Vec::new();
        self.air.restart(r, &mut self.timers, &mut held);
        self.net.dropped.extend(held.into_iter().map(|packet| (packet, Reason::NodeOff)));
        let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
        for category in self.net.ports.categories() {
            self.net.ports.of_category(r, category).clear(Reason::NodeOff, &mut cx);
        }
        self.end_dropped(n);
        self.note_queue(r, self.now);
    }

    fn book_airtime(&mut self, r: RadioId) {
        let mac = &self.air.macs[r.index()];
        self.watch.book(r, self.now, mac.contention(), &mac.rules.timing);
    }

    fn switch_battery(&mut self, r: RadioId, off: bool) {
        if let Some(batteries) = &mut self.world.batteries {
            batteries.switch(self.net.ports.node(r), r, self.now, off);
            self.timers.set(Timer::Clock(Clock::Battery), batteries.deadline());
        }
    }

    /// A battery is empty.
    pub(in crate::sim) fn on_battery(&mut self) {
        while let Some(n) = self.world.batteries.as_mut().and_then(|b| b.next_empty(self.now)) {
            self.watch.note(self.now, &Note::Battery { node: n, left: 0.0 });
            self.switch_off(n);
            for r in self.net.ports.of(n) {
                self.book_airtime(r);
                if let Some(air) = &mut self.watch.airtime {
                    air.on_empty(r);
                }
            }
        }
        if let Some(batteries) = &self.world.batteries {
            self.timers.set(Timer::Clock(Clock::Battery), batteries.deadline());
        }
    }
}
