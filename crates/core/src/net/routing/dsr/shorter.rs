//! Shorter routes that were reported (RFC 4728, section 4.4, "Gratuitous Route Reply Table").

use super::Config;
use super::config::GratReplyKey;
use crate::packet::NodeId;
use crate::unit::Time;

/// A reply, and the end of its hold-off.
#[derive(Clone, Debug)]
struct Entry {
    key: Vec<NodeId>,
    until: Time,
}

/// Gratuitous replies that were sent. The oldest is replaced.
#[derive(Clone, Debug, Default)]
pub(super) struct GratuitousReplies {
    entries: Vec<Entry>,
    next: usize,
    key: Vec<NodeId>,
}

impl GratuitousReplies {
    /// Returns true if a shorter route may be reported to the source of a packet with this route, overheard from the
    /// node at a position on it; records the report.
    pub(super) fn may(&mut self, route: &[NodeId], at: usize, cfg: &Config, now: Time) -> bool {
        self.key.clear();
        match cfg.grat_reply_key {
            GratReplyKey::Sender => self.key.extend([route[0], route[at]]),
            GratReplyKey::Path => self.key.extend_from_slice(route),
        }
        if self.entries.iter().any(|e| e.key == self.key && e.until > now) {
            return false;
        }
        if self.entries.is_empty() {
            let entry = || Entry { key: Vec::with_capacity(16), until: Time::ZERO };
            self.entries = (0..cfg.grat_reply_entries).map(|_| entry()).collect();
        }
        let (here, after) = (self.next, (self.next + 1) % self.entries.len());
        self.entries[here].key.clear();
        self.entries[here].key.extend_from_slice(&self.key);
        self.entries[if cfg.ns2.grat_reply_late { after } else { here }].until = now + cfg.grat_reply_holdoff;
        self.next = after;
        true
    }
}
