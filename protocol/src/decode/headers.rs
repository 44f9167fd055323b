//! Headers of arguments that were read before.

/// What arguments began with when they were last read, by how many their request had and by their place in it.
///
/// Clients say much the same over and over, and so the header of an argument is mostly the one that stood in its place
/// before. To compare it with that takes fewer steps than to read it (59 and 68 instructions for an argument of an XADD,
/// all else included). What is decoded does not depend on what is kept here.
#[derive(Debug)]
pub(crate) struct Headers {
    places: Box<[Header; PLACES]>,
}

/// A header, such as `$5\r\n`, and what it says.
#[derive(Clone, Copy, Debug)]
struct Header {
    /// Its bytes, the first one lowest, and zeros.
    bytes: u64,
    /// The bits that they take.
    mask: u64,
    text: Text,
}

/// Where the text of an argument lies, counted from the first byte of its header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Text {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Headers {
    /// Where the headers of a request with so many arguments begin.
    #[inline]
    pub(super) const fn first(args: usize) -> usize {
        args * PLACES_EACH
    }

    /// Reads the header at the front of `rest` if it is the one that was last learnt for this place.
    #[inline]
    pub(super) fn read(&self, place: usize, rest: &[u8]) -> Option<Text> {
        let header = &self.places[place % PLACES];
        let bytes = u64::from_le_bytes(*rest.first_chunk()?);
        (bytes & header.mask == header.bytes).then_some(header.text)
    }

    /// Learns that the header at the front of `rest` has so many bytes, at most [`HEADER_BYTES_MAX`], and that the text behind
    /// it has this length, which is short.
    pub(super) fn learn(&mut self, place: usize, rest: &[u8], header_bytes: u8, len: u16) -> Text {
        debug_assert!(header_bytes <= HEADER_BYTES_MAX);
        let text = Text {
            start: header_bytes.into(),
            end: u32::from(header_bytes) + u32::from(len),
        };
        if let Some(bytes) = rest.first_chunk() {
            let mask = (1 << (8 * header_bytes)) - 1;
            self.places[place % PLACES] = Header {
                bytes: u64::from_le_bytes(*bytes) & mask,
                mask,
                text,
            };
        }
        text
    }
}

impl Default for Headers {
    fn default() -> Self {
        // No bytes are like this.
        let none = Header {
            bytes: 1,
            mask: 0,
            text: Text { start: 0, end: 0 },
        };
        Self {
            places: Box::new([none; PLACES]),
        }
    }
}

/// The longest header that is kept.
const HEADER_BYTES_MAX: u8 = 6;
/// How many headers are kept.
const PLACES: usize = 128;
/// How many of them a request has before it shares those of requests with more arguments.
const PLACES_EACH: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_again_where_it_was_learnt() {
        let mut headers = Headers::default();
        let place = Headers::first(2) + 1;
        assert_eq!(headers.read(place, b"$12\r\nabc"), None);

        let learnt = headers.learn(place, b"$12\r\nabc", 5, 12);
        assert_eq!(learnt, Text { start: 5, end: 17 });
        assert_eq!(headers.read(place, b"$12\r\nxyz and more"), Some(learnt));
        assert_eq!(headers.read(place + 1, b"$12\r\nxyz"), None);
        for other in [
            &b"$13\r\nabc"[..],
            b"$1\r\nabcd",
            b"$12\n\nabc",
            b":12\r\nabc",
            b"$12\r\nab",
        ] {
            assert_eq!(headers.read(place, other), None);
        }
    }

    #[test]
    fn bytes_that_are_all_zero_are_no_header() {
        assert_eq!(Headers::default().read(0, &[0; 8]), None);
    }
}
