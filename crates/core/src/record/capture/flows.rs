//! Transport headers of a flow's packets: ports, sequence numbers, windows and options.

use super::inet::{Ip, TCP, Tcp, UDP, flag};
use crate::packet::{AckSegment, Body, DataSegment, Fin, Flag, FlowId, NodeId, Packet, Seq};
use crate::run::external::HEADER;
use crate::run::{FlowSetup, Setup, Transport};
use crate::tcp::Config;
use crate::unit::Time;

/// Port of receivers, and of the sender of the first flow. When the ports of senders are used up, they begin anew with
/// the next port of receivers.
const RECEIVER_PORT: u16 = 5001;
const FIRST_SENDER_PORT: u16 = 40_000;

/// Facts for TCP headers about a connection, or of one half of a split one.
#[derive(Clone, Debug)]
struct Connection {
    mss: u32,
    syn: bool,
    sack: bool,
    timestamps: bool,
    /// Window that the receiver advertises at first \[B\], and its scale.
    window: u32,
    scale: u8,
    /// The FIN, once it was sent.
    fin: (Seq, Fin),
    /// Time at which the receiver sent its first FIN; NEVER before that.
    receiver_closed: Time,
    /// Segments that are shorter than the others, in their order, and the bytes that they and all before lack.
    short: Vec<(Seq, u32)>,
}

impl Connection {
    fn new(cfg: &Config) -> Connection {
        let window = cfg.receive_window.saturating_mul(cfg.mss.0);
        let syn = cfg.starts_with_syn();
        // Without a SYN there is no scale (RFC 7323, 2.2).
        let fits = |scale: &u8| window >> scale <= u32::from(u16::MAX);
        let scale = if syn { (0..=14).find(fits).unwrap_or(14) } else { 0 };
        let (sack, timestamps) = (cfg.sack_permitted(), cfg.timestamps);
        Connection {
            mss: cfg.mss.0,
            syn,
            sack,
            timestamps,
            window,
            scale,
            fin: (Seq::MAX, Fin::No),
            receiver_closed: Time::NEVER,
            short: vec![],
        }
    }

    /// Sequence number of the first byte of a segment. A SYN is segment 0 and takes one number.
    fn number(&self, segment: Seq) -> u32 {
        let before = if self.syn { segment.saturating_sub(1) } else { segment };
        let synchronized = u32::from(!self.syn || segment > 0);
        let short = self.short.partition_point(|s| s.0 < segment);
        let lacking = short.checked_sub(1).map_or(0, |last| self.short[last].1);
        before.wrapping_mul(self.mss).wrapping_add(synchronized).wrapping_sub(lacking)
    }

    /// Notes a segment that is created: a short one, and the FIN.
    fn note(&mut self, segment: &DataSegment) {
        if segment.missing > 0 && self.short.last().is_none_or(|s| s.0 < segment.seq) {
            let before = self.short.last().map_or(0, |s| s.1);
            self.short.push((segment.seq, before.wrapping_add(segment.missing)));
        }
        if segment.fin != Fin::No {
            self.fin = (segment.seq, segment.fin);
        }
    }

    /// Sequence number after all segments before this one; a FIN takes one number.
    fn after(&self, next: Seq) -> u32 {
        let (fin, kind) = self.fin;
        match kind {
            Fin::WithData if next > fin => self.number(next).wrapping_add(1),
            Fin::Bare if next > fin => self.number(fin).wrapping_add(1),
            _ => self.number(next),
        }
    }

    fn scaled(&self, window: u32, is_syn: bool) -> u16 {
        let scale = if is_syn { 0 } else { self.scale };
        (window >> scale).min(u16::MAX.into()) as u16
    }

    fn options(&self, header: &mut Tcp, is_syn: bool, (value, echo): (Time, Time)) {
        if is_syn {
            header.syn_options(self.mss.min(u16::MAX.into()) as u16, self.scale, self.sack);
        }
        if self.timestamps {
            let ms = |at: Time| (at.0 / 1_000_000) as u32;
            header.timestamps(ms(value), ms(echo));
        }
    }

    fn data(&self, segment: &DataSegment) -> (Tcp, usize) {
        // A header that acknowledges a FIN follows all that was sent.
        let seq = if segment.is_fin_ack() { self.after(segment.seq + 1) } else { self.number(segment.seq) };
        let mut header = Tcp { seq, ..Tcp::default() };
        (header.flags, header.ack) =
            if segment.syn { (flag::SYN, 0) } else { (flag::ACK, 1 + u32::from(segment.is_fin_ack())) };
        header.flags |= if segment.fin == Fin::No { 0 } else { flag::FIN };
        header.flags |= if segment.push { flag::PSH } else { 0 };
        header.flags |= if segment.ece { flag::ECE } else { 0 } | if segment.cwr { flag::CWR } else { 0 };
        if segment.syn && segment.ece {
            header.flags |= flag::CWR;
        }
        header.window = self.scaled(self.window, segment.syn);
        self.options(&mut header, segment.syn, (segment.sent, segment.echo));
        let payload = if segment.has_no_payload() { 0 } else { (self.mss - segment.missing) as usize };
        (header, payload)
    }

    fn ack(&self, ack: &AckSegment, made: Time) -> Tcp {
        let (seq, flags) = match ack.flag {
            Flag::Syn => (0, flag::SYN),
            Flag::Fin => (1, flag::FIN),
            Flag::No => (1 + u32::from(made > self.receiver_closed), 0),
        };
        let mut header = Tcp { seq, ack: self.after(ack.next), ..Tcp::default() };
        header.flags = flag::ACK | flags | if ack.ece { flag::ECE } else { 0 };
        let is_syn = ack.flag == Flag::Syn;
        header.window = self.scaled(ack.window.saturating_mul(self.mss), is_syn);
        self.options(&mut header, is_syn, (made, ack.echo));
        if !ack.sack.is_empty() {
            let blocks: Vec<_> = ack.sack.iter().map(|(left, right)| (self.number(left), self.after(right))).collect();
            header.sack(blocks.into_iter());
        }
        header
    }
}

/// A flow with its ends and its transport.
#[derive(Clone, Debug)]
struct Flow {
    from: NodeId,
    to: NodeId,
    /// The connection, or the halves of a split one; UDP has none.
    halves: [Option<Connection>; 2],
    /// Bytes of a datagram; `None`: that of an external flow, whose datagrams differ.
    payload: Option<usize>,
}

impl Flow {
    fn new(setup: &FlowSetup) -> Flow {
        let first = match &setup.transport {
            Transport::Tcp(cfg) => Some(Connection::new(cfg)),
            Transport::Udp => None,
        };
        let second = setup.split.as_ref().map(|s| Connection::new(&s.tcp));
        let payload = (!setup.app.is_external()).then_some(setup.payload.0 as usize);
        Flow { from: setup.from, to: setup.to, halves: [first, second], payload }
    }

    /// Half to which a packet belongs. The splitting node acknowledges the first half, and sends over the second.
    fn half(&self, p: &Packet) -> usize {
        let second = p.from_split == matches!(p.body, Body::Data(_));
        usize::from(second && self.halves[1].is_some())
    }
}

/// A short flow of a generator.
#[derive(Clone, Debug)]
struct Short {
    since: Time,
    /// Number among all short flows of generators.
    number: usize,
    flow: Flow,
}

/// The flows of a run.
#[derive(Clone, Debug)]
pub struct Flows {
    list: Vec<Flow>,
    /// Short flows by their numbers of a flow, which follow those of the scenario, each list in the order of time: a
    /// number is given again, and packets of the flow before may still be on their way.
    short: Vec<Vec<Short>>,
    /// Number of short flows so far.
    begun: usize,
    /// Segments of the short flows of each generator.
    of_generator: Vec<Connection>,
}

impl Flows {
    /// Flows of the scenario.
    pub fn new(setup: &Setup) -> Flows {
        let of_generator = setup.arrivals.iter().map(|a| Connection::new(&a.tcp)).collect();
        Flows { list: setup.flows.iter().map(Flow::new).collect(), short: vec![], begun: 0, of_generator }
    }

    /// A short flow of a generator begins, between these nodes.
    pub fn begin(&mut self, flow: FlowId, generator: usize, (from, to): (NodeId, NodeId), since: Time) {
        let place = flow.index() - self.list.len();
        if place >= self.short.len() {
            self.short.resize(place + 1, vec![]);
        }
        let halves = [Some(self.of_generator[generator].clone()), None];
        self.short[place].push(Short { since, number: self.begun, flow: Flow { from, to, halves, payload: None } });
        self.begun += 1;
    }

    /// Place of the short flow of a packet in both lists.
    fn short_of(&self, p: &Packet) -> Option<(usize, usize)> {
        let place = p.flow.index().checked_sub(self.list.len())?;
        let older = self.short.get(place)?.partition_point(|s| s.since <= p.born);
        Some((place, older.checked_sub(1)?))
    }

    /// Flow of a packet, with its number.
    fn of(&self, p: &Packet) -> Option<(usize, &Flow)> {
        if let Some((place, i)) = self.short_of(p) {
            let short = &self.short[place][i];
            return Some((self.list.len() + short.number, &short.flow));
        }
        self.list.get(p.flow.index()).map(|flow| (p.flow.index(), flow))
    }

    fn of_mut(&mut self, p: &Packet) -> Option<&mut Flow> {
        match self.short_of(p) {
            Some((place, i)) => Some(&mut self.short[place][i].flow),
            None => self.list.get_mut(p.flow.index()),
        }
    }

    /// Memory of the short flows \[B\].
    pub fn memory(&self) -> usize {
        self.short.iter().map(|all| all.capacity() * size_of::<Short>()).sum()
    }

    /// A node has created a packet, which may be shorter than others, or have a FIN.
    pub fn on_created(&mut self, p: &Packet) {
        let Some(flow) = self.of_mut(p) else { return };
        let half = flow.half(p);
        let Some(connection) = &mut flow.halves[half] else { return };
        match p.body {
            Body::Data(segment) => connection.note(&segment),
            Body::Ack(AckSegment { flag: Flag::Fin, .. }) => {
                connection.receiver_closed = connection.receiver_closed.min(p.born);
            }
            _ => {}
        }
    }

    /// Protocol, ends, and segment or datagram of a packet of a flow; `None` for other packets. `ip`: the rest of its
    /// IP header.
    pub fn segment(&self, p: &Packet, ip: Ip) -> Option<(u8, Ip, Vec<u8>)> {
        let (number, flow) = self.of(p)?;
        let (port, receiver) = ports(number);
        // The addresses are those of the ends, also between the halves of a split connection.
        let there = Ip { source: flow.from, destination: flow.to, ..ip };
        let back = Ip { source: flow.to, destination: flow.from, ..ip };
        match p.body {
            Body::Data(segment) => {
                let (header, payload) = flow.halves[flow.half(p)].as_ref()?.data(&segment);
                Some((TCP, there, there.tcp((port, receiver), &header, payload)))
            }
            Body::Ack(ack) => {
                let header = flow.halves[flow.half(p)].as_ref()?.ack(&ack, p.born);
                Some((TCP, back, back.tcp((receiver, port), &header, 0)))
            }
            Body::Datagram(_) => {
                let of_packet = || (p.bytes - u32::from(p.overhead) - HEADER.0) as usize;
                let payload = flow.payload.unwrap_or_else(of_packet);
                Some((UDP, there, there.udp((port, receiver), &vec![0; payload])))
            }
            _ => None,
        }
    }
}

/// Ports of the sender and of the receiver of a flow.
fn ports(number: usize) -> (u16, u16) {
    let senders = usize::from(u16::MAX - FIRST_SENDER_PORT) + 1;
    let receivers = usize::from(FIRST_SENDER_PORT - RECEIVER_PORT);
    (FIRST_SENDER_PORT + (number % senders) as u16, RECEIVER_PORT + (number / senders % receivers) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Bytes;

    #[test]
    fn a_syn_takes_one_sequence_number() {
        let connection = Connection::new(&Config { mss: Bytes(1460), ..Config::default() });
        assert_eq!([0, 1, 2, 3].map(|n| connection.number(n)), [0, 1, 1461, 2921]);
        let bare = Connection { syn: false, ..connection };
        assert_eq!([0, 1, 2].map(|n| bare.number(n)), [1, 1461, 2921]);
    }

    #[test]
    fn a_fin_takes_one_sequence_number() {
        let connection = Connection::new(&Config { mss: Bytes(1460), ..Config::default() });
        assert_eq!([1, 2, 3].map(|n| connection.after(n)), [1, 1461, 2921]);
        let closed = |fin| [1, 2, 3].map(|n| Connection { fin, ..connection.clone() }.after(n));
        assert_eq!(closed((2, Fin::WithData)), [1, 1461, 2922]);
        assert_eq!(closed((2, Fin::Bare)), [1, 1461, 1462]);
    }

    #[test]
    fn every_flow_has_ports_of_its_own() {
        assert_eq!([0, 3, 25_535].map(ports), [(40_000, 5001), (40_003, 5001), (65_535, 5001)]);
        assert_eq!([25_536, 51_072].map(ports), [(40_000, 5002), (40_000, 5003)]);
    }

    #[test]
    fn windows_are_scaled_as_far_as_needed() {
        let of = |receive_window, syn| {
            let cfg = Config { mss: Bytes(1000), receive_window, syn, ..Config::default() };
            let c = Connection::new(&cfg);
            (c.scale, c.scaled(c.window, false), c.scaled(c.window, true))
        };
        assert_eq!(of(65, true), (0, 65_000, 65_000));
        assert_eq!(of(66, true), (1, 33_000, 65_535), "the window of a SYN is not scaled");
        assert_eq!(of(66, false), (0, 65_535, 65_535), "without a SYN there is no scale");
    }
}
