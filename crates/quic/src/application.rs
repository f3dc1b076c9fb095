//! Traffic between the two ends of a connection.
//!
//! A client asks for bytes on a bidirectional stream, in 8 B, or sends bytes on unidirectional ones. A server answers
//! and reads.

use bytes::Bytes;
use chappe_core::unit::{Span, Time};
use chappe_scenario::schema::quic;
use quinn_proto::{Connection, Dir, Event, StreamEvent, StreamId, VarInt, WriteError};
use std::collections::BTreeMap;

/// Work of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Sends without end.
    Upload {
        /// Number of streams.
        streams: u32,
    },
    /// Asks the server for data without end.
    Download {
        /// Number of streams.
        streams: u32,
    },
    /// Asks the server for some bytes, and again after each answer, on a new stream.
    Requests {
        /// Size of an answer \[B\].
        bytes: u64,
        /// Time from an answer to the next request.
        pause: Span,
    },
}

impl Traffic {
    /// Work that the settings of a flow describe.
    pub fn of(settings: &quic::Config) -> Traffic {
        let streams = settings.streams;
        match settings.traffic {
            quic::Traffic::Upload => Traffic::Upload { streams },
            quic::Traffic::Download => Traffic::Download { streams },
            quic::Traffic::Requests => Traffic::Requests { bytes: settings.response.0.into(), pause: settings.think },
        }
    }
}

/// The bytes that are sent.
const ZEROS: Bytes = Bytes::from_static(&[0; 1 << 16]);

/// A stream that is read.
#[derive(Default)]
struct Reading {
    /// First bytes of a request.
    request: Vec<u8>,
}

/// The application at one end.
pub(crate) struct Application {
    /// Work of a client; `None`: a server.
    traffic: Option<Traffic>,
    /// Bytes to be sent by stream.
    writing: BTreeMap<StreamId, u64>,
    reading: BTreeMap<StreamId, Reading>,
    /// Time of the next request.
    ask_at: Option<Time>,
    /// Time of the present request.
    asked: Time,
    pub(crate) bytes_read: u64,
    /// Streams that it has opened.
    pub(crate) streams: u64,
    /// Times from requests to the ends of their answers.
    pub(crate) completions: Vec<Span>,
    pub(crate) connected_at: Option<Time>,
    /// Reason why the connection is lost.
    pub(crate) lost: Option<String>,
}

impl Application {
    pub(crate) fn new(traffic: Option<Traffic>) -> Application {
        Application {
            traffic,
            writing: BTreeMap::new(),
            reading: BTreeMap::new(),
            ask_at: None,
            asked: Time::ZERO,
            bytes_read: 0,
            streams: 0,
            completions: Vec::new(),
            connected_at: None,
            lost: None,
        }
    }

    /// Time at which it acts without an event.
    pub(crate) fn deadline(&self) -> Time {
        self.ask_at.unwrap_or(Time::NEVER)
    }

    /// Acts at its deadline.
    pub(crate) fn on_timer(&mut self, connection: &mut Connection, now: Time) {
        if self.deadline() <= now {
            self.ask_at = None;
            if let Some(Traffic::Requests { bytes, .. }) = self.traffic {
                self.asked = now;
                self.ask(connection, bytes);
            }
        }
    }

    /// Interprets an event of the connection.
    pub(crate) fn on_event(&mut self, connection: &mut Connection, event: Event, now: Time) {
        match event {
            Event::Connected => {
                self.connected_at = Some(now);
                self.begin(connection, now);
            }
            Event::ConnectionLost { reason } => self.lost = Some(reason.to_string()),
            Event::Stream(StreamEvent::Opened { dir }) => {
                while let Some(stream) = connection.streams().accept(dir) {
                    self.reading.insert(stream, Reading::default());
                    self.read(connection, stream, now);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(connection, id, now),
            Event::Stream(StreamEvent::Writable { id }) => self.write(connection, id),
            _ => {}
        }
    }

    fn begin(&mut self, connection: &mut Connection, now: Time) {
        match self.traffic {
            Some(Traffic::Upload { streams }) => {
                for _ in 0..streams {
                    if let Some(stream) = connection.streams().open(Dir::Uni) {
                        self.streams += 1;
                        self.writing.insert(stream, u64::MAX);
                        self.write(connection, stream);
                    }
                }
            }
            Some(Traffic::Download { streams }) => (0..streams).for_each(|_| self.ask(connection, u64::MAX)),
            Some(Traffic::Requests { .. }) => {
                self.ask_at = Some(now);
                self.on_timer(connection, now);
            }
            None => {}
        }
    }

    /// Asks for bytes on a new stream.
    fn ask(&mut self, connection: &mut Connection, bytes: u64) {
        if let Some(stream) = connection.streams().open(Dir::Bi) {
            self.streams += 1;
            let mut request = connection.send_stream(stream);
            // The stream is new, so that it takes 8 B and its end.
            let _ = request.write(&bytes.to_be_bytes());
            let _ = request.finish();
            self.reading.insert(stream, Reading::default());
        }
    }

    /// Writes as much as a stream takes.
    fn write(&mut self, connection: &mut Connection, id: StreamId) {
        let Some(left) = self.writing.get_mut(&id) else { return };
        let mut stream = connection.send_stream(id);
        while *left > 0 {
            let size = ZEROS.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
            match stream.write_chunks(&mut [ZEROS.slice(..size)]) {
                Ok(written) => *left -= written.bytes as u64,
                Err(WriteError::Blocked) => return,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => break,
            }
        }
        let _ = stream.finish();
        self.writing.remove(&id);
    }

    /// Reads what a stream has.
    fn read(&mut self, connection: &mut Connection, id: StreamId, now: Time) {
        let Some(reading) = self.reading.get_mut(&id) else { return };
        let answers = self.traffic.is_none() && id.dir() == Dir::Bi;
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let is_over = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) if answers => reading.request.extend_from_slice(&chunk.bytes),
                Ok(Some(chunk)) => self.bytes_read += chunk.bytes.len() as u64,
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        // The peer is polled for what it has to transmit in any case.
        let _ = chunks.finalize();
        if !is_over {
            return;
        }
        let request = self.reading.remove(&id).map(|reading| reading.request).unwrap_or_default();
        if let (true, Some(bytes)) = (answers, request.first_chunk()) {
            self.writing.insert(id, u64::from_be_bytes(*bytes));
            self.write(connection, id);
        } else if let Some(Traffic::Requests { pause, .. }) = self.traffic {
            self.completions.push(now.since(self.asked));
            self.ask_at = Some(now + pause);
        }
    }
}

/// Streams that a peer may open at the same time: those of one who uploads or asks on many.
pub(crate) fn streams_of(traffic: Traffic) -> VarInt {
    match traffic {
        Traffic::Upload { streams } | Traffic::Download { streams } => streams.max(100).into(),
        Traffic::Requests { .. } => VarInt::from_u32(100),
    }
}
