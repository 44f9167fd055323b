//! Replies of many short pieces, as the entries of a stream are.
//!
//! Whoever appends to a vector asks each time whether it must grow, and to copy just as many bytes as there are is a
//! call. Here room is made once for several pieces, and a short one is stored as a chunk of fixed size, whose rest is
//! overwritten by the piece behind it. Each is a few instructions only where it is written, so that a call would double
//! what it costs: hence all the `inline(always)`.

use super::Version;
use super::line::HEADER_BYTES_MAX;
use super::line::HEADERS;
use crate::number;
use crate::number::DIGITS_MAX;
use crate::number::EIGHT_DIGITS;

/// Appends to a reply in pieces; see [`super::ReplyWriter::pieces`].
#[derive(Debug)]
pub struct Pieces<'a> {
    out: &'a mut Vec<u8>,
    version: Version,
    /// Where the reply ends. What lies behind is room.
    end: usize,
    /// How much room is made at once, if less is asked for.
    growth: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, version: Version, growth: usize) -> Self {
        Self {
            end: out.len(),
            out,
            version,
            growth,
        }
    }

    /// Appends what `fill` writes, which is no more than `bytes_max`.
    #[inline(always)]
    pub fn write(&mut self, bytes_max: usize, fill: impl FnOnce(&mut Room<'_>)) {
        let room_end = self.end + bytes_max + STAMP_BYTES_MAX;
        if room_end > self.out.len() {
            self.grow(room_end);
        }
        let mut room = Room {
            bytes: self.out,
            at: self.end,
        };
        fill(&mut room);
        self.end = room.at;
    }

    /// How long the reply is, with all that was in the buffer before it.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "it says where a piece begins")]
    pub fn len(&self) -> usize {
        self.end
    }

    /// Sets how much room is made at once from now on, if less is asked for.
    pub fn set_growth(&mut self, bytes: usize) {
        self.growth = bytes;
    }

    /// Takes memory for as many bytes more and for some room behind them, which saves moving what is there.
    pub fn reserve(&mut self, bytes: usize) {
        // What is moved is then the reply alone.
        self.out.truncate(self.end);
        self.out.reserve(bytes + self.growth + STAMP_BYTES_MAX);
    }

    /// "Nothing here" where an array was asked for.
    pub fn null_array(&mut self) {
        let null = self.version.null_array();
        self.write(null.len(), |room| room.text(null, null.len()));
    }

    #[cold]
    fn grow(&mut self, room_end: usize) {
        let room_end = room_end.max(self.end + self.growth);
        self.out.resize(room_end, 0);
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.end);
    }
}

/// Room at the end of a reply. Strings are written here without their line ends.
///
/// Every method panics if there is too little room.
#[derive(Debug)]
pub struct Room<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Room<'_> {
    /// The most bytes that a string takes beside its own, with its line end. A number takes no more.
    pub const BULK_BYTES_MAX: usize = HEADER_BYTES_MAX + 2 + DIGITS_MAX + 1;

    /// The place where the next piece goes.
    #[inline]
    pub fn place(&self) -> usize {
        self.at
    }

    /// The first `len` bytes of `from`. It is faster if there are some more.
    #[inline(always)]
    pub fn text(&mut self, from: &[u8], len: usize) {
        match from.first_chunk() {
            Some(chunk) if len <= CHUNK => self.chunk::<CHUNK>(*chunk, len),
            _ => self.exactly(&from[..len]),
        }
    }

    /// The `len` bytes that were written at this place before.
    #[inline(always)]
    pub fn again(&mut self, place: usize, len: usize) {
        match self.bytes[place..].first_chunk() {
            Some(chunk) if len <= CHUNK => self.chunk::<CHUNK>(*chunk, len),
            _ => self.long_again(place, len),
        }
    }

    fn long_again(&mut self, place: usize, len: usize) {
        self.bytes.copy_within(place..place + len, self.at);
        self.at += len;
    }

    /// A text that is written often.
    #[inline(always)]
    pub fn stamp(&mut self, stamp: &Stamp) {
        self.chunk(stamp.bytes, stamp.len);
    }

    /// What was written from a place on, to be written again, if it is short enough.
    pub fn stamp_since(&self, place: usize) -> Option<Stamp> {
        let len = self.at - place;
        let bytes = self.bytes[place..].first_chunk()?;
        (len <= STAMP_BYTES_MAX).then_some(Stamp { bytes: *bytes, len })
    }

    /// A string: the first `len` bytes of `from`.
    #[inline(always)]
    pub fn bulk(&mut self, from: &[u8], len: usize) {
        self.bulk_header(len);
        self.text(from, len);
    }

    /// A number as a string.
    #[inline(always)]
    pub fn bulk_integer(&mut self, value: i64) {
        match usize::try_from(value).ok().and_then(|n| HEADERS.get(n)) {
            Some(header) => {
                let digits = usize::from(header.len) - 3;
                self.bulk_header(digits);
                // The digits are those of a ready-made header, whose kind comes to lie on the line end.
                self.at -= 1;
                let line_end = self.at;
                self.chunk(header.bytes, 1 + digits);
                self.bytes[line_end] = b'\n';
            }
            None => self.long_integer(value),
        }
    }

    /// The ID of a stream entry as a string.
    #[inline(always)]
    pub fn id(&mut self, ms: u64, seq: u64) {
        let short = number::short_digits(ms / EIGHT_DIGITS).zip(number::short_digits(seq));
        match short {
            Some(((high, high_digits), (seq, seq_digits))) if ms >= EIGHT_DIGITS => {
                self.bulk_header(high_digits + 8 + 1 + seq_digits);
                self.chunk(high, high_digits);
                self.chunk(number::last_eight(ms), 8);
                self.chunk(*b"-", 1);
                self.chunk(seq, seq_digits);
            }
            _ => self.any_id(ms, seq),
        }
    }

    fn any_id(&mut self, ms: u64, seq: u64) {
        let (ms_digits, seq_digits) = (digit_count(ms), digit_count(seq));
        self.bulk_header(ms_digits + 1 + seq_digits);
        self.digits(ms, ms_digits);
        self.chunk(*b"-", 1);
        self.digits(seq, seq_digits);
    }

    /// The header of an array of `count` elements.
    #[inline(always)]
    pub fn array(&mut self, count: usize) {
        let start = self.at;
        self.bulk_header(count);
        self.bytes[start] = b'*';
    }

    /// The header of a string of `len` bytes, which are to follow.
    #[inline(always)]
    pub fn bulk_header(&mut self, len: usize) {
        match HEADERS.get(len) {
            Some(header) => self.chunk(header.bytes, header.len.into()),
            None => self.long_bulk_header(len),
        }
    }

    #[cold]
    fn long_bulk_header(&mut self, len: usize) {
        self.exactly(b"$");
        self.digits(len as u64, digit_count(len as u64));
        self.line_end();
    }

    /// The line end of a string.
    #[inline(always)]
    pub fn line_end(&mut self) {
        self.chunk(*b"\r\n", 2);
    }

    fn long_integer(&mut self, value: i64) {
        let digits = digit_count(value.unsigned_abs());
        self.bulk_header(digits + usize::from(value < 0));
        if value < 0 {
            self.exactly(b"-");
        }
        self.digits(value.unsigned_abs(), digits);
    }

    #[inline(always)]
    fn chunk<const N: usize>(&mut self, chunk: [u8; N], len: usize) {
        self.bytes[self.at..self.at + N].copy_from_slice(&chunk);
        self.at += len;
    }

    fn exactly(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline(always)]
    fn digits(&mut self, value: u64, count: usize) {
        let end = self.at + count;
        number::write_back(&mut self.bytes[self.at..end], value);
        self.at = end;
    }
}

/// A short text that is at hand to be written over and over.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    bytes: [u8; STAMP_BYTES_MAX],
    len: usize,
}

/// Opens pairs whose first element is the ID of a stream entry, as entries are.
///
/// IDs that follow each other have most of their text in common, which is kept.
#[derive(Debug)]
pub struct IdPairs {
    /// What is before the sequence: `*2`, the header of the ID, the milliseconds, the dash.
    text: [u8; CHUNK],
    len: usize,
    ms: u64,
    /// How long a sequence may follow; 0 if there is no text yet.
    seq_digits: usize,
}

impl IdPairs {
    /// The most bytes that [`IdPairs::open`] writes.
    pub const BYTES_MAX: usize = CHUNK + DIGITS_MAX;

    /// Makes one that has no text yet.
    #[expect(
        clippy::new_without_default,
        reason = "there is no pair that could be the default"
    )]
    pub fn new() -> Self {
        Self {
            text: [0; CHUNK],
            len: 0,
            ms: 0,
            seq_digits: 0,
        }
    }

    /// Opens a pair with an ID, whose line end is to follow.
    #[inline(always)]
    pub fn open(&mut self, room: &mut Room<'_>, ms: u64, seq: u64) {
        let seq_digits = digit_count(seq);
        if ms != self.ms || seq_digits != self.seq_digits {
            self.turn_to(ms, seq_digits);
        }
        room.chunk(self.text, self.len);
        match seq {
            0..10 => room.chunk([b'0' + seq.to_le_bytes()[0]], 1),
            _ => room.digits(seq, seq_digits),
        }
    }

    /// Returns what stands before the sequence of an ID that is a string by itself, with its length.
    #[inline]
    pub(super) fn before(&mut self, ms: u64, seq_digits: usize) -> (&[u8; ALONE_BYTES], usize) {
        if ms != self.ms || seq_digits != self.seq_digits {
            self.turn_to(ms, seq_digits);
        }
        let alone = self.text.last_chunk();
        let alone = alone.expect("the header of the pair is in front");
        (alone, self.len - PAIR_HEADER_BYTES)
    }

    #[inline]
    fn turn_to(&mut self, ms: u64, seq_digits: usize) {
        let (high, low) = (ms / TURN, ms % TURN);
        if high > 0 && high == self.ms / TURN && seq_digits == self.seq_digits {
            // The dash is the last byte.
            let digits_end = self.len - 1;
            number::write_all(&mut self.text[digits_end - TURN_DIGITS..digits_end], low);
            self.ms = ms;
        } else {
            self.start_with(ms, seq_digits);
        }
    }

    fn start_with(&mut self, ms: u64, seq_digits: usize) {
        let ms_digits = digit_count(ms);
        let mut room = Room {
            bytes: &mut [0; 2 * CHUNK],
            at: 0,
        };
        room.array(2);
        room.bulk_header(ms_digits + 1 + seq_digits);
        room.digits(ms, ms_digits);
        room.exactly(b"-");
        self.len = room.at;
        self.text.copy_from_slice(&room.bytes[..CHUNK]);
        (self.ms, self.seq_digits) = (ms, seq_digits);
    }
}

/// Counts the digits of a number.
#[inline]
fn digit_count(value: u64) -> usize {
    match value {
        0..10 => 1,
        _ => value.ilog10() as usize + 1,
    }
}

/// As long as most names and values are at most, and as two IDs of now have in common with all that is before them.
const CHUNK: usize = 32;
/// As long as a short value is with its header and a name before it.
const STAMP_BYTES_MAX: usize = 64;
/// What [`IdPairs::open`] writes before the ID: `*2` and a line end.
const PAIR_HEADER_BYTES: usize = 4;
const ALONE_BYTES: usize = CHUNK - PAIR_HEADER_BYTES;
/// Milliseconds that are counted by the last digits of an ID alone.
const TURN: u64 = 10_000;
const TURN_DIGITS: usize = 4;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reply::ReplyWriter;

    fn written(write: impl FnOnce(&mut ReplyWriter<'_>)) -> Vec<u8> {
        let mut out = b"+before\r\n".to_vec();
        write(&mut ReplyWriter::new(&mut out, Version::Resp2));
        out
    }

    fn in_room(bytes_max: usize, fill: impl FnOnce(&mut Room<'_>)) -> Vec<u8> {
        written(|reply| {
            reply.pieces(0).write(bytes_max, |room| {
                fill(room);
                room.line_end();
            });
        })
    }

    proptest! {
        /// Strings and numbers are what the writer makes of them.
        #[test]
        fn strings_are_the_same_in_pieces(
            text in prop::collection::vec(any::<u8>(), 0..1_200),
            behind in 0..40_usize,
            number: i64,
            shift in 0..64_u32,
        ) {
            let len = text.len() - behind.min(text.len());
            let pieces = in_room(len + Room::BULK_BYTES_MAX, |room| room.bulk(&text, len));
            prop_assert_eq!(pieces, written(|reply| reply.bulk(&text[..len])));
            let number = number >> shift;
            let pieces = in_room(Room::BULK_BYTES_MAX, |room| room.bulk_integer(number));
            prop_assert_eq!(pieces, written(|reply| reply.bulk_integer(number)));
        }

        /// Whatever IDs came before.
        #[test]
        fn ids_are_the_same_in_pairs(
            ids in prop::collection::vec((any::<u64>(), 0..64_u32, 0..3_u64, any::<u64>(), 0..64_u32), 1..20)
        ) {
            let mut pairs = IdPairs::new();
            for (ms, ms_shift, steps, seq, seq_shift) in ids {
                for ms in (ms >> ms_shift..=u64::MAX).step_by(997).take(1 + usize::try_from(steps).unwrap()) {
                    let seq = seq >> seq_shift;
                    let opened = in_room(IdPairs::BYTES_MAX + 2, |room| pairs.open(room, ms, seq));
                    let expected = written(|reply| {
                        reply.array(2);
                        reply.id(ms, seq);
                    });
                    prop_assert_eq!(&opened, &expected);
                    let alone = written(|reply| reply.id_like(&mut pairs, ms, seq));
                    prop_assert_eq!(alone, written(|reply| reply.id(ms, seq)));
                    let apart = in_room(IdPairs::BYTES_MAX + 2, |room| {
                        room.array(2);
                        room.id(ms, seq);
                    });
                    prop_assert_eq!(&apart, &expected);
                }
            }
        }

        #[test]
        fn what_was_written_comes_again(text in prop::collection::vec(any::<u8>(), 0..100)) {
            let again = in_room(2 * text.len() + 2, |room| {
                let start = room.place();
                room.text(&text, text.len());
                room.again(start, text.len());
            });
            let twice = [b"+before\r\n", &text[..], &text, b"\r\n"].concat();
            prop_assert_eq!(&again, &twice);
            let stamped = in_room(2 * text.len() + 2, |room| {
                let start = room.place();
                room.text(&text, text.len());
                match room.stamp_since(start) {
                    Some(stamp) => room.stamp(&stamp),
                    None => room.again(start, text.len()),
                }
                let is_short = text.len() <= STAMP_BYTES_MAX;
                assert_eq!(room.stamp_since(start + text.len()).is_some(), is_short);
            });
            prop_assert_eq!(&stamped, &twice);
        }
    }

    #[test]
    fn nothing_is_left_behind_the_reply() {
        let out = written(|reply| {
            let mut pieces = reply.pieces(1_000);
            pieces.write(100, |room| room.text(b"+some\r\nand more", 7));
            pieces.null_array();
        });
        assert_eq!(out, b"+before\r\n+some\r\n*-1\r\n");
    }
}
