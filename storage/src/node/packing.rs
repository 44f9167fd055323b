//! Packs the long values of a node; see `pack.rs` for how.

use std::num::NonZeroU32;

use super::Node;
use crate::entry::EntryHead;
use crate::fields;
use crate::fields::AS_TEMPLATE;
use crate::fields::PACKED;
use crate::fields::Part;
use crate::offsets::Offsets;
use crate::pack::TEXT_MIN;
use crate::pack::Template;

/// What a node holds once its values are packed.
pub(super) struct Packing {
    pub(super) data: Vec<u8>,
    pub(super) offsets: Offsets,
    pub(super) templates_at: NonZeroU32,
    /// Whether some values are in pieces, and not only the same as others.
    pub(super) has_pieces: bool,
    pub(super) dead_bytes: usize,
}

impl Packing {
    /// Whether the values of a node are long enough to be packed, and enough, or seem to be the same again and again.
    pub(super) fn may_win(node: &Node) -> bool {
        node.slots() >= ENTRIES_MIN && (has_long_values(node) || repeats(node))
    }

    /// Packs the values of entries that have the first one's names; nothing if little is won by it.
    pub(super) fn of(node: &Node) -> Option<Self> {
        if !Self::may_win(node) {
            return None;
        }
        let names_end = node.offsets.start(0);
        let first = (0..node.slots()).find_map(|index| node.same_names_body(index))?;
        let mut columns = columns(first, node.name_count as usize);
        if columns.iter().all(|column| column.template.is_none()) && !repeats(node) {
            return None;
        }
        let mut packing = Self {
            data: Vec::with_capacity(node.data.len() + first.len()),
            offsets: Offsets::with_capacity(node.slots()),
            templates_at: NonZeroU32::new(u32::try_from(names_end).ok()?)?,
            has_pieces: false,
            dead_bytes: 0,
        };
        packing.data.extend_from_slice(&node.data[..names_end]);
        packing.data.extend_from_slice(first);
        let mut steps = Vec::new();
        for index in 0..node.slots() {
            packing.add(node, index, &mut columns, &mut steps);
        }
        if packing.data.len() > node.data.len() - node.data.len() / WON_PART_MIN {
            return None;
        }
        // An allocator may leave what is made smaller where it is.
        packing.data = packing.data.to_vec();
        packing.has_pieces = columns.iter().any(|column| column.packed > 0);
        Some(packing)
    }

    fn add(&mut self, node: &Node, index: usize, columns: &mut [Column<'_>], steps: &mut Vec<u8>) {
        let start = self.data.len();
        self.offsets.push(start);
        let entry = &node.data[node.offsets.span(index, node.data.len())];
        match node.same_names_body(index) {
            Some(mut body) => {
                let head_bytes = entry.len() - body.len();
                self.data.extend_from_slice(&entry[..head_bytes]);
                for column in columns {
                    column.put(&mut body, &mut self.data, steps);
                }
            }
            None => self.data.extend_from_slice(entry),
        }
        if node.is_deleted(index) {
            self.dead_bytes += self.data.len() - start;
        }
    }
}

impl Node {
    /// Returns the values of an entry, deleted or not, if its names are the first one's.
    fn same_names_body(&self, index: usize) -> Option<&[u8]> {
        let entry = &self.data[self.offsets.span(index, self.data.len())];
        let (head, len) = EntryHead::take(entry);
        head.has_same_names().then(|| &entry[len..])
    }
}

/// Whether the values of a node are long on the average.
fn has_long_values(node: &Node) -> bool {
    node.data.len() - node.offsets.start(0) >= node.slots() * TEXT_MIN
}

/// Whether so many bytes as have to be won are the same in a few entries, as they then are in most.
fn repeats(node: &Node) -> bool {
    let slots = node.slots();
    let samples = [0, slots / 3, slots * 2 / 3, slots - 1].map(|index| node.same_names_body(index));
    let [
        Some(mut first),
        Some(mut second),
        Some(mut third),
        Some(mut fourth),
    ] = samples
    else {
        return false;
    };
    let mut same_bytes = 0;
    for _ in 0..node.name_count {
        let value = take_encoded(&mut first);
        let others = [&mut second, &mut third, &mut fourth].map(take_encoded);
        if others.iter().all(|other| *other == value) {
            same_bytes += value.len() - 1;
        }
    }
    same_bytes * slots > node.data.len() / WON_PART_MIN
}

/// Takes a value as it lies in a node.
fn take_encoded<'a>(body: &mut &'a [u8]) -> &'a [u8] {
    let before = *body;
    fields::take(body);
    &before[..before.len() - body.len()]
}

/// The values of one name.
struct Column<'a> {
    /// How the template lies in the node.
    encoded: &'a [u8],
    /// None if the values are too short, or not alike.
    template: Option<Box<Template<'a>>>,
    packed: usize,
}

impl Column<'_> {
    /// Takes the value of this name from the front of `body`, and adds it in its shortest form.
    fn put(&mut self, body: &mut &[u8], out: &mut Vec<u8>, steps: &mut Vec<u8>) {
        let before = *body;
        let value = fields::take(body);
        let encoded = &before[..before.len() - body.len()];
        if encoded == self.encoded {
            out.push(AS_TEMPLATE);
            return;
        }
        if let (Part::Bytes(text), Some(template)) = (value, &self.template)
            && text.len() >= TEXT_MIN
        {
            out.push(PACKED);
            if template.pack(text, out, steps) {
                self.packed += 1;
                return;
            }
            out.pop();
            if self.packed == 0 {
                // The next ones will hardly be more alike than these two.
                self.template = None;
            }
        }
        out.extend_from_slice(encoded);
    }
}

fn columns(mut first: &[u8], count: usize) -> Vec<Column<'_>> {
    let mut columns = Vec::with_capacity(count);
    for _ in 0..count {
        let before = first;
        let value = fields::take(&mut first);
        let template = match value {
            Part::Bytes(text) => Template::new(text).map(Box::new),
            Part::Int(_) => None,
        };
        columns.push(Column {
            encoded: &before[..before.len() - first.len()],
            template,
            packed: 0,
        });
    }
    columns
}

/// Fewer entries have little to share.
const ENTRIES_MIN: usize = 3;

/// At least one in so many bytes has to be won: packed values read slower.
const WON_PART_MIN: usize = 8;
