//! Replies that are texts or lists about the server, and what of them two servers have in common.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use tailrace_tests::Value;

use super::allowed::Facts;
use super::side::CONTROL;
use super::talk::Exchange;

/// What CLIENT LIST says of each client but the one that asks how the others are, without what belongs to the server.
pub(super) fn clients(value: &Value) -> Option<Vec<BTreeMap<String, String>>> {
    let text = text(value).filter(|text| text.is_empty() || text.starts_with("id="))?;
    let control = format!(" name={CONTROL} ");
    let others = text.lines().filter(|line| !line.contains(&control));
    let mut clients: Vec<_> = others.map(client).collect();
    // The reference begins its list with another client each time it has looked after some.
    clients.sort_by(|one, two| one.get("addr").cmp(&two.get("addr")));
    Some(clients)
}

fn client(line: &str) -> BTreeMap<String, String> {
    let pairs = line.split(' ').filter_map(|pair| pair.split_once('='));
    let mut fields: BTreeMap<String, String> = pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // The reference tells for a while whether there ever was a transaction.
    let is_over = |value: &str| ["0", "-1"].contains(&value);
    fields.retain(|name, value| {
        if name == "redir" && !is_over(value) {
            *value = "another".to_owned();
        }
        let is_own = CLIENT_OWN.contains(&&**name) || (name == "multi" && is_over(value));
        !is_own
    });
    fields
}

/// What INFO says, but for what is measured or belongs to a process.
pub(super) fn info(value: &Value, facts: Facts) -> Option<BTreeMap<String, String>> {
    let text = text(value)?;
    let pairs = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| is_compared(name, facts));
    let mut fields: BTreeMap<String, String> = pairs
        .map(|(name, value)| (name.to_owned(), without_times(value)))
        .collect();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        if [
            "# Clients",
            "# Stats",
            "# Keyspace",
            "# Commandstats",
            "# Errorstats",
        ]
        .contains(&line)
        {
            fields.insert(line.to_owned(), String::new());
        }
    }
    Some(fields)
}

/// The fields of long texts in two replies that differ, of those that are compared.
pub(super) fn differing(reference: &Exchange, tailrace: Option<&Exchange>) -> Vec<String> {
    let pairs = tailrace
        .into_iter()
        .flat_map(|tailrace| reference.replies.iter().zip(&tailrace.replies));
    let mut lines = Vec::new();
    for (one, two) in pairs {
        let info = |value| info(value, Facts::default()).filter(|info| !info.is_empty());
        if let (Some(one), Some(two)) = (info(one), info(two)) {
            let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
            let differing = names
                .into_iter()
                .filter(|name| one.get(*name) != two.get(*name));
            lines.extend(
                differing
                    .map(|name| format!("{name}: {:?} and {:?}", one.get(name), two.get(name))),
            );
        }
    }
    lines
}

fn is_compared(name: &str, facts: Facts) -> bool {
    // To begin anew, the model's Lua asks the server for its configuration, which counts.
    if facts.has_flushed_scripts && name == "cmdstat_config|get" {
        return false;
    }
    if let Some(command) = name.strip_prefix("cmdstat_") {
        return !COMMANDS_OF_CONTROL.contains(&command);
    }
    let is_of_expired = name == "expired_keys" || name.starts_with("db");
    if is_of_expired && facts.has_met_expired {
        return false;
    }
    name.starts_with("errorstat_") || name.starts_with("db") || INFO_COMPARED.contains(&name)
}

/// The parts of a value that are no times.
fn without_times(value: &str) -> String {
    let is_time = |part: &&str| {
        ["usec=", "usec_per_call=", "avg_ttl="]
            .iter()
            .any(|time| part.starts_with(time))
    };
    let parts: Vec<&str> = value.split(',').filter(|part| !is_time(part)).collect();
    parts.join(",")
}

/// What SLOWLOG or COMMANDLOG tells, without numbers, times and durations, and without what the control connection said.
/// Whether a CLIENT KILL is large depends on how many digits the numbers of clients have, so it is left out, too.
pub(super) fn logged(entries: Vec<Value>) -> Vec<Value> {
    // What comes from nowhere the reference asked itself.
    let is_left_out = |entry: &Value| {
        as_logged(entry).is_some_and(|parts| {
            let is_kill = matches!(&parts[3], Value::Array(words) if words.len() > 1
                && words[0].text().eq_ignore_ascii_case(b"CLIENT")
                && words[1].text().eq_ignore_ascii_case(b"KILL"));
            is_kill || parts[4].text().is_empty() || parts[5].text() == CONTROL.as_bytes()
        })
    };
    let others = entries.into_iter().filter(|entry| !is_left_out(entry));
    others
        .map(|entry| match as_logged(&entry) {
            Some(parts) => Value::Array(parts[3..].to_vec()),
            None => entry,
        })
        .collect()
}

/// An entry of a log: number, time, duration, arguments, address and name.
fn as_logged(entry: &Value) -> Option<&[Value]> {
    use Value::Array;
    use Value::Bulk;
    use Value::Integer;
    match entry {
        Array(parts) => matches!(
            &parts[..],
            [
                Integer(_),
                Integer(_),
                Integer(_),
                Array(_),
                Bulk(_),
                Bulk(_)
            ]
        )
        .then_some(parts),
        _ => None,
    }
}

/// A line of MONITOR without its time: who said what.
pub(super) fn monitored(value: &Value) -> Option<&[u8]> {
    let Value::Simple(line) = value else {
        return None;
    };
    let at = line.iter().position(|byte| *byte == b' ')?;
    let (time, said) = line.split_at(at);
    let is_time = time.len() > 10
        && time
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    (is_time && said.starts_with(b" [")).then_some(said)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Bulk(text) | Value::Verbatim(_, text) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
        _ => None,
    }
}

/// Fields of CLIENT LIST that are each server's own.
const CLIENT_OWN: &[&str] = &[
    "id",
    "laddr",
    "fd",
    "age",
    "idle",
    "qbuf",
    "qbuf-free",
    "argv-mem",
    "multi-mem",
    "rbs",
    "rbp",
    "obl",
    "oll",
    "omem",
    "tot-mem",
    "events",
    "tot-net-in",
    "tot-net-out",
    "tot-cmds",
];

/// Commands that are said to learn how the clients are, by one server's clients more often than by the other's.
const COMMANDS_OF_CONTROL: &[&str] = &[
    "client|list",
    "client|unblock",
    "client|id",
    // The reference asks itself when it makes a new interpreter.
    "config|get",
    "debug",
    "info",
    "ping",
    "time",
];

/// Fields of INFO that say the same wherever the same commands were said.
const INFO_COMPARED: &[&str] = &[
    "redis_version",
    "valkey_version",
    "server_name",
    "server_mode",
    "connected_clients",
    "cluster_connections",
    "maxclients",
    "blocked_clients",
    "tracking_clients",
    "pubsub_clients",
    "watching_clients",
    "clients_in_timeout_table",
    "total_watched_keys",
    "total_blocking_keys",
    "total_blocking_keys_on_nokey",
    "paused_actions",
    "paused_reason",
    "maxmemory",
    "maxmemory_human",
    "maxmemory_policy",
    "loading",
    "rejected_connections",
    "sync_full",
    "sync_partial_ok",
    "sync_partial_err",
    "expired_keys",
    "evicted_clients",
    "evicted_keys",
    "evicted_scripts",
    "keyspace_hits",
    "keyspace_misses",
    "pubsub_channels",
    "pubsub_patterns",
    "pubsubshard_channels",
    "total_error_replies",
    "unexpected_error_replies",
    "role",
    "connected_slaves",
];
