//! Directives about sockets, clients and who may do what.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Only;
use super::super::directive::Effect::Used;
use super::super::directive::row;
use super::super::kind::Kind::Addresses;
use super::super::kind::Kind::FileMode;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::Memory;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::OutputLimits;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("port",                                      Int(0, 65_535),              "6379",           Live,    Used),
    row("bind",                                      Addresses,                   "127.0.0.1 -::1", Live,    Used),
    row("bind-source-addr",                          Text(checks::any),           "",               Live,    Kept),
    row("unixsocket",                                Text(checks::any),           "",               Fixed,   Used),
    row("unixsocketperm",                            FileMode,                    "0",              Fixed,   Used),
    row("unixsocketgroup",                           Text(checks::any),           "",               Fixed,   Only(&[""], NO_SOCKET_GROUP)),
    row("socket-mark-id",                            Int(0, 4_294_967_295),       "0",              Fixed,   Only(&["0"], NO_MARKS)),
    row("tcp-backlog",                               Int(0, I32_MAX),             "511",            Fixed,   Used),
    row("tcp-keepalive",                             Int(0, I32_MAX),             "300",            Live,    Used),
    row("mptcp",                                     YesNo,                       "no",             Fixed,   Kept),
    row("rdma-bind",                                 Addresses,                   "",               Live,    Only(&[""], NO_RDMA)),
    row("rdma-port",                                 Int(0, 65_535),              "0",              Live,    Only(&["0"], NO_RDMA)),
    row("rdma-rx-size",                              Int(65_536, 16_777_216),     "1048576",        Fixed,   Kept),
    row("rdma-completion-vector",                    Int(-1, 1_024),              "-1",             Fixed,   Kept),
    row("timeout",                                   Int(0, I32_MAX),             "0",              Live,    Used),
    row("maxclients",                                Int(1, 4_294_967_295),       "10000",          Live,    Used),
    row("max-new-connections-per-cycle",             Int(1, 1_000),               "10",             Live,    Kept),
    row("proto-max-bulk-len",                        Memory(1_048_576, LONG_MAX), "536870912",      Live,    Used),
    row("client-query-buffer-limit",                 Memory(1_048_576, LONG_MAX), "1073741824",     Live,    Used),
    row("client-output-buffer-limit",                OutputLimits,                "",               Live,    Used),
    row("min-io-threads-avoid-copy-reply",           Int(0, I32_MAX),             "7",              Live,    Kept).hidden(),
    row("min-string-size-avoid-copy-reply",          Int(0, I32_MAX),             "16384",          Live,    Kept).hidden(),
    row("min-string-size-avoid-copy-reply-threaded", Int(0, I32_MAX),             "65536",          Live,    Kept).hidden(),
    row("tracking-table-max-keys",                   Int(0, i64::MAX),            "1000000",        Live,    Used),
    row("protected-mode",                            YesNo,                       "yes",            Live,    Used),
    row("requirepass",                               Text(checks::any),           "",               Live,    Used).secret(),
    row("aclfile",                                   Text(checks::any),           "",               Fixed,   Only(&[""], NO_ACL)),
    row("acl-pubsub-default",                        OneOf(ACL_CHANNELS),         "resetchannels",  Live,    Kept),
    row("acllog-max-len",                            Int(0, i64::MAX),            "128",            Live,    Kept),
    row("enable-debug-command",                      OneOf(TRUST),                "no",             Fixed,   Used),
    row("enable-module-command",                     OneOf(TRUST),                "no",             Fixed,   Kept),
    row("enable-protected-configs",                  OneOf(TRUST),                "no",             Fixed,   Used),
];

const ACL_CHANNELS: &[&str] = &["allchannels", "resetchannels"];
const TRUST: &[&str] = &["no", "yes", "local"];

const NO_SOCKET_GROUP: &str = "the group of the socket is not changed; use 'unixsocketperm'";
const NO_MARKS: &str = "packets are not marked; leave it at 0";
const NO_RDMA: &str = "there is no support for RDMA; remove it";
const NO_ACL: &str = "there are no users but the default one; use 'requirepass'";

/// The reference's bound for what it keeps in an `int`.
const I32_MAX: i64 = i32::MAX as i64;
/// The reference's bound for what it keeps in a `long`.
const LONG_MAX: u64 = i64::MAX as u64;
