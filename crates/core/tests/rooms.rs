//! Who may import whom: a room never imports a room.

use std::path::{Path, PathBuf};

const VALUES: &[&str] = &["agenda", "packet", "rng", "setting", "unit"];
const ROOMS: &[&str] = &["app", "error_model", "net", "place", "radio", "tcp", "wire", "wlan"];

/// What the modules of a folder or file may import, beyond themselves.
fn allowed(module: &str) -> Vec<&'static str> {
    let all = |more: &[&'static str]| [VALUES, ROOMS, more].concat();
    match module {
        "setting" => vec!["unit"],
        "agenda" | "packet" => vec!["unit"],
        "rng" | "unit" => vec![],
        room if ROOMS.contains(&room) => [VALUES, &["settings", "keywords"]].concat(),
        "sim" => all(&["record"]),
        "record" => all(&["keywords", "sim"]),
        "scenario" => all(&["record", "settings", "sim"]),
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

/// First names after `crate::` in a line of source, comments left out.
fn imports(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or("");
    let names = code.split("crate::").skip(1);
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
    code.lines().flat_map(imports).filter(bad).map(str::to_owned).collect()
}

#[test]
fn rooms_never_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
fn a_breach_would_be_found() {
    assert_eq!(breaches("tcp", "use crate::wlan::Frame;\nuse crate::unit::Time;"), ["wlan"]);
    assert_eq!(breaches("radio", "    let x = crate::net::Queue::new();"), ["net"]);
    assert_eq!(breaches("app", "use crate::{tcp, unit};"), ["tcp"]);
    assert_eq!(breaches("packet", "use crate::sim::Sim;"), ["sim"]);
}
