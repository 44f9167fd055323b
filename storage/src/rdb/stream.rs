//! A stream in a payload.
//!
//! ```text
//! nodes | (first ID, 16 bytes, as a string | listpack, as a string) for each
//! entries | last ID
//! first ID | highest deleted ID | entries added           from the second form on
//! groups | (see group.rs) for each
//! what producers sent, so that nothing is added twice     in Redis' form alone
//! ```

use super::Damaged;
use super::group;
use super::reader::Reader;
use super::reader::id_of_bytes;
use super::writer::Writer;
use crate::id::StreamId;
use crate::log::Log;
use crate::node::Node;
use crate::stream::Stream;

/// The forms in which streams were written over the years; each has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StreamForm {
    First,
    /// How many entries were added and how many of them a group has read, and the highest ID that was deleted.
    WithCounters,
    /// When consumers last were given something.
    WithActiveTimes,
    /// Which messages producers have sent lately.
    WithProducers,
}

/// Appends a stream, in the form with active times.
pub(super) fn put(out: &mut Writer, stream: &Stream) {
    let log = stream.log();
    out.count(log.node_count());
    let mut listpack = Vec::new();
    for node in log.nodes() {
        out.number(ID_BYTES as u64);
        out.raw_id(node.base());
        listpack.clear();
        node.put_listpack(&mut listpack);
        out.text(&listpack);
    }
    out.number(log.len());
    out.id(stream.last_id());
    out.id(stream.first_id());
    out.id(stream.max_deleted_id());
    out.number(stream.entries_added());
    out.count(stream.groups().len());
    for (name, group) in stream.groups() {
        group::put(out, name, group);
    }
}

/// Takes a stream. `packs` says whether long values may be packed.
pub(super) fn take(
    payload: &mut Reader<'_>,
    form: StreamForm,
    packs: bool,
) -> Result<Stream, Damaged> {
    let log = take_log(payload, packs)?;
    if payload.number()? != log.len() {
        return Err(Damaged);
    }
    let last_id = payload.id()?;
    let (mut max_deleted_id, mut entries_added) = (StreamId::MIN, log.len());
    if form >= StreamForm::WithCounters {
        // The first entry tells the first ID.
        payload.id()?;
        (max_deleted_id, entries_added) = (payload.id()?, payload.number()?);
    }
    let mut stream =
        Stream::from_log(log, last_id, max_deleted_id, entries_added).ok_or(Damaged)?;
    for _ in 0..payload.count()? {
        let (name, group) = group::take(payload, form, &stream)?;
        if !stream.add_group(&name, group) {
            return Err(Damaged);
        }
    }
    if form >= StreamForm::WithProducers {
        skip_producers(payload)?;
    }
    Ok(stream)
}

fn take_log(payload: &mut Reader<'_>, packs: bool) -> Result<Log, Damaged> {
    let mut log = Log::new();
    for _ in 0..payload.count()? {
        let base = <[u8; ID_BYTES]>::try_from(&*payload.string()?).map_err(|_| Damaged)?;
        let base = id_of_bytes(base);
        let listpack = payload.string()?;
        payload.nodes += 1;
        let Some(node) = Node::from_listpack(base, &listpack)? else {
            // The reference may keep a node whose entries are all deleted.
            continue;
        };
        if log.last_slot_id().is_some_and(|last| last >= base) {
            return Err(Damaged);
        }
        log.push_node(node, packs);
    }
    Ok(log)
}

/// Takes which messages came from which producer. Nothing of that is kept: entries are added as often as they are sent.
fn skip_producers(payload: &mut Reader<'_>) -> Result<(), Damaged> {
    let (seconds, messages) = (payload.number()?, payload.number()?);
    if !(1..=SECONDS_MAX).contains(&seconds) || !(1..=MESSAGES_MAX).contains(&messages) {
        return Err(Damaged);
    }
    for _ in 0..payload.count()? {
        payload.string()?;
        for _ in 0..payload.count()? {
            payload.string()?;
            payload.id()?;
        }
    }
    // How many messages there ever were, and how many came again.
    payload.number()?;
    payload.number()?;
    Ok(())
}

const ID_BYTES: usize = 16;
/// For how long Redis remembers messages at most.
const SECONDS_MAX: u64 = 86_400;
/// How many Redis remembers of a producer at most.
const MESSAGES_MAX: u64 = 10_000;
