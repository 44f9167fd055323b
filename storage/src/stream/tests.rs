//! Streams against the model, and the promises that a group makes.

mod ops;
mod pair;

use std::collections::BTreeSet;

use proptest::prelude::*;

use self::ops::{GroupOp, Op, op};
use self::pair::Pair;
use super::*;
use crate::deliver::Tracking;
use crate::group::Presence;

proptest! {
    /// Every operation answers and leaves behind what the rules say, and so does its copy.
    #[test]
    fn a_stream_follows_the_rules(ops in prop::collection::vec(op(), 0..60)) {
        let mut pair = Pair::new();
        for op in &ops {
            pair.apply(op);
            pair.assert_same();
        }
        pair.stream = pair.stream.clone();
        pair.assert_same();
    }

    /// At least once: whatever happens, an entry that was neither acknowledged nor deleted is
    /// undelivered or pending. And a group that is not set back delivers each entry once.
    #[test]
    fn no_entry_is_lost_or_delivered_afresh_twice(ops in prop::collection::vec(op(), 0..60)) {
        let mut pair = Pair::new();
        pair.stream.create_group(KEPT, StreamId::MIN, None).unwrap();
        let (mut settled, mut delivered) = (BTreeSet::new(), BTreeSet::new());
        for op in &ops {
            match op {
                Op::Group(_, op) => pair.serve_kept(op, &mut delivered, &mut settled),
                Op::SetId { .. } => {}
                op => pair.apply(op),
            }
        }
        let group = pair.stream.group(KEPT).unwrap();
        for &id in pair.model.live.iter().filter(|id| !settled.contains(id)) {
            let pending = group.pending().get(id).is_some();
            prop_assert!(id > group.last_delivered() || pending, "{} was lost", id);
        }
    }
}

/// A group that nobody sets back, destroys or deletes consumers of.
const KEPT: &[u8] = b"kept";

impl Pair {
    fn serve_kept(
        &mut self,
        op: &GroupOp,
        delivered: &mut BTreeSet<StreamId>,
        settled: &mut BTreeSet<StreamId>,
    ) {
        let now = self.now;
        match op {
            GroupOp::ReadNew {
                consumer, count, ..
            } => {
                let (consumer, count) = ([*consumer], (*count).into());
                let tracking = Tracking::Pending;
                let read = self
                    .stream
                    .read_new(KEPT, &consumer, count, tracking, now)
                    .unwrap();
                let Some(new) = read.delivered else { return };
                let before = delivered.len() as u64;
                for entry in self.stream.log().range(new.from, new.to) {
                    assert!(delivered.insert(entry.id()), "{} came twice", entry.id());
                }
                assert_eq!(delivered.len() as u64, before + new.count);
            }
            GroupOp::AckEach { from, step } => {
                let ids = self.each(from, *step);
                self.stream.acknowledge(KEPT, ids.iter().copied()).unwrap();
                settled.extend(ids.into_iter().filter(|id| delivered.contains(id)));
            }
            GroupOp::AutoClaim { consumer, ask, .. } => {
                self.stream
                    .auto_claim(KEPT, &[*consumer], *ask, now)
                    .unwrap();
            }
            _ => {}
        }
    }
}

/// With four thousand waiting, nobody is touched one by one; what an attempt does to a waiting
/// consumer's idle time shows nevertheless, and stays when the wait is over.
#[test]
fn an_attempt_is_seen_by_those_who_wait_and_nobody_else() {
    let mut stream = Stream::new();
    stream.create_group(b"g", StreamId::MIN, None).unwrap();
    for name in [&b"waits"[..], b"away"] {
        stream.create_consumer(b"g", name, UnixMillis(10)).unwrap();
    }
    stream.note_attempt(b"g", UnixMillis(50)).unwrap();

    let group = stream.group(b"g").unwrap();
    let waits = group.find_consumer(b"waits").unwrap();
    let away = group.find_consumer(b"away").unwrap();
    assert_eq!(group.seen_at(waits, Presence::Waits), UnixMillis(50));
    assert_eq!(group.seen_at(away, Presence::Away), UnixMillis(10));

    stream.end_wait(b"g", b"waits").unwrap();
    let group = stream.group(b"g").unwrap();
    assert_eq!(group.seen_at(waits, Presence::Away), UnixMillis(50));
}

#[test]
fn an_entry_of_a_gigabyte_and_a_byte_is_too_large() {
    let mut stream = Stream::new();
    let value = vec![0; ENTRY_BYTES_MAX];
    let fields = [&b"f"[..], &value].into_iter();
    let id = stream.append(
        IdRequest::Auto,
        fields,
        UnixMillis(1),
        NodeLimits::default(),
    );
    assert_eq!(id, Err(AppendError::TooLarge));
    assert_eq!((stream.len(), stream.last_id()), (0, StreamId::MIN));
}
