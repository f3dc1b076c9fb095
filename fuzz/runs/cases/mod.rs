//! Random scenarios and what holds for each of them. The program beside this folder and a test of the core share them.

mod chance;
mod check;
mod draw;
mod tables;
mod values;

use chance::Chance;
use chappe_core::scenario::{Files, Scenario};
pub use check::Held;
use draw::Drawn;
use serde_json::Value as Json;
use std::panic::{AssertUnwindSafe, catch_unwind};
pub use values::Settings;

/// Files that scenarios name.
pub struct Folder;

/// Their names and texts.
pub const FILES: [(&str, &str); 2] =
    [("nodes.csv", "x_m,y_m\n0,0\n150,20\n300,0\n"), ("flows.csv", "src,dst\n2,0\n0,1\n")];

impl Files for Folder {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let found = FILES.iter().find(|f| f.0 == name).ok_or("no such file")?;
        Ok((found.0.to_owned(), found.1.to_owned()))
    }
}

/// Property that does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The check.
    pub check: &'static str,
    /// Outcome of a case.
    pub what: String,
}

/// A case: a scenario, and by what chance it is looked at.
#[derive(Clone, Debug)]
pub struct Case {
    pub scenario: Json,
    /// Nothing is lost on the way and there is time enough, so that its transfers come to their end.
    pub is_perfect: bool,
    /// The seed of the chance, and the number of the case.
    pub of: (u64, u64),
}

impl Case {
    /// Case `number` of a seed, which may have mistakes.
    pub fn draw(settings: &Settings, seed: u64, number: u64) -> Case {
        let Drawn { scenario, is_perfect } = draw::draw(settings, &mut Chance::new(seed, number, 0));
        Case { scenario, is_perfect, of: (seed, number) }
    }

    /// The case without what keeps it from being accepted, as far as that can be found out.
    pub fn without_mistakes(self) -> Case {
        Case { scenario: made_acceptable(self.scenario), ..self }
    }

    /// The scenario as a file.
    pub fn text(&self) -> String {
        toml::to_string(&self.scenario).unwrap_or_else(|e| format!("{}\n# no TOML: {e}", self.scenario))
    }

    /// Reads the scenario, runs it in several ways, and looks at what it gave.
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

/// The scenario without what keeps it from being accepted, as far as that can be found out.
fn made_acceptable(mut scenario: Json) -> Json {
    for _ in 0..8 {
        let read = catch_unwind(AssertUnwindSafe(|| Scenario::from_json(&scenario, &Json::Null, &Folder)));
        let Ok(Err(errors)) = read else { break };
        // From the end, so that numbers of entries of lists stay as they are.
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

/// Takes away what stands at a path: a setting, or the whole entry of a list whose ends are wrong.
fn remove(json: &mut Json, path: &[String]) {
    let Some((step, rest)) = path.split_first() else { return };
    match json {
        Json::Array(list) => {
            let Some(inner) = step.parse::<usize>().ok().filter(|i| *i < list.len()) else { return };
            let ends = ["from", "to", "node", "nodes", "flows", "set", "at"];
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
