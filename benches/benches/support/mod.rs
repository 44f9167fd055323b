//! Inputs that the benches share. Each is made from fixed numbers, so that two runs do the same.

#![allow(
    dead_code,
    reason = "each bench is a crate of its own and uses a part of this"
)]

use tailrace_storage::IdRequest;
use tailrace_storage::Log;
use tailrace_storage::NodeLimits;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Tracking;
use tailrace_storage::UnixMillis;

/// What the server allocates with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The lengths to measure at; with the tests, where everything runs once, only the shorter ones.
pub(crate) fn lengths<const N: usize>(lengths: [usize; N]) -> impl Iterator<Item = usize> {
    let max = if is_measuring() {
        usize::MAX
    } else {
        TEST_LENGTH_MAX
    };
    lengths.into_iter().filter(move |length| *length <= max)
}

/// A log with so many entries of two fields.
pub(crate) fn filled_log(len: usize, value_bytes: usize) -> Log {
    let mut log = Log::new();
    let entry = entry(value_bytes);
    for number in 0..len as u64 {
        append(&mut log, number, &entry);
    }
    log
}

/// A stream with `pending` entries that a consumer of [`GROUP`] has read at [`START`], and `new` ones
/// that nobody has.
pub(crate) fn stream_with_pending(pending: u64, new: u64) -> Stream {
    let mut stream = Stream::new();
    let entry = entry(16);
    for number in 0..pending + new {
        let fields = entry.iter().map(Vec::as_slice);
        let request = IdRequest::Exact(id(number));
        stream
            .append(request, fields, START, NodeLimits::default())
            .expect("each ID is above the one before");
    }
    stream
        .create_group(GROUP, StreamId::MIN, Some(0))
        .expect("the stream is new");
    if pending > 0 {
        stream
            .read_new(GROUP, HOLDER, pending, Tracking::Pending, START)
            .expect("the group was created");
    }
    stream
}

/// Appends an entry whose ID is the `number`-th of [`id`].
pub(crate) fn append(log: &mut Log, number: u64, entry: &[Vec<u8>]) {
    let fields = entry.iter().map(Vec::as_slice);
    log.append(id(number), fields, NodeLimits::default());
}

/// IDs as a busy server gives them: some to a millisecond.
pub(crate) fn id(number: u64) -> StreamId {
    StreamId::new(START_MS + number / IDS_PER_MS, number % IDS_PER_MS)
}

/// Two names and two values of so many bytes, as names and values in turn.
pub(crate) fn entry(value_bytes: usize) -> Vec<Vec<u8>> {
    let value = vec![b'x'; value_bytes];
    vec![
        b"device".to_vec(),
        value.clone(),
        b"reading".to_vec(),
        value,
    ]
}

/// Whether times are taken, rather than everything run once.
fn is_measuring() -> bool {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    has("--bench") && !has("--test")
}

/// The group of [`stream_with_pending`].
pub(crate) const GROUP: &[u8] = b"workers";

/// The consumer that has what is pending.
pub(crate) const HOLDER: &[u8] = b"holder";

/// When it was delivered.
pub(crate) const START: UnixMillis = UnixMillis(START_MS);

const TEST_LENGTH_MAX: usize = 1_000;

const START_MS: u64 = 1_700_000_000_000;

const IDS_PER_MS: u64 = 8;
