//! Where the entries of a node begin.

use std::ops::Range;

/// The beginnings of a node's entries, in two bytes each for as long as they fit.
#[derive(Clone, Debug)]
pub(crate) enum Offsets {
    /// In the first 64 KiB.
    Narrow(Vec<u16>),
    /// Anywhere.
    Wide(Vec<u32>),
}

impl Offsets {
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self::Narrow(Vec::with_capacity(count))
    }

    /// Adds the beginning of one more entry.
    #[inline]
    pub(crate) fn push(&mut self, start: usize) {
        match self {
            Self::Narrow(starts) => match u16::try_from(start) {
                Ok(start) => starts.push(start),
                Err(_) => self.push_wide(start),
            },
            Self::Wide(_) => self.push_wide(start),
        }
    }

    #[cold]
    fn push_wide(&mut self, start: usize) {
        if let Self::Narrow(starts) = self {
            *self = Self::Wide(starts.iter().copied().map(u32::from).collect());
        }
        if let Self::Wide(starts) = self {
            starts.push(u32::try_from(start).expect("a node has no more than 4 GiB"));
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(starts) => starts.len(),
            Self::Wide(starts) => starts.len(),
        }
    }

    /// Returns where an entry begins.
    #[inline]
    pub(crate) fn start(&self, index: usize) -> usize {
        match self {
            Self::Narrow(starts) => usize::from(starts[index]),
            Self::Wide(starts) => starts[index] as usize,
        }
    }

    /// Returns where an entry lies; `data_end` is where the last one ends.
    #[inline]
    pub(crate) fn span(&self, index: usize, data_end: usize) -> Range<usize> {
        match self {
            Self::Narrow(starts) => {
                let end = starts.get(index + 1).copied().map_or(data_end, usize::from);
                usize::from(starts[index])..end
            }
            Self::Wide(starts) => {
                let end = starts.get(index + 1).map_or(data_end, |end| *end as usize);
                starts[index] as usize..end
            }
        }
    }

    /// Copies without spare capacity.
    pub(crate) fn to_exact(&self) -> Self {
        match self {
            Self::Narrow(starts) => Self::Narrow(starts.to_vec()),
            Self::Wide(starts) => Self::Wide(starts.to_vec()),
        }
    }

    /// Forgets all entries and keeps the memory, where it is worth keeping.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Narrow(starts) => starts.clear(),
            Self::Wide(_) => *self = Self::with_capacity(0),
        }
    }

    /// Returns the bytes of memory held, beside the value itself.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(starts) => starts.capacity() * size_of::<u16>(),
            Self::Wide(starts) => starts.capacity() * size_of::<u32>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_beyond_64_kib_are_found() {
        let mut offsets = Offsets::with_capacity(2);
        for start in [0, 65_535, 65_536, 1_000_000] {
            offsets.push(start);
        }
        assert_eq!(offsets.len(), 4);
        assert_eq!(offsets.span(0, 2_000_000), 0..65_535);
        assert_eq!(offsets.span(1, 2_000_000), 65_535..65_536);
        assert_eq!(offsets.span(3, 2_000_000), 1_000_000..2_000_000);
    }
}
