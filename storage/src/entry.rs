//! One entry, as a view of where it lies in its node.

use crate::fields;
use crate::fields::Fields;
use crate::fields::Kept;
use crate::fields::Plain;
use crate::fields::PlainValues;
use crate::fields::Templates;
use crate::id::StreamId;

/// One entry of a log.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    id: StreamId,
    field_count: usize,
    /// The names that the node shares among its entries, or none when they lie between the values.
    names: Option<&'a [u8]>,
    templates: Templates<'a>,
    /// The entry's own part of the node, and what follows it.
    body: &'a [u8],
    body_bytes: usize,
}

/// Names that entries of a node share. They are equal if they are the same ones.
#[derive(Clone, Copy, Debug)]
pub struct SharedNames<'a>(&'a [u8]);

impl PartialEq for SharedNames<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_ptr(), other.0.as_ptr())
    }
}

impl<'a> Entry<'a> {
    #[inline]
    pub(crate) const fn sharing_names(
        id: StreamId,
        names: &'a [u8],
        templates: Templates<'a>,
        field_count: usize,
        body: &'a [u8],
        body_bytes: usize,
    ) -> Self {
        Self {
            id,
            field_count,
            names: Some(names),
            templates,
            body,
            body_bytes,
        }
    }

    #[inline]
    pub(crate) fn with_names(id: StreamId, mut body: &'a [u8], body_bytes: usize) -> Self {
        let field_count = fields::take_count(&mut body);
        Self {
            id,
            field_count,
            names: None,
            templates: Templates::NONE,
            body,
            body_bytes,
        }
    }

    /// Returns the entry's ID.
    #[inline]
    #[must_use]
    pub const fn id(&self) -> StreamId {
        self.id
    }

    /// Counts the fields, each a name and a value.
    #[inline]
    #[must_use]
    pub const fn field_count(&self) -> usize {
        self.field_count
    }

    /// Walks over the fields, each a name and a value, in the order they came in.
    #[inline]
    #[must_use]
    pub const fn fields(&self) -> Fields<'a> {
        Fields::new(
            self.names,
            self.templates.bytes,
            self.body,
            self.field_count,
        )
    }

    /// As [`Entry::fields`], for who copies names and values.
    #[inline]
    pub fn kept_fields(&self) -> impl Iterator<Item = (Plain<'a>, Kept<'a>)> {
        let mut fields = self.fields();
        std::iter::from_fn(move || fields.next_kept())
    }

    /// Returns the names that it shares with others, if it does; those then have as many fields.
    #[inline]
    #[must_use]
    pub fn shared_names(&self) -> Option<SharedNames<'a>> {
        self.names.map(SharedNames)
    }

    /// Walks over the names, if they are shared.
    #[inline]
    #[must_use]
    pub fn plain_names(&self) -> Option<PlainValues<'a>> {
        let names = self.names?;
        Some(PlainValues::new(names, names.len(), self.field_count))
    }

    /// Walks over the values, if none is in pieces and no names lie between them.
    #[inline]
    #[must_use]
    pub fn plain_values(&self) -> Option<PlainValues<'a>> {
        let is_plain = !self.templates.has_pieces && self.names.is_some();
        let bytes_max = self.body_bytes + self.templates.len;
        is_plain.then(|| PlainValues::new(self.body, bytes_max, self.field_count))
    }

    /// Returns the template of the value at `index`, which is the value unless the entry has its own.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn template(&self, index: usize) -> Plain<'a> {
        let mut templates = PlainValues::new(self.templates.bytes, 0, self.field_count);
        let template = templates.nth(index).flatten();
        template.expect("where values are like their templates, there are some")
    }
}

/// What stands before the fields of an entry in a node.
#[derive(Clone, Copy)]
pub(crate) struct EntryHead {
    flags: u8,
    /// Milliseconds since the node's first ID.
    ms: u64,
    /// Counted from the node's first ID if in the same millisecond, else as it is.
    seq: u64,
}

impl EntryHead {
    /// The most bytes it takes, and what is written before it is cut to its size.
    pub(crate) const BYTES_MAX: usize = 24;

    #[inline]
    pub(crate) fn new(base: StreamId, id: StreamId, same_names: bool) -> Self {
        let ms = id.ms - base.ms;
        let seq = if ms == 0 { id.seq - base.seq } else { id.seq };
        let names = if same_names { SAME_NAMES } else { 0 };
        let flags =
            names | (width_code(ms) << MS_WIDTH_SHIFT) | (width_code(seq) << SEQ_WIDTH_SHIFT);
        Self { flags, ms, seq }
    }

    #[inline]
    pub(crate) fn put(self, out: &mut Vec<u8>) {
        out.push(self.flags);
        for (number, shift) in [(self.ms, MS_WIDTH_SHIFT), (self.seq, SEQ_WIDTH_SHIFT)] {
            let end = out.len() + WIDTHS[self.width_index(shift)];
            // Storing all eight and cutting some off is faster than copying a number of them.
            out.extend_from_slice(&number.to_le_bytes());
            out.truncate(end);
        }
    }

    /// Reads what [`EntryHead::put`] wrote, and returns how long that is. More may follow.
    #[inline(always)]
    pub(crate) fn take(data: &[u8]) -> (Self, usize) {
        match data.first_chunk() {
            Some(bytes) => Self::take_from(bytes),
            None => Self::take_at_end(data),
        }
    }

    #[inline(always)]
    fn take_from(bytes: &[u8; Self::BYTES_MAX]) -> (Self, usize) {
        let mut head = Self {
            flags: bytes[0],
            ms: 0,
            seq: 0,
        };
        let ms_index = head.width_index(MS_WIDTH_SHIFT);
        let seq_index = head.width_index(SEQ_WIDTH_SHIFT);
        let seq_at = 1 + WIDTHS[ms_index];
        head.ms = number(bytes, 1) & MASKS[ms_index];
        head.seq = number(bytes, seq_at) & MASKS[seq_index];
        (head, seq_at + WIDTHS[seq_index])
    }

    #[cold]
    fn take_at_end(data: &[u8]) -> (Self, usize) {
        let mut bytes = [0; Self::BYTES_MAX];
        bytes[..data.len()].copy_from_slice(data);
        Self::take_from(&bytes)
    }

    #[inline]
    pub(crate) const fn id(self, base: StreamId) -> StreamId {
        StreamId {
            ms: base.ms + self.ms,
            seq: if self.ms == 0 {
                base.seq + self.seq
            } else {
                self.seq
            },
        }
    }

    #[inline]
    pub(crate) const fn has_same_names(self) -> bool {
        self.flags & SAME_NAMES != 0
    }

    #[inline]
    pub(crate) const fn is_deleted(self) -> bool {
        Self::has_deleted_mark(self.flags)
    }

    /// Looks at the first byte alone.
    #[inline]
    pub(crate) const fn has_deleted_mark(first: u8) -> bool {
        first & DELETED != 0
    }

    /// Changes the first byte alone.
    pub(crate) const fn mark_deleted(first: &mut u8) {
        *first |= DELETED;
    }

    #[inline]
    const fn width_index(self, shift: u8) -> usize {
        (self.flags >> shift & WIDTH_BITS) as usize
    }
}

/// Reads eight bytes at a place, of which there are enough.
#[inline(always)]
fn number(bytes: &[u8; EntryHead::BYTES_MAX], at: usize) -> u64 {
    // No head is so long, which the compiler can see here.
    let at = at % (EntryHead::BYTES_MAX - size_of::<u64>());
    let mut number = [0; size_of::<u64>()];
    number.copy_from_slice(&bytes[at..at + size_of::<u64>()]);
    u64::from_le_bytes(number)
}

/// Returns the place in [`WIDTHS`] of the narrowest that holds the number.
#[inline]
const fn width_code(number: u64) -> u8 {
    match (u64::BITS - number.leading_zeros()).div_ceil(8) {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 3,
        4 => 4,
        5 => 5,
        6 => 6,
        _ => 7,
    }
}

const DELETED: u8 = 1;
const SAME_NAMES: u8 = 2;
const MS_WIDTH_SHIFT: u8 = 2;
const SEQ_WIDTH_SHIFT: u8 = 5;
const WIDTH_BITS: u8 = 7;
/// Three bits tell eight widths apart; a number of seven bytes is rare enough to take eight.
const WIDTHS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 8];
const MASKS: [u64; 8] = [
    0,
    0xff,
    0xffff,
    0xff_ffff,
    0xffff_ffff,
    0xff_ffff_ffff,
    0xffff_ffff_ffff,
    u64::MAX,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_head_reads_as_it_was_written(
            base in (any::<u64>(), 0_u32..64, any::<u64>(), 0_u32..64),
            step in (any::<u64>(), 0_u32..64, any::<u64>(), 0_u32..64),
            behind in 0_usize..20,
            same_names: bool,
        ) {
            let base = StreamId::new(base.0 >> base.1, base.2 >> base.3);
            let ms = base.ms.saturating_add(step.0 >> step.1);
            let seq = step.2 >> step.3;
            let seq = if ms == base.ms { base.seq.saturating_add(seq) } else { seq };
            let id = StreamId::new(ms, seq);
            let mut data = Vec::new();
            EntryHead::new(base, id, same_names).put(&mut data);
            let written = data.len();
            data.extend(vec![0xff; behind]);
            let (head, len) = EntryHead::take(&data);
            prop_assert_eq!(len, written);
            prop_assert_eq!(head.id(base), id);
            prop_assert_eq!(head.has_same_names(), same_names);
            prop_assert!(!head.is_deleted());
            EntryHead::mark_deleted(&mut data[0]);
            prop_assert!(EntryHead::take(&data).0.is_deleted());
        }
    }
}
