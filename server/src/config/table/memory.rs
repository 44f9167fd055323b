//! Directives about data in memory: limits, encodings, freeing.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Only;
use super::super::directive::Effect::Used;
use super::super::directive::row;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::Memory;
use super::super::kind::Kind::MemoryOrPercent;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("databases",                     Int(1, I32_MAX),         "16",         Fixed,   Used),
    row("maxmemory",                     Memory(0, u64::MAX),     "0",          Live,    Used),
    row("maxmemory-policy",              OneOf(POLICIES),         "noeviction", Live,    Only(&["noeviction"], NO_EVICTION)),
    row("maxmemory-samples",             Int(1, 64),              "5",          Live,    Kept),
    row("maxmemory-eviction-tenacity",   Int(0, 100),             "10",         Live,    Kept),
    row("maxmemory-clients",             MemoryOrPercent,         "0",          Live,    Only(&["0"], NO_CLIENT_EVICTION)),
    row("lfu-log-factor",                Int(0, I32_MAX),         "10",         Live,    Kept),
    row("lfu-decay-time",                Int(0, I32_MAX),         "1",          Live,    Kept),
    row("active-expire-effort",          Int(1, 10),              "1",          Live,    Kept),
    row("import-mode",                   YesNo,                   "no",         Live,    Used),
    row("stream-node-max-bytes",         Memory(0, LONG_MAX),     "4096",       Live,    Used),
    row("stream-node-max-entries",       Int(0, i64::MAX),        "100",        Live,    Used),
    row("stream-packing",                YesNo,                   "yes",        Live,    Used).hidden(),
    row("hash-max-listpack-entries",     Int(0, i64::MAX),        "512",        Live,    Kept).alias("hash-max-ziplist-entries"),
    row("hash-max-listpack-value",       Memory(0, LONG_MAX),     "64",         Live,    Kept).alias("hash-max-ziplist-value"),
    row("list-max-listpack-size",        Int(I32_MIN, I32_MAX),   "-2",         Live,    Kept).alias("list-max-ziplist-size"),
    row("list-compress-depth",           Int(0, I32_MAX),         "0",          Live,    Kept),
    row("set-max-intset-entries",        Int(0, i64::MAX),        "512",        Live,    Kept),
    row("set-max-listpack-entries",      Int(0, i64::MAX),        "128",        Live,    Kept),
    row("set-max-listpack-value",        Int(0, i64::MAX),        "64",         Live,    Kept),
    row("zset-max-listpack-entries",     Int(0, i64::MAX),        "128",        Live,    Kept).alias("zset-max-ziplist-entries"),
    row("zset-max-listpack-value",       Memory(0, LONG_MAX),     "64",         Live,    Kept).alias("zset-max-ziplist-value"),
    row("hll-sparse-max-bytes",          Memory(0, LONG_MAX),     "3000",       Live,    Kept),
    row("lazyfree-lazy-eviction",        YesNo,                   "yes",        Live,    Kept),
    row("lazyfree-lazy-expire",          YesNo,                   "yes",        Live,    Kept),
    row("lazyfree-lazy-server-del",      YesNo,                   "yes",        Live,    Kept),
    row("lazyfree-lazy-user-del",        YesNo,                   "yes",        Live,    Kept),
    row("lazyfree-lazy-user-flush",      YesNo,                   "yes",        Live,    Kept),
    row("activerehashing",               YesNo,                   "yes",        Live,    Kept),
    row("activedefrag",                  YesNo,                   "no",         Live,    Kept),
    row("active-defrag-cycle-min",       Int(1, 99),              "1",          Live,    Kept),
    row("active-defrag-cycle-max",       Int(1, 99),              "25",         Live,    Kept),
    row("active-defrag-cycle-us",        Int(0, 100_000),         "500",        Live,    Kept),
    row("active-defrag-threshold-lower", Int(0, 1_000),           "10",         Live,    Kept),
    row("active-defrag-threshold-upper", Int(0, 1_000),           "100",        Live,    Kept),
    row("active-defrag-ignore-bytes",    Memory(1, LONG_MAX),     "104857600",  Live,    Kept),
    row("active-defrag-max-scan-fields", Int(1, i64::MAX),        "1000",       Live,    Kept),
    row("jemalloc-bg-thread",            YesNo,                   "yes",        Live,    Kept),
    row("hash-seed",                     Text(checks::hash_seed), "",           Fixed,   Kept),
];

const POLICIES: &[&str] = &[
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "noeviction",
];

const NO_EVICTION: &str = "keys are never evicted; use 'noeviction', which refuses writes instead";
const NO_CLIENT_EVICTION: &str = "clients are not closed for the memory they share; \
    use 'client-output-buffer-limit'";

/// The reference's bounds for what it keeps in an `int`.
const I32_MIN: i64 = i32::MIN as i64;
const I32_MAX: i64 = i32::MAX as i64;
/// The reference's bound for what it keeps in a `long`.
const LONG_MAX: u64 = i64::MAX as u64;
