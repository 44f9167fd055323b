//! Names and values of an entry, and how they lie in a node.
//!
//! Each is a tag and what belongs to it. The tag is the length of a short text, a small number itself, or says how many
//! bytes of a number or of a length follow. Numbers and lengths are little-endian.
//!
//! ```text
//! 00..=7f  text of 0..=127 bytes      c0..=c7  number in 1..=8 bytes, sign included
//! 80..=bf  the number 0..=63          c8, c9   text with its length in 2, 4 bytes
//! cc..=ff  the number 64..=13375, its high bits in the tag and the low eight behind it
//! ```
//!
//! Where there are templates of values, two more tags are among those of values: `ca` for what the template is, and `cb`
//! for a text that is packed by it.

mod encoding;

pub(crate) use self::encoding::AS_TEMPLATE;
pub(crate) use self::encoding::OVERHEAD_MAX;
pub(crate) use self::encoding::PACKED;
use self::encoding::TEXT_LEN_MAX;
pub(crate) use self::encoding::canonical_integer;
pub(crate) use self::encoding::have_names;
pub(crate) use self::encoding::put;
pub(crate) use self::encoding::put_count;
pub(crate) use self::encoding::take;
pub(crate) use self::encoding::take_by;
pub(crate) use self::encoding::take_count;
use self::encoding::take_other;
use self::encoding::take_plain;
use crate::pack::Packed;

/// A name or a value: text that is a canonical 64-bit integer is kept as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The bytes as they came. They do not look like an integer.
    Bytes(&'a [u8]),
    /// A number whose decimal digits are the bytes that came.
    Int(i64),
}

impl<'a> Part<'a> {
    #[inline]
    fn new(text: &'a [u8]) -> Self {
        canonical_integer(text).map_or(Self::Bytes(text), Self::Int)
    }
}

/// A value of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// In one piece.
    Part(Part<'a>),
    /// In pieces.
    Packed(Packed<'a>),
}

/// A name or a value as it lies in a node, which takes the least time to copy.
#[derive(Clone, Copy, Debug)]
pub enum Kept<'a> {
    /// In one piece.
    Plain(Plain<'a>),
    /// In pieces.
    Packed(Packed<'a>),
}

/// As [`Part`], with what lies behind it.
#[derive(Clone, Copy, Debug)]
pub enum Plain<'a> {
    /// The bytes as they came. They do not look like an integer.
    Bytes(Lead<'a>),
    /// A number whose decimal digits are the bytes that came.
    Int(i64),
}

/// The front of some bytes. What lies behind means nothing, but who copies may read it.
#[derive(Clone, Copy, Debug)]
pub struct Lead<'a> {
    /// All bytes.
    pub bytes: &'a [u8],
    /// How many of them are meant.
    pub len: usize,
}

impl Plain<'_> {
    /// Returns how many bytes it has if it is a text, and none for a number.
    #[inline]
    #[must_use]
    pub const fn text_bytes(&self) -> usize {
        match self {
            Self::Bytes(lead) => lead.len,
            Self::Int(_) => 0,
        }
    }
}

impl<'a> From<Part<'a>> for Plain<'a> {
    #[inline]
    fn from(part: Part<'a>) -> Self {
        match part {
            Part::Bytes(bytes) => Self::Bytes(Lead {
                bytes,
                len: bytes.len(),
            }),
            Part::Int(number) => Self::Int(number),
        }
    }
}

impl<'a> From<Text<'a>> for Kept<'a> {
    #[inline]
    fn from(text: Text<'a>) -> Self {
        match text {
            Text::Part(part) => Self::Plain(part.into()),
            Text::Packed(packed) => Self::Packed(packed),
        }
    }
}

/// Walks over the fields of an entry; see [`crate::Entry::fields`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    /// The names that the node shares among its entries, or none when they lie between the values.
    names: Option<&'a [u8]>,
    /// The values that others may be packed by; empty where none is.
    templates: &'a [u8],
    body: &'a [u8],
    left: usize,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(crate) const fn new(
        names: Option<&'a [u8]>,
        templates: &'a [u8],
        body: &'a [u8],
        count: usize,
    ) -> Self {
        Self {
            names,
            templates,
            body,
            left: count,
        }
    }
}

/// Values that a node keeps once for many entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Templates<'a> {
    /// One of each name, and what follows them; empty if there are none.
    pub(crate) bytes: &'a [u8],
    /// How many bytes they have.
    pub(crate) len: usize,
    /// Whether there are values that are pieces of them. If not, the others may be the same.
    pub(crate) has_pieces: bool,
}

impl Templates<'_> {
    pub(crate) const NONE: Self = Self {
        bytes: &[],
        len: 0,
        has_pieces: false,
    };
}

/// Walks over names, or over values none of which is in pieces; see [`crate::Entry::plain_values`].
#[derive(Clone, Debug)]
pub struct PlainValues<'a> {
    body: &'a [u8],
    bytes_max: usize,
    left: usize,
}

impl<'a> PlainValues<'a> {
    #[inline]
    pub(crate) const fn new(body: &'a [u8], bytes_max: usize, count: usize) -> Self {
        Self {
            body,
            bytes_max,
            left: count,
        }
    }

    /// Returns as many bytes as all texts do not exceed together, templates among them, and numbers not counted.
    #[inline]
    #[must_use]
    pub const fn text_bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Takes the next value if it begins with this tag, and returns its text, of [`Tag::text_len`] bytes, with what lies
    /// behind.
    #[inline(always)]
    #[must_use]
    pub fn next_tagged(&mut self, tag: Tag) -> Option<&'a [u8]> {
        let (first, tail) = self.body.split_first()?;
        if *first != tag.tag {
            return None;
        }
        self.body = &tail[tag.text_len()..];
        self.left = self.left.saturating_sub(1);
        Some(tail)
    }
}

/// What some values begin with in a node.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    tag: u8,
    text_len: u8,
}

impl Tag {
    /// Stands for the template.
    pub const TEMPLATE: Self = Self {
        tag: AS_TEMPLATE,
        text_len: 0,
    };

    /// The tag of texts of so many bytes, if these are few.
    #[inline]
    #[must_use]
    pub fn of_text(len: usize) -> Option<Self> {
        let tag = u8::try_from(len).ok().filter(|&tag| tag <= TEXT_LEN_MAX)?;
        Some(Self { tag, text_len: tag })
    }

    /// How many bytes of text follow.
    #[inline]
    #[must_use]
    pub const fn text_len(self) -> usize {
        self.text_len as usize
    }
}

impl<'a> Iterator for PlainValues<'a> {
    /// Nothing stands for what the template is; see [`crate::Entry::template`].
    type Item = Option<Plain<'a>>;

    // A few instructions, twice as many if they are called.
    #[inline(always)]
    fn next(&mut self) -> Option<Option<Plain<'a>>> {
        self.left = self.left.checked_sub(1)?;
        Some(match self.body.split_first() {
            Some((&tag, tail)) if tag <= TEXT_LEN_MAX => {
                let len = usize::from(tag);
                self.body = &tail[len..];
                Some(Plain::Bytes(Lead { bytes: tail, len }))
            }
            Some((&AS_TEMPLATE, tail)) => {
                self.body = tail;
                None
            }
            _ => Some(take_other(&mut self.body)),
        })
    }
}

impl<'a> Fields<'a> {
    /// Takes the next field, for who copies.
    #[inline]
    pub(crate) fn next_kept(&mut self) -> Option<(Plain<'a>, Kept<'a>)> {
        self.left = self.left.checked_sub(1)?;
        let name = take_plain(self.names.as_mut().unwrap_or(&mut self.body));
        let value = if self.templates.is_empty() {
            Kept::Plain(take_plain(&mut self.body))
        } else {
            let template = take(&mut self.templates);
            take_by(&mut self.body, template).into()
        };
        Some((name, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Part<'a>, Text<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let name = take(self.names.as_mut().unwrap_or(&mut self.body));
        let value = if self.templates.is_empty() {
            Text::Part(take(&mut self.body))
        } else {
            let template = take(&mut self.templates);
            take_by(&mut self.body, template)
        };
        Some((name, value))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Fields<'_> {}

#[cfg(test)]
mod tests;
