//! Directives about files of data, and about the end of the process.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Change::Guarded;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Never;
use super::super::directive::Effect::Only;
use super::super::directive::Effect::Used;
use super::super::directive::row;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::Memory;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::SavePoints;
use super::super::kind::Kind::ShutdownOptions;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("save",                                  SavePoints,              "",               Live,    Only(&[""], NO_SNAPSHOTS)),
    row("appendonly",                            YesNo,                   "no",             Live,    Only(&["no"], NO_LOG)),
    row("dbfilename",                            Text(checks::file_name), "dump.rdb",       Guarded, Kept),
    row("rdbchecksum",                           YesNo,                   "yes",            Fixed,   Kept),
    row("rdbcompression",                        YesNo,                   "yes",            Live,    Kept),
    row("rdb-del-sync-files",                    YesNo,                   "no",             Live,    Kept),
    row("rdb-save-incremental-fsync",            YesNo,                   "yes",            Live,    Kept),
    row("rdb-version-check",                     OneOf(VERSION_CHECKS),   "strict",         Live,    Used),
    row("rdb-key-save-delay",                    Int(I32_MIN, I32_MAX),   "0",              Live,    Kept).hidden(),
    row("key-load-delay",                        Int(I32_MIN, I32_MAX),   "0",              Live,    Kept).hidden(),
    row("loading-process-events-interval-bytes", Int(1_024, I32_MAX),     "2097152",        Live,    Kept).hidden(),
    row("stop-writes-on-bgsave-error",           YesNo,                   "yes",            Live,    Kept),
    row("appendfilename",                        Text(checks::file_name), "appendonly.aof", Fixed,   Kept),
    row("appenddirname",                         Text(checks::dir_name),  "appendonlydir",  Fixed,   Kept),
    row("appendfsync",                           OneOf(FSYNC),            "everysec",       Live,    Kept),
    row("no-appendfsync-on-rewrite",             YesNo,                   "no",             Live,    Kept),
    row("auto-aof-rewrite-percentage",           Int(0, I32_MAX),         "100",            Live,    Kept),
    row("auto-aof-rewrite-min-size",             Memory(0, LONG_MAX),     "67108864",       Live,    Kept),
    row("aof-load-truncated",                    YesNo,                   "yes",            Live,    Kept),
    row("aof-use-rdb-preamble",                  YesNo,                   "yes",            Live,    Kept),
    row("aof-timestamp-enabled",                 YesNo,                   "no",             Live,    Kept),
    row("aof-rewrite-incremental-fsync",         YesNo,                   "yes",            Live,    Kept),
    row("aof-disable-auto-gc",                   YesNo,                   "no",             Live,    Kept).hidden(),
    row("shutdown-timeout",                      Int(0, I32_MAX),         "10",             Live,    Kept),
    row("shutdown-on-sigint",                    ShutdownOptions,         "default",        Live,    Never(&["save"], NO_LAST_SAVE)),
    row("shutdown-on-sigterm",                   ShutdownOptions,         "default",        Live,    Never(&["save"], NO_LAST_SAVE)),
];

const VERSION_CHECKS: &[&str] = &["strict", "relaxed"];
const FSYNC: &[&str] = &["everysec", "always", "no"];

const NO_SNAPSHOTS: &str = "data lives in memory only and ends with the process; \
    use 'save \"\"'";
const NO_LOG: &str = "data lives in memory only and ends with the process; use 'appendonly no'";
const NO_LAST_SAVE: &str = "nothing is saved at the end of the process; use 'default'";

/// The reference's bounds for what it keeps in an `int`.
const I32_MIN: i64 = i32::MIN as i64;
const I32_MAX: i64 = i32::MAX as i64;
/// The reference's bound for what it keeps in a `long`.
const LONG_MAX: u64 = i64::MAX as u64;
