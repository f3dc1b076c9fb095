//! Rules of imports: a layer never imports another layer.

use chappe_core::net::routing::Protocol;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const VALUES: &[&str] = &["scheduler", "codel", "count", "error_model", "packet", "rng", "setting", "unit"];
/// The crate of scenarios, which imports the core and not the engine or its records.
const SCENARIO: &str = "scenario";
const ROOMS: &[&str] = &["app", "error_model", "mobility", "net", "point_to_point", "radio", "tcp", "topology", "wlan"];

/// Modules that a folder or file may import, besides its own.
fn allowed(module: &str) -> Vec<&'static str> {
    let all = |more: &[&'static str]| [VALUES, ROOMS, more].concat();
    match module {
        "setting" => vec!["keywords", "settings", "unit"],
        "scheduler" | "packet" => vec!["unit"],
        "dispatch" => vec!["keywords", "settings"],
        "codel" => vec!["packet", "setting", "settings", "unit"],
        "count" => vec!["counters"],
        "rng" | "unit" => vec![],
        room if ROOMS.contains(&room) => [VALUES, &["counters", "dispatch", "settings", "keywords"]].concat(),
        "run" => all(&["keywords"]),
        "record" => all(&["counters", "keywords", "run"]),
        "sim" => all(&["record", "run"]),
        SCENARIO => all(&["run", "settings", "keywords"]),
        other => panic!("{other} is no module that this test knows: say what it may import"),
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// First names after `crate::`, or after the name of another crate, in a line of source, comments left out.
fn imports<'a>(line: &'a str, root: &str) -> Vec<&'a str> {
    let code = line.split("//").next().unwrap_or("");
    let names = code.split(root).skip(1);
    names
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => list.split(',').collect(),
            None => vec![rest],
        })
        .map(|name| name.trim().split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or(""))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Imports of one source that are against the rules.
fn breaches(module: &str, text: &str) -> Vec<String> {
    let allowed = allowed(module);
    // Unit tests may bring what they need from elsewhere.
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let code = code.split("#![cfg(test)]").next().unwrap_or(code);
    let bad = |name: &&str| *name != module && !allowed.contains(name);
    let root = if module == SCENARIO { "chappe_core::" } else { "crate::" };
    code.lines().flat_map(|line| imports(line, root)).filter(bad).map(str::to_owned).collect()
}

#[test]
fn layers_never_import_each_other() {
    let root = folder_of("");
    let mut found = vec![];
    files(&root, &mut found);
    assert!(found.len() > 50, "the sources are not where they are expected");
    for path in found {
        let inside = path.strip_prefix(&root).expect("below the root").with_extension("");
        let module = inside.components().next().expect("a name").as_os_str().to_str().expect("UTF-8").to_owned();
        if module == "lib" {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let bad = breaches(&module, &text);
        assert!(bad.is_empty(), "{} imports {bad:?}", path.display());
    }
}

#[test]
fn scenarios_import_no_engine() {
    for (module, text) in sources_of(SCENARIO) {
        assert_eq!(breaches(SCENARIO, &text), Vec::<String>::new(), "{module}");
    }
    assert_eq!(breaches(SCENARIO, "use chappe_core::sim::Sim;\nuse chappe_core::{radio, record};"), ["sim", "record"]);
}

/// The folder with the sources of a room.
fn folder_of(room: &str) -> PathBuf {
    let core = Path::new(crate::CORE);
    if room == SCENARIO { core.join("../scenario/src") } else { core.join("src").join(room) }
}

/// The file of a module of `tcp/`: `cc` is `cc/mod.rs`, `cc/reno` is `cc/reno.rs`.
type Sources = BTreeMap<String, String>;

fn sources_of(room: &str) -> Sources {
    let root = folder_of(room);
    let mut found = vec![];
    files(&root, &mut found);
    let module = |path: &PathBuf| {
        let inside = path.strip_prefix(&root).expect("below the root").with_extension("");
        let name = inside.to_str().expect("UTF-8").replace('\\', "/");
        let name = if name == "lib" { "mod".to_owned() } else { name };
        name.strip_suffix("mod").map_or(name.clone(), |folder| folder.trim_end_matches('/').to_owned())
    };
    found.iter().map(|path| (module(path), without_tests(&std::fs::read_to_string(path).expect("a source")))).collect()
}

/// Code of a source without unit tests, comments, and re-exports of a `mod.rs` (`pub use`), which need nothing.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let lines = code.lines().map(|l| l.split("//").next().unwrap_or("")).filter(|l| !l.starts_with("pub use "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Names of a list of imports, `a::{b, c::d}` and the like, each with its whole path.
fn spelled_out(list: &str) -> Vec<String> {
    let Some((before, inside)) = list.split_once('{') else { return vec![list.trim().to_owned()] };
    let inside = inside.rsplit_once('}').map_or(inside, |parts| parts.0);
    let (mut depth, mut names, mut from) = (0, vec![], 0);
    for (i, c) in inside.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            names.push(&inside[from..i]);
            from = i + 1;
        }
    }
    names.push(&inside[from..]);
    let names = names.into_iter().map(str::trim).filter(|n| !n.is_empty());
    names.flat_map(spelled_out).map(|name| format!("{}{name}", before.trim())).collect()
}

/// Modules of a layer from which one of its modules imports.
fn needs(room: &str, module: &str, sources: &Sources) -> BTreeSet<String> {
    let parent = |m: &str| m.rsplit_once('/').map_or(String::new(), |p| p.0.to_owned());
    // `pub(in PATH)` says who may see a name, and imports nothing.
    let mut pieces = sources[module].split("pub(in ");
    let first = pieces.next().unwrap_or("");
    let code = pieces.fold(format!("\n{first}"), |code, piece| code + piece.split_once(')').expect("its end").1);
    let mut aliases: BTreeMap<String, String> = BTreeMap::new();
    // Paths from the root of the layer, with slashes.
    let whole = |path: &str, aliases: &BTreeMap<String, String>| -> Option<String> {
        let mut from = module.to_owned();
        let mut rest = path;
        if let Some(inside) = path.strip_prefix("crate::") {
            let inside = if room == SCENARIO { inside } else { inside.strip_prefix(room)?.strip_prefix("::")? };
            (from, rest) = (String::new(), inside);
        }
        while let Some(above) = rest.strip_prefix("super::") {
            (from, rest) = (parent(&from), above);
        }
        let first = rest.split("::").next().unwrap_or("");
        if rest == path && aliases.contains_key(first) {
            (from, rest) = (aliases[first].clone(), rest[first.len()..].trim_start_matches(':'));
        }
        let path = format!("{from}/{}", rest.replace("::", "/"));
        Some(path.trim_matches('/').to_owned())
    };
    let mut paths = vec![];
    let mut rest = String::new();
    for (i, part) in code.split("\nuse ").enumerate() {
        let (used, after) = if i == 0 { ("", part) } else { part.split_once(';').expect("an end of `use`") };
        rest.push_str(after);
        let used: Vec<_> = spelled_out(used).iter().filter_map(|u| whole(u, &aliases)).collect();
        for path in used {
            if sources.contains_key(&path) {
                // The name of a module is not yet something of it.
                let name = path.rsplit('/').next().expect("a name").to_owned();
                aliases.insert(name, path);
            } else {
                paths.push(path);
            }
        }
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = rest.split(|c| !is_path(c)).filter(|w| w.contains("::") && !w.ends_with(':'));
    paths.extend(words.filter_map(|w| whole(w, &aliases)));
    let longest = |path: String| {
        let mut known = parent(&path);
        while !sources.contains_key(&known) {
            known = parent(&known);
        }
        known
    };
    let mut found: BTreeSet<String> = paths.into_iter().map(longest).collect();
    found.remove(module);
    found
}

/// A cycle of imports, if there is one.
fn ring(needs: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut left = needs.clone();
    // Removes modules that import nothing that is left; the rest are in a cycle, or import one.
    loop {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let free = left.iter().find(|(_, n)| n.is_disjoint(&names)).map(|(m, _)| m.clone());
        match free {
            Some(m) => _ = left.remove(&m),
            None => break,
        }
    }
    let mut way = vec![left.keys().next()?.clone()];
    loop {
        let next = left[&way[way.len() - 1]].iter().find(|m| left.contains_key(*m)).expect("it needs one that is left");
        if let Some(first) = way.iter().position(|m| m == next) {
            return Some(way.split_off(first));
        }
        way.push(next.clone());
    }
}

/// Modules of a layer, each with those from which it imports.
fn needs_of(room: &str) -> BTreeMap<String, BTreeSet<String>> {
    let sources = sources_of(room);
    assert!(sources.len() > 25, "the sources are not where they are expected");
    sources.keys().map(|m| (m.clone(), needs(room, m, &sources))).collect()
}

#[test]
fn the_files_of_a_room_import_in_one_direction() {
    for room in ["radio", "sim", "tcp"] {
        assert_eq!(ring(&needs_of(room)), None, "files of {room}/ import each other");
    }
}

/// Folders of the crate of scenarios, each of which may import those before it.
const FOLDERS: [&str; 4] = ["schema", "read", "build", "validate"];

/// Imports against the order of the folders of scenarios.
fn against_the_order(needs: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let folder = |module: &str| FOLDERS.iter().position(|f| module.split('/').next() == Some(f));
    let pairs = needs.iter().flat_map(|(module, others)| others.iter().map(move |other| (module, other)));
    // Modules beside the folders import the folders; the folders do not import these modules.
    let bad = pairs.filter(|(module, other)| folder(module).is_some_and(|own| folder(other).is_none_or(|o| o > own)));
    bad.map(|(module, other)| format!("{module} imports {other}")).collect()
}

#[test]
fn nothing_of_a_scenario_imports_its_validation() {
    let found = needs_of(SCENARIO);
    assert_eq!(against_the_order(&found), Vec::<String>::new());
    assert!(FOLDERS.iter().all(|folder| found.contains_key(*folder)), "the folders are not where they are expected");
    let finds = |module: &str, other: &str| assert!(found[module].contains(other), "{module} needs {other}");
    finds("validate/tcp", "validate");
    finds("build/layout", "schema/flows");
    let sources: Sources = [
        ("", "use build::layout;"),
        ("build", "use super::validate::cost::Cost;"),
        ("build/layout", ""),
        ("validate", "use super::build::layout::Layout;"),
        ("validate/cost", "use crate::Scenario;"),
    ]
    .map(|(m, text)| (m.to_owned(), text.to_owned()))
    .into();
    let made = sources.keys().map(|m| (m.clone(), needs(SCENARIO, m, &sources))).collect();
    assert_eq!(against_the_order(&made), ["build imports validate/cost", "validate/cost imports "]);
}

#[test]
fn known_imports_are_found() {
    let rooms = ["radio", "sim", "tcp"].map(|room| (room, needs_of(room)));
    let rooms = BTreeMap::from(rooms);
    let finds = |room: &str, module: &str, others: &[&str]| {
        let found = &rooms[room][module];
        let missed: Vec<_> = others.iter().filter(|o| !found.contains(**o)).collect();
        assert!(missed.is_empty(), "{module} needs {missed:?}, found are {found:?}");
    };
    finds("tcp", "cc", &["cc/reno", "cc/interface"]);
    finds("tcp", "cc/new", &["config"]);
    finds("tcp", "config/variants", &["cc"]);
    finds("tcp", "cc/few", &["cc/reno", "cc/interface"]);
    finds("tcp", "config", &["cc", "ack", "sender/rto", "config/variants", "config/recoveries"]);
    finds("tcp", "recovery/vegas", &["cc/vegas", "connection", "sender/send_times"]);
    finds("tcp", "connection/losses", &["connection", "cc/interface", "config"]);
    finds("tcp", "sender", &["connection", "recovery", "sender/eln", "cc"]);
    finds("radio", "channel", &["sinr", "receiver", "in_range/moving", "causes"]);
    finds("radio", "sinr/order", &["sinr", "sinr/reaction", "receiver"]);
    finds("sim", "interfaces/link", &["", "network/transit", "timer_numbers"]);
    finds("sim", "air", &["air/mac", "network", "watch"]);
}

#[test]
fn a_ring_would_be_found() {
    let sources: Sources = [
        ("", "pub mod a;\npub mod b;"),
        ("a", "use super::b::{C, d};"),
        ("b", "mod c;\nuse c::D;"),
        ("b/c", "pub(in crate::tcp::a) struct S;\nuse crate::tcp::e;\nfn f() { e::g() }"),
        ("e", "fn f() -> super::a::X { }"),
    ]
    .map(|(m, text)| (m.to_owned(), text.to_owned()))
    .into();
    let needs: BTreeMap<_, _> = sources.keys().map(|m| (m.clone(), needs("tcp", m, &sources))).collect();
    assert_eq!(ring(&needs), Some(["a", "b", "b/c", "e"].map(str::to_owned).to_vec()));
    assert_eq!(spelled_out("super::{a, b::{c, d}}"), ["super::a", "super::b::c", "super::b::d"]);
}

/// Code of the core and of scenarios, by its path below the sources of the core, for scenarios after `scenario/`.
fn all_code() -> Sources {
    let with_paths = |room: &str, prefix: &'static str| {
        let root = folder_of(room);
        let mut found = vec![];
        files(&root, &mut found);
        let inside = move |path: &Path| path.strip_prefix(&root).expect("below").to_string_lossy().replace('\\', "/");
        let code = |path: &Path| without_tests(&std::fs::read_to_string(path).expect("a source file"));
        found.into_iter().map(move |path| (format!("{prefix}{}", inside(&path)), code(&path)))
    };
    with_paths("", "").chain(with_paths(SCENARIO, "scenario/")).collect()
}

#[test]
fn only_its_table_asks_which_variant_it_is() {
    let all = all_code();
    let asks = |code: &str| code.contains(" Variant::") || code.contains("(Variant::");
    let asked: Vec<_> = all.iter().filter(|(_, code)| asks(code)).map(|(path, _)| path).collect();
    // The table of parts, and the default of `tcp.variant`.
    assert_eq!(asked, ["tcp/config/mod.rs", "tcp/config/variants.rs"]);
    assert_eq!(all["tcp/config/mod.rs"].matches("Variant::").count(), 1, "it names no variant but the default");
    assert!(["lib.rs", "scenario/lib.rs"].iter().all(|path| all.contains_key(*path)), "both crates are among them");
}

#[test]
fn only_routing_asks_which_protocol_finds_routes() {
    let learned = || Protocol::ALL.iter().filter(|p| p.learns_routes());
    let asks = |code: &str| learned().any(|p| code.contains(&format!("Protocol::{p:?}")));
    let asked: Vec<_> = all_code().into_iter().filter(|(_, code)| asks(code)).map(|(path, _)| path).collect();
    assert_eq!(asked, ["net/routing/mod.rs"]);
}

#[test]
fn a_breach_would_be_found() {
    assert_eq!(breaches("tcp", "use crate::wlan::Frame;\nuse crate::unit::Time;"), ["wlan"]);
    assert_eq!(breaches("radio", "    let x = crate::net::Queue::new();"), ["net"]);
    assert_eq!(breaches("app", "use crate::{tcp, unit};"), ["tcp"]);
    assert_eq!(breaches("packet", "use crate::sim::Sim;"), ["sim"]);
}
