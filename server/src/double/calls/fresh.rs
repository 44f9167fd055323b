//! Calls that one engine has answered and that are not in the log yet.
//!
//! While nothing can strike a client's commands, the calls of its batch are a row: nothing is noted of each but that one more is
//! done. What was sent is copied when the batch begins, what was heard when it ends, both at once. Whatever is not as simple ends the row
//! and may begin another.

use std::ops::Range;

use super::REPLY_BYTES_MAX;
use super::piece::PIECE_BYTES;
use super::piece::Piece;
use super::piece::Said;
use crate::client::Client;
use crate::spec::Spec;

/// Calls that one engine has answered and that are not in the log yet.
#[derive(Default)]
pub(crate) struct FreshCalls {
    pub(super) piece: Piece,
    /// The batch that is being executed, unless it has gone into the log meanwhile.
    batch: Option<Origin>,
    /// How many of its requests are done with.
    done: usize,
    /// The last calls of that batch, if nothing else is to be noted of them.
    row: Option<Row>,
    /// They come as fast as only a load sends them, by the log's lights.
    is_flood: bool,
    /// Rows in front of that one which the calls of other clients have ended: their places in the piece.
    cut: Vec<usize>,
}

/// Where a batch came from.
struct Origin {
    /// Where in the piece it stands.
    place: Range<usize>,
    /// Whose calls they are, by the piece's head.
    head: u32,
}

/// Calls of one microsecond whose requests and whose replies stand one behind the other.
struct Row {
    /// Which row of the piece it is.
    place: usize,
    at_us: u64,
    /// How many requests of the batch were done with before.
    first: usize,
    /// Where in the batch and in the output the first call begins that is in it, or in one that was cut off it.
    start: Spot,
}

/// Where a call begins or ends.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    /// In the batch.
    pub(crate) sent: usize,
    /// In the output.
    pub(crate) heard: usize,
}

impl FreshCalls {
    /// A batch of a client is about to be executed, which came as these bytes. Given the microsecond and how much output there is, it
    /// begins with a row.
    #[inline]
    pub(crate) fn begin_batch(
        &mut self,
        client: Option<&Client>,
        input: &[u8],
        row: Option<(u64, usize)>,
    ) {
        if self.row.is_some() {
            // The client of the batch before was ended amid a row, and heard nothing of it.
            self.end_row(None, None);
        }
        self.done = 0;
        let start = self.piece.add_input(input);
        let head = self.piece.head_of(client);
        let place = start..start + input.len();
        self.batch = Some(Origin { place, head });
        if let Some((at_us, heard)) = row {
            self.row = Some(Row {
                place: self.piece.begin_row(at_us, head),
                at_us,
                first: 0,
                start: Spot { sent: 0, heard },
            });
        }
    }

    /// So many bytes of the batch are done with, and this is the output.
    #[inline]
    pub(crate) fn end_batch(&mut self, done: usize, out: &[u8]) {
        self.end_row(Some(done), Some(out));
        if let Some(batch) = self.batch.take() {
            self.piece.end_input(batch.place, done);
        }
    }

    /// So many requests of the batch are done with.
    #[inline]
    pub(crate) fn set_done(&mut self, done: usize) {
        self.done = done;
    }

    /// Begins a row with the next call, which begins here. Says whether it did.
    pub(crate) fn begin_row(&mut self, at_us: u64, client: Option<&Client>, start: Spot) -> bool {
        let Some(batch) = &mut self.batch else {
            return false;
        };
        batch.head = self.piece.head_of(client);
        self.begin_row_again(at_us, start);
        true
    }

    /// Ends the row with the calls that are done with. They end here in the batch, if that is known, and their replies stand in the output
    /// to its end, if there is one.
    #[inline]
    pub(crate) fn end_row(&mut self, sent_end: Option<usize>, out: Option<&[u8]>) {
        let (Some(row), Some(batch)) = (self.row.take(), &self.batch) else {
            return;
        };
        let heard = out.and_then(|out| out.get(row.start.heard..));
        let calls = self.done - row.first;
        let start = batch.place.start + row.start.sent;
        self.piece.end_row(row.place, calls);
        match sent_end {
            Some(end) if self.cut.is_empty() => {
                let requests = start..batch.place.start + end;
                let heard = heard.unwrap_or_default();
                match self.is_flood && heard.len() > FLOOD_HEARD_BYTES {
                    true => {
                        let heard = &heard[..FLOOD_HEARD_BYTES];
                        self.piece.fill_row_in_part(row.place, requests, heard);
                    }
                    false => self.piece.fill_row(row.place, requests, heard),
                }
            }
            _ => {
                let mut places = std::mem::take(&mut self.cut);
                places.push(row.place);
                let requests = start..batch.place.end;
                self.piece.fill_rows(&places, requests, heard);
            }
        }
    }

    /// Goes on with a row of another microsecond: the calls that are done with end here.
    pub(crate) fn set_time(&mut self, at_us: u64, end: Spot, out: &[u8]) {
        if self.row.as_ref().is_some_and(|row| row.at_us != at_us) {
            self.end_row(Some(end.sent), Some(out));
            self.begin_row_again(at_us, end);
        }
    }

    fn begin_row_again(&mut self, at_us: u64, start: Spot) {
        if let Some(batch) = &self.batch {
            self.row = Some(Row {
                place: self.piece.begin_row(at_us, batch.head),
                at_us,
                first: self.done,
                start,
            });
        }
    }

    /// Adds a call of a client, as of this microsecond, with the fault that struck it. It may come amid a row, as that of a client
    /// whose wait is over by it.
    pub(crate) fn add(
        &mut self,
        at: (u64, Option<&Client>),
        spec: Option<&'static Spec>,
        said: Said<'_>,
        reply: &[u8],
        fault: Option<Vec<u8>>,
    ) {
        let row = self.row.take();
        if let Some(row) = &row {
            let calls = self.done - row.first;
            self.piece.end_row(row.place, calls);
            if calls > 0 {
                self.cut.push(row.place);
            }
        }
        let kept = reply.len().min(REPLY_BYTES_MAX);
        let batch_start = self.batch.as_ref().map(|batch| batch.place.start);
        self.piece.add(at, spec, said, batch_start, &reply[..kept]);
        if let Some(fault) = fault {
            self.piece.add_fault(fault);
        }
        if let Some(row) = row {
            self.begin_row_again(row.at_us, row.start);
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.piece.len() == 0 && self.row.is_none()
    }

    /// Whether there are so many that they are to be added to the log as they are.
    pub(crate) fn are_many(&self) -> bool {
        self.piece.used_bytes() >= PIECE_BYTES
    }

    /// The calls, which the log takes.
    pub(super) fn settle(&mut self) -> &mut Piece {
        self.end_row(None, None);
        self.batch = None;
        &mut self.piece
    }

    /// Says whether they come as fast as only a load sends them.
    pub(super) fn set_flood(&mut self, is_flood: bool) {
        self.is_flood = is_flood;
    }
}

/// How much of what was heard by a batch is kept of a flood.
const FLOOD_HEARD_BYTES: usize = 2_048;
