//! What the log keeps, and how a batch's calls come into it.

use super::*;

fn add(log: &mut CallLog, fresh: &mut FreshCalls, words: &[&[u8]], reply: &[u8]) {
    let request: OwnedRequest = words.iter().collect();
    let said = Said::Words(request.as_request());
    fresh.add((7, None), None, said, reply);
    if fresh.are_many() {
        log.add(fresh);
    }
}

#[test]
fn calls_come_out_as_they_went_in_and_the_oldest_are_forgotten() {
    let (mut log, mut fresh) = (CallLog::default(), FreshCalls::default());
    let value = vec![b'v'; 10_000];
    let all = CallFilter::default();
    let mut asked = 0;
    for round in 0..5_000 {
        let number = round.to_string();
        add(
            &mut log,
            &mut fresh,
            &[b"SET", number.as_bytes(), &value],
            b"+OK\r\n",
        );
        if round % 1_000 == 0 {
            fresh.add_fault(b"fault".to_vec());
            log.add(&mut fresh);
            asked = all.find(&log).len();
        }
    }
    log.add(&mut fresh);
    assert!(fresh.is_empty() && asked > 150);

    let found = all.find(&log);
    assert!((190..220).contains(&found.len()), "2 MiB: {}", found.len());
    let first = 5_000 - found.len();
    for (at, entry) in (first..).zip(&found) {
        let number = at.to_string();
        assert_eq!(entry.number, at as u64 + 1);
        assert!(
            entry
                .request()
                .as_request()
                .iter()
                .eq([b"SET", number.as_bytes(), &value[..]])
        );
        assert_eq!(entry.reply, b"+OK\r\n");
        let fault = (at % 1_000 == 0).then_some(&b"fault"[..]);
        assert_eq!(entry.fault, fault, "{at}");
    }
    let last = CallFilter {
        since: 4_999,
        ..CallFilter::default()
    };
    assert_eq!(last.find(&log).len(), 1);
    log.clear();
    add(&mut log, &mut fresh, &[b"PING"], b"+PONG\r\n");
    log.add(&mut fresh);
    assert_eq!(all.find(&log)[0].number, 5_001);
}

/// Answers the calls of a batch as the loop over a batch does; `amid` may ask before each, and one that is called `other` is no
/// part of a row.
fn answer(
    fresh: &mut FreshCalls,
    out: &mut Vec<u8>,
    mut amid: impl FnMut(&mut FreshCalls, usize),
) -> Vec<bool> {
    let spec = crate::commands::find(b"xadd").unwrap();
    let frames = BATCH.split_inclusive(|byte| *byte == b'.');
    let (mut at, mut in_row) = (0, Vec::new());
    fresh.begin_batch((7, None), BATCH, out.len(), true);
    for (number, frame) in frames.enumerate() {
        let start = out.len();
        let goes_on = fresh.goes_on(7, start) && frame != b"other.";
        if !goes_on {
            fresh.end_row(out);
        }
        amid(fresh, number);
        out.extend_from_slice(number.to_string().as_bytes());
        in_row.push(goes_on && fresh.add_to_row(spec, at + frame.len(), out.len()));
        if !in_row[number] {
            let said = Said::Frame(frame, at);
            fresh.add((7, None), Some(spec), said, &out[start..]);
            fresh.open_row((7, None), at + frame.len(), out.len());
        }
        at += frame.len();
    }
    in_row
}

fn told(log: &CallLog) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let found = CallFilter::default().find(log);
    let told = found
        .iter()
        .map(|entry| (text(entry.frame), text(entry.reply)));
    told.collect()
}

const BATCH: &[u8] = b"one.two.three.other.five.";

#[test]
fn calls_in_a_row_are_told_apart() {
    let (mut log, mut fresh) = (CallLog::default(), FreshCalls::default());
    let mut out = b"before".to_vec();
    let in_row = answer(&mut fresh, &mut out, |_, _| ());
    assert_eq!(in_row, [true, true, true, false, true]);
    fresh.end_batch(BATCH.len(), &out);
    add(&mut log, &mut fresh, &[b"PING"], b"+PONG\r\n");
    log.add(&mut fresh);
    let told = told(&log);
    let expected = ["one.", "two.", "three.", "other.", "five."];
    for (at, (told, expected)) in told.iter().zip(expected).enumerate() {
        assert_eq!((&*told.0, &*told.1), (expected, &*at.to_string()));
    }
    assert_eq!(told[5].1, "+PONG\r\n");
    assert_eq!(told.len(), 6);
}

#[test]
fn the_log_may_be_asked_amid_a_batch() {
    let (mut log, mut fresh) = (CallLog::default(), FreshCalls::default());
    let mut out = Vec::new();
    answer(&mut fresh, &mut out, |fresh, number| {
        if number == 3 {
            log.add(fresh);
            assert_eq!(
                told(&log).len(),
                3,
                "what is no part of a row ends it first"
            );
            assert_eq!(told(&log)[2].1, "2");
        }
    });
    fresh.end_batch(BATCH.len(), &out);
    log.add(&mut fresh);
    let told = told(&log);
    assert_eq!((&*told[4].0, &*told[4].1), ("five.", "4"));
}

#[test]
fn calls_of_a_client_that_was_ended_amid_a_row_are_there() {
    let (mut log, mut fresh) = (CallLog::default(), FreshCalls::default());
    answer(&mut fresh, &mut Vec::new(), |_, _| ());
    fresh.begin_batch((8, None), b"next.", 0, true);
    fresh.end_batch(0, &[]);
    log.add(&mut fresh);
    let told = told(&log);
    assert_eq!(told.len(), 5);
    assert_eq!((&*told[4].0, &*told[4].1), ("five.", ""));
}
