//! Reduction of a scenario to the smallest one for which the same check fails.

use crate::cases::{Case, Failure};
use serde_json::Value as Json;

/// Largest number of scenarios that are tried.
const TRIES: usize = 3000;

/// A smaller case in which the same check fails, with its failure.
pub fn reduced(case: &Case, failure: &Failure) -> (Case, Failure) {
    let (mut least, mut last) = (case.clone(), failure.clone());
    let mut tries = 0;
    loop {
        let mut smaller = false;
        let mut paths = vec![];
        places(&least.scenario, &mut String::new(), &mut paths);
        for path in paths {
            let mut scenario = least.scenario.clone();
            if !without(&mut scenario, &path) || tries == TRIES {
                continue;
            }
            tries += 1;
            let next = Case { scenario, ..least.clone() };
            if let Err(found) = next.check()
                && found.check == failure.check
            {
                (least, last, smaller) = (next, found, true);
            }
        }
        if !smaller {
            return (least, last);
        }
    }
}

/// All paths in a scenario, outer ones first, and list entries from the last to the first.
fn places(json: &Json, path: &mut String, found: &mut Vec<String>) {
    let inner: Vec<(String, &Json)> = match json {
        Json::Object(group) => group.iter().map(|(key, inner)| (key.clone(), inner)).collect(),
        Json::Array(list) => list.iter().enumerate().rev().map(|(i, inner)| (i.to_string(), inner)).collect(),
        _ => return,
    };
    for (key, inner) in inner {
        let length = path.len();
        *path = format!("{path}/{key}");
        found.push(path.clone());
        places(inner, path, found);
        path.truncate(length);
    }
}

/// Removes the value at a path; returns false if there is none.
fn without(json: &mut Json, path: &str) -> bool {
    let Some((outer, key)) = path.rsplit_once('/') else { return false };
    match json.pointer_mut(outer) {
        Some(Json::Object(group)) => group.remove(key).is_some(),
        Some(Json::Array(list)) => {
            let there = key.parse().is_ok_and(|i: usize| i < list.len());
            if there {
                list.remove(key.parse().expect("a number"));
            }
            there
        }
        _ => false,
    }
}
