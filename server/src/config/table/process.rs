//! Directives about the process: threads, files, logs, what is measured.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Change::Guarded;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Only;
use super::super::directive::Effect::Used;
use super::super::directive::row;
use super::super::kind::Kind::Directory;
use super::super::kind::Kind::Events;
use super::super::kind::Kind::Hertz;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::OomScoreAdjust;
use super::super::kind::Kind::OomScores;
use super::super::kind::Kind::Percentiles;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("threads",                           Int(1, 128),                  "1",              Fixed,   Used).hidden(),
    row("busy-poll-us",                      Int(0, 1_000),                "50",             Fixed,   Used).hidden(),
    row("compat",                            OneOf(COMPAT),                "valkey",         Live,    Used).hidden(),
    row("extended-redis-compatibility",      YesNo,                        "no",             Live,    Used),
    row("dir",                               Directory,                    "",               Guarded, Used),
    row("pidfile",                           Text(checks::any),            "",               Fixed,   Used),
    row("daemonize",                         YesNo,                        "no",             Fixed,   Used),
    row("supervised",                        OneOf(SUPERVISED),            "no",             Fixed,   Used),
    row("loglevel",                          OneOf(LOG_LEVELS),            "notice",         Live,    Used),
    row("logfile",                           Text(checks::any),            "",               Fixed,   Used),
    row("log-format",                        OneOf(LOG_FORMATS),           "legacy",         Live,    Kept),
    row("log-timestamp-format",              OneOf(LOG_TIMES),             "legacy",         Live,    Kept),
    row("hide-user-data-from-log",           YesNo,                        "yes",            Live,    Kept),
    row("syslog-enabled",                    YesNo,                        "no",             Fixed,   Only(&["no"], NO_SYSLOG)),
    row("syslog-facility",                   OneOf(FACILITIES),            "local0",         Fixed,   Kept),
    row("syslog-ident",                      Text(checks::any),            "tailrace",       Fixed,   Kept),
    row("crash-log-enabled",                 YesNo,                        "yes",            Live,    Kept),
    row("crash-memcheck-enabled",            YesNo,                        "yes",            Live,    Kept),
    row("use-exit-on-panic",                 YesNo,                        "no",             Live,    Kept).hidden(),
    row("enable-debug-assert",               YesNo,                        "no",             Fixed,   Kept).hidden(),
    row("debug-context",                     Text(checks::any),            "",               Live,    Kept).hidden(),
    row("watchdog-period",                   Int(0, I32_MAX),              "0",              Live,    Kept).hidden(),
    row("hz",                                Hertz,                        "10",             Live,    Kept),
    row("io-threads",                        Int(1, 256),                  "1",              Live,    Kept),
    row("io-threads-always-active",          YesNo,                        "no",             Live,    Kept).hidden(),
    row("prefetch-batch-max-size",           Int(0, 128),                  "16",             Live,    Kept),
    row("server-cpulist",                    Text(checks::any),            "",               Fixed,   Kept).alias("server_cpulist"),
    row("bio-cpulist",                       Text(checks::any),            "",               Fixed,   Kept).alias("bio_cpulist"),
    row("aof-rewrite-cpulist",               Text(checks::any),            "",               Fixed,   Kept).alias("aof_rewrite_cpulist"),
    row("bgsave-cpulist",                    Text(checks::any),            "",               Fixed,   Kept).alias("bgsave_cpulist"),
    row("oom-score-adj",                     OomScoreAdjust,               "no",             Live,    Kept),
    row("oom-score-adj-values",              OomScores,                    "0 200 800",      Live,    Kept),
    row("disable-thp",                       YesNo,                        "yes",            Fixed,   Kept),
    row("set-proc-title",                    YesNo,                        "yes",            Fixed,   Kept),
    row("proc-title-template",               Text(checks::title_template), "{title} {listen-addr} {server-mode}", Live, Kept),
    row("always-show-logo",                  YesNo,                        "no",             Fixed,   Kept),
    row("locale-collate",                    Text(checks::locale),         "",               Live,    Kept),
    row("ignore-warnings",                   Text(checks::any),            "",               Live,    Kept),
    row("busy-reply-threshold",              Int(0, i64::MAX),             "5000",           Live,    Used).alias("lua-time-limit"),
    row("lua-enable-insecure-api",           YesNo,                        "no",             Guarded, Kept).hidden().alias("lua-enable-deprecated-api"),
    row("notify-keyspace-events",            Events,                       "",               Live,    Used),
    row("commandlog-execution-slower-than",  Int(-1, i64::MAX),            "10000",          Live,    Used).alias("slowlog-log-slower-than"),
    row("commandlog-slow-execution-max-len", Int(0, i64::MAX),             "128",            Live,    Used).alias("slowlog-max-len"),
    row("commandlog-request-larger-than",    Int(-1, i64::MAX),            "1048576",        Live,    Used),
    row("commandlog-large-request-max-len",  Int(0, i64::MAX),             "128",            Live,    Used),
    row("commandlog-reply-larger-than",      Int(-1, i64::MAX),            "1048576",        Live,    Used),
    row("commandlog-large-reply-max-len",    Int(0, i64::MAX),             "128",            Live,    Used),
    row("latency-monitor-threshold",         Int(0, i64::MAX),             "0",              Live,    Used),
    row("latency-tracking",                  YesNo,                        "yes",            Live,    Used),
    row("latency-tracking-info-percentiles", Percentiles,                  "50 99 99.9",     Live,    Used),
];

const COMPAT: &[&str] = &["valkey", "redis"];
const SUPERVISED: &[&str] = &["upstart", "systemd", "auto", "no"];
const LOG_LEVELS: &[&str] = &["debug", "verbose", "notice", "warning", "nothing"];
const LOG_FORMATS: &[&str] = &["legacy", "logfmt", "json"];
const LOG_TIMES: &[&str] = &["legacy", "iso8601", "milliseconds"];
const FACILITIES: &[&str] = &[
    "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];

const NO_SYSLOG: &str = "nothing is sent to syslog; leave it at 'no' and use 'logfile'";

/// The reference's bound for what it keeps in an `int`.
const I32_MAX: i64 = i32::MAX as i64;
