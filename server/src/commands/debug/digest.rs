//! `DEBUG DIGEST` and `DEBUG DIGEST-VALUE [key ...]`
//!
//! Reply with a hash of all data, or of each of some values, as the reference computes it: the same data give
//! the same hash, in whatever order it came to be. Groups of streams do not count; keys that are due do.

use sha1_smol::Sha1;
use tailrace_protocol::ReplyWriter;
use tailrace_storage::Digits;
use tailrace_storage::Part;
use tailrace_storage::Stored;
use tailrace_storage::StreamId;
use tailrace_storage::Text;
use tailrace_storage::Value;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;

pub(super) fn all(call: &mut Call<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    let store = call.store();
    let mut digest = Digest::default();
    for db in 0..store.databases() {
        if store.db_len(db) == 0 {
            continue;
        }
        let number = u32::try_from(db).expect("there are few databases");
        digest.chain(&number.to_be_bytes());
        for stored in store.stored(db) {
            let mut of_key = Digest::default();
            of_key.chain(stored.key);
            of_key.value(&stored);
            digest.blend(&of_key.0);
        }
    }
    reply.simple(&digest.hex());
    Ok(Flow::Done)
}

pub(super) fn values(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let db = call.db;
    let store = call.store();
    reply.array(args.len());
    for key in args {
        let mut digest = Digest::default();
        if let Some(stored) = store.stored_at(db, key) {
            digest.value(&stored);
        }
        reply.simple(&digest.hex());
    }
    Ok(Flow::Done)
}

/// A hash that grows with what is put into it; zero if nothing was.
#[derive(Default)]
struct Digest([u8; 20]);

impl Digest {
    /// Puts in something whose place does not matter.
    fn blend(&mut self, bytes: &[u8]) {
        let hash = Sha1::from(bytes).digest().bytes();
        for (byte, with) in self.0.iter_mut().zip(hash) {
            *byte ^= with;
        }
    }

    /// Puts in something that comes behind what was put in before.
    fn chain(&mut self, bytes: &[u8]) {
        self.blend(bytes);
        self.0 = Sha1::from(self.0).digest().bytes();
    }

    fn value(&mut self, stored: &Stored<'_>) {
        let mut digits = Digits::default();
        match stored.value {
            Value::String(string) => {
                self.chain(&STRING.to_be_bytes());
                self.chain(string.bytes_with(&mut digits));
            }
            Value::Stream(stream) => {
                self.chain(&STREAM.to_be_bytes());
                for entry in stream.log().range(StreamId::MIN, StreamId::MAX) {
                    let StreamId { ms, seq } = entry.id();
                    self.chain(format!("{ms}.{seq}").as_bytes());
                    for (name, value) in entry.fields() {
                        self.part(name);
                        self.text(value);
                    }
                }
            }
        }
        if stored.deadline.is_some() {
            self.blend(b"!!expire!!");
        }
    }

    fn text(&mut self, text: Text<'_>) {
        match text {
            Text::Part(part) => self.part(part),
            Text::Packed(packed) => {
                let mut bytes = Vec::new();
                packed.append_to(&mut bytes);
                self.chain(&bytes);
            }
        }
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Bytes(bytes) => self.chain(bytes),
            Part::Int(number) => self.chain(Digits::default().write(number)),
        }
    }

    fn hex(&self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xF]);
        digits
            .filter_map(|digit| char::from_digit(digit.into(), 16))
            .collect()
    }
}

/// The reference's numbers for types.
const STRING: u32 = 0;
const STREAM: u32 = 6;
