//! What LZF has packed: pieces of text, and references to what came before.
//!
//! ```text
//! 000nnnnn                    n + 1 bytes of text follow
//! lllddddd dddddddd           l + 2 bytes again, from d + 1 bytes back; l is 1 to 6
//! 111ddddd llllllll dddddddd  the same with l + 9 bytes
//! ```

use super::Damaged;

/// Returns the text, which is to have exactly `len` bytes. That `len` is bearable is the caller's duty.
pub(super) fn unpack(mut packed: &[u8], len: usize) -> Result<Vec<u8>, Damaged> {
    if len > packed.len().saturating_mul(GROWTH_MAX) {
        return Err(Damaged);
    }
    let mut text = Vec::with_capacity(len);
    while let Some(control) = take(&mut packed) {
        let length = usize::from(control >> 5);
        if length == 0 {
            let (piece, rest) = packed
                .split_at_checked(usize::from(control) + 1)
                .ok_or(Damaged)?;
            text.extend_from_slice(piece);
            packed = rest;
        } else {
            let more = if length == 7 {
                take(&mut packed).ok_or(Damaged)?
            } else {
                0
            };
            let low = take(&mut packed).ok_or(Damaged)?;
            let back = usize::from(u16::from_be_bytes([control & 0x1f, low])) + 1;
            repeat(&mut text, back, length + usize::from(more) + 2)?;
        }
        if text.len() > len {
            return Err(Damaged);
        }
    }
    if text.len() == len {
        Ok(text)
    } else {
        Err(Damaged)
    }
}

/// Appends what lies `back` bytes back; it may reach into what is appended.
fn repeat(text: &mut Vec<u8>, back: usize, len: usize) -> Result<(), Damaged> {
    let start = text.len().checked_sub(back).ok_or(Damaged)?;
    for at in start..start + len {
        text.push(text[at]);
    }
    Ok(())
}

fn take(packed: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = packed.split_first()?;
    *packed = rest;
    Some(first)
}

/// Three bytes stand for no more than 264, one for no more than one.
const GROWTH_MAX: usize = 88;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_references_come_out() {
        assert_eq!(unpack(b"\x02abc\x20\x02", 6).unwrap(), b"abcabc");
        assert_eq!(unpack(b"\x00a\xe0\x0a\x00", 20).unwrap(), [b'a'; 20]);
        assert_eq!(unpack(b"", 0).unwrap(), b"");
    }

    #[test]
    fn what_is_damaged_is_refused() {
        for (packed, len) in [
            (&b"\x02ab"[..], 3),
            (b"\x02abc", 2),
            (b"\x02abc", 4),
            (b"\x00a\x20\x01", 4),
            (b"\x00a\x20", 4),
            (b"\x00a\xe0", 10),
            (b"\x00a\xe0\xff\x00", 1 << 40),
        ] {
            assert_eq!(unpack(packed, len), Err(Damaged), "{packed:?} {len}");
        }
    }
}
