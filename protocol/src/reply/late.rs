//! Which parts of a reply the reference puts in once it knows them.

use super::Mark;

/// Where they lie.
#[derive(Debug, Default)]
pub(super) struct LateParts(Vec<(Mark, Mark)>);

impl LateParts {
    /// A part was written, to the end of the reply.
    pub(super) fn push(&mut self, start: Mark, end: Mark) {
        self.0.push((start, end));
    }

    /// All from `mark` on is taken back.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.0.retain(|(start, _)| *start < mark);
    }

    /// What was written last, from `end` on, has changed places with what lies before it from `mark` on.
    pub(super) fn on_rotated(&mut self, mark: Mark, end: usize, bytes: usize) {
        let moved = self.0.iter_mut().filter(|(start, _)| *start >= mark);
        for part in moved {
            let (start, len) = (part.0.0, part.1.0 - part.0.0);
            let start = if start >= end {
                start - (end - mark.0)
            } else {
                start + bytes
            };
            *part = (Mark(start), Mark(start + len));
        }
    }

    /// Their bytes in `reply`, one after the other.
    pub(super) fn of(mut self, reply: &[u8]) -> Vec<u8> {
        self.0.sort_unstable();
        let parts = self.0.iter();
        parts
            .flat_map(|(start, end)| &reply[start.0..end.0])
            .copied()
            .collect()
    }
}
