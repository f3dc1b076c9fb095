//! Any bytes as the text of a scenario: `cargo +nightly fuzz run scenario` in this folder's parent.
#![no_main]

#[path = "../check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        check::answered(text);
    }
});
