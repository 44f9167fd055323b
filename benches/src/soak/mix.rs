//! The load of a soak: clients of many kinds, each with requests that are due at fixed times.

use std::time::Duration;
use std::time::Instant;

use crate::fault::Fault;
use crate::load::Hearing;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::Reader;
use crate::resp::push_bulk;
use crate::resp::push_command;
use crate::resp::push_header;
use crate::workloads::Consumer;
pub(super) use crate::workloads::GROUP;
pub(super) use crate::workloads::KEY;
use crate::workloads::push_add;

/// Returns all clients. Each sends a request every so often; without that, as soon as it was answered.
pub(super) fn clients(every: Option<Duration>) -> Vec<Box<dyn Talker>> {
    let mut all: Vec<Box<dyn Talker>> = Vec::new();
    for number in 0..PRODUCERS {
        all.push(repeat(ADDS, |out| {
            for add in 0..ADDS {
                let options: &[&[u8]] = &[b"MAXLEN", b"~", ENTRIES_MAX, b"*"];
                push_add(out, KEY, options, number, add);
            }
        }));
    }
    for number in 0..CONSUMERS {
        all.push(Box::new(Consumer::endless(number.into(), READ_AT_ONCE)));
    }
    for _ in 0..READERS {
        all.push(repeat(1, |out| {
            push_command(out, &[b"XREVRANGE", KEY, b"+", b"-", b"COUNT", b"20"]);
        }));
    }
    for _ in 0..OTHERS {
        all.push(repeat(3, |out| {
            push_command(out, &[b"SET", STRING_KEY, b"some value", b"EX", b"60"]);
            push_command(out, &[b"GET", STRING_KEY]);
            push_command(out, &[b"INCR", COUNTER_KEY]);
        }));
    }
    all.push(repeat(4, |out| {
        push_command(out, &[b"MULTI"]);
        push_add(
            out,
            KEY,
            &[b"MAXLEN", b"~", ENTRIES_MAX, b"*"],
            PRODUCERS,
            0,
        );
        push_command(out, &[b"XLEN", KEY]);
        push_command(out, &[b"EXEC"]);
    }));
    all.push(Box::new(Reaper::new()));
    let Some(every) = every else {
        return all;
    };
    let pace = |(number, talker): (u16, Box<dyn Talker>)| -> Box<dyn Talker> {
        let ahead = every.mul_f64(f64::from(number) / f64::from(CLIENTS));
        Box::new(Paced::new(talker, every, ahead))
    };
    (0_u16..).zip(all).map(pace).collect()
}

fn repeat(replies: u64, push: impl FnOnce(&mut Vec<u8>)) -> Box<dyn Talker> {
    let mut request = Vec::new();
    push(&mut request);
    Box::new(Repeat {
        request,
        replies,
        units: replies,
        times: u64::MAX,
    })
}

/// Says what another says, at fixed times.
struct Paced {
    talker: Box<dyn Talker>,
    every: Duration,
    /// How long after the first look the first request is due.
    ahead: Duration,
    /// When the next request is due; nothing before the first look.
    next: Option<Instant>,
    /// When the last request was due.
    due: Option<Instant>,
}

impl Paced {
    fn new(talker: Box<dyn Talker>, every: Duration, ahead: Duration) -> Self {
        Self {
            talker,
            every,
            ahead,
            next: None,
            due: None,
        }
    }
}

impl Talker for Paced {
    fn prepare(&mut self) -> u64 {
        self.due = self.next;
        self.next = self.next.map(|next| next + self.every);
        self.talker.prepare()
    }

    fn request(&self) -> &[u8] {
        self.talker.request()
    }

    fn held_until(&mut self, now: Instant) -> Option<Instant> {
        let next = *self.next.get_or_insert(now + self.ahead);
        (next > now).then_some(next)
    }

    fn hearing(&self) -> Hearing {
        self.talker.hearing()
    }

    fn on_replies(&mut self, replies: &[u8]) -> Result<u64, Fault> {
        self.talker.on_replies(replies)
    }

    fn timed_from(&self, asked_at: Instant) -> Option<Instant> {
        Some(self.due.unwrap_or(asked_at))
    }
}

/// Takes over what others have left pending, and acknowledges it with its next request.
struct Reaper {
    request: Vec<u8>,
    acknowledges: bool,
}

impl Reaper {
    fn new() -> Self {
        let mut reaper = Self {
            request: Vec::new(),
            acknowledges: false,
        };
        reaper.push_claim();
        reaper
    }

    fn push_claim(&mut self) {
        let words: &[&[u8]] = &[
            b"XAUTOCLAIM",
            KEY,
            GROUP,
            b"reaper",
            IDLE_MS_MIN,
            b"0-0",
            b"COUNT",
            b"100",
            b"JUSTID",
        ];
        push_command(&mut self.request, words);
    }
}

impl Talker for Reaper {
    fn prepare(&mut self) -> u64 {
        1 + u64::from(self.acknowledges)
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn hearing(&self) -> Hearing {
        Hearing::Read
    }

    /// `[cursor, [id ...], [deleted id ...]]`, after the number of those that were acknowledged.
    fn on_replies(&mut self, replies: &[u8]) -> Result<u64, Fault> {
        let mut reader = Reader::new(replies);
        if self.acknowledges {
            reader.integer()?;
        }
        reader.array()?;
        reader.bulk()?;
        let ids = reader.array()?.unwrap_or(0);
        self.request.clear();
        self.acknowledges = ids > 0;
        if ids > 0 {
            push_header(&mut self.request, 3 + ids);
            for word in [&b"XACK"[..], KEY, GROUP] {
                push_bulk(&mut self.request, word);
            }
            for _ in 0..ids {
                push_bulk(&mut self.request, reader.bulk()?.unwrap_or_default());
            }
        }
        self.push_claim();
        Ok(ids as u64)
    }
}

/// A string that is set and read.
pub(super) const STRING_KEY: &[u8] = b"tailrace-bench:00";

/// A number that is counted up.
pub(super) const COUNTER_KEY: &[u8] = b"tailrace-bench:01";

/// All clients together.
pub(super) const CLIENTS: u16 = PRODUCERS + CONSUMERS + READERS + OTHERS + 2;

const PRODUCERS: u16 = 20;
const CONSUMERS: u16 = 20;
const READERS: u16 = 6;
/// Those who use strings.
const OTHERS: u16 = 2;

/// Entries in a write of a producer.
const ADDS: u64 = 4;

/// Entries that a consumer reads: more than are added, so that none is left behind for long.
const READ_AT_ONCE: u32 = 20;

/// Entries in the stream.
const ENTRIES_MAX: &[u8] = b"100000";

/// How long something is pending until it counts as left behind: consumers leave when a minute ends.
const IDLE_MS_MIN: &[u8] = b"2000";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn there_are_as_many_clients_as_are_told() {
        assert_eq!(clients(None).len(), usize::from(CLIENTS));
        let paced = clients(Some(Duration::from_secs(1)));
        assert_eq!(paced.len(), usize::from(CLIENTS));
    }

    #[test]
    fn a_late_request_counts_from_when_it_was_due() {
        let every = Duration::from_millis(10);
        let mut client = Paced::new(repeat(1, |_| {}), every, every);
        let start = clock::now();

        assert_eq!(client.held_until(start), Some(start + every));
        let late = start + every * 3;
        assert_eq!(client.held_until(late), None);
        client.prepare();
        assert_eq!(client.timed_from(late), Some(start + every));
        assert_eq!(client.held_until(late), None, "the next one is due, too");
        client.prepare();
        assert_eq!(client.timed_from(late), Some(start + every * 2));
    }

    #[test]
    fn what_was_left_behind_is_acknowledged_once() {
        let mut reaper = Reaper::new();
        assert_eq!(reaper.prepare(), 1);
        let claimed = b"*3\r\n$3\r\n0-0\r\n*2\r\n$3\r\n1-0\r\n$3\r\n2-0\r\n*0\r\n";

        assert_eq!(reaper.on_replies(claimed).unwrap(), 2);
        assert_eq!(reaper.prepare(), 2);
        let mut expected = Vec::new();
        push_command(&mut expected, &[b"XACK", KEY, GROUP, b"1-0", b"2-0"]);
        assert!(reaper.request().starts_with(&expected));

        let nothing = b":2\r\n*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n";
        assert_eq!(reaper.on_replies(nothing).unwrap(), 0);
        assert_eq!(reaper.prepare(), 1);
    }
}
