//! One-way links: broadcasts are received but no answer comes back, because radios differ.

use super::Checker;
use crate::packet::RadioId;
use crate::radio::Channel;
use crate::scenario::build::layout::Layout;
use crate::scenario::build::mobility;
use crate::setting::Code;
use crate::wlan::Mode;

impl Checker<'_> {
    /// Finds one-way links between fixed nodes, for protocols that take a received broadcast for a bidirectional link.
    pub(in crate::scenario) fn heard_one_way(&mut self, layout: &Layout, channel: &Channel) {
        let (cfg, radios) = (self.cfg, &layout.interfaces);
        let Some((path, protocol, help)) = cfg.routing.trusts_broadcasts() else { return };
        if radios.is_uniform() || mobility::moves(cfg) {
            return;
        }
        let node = |r: RadioId| radios.radios[r.index()].node;
        let hears = |from: RadioId, to: RadioId| {
            channel.decodes(from, to, Mode::checked(radios.profile(from).wlan.basic_rate).0)
        };
        let all = (0..radios.radios.len() as u32).map(RadioId);
        let alone = all.flat_map(|r| channel.neighbors(r).map(move |peer| (r, peer)));
        let alone = alone.filter(|&(r, peer)| hears(r, peer) && !hears(peer, r));
        let mut pairs: Vec<_> = alone.map(|(r, peer)| (node(r).0, node(peer).0)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let Some(&(from, to)) = pairs.first() else { return };
        let more = match pairs.len() - 1 {
            0 => String::new(),
            1 => ", and one more link goes one way".to_owned(),
            n => format!(", and {n} more links go one way"),
        };
        let message = format!(
            "node {to} hears node {from}, which does not hear node {to}{more}: {protocol} takes such links for routes, and \
             no ACK comes back over them"
        );
        self.warn(Code::OneWayLinks, path, message, help);
    }
}
