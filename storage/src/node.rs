//! A run of entries, packed.
//!
//! ```text
//! data: names of the first entry | templates of their values, if there are any | entry | entry | ...
//! entry: header | ms | seq | value, value ...                       if its names are the first entry's
//!        header | ms | seq | n | value, value ...                   if its names are set n - 1 of the node's
//!        header | ms | seq | 0 | count | name, value, name, value ...   if it shares its names with no other
//! header: bit 0 deleted, bit 1 names as the first entry's, bits 2-4 width of ms, bits 5-7 width of seq
//! ```
//!
//! `ms` is counted from the node's first ID; so is `seq` within the first ID's millisecond, and else it is itself.
//! An entry reads without its neighbours, and does not depend on where it lies. The offsets find the i-th one. Once no
//! more entries are to come, long values are packed; see `pack.rs`.

mod append;
mod deletion;
mod listpack;
mod packing;

use std::num::NonZeroU32;
use std::ops::Range;

use self::deletion::Losses;
use self::packing::Packing;
use crate::entry::Entry;
use crate::entry::EntryHead;
use crate::fields::Templates;
use crate::id::StreamId;
use crate::listpack_size;
use crate::names::Names;
use crate::offsets::Offsets;
use crate::search::guess;
use crate::search::partition_point_near;

/// When a node is full, and what happens then. Zero means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// Bytes of a node in the reference's encoding.
    pub bytes_max: usize,
    /// Entries of a node, deleted ones included.
    pub entries_max: usize,
    /// Whether long values are packed once their node is full.
    pub packs: bool,
}

impl Default for NodeLimits {
    fn default() -> Self {
        Self {
            bytes_max: 4_096,
            entries_max: 100,
            packs: true,
        }
    }
}

/// A run of entries. A node in a log has at least one that is not deleted.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The ID of the first entry it ever had.
    base: StreamId,
    /// The ID of the last entry it ever had, were it deleted since.
    last: StreamId,
    data: Vec<u8>,
    offsets: Offsets,
    /// Where the templates of values begin, if values are packed. They end where the first entry begins.
    templates_at: Option<NonZeroU32>,
    /// Names of other entries, if there are any.
    names: Option<Box<Names>>,
    /// Fields of the first entry, whose names are at the front of the data.
    name_count: u32,
    /// Entries that were ever added. Fewer are in the data once deleted ones were dropped from it.
    added: u32,
    /// Entries that are not deleted.
    live: u32,
    /// Invariant: all before this one are deleted, and this one is not.
    first_live: u32,
    /// Bytes of the deleted entries in the data.
    dead_bytes: u32,
    /// Bytes of all that was ever added in the reference's encoding, but for the two counts in front.
    listpack_bytes: u32,
    /// Whether it was tried to pack this node.
    was_looked_at: bool,
    /// Whether some values are in pieces.
    has_pieces: bool,
    /// What is known of IDs that left.
    pub(crate) losses: Losses,
}

impl Node {
    /// Makes a node that has no entry yet; the first one is to have the ID `base`.
    pub(crate) fn new(base: StreamId, buffers: Buffers) -> Self {
        Self {
            base,
            last: base,
            data: buffers.data,
            offsets: buffers.offsets,
            templates_at: None,
            names: None,
            name_count: 0,
            added: 0,
            live: 0,
            first_live: 0,
            dead_bytes: 0,
            listpack_bytes: short(listpack_size::EMPTY),
            was_looked_at: false,
            has_pieces: false,
            losses: Losses::default(),
        }
    }

    /// Whether it was tried to pack this node, so that no more is to be won.
    pub(crate) const fn was_looked_at(&self) -> bool {
        self.was_looked_at
    }

    /// Whether the values are long enough that something may be won.
    pub(crate) fn may_pack(&self) -> bool {
        !self.was_looked_at && Packing::may_win(self)
    }

    /// Packs the values of entries that have the first one's names, if much is won by it.
    pub(crate) fn pack(&mut self) {
        if std::mem::replace(&mut self.was_looked_at, true) {
            return;
        }
        let Some(packed) = Packing::of(self) else {
            return;
        };
        self.dead_bytes = short(packed.dead_bytes);
        self.templates_at = Some(packed.templates_at);
        self.has_pieces = packed.has_pieces;
        self.data = packed.data;
        self.offsets = packed.offsets;
    }

    /// Returns the values that others may be packed by or the same as.
    #[inline]
    fn templates(&self) -> Templates<'_> {
        match self.templates_at {
            Some(at) => Templates {
                bytes: &self.data[at.get() as usize..],
                len: self.offsets.start(0) - at.get() as usize,
                has_pieces: self.has_pieces,
            },
            None => Templates::NONE,
        }
    }

    /// Gives spare memory up, since nothing will be added, and returns it for the next node.
    pub(crate) fn close(&mut self) -> Buffers {
        let exact = self.offsets.to_exact();
        let mut offsets = std::mem::replace(&mut self.offsets, exact);
        offsets.clear();
        if let Some(names) = &mut self.names {
            names.close();
        }
        let data = if self.data.capacity() <= REUSED_BYTES_MAX {
            let exact = self.data.to_vec();
            let mut data = std::mem::replace(&mut self.data, exact);
            data.clear();
            data
        } else {
            self.data.shrink_to_fit();
            Vec::new()
        };
        Buffers { data, offsets }
    }

    pub(crate) const fn base(&self) -> StreamId {
        self.base
    }

    pub(crate) const fn last(&self) -> StreamId {
        self.last
    }

    pub(crate) const fn live(&self) -> usize {
        self.live as usize
    }

    pub(crate) const fn first_live(&self) -> usize {
        self.first_live as usize
    }

    /// Counts the entries in the data, deleted ones included; each has an index below this.
    #[inline]
    pub(crate) fn slots(&self) -> usize {
        self.offsets.len()
    }

    /// Counts the live entries among some of the slots.
    pub(crate) fn live_among(&self, slots: Range<usize>) -> usize {
        if self.live() == self.slots() {
            slots.len()
        } else {
            slots.filter(|&index| !self.is_deleted(index)).count()
        }
    }

    /// Returns the first slot whose ID is not below this one.
    pub(crate) fn seek(&self, id: StreamId) -> usize {
        let guess = guess(self.slots(), self.base.ms, self.last.ms, id.ms);
        partition_point_near(self.slots(), guess, |index| self.id(index) < id)
    }

    /// Returns the ID of an entry, deleted or not.
    #[inline]
    pub(crate) fn id(&self, index: usize) -> StreamId {
        EntryHead::take(&self.data[self.offsets.start(index)..])
            .0
            .id(self.base)
    }

    /// Returns the ID of an entry unless it is deleted.
    #[inline]
    pub(crate) fn live_id(&self, index: usize) -> Option<StreamId> {
        let (head, _) = EntryHead::take(&self.data[self.offsets.start(index)..]);
        (!head.is_deleted()).then(|| head.id(self.base))
    }

    #[inline]
    pub(crate) fn is_deleted(&self, index: usize) -> bool {
        EntryHead::has_deleted_mark(self.data[self.offsets.start(index)])
    }

    /// Returns an entry unless it is deleted.
    // Who walks over entries needs a part of each only.
    #[inline(always)]
    pub(crate) fn entry(&self, index: usize) -> Option<Entry<'_>> {
        let (head, entry) = self.slot(index);
        (!head.is_deleted()).then_some(entry)
    }

    /// Gives entries that are not deleted to `act`, `count_max` at most, and returns how many those were.
    #[inline]
    pub(crate) fn each<'a>(
        &'a self,
        slots: Range<usize>,
        count_max: usize,
        act: &mut impl FnMut(&Entry<'a>),
    ) -> usize {
        let templates = self.templates();
        let mut count = 0;
        for index in slots {
            if count == count_max {
                break;
            }
            let span = self.offsets.span(index, self.data.len());
            let (head, entry) = self.lying_at(span, templates);
            if !head.is_deleted() {
                act(&entry);
                count += 1;
            }
        }
        count
    }

    /// Returns an entry, deleted or not, and what stands before its fields.
    #[inline(always)]
    fn slot(&self, index: usize) -> (EntryHead, Entry<'_>) {
        let span = self.offsets.span(index, self.data.len());
        self.lying_at(span, self.templates())
    }

    #[inline(always)]
    fn lying_at<'a>(
        &'a self,
        span: Range<usize>,
        templates: Templates<'a>,
    ) -> (EntryHead, Entry<'a>) {
        let (head, len) = EntryHead::take(&self.data[span.start..]);
        let id = head.id(self.base);
        let body_at = span.start + len;
        let body = &self.data[body_at..];
        let body_bytes = span.end - body_at;
        if head.has_same_names() {
            let count = self.name_count as usize;
            let entry = Entry::sharing_names(id, &self.data, templates, count, body, body_bytes);
            return (head, entry);
        }
        let (number, body) = body.split_first().expect("a set's number is there");
        let shared = self.names.as_ref().zip(number.checked_sub(1));
        let entry = match shared {
            Some((names, number)) => {
                let (names, count) = names.get(number);
                Entry::sharing_names(id, names, Templates::NONE, count, body, body_bytes)
            }
            None => Entry::with_names(id, body, body_bytes),
        };
        (head, entry)
    }

    /// Returns the bytes of memory held.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        let names_bytes = self.names.as_ref().map_or(0, |names| names.bytes());
        size_of::<Self>() + self.data.capacity() + self.offsets.bytes() + names_bytes
    }

    /// Asserts what always holds for a node in a log.
    pub(crate) fn check(&self) {
        let ids: Vec<_> = (0..self.slots()).map(|index| self.id(index)).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "IDs ascend");
        assert!(ids.first().is_some_and(|first| self.base <= *first));
        assert!(ids.last().is_some_and(|last| *last <= self.last));
        let (dead, live): (Vec<_>, Vec<_>) =
            (0..self.slots()).partition(|&index| self.is_deleted(index));
        assert_eq!(live.len(), self.live(), "the live ones are counted");
        assert_eq!(
            live.first(),
            Some(&self.first_live()),
            "there is a live one"
        );
        let dead_bytes: usize = dead
            .iter()
            .map(|&index| self.offsets.span(index, self.data.len()).len())
            .sum();
        assert_eq!(
            dead_bytes, self.dead_bytes as usize,
            "the deleted ones are measured"
        );
        assert!(self.slots() <= self.added as usize);
        assert!(self.slots() == self.added as usize || self.losses.unmarked);
    }
}

/// Empty buffers of a node that was closed, for the next one: it will need about as much.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    data: Vec<u8>,
    offsets: Offsets,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            data: Vec::new(),
            offsets: Offsets::with_capacity(0),
        }
    }
}

/// A count or a number of bytes of a node, each of which is below a gigabyte.
#[inline]
fn short(number: usize) -> u32 {
    u32::try_from(number).expect("a node has less than a gigabyte")
}

/// A buffer up to this size passes from a closed node to the next. A bigger one is seldom needed twice.
const REUSED_BYTES_MAX: usize = 16 * 1_024;
