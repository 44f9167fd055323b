//! CONFIG GET: which directives some patterns mean, and their values.

use std::borrow::Cow;

use tailrace_storage::Case;
use tailrace_storage::Compat;
use tailrace_storage::glob_matches;

use super::Config;
use super::table::Name;

impl Config {
    /// The directives that the patterns match, and their values, in byte order of the names.
    ///
    /// As in the reference, a pattern without wildcards is a name, which is then shown as it was
    /// written; hidden directives, and those that Redis does not have while it is followed, are found
    /// by their name only; older names count as names.
    pub fn get<'a>(
        &self,
        patterns: impl IntoIterator<Item = &'a [u8]>,
    ) -> Vec<(Cow<'a, [u8]>, Vec<u8>)> {
        let mut found: Vec<(Cow<'a, [u8]>, Name)> = Vec::new();
        for pattern in patterns {
            if has_wildcard(pattern) {
                let is_match =
                    |name: &Name| glob_matches(pattern, name.text.as_bytes(), Case::Ignored);
                let matching = self.visible_names().filter(is_match);
                for name in matching {
                    add(&mut found, Cow::Borrowed(name.text.as_bytes()), name);
                }
            } else if let Some(name) = self.table.find(pattern) {
                add(&mut found, Cow::Borrowed(pattern), name);
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        let with_value = |(shown, name): (Cow<'a, [u8]>, Name)| {
            let value = self.values[name.row].shown();
            (shown, value)
        };
        found.into_iter().map(with_value).collect()
    }

    fn visible_names(&self) -> impl Iterator<Item = Name> {
        let is_redis = self.settings.compat == Compat::Redis;
        let is_visible = move |name: &Name| {
            let is_foreign = is_redis && NOT_IN_REDIS.contains(&name.text);
            !self.table.rows()[name.row].is_hidden && !is_foreign
        };
        self.table.names().iter().copied().filter(is_visible)
    }
}

fn add<'a>(found: &mut Vec<(Cow<'a, [u8]>, Name)>, shown: Cow<'a, [u8]>, name: Name) {
    if !found.iter().any(|(_, other)| *other == name) {
        found.push((shown, name));
    }
}

/// Whether `pattern` may match more than one text.
pub(super) fn has_wildcard(pattern: &[u8]) -> bool {
    pattern
        .iter()
        .any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Directives and names of directives that Redis 8.6 does not know.
const NOT_IN_REDIS: &[&str] = &[
    "active-defrag-cycle-us",
    "availability-zone",
    "cluster-announce-client-ipv4",
    "cluster-announce-client-ipv6",
    "cluster-announce-client-port",
    "cluster-announce-client-tls-port",
    "cluster-blacklist-ttl",
    "cluster-config-save-behavior",
    "cluster-databases",
    "cluster-manual-failover-timeout",
    "cluster-slot-migration-log-max-len",
    "commandlog-execution-slower-than",
    "commandlog-large-reply-max-len",
    "commandlog-large-request-max-len",
    "commandlog-reply-larger-than",
    "commandlog-request-larger-than",
    "commandlog-slow-execution-max-len",
    "dual-channel-replication-enabled",
    "extended-redis-compatibility",
    "hash-seed",
    "import-mode",
    "log-format",
    "log-timestamp-format",
    "mptcp",
    "prefetch-batch-max-size",
    "primaryauth",
    "primaryuser",
    "rdb-version-check",
    "rdma-bind",
    "rdma-completion-vector",
    "rdma-port",
    "rdma-rx-size",
    "repl-mptcp",
    "slot-migration-max-failover-repl-bytes",
    "tls-auto-reload-interval",
    "unixsocketgroup",
];
