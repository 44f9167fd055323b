//! All data as text: one fact in a line, in an order that never changes, with the same words for the same data.
//!
//! A line is whole by itself, so that what is found in it, or differs, needs no other line to be understood. Times are
//! those of the wall, in milliseconds: where the clock stands still they are the same in every run, and a clock that
//! moves changes none of them.

use std::fmt;
use std::sync::Arc;

use tailrace_storage::ContentsKey;
use tailrace_storage::Digits;
use tailrace_storage::Group;
use tailrace_storage::PendingFilter;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Text;
use tailrace_storage::Value;

use super::condition::bytes;
use super::condition::text;
use super::snapshots::Saved;

/// One fact. Facts are in the order of what they are about.
#[derive(Debug, PartialEq)]
struct Fact<'a> {
    subject: Subject<'a>,
    value: String,
}

/// What a fact is about. No two facts of what one node has are about the same.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Subject<'a> {
    Clock,
    Key(usize, &'a [u8], Part<'a>),
}

/// A part of a key.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Part<'a> {
    /// Its type; of a string also the value.
    Kind,
    Expiry,
    LastId,
    EntriesAdded,
    MaxDeletedId,
    Entry(StreamId),
    Group(&'a [u8], GroupPart<'a>),
}

/// A part of a group.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum GroupPart<'a> {
    LastDeliveredId,
    EntriesRead,
    Consumer(&'a [u8], ConsumerPart),
    Pending(StreamId),
}

/// A part of a consumer.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum ConsumerPart {
    /// When it last asked.
    Seen,
    /// When it was last given something.
    Active,
}

/// Which keys.
#[derive(Clone, Copy)]
pub(crate) enum Keys<'a> {
    /// All of all databases, and the clock.
    All,
    /// These of one database.
    Of(usize, &'a [Vec<u8>]),
}

/// What all nodes have as text, each fact in a line.
pub(crate) fn state_text(nodes: &[Arc<Saved>], keys: Keys<'_>) -> String {
    let facts = facts(nodes, keys);
    facts.iter().map(|fact| format!("{fact}\n")).collect()
}

/// The lines in which what all nodes had differs from what they have, with the names of both; nothing if none does.
pub(crate) fn diff_text(
    (one, before): (&[u8], &[Arc<Saved>]),
    (other, after): (&[u8], &[Arc<Saved>]),
) -> String {
    let mut lines = diff(&facts(before, Keys::All), &facts(after, Keys::All));
    if !lines.is_empty() {
        lines.insert_str(0, &format!("--- {}\n+++ {}\n", text(one), text(other)));
    }
    lines
}

/// The facts of what all nodes have, in order. They have one clock.
fn facts<'a>(nodes: &'a [Arc<Saved>], keys: Keys<'_>) -> Vec<Fact<'a>> {
    let mut facts = Vec::new();
    if let (Keys::All, Some(first)) = (keys, nodes.first()) {
        facts.push(Fact {
            subject: Subject::Clock,
            value: first.clock.describe(),
        });
    }
    for node in nodes {
        let contents = node.data.contents();
        for db in 0..contents.databases() {
            let is_wanted = |key: &ContentsKey<'_>| match keys {
                Keys::All => true,
                Keys::Of(of_db, names) => of_db == db && names.iter().any(|name| name == key.key),
            };
            let wanted = contents.keys(db).filter(is_wanted);
            wanted.for_each(|key| facts_of_key(db, key, &mut facts));
        }
    }
    // What two nodes have of one key, since one of them knows no better, stands in the order of the nodes.
    facts.sort_by(|one, other| one.subject.cmp(&other.subject));
    facts
}

fn facts_of_key<'a>(db: usize, key: ContentsKey<'a>, facts: &mut Vec<Fact<'a>>) {
    let name = key.key;
    let mut add = |part, value: String| {
        facts.push(Fact {
            subject: Subject::Key(db, name, part),
            value,
        });
    };
    if let Some(deadline) = key.deadline {
        add(Part::Expiry, deadline.0.to_string());
    }
    match key.value {
        Value::String(string) => {
            let mut digits = Digits::default();
            let value = word(string.bytes_with(&mut digits));
            add(Part::Kind, format!("string {value}"));
        }
        Value::Stream(stream) => {
            add(Part::Kind, "stream".to_owned());
            facts_of_stream(stream, &mut add);
        }
    }
}

fn facts_of_stream<'a>(stream: &'a Stream, add: &mut impl FnMut(Part<'a>, String)) {
    add(Part::LastId, stream.last_id().to_string());
    add(Part::EntriesAdded, stream.entries_added().to_string());
    add(Part::MaxDeletedId, stream.max_deleted_id().to_string());
    for entry in stream.log().range(StreamId::MIN, StreamId::MAX) {
        let words = entry.fields().flat_map(|(name, value)| {
            let name = word(&bytes(Text::Part(name)));
            [name, word(&bytes(value))]
        });
        let words: Vec<String> = words.collect();
        add(Part::Entry(entry.id()), words.join(" "));
    }
    for (name, group) in stream.groups() {
        facts_of_group(group, &mut |part, value| {
            add(Part::Group(name, part), value);
        });
    }
}

fn facts_of_group<'a>(group: &'a Group, add: &mut impl FnMut(GroupPart<'a>, String)) {
    let read = group.entries_read();
    let read = read.map_or_else(|| "unknown".to_owned(), |read| read.to_string());
    add(
        GroupPart::LastDeliveredId,
        group.last_delivered().to_string(),
    );
    add(GroupPart::EntriesRead, read);
    for (_, consumer) in group.consumers() {
        let part = |part| GroupPart::Consumer(consumer.name(), part);
        add(part(ConsumerPart::Seen), consumer.seen_at().0.to_string());
        let active = consumer.active_at();
        let active = active.map_or_else(|| "never".to_owned(), |at| at.0.to_string());
        add(part(ConsumerPart::Active), active);
    }
    for entry in group.pending().iter(PendingFilter::default()) {
        let consumer = word(group.consumer(entry.consumer).name());
        let (deliveries, at) = (entry.deliveries, entry.delivered_at.0);
        let value = format!("consumer {consumer} deliveries {deliveries} delivered {at}");
        add(GroupPart::Pending(entry.id), value);
    }
}

/// Bytes as a word that stands for itself in a line, with quotes where it needs them, which hide nothing.
pub(super) fn word(bytes: &[u8]) -> String {
    let is_plain =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return bytes.iter().copied().map(char::from).collect();
    }
    let mut quoted = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\'' => quoted.push('\''),
            byte => quoted.extend(byte.escape_ascii().map(char::from)),
        }
    }
    quoted.push('"');
    quoted
}

impl fmt::Display for Fact<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject, self.value)
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => f.write_str("clock"),
            Self::Key(db, key, Part::Kind) => write!(f, "db{db} {}", word(key)),
            Self::Key(db, key, part) => write!(f, "db{db} {} {part}", word(key)),
        }
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => Ok(()),
            Self::Expiry => f.write_str("expires"),
            Self::LastId => f.write_str("last-id"),
            Self::EntriesAdded => f.write_str("entries-added"),
            Self::MaxDeletedId => f.write_str("max-deleted-id"),
            Self::Entry(id) => write!(f, "entry {id}"),
            Self::Group(name, part) => write!(f, "group {} {part}", word(name)),
        }
    }
}

impl fmt::Display for GroupPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LastDeliveredId => f.write_str("last-delivered-id"),
            Self::EntriesRead => f.write_str("entries-read"),
            Self::Consumer(name, part) => {
                let part = match part {
                    ConsumerPart::Seen => "seen",
                    ConsumerPart::Active => "active",
                };
                write!(f, "consumer {} {part}", word(name))
            }
            Self::Pending(id) => write!(f, "pending {id}"),
        }
    }
}

/// What differs between two lists of facts, for people: the lines of the first that are not in the second behind `-`,
/// those of the second behind `+`, what is about the same thing together. Nothing if none differs.
fn diff(before: &[Fact<'_>], after: &[Fact<'_>]) -> String {
    let mut lines = String::new();
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let (old, new) = match (before.peek(), after.peek()) {
            (None, None) => return lines,
            (Some(old), Some(new)) => (old.subject <= new.subject, new.subject <= old.subject),
            (old, new) => (old.is_some(), new.is_some()),
        };
        let old = before.next_if(|_| old);
        let new = after.next_if(|_| new);
        if old == new {
            continue;
        }
        for (mark, fact) in [('-', old), ('+', new)] {
            if let Some(fact) = fact {
                lines.push_str(&format!("{mark} {fact}\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(key: &'static [u8], value: &str) -> Fact<'static> {
        Fact {
            subject: Subject::Key(0, key, Part::Kind),
            value: value.to_owned(),
        }
    }

    #[test]
    fn what_differs_stands_together() {
        let before = [fact(b"a", "1"), fact(b"b", "1"), fact(b"c", "1")];
        let after = [fact(b"a", "1"), fact(b"b", "2"), fact(b"d", "1")];
        let differs = diff(&before, &after);
        assert_eq!(differs, "- db0 b 1\n+ db0 b 2\n- db0 c 1\n+ db0 d 1\n");
        assert_eq!(diff(&before, &before), "");
    }

    #[test]
    fn a_word_is_read_back_as_it_was() {
        for bytes in [
            &b""[..],
            b"plain:1-0",
            b"two words",
            b"it's \"\\ \n\0\xff",
            b"#",
        ] {
            let line = word(bytes);
            let words = crate::config::split_option(line.as_bytes()).unwrap();
            assert_eq!(words, [bytes], "{line}");
        }
    }
}
