//! Adversarial texts of a megabyte. Each is answered in linear time: the limit is a hundred times the slowest case,
//! which quadratic time exceeds.

use chappe_scenario::{Errors, Files, NoFiles, Scenario};
use serde_json::{Map, Value as Json, json};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const MEGABYTE: usize = 1_000_000;
const GUARD: Duration = Duration::from_secs(100);

/// Result of `work`; panics if it takes too long.
fn in_time<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, hear) = mpsc::channel();
    thread::spawn(move || tell.send(work()));
    hear.recv_timeout(GUARD).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A megabyte of repetitions.
fn many(piece: &str) -> String {
    piece.repeat(MEGABYTE / piece.len())
}

fn numbered(piece: impl Fn(usize) -> String) -> String {
    (0..MEGABYTE / piece(10_000).len()).map(piece).collect()
}

/// Number of problems of a text, and the messages; one line for a text without problems.
fn read(name: &str, text: String) -> (usize, String) {
    in_time(name, move || match Scenario::from_toml("big.toml", &text, &[], &NoFiles) {
        Ok(_) => (0, "accepted".into()),
        Err(e) => {
            e.to_json();
            (e.problems.len() + e.more, e.render(false))
        }
    })
}

#[test]
fn megabyte_texts_get_a_readable_answer_in_time() {
    let stop = "run.stop = \"1 s\"\n";
    for (name, text) in [
        ("keys", numbered(|i| format!("k{i} = 1\n"))),
        ("dotted keys", numbered(|i| format!("a.b.c.k{i} = 1\n"))),
        ("keys of a group", format!("{stop}[tcp]\n{}", numbered(|i| format!("k{i} = 1\n")))),
        ("tables", numbered(|i| format!("[k{i}]\na = 1\n"))),
        ("flows", format!("{stop}{}", many("[[flow]]\ndst = 1\n"))),
        ("mistakes in flows", format!("{stop}{}", many("[[flow]]\ndst = 1\ntcp = {x = 1, variant = \"y\"}\n"))),
        ("links", format!("{stop}{}", many("[[wired_link]]\ndst = 1\n"))),
        (
            "different links",
            format!("{stop}topology.wired_nodes = 1000\n{}", numbered(|i| format!("[[wired_link]]\ndst = {i}\n"))),
        ),
        ("middleboxes", format!("{stop}{}", many("[[middlebox]]\nnode = 1\n"))),
        ("middleboxes and flows", {
            let half = |piece: &str| piece.repeat(MEGABYTE / 2 / piece.len());
            format!("{stop}{}{}", half("[[middlebox]]\nnode = 1\n"), half("[[flow]]\ndst = 7\n"))
        }),
        ("routes", {
            let routes = numbered(|i| format!("{{ node = 0, dst = {}, next_hop = 1 }},", i % 8));
            format!("{stop}routing.protocol = \"fixed\"\nrouting.fixed.routes = [{routes}]")
        }),
        ("empty places and flows", {
            let (cells, flows) = ("[1, 2],".repeat(MEGABYTE / 14), "{ dst = 1 },".repeat(MEGABYTE / 22));
            format!("{stop}topology = {{ kind = \"grid\", rows = 9, omit = [{cells}] }}\nflow = [{flows}]")
        }),
        ("places", format!("{stop}topology = {{ kind = \"list\", positions = [{}] }}", many("[\"1 m\", \"2 m\"],"))),
        ("one line", format!("x = [{}]", many("1,"))),
        ("lists in lists", format!("x = {}", many("["))),
        ("tables in tables", format!("x = {}", many("{a = "))),
        ("a name of names", format!("{}a = 1", many("a."))),
        ("a table of names", format!("[{}a]", many("a."))),
        ("a name", format!("{} = 1", many("x"))),
        ("a word", format!("tcp.variant = \"{}\"", many("x"))),
        ("a number", format!("tcp.receive_window = {}", many("9"))),
        ("a stop", format!("run.stop = \"{} delivered\"", many("9"))),
        ("a length", format!("{stop}topology.spacing = \"1.{} m\"", many("9"))),
        ("not TOML", many("= [")),
        ("lines that are not TOML", many("@\n")),
        ("quotes", many("\"")),
        ("empty lines", format!("{}x = 1", many("\n"))),
        ("the same key", many("x = 1\n")),
        ("presets", format!("extends = [{}]", many("\"standard\","))),
        ("files", format!("extends = [{}]", many("\"none\","))),
        ("an integer as a preset", format!("extends = [{}]", many("1,"))),
    ] {
        let (count, said) = read(name, text);
        assert!(said.len() < 20_000, "{name}: {} bytes are said", said.len());
        assert_eq!(count > 20, said.contains("\n... and "), "{name}: {count} mistakes\n{said}");
    }
}

#[test]
fn oversized_texts_are_rejected_unread() {
    let (count, said) = read("fifty megabytes", many("k = [1, 2]\n").repeat(50));
    assert_eq!(count, 1, "{said}");
    assert!(said.starts_with("error: 50.0 MB of text; a scenario has at most 10 MB"), "{said}");
}

#[test]
fn mistakes_beyond_twenty_are_counted() {
    let text: String = (0..40_000).map(|i| format!("k{i} = 1\n")).collect();
    let errors = Scenario::from_toml("my.toml", &format!("run.stop = \"1 s\"\n{text}"), &[], &NoFiles);
    let errors = errors.expect_err("no such settings");
    assert_eq!((errors.problems.len(), errors.more), (1000, 39_000));
    let said = errors.render(false);
    assert_eq!(said.matches("error: ").count(), 20);
    assert!(said.ends_with("\n\n... and 39,980 more"), "{said}");
    // The last that is listed as data has its own line, too.
    assert_eq!(errors.to_json()[999]["line"], 1001);
}

#[test]
fn keys_of_a_dict_are_read_and_laid_over_each_other() {
    let keys: Map<String, Json> = (0..100_000).map(|i| (format!("k{i}"), json!({ "a": 1 }))).collect();
    let over: Map<String, Json> = (0..100_000).map(|i| (format!("k{i}.b"), json!(2))).collect();
    let count = in_time("a dict", move || {
        let read = |own: &Json, over: &Json| Scenario::from_json(own, over, &NoFiles).expect_err("no such settings");
        let count = |e: Errors| e.problems.len() + e.more;
        let (own, over) = (Json::Object(keys), Json::Object(over));
        [count(read(&own, &json!({}))), count(read(&json!({}), &over)), count(read(&own, &over))]
    });
    // One more: `run.stop` is missing.
    assert_eq!(count, [100_001; 3]);
}

#[test]
fn long_dotted_names_are_rejected() {
    let change = json!({ vec!["a"; 100_000].join("."): 1 });
    let said = in_time("a change", move || {
        let errors = Scenario::from_json(&json!({ "run": { "stop": "1 s" } }), &change, &NoFiles);
        errors.expect_err("no such setting").render(false)
    });
    assert!(said.starts_with("error: more than 32 names in a row: `a.a.a."), "{said}");
}

/// Each file extends the next one twice.
struct Doubling;

impl Files for Doubling {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let n: u32 = name.parse().map_err(|_| "no such file".to_owned())?;
        Ok((name.to_owned(), format!("extends = [\"{0}\", \"{0}\"]", n + 1)))
    }
}

#[test]
fn exponentially_extending_files_are_rejected() {
    let said = in_time("files", || {
        Scenario::from_toml("my.toml", "extends = \"1\"", &[], &Doubling).expect_err("too many files").render(false)
    });
    assert!(said.contains("more than 1000 scenarios are extended"), "{said}");
}
