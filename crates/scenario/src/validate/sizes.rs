//! Packet sizes: payloads must fit into packets, and packets with all headers into frames.

use super::super::build::flows::Flow;
use super::super::build::layout::Layout;
use super::super::schema::Config;
use super::Checker;
use chappe_core::app;
use chappe_core::net::MSDU;
use chappe_core::setting::{Code, join};
use chappe_core::tcp;
use chappe_core::topology;

/// Setting of a flow's payload, the payload, and the header that its source adds \[B\].
fn packet(flow: &Flow, cfg: &Config) -> (&'static str, u32, u32) {
    match flow.app {
        _ if flow.is_tcp(cfg) => {
            let tcp = flow.tcp.over(&cfg.tcp);
            ("tcp.mss", tcp.mss.0, header_of(&tcp))
        }
        app::Kind::Bulk | app::Kind::Cbr | app::Kind::Requests | app::Kind::External => {
            let cbr = flow.cbr.over(&cfg.cbr);
            ("cbr.payload", cbr.payload.0, cbr.header_size.0)
        }
        app::Kind::OnOff => {
            let on_off = flow.on_off.over(&cfg.on_off);
            ("on_off.payload", on_off.payload.0, on_off.header_size.0)
        }
    }
}

/// Bytes that TCP adds to a segment.
fn header_of(tcp: &tcp::Config) -> u32 {
    if tcp.is_bare() { 0 } else { tcp.header_size.0 }
}

impl Checker<'_> {
    /// Largest packet that a frame can carry \[B\].
    fn most(&self) -> u32 {
        MSDU.0.saturating_sub(self.cfg.wlan.llc_size.0)
    }

    /// Checks that a packet with its LLC header fits into an MSDU; `of` is the owner of the header.
    pub(super) fn msdu(&mut self, of: &str, llc: u32) {
        let mtu = self.cfg.net.mtu.0;
        if mtu.saturating_add(llc) <= MSDU.0 || self.cfg.topology.kind == topology::Kind::None {
            return;
        }
        let message = format!("a packet of {mtu} B with {llc} B of LLC is larger than an MSDU, {MSDU}");
        let llc_is_own = self.is_written(&join(of, "wlan.llc_size"));
        let path = if llc_is_own { self.owner(of, "wlan.llc_size") } else { "net.mtu".to_owned() };
        let fits = MSDU.0.saturating_sub(llc);
        let help =
            if fits > 0 { format!("set `net.mtu` to at most {fits} B") } else { "lower `wlan.llc_size`".to_owned() };
        self.error(&path, message, &help);
    }

    /// Checks that a payload with its header fits into a packet.
    pub(super) fn fits(&mut self, path: &str, payload: u32, header: u32) {
        let mtu = self.cfg.net.mtu.0;
        let size = u64::from(payload) + u64::from(header);
        if size > u64::from(mtu) {
            let message = format!("a packet of {payload} + {header} B is larger than the MTU of {mtu} B");
            let fit = format!("at most {} B fit", mtu.saturating_sub(header));
            let raise = if size <= u64::from(self.most()) { ", or raise `net.mtu`" } else { "" };
            self.error(path, message, &format!("{fit}{raise}"));
        }
    }

    /// Checks that a segment with its header fits into a packet.
    pub(super) fn segment_fits(&mut self, flow: &str, t: &tcp::Config) {
        self.fits(&self.owner(flow, "tcp.mss"), t.mss.0, header_of(t));
    }

    /// Warns of packets that source routes make too long for a frame, or for the MTU.
    pub(super) fn source_routes(&mut self, layout: &Layout) {
        let cfg = self.cfg;
        let nodes = layout.positions.len() as u32;
        let Some(dsr) = cfg.routing.source_routes().filter(|_| nodes > 1) else { return };
        let hops = u32::from(dsr.discovery_hop_limit).min(u32::from(cfg.net.ttl)).min(nodes - 1);
        // What external flows send is not known.
        let known = layout.flows.iter().enumerate().filter(|(_, f)| f.app != app::Kind::External);
        let largest = known.max_by_key(|(i, f)| {
            let (_, payload, header) = packet(f, cfg);
            (payload + header, std::cmp::Reverse(*i))
        });
        let Some((i, flow)) = largest else { return };
        let (setting, payload, header) = packet(flow, cfg);
        let bare = payload + header + if flow.is_tcp(cfg) { dsr.ns2.packet_header_size.0 } else { 0 };
        let (shortest, longest) = (bare + dsr.route_bytes(1), bare + dsr.route_bytes(hops));
        let (most, mtu) = (self.most(), cfg.net.mtu.0);
        let path = self.owner(&layout.origin_of(i), setting);
        let fit = payload.saturating_sub(longest - mtu.min(longest));
        if shortest > most {
            let message = format!(
                "a packet of {payload} + {header} B has {shortest} B with a route of one hop: \
                 more than fit into a frame, {most} B"
            );
            self.error(
                &path,
                message,
                &format!("set `{setting}` to at most {} B", payload.saturating_sub(longest - most)),
            );
        } else if longest > mtu && (self.is_own("net.mtu") || self.is_own(&path)) {
            // The defaults of both are for packets without source routes.
            let over = if hops == 1 { "one hop".to_owned() } else { format!("{hops} hops") };
            let message = format!(
                "with a route of {over} a packet of {payload} + {header} B has {longest} B, \
                 more than the MTU of {mtu} B"
            );
            let raise = if longest <= most { format!(", or `net.mtu` to {longest} B") } else { String::new() };
            self.warn(
                Code::LargePackets,
                &path,
                message,
                &format!("routes of DSR travel in packets: set `{setting}` to at most {fit} B{raise}"),
            );
        }
    }
}
