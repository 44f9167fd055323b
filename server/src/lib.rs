//! The Tailrace server: configuration so far.

pub mod config;
pub mod options;
