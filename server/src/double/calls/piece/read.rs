//! Calls as they are told to whoever asks.

use super::Calls;
use super::Piece;
use crate::command_table::CommandTable;
use crate::command_table::Lookup;
use crate::double::calls::CallEntry;
use crate::double::calls::split::parts;
use crate::double::calls::split::reply_ends;
use crate::double::calls::split::request_ends;
use crate::double::calls::split::words_of;
use crate::spec::Spec;

impl Piece {
    /// The calls, the newest first, without their numbers.
    pub(in crate::double::calls) fn newest_first<'a>(
        &'a self,
        commands: &'a CommandTable,
    ) -> impl Iterator<Item = CallEntry<'a>> {
        let places = (0..self.rows.len()).rev();
        places.flat_map(|place| self.entries(place, commands).into_iter().rev())
    }

    /// The calls of a row.
    fn entries(&self, place: usize, commands: &CommandTable) -> Vec<CallEntry<'_>> {
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
            Calls::Many(1) => {
                return vec![entry(spec_of(requests, commands), requests, replies)];
            }
            Calls::Many(count) => count,
        };
        let heard = match replies {
            b"" => vec![0; count],
            replies => reply_ends(replies, count),
        };
        let frames = parts(requests, request_ends(requests, count));
        frames
            .zip(parts(replies, heard))
            .map(|(frame, reply)| entry(spec_of(frame, commands), frame, reply))
            .collect()
    }

    fn fault_of(&self, place: usize) -> Option<&[u8]> {
        let found = self
            .faults
            .binary_search_by_key(&place, |(place, _)| *place);
        found.ok().map(|at| &*self.faults[at].1)
    }
}

/// The command that a client asked for.
fn spec_of(frame: &[u8], commands: &CommandTable) -> Option<&'static Spec> {
    match commands.look_up(words_of(frame).as_request()) {
        Lookup::Found(spec) => Some(spec),
        Lookup::UnknownSubcommand(_) | Lookup::Unknown => None,
    }
}
