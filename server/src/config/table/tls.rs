//! Directives about TLS. Without `tls-port` and its like, files and ciphers are only kept.

use super::super::checks;
use super::super::directive::Change::Live;
use super::super::directive::Directive;
use super::super::directive::Effect::Kept;
use super::super::directive::Effect::Only;
use super::super::directive::row;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::OneOf;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("tls-port",                          Int(0, 65_535),      "0",     Live,    Only(&["0"], NO_TLS)),
    row("tls-cluster",                       YesNo,               "no",    Live,    Only(&["no"], NO_TLS)),
    row("tls-replication",                   YesNo,               "no",    Live,    Only(&["no"], NO_TLS)),
    row("tls-auth-clients",                  OneOf(AUTH_CLIENTS), "yes",   Live,    Kept),
    row("tls-auth-clients-user",             OneOf(AUTH_USER),    "off",   Live,    Kept),
    row("tls-auto-reload-interval",          Int(0, I32_MAX),     "0",     Live,    Kept),
    row("tls-cert-file",                     Text(checks::any),   "",      Live,    Kept),
    row("tls-key-file",                      Text(checks::any),   "",      Live,    Kept),
    row("tls-key-file-pass",                 Text(checks::any),   "",      Live,    Kept).secret(),
    row("tls-client-cert-file",              Text(checks::any),   "",      Live,    Kept),
    row("tls-client-key-file",               Text(checks::any),   "",      Live,    Kept),
    row("tls-client-key-file-pass",          Text(checks::any),   "",      Live,    Kept).secret(),
    row("tls-dh-params-file",                Text(checks::any),   "",      Live,    Kept),
    row("tls-ca-cert-file",                  Text(checks::any),   "",      Live,    Kept),
    row("tls-ca-cert-dir",                   Text(checks::any),   "",      Live,    Kept),
    row("tls-protocols",                     Text(checks::any),   "",      Live,    Kept),
    row("tls-ciphers",                       Text(checks::any),   "",      Live,    Kept),
    row("tls-ciphersuites",                  Text(checks::any),   "",      Live,    Kept),
    row("tls-prefer-server-ciphers",         YesNo,               "no",    Live,    Kept),
    row("tls-session-caching",               YesNo,               "yes",   Live,    Kept),
    row("tls-session-cache-size",            Int(0, I32_MAX),     "20480", Live,    Kept),
    row("tls-session-cache-timeout",         Int(0, I32_MAX),     "300",   Live,    Kept),
    row("max-new-tls-connections-per-cycle", Int(1, 1_000),       "1",     Live,    Kept),
];

const AUTH_CLIENTS: &[&str] = &["no", "yes", "optional"];
const AUTH_USER: &[&str] = &["CN", "URI", "off"];

const NO_TLS: &str = "connections are not encrypted; remove it and use a proxy that ends TLS";

/// The reference's bound for what it keeps in an `int`.
const I32_MAX: i64 = i32::MAX as i64;
