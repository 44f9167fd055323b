//! Searching what ascends from where it probably is.
//!
//! IDs are times, and time passes about evenly: where one lies can be guessed. A search from there touches little memory
//! besides what it finds, and where the guess is bad, about twice what a binary search does.

/// Returns how many of `len` things are below something, where those come first.
pub(crate) fn partition_point_near(
    len: usize,
    guess: usize,
    is_below: impl Fn(usize) -> bool,
) -> usize {
    let (mut low, mut high) = (0, len);
    let mut step = 1;
    if guess < len && is_below(guess) {
        low = guess + 1;
        while step <= high - low {
            if !is_below(low + step - 1) {
                high = low + step - 1;
                break;
            }
            low += step;
            step *= 2;
        }
    } else {
        high = high.min(guess);
        while step <= high - low {
            if is_below(high - step) {
                low = high - step + 1;
                break;
            }
            high -= step;
            step *= 2;
        }
    }
    while low < high {
        let middle = low.midpoint(high);
        if is_below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Guesses where a time lies among `len` things from `first` to `last`, as if they were spread evenly.
#[inline]
pub(crate) fn guess(len: usize, first: u64, last: u64, at: u64) -> usize {
    let span = last.saturating_sub(first);
    let along = at.saturating_sub(first).min(span);
    if span == 0 {
        return len / 2;
    }
    // Half of the bits are exact enough for a guess, and nothing overflows.
    let shift = (u64::BITS - span.leading_zeros()).saturating_sub(u32::BITS);
    let place = (along >> shift).saturating_mul(len as u64) / ((span >> shift) + 1);
    usize::try_from(place).unwrap_or(len)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However bad the guess is.
        #[test]
        fn the_point_is_found(len in 0_usize..300, point in 0_usize..300, guess in 0_usize..320) {
            let point = point.min(len);
            let found = partition_point_near(len, guess, |index| {
                assert!(index < len, "{index} of {len}");
                index < point
            });
            prop_assert_eq!(found, point);
        }

        #[test]
        fn a_guess_lies_within(len in 1_usize..1_000_000, first: u64, span: u64, at: u64) {
            let last = first.saturating_add(span);
            prop_assert!(guess(len, first, last, at) < len);
        }
    }

    #[test]
    fn a_guess_is_right_where_time_passes_evenly() {
        for number in 0..100 {
            let place = guess(100, 1_000, 1_990, 1_000 + number * 10);
            assert!(place.abs_diff(usize::try_from(number).unwrap()) <= 1);
        }
    }
}
