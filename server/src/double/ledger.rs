//! What the ledger knows, in words: which promise was not kept, and what happened to which entry.

use tailrace_storage::Deed;
use tailrace_storage::GroupLedger;
use tailrace_storage::LedgerEvent;
use tailrace_storage::Mark;
use tailrace_storage::Promise;
use tailrace_storage::Removal;
use tailrace_storage::Stray;
use tailrace_storage::StreamId;
use tailrace_storage::StreamLedger;
use tailrace_storage::Told;
use tailrace_storage::Work;

use super::condition::Place;
use super::condition::text;
use crate::state::State;

/// The promise of this name, in lower case, whatever becomes of the work.
pub(crate) fn promise(name: &[u8]) -> Option<Promise> {
    Some(match name {
        b"at-least-once" => Promise::AtLeastOnce(Work::Unseen),
        b"exactly-once" => Promise::ExactlyOnce(Work::Unseen),
        b"no-loss" => Promise::NoLoss,
        b"no-leak" => Promise::NoLeak,
        _ => return None,
    })
}

/// The ledgers of a stream and of a group of it; if there are none, what there is instead.
pub(crate) fn find<'a>(
    state: &'a State,
    db: usize,
    place: &Place,
) -> Result<(&'a StreamLedger, &'a GroupLedger), String> {
    let Some(ledger) = state.store.ledger() else {
        return Err("the ledger is off; TD LEDGER ON begins one".to_owned());
    };
    let key = text(&place.stream);
    let Some(stream) = ledger.stream(db, &place.stream) else {
        let known = list(ledger.streams(db));
        return Err(format!(
            "the ledger knows no stream {key}; it knows {known}"
        ));
    };
    let Some(group) = stream.group(&place.group) else {
        let (group, known) = (text(&place.group), list(stream.groups()));
        return Err(format!(
            "the ledger knows no group {group} of {key}; it knows {known}"
        ));
    };
    Ok((stream, group))
}

/// Whether a promise was kept; if not, for which entries.
pub(crate) fn check(
    state: &State,
    db: usize,
    place: &Place,
    promise: Promise,
) -> Result<(), String> {
    let (stream, group) = find(state, db, place)?;
    let sums = group.summary();
    let broken = sums.broken(promise);
    let strays = match promise {
        Promise::NoLeak => sums.acknowledged_undelivered,
        _ => 0,
    };
    if broken + strays == 0 {
        return Ok(());
    }
    let shown = stream.broken(group, promise).take(SHOWN_MAX);
    let mut lines: Vec<_> = shown
        .map(|told| format!("{}: {}", told.id, describe(group, &told, promise)))
        .collect();
    let room = SHOWN_MAX - lines.len();
    let strays_shown = group.strays().iter().take(room);
    let strays_shown = strays_shown.filter(|_| strays > 0);
    lines.extend(strays_shown.map(|stray| describe_stray(group, stray)));
    let more = broken + strays - lines.len() as u64;
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let name = name(promise);
    let (place, added) = (place.name(), sums.added);
    let strays = match strays {
        0 => String::new(),
        1 => " and 1 acknowledgement of what was not delivered".to_owned(),
        count => format!(" and {count} acknowledgements of what was not delivered"),
    };
    let lines = lines.join("; ");
    Err(format!(
        "{name} of {place} does not hold for {broken} of {added} entries{strays}: {lines}"
    ))
}

/// All that is known of an ID, for each life of the stream that had it.
pub(crate) fn histories(stream: &StreamLedger, group: &GroupLedger, id: StreamId) -> Vec<String> {
    let told = stream.history(group, id);
    told.map(|told| describe(group, &told, Promise::NoLeak))
        .collect()
}

/// All that is known of an entry.
fn describe(group: &GroupLedger, told: &Told<'_>, promise: Promise) -> String {
    let (entry, history) = (told.entry, told.history);
    let mut events: Vec<_> = history
        .events()
        .iter()
        .map(|event| (event.mark.at, describe_event(group, event)))
        .collect();
    if history.left_out() > 0 {
        let middle = events.len() / 2;
        let left_out = format!("{} times more", history.left_out());
        events.insert(middle, (events[middle].0, left_out));
    }
    if let Some((removal, mark)) = entry.removed {
        events.push((mark.at, describe_removal(removal, mark)));
        // What happened in one millisecond stays in the order that is known of it.
        events.sort_by_key(|(at, _)| *at);
    }
    let mut lines = vec![match entry.added {
        Some(mark) => format!("added{}", by(mark)),
        None => "there before the ledger began".to_owned(),
    }];
    lines.extend(events.into_iter().map(|(_, line)| line));
    if history.deliveries == 0 {
        lines.push("never delivered".to_owned());
    }
    if history.is_pending() {
        lines.push("still pending".to_owned());
    } else if history.is_unacknowledged() {
        lines.push("never acknowledged by whom it was delivered to".to_owned());
    }
    let wants_work = matches!(
        promise,
        Promise::AtLeastOnce(Work::Noted) | Promise::ExactlyOnce(Work::Noted)
    );
    if wants_work && !history.is_worked {
        lines.push("its work was not done before".to_owned());
    }
    lines.join(", ")
}

fn describe_event(group: &GroupLedger, event: &LedgerEvent) -> String {
    let mark = event.mark;
    let consumer = match (group.consumer_of(event), mark.client) {
        (None, client) => format!("client {client}"),
        (Some(name), 0) => text(name),
        (Some(name), client) => format!("{} (client {client})", text(name)),
    };
    let owner = group.consumer_of(event).map_or_else(String::new, text);
    let at = mark.at.0;
    match event.deed {
        Deed::Delivered => format!("delivered to {consumer} at {at}"),
        Deed::DeliveredNoAck => format!("delivered to {consumer} with NOACK at {at}"),
        Deed::Reread => format!("read again by {consumer} at {at}"),
        Deed::Claimed => format!("claimed by {consumer} at {at}"),
        Deed::Moved => format!("claimed by {consumer} for its ID alone at {at}"),
        Deed::Acknowledged => format!("acknowledged by {consumer} at {at}"),
        Deed::AcknowledgedByStranger => {
            let readers = list(group.read_as(mark.client));
            let client = mark.client;
            format!("acknowledged by client {client}, which reads as {readers}, at {at}")
        }
        Deed::Worked => format!("its work done at {at}"),
        Deed::DroppedWithConsumer => format!("dropped with consumer {owner}{}", by(mark)),
        Deed::DroppedWithGroup => format!("dropped with the group{}", by(mark)),
        Deed::DroppedAsDeleted => format!("dropped as deleted{}", by(mark)),
    }
}

fn describe_removal(removal: Removal, mark: Mark) -> String {
    let by = by(mark);
    match removal {
        Removal::Trimmed => format!("trimmed{by}"),
        Removal::Deleted => format!("deleted{by}"),
        Removal::KeyDeleted => format!("its key deleted{by}"),
        Removal::KeyExpired => format!("its key expired{by}"),
        Removal::KeyReplaced => format!("its key replaced{by}"),
        Removal::KeyMovedAway => format!("its key moved away{by}"),
        Removal::Flushed => format!("flushed{by}"),
    }
}

fn describe_stray(group: &GroupLedger, stray: &Stray) -> String {
    let readers = list(group.read_as(stray.mark.client));
    let client = stray.mark.client;
    let (id, at) = (stray.id, stray.mark.at.0);
    format!(
        "{id}: acknowledged by client {client}, which reads as {readers}, at {at} when it was not delivered"
    )
}

/// Who did something, if anybody did, and when.
fn by(mark: Mark) -> String {
    match mark {
        Mark { at, client: 0 } => format!(" at {}", at.0),
        Mark { at, client } => format!(" by client {client} at {}", at.0),
    }
}

/// A promise by its name.
fn name(promise: Promise) -> &'static str {
    match promise {
        Promise::AtLeastOnce(Work::Unseen) => "AT-LEAST-ONCE",
        Promise::AtLeastOnce(Work::Noted) => "AT-LEAST-ONCE with WORKED",
        Promise::ExactlyOnce(Work::Unseen) => "EXACTLY-ONCE",
        Promise::ExactlyOnce(Work::Noted) => "EXACTLY-ONCE with WORKED",
        Promise::NoLoss => "NO-LOSS",
        Promise::NoLeak => "NO-LEAK",
    }
}

/// Some names, and how many more there are.
fn list<'a>(names: impl Iterator<Item = &'a [u8]>) -> String {
    let names: Vec<_> = names.collect();
    let shown: Vec<_> = names
        .iter()
        .take(SHOWN_MAX)
        .map(|name| text(name))
        .collect();
    match names.len().saturating_sub(SHOWN_MAX) {
        _ if names.is_empty() => "none".to_owned(),
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// How many entries or names an error shows.
const SHOWN_MAX: usize = 10;
