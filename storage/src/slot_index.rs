//! Which keys of a database lie in which hash slot, for servers that are part of a cluster.
//!
//! The records of a slot are linked in a ring, through places beside those of the slab, so that a key comes and goes
//! in constant time and the keys of a slot are found without looking at any other. Elsewhere there is none of this.

use crate::slot::SLOT_COUNT;

/// The keys of each slot, as positions in the slab.
#[derive(Clone)]
pub(crate) struct SlotIndex {
    /// The oldest key of each slot, or [`NONE`].
    first: Box<[u32]>,
    /// How many keys each slot has.
    len: Box<[u32]>,
    /// Invariant: all of these added up.
    total: usize,
    /// For each place of the slab, what stands beside it in the ring of its slot. Says nothing of free places.
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    before: u32,
    after: u32,
}

/// No place: a database has less than 2^32 keys.
const NONE: u32 = u32::MAX;

impl SlotIndex {
    /// An index of a database that has no keys.
    pub(crate) fn new() -> Self {
        let slots = usize::from(SLOT_COUNT);
        Self {
            first: vec![NONE; slots].into_boxed_slice(),
            len: vec![0; slots].into_boxed_slice(),
            total: 0,
            links: Vec::new(),
        }
    }

    /// Notes that a key of `slot` was put into a place, as the youngest of its slot.
    pub(crate) fn insert(&mut self, slot: u16, place: u32) {
        let position = place as usize;
        if self.links.len() <= position {
            self.links.resize(position + 1, Link::default());
        }
        let first = self.first[usize::from(slot)];
        self.len[usize::from(slot)] += 1;
        self.total += 1;
        if first == NONE {
            self.first[usize::from(slot)] = place;
            self.links[position] = Link {
                before: place,
                after: place,
            };
            return;
        }
        let last = self.links[first as usize].before;
        self.links[position] = Link {
            before: last,
            after: first,
        };
        self.links[last as usize].after = place;
        self.links[first as usize].before = place;
    }

    /// Notes that a key of `slot` was taken out of its place.
    pub(crate) fn remove(&mut self, slot: u16, place: u32) {
        let Link { before, after } = self.links[place as usize];
        self.len[usize::from(slot)] -= 1;
        self.total -= 1;
        if after == place {
            self.first[usize::from(slot)] = NONE;
            return;
        }
        self.links[before as usize].after = after;
        self.links[after as usize].before = before;
        let first = &mut self.first[usize::from(slot)];
        if *first == place {
            *first = after;
        }
    }

    /// Forgets the places that the slab does not have any more.
    pub(crate) fn truncate(&mut self, places: usize) {
        self.links.truncate(places);
        if self.links.capacity() / 4 > places.max(LINKS_KEPT) {
            self.links.shrink_to(places * 2);
        }
    }

    /// Returns how many keys a slot has.
    pub(crate) fn len(&self, slot: u16) -> usize {
        self.len[usize::from(slot)] as usize
    }

    /// Returns how many keys all slots have.
    pub(crate) const fn total(&self) -> usize {
        self.total
    }

    /// Returns the places of a slot's keys, oldest first.
    pub(crate) fn places(&self, slot: u16) -> impl Iterator<Item = u32> {
        let first = self.first[usize::from(slot)];
        let ring =
            std::iter::successors(Some(first), |place| Some(self.links[*place as usize].after));
        ring.take(self.len(slot))
    }
}

/// What a key takes here.
pub(crate) const LINK_BYTES: usize = size_of::<Link>();
/// Room for no more links than this is not given back.
const LINKS_KEPT: usize = 1_024;
