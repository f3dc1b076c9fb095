//! Nodes, and single radios, that are switched off and on.
//!
//! A node that is switched off drops all packets that it holds, each with a fate of its own, and cuts the frame that it
//! is sending. While it is off, nothing reaches it, and packets that the ends of flows there send are dropped at once.
//! When it is switched on again, its station, queues and router begin anew; applications and the ends of connections
//! have gone on. Within a frame that it has cut it neither sends nor receives, since others hold the medium for as long as
//! the PLCP header of that frame has announced.
//!
//! A radio that is switched off by itself drops what its queue and its station hold. Its node goes on: packets that are to
//! go over this radio come back to the router at once, as if the station had given them up.

use super::slots::Slot;
use super::{Mac, Sim};
use crate::net::queue;
use crate::packet::{NodeId, PacketId, RadioId, Reason};
use crate::record::loss::Cause;

impl Sim {
    /// Whether a node is switched off.
    #[inline]
    pub(super) fn is_off(&self, n: NodeId) -> bool {
        self.nodes[n.index()].off
    }

    /// Switches a node off; one that is off stays so.
    pub(super) fn switch_off(&mut self, n: NodeId) {
        if self.is_off(n) {
            return;
        }
        for r in self.ports.of(n) {
            if !self.ports.is_down(r) {
                self.switch_radio_off(n, r);
            }
        }
        self.with_router(n, |router, cx| router.switch_off(cx));
        let node = &mut self.nodes[n.index()];
        node.off = true;
        let table = std::mem::take(&mut node.arp);
        self.dropped.extend(table.into_held().map(|packet| (packet, Reason::NodeOff)));
        self.transit.clear(n, &mut self.dropped);
        self.transit_at = self.transit.deadline();
        self.end_dropped(n);
        self.cut_wires(n);
    }

    /// Switches a node on; one that is on stays so, and one whose battery is empty stays off.
    pub(super) fn switch_on(&mut self, n: NodeId) {
        if !self.is_off(n) || self.has_run_down(n) {
            return;
        }
        self.nodes[n.index()].off = false;
        for r in self.ports.of(n) {
            if !self.ports.is_down(r) {
                self.switch_radio_on(r);
            }
        }
        self.with_router(n, |router, cx| router.switch_on(cx));
    }

    /// Whether a radio is switched off, by itself or with its node.
    pub(super) fn is_radio_off(&self, r: RadioId) -> bool {
        self.is_off(self.ports.node(r)) || self.ports.is_down(r)
    }

    /// Switches a radio of a node off, or on again; what is so already stays so. While its node is off it stays off, too.
    pub(super) fn switch_radio(&mut self, r: RadioId, off: bool) {
        let n = self.ports.node(r);
        if self.ports.set_down(r, off) && !self.is_off(n) {
            match off {
                true => self.switch_radio_off(n, r),
                false => self.switch_radio_on(r),
            }
        }
    }

    /// A packet is to go over a radio that is switched off.
    #[cold]
    pub(super) fn on_radio_off(&mut self, n: NodeId, packet: PacketId) {
        if self.slab[packet].next_hop.is_broadcast() {
            return self.drop_packet(n, packet, Reason::NodeOff);
        }
        self.nodes[n.index()].attempt = Cause::SwitchedOff;
        self.on_undeliverable(n, packet, Reason::RetryLimit);
    }

    fn switch_radio_on(&mut self, r: RadioId) {
        self.switch_battery(r, false);
        self.book(r, self.now);
        // The frame that was cut may still hold the medium: until it would have ended, its sender is silent.
        let silent_until = self.on_air[r.index()].end().max(self.now);
        self.channel.switch_on(r, self.now, silent_until);
        // The station may have heard signals while it was off.
        self.restart_station(r);
        if silent_until > self.now {
            self.call(r, self.now, |station, _| station.be_silent(silent_until));
        }
        if let Some(air) = &mut self.air {
            air.switch(r, self.now, false);
        }
    }

    fn switch_radio_off(&mut self, n: NodeId, r: RadioId) {
        self.settle(r, self.now);
        if let Some(air) = &mut self.air {
            air.switch(r, self.now, true);
        }
        self.channel.switch_off(r, self.now);
        self.switch_battery(r, true);
        // Nobody can read the frame that is cut, so its packet is not needed any more.
        let frame = &mut self.on_air[r.index()];
        if !frame.ended && frame.over.is_none() {
            frame.frame.packet = None;
        }
        let held = self.restart_station(r);
        self.dropped.extend(held.map(|packet| (packet, Reason::NodeOff)));
        let mut cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
        self.ports.queues[r.index()].clear(&mut cx);
        self.end_dropped(n);
    }

    /// The station of a radio begins anew; returns the packet that it held.
    fn restart_station(&mut self, r: RadioId) -> Option<PacketId> {
        let Mac { station, rules } = &mut self.macs[r.index()];
        let held = station.restart(&rules.dcf);
        self.timers.set(Slot::Mac(r), station.deadline());
        held
    }
}
