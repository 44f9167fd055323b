//! The forms of all commands that are compared, a file for each family.

pub(super) mod connection;
pub(super) mod groups;
pub(super) mod keys;
pub(super) mod pubsub;
pub(super) mod scripts;
pub(super) mod server;
pub(super) mod setup;
pub(super) mod streams;
pub(super) mod strings;
pub(super) mod tracking;
pub(super) mod transactions;
pub(super) mod waiting;
pub(super) mod watchers;

/// All forms.
pub(super) const ALL: &[&[&str]] = &[
    connection::FORMS,
    groups::FORMS,
    keys::FORMS,
    pubsub::FORMS,
    scripts::FORMS,
    server::FORMS,
    server::SHOWING,
    setup::START,
    setup::FORMS,
    streams::FORMS,
    strings::FORMS,
    tracking::FORMS,
    tracking::AMONG_OTHERS,
    transactions::FORMS,
    waiting::WAITING,
    waiting::ACTING,
    waiting::SINGLE,
    watchers::FORMS,
];
