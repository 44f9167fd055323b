//! What the log keeps, and how a batch's calls come into it.

use std::ops::Range;

use super::*;

const LOG_BYTES: usize = 1_024 * 1_024;
const NOW: Instant = Instant(0);

/// Adds calls. Each piece comes so many milliseconds after the one before.
struct Adding {
    log: CallLog,
    fresh: FreshCalls,
    ms_apart: u64,
    ms: u64,
}

impl Adding {
    fn add(&mut self, words: &[&[u8]], reply: &[u8]) {
        add(&mut self.fresh, words, reply);
        if self.fresh.are_many() {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.ms += self.ms_apart;
        let now = Instant(self.ms * 1_000);
        self.log.add(&mut self.fresh, || now);
    }

    /// Adds numbered calls of 10 KiB and a little, and settles now and then.
    fn add_numbered(&mut self, numbers: Range<usize>) {
        for number in numbers {
            let number = number.to_string();
            let words: [&[u8]; 3] = [b"SET", number.as_bytes(), &[b'v'; 10_000]];
            self.add(&words, b"+OK\r\n");
            if number.ends_with("000") {
                self.settle();
            }
        }
        self.settle();
    }

    fn found(&self) -> Vec<CallEntry<'_>> {
        CallFilter::default().find(&self.log)
    }
}

fn adding(ms_apart: u64) -> Adding {
    let (log, fresh) = log();
    Adding {
        log,
        fresh,
        ms_apart,
        ms: 0,
    }
}

/// Adds a call, which a fault struck if its first argument ends so.
fn add(fresh: &mut FreshCalls, words: &[&[u8]], reply: &[u8]) {
    let request: OwnedRequest = words.iter().collect();
    let said = Said::Words(request.as_request());
    let is_struck = words.get(1).is_some_and(|word| word.ends_with(b"0"));
    let fault = is_struck.then(|| b"fault".to_vec());
    fresh.add((7, None), None, said, reply, fault);
}

#[test]
fn calls_come_out_as_they_went_in_and_the_oldest_are_forgotten() {
    let mut adding = adding(1_000);
    adding.add_numbered(0..5_000);
    assert!(adding.fresh.is_empty());
    let found = adding.found();
    assert!((95..115).contains(&found.len()), "1 MiB: {}", found.len());
    let first = 5_000 - found.len();
    assert_eq!(adding.log.forgotten(), first as u64);
    for (at, entry) in (first..).zip(&found) {
        let number = at.to_string();
        assert_eq!(entry.number, at as u64 + 1);
        let request = entry.request();
        let words = request.as_request();
        assert!(
            words
                .iter()
                .eq([b"SET", number.as_bytes(), &[b'v'; 10_000]])
        );
        assert_eq!(entry.reply, b"+OK\r\n");
        let fault = (at % 10 == 0).then_some(&b"fault"[..]);
        assert_eq!(entry.fault, fault, "{at}");
    }
    let last = CallFilter {
        since: 4_999,
        ..CallFilter::default()
    };
    assert_eq!(last.find(&adding.log).len(), 1);
    adding.log.clear();
    assert_eq!(adding.log.forgotten(), 0);
    adding.add(&[b"PING"], b"+PONG\r\n");
    adding.settle();
    assert_eq!(adding.found()[0].number, 5_001);
}

/// All is kept that has room, and of more only a part while it comes faster than tests do.
#[test]
fn little_is_kept_of_a_flood() {
    let mut adding = adding(0);
    adding.add_numbered(0..90);
    assert_eq!(adding.found().len(), 90);
    adding.add_numbered(90..1_000);
    let kept = adding.found().len();
    assert!((19..27).contains(&kept), "256 KiB: {kept}");
    adding.ms_apart = 100;
    adding.add_numbered(1_000..1_100);
    let kept = adding.found().len();
    assert!((95..115).contains(&kept), "as much as before: {kept}");
}

fn log() -> (CallLog, FreshCalls) {
    let log = CallLog::new(LOG_BYTES, Vec::new());
    (log, FreshCalls::default())
}

/// Answers the calls of a batch as the loop over a batch does; `amid` may do something before each, and one that is called `other` is
/// no part of a row.
fn answer(
    fresh: &mut FreshCalls,
    out: &mut Vec<u8>,
    mut amid: impl FnMut(&mut FreshCalls, usize, &[u8]),
) {
    let frames = BATCH.split_inclusive(|byte| *byte == b'\n');
    let mut end = Spot {
        sent: 0,
        heard: out.len(),
    };
    fresh.begin_batch(None, BATCH, Some((7, end.heard)));
    for (number, frame) in frames.enumerate() {
        let start = end;
        let is_other = frame == b"other\r\n";
        amid(fresh, number, out);
        out.extend_from_slice(heard(number).as_bytes());
        end = Spot {
            sent: start.sent + frame.len(),
            heard: out.len(),
        };
        if is_other {
            fresh.end_row(Some(start.sent), Some(&out[..start.heard]));
            let said = Said::Frame(frame, start.sent);
            fresh.add((7, None), None, said, &out[start.heard..], None);
        }
        fresh.set_done(number + 1);
        if is_other {
            fresh.begin_row(7, None, end);
        }
    }
}

/// What a call heard; behind the reply to the third something was pushed.
fn heard(number: usize) -> String {
    match number {
        2 => "*2\r\n:1\r\n$2\r\n\r\n\r\n>1\r\n+pushed\r\n".into(),
        number => format!(":{number}\r\n"),
    }
}

fn told(log: &CallLog) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let found = CallFilter::default().find(log);
    let told = found
        .iter()
        .map(|entry| (text(entry.frame), text(entry.reply)));
    told.collect()
}

/// What is to be told of the batch.
fn expected() -> Vec<(String, String)> {
    let names = ["get", "XADD", "xlen", "other", "set"].into_iter();
    let told = names.enumerate();
    told.map(|(at, name)| (format!("{name}\r\n"), heard(at)))
        .collect()
}

const BATCH: &[u8] = b"get\r\nXADD\r\nxlen\r\nother\r\nset\r\n";
const PING: (&str, &str) = ("*1\r\n$4\r\nPING\r\n", "+PONG\r\n");

#[test]
fn calls_in_a_row_are_told_apart() {
    let (mut log, mut fresh) = log();
    let mut out = b"before".to_vec();
    answer(&mut fresh, &mut out, |_, _, _| ());
    fresh.end_batch(BATCH.len(), &out);
    add(&mut fresh, &[b"PING"], b"+PONG\r\n");
    log.add(&mut fresh, || NOW);
    let mut expected = expected();
    expected.push((PING.0.into(), PING.1.into()));
    assert_eq!(told(&log), expected);
    let commands = CallFilter::default().find(&log);
    let commands = commands
        .iter()
        .map(|entry| entry.spec.map(|spec| spec.name));
    let expected = [
        Some("get"),
        Some("xadd"),
        Some("xlen"),
        None,
        Some("set"),
        None,
    ];
    assert!(
        commands.eq(expected),
        "found by their names, if there are any"
    );
}

#[test]
fn calls_of_two_instants_are_told_apart() {
    let (mut log, mut fresh) = log();
    let mut out = Vec::new();
    answer(&mut fresh, &mut out, |fresh, number, out| {
        let sent = BATCH.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let ends: Vec<_> = sent.map(|(at, _)| at + 1).collect();
        let end = Spot {
            sent: number.checked_sub(1).map_or(0, |last| ends[last]),
            heard: out.len(),
        };
        fresh.set_time(7 + u64::from(number >= 2), end, out);
    });
    fresh.end_batch(BATCH.len(), &out);
    log.add(&mut fresh, || NOW);
    assert_eq!(told(&log), expected());
    let times = CallFilter::default().find(&log);
    let times = times.iter().map(|entry| entry.at_us);
    assert!(
        times.eq([7, 7, 8, 7, 8]),
        "the fourth says itself when it is"
    );
}

#[test]
fn the_log_may_be_asked_amid_a_batch() {
    for asked_at in 0..5 {
        let (mut log, mut fresh) = log();
        let mut out = Vec::new();
        answer(&mut fresh, &mut out, |fresh, number, out| {
            if number == asked_at {
                // So does the command that asks.
                fresh.end_row(None, Some(out));
                log.add(fresh, || NOW);
                assert_eq!(told(&log), expected()[..number]);
            }
        });
        fresh.end_batch(BATCH.len(), &out);
        log.add(&mut fresh, || NOW);
        let told = told(&log);
        assert_eq!(told[..asked_at], expected()[..asked_at]);
    }
}

/// The wait of another client may be over by a call of the row.
#[test]
fn calls_of_others_come_between() {
    for cut_at in 0..32 {
        let (mut log, mut fresh) = log();
        let mut out = b"before".to_vec();
        let mut expected = expected();
        for at in (0..5).rev().filter(|at| cut_at >> at & 1 == 1) {
            expected.insert(at, (PING.0.into(), PING.1.into()));
        }
        answer(&mut fresh, &mut out, |fresh, number, _| {
            if cut_at >> number & 1 == 1 {
                let request: OwnedRequest = [b"PING"].into_iter().collect();
                let said = Said::Words(request.as_request());
                fresh.add((7, None), None, said, b"+PONG\r\n", None);
            }
        });
        fresh.end_batch(BATCH.len(), &out);
        log.add(&mut fresh, || NOW);
        assert_eq!(told(&log), expected, "{cut_at:b}");
    }
}

#[test]
fn no_more_than_a_part_of_a_long_reply_is_kept() {
    let (mut log, mut fresh) = log();
    let long = format!("${}\r\n{}\r\n", 100_000, "v".repeat(100_000));
    let out = format!(":1\r\n{long}:2\r\n").into_bytes();
    let batch = b"get a\r\nget b\r\nget c\r\n";
    for is_cut in [false, true] {
        fresh.begin_batch(None, batch, Some((7, 0)));
        fresh.set_done(2);
        if is_cut {
            let said = Said::Frame(b"ping\r\n", 0);
            let fault = Some(b"fault".to_vec());
            fresh.add((7, None), None, said, b"+PONG\r\n", fault);
        }
        fresh.set_done(3);
        fresh.end_batch(batch.len(), &out);
        log.add(&mut fresh, || NOW);
        let told = told(&log);
        let told: Vec<_> = told.iter().map(|(_, reply)| &**reply).collect();
        let mut expected = vec![":1\r\n", &long[..REPLY_BYTES_MAX], ":2\r\n"];
        if is_cut {
            expected.insert(2, "+PONG\r\n");
            let found = CallFilter::default().find(&log);
            assert_eq!(found[2].fault, Some(&b"fault"[..]));
        }
        assert_eq!(told, expected);
        log.clear();
    }
}

#[test]
fn only_the_beginning_of_what_a_flood_heard_is_kept() {
    let (mut log, mut fresh) = log();
    let long = format!("${}\r\n{}\r\n", 3_000, "v".repeat(3_000));
    let out = format!(":1\r\n{long}:2\r\n");
    let batch = b"get a\r\nget b\r\nget c\r\n";
    for round in 0..4 {
        // It is over once somebody asks, whether that begins a piece of the log or not.
        let is_flood = round % 2 == 0;
        if is_flood {
            fresh.set_flood(true);
        }
        fresh.begin_batch(None, batch, Some((7, 0)));
        fresh.set_done(3);
        fresh.end_batch(batch.len(), out.as_bytes());
        log.add(&mut fresh, || NOW);
        let told = told(&log);
        let told: Vec<_> = told.iter().map(|(_, reply)| &**reply).collect();
        let expected = match is_flood {
            true => [":1\r\n", &long[..2_048 - 4], ""],
            false => [":1\r\n", &*long, ":2\r\n"],
        };
        assert_eq!(told[round * 3..], expected, "{round}");
    }
}

#[test]
fn calls_of_a_client_that_was_ended_amid_a_row_are_there() {
    for ended_at in 0..=5 {
        let (mut log, mut fresh) = log();
        fresh.begin_batch(None, BATCH, Some((7, 0)));
        for done in 1..=ended_at {
            fresh.set_done(done);
        }
        fresh.begin_batch(None, b"next\r\n", None);
        fresh.end_batch(0, &[]);
        log.add(&mut fresh, || NOW);
        let mut expected = expected();
        expected.truncate(ended_at);
        expected.iter_mut().for_each(|(_, heard)| heard.clear());
        assert_eq!(told(&log), expected);
    }
}

/// The server may become what it was at the start amid its first batch.
#[test]
fn calls_may_be_taken_amid_a_row_without_what_was_heard() {
    let (mut log, mut fresh) = log();
    fresh.begin_batch(None, BATCH, Some((7, 0)));
    fresh.set_done(2);
    log.add(&mut fresh, || NOW);
    let told = told(&log);
    let expected = ["get\r\n", "XADD\r\n"].map(|sent| (sent.into(), String::new()));
    assert_eq!(told, expected);
}
