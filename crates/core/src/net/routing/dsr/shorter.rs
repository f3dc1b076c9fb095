//! Shorter ways that were told (RFC 4728, section 4.4, "Gratuitous Route Reply Table").

use super::Config;
use super::config::GratReplyKey;
use crate::packet::NodeId;
use crate::unit::Time;

/// What was told of, and until when it is not told again.
#[derive(Clone, Debug)]
struct Entry {
    key: Vec<NodeId>,
    until: Time,
}

/// Replies that were sent without a request. The oldest makes room.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    entries: Vec<Entry>,
    next: usize,
    key: Vec<NodeId>,
}

impl Told {
    /// Whether a shorter way may be told to the source of a packet with this route, heard from the node at a place of it;
    /// from now on it was.
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
        self.entries[if cfg.bug_grat_reply_late { after } else { here }].until = now + cfg.grat_reply_holdoff;
        self.next = after;
        true
    }
}
