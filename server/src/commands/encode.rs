//! What several commands send alike.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Entry;
use tailrace_storage::Part;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::StringValue;

use super::encode_entry::EntryWriter;

/// The ID of an entry.
#[inline]
pub(super) fn id(reply: &mut ReplyWriter<'_>, id: StreamId) {
    reply.id(id.ms, id.seq);
}

/// An entry: `[id, [name, value, ...]]`.
pub(super) fn entry(reply: &mut ReplyWriter<'_>, entry: &Entry<'_>) {
    EntryWriter::new(reply, 1).put(entry);
}

/// The entries of a stream from `from` to `to`, `count_max` at most, lowest ID first.
pub(super) fn range(
    reply: &mut ReplyWriter<'_>,
    stream: &Stream,
    from: StreamId,
    to: StreamId,
    count_max: u64,
) {
    let entries = stream.log().range(from, to);
    let count = array_len(entries.count_up_to(count_max));
    reply.late_array(count);
    let mut writer = EntryWriter::new(reply, count);
    entries.take(count).for_each(|entry| writer.put(&entry));
}

/// As [`range`], highest ID first.
pub(super) fn range_reversed(
    reply: &mut ReplyWriter<'_>,
    stream: &Stream,
    from: StreamId,
    to: StreamId,
    count_max: u64,
) {
    let entries = stream.log().range(from, to);
    let count = array_len(entries.count_up_to(count_max));
    reply.late_array(count);
    let mut writer = EntryWriter::new(reply, count);
    let entries = entries.rev().take(count);
    entries.for_each(|entry| writer.put(&entry));
}

/// Entries that the log has, in the order of `ids`.
pub(super) fn entries(reply: &mut ReplyWriter<'_>, stream: &Stream, ids: &[StreamId]) {
    reply.late_array(ids.len());
    let mut lookup = stream.log().lookup();
    let mut writer = EntryWriter::new(reply, ids.len());
    for &id in ids {
        let found = lookup.get(id).expect("the log has what was claimed");
        writer.put(&found);
    }
}

/// IDs alone, of entries that were claimed.
pub(super) fn claimed_ids(reply: &mut ReplyWriter<'_>, ids: &[StreamId]) {
    reply.late_array(ids.len());
    for &each in ids {
        id(reply, each);
    }
}

/// A string.
#[inline]
pub(super) fn string(reply: &mut ReplyWriter<'_>, value: &StringValue) {
    part(reply, value.part());
}

/// A string, or null.
#[inline]
pub(super) fn string_or_null(reply: &mut ReplyWriter<'_>, value: Option<&StringValue>) {
    match value {
        Some(value) => string(reply, value),
        None => reply.null(),
    }
}

/// A number of elements, as headers take it.
pub(super) fn array_len(count: u64) -> usize {
    usize::try_from(count).expect("what is held in memory can be counted")
}

#[inline]
fn part(reply: &mut ReplyWriter<'_>, part: Part<'_>) {
    match part {
        Part::Bytes(bytes) => reply.bulk(bytes),
        Part::Int(value) => reply.bulk_integer(value),
    }
}

/// What `HELP` of a container says: its subcommands, each with a line about it.
pub(super) fn help(reply: &mut ReplyWriter<'_>, container: &str, lines: &[(&str, &str)]) {
    reply.late_array(3 + lines.len() * 2);
    reply.simple(&format!(
        "{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    ));
    for (form, meaning) in lines {
        reply.simple(form);
        reply.simple(&format!("    {meaning}"));
    }
    reply.simple("HELP");
    reply.simple("    Print this help.");
}
