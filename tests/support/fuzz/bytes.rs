//! An input as a row of choices.

/// What is left of an input. At its end everything reads as zero.
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub(super) fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// A number below `count`, which is at most 256 and not 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The next `len` bytes, or fewer if there are not so many.
    pub(super) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
