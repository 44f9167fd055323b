//! What may differ between Tailrace and the reference, each with its reason. Nothing else may, but for times
//! (within [`super::clock::TOLERANCE_MS`]) and ids made by the clock.

use tailrace_tests::Value;

use super::grammar::Words;
use super::talk::is;
use super::texts;

/// Two values in the same place of the replies to the same command.
pub(super) struct Pair<'a> {
    pub(super) command: &'a Words,
    /// The name before them, where they are one of pairs.
    pub(super) field: &'a [u8],
    pub(super) reference: &'a Value,
    pub(super) tailrace: &'a Value,
    /// Of the sequence as a whole.
    pub(super) facts: Facts,
}

/// What happened in a sequence so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    /// Entries were removed by MINID.
    pub(super) has_trimmed_by_id: bool,
    /// Keys expired, and somebody looked at keys without naming them.
    pub(super) has_met_expired: bool,
    /// Somebody waited.
    pub(super) has_waited: bool,
    /// Scripts were forgotten.
    pub(super) has_flushed_scripts: bool,
    /// The clock made ids.
    pub(super) has_ids_of_clock: bool,
}

/// Replies as they are compared. Where the reference leaves an order to chance they are put in order: subcommands,
/// channels when all are left, and patterns that match the same message.
pub(super) fn in_order(command: &Words, replies: &[Value]) -> Vec<Value> {
    let mut replies = replies.to_vec();
    if is(command, 0, "COMMAND") || is(command, 0, "EXEC") {
        replies.iter_mut().for_each(sort_subcommands);
    }
    let leaves_all =
        command.len() == 1 && command[0].to_ascii_uppercase().ends_with(b"UNSUBSCRIBE");
    if !is(command, 0, "EXEC") {
        put_runs_in_order(&mut replies, leaves_all);
        return replies;
    }
    // Commands that answer more than once push what follows out of the array.
    let is_own = |reply: &Value| matches!(reply, Value::Array(_)) && !is_unasked(reply);
    let Some(at) = replies.iter().position(is_own) else {
        put_runs_in_order(&mut replies, false);
        return replies;
    };
    let Value::Array(elements) = replies.remove(at) else {
        return replies;
    };
    let behind = at + elements.len();
    replies.splice(at..at, elements);
    put_runs_in_order(&mut replies[..at], false);
    put_runs_in_order(&mut replies[at..], true);
    let elements = replies.drain(at..behind).collect();
    replies.insert(at, Value::Array(elements));
    replies
}

/// Whether a reply is a message, which is an array in RESP2.
fn is_unasked(reply: &Value) -> bool {
    let kinds: [&[u8]; 3] = [b"message", b"pmessage", b"smessage"];
    message(reply).is_some_and(|parts| kinds.contains(&parts[0].text()))
}

/// Puts runs of messages in order whose order is left to chance; if `leaves_all`, also where channels are left.
fn put_runs_in_order(replies: &mut [Value], leaves_all: bool) {
    let is_leaving = |message: &[Value]| message[0].text().ends_with(b"unsubscribe");
    let is_run = |one: &Value, two: &Value| {
        is_expiry(one) && is_expiry(two)
            || match (message(one), message(two)) {
                (Some(one), Some(two)) if one[0].text() == b"pmessage" => {
                    one[0] == two[0] && one[2..] == two[2..]
                }
                (Some(one), Some(two)) => leaves_all && is_leaving(one) && one[0] == two[0],
                _ => false,
            }
    };
    for run in replies.chunk_by_mut(is_run) {
        if is_expiry(&run[0]) {
            run.sort_by_key(|message| format!("{message:?}"));
            continue;
        }
        let mut names: Vec<Value> = run
            .iter_mut()
            .filter_map(name)
            .map(|name| name.clone())
            .collect();
        names.sort_by(|one, two| one.text().cmp(two.text()));
        for (place, name) in run.iter_mut().filter_map(name).zip(names) {
            *place = name;
        }
    }
}

/// Puts what COMMAND INFO says of subcommands in the order of their names.
fn sort_subcommands(value: &mut Value) {
    let Value::Array(parts) = value else {
        return;
    };
    parts.iter_mut().for_each(sort_subcommands);
    let name = |part: &Value| match part {
        Value::Array(said) => said.first().map_or(Vec::new(), |name| name.text().to_vec()),
        _ => Vec::new(),
    };
    if parts.iter().all(|part| name(part).contains(&b'|')) {
        parts.sort_by_key(name);
    }
}

/// Whether a reply is compared: when a key expires that is only met by chance is told by chance, too.
pub(super) fn is_compared(reply: &Value, facts: Facts) -> bool {
    !(facts.has_met_expired && is_expiry(reply))
}

/// Whether a message tells that a key has expired: several keys do so in whatever order they are met.
fn is_expiry(value: &Value) -> bool {
    let is_of_keys = |channel: &Value| channel.text().starts_with(b"__key");
    message(value).is_some_and(|parts| {
        let [.., channel, payload] = parts else {
            return false;
        };
        is_of_keys(channel)
            && (payload.text() == b"expired" || channel.text().ends_with(b":expired"))
    })
}

fn message(reply: &Value) -> Option<&[Value]> {
    match reply {
        Value::Array(parts) | Value::Push(parts) if parts.len() >= 3 => Some(parts),
        _ => None,
    }
}

/// The channel or pattern that a message or subscription is about.
fn name(reply: &mut Value) -> Option<&mut Value> {
    match reply {
        Value::Array(parts) | Value::Push(parts) => parts.get_mut(1),
        _ => None,
    }
}

struct Allowed {
    reason: &'static str,
    covers: fn(&Pair<'_>) -> bool,
}

/// Why these two may differ, if they may.
pub(super) fn reason(pair: &Pair<'_>) -> Option<&'static str> {
    let allowed = ALLOWED.iter().find(|allowed| (allowed.covers)(pair));
    allowed.map(|allowed| allowed.reason)
}

const ALLOWED: &[Allowed] = &[
    Allowed {
        reason: "keys are kept in another order",
        covers: |pair| {
            is(pair.command, 0, "KEYS") && sorted(pair.reference) == sorted(pair.tailrace)
        },
    },
    Allowed {
        reason: "channels are kept in another order",
        covers: |pair| {
            is(pair.command, 0, "PUBSUB")
                && (is(pair.command, 1, "CHANNELS") || is(pair.command, 1, "SHARDCHANNELS"))
                && sorted(pair.reference) == sorted(pair.tailrace)
        },
    },
    Allowed {
        reason: "keys are kept in another order, so pages of SCAN have other keys unless there is only one",
        covers: |pair| is(pair.command, 0, "SCAN") && are_pages(pair),
    },
    Allowed {
        reason: "which key RANDOMKEY takes is left to chance",
        covers: |pair| is(pair.command, 0, "RANDOMKEY") && are_bulks(pair),
    },
    Allowed {
        reason: "a key whose time is up counts until somebody looks, which others do here (SCAN by type, RANDOMKEY)",
        covers: |pair| {
            is(pair.command, 0, "DBSIZE") && pair.facts.has_met_expired && are_integers(pair)
        },
    },
    Allowed {
        reason: "what the commands of a slot took is measured",
        covers: |pair| pair.field == b"cpu-usec" && are_integers(pair),
    },
    Allowed {
        reason: "some replies are longer than others that say the same (DUMP, CLIENT INFO), and EXEC counts them often",
        covers: |pair| pair.field == b"network-bytes-out" && are_integers(pair),
    },
    Allowed {
        reason: "a lag is never negative",
        covers: |pair| {
            let is_below = matches!(pair.reference, Value::Integer(lag) if *lag < 0);
            pair.field == b"lag" && is_below && *pair.tailrace == Value::Integer(0)
        },
    },
    Allowed {
        reason: "XTRIM MINID leaves no empty node behind",
        covers: |pair| {
            pair.field.starts_with(b"radix-tree-")
                && pair.facts.has_trimmed_by_id
                && are_fewer(pair)
        },
    },
    Allowed {
        reason: "how a tree branches depends on the digits of ids, and those made by the clock differ",
        covers: |pair| pair.field == b"radix-tree-nodes" && pair.facts.has_ids_of_clock,
    },
    Allowed {
        reason: "help is in words of our own",
        covers: |pair| {
            help_title(pair.reference).is_some_and(|title| Some(title) == help_title(pair.tailrace))
        },
    },
    Allowed {
        reason: "each server runs somewhere of its own, under its own name",
        covers: |pair| {
            let is_own = ["dir", "port", "syslog-ident"]
                .map(str::as_bytes)
                .contains(&pair.field);
            is(pair.command, 0, "CONFIG") && is_own && are_bulks(pair)
        },
    },
    Allowed {
        reason: "whether somebody still waits is asked as often as it takes, which is logged, too",
        covers: |pair| {
            let is_log = is(pair.command, 0, "SLOWLOG") || is(pair.command, 0, "COMMANDLOG");
            is_log && is(pair.command, 1, "LEN") && pair.facts.has_waited && are_integers(pair)
        },
    },
    Allowed {
        reason: "clients have other numbers",
        covers: |pair| {
            let is_number = pair.field == b"id" && is(pair.command, 0, "HELLO");
            is_number
                || (is(pair.command, 0, "CLIENT")
                    && is(pair.command, 1, "ID")
                    && are_integers(pair))
        },
    },
    Allowed {
        reason: "clients have other numbers, also one that does not hear in another's place any more",
        covers: |pair| {
            let is_it = |value: &Value| match value {
                Value::Push(parts) => {
                    parts.len() == 2 && parts[0].text() == b"tracking-redir-broken"
                }
                _ => false,
            };
            is_it(pair.reference) && is_it(pair.tailrace)
        },
    },
    Allowed {
        reason: "clients have other numbers, ports, ages and buffers; one whose transaction is lost or over keeps nothing",
        covers: |pair| {
            is(pair.command, 0, "CLIENT")
                && texts::clients(pair.reference)
                    .is_some_and(|clients| Some(clients) == texts::clients(pair.tailrace))
        },
    },
    Allowed {
        reason: "what is measured, and what belongs to a process, is each server's own",
        covers: |pair| {
            is(pair.command, 0, "INFO")
                && texts::info(pair.reference, pair.facts)
                    .is_some_and(|info| Some(info) == texts::info(pair.tailrace, pair.facts))
        },
    },
    Allowed {
        reason: "the reference asks itself when it makes a new interpreter, and logs that",
        covers: |pair| {
            is(pair.command, 1, "LEN") && pair.facts.has_flushed_scripts && are_integers(pair)
        },
    },
    Allowed {
        reason: "nothing is replicated, not even what WAIT would ask",
        covers: |pair| is(pair.command, 0, "ROLE") && are_integers(pair),
    },
    Allowed {
        reason: "DUMP says the version that others read, too, and packs no strings",
        covers: |pair| is(pair.command, 0, "DUMP") && are_bulks(pair),
    },
    Allowed {
        reason: "memory is counted as it is used",
        covers: |pair| {
            is(pair.command, 0, "MEMORY") && is(pair.command, 1, "USAGE") && are_integers(pair)
        },
    },
];

fn sorted(value: &Value) -> Option<Vec<&[u8]>> {
    let (Value::Array(parts) | Value::Set(parts)) = value else {
        return None;
    };
    let mut texts: Vec<&[u8]> = parts.iter().map(Value::text).collect();
    texts.sort_unstable();
    Some(texts)
}

fn are_pages(pair: &Pair<'_>) -> bool {
    let (Value::Array(reference), Value::Array(tailrace)) = (pair.reference, pair.tailrace) else {
        return false;
    };
    let is_page = |parts: &[Value]| parts.len() == 2 && sorted(&parts[1]).is_some();
    let is_last = |parts: &[Value]| parts[0].text() == b"0";
    let is_only_one = is(pair.command, 1, "0") && is_last(reference) && is_last(tailrace);
    is_page(reference)
        && is_page(tailrace)
        && (!is_only_one || sorted(&reference[1]) == sorted(&tailrace[1]))
}

fn are_bulks(pair: &Pair<'_>) -> bool {
    matches!(
        (pair.reference, pair.tailrace),
        (Value::Bulk(_), Value::Bulk(_))
    )
}

/// Whether Tailrace has less of something.
fn are_fewer(pair: &Pair<'_>) -> bool {
    matches!((pair.reference, pair.tailrace),
        (Value::Integer(reference), Value::Integer(tailrace)) if reference > tailrace)
}

fn are_integers(pair: &Pair<'_>) -> bool {
    matches!(
        (pair.reference, pair.tailrace),
        (Value::Integer(_), Value::Integer(_))
    )
}

/// The first line of a help text, which programs may look for.
fn help_title(value: &Value) -> Option<&[u8]> {
    let Value::Array(lines) = value else {
        return None;
    };
    let are_lines = lines.iter().all(|line| matches!(line, Value::Simple(_)));
    let title = lines.first().filter(|_| are_lines)?.text();
    title.ends_with(b"Subcommands are:").then_some(title)
}
