//! A server and its clients; see `tests/support/fuzz/commands.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tailrace_tests::fuzz::run("commands", input));
