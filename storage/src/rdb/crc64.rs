//! The checksum at the end of a payload: CRC-64 with the polynomial of Jones, bits reflected, begun with zero.

/// Returns the checksum of these bytes.
pub(super) fn crc64(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<8>();
    let mut crc = 0;
    for block in blocks {
        let lanes = (crc ^ u64::from_le_bytes(*block)).to_le_bytes();
        // Byte i has the 7 - i others of its block behind it.
        crc = lanes
            .iter()
            .zip(TABLES.iter().rev())
            .fold(0, |sum, (lane, table)| sum ^ table[usize::from(*lane)]);
    }
    rest.iter().fold(crc, |crc, byte| {
        let [low, ..] = crc.to_le_bytes();
        TABLES[0][usize::from(low ^ byte)] ^ (crc >> 8)
    })
}

/// What a byte adds to the checksum, by how many bytes come behind it.
static TABLES: [[u64; 256]; 8] = tables();

const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut behind = 1;
    while behind < 8 {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[behind - 1][byte];
            tables[behind][byte] = tables[0][(crc & 0xff) as usize] ^ (crc >> 8);
            byte += 1;
        }
        behind += 1;
    }
    tables
}

const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_s_check_value_comes_out() {
        assert_eq!(crc64(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
        assert_eq!(crc64(b""), 0);
    }

    /// Blocks of eight and single bytes are two ways to the same sum.
    #[test]
    fn any_length_gives_what_single_bits_give() {
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(37)).collect();
        for len in 0..bytes.len() {
            let mut crc = 0_u64;
            for byte in &bytes[..len] {
                crc ^= u64::from(*byte);
                for _ in 0..8 {
                    crc = (crc >> 1) ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
                }
            }
            assert_eq!(crc64(&bytes[..len]), crc, "{len}");
        }
    }
}
