//! What fuzzing does with one input: the same for cargo-fuzz, which makes up inputs, and for the test that gives the
//! kept ones again (`tests/fuzz.rs`).
//!
//! A target panics if the input shows a fault, and says nothing else. It takes any bytes, looks at no clock, file or
//! socket, and leaves nothing behind.

mod bytes;
mod commands;
mod config;
mod crowd;
mod decode;
mod inspect;
mod restore;
mod speaker;
mod words;

/// A target: what is done with one input.
pub type Target = fn(&[u8]);

/// All targets, by the names of their folders.
pub const TARGETS: &[(&str, Target)] = &[
    ("decode", decode::run),
    ("commands", commands::run),
    ("config", config::run),
    ("restore", restore::run),
];

/// Gives one input to the target of this name.
///
/// # Panics
///
/// If the input shows a fault, or there is no such target.
pub fn run(target: &str, input: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, run) = found.expect("the target is in the table");
    run(input);
}
