//! Files of configuration and CONFIG SET; see `tests/support/fuzz/config.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tailrace_tests::fuzz::run("config", input));
