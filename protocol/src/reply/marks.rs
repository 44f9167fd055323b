//! Going back to a place in a reply, and putting something there.

use super::LateParts;
use super::ReplyWriter;

/// A position in a reply; see [`ReplyWriter::mark`]. The default is the start of the buffer.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Mark(pub(super) usize);

impl ReplyWriter<'_> {
    /// Takes back everything written since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        debug_assert!(mark.0 <= self.out.len(), "a mark is not rewound past");
        self.out.truncate(mark.0);
        if let Some(late) = &mut self.late {
            late.rewind(mark);
        }
    }

    /// Notes from here on which parts the reference puts in once it knows them. Those it sends even to a client
    /// that it is about to close, to which it sends nothing else any more.
    pub fn keep_late(&mut self) {
        self.late = Some(LateParts::default());
    }

    /// Takes back everything written since `mark`, but what was noted since [`Self::keep_late`].
    pub fn rewind_to_late(&mut self, mark: Mark) {
        if let Some(late) = self.late.take() {
            let kept = late.of(self.out);
            self.rewind(mark);
            self.raw(&kept);
        }
    }

    /// Puts the header of an array of `count` elements in at `mark`: those written since. Moves what
    /// they take.
    pub fn insert_array(&mut self, mark: Mark, count: usize) {
        self.insert(mark, |writer| writer.late_array(count));
    }

    /// As [`Self::insert_array`], for [`Self::pairs`].
    pub fn insert_pairs(&mut self, mark: Mark, count: usize) {
        self.insert(mark, |writer| writer.late_pairs(count));
    }

    /// As [`Self::insert_array`], for [`Self::map`].
    pub fn insert_map(&mut self, mark: Mark, count: usize) {
        self.insert(mark, |writer| writer.late_map(count));
    }

    /// As [`Self::insert_array`], for [`Self::set`].
    pub fn insert_set(&mut self, mark: Mark, count: usize) {
        self.insert(mark, |writer| writer.late_set(count));
    }

    /// Puts replies in at `mark`. Moves what was written since.
    pub fn insert_raw(&mut self, mark: Mark, replies: &[u8]) {
        self.insert(mark, |writer| writer.raw(replies));
    }

    fn insert(&mut self, mark: Mark, header: impl FnOnce(&mut Self)) {
        let elements_end = self.out.len();
        header(self);
        let header_bytes = self.out.len() - elements_end;
        self.out[mark.0..].rotate_right(header_bytes);
        if let Some(late) = &mut self.late {
            late.on_rotated(mark, elements_end, header_bytes);
        }
    }

    #[inline]
    pub(super) fn note_late(&mut self, start: Mark) {
        let end = self.mark();
        if let Some(late) = &mut self.late {
            late.push(start, end);
        }
    }

    /// Everything that stands in the buffer, also what was there before this reply.
    pub fn written(&self) -> &[u8] {
        self.out
    }

    /// The place where the next element goes.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark(self.out.len())
    }

    /// How many bytes were written since `mark`.
    #[inline]
    pub fn bytes_since(&self, mark: Mark) -> usize {
        self.out.len().saturating_sub(mark.0)
    }
}
