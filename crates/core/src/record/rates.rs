//! Frames and packets sent at each rate, for stations with rate control.

use super::table::Table;
use crate::packet::{Kind, RadioId};
use crate::wlan::Mode;
use crate::wlan::rate::Counts;

/// Sender, receiver, kind of packet, rate, and counters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    from: RadioId,
    to: RadioId,
    kind: Kind,
    mode: Mode,
    counts: Counts,
}

impl Row {
    /// Unique key by which rows are sorted.
    fn key(&self) -> (RadioId, RadioId, u8, Mode) {
        (self.from, self.to, self.kind as u8, self.mode)
    }
}

/// Non-zero counters, sorted by radio, neighbor, kind and rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates(Vec<Row>);

impl Rates {
    /// Collects the counters of all stations.
    pub fn new(counts: impl Iterator<Item = (RadioId, RadioId, Kind, Mode, Counts)>) -> Rates {
        let row = |(from, to, kind, mode, counts)| Row { from, to, kind, mode, counts };
        let mut rows: Vec<Row> = counts.filter(|c| c.4 != Counts::default()).map(row).collect();
        rows.sort_unstable_by_key(Row::key);
        Rates(rows)
    }

    /// Differences from counts taken earlier.
    #[must_use]
    pub fn since(&self, earlier: &Rates) -> Rates {
        let less = |row: &Row| match earlier.0.binary_search_by_key(&row.key(), Row::key) {
            Ok(i) => Row { counts: row.counts.since(&earlier.0[i].counts), ..*row },
            Err(_) => *row,
        };
        Rates(self.0.iter().map(less).filter(|row| row.counts != Counts::default()).collect())
    }

    /// Table with one row for each; `node` and `channel` give those of a radio.
    pub fn table(&self, node: impl Fn(RadioId) -> u64, channel: impl Fn(RadioId) -> u64) -> Table {
        let rows = &self.0;
        let mut t = Table::default();
        t.int("node", rows.iter().map(|r| node(r.from)));
        t.int("channel", rows.iter().map(|r| channel(r.from)));
        t.int("next_hop", rows.iter().map(|r| node(r.to)));
        t.text("packet_class", rows.iter().map(|r| r.kind.name()));
        t.int("rate_bps", rows.iter().map(|r| r.mode.rate().0));
        t.counters(Counts::FIELDS, rows.iter().map(|r| r.counts.values()));
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts {
        packets: 3,
        packets_acked: 2,
        packets_given_up: 1,
        data_frames_sent: 5,
        data_frames_failed: 3,
        rts_frames_failed: 0,
    };

    fn of(rows: &[(u32, Mode, Counts)]) -> Rates {
        Rates::new(rows.iter().map(|&(to, mode, counts)| (RadioId(1), RadioId(to), Kind::Data, mode, counts)))
    }

    #[test]
    fn only_new_or_increased_counters_are_reported() {
        let before = of(&[(2, Mode(3), COUNTS), (0, Mode(3), COUNTS)]);
        let mut more = COUNTS;
        more.add(&Counts { packets: 1, data_frames_sent: 2, ..Counts::default() });
        let after =
            of(&[(2, Mode(3), more), (0, Mode(3), COUNTS), (0, Mode(1), COUNTS), (4, Mode(0), Counts::default())]);
        let found = after.since(&before).table(|r| u64::from(r.0), |_| 7);
        assert_eq!(found.counts("next_hop"), Some(&[0, 2][..]));
        assert_eq!(found.counts("channel"), Some(&[7, 7][..]));
        assert_eq!(found.counts("rate_bps"), Some(&[2_000_000, 11_000_000][..]));
        assert_eq!(found.counts("packets"), Some(&[3, 1][..]));
        assert_eq!(found.counts("data_frames_sent"), Some(&[5, 2][..]));
        assert_eq!(found.counts("packets_given_up"), Some(&[1, 0][..]));
    }
}
