//! Record of what entered a run, and its repetition in virtual time.

use chappe_core::packet::{Ecn, FlowId, NodeId};
use chappe_core::run::End;
use chappe_core::run::external::Injection;
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::Time;
use std::collections::HashMap;
use std::fmt::{self, Write as _};

/// First line of a record.
const MARK: &str = "chappe-record 1";
/// Third line of a record, behind the nodes.
const COLUMNS: &str = "at_ns,src,dst,bytes,ecn,dscp,tag";
/// ECN fields, with their words.
const ECN: [(Ecn, &str); 3] = [(Ecn::NotEct, "not_ect"), (Ecn::Ect, "ect"), (Ecn::Ce, "ce")];

/// A datagram that entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Instant at which it was injected.
    pub at: Time,
    /// Node of its sender.
    pub from: NodeId,
    /// Node of its receiver.
    pub to: NodeId,
    /// The datagram.
    pub datagram: Injection,
}

/// Datagrams that entered a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Nodes between which there are external flows, in both directions.
    pub nodes: Vec<u32>,
    /// Datagrams in the order in which they entered.
    pub entries: Vec<Entry>,
    /// End of the run; `None`: the run was killed.
    pub end: Option<Time>,
}

/// Mistake in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Number of the line, from 1 on.
    pub line: usize,
    /// The expected text.
    pub expected: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the record: expected {}", self.line, self.expected)
    }
}

impl std::error::Error for Invalid {}

/// Begin of a record of these nodes.
pub fn begin(nodes: &[u32]) -> String {
    let nodes: Vec<_> = nodes.iter().map(u32::to_string).collect();
    format!("{MARK}\nnodes,{}\n{COLUMNS}\n", nodes.join(","))
}

/// Line of a datagram.
pub fn write(text: &mut String, entry: &Entry) {
    let Injection { bytes, ecn, dscp, tag } = entry.datagram;
    let word = ECN.iter().find(|e| e.0 == ecn).map_or("", |e| e.1);
    let (at, from, to, dscp) = (entry.at.0, entry.from.0, entry.to.0, dscp.unwrap_or(0));
    let _ = writeln!(text, "{at},{from},{to},{bytes},{word},{dscp},{tag}");
}

/// End of a record.
pub fn end(at: Time) -> String {
    format!("end_ns,{}\n", at.0)
}

fn entry(line: &str) -> Option<Entry> {
    let mut fields = line.split(',');
    let mut number = || fields.next()?.parse::<u64>().ok();
    let (at, from, to) = (Time(number()?), number()?.try_into().ok()?, number()?.try_into().ok()?);
    let bytes = number()?.try_into().ok()?;
    let word = fields.next()?;
    let ecn = ECN.iter().find(|e| e.1 == word)?.0;
    let dscp: u8 = fields.next()?.parse().ok().filter(|dscp| *dscp <= 63)?;
    let tag = fields.next()?.parse().ok()?;
    let datagram = Injection { bytes, ecn, dscp: Some(dscp), tag };
    fields.next().is_none().then_some(Entry { at, from: NodeId(from), to: NodeId(to), datagram })
}

impl Record {
    /// Reads the text of a record. A last line that was cut off is left out.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(text: &str) -> Result<Record, Invalid> {
        let complete = text.rfind('\n').map_or("", |at| &text[..at]);
        let mut lines = complete.split('\n').zip(1..);
        let mut head = || lines.next().map_or("", |(line, _)| line);
        let wrong = |line, expected: &str| Invalid { line, expected: expected.into() };
        if head() != MARK {
            return Err(wrong(1, &format!("`{MARK}`, the begin of a record of `chappe live`")));
        }
        let nodes = head()
            .strip_prefix("nodes,")
            .and_then(|list| list.split(',').map(|n| n.parse().ok()).collect::<Option<Vec<u32>>>());
        let nodes = nodes.ok_or_else(|| wrong(2, "`nodes,` and the numbers of nodes"))?;
        if head() != COLUMNS {
            return Err(wrong(3, &format!("`{COLUMNS}`")));
        }
        let mut record = Record { nodes, ..Record::default() };
        let mut last = Time::ZERO;
        for (line, number) in lines {
            if record.end.is_some() {
                return Err(wrong(number, "nothing behind the end"));
            }
            if let Some(at) = line.strip_prefix("end_ns,") {
                let at = at.parse().ok().map(Time).filter(|at| *at >= last);
                record.end = Some(at.ok_or_else(|| wrong(number, "an end that follows all datagrams"))?);
                continue;
            }
            let read = entry(line).ok_or_else(|| wrong(number, &format!("`{COLUMNS}`")))?;
            let known = |node: NodeId| record.nodes.contains(&node.0);
            if read.at < last || !known(read.from) || !known(read.to) || read.from == read.to {
                return Err(wrong(number, "a datagram between two of the nodes, not before the one above it"));
            }
            last = read.at;
            record.entries.push(read);
        }
        Ok(record)
    }
}

/// A record that is repeated in a run.
#[derive(Clone, Debug)]
pub struct Replay {
    entries: Vec<(Time, FlowId, Injection)>,
    next: usize,
    end: Time,
}

impl Replay {
    /// Repetition over external flows, each with source and destination. Datagrams between nodes without a flow are
    /// left out.
    pub fn new(record: &Record, flows: &[(u32, u32, u32)]) -> Replay {
        let of_pair: HashMap<_, _> = flows.iter().rev().map(|(flow, from, to)| ((*from, *to), FlowId(*flow))).collect();
        let place = |e: &Entry| Some((e.at, *of_pair.get(&(e.from.0, e.to.0))?, e.datagram));
        let entries = record.entries.iter().filter_map(place).collect();
        Replay { entries, next: 0, end: record.end.unwrap_or(Time::NEVER) }
    }

    /// Advances a run by at most this number of steps, in which the datagrams enter; `None` while it has not ended. A
    /// datagram that the run does not accept, because its settings are others, is left out.
    pub fn advance(&mut self, sim: &mut Sim, steps: u64) -> Option<End> {
        let at = self.entries.get(self.next).map_or(self.end, |entry| entry.0);
        match sim.advance_until(at, steps)? {
            Halt::End(end) => return Some(end),
            Halt::Events => sim.events().for_each(drop),
            Halt::Reached => {
                if self.next == self.entries.len() {
                    return Some(sim.cancel());
                }
                while let Some((_, flow, datagram)) = self.entries.get(self.next).filter(|e| e.0 <= sim.now()) {
                    self.next += 1;
                    let _ = sim.inject(*flow, *datagram);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chappe_core::run::Setup;
    use chappe_scenario::{NoFiles, Scenario};

    const CHAIN: &str = r#"
        run.stop = "10 s"
        topology.hops = 3
        flow = [{ src = [0, 3], dst = [0, 3], app = "external" }, { src = 1, dst = 2 }]
    "#;
    const FLOWS: [(u32, u32, u32); 2] = [(0, 0, 3), (1, 3, 0)];

    fn setup() -> Setup {
        Scenario::from_toml("chain.toml", CHAIN, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).setup(Some(1))
    }

    /// Deliveries and losses of a run whose driver answers each datagram, and a record of the run up to 5 s.
    fn driven() -> (String, String) {
        let (mut sim, mut seen) = (Sim::new(&setup()), String::new());
        let mut text = begin(&[0, 3]);
        let mut send = |sim: &mut Sim, flow: usize, tag| {
            let ecn = [Ecn::NotEct, Ecn::Ect, Ecn::Ce][tag as usize % 3];
            let datagram = Injection { bytes: 100 + tag as u32 % 1000, ecn, dscp: Some(tag as u8 % 64), tag };
            let (_, from, to) = FLOWS[flow];
            sim.inject(FlowId(flow as u32), datagram).unwrap_or_else(|e| panic!("{e}"));
            write(&mut text, &Entry { at: sim.now(), from: NodeId(from), to: NodeId(to), datagram });
        };
        let mut tag = 0;
        for _ in 0..20 {
            send(&mut sim, 0, tag);
            tag += 1;
        }
        while sim.until(Time(5_000_000_000)) == Halt::Events {
            for event in sim.events().collect::<Vec<_>>() {
                seen += &format!("{:?} {event:?}\n", sim.now());
                if let chappe_core::run::external::Event::Arrived { flow, copy: false, .. } = event {
                    send(&mut sim, 1 - flow.index(), tag);
                    tag += 1;
                }
            }
        }
        text += &end(sim.now());
        sim.cancel();
        seen += &format!("{:?}", sim.recorder().flows());
        (seen, text)
    }

    #[test]
    fn a_repetition_has_the_same_deliveries_at_the_same_instants() {
        let (seen, text) = driven();
        let record = Record::read(&text).unwrap_or_else(|e| panic!("{e}"));
        assert!(record.entries.len() > 100 && record.end == Some(Time(5_000_000_000)));
        for steps in [1, 7, 1 << 20] {
            let (mut sim, mut replay) = (Sim::new(&setup()), Replay::new(&record, &FLOWS));
            let mut again = String::new();
            // `advance` discards events: they are read from a copy of its loop.
            while sim.end().is_none() {
                let at = replay.entries.get(replay.next).map_or(replay.end, |entry| entry.0);
                if sim.advance_until(at, 1) == Some(Halt::Events) {
                    let now = sim.now();
                    again.extend(sim.events().map(|event| format!("{now:?} {event:?}\n")));
                } else if sim.now() >= at {
                    replay.advance(&mut sim, steps);
                }
            }
            again += &format!("{:?}", sim.recorder().flows());
            assert!(again == seen);
        }
        let (mut sim, mut replay) = (Sim::new(&setup()), Replay::new(&record, &FLOWS));
        while replay.advance(&mut sim, 100).is_none() {}
        assert!(seen.ends_with(&format!("{:?}", sim.recorder().flows())));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let (_, text) = driven();
        assert!(Record::read(&text[..text.len() / 2]).is_ok_and(|record| record.end.is_none()));
        let begin = begin(&[0, 3]);
        let wrong = |text: &str| Record::read(text).map_err(|e| e.to_string()).expect_err(text);
        let line = |lines: &str| wrong(&format!("{begin}{lines}\n"));
        assert!(wrong("").starts_with("line 1"));
        assert!(wrong("time_s,node\n").starts_with("line 1 of the record: expected `chappe-record 1`"));
        assert!(wrong("chappe-record 1\nnodes,0,x\n\n").starts_with("line 2"));
        assert!(wrong("chappe-record 1\nnodes,0\n\n\n").starts_with("line 3"));
        for entry in
            ["5,0,3,10,ect,0", "5,0,3,10,ect,64,1", "5,0,3,10,most,0,1", "5,0,3,10,ect,0,1,2", "-5,0,3,10,ect,0,1"]
        {
            assert!(line(entry).starts_with("line 4 of the record: expected `at_ns,src,"), "{entry}");
        }
        assert!(line("5,0,1,10,ect,0,1").contains("two of the nodes"));
        assert!(line("5,0,3,10,ect,0,1\n4,0,3,10,ect,0,2").starts_with("line 5"));
        assert!(line("5,0,3,10,ect,0,1\nend_ns,4").contains("an end"));
        assert!(line("end_ns,4\n5,0,3,10,ect,0,1").contains("nothing behind"));
    }
}
