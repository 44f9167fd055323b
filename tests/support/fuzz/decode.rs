//! The decoder: where bytes are cut, and how many requests are taken at once, must not matter.
//!
//! Four bytes choose limits, bounds and cuts; the rest is what a client sends.

use bytes::BytesMut;
use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Codec;
use tailrace_protocol::CodecError;
use tailrace_protocol::Decoder;
use tailrace_protocol::Limits;
use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ProtocolError;
use tailrace_protocol::Request;
use tokio_util::codec::Decoder as _;

pub(super) fn run(input: &[u8]) {
    let Some(([limits, bounds, seed, taken], wire)) = input.split_first_chunk() else {
        return;
    };
    let limits = LIMITS[usize::from(*limits) % LIMITS.len()];
    let bounds = BatchBounds {
        commands_max: 1 + usize::from(bounds & 7),
        bytes_max: 1 + usize::from(bounds >> 3) * 4,
    };
    let whole = receive(wire, &mut || wire.len(), limits, BatchBounds::NONE, None);
    assert_within(limits, &whole);

    if wire.len() <= SINGLE_BYTES_MAX {
        assert_eq!(receive(wire, &mut || 1, limits, bounds, None), whole);
    }
    let mut cuts = Cuts(u64::from(*seed));
    let taken = Some(1 + usize::from(taken & 3));
    let in_pieces = receive(wire, &mut || cuts.next(), limits, bounds, taken);
    assert_eq!(in_pieces, whole);
    assert_framed_alike(wire, limits, &whole);
    assert_encodes_to_itself(&whole.requests);
}

/// Limits that hold for servers, and some that a short input can meet.
const LIMITS: &[Limits] = &[
    SMALL,
    Limits::authenticated(Limits::BULK_BYTES_MAX),
    Limits::unauthenticated(1_024 * 1_024),
    Limits {
        authenticated: false,
        ..SMALL
    },
];

/// A long input is not given byte by byte, for the sake of many short ones.
const SINGLE_BYTES_MAX: usize = 512;

const SMALL: Limits = Limits {
    quotes_end_words: false,
    args_max: 12,
    bulk_bytes_max: 16,
    inline_bytes_max: 24,
    authenticated: true,
};

type Words = Vec<Vec<u8>>;

/// All that came of an input.
#[derive(Debug, PartialEq)]
struct Outcome {
    requests: Vec<Words>,
    fault: Option<ProtocolError>,
    /// How much of the input waits for more, and how much more is known to be missing. Nothing after a fault.
    waiting: (usize, usize),
}

/// Decodes `wire` as a connection does, in pieces as long as `cut` says. A connection that stops after the first `taken`
/// requests of a batch gives the others again.
fn receive(
    wire: &[u8],
    cut: &mut dyn FnMut() -> usize,
    limits: Limits,
    bounds: BatchBounds,
    taken: Option<usize>,
) -> Outcome {
    let mut decoder = Decoder::new(limits);
    let mut batch = Batch::new();
    let mut requests = Vec::new();
    let (mut start, mut end) = (0, 0);
    while end < wire.len() {
        end = (end + cut().max(1)).min(wire.len());
        loop {
            let input = &wire[start..end];
            let decoded = decoder.decode(input, &mut batch, bounds);
            assert!(batch.len() <= bounds.commands_max);
            assert_little_memory(&decoder, &batch, wire.len());
            let count = taken.map_or(batch.len(), |taken| taken.min(batch.len()));
            for index in 0..count {
                assert!(batch.input_bytes(index) < bounds.bytes_max.min(input.len()));
                requests.push(
                    batch
                        .request(input, index)
                        .iter()
                        .map(<[u8]>::to_vec)
                        .collect(),
                );
            }
            if count < batch.len() {
                decoder.reset();
                start += batch.input_bytes(count);
                continue;
            }
            let used = match decoded {
                Ok(used) => used,
                Err(fault) => {
                    return Outcome {
                        requests,
                        fault: Some(fault),
                        waiting: (0, 0),
                    };
                }
            };
            assert!(batch.input_bytes(count) <= used && used <= input.len());
            start += used;
            if used == 0 {
                break;
            }
        }
    }
    Outcome {
        requests,
        fault: None,
        waiting: (wire.len() - start, decoder.missing_bytes()),
    }
}

/// What a header promises takes no memory: an argument is noted once it is there, in no more than two machine words,
/// and the shortest is a byte and a blank.
fn assert_little_memory(decoder: &Decoder, batch: &Batch, sent: usize) {
    let heap = decoder.heap_bytes() + batch.heap_bytes();
    assert!(heap <= 64 * sent + 1_024, "{heap} bytes for {sent}");
}

fn assert_within(limits: Limits, outcome: &Outcome) {
    let (args_max, bulk_bytes_max) = match limits.authenticated {
        true => (limits.args_max, limits.bulk_bytes_max),
        false => (
            Limits::UNAUTHENTICATED_ARGS_MAX.min(limits.args_max),
            Limits::UNAUTHENTICATED_BULK_BYTES_MAX.min(limits.bulk_bytes_max),
        ),
    };
    for request in &outcome.requests {
        let is_line =
            request.iter().map(|word| word.len() + 1).sum::<usize>() <= limits.inline_bytes_max + 1;
        assert!(is_line || request.len() <= args_max);
        assert!(is_line || request.iter().all(|word| word.len() <= bulk_bytes_max));
    }
}

/// The same through the codec.
fn assert_framed_alike(wire: &[u8], limits: Limits, outcome: &Outcome) {
    let mut codec = Codec::new(limits);
    let mut buffer = BytesMut::from(wire);
    // Empty requests are passed over one by one.
    let mut requests = outcome.requests.iter().filter(|words| !words.is_empty());
    loop {
        let left = buffer.len();
        match codec.decode(&mut buffer) {
            Ok(Some(request)) => {
                let sent = requests
                    .next()
                    .expect("no more requests are framed than found");
                assert!(request.as_request().iter().eq(sent));
            }
            // Empty requests are passed over one by one.
            Ok(None) if buffer.len() < left => {}
            Ok(None) => {
                assert_eq!((outcome.fault, outcome.waiting.0), (None, buffer.len()));
                break;
            }
            Err(CodecError::Protocol(fault)) => {
                assert_eq!(outcome.fault, Some(fault));
                break;
            }
            Err(error) => panic!("no socket is read here: {error}"),
        }
    }
    assert_eq!(requests.next(), None);
}

/// What was found is found again in what an encoder makes of it.
fn assert_encodes_to_itself(requests: &[Words]) {
    let mut wire = Vec::new();
    for words in requests {
        let request: OwnedRequest = words.iter().collect();
        Request::write_to(request.as_request(), &mut wire);
    }
    let limits = Limits::default();
    let again = receive(&wire, &mut || wire.len(), limits, BatchBounds::NONE, None);
    assert_eq!(again.fault, None);
    assert!(again.requests == requests);
}

/// Lengths of pieces: mostly short, now and then all at once.
struct Cuts(u64);

impl Cuts {
    fn next(&mut self) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = usize::try_from(self.0 >> 48).unwrap_or(0);
        match bits & 15 {
            0 => 4_096,
            1..=3 => 1 + (bits >> 4) % 64,
            _ => 1 + (bits >> 4) % 8,
        }
    }
}
