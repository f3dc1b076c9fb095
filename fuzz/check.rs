//! Property of every text given as a scenario, shared by the fuzz target and the test of its corpus.

use chappe_scenario::{Files, NoFiles, Scenario};

/// Files that exist only here: valid ones, an invalid one, and two that extend each other.
struct Shelf;

const FILES: [(&str, &str); 5] = [
    ("base.toml", "extends = \"ns2-2.35\"\nrun.stop = \"10 s\"\ntopology.hops = 2\n"),
    ("layers.toml", "extends = [\"standard\", \"base.toml\"]\ntcp.variant = \"vegas\"\n"),
    ("wrong.toml", "run.stop = 1\n[tcp]\nreceive_window = 0\n"),
    ("here.toml", "extends = \"there.toml\"\n"),
    ("there.toml", "extends = \"here.toml\"\n"),
];

impl Files for Shelf {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let found = FILES.iter().find(|f| f.0 == name).ok_or("no such file")?;
        Ok((found.0.to_owned(), found.1.to_owned()))
    }
}

/// Reads a text, which is either a list of problems or a scenario whose effective settings give the same scenario
/// again. Returns true for a scenario.
pub fn answered(text: &str) -> bool {
    match Scenario::from_toml("text.toml", text, &[], &Shelf) {
        Err(errors) => {
            assert!(!errors.problems.is_empty(), "refused without a reason");
            assert!(!errors.render(false).is_empty(), "a reason that says nothing");
            errors.render(true);
            errors.to_json();
            false
        }
        Ok(scenario) => {
            scenario.render_warnings(&[], false);
            let (effective, written) = (scenario.effective(), scenario.effective_toml());
            let again = Scenario::from_toml("effective.toml", &written, &[], &NoFiles);
            let again = again.unwrap_or_else(|e| panic!("settings in effect are refused:\n{e}"));
            assert_eq!(again.effective(), effective, "settings in effect mean something else");
            assert_eq!(again.effective_toml(), written, "settings in effect are written differently");
            let json = Scenario::from_json(&scenario.written(), &Default::default(), &NoFiles);
            let json = json.unwrap_or_else(|e| panic!("what was written is refused as JSON:\n{e}"));
            assert_eq!(json.effective(), effective, "what was written means something else as JSON");
            true
        }
    }
}
