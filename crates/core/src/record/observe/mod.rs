//! Observers: each reads the notes of events and writes one table. Observers change no result; a run without them pays
//! for the test of a bit.

pub mod columns;
pub mod cwnd;
pub mod energy;
pub mod frames;
pub mod heard;
pub mod mpdus;
pub mod packets;
pub mod positions;
pub mod queue;
pub mod routes;
pub mod stations;

use super::capture::Captures;
use super::note::{Note, Subject};
use super::trace::Trace;
use crate::packet::{NodeId, RadioId};
use crate::run::{RadioSetup, RecordedTable, Setup};
use crate::unit::Time;
use columns::Rows;

impl RecordedTable {
    /// Columns of the table with their meanings.
    pub fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            RecordedTable::Frames => frames::Kept::COLUMNS,
            RecordedTable::Mpdus => mpdus::Kept::COLUMNS,
            RecordedTable::Heard => heard::Kept::COLUMNS,
            RecordedTable::Packets => packets::Kept::COLUMNS,
            RecordedTable::Cwnd => cwnd::Kept::COLUMNS,
            RecordedTable::Queue => queue::Kept::COLUMNS,
            RecordedTable::Routes => routes::Kept::COLUMNS,
            RecordedTable::Energy => energy::Kept::COLUMNS,
            RecordedTable::Positions => positions::Kept::COLUMNS,
        }
    }

    /// Columns of words that are explained on no other page, with the words and their meanings.
    pub fn words(self) -> &'static [(&'static str, columns::Words)] {
        match self {
            RecordedTable::Frames => &[("outcome", frames::Outcome::WORDS)],
            RecordedTable::Heard => &[("verdict", heard::Verdict::WORDS)],
            RecordedTable::Packets => &[("packet_type", packets::PacketType::WORDS), ("event", packets::Event::WORDS)],
            RecordedTable::Cwnd => &[
                ("event", cwnd::Event::WORDS),
                ("recovery_state", cwnd::RECOVERY_STATES),
                ("bbr_state", cwnd::BBR_STATES),
            ],
            RecordedTable::Mpdus | RecordedTable::Queue => &[],
            RecordedTable::Routes => &[("event", routes::Event::WORDS)],
            RecordedTable::Energy | RecordedTable::Positions => &[],
        }
    }
}

/// Node and channel of each radio.
#[derive(Clone, Debug)]
struct Whose(Vec<RadioSetup>);

impl Whose {
    fn new(setup: &Setup) -> Whose {
        Whose(setup.interfaces.radios.clone())
    }

    fn node(&self, radio: RadioId) -> NodeId {
        self.0[radio.index()].node
    }

    fn channel(&self, radio: RadioId) -> u32 {
        self.0[radio.index()].channel.into()
    }
}

/// A reader of notes.
#[derive(Clone, Debug)]
enum Observer {
    Trace(Box<Trace>),
    Captures(Box<Captures>),
    Frames(frames::Frames),
    Mpdus(mpdus::Mpdus),
    Heard(heard::Heard),
    Packets(packets::Packets),
    Cwnd(cwnd::Windows),
    Queue(queue::Queues),
    Routes(routes::Routes),
    Energy(energy::Energy),
    Positions(positions::Positions),
}

impl Observer {
    fn new(table: RecordedTable, setup: &Setup) -> Observer {
        match table {
            RecordedTable::Frames => Observer::Frames(frames::Frames::new(setup)),
            RecordedTable::Mpdus => Observer::Mpdus(mpdus::Mpdus::new(setup)),
            RecordedTable::Heard => Observer::Heard(heard::Heard::new(setup)),
            RecordedTable::Packets => Observer::Packets(packets::Packets::new(setup)),
            RecordedTable::Cwnd => Observer::Cwnd(cwnd::Windows::default()),
            RecordedTable::Queue => Observer::Queue(queue::Queues::new(setup)),
            RecordedTable::Routes => Observer::Routes(routes::Routes::default()),
            RecordedTable::Energy => Observer::Energy(energy::Energy::default()),
            RecordedTable::Positions => Observer::Positions(positions::Positions::default()),
        }
    }

    /// Returns true if the observer reads notes on this subject.
    fn reads(&self, subject: Subject) -> bool {
        match self {
            Observer::Trace(_) | Observer::Captures(_) => true,
            Observer::Frames(_) | Observer::Mpdus(_) | Observer::Heard(_) => {
                matches!(subject, Subject::Frame | Subject::End)
            }
            Observer::Packets(_) => subject == Subject::Packet,
            Observer::Cwnd(_) => subject == Subject::Sender,
            Observer::Queue(_) => subject == Subject::Queue,
            Observer::Routes(_) => subject == Subject::Router,
            Observer::Energy(_) => subject == Subject::Battery,
            Observer::Positions(_) => subject == Subject::Movement,
        }
    }

    fn on(&mut self, at: Time, note: &Note<'_>) {
        match self {
            Observer::Trace(o) => o.on(at, note),
            Observer::Captures(o) => o.on(at, note),
            Observer::Frames(o) => o.on(at, note),
            Observer::Mpdus(o) => o.on(at, note),
            Observer::Heard(o) => o.on(at, note),
            Observer::Packets(o) => o.on(note),
            Observer::Cwnd(o) => o.on(at, note),
            Observer::Queue(o) => o.on(at, note),
            Observer::Routes(o) => o.on(at, note),
            Observer::Energy(o) => o.on(at, note),
            Observer::Positions(o) => o.on(note),
        }
    }

    fn kept(&self) -> Option<&dyn Rows> {
        match self {
            Observer::Trace(_) | Observer::Captures(_) => None,
            Observer::Frames(o) => Some(&o.rows),
            Observer::Mpdus(o) => Some(&o.rows),
            Observer::Heard(o) => Some(&o.rows),
            Observer::Packets(o) => Some(&o.rows),
            Observer::Cwnd(o) => Some(&o.rows),
            Observer::Queue(o) => Some(&o.rows),
            Observer::Routes(o) => Some(&o.rows),
            Observer::Energy(o) => Some(&o.rows),
            Observer::Positions(o) => Some(&o.rows),
        }
    }

    fn rows(&mut self) -> Option<(RecordedTable, &mut dyn Rows)> {
        match self {
            Observer::Trace(_) | Observer::Captures(_) => None,
            Observer::Frames(o) => Some((RecordedTable::Frames, &mut o.rows)),
            Observer::Mpdus(o) => Some((RecordedTable::Mpdus, &mut o.rows)),
            Observer::Heard(o) => Some((RecordedTable::Heard, &mut o.rows)),
            Observer::Packets(o) => Some((RecordedTable::Packets, &mut o.rows)),
            Observer::Cwnd(o) => Some((RecordedTable::Cwnd, &mut o.rows)),
            Observer::Queue(o) => Some((RecordedTable::Queue, &mut o.rows)),
            Observer::Routes(o) => Some((RecordedTable::Routes, &mut o.rows)),
            Observer::Energy(o) => Some((RecordedTable::Energy, &mut o.rows)),
            Observer::Positions(o) => Some((RecordedTable::Positions, &mut o.rows)),
        }
    }
}

/// An observer, with a bit for each subject that it reads.
#[derive(Clone, Debug)]
struct Reader {
    subjects: u8,
    observer: Observer,
}

impl Reader {
    fn new(observer: Observer) -> Reader {
        let subjects = Subject::ALL.iter().filter(|&&subject| observer.reads(subject));
        Reader { subjects: subjects.fold(0, |all, &subject| all | bit(subject)), observer }
    }
}

fn bit(subject: Subject) -> u8 {
    1 << subject as u8
}

/// All observers of a run.
#[derive(Clone, Debug, Default)]
pub struct Observers {
    readers: Vec<Reader>,
    /// Subjects that any of them reads.
    subjects: u8,
}

impl Observers {
    /// Observers that write the tables of a run.
    pub fn new(setup: &Setup) -> Observers {
        let wanted = RecordedTable::ALL.iter().filter(|t| setup.record.contains(t));
        let captures = setup.capture.then(|| Observer::Captures(Box::new(Captures::new(setup))));
        let mut all = Observers::default();
        wanted.map(|&t| Observer::new(t, setup)).chain(captures).for_each(|observer| all.add(observer));
        all
    }

    fn add(&mut self, observer: Observer) {
        let reader = Reader::new(observer);
        self.subjects |= reader.subjects;
        self.readers.push(reader);
    }

    /// Starts a trace of frames and arrivals, for tests.
    pub fn trace(&mut self) {
        self.add(Observer::Trace(Box::default()));
    }

    /// Ends the trace and returns it.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        let i = self.readers.iter().position(|r| matches!(r.observer, Observer::Trace(_)))?;
        if let Observer::Trace(trace) = self.readers.remove(i).observer { Some(trace) } else { None }
    }

    /// The captures, if any are written.
    pub fn captures(&mut self) -> Option<&mut Captures> {
        let mut observers = self.readers.iter_mut().map(|r| &mut r.observer);
        observers.find_map(|o| if let Observer::Captures(captures) = o { Some(&mut **captures) } else { None })
    }

    /// Passes a note to the observers that read its subject.
    #[inline]
    pub fn on(&mut self, at: Time, note: &Note<'_>) {
        let subject = bit(note.subject());
        if self.subjects & subject != 0 {
            self.pass(subject, at, note);
        }
    }

    #[cold]
    fn pass(&mut self, subject: u8, at: Time, note: &Note<'_>) {
        for reader in &mut self.readers {
            if reader.subjects & subject != 0 {
                reader.observer.on(at, note);
            }
        }
    }

    /// Memory of the rows that were not read \[B\].
    pub fn memory(&self) -> usize {
        let observers = self.readers.iter().map(|r| &r.observer);
        let captures = observers.clone().map(|o| if let Observer::Captures(c) = o { c.memory() } else { 0 });
        observers.filter_map(Observer::kept).map(Rows::memory).chain(captures).sum()
    }

    /// Tables with the rows that were not read.
    pub fn tables(&mut self) -> impl Iterator<Item = (RecordedTable, &mut dyn Rows)> {
        self.readers.iter_mut().filter_map(|r| r.observer.rows())
    }
}
