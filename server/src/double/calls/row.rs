//! The calls of a batch while it is executed.
//!
//! Of each it is only noted which command it was and where it ends; all the rest is copied when the batch is over, or when
//! something comes between that is not as simple.

use crate::spec::Spec;

/// Calls of one batch whose requests and whose replies stand one behind the other.
#[derive(Default)]
pub(super) struct Row {
    /// The microsecond of its calls, if it is open.
    at_us: Option<u64>,
    /// Where in the batch the first one begins, and where in the output its reply does.
    sent_start: usize,
    heard_start: usize,
    /// Where in the output the last reply ends.
    heard_end: usize,
    calls: Vec<Call>,
}

/// A call, by where its request and its reply end, from where those of the first in its row begin.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// Nothing for a command that there is not.
    pub(super) spec: Option<&'static Spec>,
    pub(super) sent: usize,
    pub(super) heard: usize,
}

/// A row that is over.
pub(super) struct Over<'a> {
    pub(super) sent_start: usize,
    pub(super) heard_start: usize,
    pub(super) calls: &'a mut Vec<Call>,
}

impl Row {
    /// Opens a row of calls in this microsecond whose first one begins here, in the batch and in the output.
    #[inline]
    pub(super) fn open(&mut self, at_us: u64, sent: usize, heard: usize) {
        debug_assert!(self.calls.is_empty(), "what was noted was taken");
        self.at_us = Some(at_us);
        (self.sent_start, self.heard_start, self.heard_end) = (sent, heard, heard);
    }

    /// Whether a call may belong to the row in this microsecond, and whose reply begins here.
    #[inline]
    pub(super) fn goes_on(&self, at_us: u64, heard: usize) -> bool {
        self.at_us == Some(at_us) && heard == self.heard_end
    }

    /// Adds a call that ends here, unless it is too large. Says whether it did.
    #[inline]
    pub(super) fn add(&mut self, spec: &'static Spec, sent: usize, heard: usize) -> bool {
        let is_small = heard - self.heard_end <= super::REPLY_BYTES_MAX;
        if is_small {
            self.heard_end = heard;
            self.calls.push(Call {
                spec: Some(spec),
                sent: sent - self.sent_start,
                heard: heard - self.heard_start,
            });
        }
        is_small
    }

    /// Ends the row, if it has calls.
    #[inline]
    pub(super) fn close(&mut self) -> Option<Over<'_>> {
        self.at_us = None;
        (!self.calls.is_empty()).then_some(Over {
            sent_start: self.sent_start,
            heard_start: self.heard_start,
            calls: &mut self.calls,
        })
    }
}
