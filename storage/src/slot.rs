//! Hash slots: which of 16,384 parts of a cluster a key belongs to.

/// How many hash slots a cluster has.
pub const SLOT_COUNT: u16 = 16_384;

/// Returns the hash slot of a key.
///
/// Only the hash tag counts if there is one: what lies between the first `{` and the first `}` after
/// it, unless that is empty.
#[must_use]
pub fn key_slot(key: &[u8]) -> u16 {
    checksum(hash_tag(key).unwrap_or(key)) % SLOT_COUNT
}

/// Returns the one slot of all keys that a glob pattern can match, or `None` if they may lie in several.
///
/// They lie in one if nothing before the end of the hash tag, or nowhere without one, stands for something else.
#[must_use]
pub fn pattern_slot(pattern: &[u8]) -> Option<u16> {
    let end = hash_tag(pattern).map_or(pattern.len(), |tag| {
        // A tag lies behind the first opening brace.
        tag.len() + 1 + pattern.iter().take_while(|&&byte| byte != b'{').count()
    });
    let is_literal = |byte: &u8| !matches!(byte, b'*' | b'?' | b'[' | b'\\');
    let decides = pattern.get(..end)?;
    decides.iter().all(is_literal).then(|| key_slot(pattern))
}

/// Returns what lies between the first `{` and the next `}`, if anything does.
fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let rest = key.get(open + 1..)?;
    let close = rest.iter().position(|&byte| byte == b'}')?;
    rest.get(..close).filter(|tag| !tag.is_empty())
}

/// CRC-16 of the XMODEM kind: polynomial 0x1021, nothing reflected, starts at zero.
fn checksum(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc: u16, &byte| {
        let [high, _] = crc.to_be_bytes();
        (crc << 8) ^ CRC_OF_BYTE[usize::from(high ^ byte)]
    })
}

const CRC_OF_BYTE: [u16; 256] = crc_table();

const fn crc_table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    let mut byte: u16 = 0;
    while index < table.len() {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
            bit += 1;
        }
        table[index] = crc;
        index += 1;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::key_slot;
    use super::pattern_slot;

    #[test]
    fn the_checksum_is_the_xmodem_one() {
        assert_eq!(super::checksum(b"123456789"), 0x31C3);
    }

    #[test]
    fn the_first_tag_that_is_not_empty_decides() {
        assert_eq!(key_slot(b"u"), 11_826);
        assert_eq!(key_slot(b"x{u}{v}"), 11_826);
        assert_eq!(key_slot(b"{{u}}"), 14_993);
        assert_eq!(key_slot(b"{{u}}"), key_slot(b"{u"));
        assert_eq!(key_slot(b"foo"), 12_182);
        assert_eq!(key_slot(b""), 0);
    }

    #[test]
    fn a_pattern_has_a_slot_if_all_that_it_matches_do() {
        assert_eq!(pattern_slot(b"a{u}*"), Some(11_826));
        assert_eq!(pattern_slot(b"foo"), Some(12_182));
        for many in [
            &b"*{u}"[..],
            b"{u*}",
            b"{}*",
            b"a?",
            b"[ab]",
            b"{u\\}",
            b"*",
        ] {
            assert_eq!(pattern_slot(many), None);
        }
    }

    #[test]
    fn an_empty_or_open_tag_hashes_the_whole_key() {
        assert_ne!(key_slot(b"{}a"), key_slot(b"a"));
        assert_ne!(key_slot(b"a{}{u}"), key_slot(b"u"));
        assert_ne!(key_slot(b"{u"), key_slot(b"u"));
    }
}
