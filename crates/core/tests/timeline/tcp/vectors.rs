//! The vectors in `tcp.vectors`, and the segments that ns-2 sends with random losses and marks.

use super::{Event, Vector, run, vectors};
use chappe_core::unit::Time;

/// Compares the fields of a line with an event; `None` if the line names another event.
fn matches(line: &str, event: &Event, before: &Event) -> Option<Result<(), String>> {
    let (what, sends) = line.split_once('>').map_or((line, None), |(w, s)| (w, Some(s.trim())));
    let mut words = what.split_whitespace().peekable();
    let mut first = words.next()?;
    match first {
        "RTO" | "at" => {
            let text = words.next()?;
            let (base, text) = text.strip_prefix('+').map_or((0.0, text), |t| (before.time, t));
            let time: f64 = text.parse().expect("a time");
            if event.ack.is_some() || event.idle || (first == "RTO" && event.backoff == 1 && event.time == 0.0) {
                return None;
            }
            if (event.time - base - time).abs() > 0.0015 {
                return Some(Err(format!("at {:.4} s", event.time - base)));
            }
        }
        "idle" => {
            let time: f64 = words.next()?.parse().expect("a time");
            if !event.idle {
                return None;
            }
            if (event.time - before.time - time).abs() > 0.0015 {
                return Some(Err(format!("{:.4} s after the last event", event.time - before.time)));
            }
        }
        _ => {
            if let Some(n) = first.strip_prefix('a') {
                let (n, ece) = n.strip_suffix('E').map_or((n, false), |n| (n, true));
                if event.ack != Some(n.parse().expect("a number")) {
                    return None;
                }
                if event.ece != ece {
                    return Some(Err(format!("ECE is {}", event.ece)));
                }
                first = words.peek().copied().unwrap_or("");
                if first.starts_with('d') {
                    words.next();
                }
            }
            if let Some(k) = first.strip_prefix('d')
                && (event.dup_acks != k.parse::<u32>().expect("a number") || event.ack.is_none())
            {
                return None;
            }
        }
    }
    let mut wrong = vec![];
    for word in words {
        let unit = word.split_once('.').map_or(0.5, |(_, digits)| 0.1f64.powi(digits.len() as i32));
        let number = |prefix: &str| word.strip_prefix(prefix).map(|x| x.parse::<f64>().expect("a number"));
        let (name, got, expected) = if let Some(x) = number("SS") {
            ("ssthresh", event.ssthresh, x)
        } else if let Some(x) = number("c") {
            ("cwnd", event.cwnd, x)
        } else if let Some(x) = number("B") {
            ("backoff", f64::from(event.backoff), x)
        } else if let Some(x) = number("d") {
            ("duplicates", f64::from(event.dup_acks), x)
        } else {
            panic!("cannot read {word} in {line}");
        };
        if (got - expected).abs() >= unit {
            wrong.push(format!("{name} {got}"));
        }
    }
    if let Some(sends) = sends {
        let got = if event.sends.is_empty() { "-".to_owned() } else { event.sends.join(",") };
        if got != sends {
            wrong.push(format!("sends {got}"));
        }
    }
    Some(if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) })
}

/// Mismatches of a vector, line by line.
fn check(v: &Vector<'_>) -> Vec<String> {
    let (events, mut sender) = run(v);
    let mut wrong = vec![];
    let mut at = 0;
    for &line in &v.lines {
        if let Some(rest) = line.strip_prefix("at6") {
            let expected: Vec<i64> = rest.split_whitespace().map(|n| n.parse().expect("a number")).collect();
            let highest = i64::from(sender.connection().una()) - 1;
            let c = *sender.counters(Time::ZERO);
            let got = [highest, c.retransmissions as i64, c.timeouts as i64];
            if (got[0] - expected[0]).abs() > 1 || got[1..] != expected[1..] {
                wrong.push(format!("{line}: got {got:?}"));
            }
            continue;
        }
        let start = Event::default();
        let found = (at..events.len()).find_map(|i| {
            let before = if i > 0 { &events[i - 1] } else { &start };
            matches(line, &events[i], before).map(|r| (i, r))
        });
        match found {
            Some((i, result)) => {
                at = i + 1;
                if let Err(e) = result {
                    wrong.push(format!("{line}: {e}"));
                }
            }
            None => wrong.push(format!("{line}: never happened")),
        }
    }
    wrong
}

#[test]
fn every_vector_is_met() {
    let mut failures = vec![];
    for v in &vectors() {
        let wrong = check(v);
        if !wrong.is_empty() {
            failures.push(format!("[{}] {}\n    {}", v.id, v.header, wrong.join("\n    ")));
        }
    }
    assert!(failures.is_empty(), "{} vectors fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn random_losses_give_what_ns2_sends() {
    let mut wrong = vec![];
    let cases = include_str!("../../data/tcp_random_losses.txt");
    for (i, line) in cases.lines().filter(|l| !l.starts_with('#')).enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let [variant, profile, window, lost, theirs @ ..] = words.as_slice() else { panic!("cannot read {line}") };
        let header = format!("{} {variant} window={window} path=p2 drop={lost}", profile.to_uppercase());
        let (events, _) = run(&Vector { id: "random", header: &header, lines: vec![] });
        let ours = events.iter().flat_map(|e| e.sends.iter().map(|s| (e.time, s.trim_end_matches(['r', 'X']))));
        let theirs = theirs.iter().map(|s| s.split_once(':').expect("time:segment"));
        let theirs = theirs.map(|(time, segment)| (time.parse::<f64>().expect("a time"), segment));
        // ns-2 was printed to 0.1 ms.
        let same = |((t, a), (u, b)): &((f64, &str), (f64, &str))| a == b && (t - u).abs() < 0.0001;
        let expected = theirs.clone().count();
        let met = ours.zip(theirs).take_while(same).count();
        if met < expected {
            wrong.push(format!("run {i} ({variant} {profile}, window {window}): send {met} of {expected} differs"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn random_marks_and_losses_give_what_ns2_sends() {
    let mut wrong = vec![];
    let cases = include_str!("../../data/tcp_random_marks.txt");
    for (i, line) in cases.lines().filter(|l| !l.starts_with('#')).enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, profile, window, lost, marked, theirs @ ..] = words.as_slice() else { panic!("cannot read {line}") };
        let (variant, ack) = what.split_once('+').map_or((*what, ""), |(v, _)| (v, "ack=delayed-83"));
        let profile = profile.to_uppercase();
        // The clock of ns-2 has the phase of its first random number.
        let path = "path=p2 phase=5558807";
        let header = format!("{profile} {variant} ecn window={window} {path} drop={lost} markp={marked} {ack}");
        let (events, _) = run(&Vector { id: "random", header: header.trim(), lines: vec![] });
        let ours = events.iter().flat_map(|e| e.sends.iter().map(|s| (e.time, s.replace(['r', 'X'], ""))));
        let theirs = theirs.iter().map(|s| s.split_once(':').expect("time:segment"));
        let theirs = theirs.map(|(time, segment)| (time.parse::<f64>().expect("a time"), segment.to_owned()));
        // ns-2 was printed to 0.1 ms.
        let same = |((t, a), (u, b)): &((f64, String), (f64, String))| a == b && (t - u).abs() < 0.0001;
        let expected = theirs.clone().count();
        let met = ours.clone().zip(theirs.clone()).take_while(same).count();
        if met < expected {
            let next = ours.zip(theirs).nth(met);
            wrong.push(format!("run {i} ({what}, window {window}): send {met} of {expected} differs: {next:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
