//! Keys that move between Tailrace and the reference server, to and fro: are they there what they were here?

mod dump;
mod migrate;
mod side;
mod streams;
mod to_cluster;

use std::io;
use std::io::Write as _;

use tailrace_tests::Reference;

/// The binary of the reference server; where there is none it is told what is skipped.
fn reference_to(work: &str) -> Option<String> {
    let binary = Reference::binary();
    if binary.is_none() {
        // Nobody may be listening.
        let line =
            format!("skipped: to {work}, since TAILRACE_REFERENCE names no server for that\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
    binary
}
