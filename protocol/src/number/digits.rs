//! Decimal digits of integers.

/// Appends `value` in decimal.
pub fn append_u64(out: &mut Vec<u8>, value: u64) {
    let mut buffer = [0; DIGITS_MAX];
    let start = write_back(&mut buffer, value);
    out.extend_from_slice(&buffer[start..]);
}

/// Appends `value` in decimal.
pub fn append_i64(out: &mut Vec<u8>, value: i64) {
    let mut buffer = [0; DIGITS_MAX + 1];
    let mut start = write_back(&mut buffer, value.unsigned_abs());
    if value < 0 {
        start -= 1;
        buffer[start] = b'-';
    }
    out.extend_from_slice(&buffer[start..]);
}

/// Writes `value` in decimal so that its last digit is the last byte of `buffer`, and returns where
/// the first one is. `buffer` has room for [`DIGITS_MAX`] digits.
#[inline]
pub(crate) fn write_back(buffer: &mut [u8], mut value: u64) -> usize {
    let mut start = buffer.len();
    while value >= 100 {
        start -= 2;
        buffer[start..start + 2].copy_from_slice(pair(value % 100));
        value /= 100;
    }
    let digits = pair(value);
    if value >= 10 {
        start -= 2;
        buffer[start..start + 2].copy_from_slice(digits);
    } else {
        start -= 1;
        buffer[start] = digits[1];
    }
    start
}

/// Writes the last digits of `value`, zeros included, an even number of them: as many as `buffer` takes.
#[inline]
pub(crate) fn write_all(buffer: &mut [u8], mut value: u64) {
    for digits in buffer.rchunks_exact_mut(2) {
        digits.copy_from_slice(pair(value % 100));
        value /= 100;
    }
}

/// Returns the digits of a number that has no more than eight, and how many those are.
#[inline]
pub(crate) fn short_digits(value: u64) -> Option<([u8; 8], usize)> {
    if value >= EIGHT_DIGITS {
        return None;
    }
    let ones = ones(value);
    let zeros = (ones.trailing_zeros() / 8).min(7);
    let digits = (ones | ZEROS) >> (zeros * 8);
    Some((digits.to_le_bytes(), 8 - zeros as usize))
}

/// Returns the last eight digits of a number, zeros included.
#[inline]
pub(crate) fn last_eight(value: u64) -> [u8; 8] {
    (ones(value % EIGHT_DIGITS) | ZEROS).to_le_bytes()
}

/// Returns the eight digits of a number that has no more of them, as numbers, the leading one in the low bits.
///
/// They come to be in a register, by pairs and then one by one, so that nobody waits for them to arrive in memory.
#[inline]
fn ones(value: u64) -> u64 {
    // In each case all parts at once, the leading one in the low bits.
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - tens * 10) << 8)
}

/// The digit that stands for a number below ten.
pub(crate) const fn digit(value: usize) -> u8 {
    b"0123456789"[value]
}

/// The two digits of a value below 100.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the value is below 100")]
fn pair(value: u64) -> &'static [u8; 2] {
    &PAIRS[value as usize]
}

/// The least number that has more than eight digits.
pub(crate) const EIGHT_DIGITS: u64 = 100_000_000;
/// Eight digits that are zero.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// The digits of the largest `u64`.
pub(crate) const DIGITS_MAX: usize = 20;

/// `00`, `01` ... `99`.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [digit(n / 10), digit(n % 10)];
        n += 1;
    }
    pairs
};
