//! Senders of a kernel whose segments wait in the queue of their own node for longer than the timers, which send
//! nothing again that is still there (`crates/core/tests/kernel/own_queue.py`), repeated packet for packet.

use super::{Row, compare, settings, timelines};
use chappe_core::packet::{AckSegment, DataSegment, Ecn, FlowId};
use chappe_core::tcp::{Out, Receiver, Sender, SmallQueue};
use chappe_core::unit::{Span, Time};
use std::collections::VecDeque;

const ANSWERS: &str = include_str!("../../../data/linux_own_queue.txt");

/// Each way behind the queue.
const DELAY: Span = Span::ms(10);

/// The bucket of the queue [B].
const BUCKET: f64 = 1600.0;

struct Answer {
    name: &'static str,
    control: &'static str,
    /// Rate of the queue [B/ns].
    rate: f64,
    segments: u32,
    /// Time of the SYN on the clock of the timers.
    begin: Time,
    rows: Vec<Row>,
}

/// Answers that the kernel has repeated.
fn answers() -> Vec<Answer> {
    let answer = |(words, rows): (Vec<&'static str>, _)| {
        let number = |i: usize| words[i].parse::<f64>().expect("a number");
        let begin = Time(number(4) as u64 * 1000);
        Answer { name: words[0], control: words[1], rate: number(2) / 8e9, segments: number(3) as u32, begin, rows }
    };
    timelines(ANSWERS).into_iter().map(answer).collect()
}

/// The queue: a token bucket, which a packet leaves when there are tokens for it.
struct Queue {
    rate: f64,
    tokens: (f64, Time),
    waiting: VecDeque<DataSegment>,
}

impl Queue {
    fn tokens(&self, now: Time) -> f64 {
        (self.tokens.0 + now.since(self.tokens.1).0 as f64 * self.rate).min(BUCKET)
    }

    /// Time at which the first packet leaves. All packets of data have 1500 B.
    fn next(&self) -> Time {
        let lacks = (1500.0 - self.tokens.0) / self.rate;
        if self.waiting.is_empty() { Time::NEVER } else { self.tokens.1 + Span(lacks.max(0.0).ceil() as u64) }
    }

    fn put(&mut self, segment: DataSegment, now: Time) {
        self.tokens = (self.tokens(now), now);
        self.waiting.push_back(segment);
    }

    fn take(&mut self, now: Time) -> Option<DataSegment> {
        self.tokens = (self.tokens(now) - 1500.0, now);
        self.waiting.pop_front()
    }
}

impl Answer {
    /// Packets behind the queue, by the sender and the receiver of the preset.
    fn ours(&self) -> Vec<Row> {
        let mut cfg = settings(self.control);
        cfg.small_queue = Some(SmallQueue::Auto);
        let (mut sender, mut receiver) = (Sender::at_node(&cfg, Span::ZERO, FlowId(0)), Receiver::new(&cfg));
        let mut now = self.begin;
        let mut queue = Queue { rate: self.rate, tokens: (BUCKET - 60.0, now), waiting: VecDeque::new() };
        let mut forward: VecDeque<(Time, DataSegment)> = VecDeque::new();
        let mut reverse: VecDeque<(Time, AckSegment)> = VecDeque::new();
        let (mut rows, mut out, mut data) = (vec![], vec![], 0);
        let lost: Vec<bool> = self.rows.iter().filter(|r| !r.what.starts_with('a')).map(|r| r.lost).collect();
        sender.write(Some(self.segments), now);
        while !sender.is_done() || sender.written().is_none() {
            let said: Vec<Out> = sender.drain().collect();
            for said in said {
                match said {
                    Out::Segment(s) if s.syn => {
                        sender.on_left(s.seq, false, now);
                        // With what kernel and emulator take to wake up, as the first segment shows.
                        let late = Span((self.rows[0].ms * 1e6) as u64) - DELAY * 2;
                        forward.push_back((now + DELAY + late, s));
                    }
                    Out::Segment(s) => queue.put(s, now),
                    _ => {}
                }
            }
            for said in out.drain(..) {
                let Out::Ack(ack) = said else { continue };
                if ack.next > 1 || !ack.sack.is_empty() {
                    let what = format!("a{}", ack.next - 1);
                    rows.push(Row { ms: now.since(self.begin).0 as f64 / 1e6, what, lost: false, window: 0 });
                }
                reverse.push_back((now + DELAY, ack));
            }
            let [there, back] =
                [forward.front().map(|e| e.0), reverse.front().map(|e| e.0)].map(|t| t.unwrap_or(Time::NEVER));
            now = [queue.next(), there, back, sender.deadline(), receiver.deadline()].into_iter().min().expect("five");
            assert!(now < self.begin + Span::secs(60), "{}: it does not end", self.name);
            if sender.deadline() <= now {
                sender.on_deadline(now);
            } else if queue.next() <= now {
                let segment = queue.take(now).expect("a segment");
                let gone = lost.get(data).copied().unwrap_or(false);
                data += 1;
                let what = segment.seq.to_string();
                rows.push(Row { ms: now.since(self.begin).0 as f64 / 1e6, what, lost: gone, window: 0 });
                sender.on_left(segment.seq, false, now);
                if !gone {
                    forward.push_back((now + DELAY, segment));
                }
            } else if there <= now {
                let (_, segment) = forward.pop_front().expect("a segment");
                receiver.on_segment(&segment, 1, Ecn::NotEct, now, &mut out);
            } else if back <= now {
                let (_, ack) = reverse.pop_front().expect("an acknowledgement");
                if ack.next == 1 {
                    // A kernel acknowledges the SYN-ACK with a header of 52 B.
                    queue.tokens = (queue.tokens(now) - 52.0, now);
                }
                sender.on_ack(&ack, 1, now);
            } else {
                receiver.on_deadline(now, &mut out);
            }
        }
        rows
    }
}

/// Reason for which an answer is not repeated.
fn cause(name: &str) -> Option<&'static str> {
    let (_, question) = name.split_once('-').expect("a control");
    match question {
        // The acknowledgement of an original comes when its retransmission has been in the queue for the smallest
        // round-trip time, so that microseconds decide if it is taken for that of the retransmission.
        "70-8" => Some("a tie"),
        // A TUN device holds a packet after it was told to have left. What is sent again in that moment is a copy of
        // its own in the kernel, which it does not find in its queue, so that it is sent a third time. Other devices
        // have freed the packet by then.
        "9.6-12-3" | "9.6-12-2-4" | "20-12-3" | "20-12-2-4" | "40-12-3" => Some("a third copy"),
        _ => None,
    }
}

#[test]
fn senders_do_not_retransmit_what_waits_in_their_node() {
    let (mut wrong, mut repeats, mut agree) = (vec![], 0, 0);
    let all = answers();
    for answer in &all {
        let ours = answer.ours();
        let [data, acks] = [true, false].map(|forward| compare(&ours, &answer.rows, forward));
        let agrees = data.0.is_none() && acks.0.is_none() && data.1.max(acks.1) <= 5.0;
        if agrees {
            agree += 1;
            repeats += ours.iter().filter(|r| !r.what.starts_with('a')).count() - answer.segments as usize;
        }
        if agrees == cause(answer.name).is_some() {
            wrong.push(format!("{}: {data:?}, {acks:?}", answer.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(repeats > 20, "{repeats} segments sent again");
    assert_eq!((agree, all.len()), (30, 47));
}
