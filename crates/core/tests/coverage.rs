//! The table of conformance vectors in `reproductions/docs/conformance.md` lists exactly the tested vectors.

use std::collections::BTreeMap;
use std::path::Path;

/// Required vectors.
const REQUIRED: &[&str] = &["C01-C05", "C07-C19", "C22", "C24-C42", "C48-C58", "C60-C78", "C82-C98"];

fn ids(ranges: &[&str]) -> Vec<String> {
    let number = |id: &str| id[1..].parse::<u32>().expect("C and a number");
    let of = |range: &&str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (number(first)..=number(last)).map(|n| format!("C{n:02}")).collect::<Vec<_>>()
    };
    ranges.iter().flat_map(of).collect()
}

/// A condition of a vector in words: `lost=7,7` is "lost: 7, 7".
fn condition(word: &str) -> String {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    let values = value.replace(',', ", ").replace("..", " and all later ones").replace('-', " to ");
    match key {
        "data" => format!("{value} segments to send"),
        "lost" => format!("lost: {values}"),
        "lostp" if value == "1" => "the first probe is lost".to_owned(),
        "lostp" => format!("the first {value} probes are lost"),
        "drop" => format!("dropped: {values}"),
        "mark" => format!("marked: {values}"),
        "window" => format!("receiver's window {value}"),
        "max_cwnd" => format!("`tcp.max_cwnd` {value}"),
        "iw" => format!("initial window {value}"),
        "ssthresh" => format!("initial ssthresh {value}"),
        "beta" => format!("`tcp.ecn.beta` {value}"),
        "probe_interval" => format!("a probe every {value} ms"),
        "until" => format!("{value} s long"),
        "ack" => format!("acknowledgements: {values}"),
        "path" if value == "ff" => "path of 8 Mbit/s and 0.1 ms, then 0.8 Mbit/s and 100 ms".to_owned(),
        "path" if value == "vg" => "path of 0.8 Mbit/s and 20 ms".to_owned(),
        "nosyn" => "without SYN".to_owned(),
        "ecn" => "with ECN".to_owned(),
        "eln" => "the receiver learns of losses of the link (ELN)".to_owned(),
        "holes" => "resends holes only".to_owned(),
        "first_segment" => "probes with the first segment".to_owned(),
        "at_answer" => "window by what is in flight at the answer".to_owned(),
        "ends_backoff" => "an answer ends the backoff".to_owned(),
        other => panic!("say what the condition {other} is"),
    }
}

/// The name of a test as a text: `ece_is_sent` is "ECE is sent".
fn sentence(name: &str) -> String {
    let word = |word: &str| match word {
        "ns2" => "ns-2".to_owned(),
        "rfc" | "syn" | "ecn" | "ece" | "cwr" => word.to_uppercase(),
        "hystart" => "HyStart".to_owned(),
        "linux" | "veno" | "westwood" | "snoop" => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    };
    name.split('_').map(word).collect::<Vec<_>>().join(" ")
}

/// Vectors in the file of timelines: profile, variant, conditions.
fn from_file(found: &mut BTreeMap<String, String>) {
    for line in include_str!("timeline/tcp.vectors").lines().filter(|l| l.starts_with('[')) {
        let (id, header) = line[1..].split_once(']').expect("[id] header");
        let mut words = header.split_whitespace();
        let (profile, variant) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let conditions = words.map(condition).collect::<Vec<_>>().join("; ");
        let row = format!("| {id} | {profile} | {variant} | {conditions} | `tests/timeline/tcp.vectors` |");
        found.insert(id.to_owned(), row);
    }
}

/// Vectors that are test functions of their own: `fn c01_what_it_is()`.
fn from_functions(file: &str, found: &mut BTreeMap<String, String>) {
    let path = Path::new(crate::CORE).join(file);
    let text = std::fs::read_to_string(path).expect("a source file");
    for (i, line) in text.lines().enumerate() {
        let Some(name) = line.trim().strip_prefix("fn c").and_then(|l| l.split_once("()")).map(|l| l.0) else {
            continue;
        };
        let Some((number, what)) = name.split_once('_').filter(|n| n.0.len() == 2) else { continue };
        assert_eq!(text.lines().nth(i - 1).map(str::trim), Some("#[test]"), "{name} is not a test");
        let id = format!("C{number}");
        let row = format!("| {id} | | | {} | `{file}` |", sentence(what));
        found.insert(id, row);
    }
}

#[test]
fn the_table_of_vectors_is_complete_and_current() {
    let mut found = BTreeMap::new();
    from_file(&mut found);
    let timelines = found.len();
    from_functions("src/tcp/sender/rto.rs", &mut found);
    for file in ["adaptive_pacing", "cubic", "veno", "westwood_2001"] {
        from_functions(&format!("src/tcp/cc/{file}.rs"), &mut found);
    }
    from_functions("src/tcp/recovery/rack_tlp/prr.rs", &mut found);
    for file in ["ecn", "linux/vectors", "thinning", "windows"] {
        from_functions(&format!("tests/timeline/tcp/{file}.rs"), &mut found);
    }
    from_functions("tests/timeline/tcp/linux/lives.rs", &mut found);
    from_functions("tests/timeline/middlebox.rs", &mut found);
    let missing: Vec<String> = ids(REQUIRED).into_iter().filter(|id| !found.contains_key(id)).collect();
    assert!(missing.is_empty(), "vectors without a test: {missing:?}");
    let rows: Vec<&str> = found.values().map(String::as_str).collect();
    let of_ns2 =
        rows.iter().filter(|row| row.split(" | ").nth(1).is_some_and(|profile| profile.starts_with("N2"))).count();
    let table = format!(
        "# Conformance vectors of TCP\n\n\
         **All {} vectors hold**: senders, receivers and timers do what ns-2.35 or Linux does, or what an RFC says.\n\
         {timelines} vectors are timelines of connections: {of_ns2} of ns-2.35, {} of the RFCs. The other {} test single rules. Two\n\
         vectors are not those of their source: C91 has the window of Linux 6.18, 5, where an older kernel had 4, and C84\n\
         begins at ssthresh 48, where HyStart here ends slow start at 36.\n\n\
         `cargo test -p chappe-tests` runs the tests and writes this page when `CHAPPE_WRITE_DOCS` is set.\n\n\
         Profiles: N2 is the preset `ns2-2.35`; N2E is that with the defaults of ns-2 until 2003; N2F is N2 with a\n\
         corrected Vegas; RFC is the preset `standard` with an acknowledgement of every segment. Tests in\n\
         `tests/timeline/tcp/linux` are of the preset `linux`. Segments are numbered from 0. Unless a path is given, it has\n\
         10 Mbit/s and a delay of 50 ms. *Lost* and *marked* (CE) are segments by number, once for each time that the number\n\
         is listed; *dropped* are packets by their order on the link. Windows are in segments.\n\n\
         | id | profile | variant | conditions | where |\n|---|---|---|---|---|\n{}\n",
        rows.len(),
        timelines - of_ns2,
        rows.len() - timelines,
        rows.join("\n")
    );
    let page = Path::new(crate::CORE).join("../../reproductions/docs/conformance.md");
    if std::env::var_os("CHAPPE_WRITE_DOCS").is_some() {
        std::fs::write(&page, &table).expect("docs can be written");
    }
    let there = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(there == table, "reproductions/docs/conformance.md is not current: run the tests with CHAPPE_WRITE_DOCS=1");
}
