//! Writes entries: `[id, [name, value, ...]]` each.
//!
//! Neighbours have the names of their fields in common. What lies between two values, from the line end of one to the
//! header of the other, is then the same text in all of them: it is found in the entry before and copied from there.

use tailrace_protocol::IdPairs;
use tailrace_protocol::Pieces;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Room;
use tailrace_storage::Entry;
use tailrace_storage::Kept;
use tailrace_storage::Lead;
use tailrace_storage::Packed;
use tailrace_storage::Plain;
use tailrace_storage::PlainValues;
use tailrace_storage::SharedNames;
use tailrace_storage::StreamId;

/// Appends entries to a reply, one after the other.
pub(super) struct EntryWriter<'w, 'e> {
    pieces: Pieces<'w>,
    ids: IdPairs,
    /// Whose text the joints are, if they are that of any.
    names: Option<SharedNames<'e>>,
    /// Where the text before each value was written: a place and how long it is.
    joints: [(usize, usize); JOINTS_MAX],
    /// How much text that is together.
    joint_bytes: usize,
    /// How many entries are still to be written.
    left: usize,
}

impl<'w, 'e> EntryWriter<'w, 'e> {
    /// Makes one that is to write `count` entries.
    pub(super) fn new(reply: &'w mut ReplyWriter<'_>, count: usize) -> Self {
        Self {
            pieces: reply.pieces(ENTRY_BYTES),
            ids: IdPairs::new(),
            names: None,
            joints: [(0, 0); JOINTS_MAX],
            joint_bytes: 0,
            left: count,
        }
    }

    /// Appends an entry.
    #[inline]
    pub(super) fn put(&mut self, entry: &Entry<'e>) {
        self.left = self.left.saturating_sub(1);
        if self.names.is_none() || self.names != entry.shared_names() {
            return self.put_first(entry);
        }
        match entry.plain_values() {
            Some(values) => self.put_alike(entry, values),
            None => self.put_alike_packed(entry),
        }
    }

    /// Appends an ID whose entry is gone.
    pub(super) fn put_gone(&mut self, id: StreamId) {
        self.open(id);
        self.line_end();
        self.pieces.null_array();
    }

    /// Appends an entry with the names of the one before, none of whose values is packed.
    #[inline]
    fn put_alike(&mut self, entry: &Entry<'e>, values: PlainValues<'e>) {
        let id = entry.id();
        let Self { ids, joints, .. } = self;
        let bytes_max = IdPairs::BYTES_MAX
            + self.joint_bytes
            + values.text_bytes_max()
            + entry.field_count() * Room::BULK_BYTES_MAX
            + LINE_END_BYTES;
        self.pieces.write(bytes_max, |room| {
            ids.open(room, id.ms, id.seq);
            for (joint, value) in joints.iter().zip(values) {
                room.again(joint.0, joint.1);
                match value {
                    Plain::Bytes(Lead { bytes, len }) => room.bulk(bytes, len),
                    Plain::Int(number) => room.bulk_integer(number),
                }
            }
            room.line_end();
        });
    }

    /// Appends an entry with the names of the one before.
    fn put_alike_packed(&mut self, entry: &Entry<'e>) {
        self.open(entry.id());
        for (at, (_, value)) in entry.kept_fields().enumerate() {
            let joint = self.joints[at];
            self.pieces
                .write(joint.1, |room| room.again(joint.0, joint.1));
            self.value(value);
        }
        self.line_end();
    }

    /// Appends any entry, and notes where the text is that may be had in common with the next.
    fn put_first(&mut self, entry: &Entry<'e>) {
        let start_of_entry = self.pieces.len();
        self.open(entry.id());
        let mut start = 0;
        self.pieces
            .write(LINE_END_BYTES + Room::BULK_BYTES_MAX, |room| {
                start = room.place();
                room.line_end();
                room.array(entry.field_count() * 2);
            });
        self.names = entry
            .shared_names()
            .filter(|_| entry.field_count() <= JOINTS_MAX);
        self.joint_bytes = 0;
        for (at, (name, value)) in entry.kept_fields().enumerate() {
            if at > 0 {
                self.pieces.write(LINE_END_BYTES, |room| {
                    start = room.place();
                    room.line_end();
                });
            }
            self.plain(name);
            let len = self.line_end() - start;
            if let Some(joint) = self.joints.get_mut(at) {
                *joint = (start, len);
                self.joint_bytes += len;
            }
            self.value(value);
        }
        if entry.field_count() > 0 {
            self.line_end();
        }
        self.reserve(start_of_entry);
    }

    /// Makes room for entries that are about as long as the one that was written from this place on.
    fn reserve(&mut self, start: usize) {
        let entry_bytes = self.pieces.len() - start;
        let bytes = entry_bytes.saturating_mul(self.left);
        self.pieces.set_growth(bytes.min(GROWTH_BYTES_MAX));
        self.pieces.reserve(bytes.min(RESERVED_BYTES_MAX));
    }

    fn open(&mut self, id: StreamId) {
        let Self { pieces, ids, .. } = self;
        pieces.write(IdPairs::BYTES_MAX, |room| ids.open(room, id.ms, id.seq));
    }

    #[inline]
    fn value(&mut self, value: Kept<'_>) {
        match value {
            Kept::Plain(plain) => self.plain(plain),
            Kept::Packed(packed) => self.packed(packed),
        }
    }

    #[inline]
    fn plain(&mut self, plain: Plain<'_>) {
        match plain {
            Plain::Bytes(Lead { bytes, len }) => self
                .pieces
                .write(Room::BULK_BYTES_MAX + len, |room| room.bulk(bytes, len)),
            Plain::Int(number) => self
                .pieces
                .write(Room::BULK_BYTES_MAX, |room| room.bulk_integer(number)),
        }
    }

    fn packed(&mut self, packed: Packed<'_>) {
        self.pieces
            .write(Room::BULK_BYTES_MAX + packed.len(), |room| {
                room.bulk_header(packed.len());
                let end = room.place() + packed.len();
                packed.each_piece(|piece| room.text(piece.bytes, piece.len));
                assert_eq!(room.place(), end, "a string is as long as was said");
            });
    }

    /// Ends a line, and returns the place behind it.
    #[inline]
    fn line_end(&mut self) -> usize {
        let mut end = 0;
        self.pieces.write(LINE_END_BYTES, |room| {
            room.line_end();
            end = room.place();
        });
        end
    }
}

/// Entries with more fields are seldom many.
const JOINTS_MAX: usize = 16;
/// About what an entry takes.
const ENTRY_BYTES: usize = 256;
/// Room for a page or so is made at once: it has to be cleared.
const GROWTH_BYTES_MAX: usize = 4 * 1_024;
/// Memory that is taken at once for entries that are still to be written.
const RESERVED_BYTES_MAX: usize = 256 * 1_024;
const LINE_END_BYTES: usize = 2;
