//! The longest common subsequence of two byte strings.

/// What two strings have in common: bytes that stand in both in the same order, as many as there can
/// be.
///
/// Often several choices are equally long. This one is the model's, which shows: it walks from the
/// ends, and where both ways are as good it leaves a byte of the second string out.
#[derive(Debug)]
pub struct Subsequence<'a> {
    one: &'a [u8],
    other: &'a [u8],
    /// At `other.len() + 1` times `i`, plus `j`: how much the first `i` and the first `j` bytes have
    /// in common.
    lengths: Vec<u32>,
}

/// Why nothing was looked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubsequenceError {
    /// One of the strings has no length of 32 bits.
    TooLong,
    /// It would take more memory than is allowed.
    AboveLimit,
    /// There is not so much memory.
    OutOfMemory,
}

/// A part that both strings have, each byte behind the other; both ends are included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Match {
    /// Where it begins and ends in the first string.
    pub one: (usize, usize),
    /// The same in the second.
    pub other: (usize, usize),
}

impl<'a> Subsequence<'a> {
    /// Compares two strings, which takes time and memory by the product of their lengths: four
    /// bytes for each pair of positions, and no more than `bytes_max` in all.
    ///
    /// # Errors
    ///
    /// [`SubsequenceError`] if they are too long for that.
    pub fn find(
        one: &'a [u8],
        other: &'a [u8],
        bytes_max: usize,
    ) -> Result<Self, SubsequenceError> {
        if one.len().max(other.len()) >= LEN_END {
            return Err(SubsequenceError::TooLong);
        }
        let cells = (one.len() + 1).checked_mul(other.len() + 1);
        let cells = cells.ok_or(SubsequenceError::OutOfMemory)?;
        let bytes = cells.checked_mul(size_of::<u32>());
        if bytes.ok_or(SubsequenceError::OutOfMemory)? > bytes_max {
            return Err(SubsequenceError::AboveLimit);
        }
        let mut lengths = Vec::new();
        let reserved = lengths.try_reserve_exact(cells);
        reserved.map_err(|_| SubsequenceError::OutOfMemory)?;
        // Nothing is in common with nothing.
        lengths.resize(other.len() + 1, 0);
        for byte in one {
            let above = lengths.len() - (other.len() + 1);
            let mut left = 0;
            lengths.push(left);
            for (j, candidate) in other.iter().enumerate() {
                left = if byte == candidate {
                    lengths[above + j] + 1
                } else {
                    left.max(lengths[above + j + 1])
                };
                lengths.push(left);
            }
        }
        Ok(Self {
            one,
            other,
            lengths,
        })
    }

    /// How many bytes are in common.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.last().map_or(0, |len| *len as usize)
    }

    /// Whether nothing is in common.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in common.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.pairs().map(|(at, _)| self.one[at]).collect();
        bytes.reverse();
        bytes
    }

    /// The parts in common, from the last to the first.
    pub fn matches(&self) -> impl Iterator<Item = Match> {
        let mut pairs = self.pairs().peekable();
        std::iter::from_fn(move || {
            let end = pairs.next()?;
            let mut start = end;
            while let Some(next) = pairs.next_if(|next| (next.0 + 1, next.1 + 1) == start) {
                start = next;
            }
            Some(Match {
                one: (start.0, end.0),
                other: (start.1, end.1),
            })
        })
    }

    /// Where each byte in common stands in both strings, from the last to the first.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let (mut i, mut j) = (self.one.len(), self.other.len());
        std::iter::from_fn(move || {
            while i > 0 && j > 0 {
                if self.one[i - 1] == self.other[j - 1] {
                    (i, j) = (i - 1, j - 1);
                    return Some((i, j));
                }
                if self.length(i - 1, j) > self.length(i, j - 1) {
                    i -= 1;
                } else {
                    j -= 1;
                }
            }
            None
        })
    }

    fn length(&self, i: usize, j: usize) -> u32 {
        self.lengths[i * (self.other.len() + 1) + j]
    }
}

/// The first length that the model refuses, so that lengths and positions fit 32 bits.
const LEN_END: usize = u32::MAX as usize - 1;

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::Match;
    use super::Subsequence;
    use super::SubsequenceError;

    fn find<'a>(one: &'a [u8], other: &'a [u8]) -> Subsequence<'a> {
        Subsequence::find(one, other, usize::MAX).unwrap()
    }

    #[test]
    fn parts_come_from_the_last_to_the_first() {
        let common = find(b"ohmytext", b"mynewtext");
        assert_eq!(common.bytes(), b"mytext");
        let parts: Vec<Match> = common.matches().collect();
        assert_eq!(
            parts,
            [
                Match {
                    one: (4, 7),
                    other: (5, 8)
                },
                Match {
                    one: (2, 3),
                    other: (0, 1)
                },
            ]
        );
    }

    #[test]
    fn the_limit_counts_four_bytes_for_each_pair_of_positions() {
        let bytes = 4 * 4 * 3;
        assert_eq!(Subsequence::find(b"abc", b"bc", bytes).unwrap().len(), 2);
        let above = Subsequence::find(b"abc", b"bc", bytes - 1);
        assert_eq!(above.unwrap_err(), SubsequenceError::AboveLimit);
    }

    /// The length by the definition: take the last bytes together, or leave one of them out.
    fn length(one: &[u8], other: &[u8]) -> usize {
        match (one.split_last(), other.split_last()) {
            (Some((last, one)), Some((other_last, other))) if last == other_last => {
                length(one, other) + 1
            }
            (Some((_, shorter)), Some((_, other_shorter))) => {
                length(shorter, other).max(length(one, other_shorter))
            }
            _ => 0,
        }
    }

    proptest! {
        /// The parts are in both strings, together they are the bytes in common, and there is no
        /// longer choice.
        #[test]
        fn what_is_found_is_in_both_and_the_longest(
            one in vec(0_u8..3, 0..9),
            other in vec(0_u8..3, 0..9),
        ) {
            let common = find(&one, &other);
            prop_assert_eq!(common.len(), length(&one, &other));
            let mut parts: Vec<Match> = common.matches().collect();
            parts.reverse();
            let mut joined = Vec::new();
            for Match { one: (start, end), other: (other_start, other_end) } in parts {
                prop_assert_eq!(&one[start..=end], &other[other_start..=other_end]);
                joined.extend_from_slice(&one[start..=end]);
            }
            prop_assert_eq!(&joined, &common.bytes());
            prop_assert_eq!(joined.len(), common.len());
        }
    }
}
