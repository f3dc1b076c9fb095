//! Packet pool: storage of all packets from their creation to their end.

use super::lists::Lists;
use super::log::{Happening, Log, Step};
use super::olsr::OlsrPacket;
use super::{
    Body, Ecn, Fate, Header, HeaderId, Ledger, Ledgers, ListId, Listed, NodeId, Packet, PacketId, Tlv, TlvsId,
};
use crate::unit::Time;

/// Pool of all packets in the network.
#[derive(Clone, Debug, Default)]
pub struct PacketPool {
    packets: Vec<Packet>,
    /// Number of holders of each packet; 0: a free entry.
    holders: Vec<u32>,
    free: Vec<u32>,
    lists: Lists<Listed>,
    tlvs: Lists<Tlv>,
    headers: Vec<Header>,
    free_headers: Vec<u32>,
    ledgers: Ledgers,
    /// ECN field of new routing messages.
    pub message_ecn: Ecn,
    /// Log of packet events, if an observer reads it.
    log: Option<Box<Log>>,
}

impl PacketPool {
    /// An empty pool with room for this number of packets and some lists; grows when needed.
    pub fn with_capacity(packets: usize) -> PacketPool {
        PacketPool {
            lists: Lists::with_room(16),
            packets: Vec::with_capacity(packets),
            holders: Vec::with_capacity(packets),
            free: Vec::with_capacity(packets),
            ..PacketPool::default()
        }
    }

    /// Approximate memory of the packets, including their entries in the lists of others \[B\].
    pub fn memory(&self) -> usize {
        let headers = self.headers.capacity() * (size_of::<Header>() + 160);
        self.packets.capacity() * (size_of::<Packet>() + 44) + headers
    }

    // ---- packet events ----

    /// Numbers packets from now on, and logs their events.
    pub fn keep_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// Number of a packet, if packets are numbered.
    pub fn number(&self, id: PacketId) -> Option<u64> {
        self.log.as_ref().map(|log| log.number(id))
    }

    /// Sets the node and the time of the events that follow. Without a log this costs one test.
    #[inline]
    pub fn set_context(&mut self, node: NodeId, at: Time) {
        if self.log.is_some() {
            self.log_context(node, at);
        }
    }

    #[cold]
    fn log_context(&mut self, node: NodeId, at: Time) {
        if let Some(log) = &mut self.log {
            log.set_context(node, at);
        }
    }

    /// Logs an event that neither creates nor ends a packet.
    #[inline]
    pub fn note(&mut self, id: PacketId, happening: Happening) {
        if self.log.is_some() {
            self.log_step(id, happening);
        }
    }

    #[cold]
    fn log_step(&mut self, id: PacketId, happening: Happening) {
        if let Some(log) = &mut self.log {
            log.step(id, &self.packets[id.0 as usize], happening);
        }
    }

    /// Events since the last call.
    pub fn take_steps(&mut self) -> Option<std::vec::Drain<'_, Step>> {
        self.log.as_mut().map(|log| log.steps.drain(..))
    }

    // ---- creation and end ----

    /// Stores a new packet and returns its index in the pool.
    pub fn create(&mut self, packet: Packet) -> PacketId {
        debug_assert!(packet.measured, "a new packet is one of the present part of the run");
        let id = self.insert(packet);
        let (kind, ledger) = self.account(id);
        ledger.created[kind] += 1;
        if self.log.is_some() {
            self.log_birth(id, Happening::Created);
        }
        id
    }

    /// Creates a packet for a middlebox.
    pub fn inject(&mut self, mut packet: Packet) -> PacketId {
        packet.measured = true;
        packet.remove_overhead();
        packet.header = HeaderId::NONE;
        let id = self.insert(packet);
        let (kind, ledger) = self.account(id);
        ledger.injected[kind] += 1;
        if self.log.is_some() {
            self.log_birth(id, Happening::Injected);
        }
        id
    }

    #[cold]
    fn log_birth(&mut self, id: PacketId, happening: Happening) {
        if let Some(log) = &mut self.log {
            log.give_number(id, None);
            log.step(id, &self.packets[id.0 as usize], happening);
        }
    }

    /// Creates the next hop's copy of a packet.
    pub fn copy(&mut self, id: PacketId) -> PacketId {
        let copy = self.duplicate(id);
        let (kind, ledger) = self.account(copy);
        ledger.copied[kind] += 1;
        self.note(copy, Happening::Received);
        copy
    }

    #[inline]
    fn duplicate(&mut self, id: PacketId) -> PacketId {
        // Copied as a whole and changed afterwards: doing both at once would stall the processor on its own writes.
        let copy = self.insert(self.packets[id.0 as usize]);
        if self.packets[copy.0 as usize].body.has_list() {
            self.copy_list(copy);
        }
        if self.packets[copy.0 as usize].header.is_some() {
            self.copy_header(copy);
        }
        if self.log.is_some() {
            self.log_copy(copy, id);
        }
        copy
    }

    /// Gives a copied packet a list of its own.
    #[inline(never)]
    fn copy_list(&mut self, copy: PacketId) {
        match &mut self.packets[copy.0 as usize].body {
            Body::Rerr(list) | Body::Update(list) | Body::Ogm(list) | Body::Olsr(OlsrPacket { list, .. }) => {
                *list = ListId(self.lists.copy(list.0));
            }
            Body::Babel(tlvs) => *tlvs = TlvsId(self.tlvs.copy(tlvs.0)),
            _ => unreachable!("it has no list"),
        }
    }

    /// Frees the list of a packet.
    #[inline(never)]
    fn end_list(&mut self, i: usize) {
        match self.packets[i].body {
            Body::Rerr(list) | Body::Update(list) | Body::Ogm(list) | Body::Olsr(OlsrPacket { list, .. }) => {
                self.lists.free(list.0);
            }
            Body::Babel(tlvs) => self.tlvs.free(tlvs.0),
            _ => unreachable!("it has no list"),
        }
    }

    #[cold]
    fn log_copy(&mut self, copy: PacketId, of: PacketId) {
        if let Some(log) = &mut self.log {
            log.give_number(copy, Some(of));
        }
    }

    /// Adds a holder to a packet. The accounting counts a copy; the entry in the pool is shared until a holder calls
    /// [`own`](Self::own) to change its copy. Most receivers of a broadcast only read it.
    pub fn share(&mut self, id: PacketId) {
        let (kind, ledger) = self.account(id);
        ledger.copied[kind] += 1;
        ledger.inside[kind] += 1;
        self.holders[id.0 as usize] += 1;
        self.note(id, Happening::Received);
    }

    /// Counts the copy of a node that has received a broadcast and only read it.
    #[inline]
    pub fn note_delivery(&mut self, id: PacketId, node: NodeId, at: Time) {
        let (kind, ledger) = self.account(id);
        ledger.copied[kind] += 1;
        ledger.delivered[kind] += 1;
        if self.log.is_some() {
            self.log_context(node, at);
            self.log_step(id, Happening::Received);
            self.log_step(id, Happening::Ended(Fate::Delivered));
        }
    }

    /// Returns this holder's copy, which it may change.
    pub fn own(&mut self, id: PacketId) -> PacketId {
        if self.holders[id.0 as usize] == 1 {
            return id;
        }
        // Moves the copy to an entry of its own; the accounting is unchanged.
        let copy = self.duplicate(id);
        self.holders[id.0 as usize] -= 1;
        let (kind, ledger) = self.account(copy);
        ledger.inside[kind] -= 1;
        copy
    }

    /// Kind of a packet, and the ledger that counts it.
    #[inline]
    fn account(&mut self, id: PacketId) -> (usize, &mut Ledger) {
        let packet = &self.packets[id.0 as usize];
        (packet.body.kind() as usize, self.ledgers.of_mut(packet.measured))
    }

    fn insert(&mut self, packet: Packet) -> PacketId {
        self.ledgers.of_mut(packet.measured).inside[packet.body.kind() as usize] += 1;
        match self.free.pop() {
            Some(i) => {
                self.packets[i as usize] = packet;
                self.holders[i as usize] = 1;
                PacketId(i)
            }
            None => {
                self.packets.push(packet);
                self.holders.push(1);
                PacketId(self.packets.len() as u32 - 1)
            }
        }
    }

    /// Ends a packet.
    ///
    /// # Panics
    /// If the packet has ended before: a packet has exactly one outcome.
    pub fn end(&mut self, id: PacketId, fate: Fate) {
        let i = id.0 as usize;
        assert!(self.holders[i] > 0, "packet {id:?} ends a second time, as {fate:?}");
        self.note(id, Happening::Ended(fate));
        self.holders[i] -= 1;
        if self.holders[i] == 0 {
            self.free.push(id.0);
            if self.packets[i].body.has_list() {
                self.end_list(i);
            }
            self.free_header(id);
        }
        let (kind, ledger) = self.account(id);
        ledger.inside[kind] -= 1;
        match fate {
            Fate::Delivered => ledger.delivered[kind] += 1,
            Fate::Relayed => ledger.relayed[kind] += 1,
            Fate::Absorbed => ledger.absorbed[kind] += 1,
            Fate::Dropped(reason) => ledger.dropped[kind][reason as usize] += 1,
        }
    }

    /// Creates an empty list of destinations.
    pub fn new_list(&mut self) -> ListId {
        ListId(self.lists.create())
    }

    /// Destinations of a list.
    pub fn list(&self, id: ListId) -> &[Listed] {
        self.lists.get(id.0)
    }

    /// Destinations of a list, for writing.
    pub fn list_mut(&mut self, id: ListId) -> &mut Vec<Listed> {
        self.lists.get_mut(id.0)
    }

    /// Frees a list that no packet carries.
    pub fn free_list(&mut self, id: ListId) {
        self.lists.free(id.0);
    }

    /// Creates an empty list of TLVs.
    pub fn new_tlvs(&mut self) -> TlvsId {
        TlvsId(self.tlvs.create())
    }

    /// TLVs of a packet of Babel.
    pub fn tlvs(&self, id: TlvsId) -> &[Tlv] {
        self.tlvs.get(id.0)
    }

    /// TLVs of a packet of Babel, for writing.
    pub fn tlvs_mut(&mut self, id: TlvsId) -> &mut Vec<Tlv> {
        self.tlvs.get_mut(id.0)
    }

    /// Gives a packet an empty header.
    pub fn new_header(&mut self, id: PacketId) -> HeaderId {
        let header = self.place_for_header();
        self.packets[id.0 as usize].header = header;
        header
    }

    fn place_for_header(&mut self) -> HeaderId {
        if self.headers.is_empty() {
            // Allocates as many headers as packets, once the first header is needed.
            let count = self.packets.capacity() as u32;
            self.headers = (0..count).map(|_| Header::with_room()).collect();
            self.free_headers = (0..count).rev().collect();
        }
        HeaderId(self.free_headers.pop().unwrap_or_else(|| {
            self.headers.push(Header::with_room());
            self.headers.len() as u32 - 1
        }))
    }

    /// Gives a packet that was copied as a whole a header of its own.
    #[cold]
    fn copy_header(&mut self, id: PacketId) {
        let copy = self.place_for_header();
        let of = std::mem::replace(&mut self.packets[id.0 as usize].header, copy);
        let (from, to) = (of.0 as usize, copy.0 as usize);
        let mut header = std::mem::take(&mut self.headers[to]);
        header.clone_from(&self.headers[from]);
        self.headers[to] = header;
    }

    /// All headers; those without a packet are empty.
    #[cfg(test)]
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// Header of a packet.
    pub fn header(&self, id: HeaderId) -> &Header {
        &self.headers[id.0 as usize]
    }

    /// Header of a packet, for writing.
    pub fn header_mut(&mut self, id: HeaderId) -> &mut Header {
        &mut self.headers[id.0 as usize]
    }

    /// Frees the header of a packet.
    #[inline]
    pub fn free_header(&mut self, id: PacketId) {
        if self.packets[id.0 as usize].header.is_some() {
            self.take_header(id);
        }
    }

    #[cold]
    fn take_header(&mut self, id: PacketId) {
        let header = std::mem::replace(&mut self.packets[id.0 as usize].header, HeaderId::NONE);
        self.headers[header.0 as usize].clear();
        self.free_headers.push(header.0);
    }

    /// For each of the first `flows` flows: true if a segment or acknowledgement is in the network.
    pub fn flows_inside(&self, flows: usize) -> Vec<bool> {
        let mut inside = vec![false; flows];
        for (p, _) in self.packets.iter().zip(&self.holders).filter(|p| *p.1 > 0) {
            if let (Body::Data(_) | Body::Ack(_), Some(flow)) = (&p.body, inside.get_mut(p.flow.index())) {
                *flow = true;
            }
        }
        inside
    }

    /// Counts all packets so far as packets of the warm-up: the measured part begins now.
    #[cold]
    pub fn begin_measured(&mut self) {
        self.packets.iter_mut().for_each(|packet| packet.measured = false);
        self.ledgers.begin_measured();
    }

    /// Packets created, delivered and dropped so far: those of the warm-up, and those of the measured part.
    pub fn ledgers(&self) -> &Ledgers {
        &self.ledgers
    }

    /// Packets created, delivered and dropped so far.
    pub fn ledger(&self) -> Ledger {
        self.ledgers.total()
    }

    /// Number of packets in the network.
    pub fn live(&self) -> u64 {
        self.ledgers.live()
    }
}

impl std::ops::Index<PacketId> for PacketPool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id.0 as usize]
    }
}

impl std::ops::IndexMut<PacketId> for PacketPool {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::*;

    fn packet(body: Body) -> Packet {
        Packet { flow: FlowId(0), ttl: 30, ..Packet::new(body, 40, NodeId(0), NodeId(1), Time::ZERO) }
    }

    #[test]
    fn accounting_balances_at_any_time() {
        let mut pool = PacketPool::default();
        let a = pool.create(packet(Body::Datagram(Datagram::default())));
        let b = pool.copy(a);
        assert!(pool.ledger().balances());
        pool.end(a, Fate::Relayed);
        pool.end(b, Fate::Dropped(Reason::QueueFull));
        assert!(pool.ledger().balances());
        assert_eq!(pool.ledger().dropped_for(Kind::Data, Reason::QueueFull), 1);
        assert_eq!(pool.live(), 0);
    }

    #[test]
    #[should_panic(expected = "ends a second time")]
    fn a_packet_has_one_fate() {
        let mut pool = PacketPool::default();
        let a = pool.create(packet(Body::Datagram(Datagram::default())));
        pool.end(a, Fate::Delivered);
        pool.end(a, Fate::Delivered);
    }

    #[test]
    fn a_copied_route_error_has_its_own_list() {
        let mut pool = PacketPool::default();
        let list = pool.new_list();
        let unreachable = Listed { node: NodeId(3), sequence: 5, hops: u8::MAX };
        pool.list_mut(list).push(unreachable);
        let a = pool.create(packet(Body::Rerr(list)));
        let b = pool.copy(a);
        pool.end(a, Fate::Delivered);
        let Body::Rerr(copied) = pool[b].body else { unreachable!() };
        assert_eq!(pool.list(copied), [unreachable]);
    }

    #[test]
    fn shared_packet_is_copied_on_write() {
        let mut pool = PacketPool::default();
        let a = pool.create(packet(Body::Datagram(Datagram::default())));
        pool.share(a);
        pool.share(a);
        let mine = pool.own(a);
        assert_ne!(mine, a);
        pool[mine].ttl = 1;
        assert_eq!(pool[a].ttl, 30);
        pool.end(a, Fate::Delivered);
        assert_eq!(pool.own(a), a, "the last holder has it for itself");
        assert_eq!((pool.live(), pool.ledger().copied[Kind::Data as usize]), (2, 2));
        assert!(pool.ledger().balances());
        pool.end(a, Fate::Delivered);
        pool.end(mine, Fate::Delivered);
        assert_eq!(pool.live(), 0);
        assert!(pool.ledger().balances());
    }

    #[test]
    fn packets_belong_to_the_part_of_their_creation() {
        let mut pool = PacketPool::default();
        let data = Kind::Data as usize;
        let datagram = || packet(Body::Datagram(Datagram::default()));
        let before = pool.create(datagram());
        let copy = pool.copy(before);
        let kept = pool[before];
        pool.begin_measured();
        let (after, again) = (pool.create(datagram()), pool.inject(kept));
        pool.end(before, Fate::Relayed);
        pool.end(copy, Fate::Delivered);
        pool.end(again, Fate::Dropped(Reason::QueueFull));
        assert!(pool.ledgers().balance());
        let counts = |measured| {
            let l = pool.ledgers().of(measured);
            (l.created[data], l.injected[data], l.copied[data], l.delivered[data], l.inside[data])
        };
        assert_eq!((counts(false), counts(true)), ((1, 0, 1, 1, 0), (1, 1, 0, 0, 1)));
        assert_eq!((pool.live(), pool.ledger().dropped_for(Kind::Data, Reason::QueueFull)), (1, 1));
        pool.end(after, Fate::Delivered);
        assert!(pool.ledgers().balance() && pool.ledger().balances());
    }

    #[test]
    fn a_packet_fits_two_cache_lines() {
        assert!(std::mem::size_of::<Packet>() <= 96, "{} B", std::mem::size_of::<Packet>());
    }
}
