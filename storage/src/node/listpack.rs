//! A node as the reference encodes it, to and fro.
//!
//! ```text
//! live | deleted | n | name * n | 0 | entry ...
//! entry: flags | ms | seq | value * n | elements so far                         with the names in front
//!        flags | ms | seq | m | (name | value) * m | elements so far            with names of its own
//! flags: bit 0 deleted, bit 1 names as in front
//! ```
//!
//! `ms` and `seq` are counted from the node's first ID and wrap around.

use std::ops::Range;

use super::Buffers;
use super::Node;
use super::append::ID_ELEMENTS;
use super::short;
use crate::fields::Part;
use crate::id::StreamId;
use crate::integer::Digits;
use crate::listpack_size;
use crate::rdb::Damaged;
use crate::rdb::listpack::Elements;
use crate::rdb::listpack::ListpackWriter;

impl Node {
    /// Makes a node of a listpack, or none if all its entries are deleted.
    ///
    /// Entries that are not deleted must ascend from `base` on. Deleted ones are kept, marked, where they do.
    pub(crate) fn from_listpack(base: StreamId, listpack: &[u8]) -> Result<Option<Self>, Damaged> {
        let mut elements = Elements::new(listpack)?;
        let (live, deleted) = (elements.count()?, elements.count()?);
        let mut reading = Reading::new(base, listpack.len());
        reading.take_names(&mut elements)?;
        while !elements.is_at_end() {
            reading.take_entry(&mut elements)?;
        }
        elements.end()?;
        let Reading {
            mut node,
            deleted: marked,
            dropped,
            ..
        } = reading;
        let (slots, marks) = (node.slots(), marked.len());
        if slots - marks != live || marks + dropped != deleted {
            return Err(Damaged);
        }
        if live == 0 {
            return Ok(None);
        }
        marked.into_iter().for_each(|index| node.delete(index));
        node.added = short(live + deleted);
        node.losses.unmarked = dropped > 0;
        let counts = listpack_size::count(live) + listpack_size::count(deleted);
        node.listpack_bytes = short(listpack.len().saturating_sub(counts));
        Ok(Some(node))
    }

    /// Appends this node as a listpack, as long as the reference's and with as many entries.
    ///
    /// For deleted entries that were dropped others stand in, deleted as well.
    pub(crate) fn put_listpack(&self, out: &mut Vec<u8>) {
        let mut listpack = ListpackWriter::new(out);
        let dead = self.added as usize - self.live();
        listpack.count(self.live());
        listpack.count(dead);
        listpack.count(self.name_count as usize);
        let mut names = self.data.as_slice();
        for _ in 0..self.name_count {
            listpack.part(crate::fields::take(&mut names));
        }
        listpack.integer(0);
        for index in 0..self.slots() {
            self.put_entry(index, &mut listpack);
        }
        self.put_dropped(&mut listpack);
        listpack.end();
    }

    fn put_entry(&self, index: usize, listpack: &mut ListpackWriter<'_>) {
        let (head, entry) = self.slot(index);
        let names = if head.has_same_names() { SAME_NAMES } else { 0 };
        let deleted = if head.is_deleted() { DELETED } else { 0 };
        self.put_head(names | deleted, entry.id(), listpack);
        let count = entry.field_count();
        if head.has_same_names() {
            entry.fields().for_each(|(_, value)| listpack.value(value));
            listpack.count(ID_ELEMENTS + count);
        } else {
            listpack.count(count);
            for (name, value) in entry.fields() {
                listpack.part(name);
                listpack.value(value);
            }
            listpack.count(ID_ELEMENTS + 1 + 2 * count);
        }
    }

    fn put_head(&self, flags: i64, id: StreamId, listpack: &mut ListpackWriter<'_>) {
        listpack.integer(flags);
        listpack.integer(id.ms.wrapping_sub(self.base.ms).cast_signed());
        listpack.integer(id.seq.wrapping_sub(self.base.seq).cast_signed());
    }

    /// Appends deleted entries for those that were dropped: as many, and about as long together. The last one has the
    /// last ID, by which the reference decides whether the node is trimmed.
    fn put_dropped(&self, listpack: &mut ListpackWriter<'_>) {
        let Some(empty) = (self.added as usize - self.slots()).checked_sub(1) else {
            return;
        };
        for _ in 0..empty {
            self.put_head(DELETED, self.base, listpack);
            listpack.count(0);
            listpack.count(ID_ELEMENTS + 1);
        }
        self.put_head(DELETED, self.last, listpack);
        let dead = self.added as usize - self.live();
        let wanted = self.listpack_bytes as usize
            + listpack_size::count(self.live())
            + listpack_size::count(dead);
        let missing = wanted.saturating_sub(listpack.len() + FILLER_BYTES);
        match filler_len(missing) {
            Some(len) => {
                listpack.count(1);
                listpack.part(Part::Bytes(&[]));
                listpack.part(Part::Bytes(&vec![b' '; len]));
                listpack.count(ID_ELEMENTS + 3);
            }
            None => {
                listpack.count(0);
                listpack.count(ID_ELEMENTS + 1);
            }
        }
    }
}

/// Returns how long a text is that takes so many bytes as an element, or a few less. None if even an empty one is longer.
fn filler_len(element_bytes: usize) -> Option<usize> {
    let mut len = element_bytes.checked_sub(listpack_size::text(0))?;
    while listpack_size::text(len) > element_bytes {
        len -= 1;
    }
    Some(len)
}

/// A node that is being made of a listpack.
struct Reading {
    node: Node,
    /// The names in front and, behind them, what the current entry has of its own.
    text: Vec<u8>,
    names: Vec<Range<usize>>,
    /// Where names and values of the current entry are in the text.
    fields: Vec<Range<usize>>,
    /// Which slots are to be marked.
    deleted: Vec<usize>,
    /// How many deleted entries have no slot.
    dropped: usize,
}

impl Reading {
    fn new(base: StreamId, listpack_bytes: usize) -> Self {
        let mut node = Node::new(base, Buffers::default());
        node.data.reserve(listpack_bytes);
        Self {
            node,
            text: Vec::new(),
            names: Vec::new(),
            fields: Vec::new(),
            deleted: Vec::new(),
            dropped: 0,
        }
    }

    fn take_names(&mut self, elements: &mut Elements<'_>) -> Result<(), Damaged> {
        for _ in 0..elements.count()? {
            let name = self.take_text(elements)?;
            self.names.push(name);
        }
        let names = self.names.iter().map(|name| &self.text[name.clone()]);
        self.node.put_shared_names(names);
        if elements.integer()? == 0 {
            Ok(())
        } else {
            Err(Damaged)
        }
    }

    fn take_entry(&mut self, elements: &mut Elements<'_>) -> Result<(), Damaged> {
        let flags = elements.integer()?;
        let base = self.node.base;
        let id = StreamId::new(
            base.ms.wrapping_add(elements.integer()?.cast_unsigned()),
            base.seq.wrapping_add(elements.integer()?.cast_unsigned()),
        );
        let count = self.take_fields(flags & SAME_NAMES != 0, elements)?;
        if elements.count()? != count {
            return Err(Damaged);
        }
        let is_deleted = flags & DELETED != 0;
        let ascends = if self.node.slots() == 0 {
            id >= base
        } else {
            id > self.node.last
        };
        if ascends {
            if is_deleted {
                self.deleted.push(self.node.slots());
            }
            self.append(id);
        } else if is_deleted {
            self.dropped += 1;
        } else {
            return Err(Damaged);
        }
        Ok(())
    }

    /// Takes the fields of an entry, and returns how many elements it has with them.
    fn take_fields(
        &mut self,
        has_same_names: bool,
        elements: &mut Elements<'_>,
    ) -> Result<usize, Damaged> {
        let names_end = self.names.last().map_or(0, |name| name.end);
        self.text.truncate(names_end);
        self.fields.clear();
        if has_same_names {
            for index in 0..self.names.len() {
                let value = self.take_text(elements)?;
                self.fields.push(self.names[index].clone());
                self.fields.push(value);
            }
            return Ok(ID_ELEMENTS + self.names.len());
        }
        let count = elements.count()?;
        for _ in 0..count {
            for _ in 0..2 {
                let text = self.take_text(elements)?;
                self.fields.push(text);
            }
        }
        Ok(ID_ELEMENTS + 1 + 2 * count)
    }

    fn take_text(&mut self, elements: &mut Elements<'_>) -> Result<Range<usize>, Damaged> {
        let start = self.text.len();
        match elements.take()? {
            Part::Bytes(bytes) => self.text.extend_from_slice(bytes),
            Part::Int(number) => {
                let mut digits = Digits::default();
                self.text.extend_from_slice(digits.write(number));
            }
        }
        Ok(start..self.text.len())
    }

    fn append(&mut self, id: StreamId) {
        let fields = self.fields.iter().map(|text| &self.text[text.clone()]);
        self.node.append_entry(id, fields);
    }
}

const DELETED: i64 = 1;
const SAME_NAMES: i64 = 2;
/// What the last filler takes behind its head beside its value: two counts and an empty name.
const FILLER_BYTES: usize = 6;
