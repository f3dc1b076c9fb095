//! Captures of a run for Wireshark: one pcapng file a node, from notes of events, as bytes.
//!
//! The interface `ip` has the packets of flows that the node creates and those that reach it; each radio has the frames
//! that it sends, those that it decodes and those for it that it cannot decode; each point-to-point link has the
//! packets that leave for it and arrive from it; `drop` has the packets of flows that the node drops. A frame has the
//! time at which it begins at the node. Its comment, which says what became of it, is known only at its end: records
//! wait until no earlier one can follow.

mod batman;
mod flows;
mod inet;
mod pcapng;
mod qos;
mod routing;
mod wifi;

use super::loss::Cause;
use super::note::Note;
use crate::packet::{Body, Fate, Happening, Kind, NodeId, Packet, PacketPool, RadioId, Reason, Step};
use crate::radio::{Channel, Verdict};
use crate::run::{RadioSetup, Setup};
use crate::unit::{Span, Time};
use crate::wlan::edca::{self, Psdu};
use crate::wlan::ppdu::Format;
use crate::wlan::timing::preamble_of;
use crate::wlan::{Config, Frame};
use flows::Flows;
use inet::Ip;
use pcapng::{Direction, Record};
use std::collections::{BTreeMap, VecDeque};

/// A note may be late by a propagation delay; this is that of 30,000 km.
const LATEST: Span = Span(100_000_000);

/// Name of the application, in each file.
const APPLICATION: &str = concat!("Chappe ", env!("CARGO_PKG_VERSION"));

/// About the sizes, in each file.
const SIZES: &str = "Headers are those of the standards, and sizes follow from them: they differ from the sizes that \
                     the run was simulated with (docs/see.md).";

/// Interfaces in the file of a node: `ip`, its radios, links from it, `drop`.
#[derive(Clone, Debug)]
struct File {
    node: NodeId,
    /// Neighbors at the other ends of links, in the order of their interfaces.
    wires: Vec<NodeId>,
    radios: u32,
    /// Blocks that earlier ones may precede, by time.
    waiting: VecDeque<(Time, Vec<u8>)>,
    /// Blocks in their final order.
    out: Vec<u8>,
}

/// Name of a node; its number if it has none.
fn name_of(names: &BTreeMap<u32, String>, node: NodeId) -> String {
    names.get(&node.0).cloned().unwrap_or_else(|| node.0.to_string())
}

impl File {
    fn new(node: NodeId, radios: u32, wires: Vec<NodeId>, names: &BTreeMap<u32, String>) -> File {
        let mut out = vec![];
        match names.get(&node.0) {
            Some(name) => pcapng::section(&mut out, APPLICATION, &format!("Capture of node {name}. {SIZES}")),
            None => pcapng::section(&mut out, APPLICATION, SIZES),
        }
        let whose = match names.get(&node.0) {
            Some(name) => format!("node {}, {name}", node.0),
            None => format!("node {}", node.0),
        };
        pcapng::interface(&mut out, pcapng::RAW_IP, "ip", &whose);
        for i in 0..radios {
            let name = if radios == 1 { "radio".to_owned() } else { format!("radio {i}") };
            pcapng::interface(&mut out, pcapng::RADIOTAP, &name, &whose);
        }
        for to in &wires {
            pcapng::interface(&mut out, pcapng::RAW_IP, &format!("wire to {}", name_of(names, *to)), &whose);
        }
        pcapng::interface(&mut out, pcapng::RAW_IP, "drop", &whose);
        // Behind the interfaces: editcap and mergecap 4.0 refuse files that do not begin with one.
        if !names.is_empty() {
            pcapng::names(&mut out, names.iter().map(|(n, name)| (inet::address(NodeId(*n)), name.as_str())));
        }
        File { node, wires, radios, waiting: VecDeque::new(), out }
    }

    fn ip(&self) -> u32 {
        0
    }

    fn radio(&self, i: u8) -> u32 {
        1 + u32::from(i)
    }

    fn wire(&self, to: NodeId) -> Option<u32> {
        self.wires.iter().zip(1 + self.radios..).find(|w| *w.0 == to).map(|w| w.1)
    }

    fn dropped(&self) -> u32 {
        1 + self.radios + self.wires.len() as u32
    }

    /// Adds a record behind those of the same time.
    fn add(&mut self, record: &Record<'_>) {
        let mut block = vec![];
        pcapng::packet(&mut block, record);
        let behind = self.waiting.iter().rev().take_while(|w| w.0 > record.at).count();
        self.waiting.insert(self.waiting.len() - behind, (record.at, block));
    }

    /// Moves the records before an instant to the output.
    fn settle(&mut self, before: Time) {
        while let Some((_, block)) = self.waiting.pop_front_if(|w| w.0 < before) {
            self.out.extend_from_slice(&block);
        }
    }
}

/// An MPDU of a frame.
#[derive(Clone, Debug)]
struct Mpdu {
    bytes: Vec<u8>,
    /// Begin after that of the frame.
    from: Span,
    /// Text about the contents.
    comment: String,
    /// Number of entries of the PSDU in it: packets of an A-MSDU, or one.
    packets: usize,
}

/// A frame at a radio.
#[derive(Clone, Debug)]
struct Hearing {
    radio: RadioId,
    began: Time,
    /// The frame was damaged, at the radio that it was for.
    damaged: bool,
    /// For each packet in a frame of a QoS station, true if it was decoded; empty otherwise.
    arrived: Vec<bool>,
}

/// A frame that has not reached all receivers.
#[derive(Clone, Debug)]
struct OnAir {
    frame: Frame,
    began: Time,
    /// Its MPDUs; several in an A-MPDU.
    mpdus: Vec<Mpdu>,
    /// Number of the A-MPDU in radiotap headers.
    aggregate: Option<u32>,
    /// Radios that have heard the frame, with its begin there.
    heard: Vec<Hearing>,
    /// Senders of other frames on the same channel, with begin and end.
    others: Vec<(RadioId, Time, Time)>,
}

impl Mpdu {
    /// An MPDU that is the whole frame.
    fn of(bytes: Vec<u8>) -> Mpdu {
        Mpdu { bytes, from: Span::ZERO, comment: String::new(), packets: 1 }
    }
}

impl OnAir {
    fn end(&self) -> Time {
        self.began + self.frame.airtime
    }
}

/// Writes the captures of all nodes.
#[derive(Clone, Debug)]
pub struct Captures {
    radios: Vec<RadioSetup>,
    /// Names of the nodes that have one.
    names: BTreeMap<u32, String>,
    /// Number of each radio at its node.
    places: Vec<u8>,
    /// Settings of the MAC in each profile of radios.
    profiles: Vec<Config>,
    files: Vec<File>,
    flows: Flows,
    /// Frames with IP packets are those of batman-adv.
    has_batman: bool,
    /// Time for which a node stores a flow of DSR without packets.
    flow_timeout: Span,
    on_air: Vec<OnAir>,
    /// Number of the last A-MPDU.
    aggregates: u32,
    /// An MCS is one of VHT, and not of HT.
    is_vht: bool,
    /// Window of agreements of block acknowledgement.
    window: u16,
    /// Packets given up whose end has not been logged yet.
    given_up: VecDeque<(Option<u64>, Cause)>,
    over: bool,
}

impl Captures {
    /// Captures at the start of a run.
    pub fn new(setup: &Setup) -> Captures {
        let radios = setup.interfaces.radios.clone();
        let nodes = setup.positions.len() as u32 + setup.wired;
        let mut counts = vec![0_u8; nodes as usize];
        let places = radios.iter().map(|r| {
            let count = &mut counts[r.node.index()];
            *count += 1;
            *count - 1
        });
        let places = places.collect();
        let file = |node: NodeId| {
            let peer = |(from, to)| if from == node { Some(to) } else { (to == node).then_some(from) };
            let mut wires: Vec<NodeId> = setup.links.iter().filter_map(|l| peer((l.from, l.to))).collect();
            wires.sort_unstable();
            wires.dedup();
            File::new(node, counts[node.index()].into(), wires, &setup.names)
        };
        let profiles: Vec<_> = setup.interfaces.profiles.iter().map(|p| p.wlan.clone()).collect();
        // The same for all nodes.
        let wlan = setup.interfaces.profiles.first().map(|p| &p.wlan);
        Captures {
            files: (0..nodes).map(|i| file(NodeId(i))).collect(),
            flows: Flows::new(setup),
            has_batman: setup.routing.protocol.is_below_ip(),
            flow_timeout: setup.routing.dsr.flow_timeout,
            radios,
            names: setup.names.clone(),
            places,
            profiles,
            on_air: Vec::new(),
            aggregates: 0,
            is_vht: wlan.is_some_and(|w| w.ppdu.format == Format::Vht),
            window: wlan.map_or(0, |w| w.block_ack.buffer_mpdus as u16),
            given_up: VecDeque::new(),
            over: false,
        }
    }

    /// Moves all records to the output that no earlier one can precede. `now`: the time of the run.
    pub fn settle(&mut self, now: Time) {
        let first = self.on_air.iter().map(|f| f.began).min().unwrap_or(now).min(now);
        let before = if self.over { Time::NEVER } else { Time(first.0.saturating_sub(LATEST.0)) };
        self.files.iter_mut().for_each(|file| file.settle(before));
    }

    /// Output of each node that was not taken out. It can be cut between two calls of [`settle`](Self::settle): a file
    /// consists of whole blocks.
    pub fn output(&mut self) -> impl Iterator<Item = (NodeId, &mut Vec<u8>)> {
        self.files.iter_mut().map(|file| (file.node, &mut file.out)).filter(|f| !f.1.is_empty())
    }

    /// Memory of the output and of the records that wait \[B\].
    pub fn memory(&self) -> usize {
        let waiting = |file: &File| file.waiting.iter().map(|w| w.1.capacity() + size_of_val(w)).sum::<usize>();
        self.files.iter().map(|file| file.out.capacity() + waiting(file)).sum::<usize>() + self.flows.memory()
    }

    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        match *note {
            Note::ShortFlow { flow, generator, from, to } => {
                self.flows.begin(flow, generator as usize, (from, to), at);
            }
            Note::FrameBegins { frame, packet, psdu, pool, .. } => self.on_begin(at, frame, packet, psdu, pool),
            Note::FrameHeard { radio, frame, verdict, arrived } => self.on_heard(at, radio, frame, (verdict, arrived)),
            Note::FrameOver { frame, lost, channel } => self.on_over(frame, lost, channel),
            Note::Departure { from, to, packet, number, pool } => {
                self.on_wire(at, (from, to), packet, number, pool, Direction::Outbound);
            }
            Note::Arrival { from, to, packet, number, pool } => {
                self.on_wire(at, (to, from), packet, number, pool, Direction::Inbound);
            }
            Note::GivenUp { number, cause } => self.given_up.push_back((number, cause)),
            Note::Packet(step) => self.on_step(step),
            Note::End => self.on_end(),
            _ => {}
        }
    }

    // ---- radio ----

    fn on_begin(
        &mut self,
        at: Time,
        frame: &Frame,
        packet: Option<(&Packet, Option<u64>)>,
        psdu: Option<&Psdu>,
        pool: &PacketPool,
    ) {
        let aggregate = psdu.filter(|psdu| packet.is_some() && psdu.aggregate).map(|_| {
            self.aggregates += 1;
            self.aggregates
        });
        let ends @ (to, from) = (self.mac(frame.to), self.mac(frame.from));
        let mpdus = match psdu {
            Some(psdu) if packet.is_some() => {
                let groups = psdu.mpdus.chunk_by(|a, b| a.seq == b.seq);
                groups.map(|group| self.mpdu(frame, ends, psdu, group, pool)).collect()
            }
            Some(psdu) => vec![Mpdu::of(qos::control(frame, ends, psdu, self.window))],
            None => {
                let payload = packet.map(|(p, number)| self.payload(frame, p, number, pool));
                let payload = payload.as_ref().map(|(kind, bytes)| (*kind, &bytes[..]));
                let comment = packet.map_or(String::new(), |p| about(&p.0.body));
                vec![Mpdu { comment, ..Mpdu::of(wifi::frame(frame, to, from, payload)) }]
            }
        };
        let mut new = OnAir { frame: *frame, began: at, mpdus, aggregate, heard: vec![], others: vec![] };
        let channel = self.channel(frame.from);
        for other in &mut self.on_air {
            if self.radios[other.frame.from.index()].channel == channel {
                other.others.push((frame.from, at, new.end()));
                new.others.push((other.frame.from, other.began, other.end()));
            }
        }
        self.on_air.push(new);
    }

    /// EtherType and contents of a data frame with a packet.
    fn payload(&self, frame: &Frame, p: &Packet, number: Option<u64>, pool: &PacketPool) -> (u16, Vec<u8>) {
        if let Body::Arp(message) = &p.body {
            let target = if message.request { [0; 6] } else { self.mac(frame.to) };
            return (wifi::ARP, inet::arp(message, self.mac(frame.from), target));
        }
        if let Body::Ogm(list) = p.body {
            return (wifi::BATMAN, batman::originator_messages(pool.list(list)));
        }
        if self.has_batman && p.body.kind() != Kind::Routing {
            // Hops are those of batman-adv; the TTL of IP does not change.
            let inner = Packet { ttl: p.ttl.saturating_add(p.hops), ..*p };
            return (wifi::BATMAN, batman::data(p, &self.network(&inner, number, pool)));
        }
        (wifi::IPV4, self.network(p, number, pool))
    }

    /// MPDU of a QoS station with these packets.
    fn mpdu(
        &self,
        frame: &Frame,
        ends: (wifi::Mac, wifi::Mac),
        psdu: &Psdu,
        packets: &[edca::Mpdu],
        pool: &PacketPool,
    ) -> Mpdu {
        let payload = |m: &edca::Mpdu| self.payload(frame, &pool[m.packet], pool.number(m.packet), pool);
        let payloads: Vec<_> = packets.iter().map(payload).collect();
        let about = packets.iter().map(|m| about(&pool[m.packet].body));
        Mpdu {
            bytes: qos::data(frame, ends, psdu, &packets[0], &payloads),
            from: if psdu.aggregate { packets[0].from } else { Span::ZERO },
            comment: about.reduce(|all, next| joined(&all, &next)).unwrap_or_default(),
            packets: packets.len(),
        }
    }

    fn on_heard(&mut self, at: Time, radio: RadioId, frame: &Frame, (verdict, arrived): (Verdict, &[bool])) {
        // A radio that was transmitting has received nothing.
        let damaged = verdict == Verdict::Damaged && frame.to == radio;
        if !(verdict == Verdict::Decoded || damaged) {
            return;
        }
        if let Some(f) = self.on_air.iter_mut().find(|f| f.frame.from == frame.from) {
            let began = Time(at.0.saturating_sub(f.frame.airtime.0));
            f.heard.push(Hearing { radio, began, damaged, arrived: arrived.to_vec() });
        }
    }

    fn on_over(&mut self, frame: &Frame, lost: Option<Cause>, channel: &Channel) {
        let Some(i) = self.on_air.iter().position(|f| f.frame.from == frame.from) else { return };
        let f = self.on_air.swap_remove(i);
        let outcome = match lost {
            Some(cause) => self.loss(&f, cause, channel),
            None if f.frame.to.is_broadcast() => format!("broadcast, decoded by {}", count(f.heard.len(), "radio")),
            None => String::new(),
        };
        self.write_frame(&f, &outcome);
    }

    /// Cause of a loss at the intended receiver, with the senders that may have caused it.
    fn loss(&self, f: &OnAir, cause: Cause, channel: &Channel) -> String {
        let OnAir { frame, others, .. } = f;
        let delay = channel.delay(frame.from, frame.to).unwrap_or_default();
        let overlaps = |&(other, began, end): &(RadioId, Time, Time)| {
            channel.delay(other, frame.to).is_some_and(|d| began + d < f.end() + delay && end + d > f.began + delay)
        };
        let sensed = |other: RadioId| channel.delay(other, frame.from).is_some();
        let blamed = |other: RadioId| match cause {
            Cause::HiddenTerminal => !sensed(other),
            Cause::SameSlot => sensed(other),
            Cause::Captured => true,
            _ => false,
        };
        let senders = others.iter().filter(|o| overlaps(o)).map(|o| o.0).filter(|&r| blamed(r));
        let mut nodes: Vec<NodeId> = senders.map(|r| self.node(r)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut text = format!("lost at node {}: ", self.name(frame.to));
        if matches!(cause, Cause::HiddenTerminal | Cause::SameSlot) {
            text += "collision, ";
        }
        text += &phrase(Cause::ALL, cause);
        if !nodes.is_empty() {
            let list: Vec<String> = nodes.iter().map(|n| name_of(&self.names, *n)).collect();
            text += &format!(", node{} {}", if list.len() > 1 { "s" } else { "" }, list.join(" and "));
        }
        text
    }

    fn write_frame(&mut self, f: &OnAir, outcome: &str) {
        let target = f.heard.iter().find(|h| h.radio == f.frame.to);
        let mut packet = 0;
        for (i, mpdu) in f.mpdus.iter().enumerate() {
            // A radio that the frame is not for reads as many MPDUs as it needs for its NAV.
            let read = |h: &Hearing| h.arrived.get(packet).copied().unwrap_or(!h.damaged);
            let lost = outcome.is_empty() && f.aggregate.is_some() && !target.is_some_and(read);
            let node = if lost { format!("not decoded at node {}", self.name(f.frame.to)) } else { String::new() };
            let comment = joined(&joined(&mpdu.comment, outcome), &node);
            self.add_mpdu(f, i, (f.frame.from, f.began), false, Direction::Outbound, &comment);
            for h in &f.heard {
                let (is_for, damaged) = (f.frame.to == h.radio, !read(h));
                if is_for || !damaged {
                    let comment = if is_for { &comment } else { &mpdu.comment };
                    self.add_mpdu(f, i, (h.radio, h.began), damaged, Direction::Inbound, comment);
                }
            }
            packet += mpdu.packets;
        }
    }

    /// Writes an MPDU of a frame that begins at a radio at an instant.
    fn add_mpdu(
        &mut self,
        f: &OnAir,
        i: usize,
        (radio, began): (RadioId, Time),
        bad: bool,
        direction: Direction,
        comment: &str,
    ) {
        let mpdu = &f.mpdus[i];
        // An A-MPDU has one time in all its headers, by which readers put its MPDUs together.
        let place = f.aggregate.map(|number| (number, i + 1 == f.mpdus.len()));
        let profile = &self.profiles[self.radios[f.frame.from.index()].profile as usize];
        let first_bit = began + preamble_of(profile, &f.frame);
        let bytes = wifi::on_air(first_bit, &f.frame, (self.channel(radio), self.is_vht), (&mpdu.bytes, place), bad);
        let at = began + mpdu.from;
        let (place, node) = (self.places[radio.index()], self.node(radio));
        let file = &mut self.files[node.index()];
        let interface = file.radio(place);
        file.add(&Record { interface, at, bytes: &bytes, direction: Some(direction), comment });
    }

    // ---- network layer ----

    fn on_wire(
        &mut self,
        at: Time,
        (node, peer): (NodeId, NodeId),
        packet: &Packet,
        number: Option<u64>,
        pool: &PacketPool,
        direction: Direction,
    ) {
        let bytes = self.network(packet, number, pool);
        let file = &mut self.files[node.index()];
        let Some(interface) = file.wire(peer) else { return };
        let comment = &about(&packet.body);
        file.add(&Record { interface, at, bytes: &bytes, direction: Some(direction), comment });
    }

    fn on_step(&mut self, step: &Step) {
        let Step { at, node, number, packet, .. } = step;
        if step.happening == Happening::Created {
            self.flows.on_created(packet);
        }
        let mut cause = None;
        if step.happening == Happening::Ended(Fate::Dropped(Reason::RetryLimit))
            && self.given_up.front().is_some_and(|g| g.0 == Some(*number))
        {
            cause = self.given_up.pop_front().map(|g| g.1);
        }
        let (direction, outcome) = match step.happening {
            Happening::Created => (Some(Direction::Outbound), String::new()),
            Happening::Injected => (Some(Direction::Outbound), "created by a middlebox".to_owned()),
            Happening::Ended(Fate::Delivered) => (Some(Direction::Inbound), String::new()),
            Happening::Ended(Fate::Absorbed) => (Some(Direction::Inbound), "consumed by a middlebox".to_owned()),
            Happening::Ended(Fate::Dropped(reason)) => {
                let cause = cause.map_or(String::new(), |c| format!(", {}", phrase(Cause::ALL, c)));
                (None, format!("dropped: {}{cause}", phrase(Reason::ALL, reason)))
            }
            _ => return,
        };
        let ip = ip_header(packet, Some(*number));
        let Some((protocol, ip, segment)) = self.flows.segment(packet, ip) else { return };
        let bytes = ip.packet(protocol, &segment);
        let file = &mut self.files[node.index()];
        let interface = if direction.is_some() { file.ip() } else { file.dropped() };
        let comment = &joined(&about(&packet.body), &outcome);
        file.add(&Record { interface, at: *at, bytes: &bytes, direction, comment });
    }

    /// IP packet as it leaves a node, with the headers of the routing protocol.
    fn network(&self, p: &Packet, number: Option<u64>, pool: &PacketPool) -> Vec<u8> {
        let ip = ip_header(p, number);
        let aodv = |payload: &[u8]| {
            let ports = (routing::AODV_PORT, routing::AODV_PORT);
            (inet::UDP, ip, ip.udp(ports, payload))
        };
        let (protocol, ip, segment) = match &p.body {
            Body::Rreq(m) => aodv(&routing::rreq(m)),
            Body::Rrep(m) => aodv(&routing::rrep(m)),
            Body::Rerr(list) => aodv(&routing::rerr(pool.list(*list))),
            Body::Update(list) => {
                let ports = (routing::DSDV_PORT, routing::DSDV_PORT);
                (inet::UDP, ip, ip.udp(ports, &routing::update(pool.list(*list))))
            }
            Body::Olsr(packet) => {
                let ports = (routing::OLSR_PORT, routing::OLSR_PORT);
                (inet::UDP, ip, ip.udp(ports, &routing::olsr(packet.number, pool.list(packet.list))))
            }
            Body::Babel(tlvs) => {
                let ports = (routing::BABEL_PORT, routing::BABEL_PORT);
                (inet::UDP, ip, ip.udp(ports, &routing::babel(pool.tlvs(*tlvs))))
            }
            Body::DsrRequest(_) | Body::DsrReply | Body::DsrError => (routing::NO_NEXT_HEADER, ip, vec![]),
            Body::Data(_) | Body::Ack(_) | Body::Datagram(_) | Body::Arp(_) | Body::Ogm(_) | Body::Notification(_) => {
                self.flows.segment(p, ip).unwrap_or((inet::EXPERIMENTAL, ip, vec![]))
            }
        };
        if !p.header.is_some() {
            return ip.packet(protocol, &segment);
        }
        let header = pool.header(p.header);
        let request = if let Body::DsrRequest(m) = &p.body { Some(m) } else { None };
        // A forwarded request keeps its originator in the IP header.
        let source = header.route.first().filter(|_| request.is_some()).copied().unwrap_or(ip.source);
        let ip = Ip { source, ..ip };
        match routing::dsr(header, request, protocol, (ip.source, ip.destination), self.flow_timeout) {
            Some(mut headers) => {
                headers.extend_from_slice(&segment);
                ip.packet(inet::DSR, &headers)
            }
            None => ip.packet(protocol, &segment),
        }
    }

    fn on_end(&mut self) {
        self.over = true;
        for f in std::mem::take(&mut self.on_air) {
            self.write_frame(&f, "on the air when the run ended");
        }
    }

    fn name(&self, radio: RadioId) -> String {
        name_of(&self.names, self.node(radio))
    }

    fn node(&self, radio: RadioId) -> NodeId {
        self.radios[radio.index()].node
    }

    fn channel(&self, radio: RadioId) -> u16 {
        self.radios[radio.index()].channel
    }

    fn mac(&self, radio: RadioId) -> wifi::Mac {
        if radio.is_broadcast() { wifi::BROADCAST } else { wifi::mac(self.node(radio), self.places[radio.index()]) }
    }
}

/// IP header of a packet.
fn ip_header(p: &Packet, number: Option<u64>) -> Ip {
    Ip { source: p.source, destination: p.destination, number: number.unwrap_or(0), ttl: p.ttl, ecn: p.ecn }
}

/// Text about contents for which there is no header.
fn about(body: &Body) -> String {
    match body {
        Body::Ack(ack) if ack.eln => "explicit loss notification".to_owned(),
        Body::Data(segment) if segment.is_probe() => "probe without data".to_owned(),
        Body::Notification(n) => format!("congestion notification of Neighborhood RED, probability {}", n.probability),
        Body::Update(_) => "DSDV update: destination, hops and sequence number of each entry".to_owned(),
        _ => String::new(),
    }
}

/// Word of a table with spaces.
fn phrase<T: PartialEq>(words: &[(T, &str, &str)], value: T) -> String {
    words.iter().find(|w| w.0 == value).map_or(String::new(), |w| w.1.replace('_', " "))
}

fn joined(a: &str, b: &str) -> String {
    if a.is_empty() || b.is_empty() { format!("{a}{b}") } else { format!("{a}; {b}") }
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
