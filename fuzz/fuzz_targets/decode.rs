//! The decoder; see `tests/support/fuzz/decode.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tailrace_tests::fuzz::run("decode", input));
