//! Payloads for RESTORE; see `tests/support/fuzz/restore.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tailrace_tests::fuzz::run("restore", input));
