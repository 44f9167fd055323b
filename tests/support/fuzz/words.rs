//! The words that commands are made of. There are few of each, so that commands meet each other's keys, entries, groups and
//! consumers.

use super::bytes::Bytes;
use super::restore;

/// A word for an argument of this type and name, mostly one that makes sense there.
pub(super) fn word(kind: &str, name: &str, bytes: &mut Bytes<'_>) -> Vec<u8> {
    match bytes.next() {
        // Anything at all.
        255 => {
            let len = bytes.below(40);
            bytes.take(len).to_vec()
        }
        // Something that makes sense elsewhere.
        247..=254 => {
            let list = bytes.one_of(LISTS);
            bytes.one_of(list).as_bytes().to_vec()
        }
        // Something long: nodes of streams end, and replies take several writes.
        244..=246 => vec![b'x'; 16 << bytes.below(12)],
        choice if name == "serialized-value" => restore::payload(choice.into()),
        choice => {
            let list = list(kind, name);
            list[usize::from(choice) % list.len()].as_bytes().to_vec()
        }
    }
}

fn list(kind: &str, name: &str) -> &'static [&'static str] {
    match (kind, name) {
        ("key", _) => KEYS,
        ("double", _) => FLOATS,
        ("pattern", _) => PATTERNS,
        ("unix-time", _) => TIMES,
        (
            _,
            "id" | "last-id" | "lastid" | "start" | "end" | "threshold" | "new-id" | "id-selector"
            | "max-deleted-id",
        ) => IDS,
        (_, "group") => GROUPS,
        (_, "consumer" | "clientname" | "connection-name" | "libname" | "libver") => CONSUMERS,
        (_, "client-id") => CLIENTS,
        (_, "min-idle-time" | "milliseconds" | "seconds" | "ms" | "timeout") => SPANS,
        ("integer", _) => INTEGERS,
        (_, "channel" | "shardchannel" | "pattern") => CHANNELS,
        (_, "parameter") => DIRECTIVES,
        (_, "section" | "category" | "type" | "event" | "command" | "command-name") => NAMES,
        (_, "script") => SCRIPTS,
        (_, "sha1") => SHAS,
        _ => TEXTS,
    }
}

const LISTS: &[&[&str]] = &[
    KEYS, IDS, GROUPS, CONSUMERS, CLIENTS, SPANS, INTEGERS, FLOATS, PATTERNS, TIMES, CHANNELS,
    DIRECTIVES, NAMES, TEXTS, OPTIONS,
];

const KEYS: &[&str] = &["s", "s", "s", "t", "u", "k", "n", ""];
const IDS: &[&str] = &[
    "*",
    ">",
    "$",
    "0",
    "-",
    "+",
    "1-1",
    "1-2",
    "2-1",
    "1-*",
    "2-*",
    "3",
    "(1-1",
    "(2",
    "0-1",
    "18446744073709551615-18446744073709551615",
    "18446744073709551615-*",
    "18446744073709551614",
    "1750000000000",
    "1750000000000-0",
];
const GROUPS: &[&str] = &["g", "g", "g", "h"];
const CONSUMERS: &[&str] = &["a", "a", "b", "c", ""];
const CLIENTS: &[&str] = &["1", "2", "3", "4", "5", "6"];
const SPANS: &[&str] = &[
    "0",
    "1",
    "5",
    "100",
    "1000",
    "60000",
    "-1",
    "9223372036854775807",
];
const INTEGERS: &[&str] = &[
    "1",
    "2",
    "3",
    "0",
    "-1",
    "10",
    "100",
    "4096",
    "1000000",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
];
const FLOATS: &[&str] = &[
    "1",
    "0.1",
    "-2.5",
    "3.0e3",
    "1e400",
    "inf",
    "nan",
    "9007199254740993",
];
const PATTERNS: &[&str] = &["*", "?", "[st]", "s*", "*\\*?[", "[^a-", ""];
const TIMES: &[&str] = &[
    "0",
    "1",
    "1750000001",
    "1750000000500",
    "99999999999999",
    "9223372036854775807",
];
const CHANNELS: &[&str] = &[
    "c",
    "d",
    "__keyspace@0__:s",
    "__keyevent@0__:xadd",
    "*",
    "__key*",
];
const DIRECTIVES: &[&str] = &[
    "*",
    "maxmemory",
    "requirepass",
    "notify-keyspace-events",
    "stream-node-max-entries",
    "stream-node-max-bytes",
    "client-output-buffer-limit",
    "client-query-buffer-limit",
    "timeout",
    "maxclients",
    "compat",
    "slowlog-log-slower-than",
    "commandlog-request-larger-than",
    "commandlog-reply-larger-than",
    "slowlog-max-len",
    "latency-tracking-info-percentiles",
    "save",
];
const NAMES: &[&str] = &[
    "all",
    "everything",
    "memory",
    "clients",
    "commandstats",
    "keyspace",
    "stream",
    "string",
    "xadd",
    "xreadgroup",
    "command",
    "client|list",
    "read",
    "blocking",
    "errorstats",
    "latencystats",
];
const TEXTS: &[&str] = &[
    "v",
    "f",
    "1",
    "10",
    "-1",
    "9223372036854775807",
    "9223372036854775808",
    "1.5",
    "",
    "two words",
    "\r\n",
    "\0",
    "default",
    "KEAnm",
    "normal 1mb 0 0",
    "pubsub 0 0 1",
    "yes",
    "redis",
    "embedded:0",
    "c",
];
const SCRIPTS: &[&str] = &[
    "return 1",
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "redis.setresp(3); return redis.pcall(unpack(ARGV))",
    "return {1, {2, 'x'}, false, {ok = 'fine'}, {err = 'ERR bad'}, {double = 1.5}, {map = {a = 1}}}",
    "return redis.call('XADD', KEYS[1], '*', unpack(ARGV))",
    "return cjson.encode(cjson.decode(ARGV[1]))",
    "return cmsgpack.pack(cmsgpack.unpack(ARGV[1]))",
    "return {cmsgpack.unpack_limit(ARGV[1], ARGV[2], ARGV[3])}",
    "return {struct.unpack(ARGV[1], ARGV[2])}",
    "return struct.pack(unpack(ARGV))",
    "return bit.tohex(ARGV[1], ARGV[2])",
    "#!lua flags=no-writes\nreturn redis.call('SET', 'k', 'v')",
    "return ARGV[1] + 1",
];
/// That of `return 1`, and one of nothing.
const SHAS: &[&str] = &[
    "e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
    "0000000000000000000000000000000000000000",
];
const OPTIONS: &[&str] = &[
    "COUNT",
    "BLOCK",
    "STREAMS",
    "GROUP",
    "MAXLEN",
    "MINID",
    "~",
    "=",
    "LIMIT",
    "NOACK",
    "FORCE",
    "JUSTID",
    "FULL",
    "MKSTREAM",
    "IDLE",
    "RETRYCOUNT",
    "LASTID",
    "NX",
    "XX",
    "GET",
    "EX",
    "PX",
    "KEEPTTL",
    "REPLACE",
    "DB",
    "OBJECT",
    "PROTOCOL",
    "SLEEP",
    "SET-ACTIVE-EXPIRE",
    "ERROR",
    "push",
    "attrib",
    "verbatim",
];
