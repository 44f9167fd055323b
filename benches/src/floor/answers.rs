//! Constants that are answered, each of the size that a server's reply has.

use std::collections::HashMap;

use tailrace_protocol::Request;

use crate::resp::push_bulk;

/// What is answered, and as much of what was asked as it depends on.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Replies of so many entries.
    entries: HashMap<u64, Vec<u8>>,
    /// Entries that were added, and those that a group has read: its consumers go on until they have all.
    added: u64,
    delivered: u64,
}

/// What one client has begun.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Commands in the transaction, if there is one.
    queued: Option<usize>,
}

impl Answers {
    /// Appends the answer to a command.
    pub(super) fn answer(
        &mut self,
        request: Request<'_>,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) {
        let name = request.get(0).unwrap_or_default();
        match (name, session.queued) {
            (b"MULTI", None) => {
                session.queued = Some(0);
                out.extend_from_slice(b"+OK\r\n");
            }
            (b"EXEC", Some(count)) => {
                session.queued = None;
                self.added += count as u64;
                push_number(out, b'*', count as u64);
                (0..count).for_each(|_| out.extend_from_slice(ID));
            }
            (_, Some(count)) => {
                session.queued = Some(count + 1);
                out.extend_from_slice(b"+QUEUED\r\n");
            }
            (b"XADD" | b"EVALSHA", None) => {
                self.added += 1;
                out.extend_from_slice(ID);
            }
            _ => self.answer_reading(name, request, out),
        }
    }

    fn answer_reading(&mut self, name: &[u8], request: Request<'_>, out: &mut Vec<u8>) {
        match name {
            b"XRANGE" | b"XREVRANGE" => self.push_entries(number(request, 5), out),
            b"XREADGROUP" => self.read_group(request, out),
            b"XACK" => push_number(out, b':', (request.len() as u64).saturating_sub(3)),
            b"XAUTOCLAIM" => {
                // Either all or nothing is idle long enough.
                let count = match number(request, 4) {
                    0 => number(request, 7),
                    _ => 0,
                };
                out.extend_from_slice(b"*3\r\n");
                out.extend_from_slice(ID);
                self.push_entries(count, out);
                out.extend_from_slice(b"*0\r\n");
            }
            b"XPENDING" => out.extend_from_slice(b"*0\r\n"),
            b"XGROUP" => out.extend_from_slice(b"+OK\r\n"),
            b"DEL" => {
                (self.added, self.delivered) = (0, 0);
                out.extend_from_slice(b":1\r\n");
            }
            b"SCRIPT" => push_bulk(out, &[b'0'; DIGEST_BYTES]),
            b"PING" => out.extend_from_slice(b"+PONG\r\n"),
            b"INFO" => push_bulk(out, b""),
            _ => out.extend_from_slice(b"-ERR unknown command\r\n"),
        }
    }

    /// `XREADGROUP GROUP g c COUNT n STREAMS key id`
    fn read_group(&mut self, request: Request<'_>, out: &mut Vec<u8>) {
        let mut count = number(request, 5);
        if request.get(8) == Some(b">") {
            count = count.min(self.added.saturating_sub(self.delivered));
            self.delivered += count;
            if count == 0 {
                out.extend_from_slice(b"*-1\r\n");
                return;
            }
        }
        out.extend_from_slice(b"*1\r\n*2\r\n");
        push_bulk(out, request.get(7).unwrap_or_default());
        self.push_entries(count, out);
    }

    fn push_entries(&mut self, count: u64, out: &mut Vec<u8>) {
        let reply = self.entries.entry(count).or_insert_with(|| {
            let mut reply = Vec::new();
            push_number(&mut reply, b'*', count);
            for _ in 0..count.min(ENTRIES_MAX) {
                reply.extend_from_slice(b"*2\r\n");
                reply.extend_from_slice(ID);
                reply.extend_from_slice(b"*4\r\n");
                for text in ENTRY {
                    push_bulk(&mut reply, text);
                }
            }
            reply
        });
        out.extend_from_slice(reply);
    }
}

fn number(request: Request<'_>, index: usize) -> u64 {
    let text = request.get(index).unwrap_or_default();
    let digits = std::str::from_utf8(text).unwrap_or_default();
    digits.parse().unwrap_or(0)
}

fn push_number(out: &mut Vec<u8>, kind: u8, number: u64) {
    out.push(kind);
    out.extend_from_slice(number.to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// An ID as long as those of today.
const ID: &[u8] = b"$15\r\n1700000000000-0\r\n";

/// The fields of an entry, as long as those that are added.
const ENTRY: [&[u8]; 4] = [
    b"device",
    b"device-000/sensor-x",
    b"reading",
    b"0000000000 kilowatt",
];

/// No workload asks for more with one command.
const ENTRIES_MAX: u64 = 1_000;

/// A digest of a script, in hexadecimal.
const DIGEST_BYTES: usize = 40;

#[cfg(test)]
mod tests {
    use tailrace_protocol::Batch;
    use tailrace_protocol::BatchBounds;
    use tailrace_protocol::Decoder;
    use tailrace_protocol::Limits;

    use super::*;

    /// The answers to commands, a line each.
    fn answers(answers: &mut Answers, commands: &str) -> String {
        let (mut batch, mut out) = (Batch::new(), Vec::new());
        let mut decoder = Decoder::new(Limits::default());
        let used = decoder
            .decode(commands.as_bytes(), &mut batch, BatchBounds::NONE)
            .unwrap();
        assert_eq!(used, commands.len());
        let mut session = Session::default();
        for number in 0..batch.len() {
            let request = batch.request(commands.as_bytes(), number);
            answers.answer(request, &mut session, &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn consumers_are_given_as_many_entries_as_were_added() {
        let mut floor = Answers::default();
        let read = "XREADGROUP GROUP g c COUNT 2 STREAMS k >\r\n";
        answers(
            &mut floor,
            "XADD k * f v\r\nMULTI\r\nXADD k * f v\r\nXADD k * f v\r\nEXEC\r\n",
        );

        assert!(answers(&mut floor, read).starts_with("*1\r\n*2\r\n$1\r\nk\r\n*2\r\n*2\r\n"));
        assert!(answers(&mut floor, read).starts_with("*1\r\n*2\r\n$1\r\nk\r\n*1\r\n*2\r\n"));
        assert_eq!(answers(&mut floor, read), "*-1\r\n");
        assert_eq!(answers(&mut floor, "XACK k g 1 2 3\r\n"), ":3\r\n");
    }

    #[test]
    fn a_transaction_has_an_answer_for_each_command() {
        let mut floor = Answers::default();

        let said = answers(
            &mut floor,
            "MULTI\r\nXADD k * f v\r\nEXEC\r\nXADD k * f v\r\n",
        );

        let id = String::from_utf8_lossy(ID);
        assert_eq!(said, format!("+OK\r\n+QUEUED\r\n*1\r\n{id}{id}"));
    }

    #[test]
    fn a_range_has_as_many_entries_as_it_asks_for() {
        let mut floor = Answers::default();

        let one = answers(&mut floor, "XRANGE k - + COUNT 1\r\n");
        let two = answers(&mut floor, "XRANGE k - + COUNT 2\r\n");

        assert_eq!(one.len() - 4, (two.len() - 4) / 2);
        assert!(answers(&mut floor, "XINFO\r\n").starts_with('-'));
    }
}
