//! A group of a stream in a payload.
//!
//! ```text
//! name | last ID | entries read                           the latter from the second form on
//! pending | (ID, 16 bytes | time | deliveries) for each
//! consumers | (name | seen | active | pending | ID for each) for each    active from the third form on
//! ```
//!
//! Times have eight bytes.

use std::borrow::Cow;

use super::Damaged;
use super::reader::Reader;
use super::stream::StreamForm;
use super::writer::Writer;
use crate::group::Group;
use crate::id::StreamId;
use crate::pending::ConsumerIndex;
use crate::pending::PendingEntry;
use crate::pending::PendingFilter;
use crate::stream::Stream;
use crate::time::UnixMillis;

/// Appends a group.
pub(super) fn put(out: &mut Writer, name: &[u8], group: &Group) {
    out.string(name);
    out.id(group.last_delivered());
    out.number(group.entries_read().unwrap_or(READ_UNKNOWN));
    let mut owned = Vec::with_capacity(group.pending().len());
    out.count(group.pending().len());
    for entry in group.pending().iter(PendingFilter::default()) {
        out.raw_id(entry.id);
        out.time(Some(entry.delivered_at.0));
        out.number(entry.deliveries);
        owned.push((entry.consumer, entry.id));
    }
    owned.sort_by_key(|(consumer, _)| *consumer);
    out.count(group.consumer_count());
    for (index, consumer) in group.consumers() {
        out.string(consumer.name());
        out.time(Some(consumer.seen_at().0));
        out.time(consumer.active_at().map(|at| at.0));
        let start = owned.partition_point(|(consumer, _)| *consumer < index);
        let end = owned.partition_point(|(consumer, _)| *consumer <= index);
        out.count(end - start);
        owned[start..end].iter().for_each(|(_, id)| out.raw_id(*id));
    }
}

/// Takes a group of this stream, and its name.
pub(super) fn take<'a>(
    payload: &mut Reader<'a>,
    form: StreamForm,
    stream: &Stream,
) -> Result<(Cow<'a, [u8]>, Group), Damaged> {
    let name = payload.string()?;
    let last_delivered = payload.id()?;
    let entries_read = if form >= StreamForm::WithCounters {
        Some(payload.number()?).filter(|read| *read != READ_UNKNOWN)
    } else {
        stream.counters().position(last_delivered)
    };
    let mut group = Group::new(last_delivered, entries_read);
    let mut unowned = take_pending(payload)?;
    for _ in 0..payload.count()? {
        take_consumer(payload, form, &mut group, &mut unowned)?;
    }
    for entry in unowned {
        group.pending.insert(entry.owned().ok_or(Damaged)?);
    }
    Ok((name, group))
}

/// A pending entry whose consumer is known only later.
struct Unowned {
    id: StreamId,
    delivered_at: UnixMillis,
    deliveries: u64,
    consumer: Option<ConsumerIndex>,
}

impl Unowned {
    fn owned(self) -> Option<PendingEntry> {
        Some(PendingEntry {
            id: self.id,
            consumer: self.consumer?,
            delivered_at: self.delivered_at,
            deliveries: self.deliveries,
        })
    }
}

/// Takes the pending entries of all consumers. Each is there once.
fn take_pending(payload: &mut Reader<'_>) -> Result<Vec<Unowned>, Damaged> {
    let mut entries = Vec::new();
    for _ in 0..payload.count()? {
        entries.push(Unowned {
            id: payload.raw_id()?,
            delivered_at: UnixMillis(payload.time()?.unwrap_or(0)),
            deliveries: payload.number()?,
            consumer: None,
        });
    }
    // They come in order, unless somebody wrote them who has another one.
    entries.sort_by_key(|entry| entry.id);
    if entries.is_sorted_by(|a, b| a.id < b.id) {
        Ok(entries)
    } else {
        Err(Damaged)
    }
}

/// Takes a consumer, and gives it what it has pending, which nobody else may have.
fn take_consumer(
    payload: &mut Reader<'_>,
    form: StreamForm,
    group: &mut Group,
    unowned: &mut [Unowned],
) -> Result<(), Damaged> {
    let name = payload.string()?;
    let seen_at = payload.time()?;
    let active_at = if form >= StreamForm::WithActiveTimes {
        payload.time()?
    } else {
        // Whoever was seen may have been given something then.
        seen_at
    };
    let seen_at = UnixMillis(seen_at.unwrap_or(0));
    let (index, is_new) = group.consumers.find_or_create(&name, seen_at);
    if !is_new {
        return Err(Damaged);
    }
    group.consumers.get_mut(index).active_at = active_at.map(UnixMillis);
    for _ in 0..payload.count()? {
        let id = payload.raw_id()?;
        let at = unowned
            .binary_search_by_key(&id, |entry| entry.id)
            .map_err(|_| Damaged)?;
        if unowned[at].consumer.replace(index).is_some() {
            return Err(Damaged);
        }
    }
    Ok(())
}

/// Stands for a number of entries read that is not known.
const READ_UNKNOWN: u64 = u64::MAX;
