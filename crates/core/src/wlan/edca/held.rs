//! Packets that a category holds: those that wait for their first attempt, and those sent but not acknowledged.

use super::mac80211::Waiting;
use super::psdu::{Mpdu, Psdu};
use super::recipient::{NUMBERS, ahead};
use super::{Aggregation, BlockAck};
use crate::packet::{Kind, PacketId, RadioId};
use crate::unit::{BitRate, Span, Time};
use crate::wlan::Mode;
use crate::wlan::timing::Timing;
use std::collections::VecDeque;

/// Delimiter of an A-MPDU subframe \[B\].
const DELIMITER: u32 = 4;
/// Header of an A-MSDU subframe \[B\].
const SUBFRAME_HEADER: u32 = 14;

/// A packet held by a category.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub packet: PacketId,
    pub kind: Kind,
    pub to: RadioId,
    pub tid: u8,
    /// Size of the MSDU, with LLC and SNAP \[B\].
    pub msdu: u32,
    /// Sequence number, once it is part of an MPDU.
    seq: Option<u16>,
    /// It is a further MSDU of the MPDU of the packet before it.
    joined: bool,
    /// The MPDU has been on the air.
    sent: bool,
    attempts: u32,
    /// Attempts that ended with an RTS.
    rts_attempts: u32,
    first_sent: Time,
    /// The MPDU is in the PSDU that is being sent.
    in_psdu: bool,
    /// The outcome of the last attempt is not known yet.
    open: bool,
    /// Aggregate of the driver that contains the packet; `LOOSE`: none.
    aggregate: u32,
    /// Airtime that the packet was expected to need when it came to the driver.
    pub expected: Span,
}

/// Number of no aggregate: packets wait for their place in an aggregate, or the driver makes none.
const LOOSE: u32 = 0;

/// State of an agreement at its originator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// There is none, and none is asked for before this instant.
    No(Time),
    /// The request is being sent.
    Asking,
    /// The request has arrived; the response is awaited up to this instant.
    Asked(Time),
    Yes,
}

impl Agreed {
    /// Returns true if packets are held back.
    fn holds(self) -> bool {
        matches!(self, Agreed::Asking | Agreed::Asked(_))
    }
}

/// A flow of frames to one receiver with one TID: its numbers, and what its block acknowledgements need.
#[derive(Clone, Debug)]
pub struct Stream {
    pub to: RadioId,
    pub tid: u8,
    next: u16,
    pub state: Agreed,
    /// ADDBA requests without a response.
    pub asked: u32,
    /// The recipient may have an agreement: it was asked once, though its response may not have come.
    recipient_agrees: bool,
    /// A request for a block acknowledgement comes before further data.
    request_due: bool,
    /// Unanswered requests since the last block acknowledgement.
    pub requests: u32,
    /// Requests were given up: data go on, and the next one follows the first answer to them.
    request_later: bool,
    /// Number that the next request has, if the window of the recipient cannot be moved to its own at once.
    request_from: Option<u16>,
}

impl Stream {
    /// Returns true if it is to request a block acknowledgement.
    fn requests(&self) -> bool {
        self.request_due && self.recipient_agrees
    }

    /// A request is to come before further data: it asks for the outcome of sent MPDUs, or reports given-up ones.
    pub fn request(&mut self) {
        (self.request_due, self.request_later) = (true, false);
    }

    /// Requests are given up until the receiver answers data.
    fn postpone_request(&mut self) {
        (self.request_due, self.request_later, self.request_from, self.requests) = (false, true, None, 0);
    }

    /// The receiver has answered data.
    fn on_answer(&mut self) {
        if std::mem::take(&mut self.request_later) {
            self.request_due = true;
        }
    }
}

/// Places of MPDUs in a PSDU.
struct Layout {
    /// Begin and end of each MPDU.
    starts: [(u32, u32); 64],
    count: usize,
    /// Size so far.
    size: u32,
    /// Bytes from the start of one MPDU to that of the next one.
    spacing: u32,
    /// A single MPDU has a delimiter, as with VHT.
    delimits_single: bool,
}

impl Layout {
    fn new(mode: Mode, aggregation: &Aggregation, timing: &Timing) -> Layout {
        let spacing = (mode.rate().0 as f64 * aggregation.min_spacing.as_secs() / 8.0).ceil() as u32;
        Layout { starts: [(0, 0); 64], count: 0, size: 0, spacing, delimits_single: timing.delimits_single() }
    }

    /// Begin and end of the next MPDU, if it has this size.
    #[inline]
    fn next(&self, bytes: u32) -> (u32, u32) {
        // All subframes but the last end at a multiple of 4 B.
        let delimiter = if self.count > 0 || self.delimits_single { DELIMITER } else { 0 };
        let before = match self.count {
            0 => 0,
            1 if !self.delimits_single => (DELIMITER + self.size).next_multiple_of(4).max(self.spacing),
            _ => {
                let spaced = self.starts[self.count - 1].0 - DELIMITER + self.spacing.next_multiple_of(4);
                self.size.next_multiple_of(4).max(spaced)
            }
        };
        (before + delimiter, before + delimiter + bytes)
    }

    #[inline]
    fn add(&mut self, place: (u32, u32)) {
        if self.count == 1 && !self.delimits_single {
            self.starts[0] = (DELIMITER, DELIMITER + self.size);
        }
        self.starts[self.count] = place;
        (self.size, self.count) = (place.1, self.count + 1);
    }
}

/// Limits of a PSDU.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Mode of the frame.
    pub mode: Mode,
    /// Longest time on air.
    pub airtime: Span,
    /// Size of a PSDU above which other frames come first in its exchange, and the time that they take \[B\].
    pub protected_above: (u32, Span),
    /// A single MPDU may last longer.
    pub single_may_exceed: bool,
    /// Largest number of MPDUs, and largest A-MSDU \[B\], for rate control.
    pub rate_limits: (usize, u32),
}

impl Room {
    /// Longest time on air of a PSDU of this size.
    fn airtime_of(&self, bytes: u32) -> Span {
        let (size, before) = self.protected_above;
        if bytes > size { self.airtime - before.min(self.airtime) } else { self.airtime }
    }
}

/// Outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Acknowledged,
    GivenUp,
}

/// Limits of attempts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Attempts at an MPDU.
    pub attempts: Option<u32>,
    /// Attempts that end with an RTS.
    pub rts_attempts: Option<u32>,
    pub lifetime: Option<Span>,
}

/// Packets of a category, in the order in which they came.
#[derive(Clone, Debug)]
pub struct Queue {
    held: VecDeque<Held>,
    streams: Vec<Stream>,
    /// Bytes held for each receiver for which any are.
    receivers: Vec<(RadioId, u32)>,
    /// State of a new stream.
    first_state: Agreed,
    /// MPDUs whose attempt has failed, since this was asked last.
    failed: u64,
    /// The driver that makes aggregates ahead of time; `None`: they are made when they are sent.
    driver: Option<Driver>,
}

/// A driver below the queues of mac80211.
#[derive(Clone, Debug, Default)]
struct Driver {
    /// Numbers of its aggregates, in the order in which they are sent.
    ready: VecDeque<u32>,
    /// Number of the last aggregate.
    last: u32,
}

impl Queue {
    /// An empty queue; `agreed`: all its agreements exist from the start.
    pub fn new(agreed: bool) -> Queue {
        let first_state = if agreed { Agreed::Yes } else { Agreed::No(Time::ZERO) };
        let (held, streams, receivers) = (VecDeque::new(), Vec::new(), Vec::new());
        Queue { held, streams, receivers, first_state, failed: 0, driver: None }
    }

    /// Returns the queue with a driver that makes aggregates ahead of time.
    #[must_use]
    pub fn with_driver(self) -> Queue {
        Queue { driver: Some(Driver::default()), ..self }
    }

    /// Returns true if the packets of a stream wait for an agreement.
    fn holds_back(&self, h: &Held) -> bool {
        self.streams.iter().any(|s| s.state.holds() && s.to == h.to && s.tid == h.tid)
    }

    /// Returns true if there is an agreement with the receiver of a packet, which may be the first one for it.
    fn is_agreed(&self, h: &Held) -> bool {
        self.state(h.to, h.tid) == Agreed::Yes
    }

    fn state(&self, to: RadioId, tid: u8) -> Agreed {
        self.streams.iter().find(|s| s.to == to && s.tid == tid).map_or(self.first_state, |s| s.state)
    }

    /// Returns true if anything may be sent now.
    pub fn is_ready(&self) -> bool {
        let asks = self.streams.iter().any(|s| s.requests() || s.state == Agreed::Asking);
        asks || self.first().is_some()
    }

    /// Stream for which an agreement is to be asked for, with the number from which on it would hold: the one of the
    /// first packet, if another one waits with it.
    pub fn due_agreement(&mut self, now: Time) -> Option<(RadioId, u8, u16)> {
        let asking = self.streams.iter().find(|s| s.state == Agreed::Asking).map(|s| (s.to, s.tid));
        let (to, tid) = asking.or_else(|| {
            let first = self.first().filter(|h| !h.to.is_broadcast())?;
            let stream = (first.to, first.tid);
            self.of(stream.0, stream.1).nth(1)?;
            matches!(self.stream(stream.0, stream.1).state, Agreed::No(until) if until <= now).then_some(stream)
        })?;
        let stream = self.stream(to, tid);
        (stream.state, stream.recipient_agrees) = (Agreed::Asking, true);
        Some((to, tid, self.start(to, tid)))
    }

    /// Earliest instant at which the wait for a response ends.
    pub fn response_deadline(&self) -> Time {
        let deadline = |s: &Stream| if let Agreed::Asked(until) = s.state { until } else { Time::NEVER };
        self.streams.iter().map(deadline).min().unwrap_or(Time::NEVER)
    }

    /// Gives up the agreements whose responses have not come. `pause`: time before the next request.
    pub fn end_waits(&mut self, now: Time, pause: Span) {
        for s in &mut self.streams {
            if matches!(s.state, Agreed::Asked(until) if until <= now) {
                s.state = Agreed::No(now + pause);
            }
        }
    }

    pub fn push(&mut self, packet: PacketId, kind: Kind, to: RadioId, tid: u8, msdu: u32) {
        self.push_into(LOOSE, Span::ZERO, (packet, kind), (to, tid), msdu);
    }

    fn push_into(
        &mut self,
        aggregate: u32,
        expected: Span,
        (packet, kind): (PacketId, Kind),
        (to, tid): (RadioId, u8),
        msdu: u32,
    ) {
        match self.receivers.iter_mut().find(|r| r.0 == to) {
            Some(receiver) => receiver.1 += msdu,
            None => self.receivers.push((to, msdu)),
        }
        self.held.push_back(Held {
            packet,
            kind,
            to,
            tid,
            msdu,
            seq: None,
            joined: false,
            sent: false,
            attempts: 0,
            rts_attempts: 0,
            first_sent: Time::NEVER,
            in_psdu: false,
            open: false,
            aggregate,
            expected,
        });
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Time on air of all packets at the rates of their receivers, without preambles, and the number of receivers.
    pub fn airtime(&self, rate: impl Fn(RadioId) -> BitRate) -> (Span, u64) {
        let airtime = self.receivers.iter().fold(Span::ZERO, |sum, &(to, bytes)| sum + rate(to).airtime(bytes));
        (airtime, self.receivers.len() as u64)
    }

    /// First packet that is not held back.
    pub fn first(&self) -> Option<&Held> {
        if let Some(driver) = &self.driver {
            let first = |&a: &u32| self.held.iter().find(|h| h.aggregate == a);
            return driver.ready.iter().filter_map(first).find(|h| !self.holds_back(h));
        }
        let front = self.held.front()?;
        if self.streams.iter().all(|s| !s.state.holds()) {
            return Some(front);
        }
        self.held.iter().find(|h| !self.holds_back(h))
    }

    /// Removes the broadcast that was sent.
    pub fn pop_broadcast(&mut self) -> Option<Held> {
        let i = self.held.iter().position(|h| h.to.is_broadcast())?;
        let held = self.held.remove(i)?;
        leave(&mut self.receivers, &held);
        Some(held)
    }

    /// The stream to a receiver.
    pub fn stream(&mut self, to: RadioId, tid: u8) -> &mut Stream {
        let known = self.streams.iter().position(|s| s.to == to && s.tid == tid);
        let i = known.unwrap_or_else(|| {
            let state = self.first_state;
            self.streams.push(Stream {
                to,
                tid,
                next: 0,
                state,
                asked: 0,
                recipient_agrees: state == Agreed::Yes,
                request_due: false,
                requests: 0,
                request_later: false,
                request_from: None,
            });
            self.streams.len() - 1
        });
        &mut self.streams[i]
    }

    /// First stream that needs a request for a block acknowledgement, with the number from which on it asks.
    pub fn due_request(&self) -> Option<(RadioId, u8, u16)> {
        let stream = self.streams.iter().find(|s| s.requests())?;
        let start = stream.request_from.unwrap_or_else(|| self.start(stream.to, stream.tid));
        Some((stream.to, stream.tid, start))
    }

    /// First number of a stream that is not acknowledged, WinStartO.
    fn start(&self, to: RadioId, tid: u8) -> u16 {
        let first = self.of(to, tid).find_map(|h| h.seq);
        let next = self.streams.iter().find(|s| s.to == to && s.tid == tid).map_or(0, |s| s.next);
        first.unwrap_or(next)
    }

    fn of(&self, to: RadioId, tid: u8) -> impl Iterator<Item = &Held> + '_ {
        self.held.iter().filter(move |h| h.to == to && h.tid == tid)
    }

    /// Number of aggregates of the driver that may be sent.
    pub fn aggregates(&mut self) -> usize {
        let Some(mut driver) = self.driver.take() else { return 0 };
        driver.ready.retain(|&a| self.held.iter().any(|h| h.aggregate == a));
        let may_go = |&&a: &&u32| self.held.iter().any(|h| h.aggregate == a && !self.holds_back(h));
        let count = driver.ready.iter().filter(may_go).count();
        self.driver = Some(driver);
        count
    }

    /// Streams of the packets of the driver that are in none of its aggregates.
    pub fn loose(&self) -> impl Iterator<Item = (RadioId, u8)> + '_ {
        self.held.iter().filter(|h| h.aggregate == LOOSE).map(|h| (h.to, h.tid))
    }

    /// Source of the packets of a stream's next aggregate: `None`: no aggregate can be made now; `Some(true)`: packets
    /// that the driver has already.
    pub fn next_of(&self, to: RadioId, tid: u8, block_ack: &BlockAck) -> Option<bool> {
        let state = self.state(to, tid);
        if state.holds() {
            return None;
        }
        let again = self.loose().any(|of| of == (to, tid));
        (again || state != Agreed::Yes || self.window_left(to, tid, block_ack) > 0).then_some(again)
    }

    /// Numbers of the window of a stream that no packet has or will have, if each packet without one is an MPDU: of
    /// packets that join A-MSDUs some more are left than this.
    fn window_left(&self, to: RadioId, tid: u8, block_ack: &BlockAck) -> u32 {
        let next = self.streams.iter().find(|s| s.to == to && s.tid == tid).map_or(0, |s| s.next);
        let without = self.of(to, tid).filter(|h| h.seq.is_none()).count() as u32;
        block_ack.buffer_mpdus.saturating_sub(u32::from(ahead(self.start(to, tid), next)) + without)
    }

    /// Asks for an agreement if there is none, the time has come to ask, and this number of packets waits before those
    /// that are held. Returns true if it is being asked for.
    pub fn ask(&mut self, to: RadioId, tid: u8, waiting: usize, now: Time) -> bool {
        if waiting + self.of(to, tid).count() < 2 {
            return false;
        }
        let stream = self.stream(to, tid);
        let asks = matches!(stream.state, Agreed::No(until) if until <= now);
        if asks {
            stream.state = Agreed::Asking;
        }
        asks
    }

    /// Makes the next aggregate of the driver: packets of the stream that are to be sent again, and then new ones.
    /// `longest`: time on air that it may have in this mode. `pop` takes new packets out of the queue of the stream, each
    /// with the airtime that it is expected to need. The first one that does not fit is kept for the following
    /// aggregate.
    pub fn make_aggregate(
        &mut self,
        (to, tid): (RadioId, u8),
        (mode, longest): (Mode, Span),
        (aggregation, block_ack): (&Aggregation, &BlockAck),
        timing: &Timing,
        mut pop: impl FnMut() -> Option<(Waiting, Span)>,
    ) {
        let driver = self.driver.as_mut().expect("a driver makes aggregates");
        driver.last = driver.last.checked_add(1).unwrap_or(LOOSE + 1);
        let number = driver.last;
        driver.ready.push_back(number);
        let agreed = !to.is_broadcast() && self.state(to, tid) == Agreed::Yes;
        let most = if agreed { aggregation.max_mpdus as usize } else { 1 };
        let header = timing.header_bytes();
        let longest = longest.min(aggregation.max_airtime);
        let alone = |bytes: u32| timing.data_in(mode, DELIMITER + bytes) <= longest;
        let fits = |place: (u32, u32)| place.1 <= aggregation.max_size.0 && timing.data_in(mode, place.1) <= longest;
        let mut layout = Layout::new(mode, aggregation, timing);
        // The MPDU that further packets may join: its size, and that of its body as an A-MSDU.
        let mut open: Option<(u32, u32)> = None;
        let mut i = 0;
        while i < self.held.len() && layout.count < most {
            let h = &self.held[i];
            if (h.to, h.tid, h.aggregate) != (to, tid, LOOSE) || h.joined {
                i += 1;
                continue;
            }
            let (bytes, packets) = self.mpdu(i, aggregation.amsdu_size.0, header, alone);
            let place = layout.next(bytes);
            if layout.count > 0 && !fits(place) {
                return;
            }
            layout.add(place);
            let of_mpdu = |h: &&mut Held| (h.to, h.tid, h.aggregate) == (to, tid, LOOSE);
            self.held.range_mut(i..).filter(of_mpdu).take(packets).for_each(|h| h.aggregate = number);
        }
        // Without an agreement one MPDU, and the packet that does not join it.
        let mut window = if agreed { self.window_left(to, tid, block_ack) } else { 2 };
        let joining = aggregation.amsdu_size.0 > 0 && !to.is_broadcast();
        while window > 0 && layout.count + usize::from(open.is_some() && !joining) < most {
            let Some((w, expected)) = pop() else { return };
            let padded = SUBFRAME_HEADER + w.msdu;
            let joined = open.map(|(_, body)| body.next_multiple_of(4) + padded);
            let joined = joined.filter(|&size| {
                size <= aggregation.amsdu_size.0 && alone(header + size) && fits(layout.next(header + size))
            });
            if let Some(size) = joined {
                open = Some((header + size, size));
            } else {
                window -= 1;
                if let Some((bytes, _)) = open {
                    layout.add(layout.next(bytes));
                }
                let bytes = header + w.msdu;
                let begins = layout.count < most && (layout.count == 0 || fits(layout.next(bytes)));
                open = begins.then_some((bytes, padded));
            }
            let aggregate = if open.is_some() { number } else { LOOSE };
            self.push_into(aggregate, expected, (w.packet, w.kind), (to, tid), w.msdu);
            if open.is_none() {
                return;
            }
        }
    }

    /// Size of the MPDU that begins with packet `i`, and the number of packets in it, if an A-MSDU may have this size;
    /// `fits`: an MPDU of a size is not too long for a PPDU of its own.
    fn mpdu(&self, i: usize, amsdu_size: u32, header: u32, fits: impl Fn(u32) -> bool) -> (u32, usize) {
        let first = &self.held[i];
        let (most, mut body, mut count) = (amsdu_size, first.msdu, 1);
        let mut padded = SUBFRAME_HEADER + first.msdu;
        let known = first.seq.is_some();
        let follows = |h: &&Held| h.to == first.to && h.tid == first.tid && h.aggregate == first.aggregate;
        for h in self.held.range(i + 1..).filter(follows) {
            let size = padded.next_multiple_of(4) + SUBFRAME_HEADER + h.msdu;
            let joins = if known { h.joined } else { h.seq.is_none() && size <= most && fits(header + size) };
            if !joins {
                break;
            }
            (padded, body, count) = (size, size, count + 1);
        }
        (header + body, count)
    }

    /// Fills a PSDU with packets for the receiver of the first one: those that were sent before come first, because
    /// they are older. Returns the time on air; `None` if nothing fits.
    pub fn fill(
        &mut self,
        psdu: &mut Psdu,
        room: Room,
        (aggregation, block_ack): (&Aggregation, &BlockAck),
        timing: &Timing,
        now: Time,
    ) -> Option<Span> {
        psdu.mpdus.clear();
        let first = *self.first()?;
        let Held { to, tid, .. } = first;
        psdu.agreed = self.is_agreed(&first);
        let most = if psdu.agreed { (aggregation.max_mpdus as usize).min(room.rate_limits.0) } else { 1 };
        let amsdu_size = aggregation.amsdu_size.0.min(room.rate_limits.1);
        let start = self.start(to, tid);
        psdu.tid = tid;
        let header = timing.header_bytes();
        let (mut airtime, mut i) = (Span::ZERO, 0);
        let mut layout = Layout::new(room.mode, aggregation, timing);
        while i < self.held.len() && layout.count < most {
            let h = &self.held[i];
            if h.to != to || h.tid != tid || h.joined || h.aggregate != first.aggregate {
                i += 1;
                continue;
            }
            let next = self.streams.iter().find(|s| s.to == to && s.tid == tid).map_or(0, |s| s.next);
            if ahead(start, h.seq.unwrap_or(next)) >= block_ack.buffer_mpdus as u16 {
                break;
            }
            let (bytes, packets) = self.mpdu(i, amsdu_size, header, |size| {
                let airtime = room.airtime_of(DELIMITER + size).min(aggregation.max_airtime);
                timing.data_in(room.mode, DELIMITER + size) <= airtime
            });
            let place = layout.next(bytes);
            let time = timing.data_in(room.mode, place.1);
            let airtime_left = room.airtime_of(place.1);
            let fits = place.1 <= aggregation.max_size.0 && time <= airtime_left.min(aggregation.max_airtime);
            let alone = layout.count == 0 && (time <= airtime_left || room.single_may_exceed);
            if !(alone || (layout.count > 0 && fits)) {
                break;
            }
            layout.add(place);
            airtime = time;
            self.take(i, packets, next, now, psdu, bytes);
            i += 1;
        }
        let Layout { starts, count, size, .. } = layout;
        psdu.aggregate = count > 1;
        psdu.bytes = size;
        let mut place = usize::MAX;
        let mut last = None;
        for mpdu in &mut psdu.mpdus {
            if last != Some(mpdu.seq) {
                (last, place) = (Some(mpdu.seq), place.wrapping_add(1));
            }
            let (from, until) = starts[place];
            (mpdu.from, mpdu.until) = timing.part_of_psdu(room.mode, size, from, until);
        }
        (count > 0).then_some(airtime)
    }

    /// Puts the MPDU that begins with packet `i` into the PSDU.
    fn take(&mut self, i: usize, packets: usize, next: u16, now: Time, psdu: &mut Psdu, bytes: u32) {
        let (to, tid, known) = (self.held[i].to, self.held[i].tid, self.held[i].seq);
        let seq = known.unwrap_or(next);
        if known.is_none() {
            self.stream(to, tid).next = (next + 1) % NUMBERS;
        }
        let (mut left, aggregate) = (packets, self.held[i].aggregate);
        let follows = |h: &&mut Held| h.to == to && h.tid == tid && h.aggregate == aggregate;
        for (k, h) in self.held.range_mut(i..).filter(follows).enumerate() {
            if left == 0 {
                break;
            }
            left -= 1;
            (h.seq, h.joined, h.in_psdu) = (Some(seq), k > 0, true);
            h.first_sent = h.first_sent.min(now);
            psdu.mpdus.push(Mpdu { packet: h.packet, seq, retry: h.sent, bytes, from: Span::ZERO, until: Span::ZERO });
        }
    }

    /// The PSDU goes on the air.
    pub fn on_sent(&mut self) {
        for h in self.held.iter_mut().filter(|h| h.in_psdu) {
            (h.sent, h.open) = (true, true);
            h.attempts += 1;
        }
    }

    /// The ACK of the only MPDU in the PSDU has come. Where a request is to follow, the block acknowledgement tells if
    /// the recipient, whose window may be elsewhere, has passed the MPDU up.
    pub fn on_ack(&mut self, done: &mut Vec<(Held, Outcome)>) {
        let sent = self.held.iter().find(|h| h.in_psdu).map(|h| (h.to, h.tid));
        if let Some((to, tid)) = sent {
            let stream = self.stream(to, tid);
            stream.on_answer();
            if stream.requests() {
                return self.leave();
            }
        }
        self.settle(done, |h| h.in_psdu.then_some(Outcome::Acknowledged));
    }

    /// A block acknowledgement has come. What it does not list is repeated or given up.
    pub fn on_block_ack(
        &mut self,
        (to, tid): (RadioId, u8),
        (start, bitmap): (u16, u64),
        limits: &Limits,
        now: Time,
        done: &mut Vec<(Held, Outcome)>,
    ) {
        let listed = |h: &Held| {
            let offset = ahead(start, h.seq.filter(|_| h.to == to && h.tid == tid && h.sent)?);
            Some(offset < 64 && bitmap >> offset & 1 == 1)
        };
        self.fail(|h| listed(h) == Some(false));
        let given_up =
            self.settle(done, |h| if listed(h)? { Some(Outcome::Acknowledged) } else { h.exhausted(limits, now) });
        let own = self.start(to, tid);
        let stream = self.stream(to, tid);
        // A request moves the window by less than half of the numbers: after a long silence it takes several.
        let step = (start + NUMBERS / 2 - 1) % NUMBERS;
        let next_step = (ahead(start, own) >= NUMBERS / 2).then_some(step);
        let steps = std::mem::replace(&mut stream.request_from, next_step).or(next_step).is_some();
        (stream.request_due, stream.requests) = (given_up || steps, 0);
        stream.on_answer();
        self.leave();
        if self.driver.is_some() {
            // Lost MPDUs go into the next aggregate. Without any answer a driver repeats the same aggregate.
            let lost = |h: &&mut Held| h.to == to && h.tid == tid && h.sent && !h.open;
            self.held.iter_mut().filter(lost).for_each(|h| h.aggregate = LOOSE);
        }
    }

    /// Number of sent MPDUs of a stream that a block acknowledgement lists.
    pub fn listed(&self, (to, tid): (RadioId, u8), (start, bitmap): (u16, u64)) -> usize {
        let sent = self.of(to, tid).filter(|h| h.sent && !h.joined).filter_map(|h| h.seq);
        sent.filter(|&seq| ahead(start, seq) < 64 && bitmap >> ahead(start, seq) & 1 == 1).count()
    }

    /// The attempts at these MPDUs have failed, if they were still open.
    fn fail(&mut self, which: impl Fn(&Held) -> bool) {
        for h in self.held.iter_mut().filter(|h| h.open && which(h)) {
            h.open = false;
            self.failed += u64::from(!h.joined);
        }
    }

    /// No response came to the MPDUs in the PSDU, and none will tell which of them have arrived.
    pub fn fail_sent(&mut self) {
        self.fail(|h| h.in_psdu);
    }

    /// Number of MPDUs whose attempt has failed since the last call.
    pub fn take_failed(&mut self) -> u64 {
        std::mem::take(&mut self.failed)
    }

    /// No response came to the PSDU, or to the RTS before it. Returns true if all its MPDUs are given up.
    pub fn on_failure(&mut self, after_rts: bool, limits: &Limits, now: Time, done: &mut Vec<(Held, Outcome)>) -> bool {
        if after_rts {
            self.held.iter_mut().filter(|h| h.in_psdu).for_each(|h| h.rts_attempts += 1);
        }
        let stream = self.held.iter().find(|h| h.in_psdu && !h.to.is_broadcast()).map(|h| (h.to, h.tid));
        let given_up = self.settle(done, |h| if h.in_psdu { h.exhausted(limits, now) } else { None });
        let over = given_up && !self.held.iter().any(|h| h.in_psdu);
        // Its number may never have been on the air, but the recipient waits for it all the same.
        if let Some((to, tid)) = stream.filter(|_| given_up) {
            self.stream(to, tid).request();
        }
        self.leave();
        over
    }

    /// Gives up the MPDUs sent to a receiver that answers no request. Data go on, as in mac80211, whose request waits
    /// for the next answer, too (`bar_pending`): they may arrive, and rate control learns from them.
    pub fn give_up(&mut self, (to, tid): (RadioId, u8), done: &mut Vec<(Held, Outcome)>) {
        self.settle(done, |h| (h.to == to && h.tid == tid && h.sent).then_some(Outcome::GivenUp));
        self.stream(to, tid).postpone_request();
    }

    /// Gives up packets whose time is over. Returns true if any was.
    pub fn expire(&mut self, limits: &Limits, now: Time, done: &mut Vec<(Held, Outcome)>) -> bool {
        let old = |h: &Held| limits.lifetime.is_some_and(|life| h.sent && now >= h.first_sent + life);
        if !self.held.iter().any(old) {
            return false;
        }
        let over: Vec<_> = self.held.iter().filter(|h| old(h)).map(|h| (h.to, h.tid)).collect();
        self.settle(done, |h| old(h).then_some(Outcome::GivenUp));
        over.into_iter().for_each(|(to, tid)| self.stream(to, tid).request());
        true
    }

    /// The PSDU is no longer being sent.
    fn leave(&mut self) {
        self.held.iter_mut().for_each(|h| h.in_psdu = false);
    }

    /// Removes packets that have an outcome, all of an MPDU together. Returns true if any was given up.
    fn settle(&mut self, done: &mut Vec<(Held, Outcome)>, outcome: impl Fn(&Held) -> Option<Outcome>) -> bool {
        let (mut given_up, failed, receivers) = (false, &mut self.failed, &mut self.receivers);
        self.held.retain(|h| match outcome(h) {
            Some(of) => {
                given_up |= of == Outcome::GivenUp;
                *failed += u64::from(of == Outcome::GivenUp && h.open && !h.joined);
                leave(receivers, h);
                done.push((*h, of));
                false
            }
            None => true,
        });
        given_up
    }

    /// Removes everything, for a station that is switched off.
    pub fn clear(&mut self, dropped: &mut Vec<PacketId>) {
        self.fail(|_| true);
        dropped.extend(self.held.drain(..).map(|h| h.packet));
        self.receivers.clear();
        if let Some(driver) = &mut self.driver {
            driver.ready.clear();
        }
        self.streams.iter_mut().filter(|s| s.recipient_agrees).for_each(Stream::postpone_request);
    }
}

/// A packet is no longer held: takes its bytes from those of its receiver.
fn leave(receivers: &mut Vec<(RadioId, u32)>, h: &Held) {
    let i = receivers.iter().position(|r| r.0 == h.to).expect("bytes are held for its receiver");
    receivers[i].1 -= h.msdu;
    if receivers[i].1 == 0 {
        receivers.swap_remove(i);
    }
}

impl Held {
    /// Returns the outcome of a packet whose attempts or time are used up.
    fn exhausted(&self, limits: &Limits, now: Time) -> Option<Outcome> {
        let tried = self.sent && limits.attempts.is_some_and(|most| self.attempts >= most);
        let asked = limits.rts_attempts.is_some_and(|most| self.rts_attempts >= most);
        let old = limits.lifetime.is_some_and(|life| self.sent && now >= self.first_sent + life);
        (tried || asked || old).then_some(Outcome::GivenUp)
    }

    /// Returns true if the packet is given up after an RTS.
    pub fn ended_by_rts(&self, limits: &Limits) -> bool {
        limits.rts_attempts.is_some_and(|most| self.rts_attempts >= most)
    }
}
