//! Everything that needs the whole server, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod transcripts;
