//! Transactions, piece by piece, so that other clients come between. Whole ones are made in `sequence.rs`.

pub(in super::super) const FORMS: &[&str] = &[
    "MULTI",
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH $key ...",
    "WATCH $key",
    "UNWATCH",
];
