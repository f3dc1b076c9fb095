//! Flows of a scenario, one by one.

use super::super::schema::flows::{Ends, FlowEntry, Label, end_of, later};
use super::super::schema::{Config, Overrides, quic};
use chappe_core::app::{self, bulk, cbr, on_off, requests};
use chappe_core::run::external::HEADER;
use chappe_core::tcp;
use chappe_core::unit::{Bytes, Time};

/// One flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// Name by which measures choose the flow.
    pub name: Option<Label>,
    /// Group of flows by which measures choose it.
    pub group: Option<Label>,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// Application.
    pub app: app::Kind,
    /// Start; `None`: an event starts it.
    pub start: Option<Time>,
    /// Stop time of the application.
    pub stop: Option<Time>,
    /// TCP settings that differ from the common ones.
    pub tcp: Overrides<tcp::Config>,
    /// File-transfer settings that differ from the common ones.
    pub bulk: Overrides<bulk::Config>,
    /// CBR settings that differ from the common ones.
    pub cbr: Overrides<cbr::Config>,
    /// On/off settings that differ from the common ones.
    pub on_off: Overrides<on_off::Config>,
    /// Settings of requests and responses that differ from the common ones.
    pub requests: Overrides<requests::Config>,
    /// Settings of QUIC that differ from the common ones.
    pub quic: Overrides<quic::Config>,
}

impl Flow {
    /// Returns true if the flow uses TCP.
    pub fn is_tcp(&self, cfg: &Config) -> bool {
        match self.app {
            app::Kind::Bulk | app::Kind::Requests => true,
            app::Kind::Cbr | app::Kind::External => false,
            app::Kind::OnOff => self.on_off.over(&cfg.on_off).transport == on_off::Transport::Tcp,
        }
    }

    /// QUIC between its ends; `None`: the flow is not QUIC.
    pub fn quic(&self, cfg: &Config) -> Option<quic::Config> {
        let settings = || self.quic.over(&cfg.quic);
        (self.app == app::Kind::External).then(settings).filter(quic::Config::is_on)
    }

    /// Payload of a packet: of a segment, or of a datagram; the largest one of an external flow.
    pub fn payload(&self, cfg: &Config) -> Bytes {
        match self.app {
            _ if self.is_tcp(cfg) => self.tcp.over(&cfg.tcp).mss,
            app::Kind::OnOff => self.on_off.over(&cfg.on_off).payload,
            app::Kind::External => Bytes(cfg.net.mtu.0.saturating_sub(HEADER.0)),
            app::Kind::Bulk | app::Kind::Cbr | app::Kind::Requests => self.cbr.over(&cfg.cbr).payload,
        }
    }
}

impl FlowEntry {
    /// Flow with the settings of the entry, without ends and times.
    pub fn common(&self) -> Flow {
        Flow {
            src: 0,
            dst: 0,
            name: self.name.clone(),
            group: self.group.clone(),
            start: None,
            stop: None,
            dscp: self.dscp as u8,
            app: self.app,
            tcp: self.tcp.clone(),
            bulk: self.bulk.clone(),
            cbr: self.cbr.clone(),
            on_off: self.on_off.clone(),
            requests: self.requests.clone(),
            quic: self.quic.clone(),
        }
    }

    /// All flows of the entry.
    pub fn flows(&self) -> impl Iterator<Item = Flow> + '_ {
        let destinations = || self.dst.iter().flat_map(Ends::numbers);
        let ends = self.src.numbers().flat_map(move |from| destinations().map(move |to| (from, to)));
        ends.filter(|(from, to)| from != to).zip(0u64..).map(|((src, dst), i)| {
            let start = self.start.map(|first| later(first, self.stagger.0.saturating_mul(i)));
            let stop = self.stop.or(end_of(start, self.duration));
            Flow { src, dst, start, stop, ..self.common() }
        })
    }
}

/// Connections of QUIC: the flow of each client, and the flow back, the first free one; `None`: there is none.
pub fn connections(cfg: &Config, flows: &[Flow]) -> Vec<(usize, Option<usize>)> {
    let ends = |f: &Flow| (f.app == app::Kind::External).then_some((f.src, f.dst));
    let mut free: Vec<_> = flows.iter().map(ends).collect();
    let mut found = Vec::new();
    for client in (0..flows.len()).filter(|&i| flows[i].quic(cfg).is_some()) {
        let Some((from, to)) = free[client].take() else { continue };
        let back = free.iter().position(|ends| *ends == Some((to, from)));
        if let Some(back) = back {
            free[back] = None;
        }
        found.push((client, back));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::schema::nodes::NodeSet;
    use super::*;
    use chappe_core::unit::Span;

    fn entry(from: &[(u32, u32)], to: &[(u32, u32)]) -> FlowEntry {
        let ends = |set: &[(u32, u32)]| Ends(NodeSet(set.to_vec()));
        FlowEntry { src: ends(from), dst: Some(ends(to)), ..FlowEntry::default() }
    }

    #[test]
    fn every_source_sends_to_every_other_destination_once() {
        for (from, to) in [
            (&[(1, 3)][..], &[(0, 0)][..]),
            (&[(1, 10)], &[(1, 10)]),
            (&[(3, 5), (1, 1), (4, 6)], &[(0, 4), (9, 9), (2, 3)]),
            (&[(2, 2)], &[(2, 2)]),
        ] {
            let entry = entry(from, to);
            let within = |set: &[(u32, u32)], n: u32| set.iter().any(|r| (r.0..=r.1).contains(&n));
            let all: Vec<(u32, u32)> = (0..12).flat_map(|a| (0..12).map(move |b| (a, b))).collect();
            let expected: Vec<_> =
                all.into_iter().filter(|p| within(from, p.0) && within(to, p.1) && p.0 != p.1).collect();
            let ends: Vec<_> = entry.flows().map(|f| (f.src, f.dst)).collect();
            assert_eq!(ends, expected);
            assert_eq!(entry.count(), expected.len() as u64);
        }
        assert!(entry(&[(0, u32::MAX)], &[(0, u32::MAX)]).count() > 1 << 62);
    }

    #[test]
    fn flows_start_one_after_another_and_last_as_long() {
        let times = FlowEntry {
            start: Some(Time(5)),
            stagger: Span(10),
            duration: Some(Span(7)),
            ..entry(&[(1, 3)], &[(0, 0)])
        };
        let spans: Vec<_> = times.flows().map(|f| (f.start, f.stop)).collect();
        assert_eq!(spans, [5, 15, 25].map(|t| (Some(Time(t)), Some(Time(t + 7)))));
        assert_eq!(times.last_start(), Some(Time(25)));
        let together = FlowEntry { duration: None, stop: Some(Time(90)), ..times.clone() };
        assert!(together.flows().all(|f| f.stop == Some(Time(90))));
        let unstarted = FlowEntry { start: None, ..times };
        assert!(unstarted.flows().all(|f| (f.start, f.stop) == (None, None)));
    }
}
