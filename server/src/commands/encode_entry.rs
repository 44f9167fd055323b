//! Writes entries: `[id, [name, value, ...]]` each.
//!
//! Neighbours have the names of their fields in common. What lies between two values, from the line end of one to the
//! header of the other, is then the same text in all of them: it is found in the entry before and copied from there. So is
//! the header, as long as values are as long as the ones before.

use tailrace_protocol::IdPairs;
use tailrace_protocol::Pieces;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Room;
use tailrace_protocol::Stamp;
use tailrace_storage::Entry;
use tailrace_storage::Kept;
use tailrace_storage::Lead;
use tailrace_storage::Packed;
use tailrace_storage::Plain;
use tailrace_storage::PlainValues;
use tailrace_storage::Range;
use tailrace_storage::SharedNames;
use tailrace_storage::StreamId;
use tailrace_storage::Tag;

/// Appends the first `count` of some entries.
pub(super) fn put_all(reply: &mut ReplyWriter<'_>, entries: Range<'_>, count: usize) {
    if count == 1 {
        return entries.each(1, |entry| put_one(reply, entry));
    }
    let mut writer = EntryWriter::new(reply, count);
    entries.each(count, |entry| writer.put(entry));
}

/// As [`put_all`], from the last one on.
pub(super) fn put_all_reversed(reply: &mut ReplyWriter<'_>, entries: Range<'_>, count: usize) {
    let mut entries = entries.rev();
    if count == 1 {
        if let Some(entry) = entries.next() {
            put_one(reply, &entry);
        }
        return;
    }
    let mut writer = EntryWriter::new(reply, count);
    entries.take(count).for_each(|entry| writer.put(&entry));
}

/// A part of the reply, empty if there is none.
#[derive(Clone, Copy, Default)]
struct Written {
    place: usize,
    len: usize,
}

impl Written {
    /// What was written from a place on.
    #[inline]
    fn since(place: usize, room: &Room<'_>) -> Self {
        let len = room.place() - place;
        Self { place, len }
    }
}

/// What stands before the values of one name.
#[derive(Clone, Copy, Default)]
struct Column {
    /// The text before each value.
    joint: Written,
    /// What the last value began with, and the text before those that begin alike, header included, if it is short. To
    /// that of a template belongs the value.
    opening: Option<(Tag, Stamp)>,
}

impl Column {
    /// One before whose values this text stands.
    fn behind(joint: Written) -> Self {
        Self {
            joint,
            opening: None,
        }
    }

    /// Writes a value with what stands before it, which serves the next one if that begins alike.
    #[inline(never)]
    fn put<'e>(
        &mut self,
        room: &mut Room<'_>,
        value: Option<Plain<'_>>,
        template: impl FnOnce() -> Plain<'e>,
    ) {
        let start = room.place();
        room.again(self.joint.place, self.joint.len);
        match value {
            Some(Plain::Bytes(text)) => {
                room.bulk_header(text.len);
                self.opening = Tag::of_text(text.len).zip(room.stamp_since(start));
                room.text(text.bytes, text.len);
            }
            Some(number) => put_plain(room, number),
            None => {
                put_plain(room, template());
                self.opening = room.stamp_since(start).map(|stamp| (Tag::TEMPLATE, stamp));
            }
        }
    }
}

/// Appends entries to a reply, one after the other.
pub(super) struct EntryWriter<'w, 'e> {
    pieces: Pieces<'w>,
    ids: IdPairs,
    /// Whose text the joints are, if they are that of any.
    names: Option<SharedNames<'e>>,
    columns: [Column; COLUMNS_MAX],
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
            columns: [Column::default(); COLUMNS_MAX],
            joint_bytes: 0,
            left: count,
        }
    }

    /// Appends an entry.
    // An entry is read in parts, most of which need never come to lie in memory.
    #[inline(always)]
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
    #[inline(always)]
    fn put_alike(&mut self, entry: &Entry<'e>, mut values: PlainValues<'e>) {
        let id = entry.id();
        let bytes_max = IdPairs::BYTES_MAX
            + self.joint_bytes
            + values.text_bytes_max()
            + entry.field_count() * Room::BULK_BYTES_MAX
            + LINE_END_BYTES;
        let Self {
            pieces,
            ids,
            columns,
            ..
        } = self;
        pieces.write(bytes_max, |room| {
            ids.open(room, id.ms, id.seq);
            for (at, column) in columns[..entry.field_count()].iter_mut().enumerate() {
                match &column.opening {
                    Some((tag, stamp)) if let Some(text) = values.next_tagged(*tag) => {
                        room.stamp(stamp);
                        room.text(text, tag.text_len());
                    }
                    _ => {
                        let value = values.next().flatten();
                        column.put(room, value, || entry.template(at));
                    }
                }
            }
            room.line_end();
        });
    }

    /// Appends an entry with the names of the one before.
    #[inline(never)]
    fn put_alike_packed(&mut self, entry: &Entry<'e>) {
        self.open(entry.id());
        for (at, (_, value)) in entry.kept_fields().enumerate() {
            let joint = self.columns[at].joint;
            self.pieces
                .write(joint.len, |room| room.again(joint.place, joint.len));
            self.value(value);
        }
        self.line_end();
    }

    /// Appends any entry, and notes where the text is that may be had in common with the next.
    #[inline(never)]
    fn put_first(&mut self, entry: &Entry<'e>) {
        let start = self.pieces.len();
        let can_share = entry.field_count() <= COLUMNS_MAX;
        self.names = entry.shared_names().filter(|_| can_share);
        match entry.plain_names().zip(entry.plain_values()) {
            Some((names, values)) => self.put_first_plain(entry, names, values),
            None => self.put_any(entry),
        }
        if self.left > 0 {
            self.reserve(start);
        }
    }

    /// Appends an entry none of whose values is packed, all at once.
    fn put_first_plain(
        &mut self,
        entry: &Entry<'e>,
        names: PlainValues<'e>,
        values: PlainValues<'e>,
    ) {
        let id = entry.id();
        let bytes_max = whole_bytes_max(entry, &names, &values);
        let Self { ids, columns, .. } = self;
        let mut joint_bytes = 0;
        self.pieces.write(bytes_max, |room| {
            ids.open(room, id.ms, id.seq);
            put_fields(room, entry, names, values, |at, written| {
                if let Some(column) = columns.get_mut(at) {
                    *column = Column::behind(written);
                    joint_bytes += written.len;
                }
            });
        });
        self.joint_bytes = joint_bytes;
    }

    /// Appends any entry, piece by piece.
    fn put_any(&mut self, entry: &Entry<'e>) {
        self.open(entry.id());
        let mut start = 0;
        self.pieces
            .write(LINE_END_BYTES + Room::BULK_BYTES_MAX, |room| {
                start = room.place();
                room.line_end();
                room.array(entry.field_count() * 2);
            });
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
            if let Some(column) = self.columns.get_mut(at) {
                *column = Column::behind(Written { place: start, len });
                self.joint_bytes += len;
            }
            self.value(value);
        }
        if entry.field_count() > 0 {
            self.line_end();
        }
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

    fn plain(&mut self, plain: Plain<'_>) {
        let bytes_max = Room::BULK_BYTES_MAX + plain.text_bytes();
        self.pieces.write(bytes_max, |room| put_plain(room, plain));
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

/// Appends an entry that has no neighbours.
fn put_one(reply: &mut ReplyWriter<'_>, entry: &Entry<'_>) {
    let Some((names, values)) = entry.plain_names().zip(entry.plain_values()) else {
        return EntryWriter::new(reply, 1).put(entry);
    };
    let id = entry.id();
    let bytes_max = whole_bytes_max(entry, &names, &values);
    reply.pieces(0).write(bytes_max, |room| {
        room.array(2);
        room.id(id.ms, id.seq);
        put_fields(room, entry, names, values, |_, _| ());
    });
}

/// How many bytes an entry does not exceed that is written as a whole.
#[inline]
fn whole_bytes_max(entry: &Entry<'_>, names: &PlainValues<'_>, values: &PlainValues<'_>) -> usize {
    let text_bytes = |name: Option<Plain<'_>>| name.map_or(0, |name| name.text_bytes());
    let name_bytes: usize = names.clone().map(text_bytes).sum();
    IdPairs::BYTES_MAX
        + name_bytes
        + values.text_bytes_max()
        + (2 * entry.field_count() + 1) * Room::BULK_BYTES_MAX
        + LINE_END_BYTES
}

/// Ends the line of the ID and appends all fields. `note` is given what is written before each value.
#[inline]
fn put_fields<'e>(
    room: &mut Room<'_>,
    entry: &Entry<'e>,
    mut names: PlainValues<'e>,
    mut values: PlainValues<'e>,
    mut note: impl FnMut(usize, Written),
) {
    let mut start = room.place();
    room.line_end();
    room.array(2 * entry.field_count());
    let mut at = 0;
    while let (Some(Some(name)), Some(value)) = (names.next(), values.next()) {
        put_plain(room, name);
        room.line_end();
        note(at, Written::since(start, room));
        put_plain(room, value.unwrap_or_else(|| entry.template(at)));
        start = room.place();
        room.line_end();
        at += 1;
    }
}

#[inline]
fn put_plain(room: &mut Room<'_>, plain: Plain<'_>) {
    match plain {
        Plain::Bytes(Lead { bytes, len }) => room.bulk(bytes, len),
        Plain::Int(number) => room.bulk_integer(number),
    }
}

/// Entries with more fields are seldom many.
const COLUMNS_MAX: usize = 16;
/// About what an entry takes.
const ENTRY_BYTES: usize = 256;
/// Room for a page or so is made at once: it has to be cleared.
const GROWTH_BYTES_MAX: usize = 4 * 1_024;
/// Memory that is taken at once for entries that are still to be written.
const RESERVED_BYTES_MAX: usize = 256 * 1_024;
const LINE_END_BYTES: usize = 2;
