//! Seeds of the fuzz target, `fuzz/corpus/scenario`: each has the fuzzed property, "good" ones are accepted, and "bad"
//! ones rejected.

use chappe_scenario::{NoFiles, Scenario};
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/check.rs"]
mod check;

fn corpus() -> PathBuf {
    Path::new(crate::CORE).join("../../fuzz/corpus/scenario")
}

#[test]
fn every_seed_is_answered() {
    let (mut good, mut bad) = (0, 0);
    for entry in std::fs::read_dir(corpus()).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let answered = std::panic::catch_unwind(|| check::answered(&text));
        if answered.unwrap_or_else(|_| panic!("{name} fails")) {
            assert!(name.starts_with("good-"), "{name} is accepted");
            good += 1;
        } else {
            assert!(name.starts_with("bad-"), "{name} is refused");
            bad += 1;
        }
    }
    assert!(good > 0 && bad > 0, "the corpus has {good} scenarios and {bad} texts that are none");
}

/// `make fuzz` begins with this text, too.
#[test]
fn a_text_with_every_setting_is_answered() {
    let text = "extends = \"ns2-2.35\"\nrun.stop = \"1 s\"\n";
    let scenario = Scenario::from_toml("text.toml", text, &[], &NoFiles).expect("a scenario");
    assert!(check::answered(&scenario.effective_toml()));
}
