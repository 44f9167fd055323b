//! Directives about clusters.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Used;
use super::super::directive::row;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::Memory;
use super::super::kind::Kind::MemoryOrMinusOne;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("cluster-enabled",                        YesNo,                      "no",         Fixed,   Used),
    row("nodes",                                  Int(1, 1_000),              "1",          Fixed,   Used).hidden(),
    row("replicas",                               Int(0, 8),                  "0",          Fixed,   Used).hidden(),
    row("cluster-topology",                       Text(checks::any),          "",           Fixed,   Used).hidden(),
    row("cluster-config-file",                    Text(checks::some),         "nodes.conf", Fixed,   Kept),
    row("cluster-config-save-behavior",           OneOf(SAVE_BEHAVIOR),       "sync",       Live,    Kept),
    row("cluster-databases",                      Int(1, I32_MAX),            "1",          Fixed,   Used),
    row("cluster-port",                           Int(0, 65_535),             "0",          Fixed,   Used),
    row("cluster-announce-ip",                    Text(checks::announced_ip), "",           Live,    Used),
    row("cluster-announce-port",                  Int(0, 65_535),             "0",          Live,    Used),
    row("cluster-announce-bus-port",              Int(0, 65_535),             "0",          Live,    Used),
    row("cluster-announce-tls-port",              Int(0, 65_535),             "0",          Live,    Kept),
    row("cluster-announce-client-ipv4",           Text(checks::ipv4),         "",           Live,    Used),
    row("cluster-announce-client-ipv6",           Text(checks::ipv6),         "",           Live,    Used),
    row("cluster-announce-client-port",           Int(0, 65_535),             "0",          Live,    Used),
    row("cluster-announce-client-tls-port",       Int(0, 65_535),             "0",          Live,    Kept),
    row("cluster-announce-hostname",              Text(checks::host_name),    "",           Live,    Used),
    row("cluster-announce-human-nodename",        Text(checks::node_name),    "",           Live,    Kept),
    row("cluster-preferred-endpoint-type",        OneOf(ENDPOINTS),           "ip",         Live,    Used),
    row("availability-zone",                      Text(checks::any),          "",           Live,    Used),
    row("cluster-node-timeout",                   Int(0, i64::MAX),           "15000",      Live,    Kept),
    row("cluster-ping-interval",                  Int(0, i64::MAX),           "0",          Live,    Kept).hidden(),
    row("cluster-message-gossip-perc",            Int(1, 100),                "10",         Live,    Kept).hidden(),
    row("cluster-blacklist-ttl",                  Int(i64::MIN, i64::MAX),    "60",         Live,    Kept),
    row("cluster-link-sendbuf-limit",             Memory(0, u64::MAX),        "0",          Live,    Kept),
    row("cluster-manual-failover-timeout",        Int(1, I32_MAX),            "5000",       Live,    Kept),
    row("cluster-migration-barrier",              Int(0, I32_MAX),            "1",          Live,    Kept),
    row("cluster-allow-replica-migration",        YesNo,                      "yes",        Live,    Used),
    row("cluster-replica-no-failover",            YesNo,                      "no",         Live,    Kept).alias("cluster-slave-no-failover"),
    row("cluster-replica-validity-factor",        Int(0, I32_MAX),            "10",         Live,    Kept).alias("cluster-slave-validity-factor"),
    row("cluster-require-full-coverage",          YesNo,                      "yes",        Live,    Used),
    row("cluster-allow-reads-when-down",          YesNo,                      "no",         Live,    Used),
    row("cluster-allow-pubsubshard-when-down",    YesNo,                      "yes",        Live,    Used),
    row("cluster-slot-migration-log-max-len",     Int(0, i64::MAX),           "1000",       Live,    Used),
    row("slot-migration-max-failover-repl-bytes", MemoryOrMinusOne,           "0",          Live,    Kept),
    row("cluster-slot-stats-enabled",             YesNo,                      "no",         Live,    Used),
];

const SAVE_BEHAVIOR: &[&str] = &["sync", "best-effort"];
const ENDPOINTS: &[&str] = &["ip", "hostname", "unknown-endpoint"];

/// The reference's bound for what it keeps in an `int`.
const I32_MAX: i64 = i32::MAX as i64;
