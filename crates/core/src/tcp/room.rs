//! The buffer of a receiver together with the application that reads it.

use super::config::Config;
use super::reader::Reader;
use super::receive_buffer::ReceiveBuffer;
use crate::unit::Time;

/// Buffer of a receiver, and the application that reads it.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) buffer: ReceiveBuffer,
    pub(super) reader: Reader,
    /// Time of the next read; [`Time::NEVER`]: all data are read.
    pub(super) reads_at: Time,
}

impl Room {
    /// The buffer of a receiver with these settings; `None`: neither buffer nor application changes the window.
    pub(super) fn of(cfg: &Config) -> Option<Box<Room>> {
        let limits = cfg.receive_buffer.enabled || cfg.reader.limits();
        limits.then(|| Box::new(Room { buffer: cfg.buffer(), reader: Reader::new(&cfg.reader), reads_at: Time::NEVER }))
    }
}
