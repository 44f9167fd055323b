//! Calls of a row, told apart.

use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::OwnedRequest;
use tailrace_protocol::reply_bytes;

/// Reads so many requests again. There may be more behind them.
pub(super) fn decode(requests: &[u8], count: usize, batch: &mut Batch) {
    let bounds = BatchBounds {
        commands_max: count,
        ..BatchBounds::NONE
    };
    let decoded = Decoder::default().decode(requests, batch, bounds);
    debug_assert!(
        decoded.is_ok() && batch.len() == count,
        "each was read before"
    );
}

/// Where each of so many requests ends.
pub(super) fn request_ends(requests: &[u8], count: usize) -> Vec<usize> {
    let mut batch = Batch::new();
    decode(requests, count, &mut batch);
    let known = batch.len();
    (1..=count)
        .map(|count| batch.input_bytes(count.min(known)))
        .collect()
}

/// Where each of so many replies ends. What was pushed behind one, or before the first, belongs to it. There may be more
/// behind them.
pub(super) fn reply_ends(replies: &[u8], count: usize) -> Vec<usize> {
    let mut ends = known_reply_ends(replies, count);
    debug_assert_eq!(ends.len(), count, "{}", replies.escape_ascii());
    ends.resize(count, end_of(&ends));
    ends
}

/// Likewise, where only the beginning of the replies is there: one may end early, and those behind it are empty.
pub(super) fn reply_ends_in_part(replies: &[u8], count: usize) -> Vec<usize> {
    let mut ends = known_reply_ends(replies, count);
    ends.resize(count, replies.len());
    ends
}

/// Where the last of these ends.
pub(super) fn end_of(ends: &[usize]) -> usize {
    ends.last().copied().unwrap_or(0)
}

fn known_reply_ends(replies: &[u8], count: usize) -> Vec<usize> {
    let mut at = 0;
    let mut ends = Vec::with_capacity(count);
    while let Some(bytes) = reply_bytes(&replies[at..]) {
        let is_push = replies[at] == b'>';
        at += bytes;
        if !is_push {
            if ends.len() == count {
                break;
            }
            ends.push(at);
        } else if let Some(last) = ends.last_mut() {
            *last = at;
        }
    }
    ends
}

/// What lies between these ends.
pub(super) fn parts(bytes: &[u8], ends: Vec<usize>) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    ends.into_iter().map(move |end| {
        let part = &bytes[start..end];
        start = end;
        part
    })
}

/// Reads a request as clients send it.
pub(super) fn words_of(frame: &[u8]) -> OwnedRequest {
    let mut batch = Batch::new();
    let decoded = Decoder::default().decode(frame, &mut batch, BatchBounds::ONE);
    debug_assert!(decoded.is_ok(), "what is kept was read before");
    match batch.is_empty() {
        true => OwnedRequest::default(),
        false => batch.request(frame, 0).to_owned(),
    }
}
