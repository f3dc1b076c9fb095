//! Qualities of radio links without interference: shares of frames that arrive, and the rate that carries most.

use super::setup::Interfaces;
use crate::net::routing::metric::{PROBE_BYTES, TEST_BYTES};
use crate::packet::RadioId;
use crate::radio::{Channel, Propagation};
use crate::wlan::rate::expected_throughput;
use crate::wlan::{Mode, Timing};

/// Qualities of the links of a channel.
pub struct Qualities<'a> {
    channel: &'a Channel,
    interfaces: &'a Interfaces,
    timing: Vec<Timing>,
    /// Modes that rate control may choose, of each profile.
    chosen: Vec<Vec<Mode>>,
}

impl<'a> Qualities<'a> {
    /// Qualities of these radios.
    pub fn new(channel: &'a Channel, interfaces: &'a Interfaces) -> Qualities<'a> {
        let timing = interfaces.profiles.iter().map(|p| Timing::new(&p.wlan)).collect();
        let chosen = interfaces.profiles.iter().map(|p| p.wlan.chosen_modes()).collect();
        Qualities { channel, interfaces, timing, chosen }
    }

    fn profile(&self, r: RadioId) -> usize {
        self.interfaces.radios[r.index()].profile as usize
    }

    /// Share of packets of this size that arrive at a rate.
    pub fn delivery(&self, r: RadioId, peer: RadioId, mode: Mode, bytes: u32) -> f64 {
        let wlan = &self.interfaces.profiles[self.profile(r)].wlan;
        self.channel.delivery(r, peer, mode.column(), bytes + wlan.header_size.0 + wlan.llc_size.0)
    }

    /// Share of broadcasts that arrive, as was measured, or else of the size of probes of ETX in the model.
    pub fn broadcast(&self, r: RadioId, peer: RadioId) -> f64 {
        let [from, to] = [r, peer].map(|r| self.interfaces.radios[r.index()].node.0);
        let radio = &self.interfaces.profiles[0].radio;
        let measured = (radio.propagation == Propagation::Links).then(|| radio.links_table.broadcast_loss(from, to));
        match measured.flatten() {
            Some(loss) => 1.0 - loss,
            None => self.delivery(r, peer, self.timing[self.profile(r)].basic_mode, PROBE_BYTES),
        }
    }

    /// Mode of data frames: that of the link, or the one of rate control that carries most; and the share of frames of
    /// 1,024 B that arrive. `None`: no mode is decoded and acknowledged.
    pub fn best(&self, r: RadioId, peer: RadioId) -> Option<(Mode, f64)> {
        let ack = |data: Mode| self.timing[self.profile(peer)].response_to_any(data).0;
        let carries =
            |data: &Mode| self.channel.decodes(r, peer, data.column()) && self.channel.decodes(peer, r, ack(*data).0);
        let configured = [self.interfaces.mode(r, self.interfaces.radios[peer.index()].node)];
        let chosen = &self.chosen[self.profile(r)];
        let all = if chosen.is_empty() { &configured[..] } else { chosen };
        let test = |&mode: &Mode| (mode, self.delivery(r, peer, mode, TEST_BYTES));
        all.iter().filter(|mode| carries(mode)).map(test).max_by(|a, b| {
            let throughput = |(mode, arrives): &(Mode, f64)| mode.rate().0 as f64 * arrives;
            throughput(a).total_cmp(&throughput(b))
        })
    }

    /// Throughput that Minstrel-HT expects of a mode of HT and VHT \[bit/s\]; `None` for other modes.
    pub fn expected_throughput(&self, r: RadioId, peer: RadioId, mode: Mode) -> Option<f64> {
        let mpdus = self.interfaces.profiles[self.profile(r)].wlan.aggregation.max_mpdus;
        mode.is_ht().then(|| expected_throughput(mode, mpdus, |bytes| self.delivery(r, peer, mode, bytes)))
    }
}
