//! Calls as they are told to whoever asks.

use tailrace_protocol::Batch;

use super::Calls;
use super::Piece;
use crate::command_table::CommandTable;
use crate::command_table::Lookup;
use crate::double::calls::CallEntry;
use crate::double::calls::split::decode;
use crate::double::calls::split::parts;
use crate::double::calls::split::reply_ends;
use crate::double::calls::split::reply_ends_in_part;

impl Piece {
    /// The calls, the newest first, without their numbers.
    pub(in crate::double::calls) fn newest_first<'a>(
        &'a self,
        commands: &CommandTable,
    ) -> impl Iterator<Item = CallEntry<'a>> {
        let mut batch = Batch::new();
        let places = (0..self.rows.len()).rev();
        let rows = places.map(move |place| self.entries(place, commands, &mut batch));
        rows.flat_map(|row| row.into_iter().rev())
    }

    /// The calls of a row.
    fn entries(
        &self,
        place: usize,
        commands: &CommandTable,
        batch: &mut Batch,
    ) -> Vec<CallEntry<'_>> {
        let row = &self.rows[place];
        let head = &self.heads[row.head as usize];
        let requests = &self.requests[row.requests.clone()];
        let replies = &self.replies[row.replies.clone()];
        let fault = self.fault_of(place);
        let entry = |spec, frame, reply| CallEntry {
            number: 0,
            at_us: row.at_us,
            client: head.client,
            client_name: &head.name,
            node: head.node,
            spec,
            frame,
            reply,
            fault,
        };
        let count = match row.calls {
            Calls::One(spec) => return vec![entry(spec, requests, replies)],
            Calls::Many(count) => count,
        };
        decode(requests, count, batch);
        let heard = match (replies, count) {
            (b"", _) => vec![0; count],
            (_, 1) => vec![replies.len()],
            _ if row.is_part => reply_ends_in_part(replies, count),
            _ => reply_ends(replies, count),
        };
        let calls = (0..batch.len()).zip(parts(replies, heard));
        let entries = calls.map(|(index, reply)| {
            let frame = batch.input_bytes(index)..batch.input_bytes(index + 1);
            let spec = match commands.look_up(batch.request(requests, index)) {
                Lookup::Found(spec) => Some(spec),
                Lookup::UnknownSubcommand(_) | Lookup::Unknown => None,
            };
            entry(spec, &requests[frame], reply)
        });
        entries.collect()
    }

    fn fault_of(&self, place: usize) -> Option<&[u8]> {
        let found = self
            .faults
            .binary_search_by_key(&place, |(place, _)| *place);
        found.ok().map(|at| &*self.faults[at].1)
    }
}
