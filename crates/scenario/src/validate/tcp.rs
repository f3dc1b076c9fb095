//! TCP: validation of the settings of a flow, and warnings about the buffer of its receiver.

use super::Checker;
use chappe_core::setting::{Code, join};
use chappe_core::tcp;
use chappe_core::tcp::config::control::Control;
use chappe_core::tcp::config::pairs;
use chappe_core::unit::Bytes;

impl Checker<'_> {
    pub(super) fn tcp(&mut self, flow: &str, t: &tcp::Config) {
        self.segment_fits(flow, t);
        if t.rto.max < t.rto.min {
            let message = format!("the largest timeout {} is below the smallest, {}", t.rto.max, t.rto.min);
            self.error(&self.owner(flow, "tcp.rto.max"), message, "`tcp.rto.max` must be at least `tcp.rto.min`");
        }
        let v = &t.vegas;
        if v.beta < v.alpha {
            let path = self.owner(flow, "tcp.vegas.beta");
            self.error(&path, format!("beta = {} is below alpha = {}", v.beta, v.alpha), "it must be at least alpha");
        }
        self.parts_of_tcp(flow, t);
        self.driver(flow, t);
        self.receiver(flow, t);
    }

    /// Checks that the congestion control works with the loss recovery.
    fn parts_of_tcp(&mut self, flow: &str, t: &tcp::Config) {
        let (method, rule) = (t.method(), t.rule());
        let Some(reason) = pairs::conflict(method, rule) else { return };
        // Shows the mistake at the setting that lies over the others.
        let layers = [flow, if flow.ends_with("split") { "split" } else { "" }, ""];
        let settings = ["tcp.congestion_control", "tcp.loss_recovery", "tcp.variant"];
        let places = layers.iter().flat_map(|of| settings.iter().map(move |name| join(of, name)));
        let path = places.into_iter().find(|place| self.is_written(place)).unwrap_or_default();
        let (rule, method) = (rule.word(), method.word());
        let words: Vec<String> =
            pairs::recoveries_of(t.rule()).iter().map(|method| format!("\"{}\"", method.word())).collect();
        let message =
            format!("the congestion control `{rule}` does not work with the loss recovery `{method}`: {reason}");
        let help = format!(
            "`{rule}` works with `tcp.loss_recovery` = {}; the word \"variant\" takes a part from `tcp.variant`",
            words.join(", ")
        );
        self.error(&path, message, &help);
    }

    /// Warns of a window that only a program decides, which drives the run.
    fn driver(&mut self, flow: &str, t: &tcp::Config) {
        if t.congestion_control.as_ref().is_some_and(Control::is_nameless) {
            let path = self.owner(flow, "tcp.congestion_control");
            let message =
                "`external` leaves the window to a program; in a run without a program the window stays as it begins: \
                 name a rule, `module:Class`, or drive the run with `chappe.start`"
                    .to_owned();
            let help = "a rule is a class in Python; a program calls `decide`, in Rust also `Controllers::drive`";
            self.warn_once(Code::NoDriver, &path, message, help);
        }
    }

    /// Warns of segments that take less memory than their payload, and of reads larger than the window can be.
    pub(super) fn receiver(&mut self, flow: &str, t: &tcp::Config) {
        let (buffer, reader) = (&t.receive_buffer, &t.reader);
        let memory = buffer.segment_memory.max(t.mss);
        if buffer.enabled && memory > buffer.segment_memory {
            let path = self.owner(flow, "tcp.receive_buffer.segment_memory");
            let message = format!(
                "a segment of {} has only {} of buffer memory: it counts as {memory}",
                t.mss, buffer.segment_memory
            );
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
}
