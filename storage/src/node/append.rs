//! How entries come into a node.

use super::{Node, NodeLimits, short};
use crate::entry::EntryHead;
use crate::fields;
use crate::id::StreamId;
use crate::listpack_size;

impl Node {
    /// Whether an entry whose names and values have `text_bytes` must go into another node.
    #[inline]
    pub(crate) fn is_full(&self, text_bytes: usize, limits: NodeLimits) -> bool {
        let bytes_max = match limits.bytes_max {
            0 => LISTPACK_BYTES_MAX,
            max => max.min(LISTPACK_BYTES_MAX),
        };
        let (added, live) = (self.added as usize, self.live as usize);
        let counts = listpack_size::count(live) + listpack_size::count(added - live);
        self.listpack_bytes as usize + counts + text_bytes >= bytes_max
            || (limits.entries_max != 0 && added >= limits.entries_max)
    }

    /// Adds an entry at the end.
    #[inline]
    pub(crate) fn append<'a>(
        &mut self,
        id: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        text_bytes: usize,
    ) {
        let parts = fields.len();
        self.data.reserve(
            text_bytes + parts * fields::OVERHEAD_MAX + EntryHead::BYTES_MAX + COUNT_BYTES_MAX,
        );
        if self.added == 0 {
            self.put_shared_names(fields.clone().step_by(2));
        }
        self.append_entry(id, fields);
    }

    /// Adds an entry behind the names that are shared.
    #[inline]
    pub(super) fn append_entry<'a>(
        &mut self,
        id: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) {
        let same_names = fields.len() == 2 * self.name_count as usize
            && fields::have_names(fields.clone(), &self.data);
        let start = self.data.len();
        self.offsets.push(start);
        EntryHead::new(self.base, id, same_names).put(&mut self.data);
        let fields_bytes = if same_names {
            self.put_values(fields)
        } else {
            self.put_names_and_values(fields)
        };
        self.listpack_bytes += short(self.id_listpack_bytes(id) + fields_bytes);
        self.last = id;
        self.added += 1;
        self.live += 1;
    }

    pub(super) fn put_shared_names<'a>(&mut self, names: impl ExactSizeIterator<Item = &'a [u8]>) {
        let count = names.len();
        let mut listpack_bytes = listpack_size::count(count) + listpack_size::count(0);
        for name in names {
            listpack_bytes += fields::put(&mut self.data, name);
        }
        self.name_count = short(count);
        self.listpack_bytes += short(listpack_bytes);
    }

    #[inline]
    fn put_values<'a>(&mut self, mut fields: impl ExactSizeIterator<Item = &'a [u8]>) -> usize {
        let mut listpack_bytes = listpack_size::count(ID_ELEMENTS + fields.len() / 2);
        while let (Some(_), Some(value)) = (fields.next(), fields.next()) {
            listpack_bytes += fields::put(&mut self.data, value);
        }
        listpack_bytes
    }

    fn put_names_and_values<'a>(
        &mut self,
        mut fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> usize {
        let count = fields.len() / 2;
        let mut listpack_bytes =
            listpack_size::count(count) + listpack_size::count(ID_ELEMENTS + 1 + 2 * count);
        let names = self.names.get_or_insert_default();
        if let Some((number, names_listpack_bytes)) = names.find_or_add(fields.clone()) {
            self.data.push(number + 1);
            listpack_bytes += names_listpack_bytes;
            while let (Some(_), Some(value)) = (fields.next(), fields.next()) {
                listpack_bytes += fields::put(&mut self.data, value);
            }
        } else {
            self.data.push(0);
            fields::put_count(&mut self.data, count);
            for part in fields {
                listpack_bytes += fields::put(&mut self.data, part);
            }
        }
        listpack_bytes
    }

    /// The flags and the two differences to the node's first ID, which wrap around.
    #[inline]
    fn id_listpack_bytes(&self, id: StreamId) -> usize {
        listpack_size::integer(0)
            + listpack_size::integer(id.ms.wrapping_sub(self.base.ms).cast_signed())
            + listpack_size::integer(id.seq.wrapping_sub(self.base.seq).cast_signed())
    }
}

/// The reference never makes a node bigger, whatever is configured.
const LISTPACK_BYTES_MAX: usize = 1 << 30;
/// Elements of an entry beside its fields: flags, ms, seq. The reference counts them at the entry's end.
pub(super) const ID_ELEMENTS: usize = 3;
const COUNT_BYTES_MAX: usize = 10;
