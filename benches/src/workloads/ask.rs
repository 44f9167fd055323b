//! Clients that ask again and again, each time for something else.

use std::ops::Range;

use super::CONNECTIONS;
use super::Sample;
use super::Site;
use crate::fault::Fault;
use crate::load::Hearing;
use crate::load::Talker;
use crate::resp::push_command;

/// A command that is asked at places picked by chance, with replies of one size.
pub(super) struct Ask<F> {
    /// Commands in a write.
    pub(super) pipeline: u32,
    /// Units of work that one command is.
    pub(super) units: u64,
    /// How many places there are.
    pub(super) places: u64,
    /// Returns the words of the command of a client at a place.
    pub(super) words: F,
}

impl<F: Fn(u64, u64) -> Vec<String>> Ask<F> {
    /// Asks with 50 clients for a while.
    ///
    /// All replies are as long as the one at the first place, which is shown to `is_whole`; so the load
    /// need not look into the others.
    ///
    /// # Errors
    ///
    /// [`Fault::Unexpected`] if the reply is not whole, or others are not as long.
    pub(super) fn measure(
        self,
        site: &mut Site<'_>,
        is_whole: impl FnOnce(&[u8]) -> Result<bool, Fault>,
    ) -> Result<Sample, Fault> {
        let words = (self.words)(0, 0);
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let reply = site.control()?.call(&words)?;
        if !is_whole(&reply)? {
            let start = String::from_utf8_lossy(&reply[..reply.len().min(SHOWN_BYTES)]);
            return Err(Fault::Unexpected(format!("{start:?} is not all there is")));
        }
        let reply_bytes = reply.len() * self.pipeline as usize;
        let clients = (0..u64::from(CONNECTIONS))
            .map(|client| Box::new(self.asker(client, reply_bytes)) as Box<dyn Talker>)
            .collect();
        site.load_for_a_while(clients).map(Sample::from)
    }

    /// Makes a client, which is to hear so many bytes for each request.
    fn asker(&self, client: u64, reply_bytes: usize) -> Asker {
        let mut asker = Asker {
            pipeline: self.pipeline as usize,
            units: self.units * u64::from(self.pipeline),
            chance: client,
            reply_bytes,
            commands: Vec::new(),
            starts: vec![0],
            request: 0..0,
        };
        for _ in 0..COMMANDS_MADE {
            let place = pick(&mut asker.chance) % self.places;
            let words = (self.words)(client, place);
            let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
            push_command(&mut asker.commands, &words);
            asker.starts.push(asker.commands.len());
        }
        asker
    }
}

/// Sends some of its commands that stand side by side, beginning with any.
struct Asker {
    pipeline: usize,
    /// Units of work that a request is.
    units: u64,
    /// What the next request is picked by.
    chance: u64,
    reply_bytes: usize,
    /// Made beforehand: to put one together takes longer than a server that is quick takes to answer it.
    commands: Vec<u8>,
    /// Where each command begins, and where the last one ends.
    starts: Vec<usize>,
    request: Range<usize>,
}

impl Talker for Asker {
    fn prepare(&mut self) -> u64 {
        let beginnings = self.starts.len() - self.pipeline;
        let first = usize::try_from(pick(&mut self.chance)).unwrap_or(0) % beginnings;
        self.request = self.starts[first]..self.starts[first + self.pipeline];
        self.pipeline as u64
    }

    fn request(&self) -> &[u8] {
        &self.commands[self.request.clone()]
    }

    fn hearing(&self) -> Hearing {
        Hearing::Bytes(self.reply_bytes)
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        Ok(self.units)
    }
}

/// Picks a number by chance that is the same in every run (splitmix64).
pub(super) fn pick(chance: &mut u64) -> u64 {
    *chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*chance ^ (*chance >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Commands that each client has to pick from: together they ask at fifty thousand places.
const COMMANDS_MADE: usize = 1_024;
/// How much of a reply is shown that is not as it should be.
const SHOWN_BYTES: usize = 80;
