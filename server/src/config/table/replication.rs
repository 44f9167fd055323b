//! Directives about replicas and the server they copy.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Only;
use super::super::directive::row;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::Memory;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::Primary;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("replicaof",                        Primary,                   "no one",         Fixed,   Only(&[""], NO_REPLICATION)).alias("slaveof"),
    row("primaryuser",                      Text(checks::any),         "",         Live,    Kept).secret().alias("masteruser"),
    row("primaryauth",                      Text(checks::any),         "",         Live,    Kept).secret().alias("masterauth"),
    row("min-replicas-to-write",            Int(0, I32_MAX),           "0",        Live,    Only(&["0"], NO_QUORUM)).alias("min-slaves-to-write"),
    row("min-replicas-max-lag",             Int(0, I32_MAX),           "10",       Live,    Kept).alias("min-slaves-max-lag"),
    row("replica-announce-ip",              Text(checks::any),         "",         Live,    Kept).alias("slave-announce-ip"),
    row("replica-announce-port",            Int(0, 65_535),            "0",        Live,    Kept).alias("slave-announce-port"),
    row("replica-announced",                YesNo,                     "yes",      Live,    Kept),
    row("replica-ignore-disk-write-errors", YesNo,                     "no",       Live,    Kept),
    row("replica-ignore-maxmemory",         YesNo,                     "yes",      Live,    Kept).alias("slave-ignore-maxmemory"),
    row("replica-lazy-flush",               YesNo,                     "yes",      Live,    Kept).alias("slave-lazy-flush"),
    row("replica-priority",                 Int(0, I32_MAX),           "100",      Live,    Kept).alias("slave-priority"),
    row("replica-read-only",                YesNo,                     "yes",      Live,    Kept).alias("slave-read-only"),
    row("replica-serve-stale-data",         YesNo,                     "yes",      Live,    Kept).alias("slave-serve-stale-data"),
    row("repl-backlog-size",                Memory(1, LONG_MAX),       "10485760", Live,    Kept),
    row("repl-backlog-ttl",                 Int(0, i64::MAX),          "3600",     Live,    Kept),
    row("repl-disable-tcp-nodelay",         YesNo,                     "no",       Live,    Kept),
    row("repl-diskless-load",               OneOf(DISKLESS_LOAD),      "disabled", Live,    Kept),
    row("repl-diskless-sync",               YesNo,                     "yes",      Live,    Kept),
    row("repl-diskless-sync-delay",         Int(0, I32_MAX),           "5",        Live,    Kept),
    row("repl-diskless-sync-max-replicas",  Int(0, I32_MAX),           "0",        Live,    Kept),
    row("repl-mptcp",                       YesNo,                     "no",       Fixed,   Kept),
    row("repl-ping-replica-period",         Int(1, I32_MAX),           "10",       Live,    Kept).alias("repl-ping-slave-period"),
    row("repl-timeout",                     Int(1, I32_MAX),           "60",       Live,    Kept),
    row("dual-channel-replication-enabled", YesNo,                     "no",       Live,    Kept),
    row("propagation-error-behavior",       OneOf(PROPAGATION_ERRORS), "ignore",   Live,    Kept),
];

const DISKLESS_LOAD: &[&str] = &["disabled", "on-empty-db", "swapdb", "flush-before-load"];
const PROPAGATION_ERRORS: &[&str] = &["ignore", "panic", "panic-on-replicas"];

const NO_REPLICATION: &str = "data is not copied from another server; remove it";
const NO_QUORUM: &str = "there are no replicas to wait for; leave it at 0";

/// The reference's bound for what it keeps in an `int`.
const I32_MAX: i64 = i32::MAX as i64;
/// The reference's bound for what it keeps in a `long`.
const LONG_MAX: u64 = i64::MAX as u64;
