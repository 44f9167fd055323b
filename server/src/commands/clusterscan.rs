//! `CLUSTERSCAN cursor [MATCH pattern] [COUNT count] [TYPE type] [SLOT slot]`
//!
//! Goes through the keys of all nodes, slot by slot. A cursor carries a hash tag of its slot, so that a client sends it
//! to the node that has the slot.
//!
//! Behaviour worth knowing:
//! - The first call only tells where to begin. The last cursor is 0.
//! - A cursor of a node that has been started anew begins its slot again.
//! - Without a cluster there are no slots to go through, and it is an error.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::SLOT_COUNT;
use tailrace_storage::Value;
use tailrace_storage::key_slot;
use tailrace_storage::pattern_slot;

use super::cluster;
use super::scan::Filter;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "clusterscan",
    arity: -2,
    syntax: "cursor [MATCH match-pattern:pattern] [COUNT count:integer] [TYPE type] \
             [SLOT slot:integer]",
    flags: Flags::READONLY,
    acl: Acl::KEYSPACE,
    keys: &[KeySpec::first(&["not_key"])],
    tips: &[
        "nondeterministic_output",
        "request_policy:special",
        "response_policy:special",
    ],
    group: Group::Cluster,
    summary: "Goes through the keys of all nodes.",
    since: "9.1.0",
    complexity: "O(N), N being the number of keys in the reply.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if call.state.cluster.is_none() {
        return Err(ServerError::NoCluster.into());
    }
    let cursor = args.bytes()?;
    let filter = Filter::parse_with_slot(args, call.store().settings().compat, cluster::slot)?;
    let by_pattern = filter.pattern.and_then(pattern_slot);
    let is_nowhere = filter.slot.is_some() && by_pattern.is_some() && filter.slot != by_pattern;
    if cursor == b"0" {
        let slot = filter.slot.or(by_pattern).unwrap_or(0);
        end(if is_nowhere { None } else { Some(slot) }, reply);
        return Ok(Flow::Done);
    }
    let print = fingerprint(call);
    let (slot, place) = parse(cursor, &print)?;
    if filter.slot.is_some_and(|asked| asked != slot) {
        return Err(ClusterError::CursorSlot.into());
    }
    if let Some(wanted) = by_pattern.filter(|wanted| *wanted != slot) {
        end(
            Some(wanted).filter(|wanted| !is_nowhere && *wanted > slot),
            reply,
        );
        return Ok(Flow::Done);
    }
    let is_one_slot = filter.slot.is_some() || by_pattern.is_some();
    scan(call, &filter, (slot, place), is_one_slot, &print, reply);
    Ok(Flow::Done)
}

/// A reply without keys: on to a slot, or the end.
fn end(slot: Option<u16>, reply: &mut ReplyWriter<'_>) {
    reply.array(2);
    reply.bulk(start_of(slot).as_bytes());
    reply.array(0);
}

/// The cursor that begins a slot.
fn start_of(slot: Option<u16>) -> String {
    slot.map_or_else(
        || "0".to_owned(),
        |slot| format!("0-{{{}}}-0", tag_of(slot)),
    )
}

/// Looks at about as many keys as the filter says, from a place of a slot on, and in the slots of this node behind it.
fn scan(
    call: &mut Call<'_>,
    filter: &Filter<'_>,
    (mut slot, mut place): (u16, u64),
    is_one_slot: bool,
    print: &str,
    reply: &mut ReplyWriter<'_>,
) {
    let last = if is_one_slot {
        slot
    } else {
        last_of_owner(call, slot)
    };
    let mut found = Vec::new();
    let mut shown = ReplyWriter::new(&mut found, reply.version());
    let (mut count, mut left) = (0, filter.count);
    let db = call.db;
    let admits = |key: &[u8], value: &Value| filter.admits(key, value);
    let next = loop {
        let visit = |key: &[u8]| {
            shown.bulk(key);
            count += 1;
        };
        let step = call.store().scan_slot(db, slot, place, left, admits, visit);
        left = left.saturating_sub(step.looked_at);
        match step.next {
            Some(next) => break format!("{print}-{{{}}}-{next}", tag_of(slot)),
            None if slot == last && (is_one_slot || last + 1 == SLOT_COUNT) => {
                break start_of(None);
            }
            None if slot == last => break start_of(Some(last + 1)),
            None => (slot, place) = (slot + 1, 0),
        }
        if left == 0 {
            break format!("{print}-{{{}}}-0", tag_of(slot));
        }
    };
    reply.array(2);
    reply.bulk(next.as_bytes());
    reply.array(count);
    reply.raw(&found);
}

/// The last of the slots from this one on that the same node serves.
fn last_of_owner(call: &Call<'_>, slot: u16) -> u16 {
    let Some(cluster) = &call.state.cluster else {
        return slot;
    };
    let view = match call.state.face_of(call.id) {
        Some(face) => cluster.view_for(face),
        None => cluster.view(),
    };
    let owner = view.owner_of(slot);
    let same = |next: &u16| view.owner_of(*next) == owner;
    (slot..SLOT_COUNT).take_while(same).last().unwrap_or(slot)
}

/// Reads `<fingerprint>-<hash tag>-<place>`.
fn parse(cursor: &[u8], print: &str) -> Result<(u16, u64), ClusterError> {
    let mut parts = cursor.splitn(3, |byte| *byte == b'-');
    let mut next = || parts.next().ok_or(ClusterError::Cursor);
    let (given, tag, place) = (next()?, next()?, next()?);
    let place = tailrace_protocol::number::parse_u64_lenient(place).ok_or(ClusterError::Cursor)?;
    let is_ours = given == print.as_bytes();
    Ok((key_slot(tag), if is_ours { place } else { 0 }))
}

/// Six characters that tell this engine's places from those of another. None of them is one of a cursor.
fn fingerprint(call: &Call<'_>) -> String {
    call.state.info.run_id.chars().take(6).collect()
}

/// A short text that lies in a slot.
fn tag_of(slot: u16) -> String {
    let mut number: u64 = 0;
    loop {
        let tag = format!("{number:x}");
        if key_slot(tag.as_bytes()) == slot {
            return tag;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use tailrace_storage::key_slot;

    use super::parse;
    use super::tag_of;
    use crate::error::ClusterError;

    #[test]
    fn every_slot_has_a_tag() {
        for slot in [0, 1, 7, 8_191, 16_383] {
            assert_eq!(key_slot(tag_of(slot).as_bytes()), slot);
        }
    }

    #[test]
    fn a_cursor_of_another_server_begins_its_slot_again() {
        assert_eq!(parse(b"abcdef-{u}-7", "abcdef"), Ok((11_826, 7)));
        assert_eq!(parse(b"ABCDEF-{u}-7", "abcdef"), Ok((11_826, 0)));
        for wrong in [&b"1"[..], b"0-{u}", b"0-{u}-x", b""] {
            assert_eq!(parse(wrong, "abcdef"), Err(ClusterError::Cursor));
        }
    }
}
