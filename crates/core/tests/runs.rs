//! Some cases of the fuzzer `fuzz/runs`, always the same, so that it keeps working; `make fuzz` draws others.

#[path = "../../../fuzz/runs/cases/mod.rs"]
mod cases;

use cases::{Case, Held, Settings};

const SEED: u64 = 4;
const CASES: u64 = 40;

#[test]
fn properties_hold_for_random_scenarios() {
    let settings = Settings::new();
    let mut whole = 0;
    for number in 0..CASES {
        let case = Case::draw(&settings, SEED, number).without_mistakes();
        match case.check() {
            Ok(held) => whole += u64::from(held == Held::Whole),
            Err(e) => panic!("case {number} of seed {SEED}: {}: {}\n{}", e.check, e.what, case.text()),
        }
    }
    assert!(whole * 10 >= CASES * 9, "{whole} of {CASES} scenarios were accepted and came to their end");
}
