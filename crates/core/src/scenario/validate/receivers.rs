//! Warnings about the buffer of a receiver and the application that reads it.

use super::Checker;
use crate::setting::Code;
use crate::tcp;
use crate::unit::Bytes;

impl Checker<'_> {
    /// Warns of segments that take less memory than their payload, and of reads larger than the window can be.
    pub(in crate::scenario) fn receiver(&mut self, flow: &str, t: &tcp::Config) {
        let (buffer, reader) = (&t.receive_buffer, &t.reader);
        let memory = buffer.segment_memory.max(t.mss);
        if buffer.enabled && memory > buffer.segment_memory {
            let path = self.owner(flow, "tcp.receive_buffer.segment_memory");
            let message =
                format!("a segment of {} takes {} of the buffer: it counts as {memory}", t.mss, buffer.segment_memory);
            let help = "set `tcp.receive_buffer.segment_memory` to more than `tcp.mss`: \
                        it is the memory of the payload and of the bookkeeping";
            self.warn_once(Code::SmallMemory, &path, message, help);
        }
        let Some(rate) = reader.rate else { return };
        let segments = u64::from(t.receive_window) * u64::from(t.mss.0);
        let size = u64::from(buffer.initial.max(buffer.max).0).max(2 * u64::from(memory.0));
        let payload = if buffer.enabled { size * u64::from(t.mss.0) / u64::from(memory.0) } else { u64::MAX };
        let (window, limit) =
            if payload < segments { (payload, "tcp.receive_buffer.max") } else { (segments, "tcp.receive_window") };
        if u64::from(reader.read_size.0) > window {
            let window = Bytes(window as u32);
            let path = self.owner(flow, "tcp.reader.read_size");
            let message = format!(
                "a read of {} is larger than the receive window, at most {window}: the application reads below {rate}",
                reader.read_size
            );
            let help = format!("set `tcp.reader.read_size` to at most {window}, or raise `{limit}`");
            self.warn_once(Code::LargeReads, &path, message, &help);
        }
    }

    /// Adds a warning, if another flow with the same settings did not cause it.
    pub(in crate::scenario) fn warn_once(&mut self, code: Code, path: &str, message: String, help: &str) {
        if !self.findings.warnings.problems.iter().any(|w| w.path == path && w.message == message) {
            self.warn(code, path, message, help);
        }
    }
}
