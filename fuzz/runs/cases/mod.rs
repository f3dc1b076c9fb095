//! Random scenarios and the properties that hold for each of them, shared by the program next to this folder and a test
//! of the core.

mod alike;
mod chance;
mod check;
mod draw;
mod tables;
mod values;

use chance::Chance;
use chappe_scenario::{Files, Scenario};
pub use check::Held;
use draw::Drawn;
use serde_json::Value as Json;
use std::panic::{AssertUnwindSafe, catch_unwind};
pub use values::Settings;

/// Files that scenarios name.
pub struct Folder;

/// Names and texts of the files.
pub const FILES: [(&str, &str); 2] =
    [("nodes.csv", "x_m,y_m\n0,0\n150,20\n300,0\n"), ("flows.csv", "src,dst\n2,0\n0,1\n")];

impl Files for Folder {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let found = FILES.iter().find(|f| f.0 == name).ok_or("no such file")?;
        Ok((found.0.to_owned(), found.1.to_owned()))
    }
}

/// A property that does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Name of the check.
    pub check: &'static str,
    /// Description of the failure.
    pub what: String,
}

/// A case: a scenario, and the random numbers for its checks.
#[derive(Clone, Debug)]
pub struct Case {
    pub scenario: Json,
    /// True if nothing is lost and there is enough time, so that its transfers complete.
    pub is_perfect: bool,
    /// Seed, and number of the case.
    pub of: (u64, u64),
}

impl Case {
    /// Case `number` of a seed, possibly with mistakes.
    pub fn draw(settings: &Settings, seed: u64, number: u64) -> Case {
        let Drawn { scenario, is_perfect } = draw::draw(settings, &mut Chance::new(seed, number, 0));
        Case { scenario, is_perfect, of: (seed, number) }
    }

    /// The case without values that cause errors, as far as these can be found.
    pub fn without_mistakes(self) -> Case {
        Case { scenario: made_acceptable(self.scenario), ..self }
    }

    /// The scenario as a file.
    pub fn text(&self) -> String {
        toml::to_string(&self.scenario).unwrap_or_else(|e| format!("{}\n# no TOML: {e}", self.scenario))
    }

    /// Reads the scenario, runs it in several ways, and checks the results.
    pub fn check(&self) -> Result<Held, Failure> {
        let checked =
            catch_unwind(AssertUnwindSafe(|| match Scenario::from_toml("case.toml", &self.text(), &[], &Folder) {
                Ok(scenario) => check::check(&scenario, self.is_perfect, &mut Chance::new(self.of.0, self.of.1, 1)),
                Err(errors) => {
                    errors.render(true);
                    Ok(Held::Refused)
                }
            }));
        checked.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let what = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned();
            Err(Failure { check: "panic", what })
        })
    }
}

/// The scenario without values that cause errors, as far as these can be found.
fn made_acceptable(mut scenario: Json) -> Json {
    for _ in 0..8 {
        let read = catch_unwind(AssertUnwindSafe(|| Scenario::from_json(&scenario, &Json::Null, &Folder)));
        let Ok(Err(errors)) = read else { break };
        // From the end, so that indices of list entries stay valid.
        let mut wrong: Vec<Vec<String>> =
            errors.problems.iter().map(|p| p.path.split('.').map(str::to_owned).collect()).collect();
        wrong
            .sort_by_key(|path| std::cmp::Reverse(path.iter().map(|s| s.parse().unwrap_or(0)).collect::<Vec<usize>>()));
        wrong.dedup();
        for path in wrong {
            remove(&mut scenario, &path);
        }
    }
    scenario
}

/// Removes the value at a path: a setting, or the whole entry of a list whose ends are wrong.
fn remove(json: &mut Json, path: &[String]) {
    let Some((step, rest)) = path.split_first() else { return };
    match json {
        Json::Array(list) => {
            let Some(inner) = step.parse::<usize>().ok().filter(|i| *i < list.len()) else { return };
            let ends = ["src", "dst", "node", "nodes", "flows", "flow", "action", "setting", "value", "at"];
            match rest.first().is_some_and(|r| !ends.contains(&r.as_str())) && list[inner].get(&rest[0]).is_some() {
                true => remove(&mut list[inner], rest),
                false => _ = list.remove(inner),
            }
        }
        Json::Object(group) => match (rest.is_empty(), group.get_mut(step)) {
            (false, Some(inner)) if inner.is_object() || inner.is_array() => remove(inner, rest),
            _ => _ = group.remove(step),
        },
        _ => {}
    }
}
