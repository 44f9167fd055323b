//! What comes out of bytes, however the network cut them.

use proptest::prelude::*;

use super::*;
use crate::OwnedRequest;

proptest! {
    /// What is encoded decodes to itself, as an array and as an inline command, whatever empty
    /// requests lie between.
    #[test]
    fn what_is_encoded_decodes_to_itself(pieces in prop::collection::vec(piece(), 0..12)) {
        let wire = encoded(&pieces);

        let outcome = receive(&wire, &[], Limits::default(), BatchBounds::NONE);

        let sent = pieces.into_iter().filter_map(Piece::into_request);
        let mut received = outcome.requests;
        received.retain(|request| !request.is_empty());
        prop_assert_eq!(received, sent.collect::<Vec<_>>());
        prop_assert_eq!(outcome.fault, None);
        prop_assert_eq!(outcome.unused, 0);
    }

    /// Where the network cuts the bytes, and how many requests are taken at once, does not matter:
    /// not for sound requests, not for what is no request, and not at the limits.
    #[test]
    fn cuts_do_not_matter(
        pieces in prop::collection::vec(prop_oneof![3 => piece(), 2 => rubbish()], 1..10),
        cuts in prop::collection::vec(1..12_usize, 0..100),
        commands_max in 1..5_usize,
        bytes_max in 1..100_usize,
        limits in prop_oneof![Just(Limits::default()), Just(SMALL)],
    ) {
        let wire = encoded(&pieces);

        let at_once = receive(&wire, &[], limits, BatchBounds::NONE);
        let bounds = BatchBounds { commands_max, bytes_max };
        let in_pieces = receive(&wire, &cuts, limits, bounds);

        prop_assert_eq!(in_pieces, at_once);
    }

    /// A cut at every single byte finds the same.
    #[test]
    fn single_bytes_are_enough(
        pieces in prop::collection::vec(prop_oneof![piece(), rubbish()], 1..5),
    ) {
        let wire = encoded(&pieces);

        let at_once = receive(&wire, &[], SMALL, BatchBounds::NONE);
        let in_bytes = receive(&wire, &vec![1; wire.len()], SMALL, BatchBounds::NONE);

        prop_assert_eq!(in_bytes, at_once);
    }
}

#[test]
fn a_pipeline_of_both_forms_is_decoded_in_one_go() {
    let input = b"*2\r\n$4\r\nECHO\r\n$3\r\na\0b\r\nPING\r\n\r\n*0\r\n*1\r\n$4\r\nPI";
    let mut batch = Batch::new();
    let mut decoder = Decoder::default();

    let used = decoder.decode(input, &mut batch, BatchBounds::NONE);

    assert_eq!(used, Ok(input.len() - 10));
    assert_eq!(batch.len(), 4);
    assert_eq!(args(batch.request(input, 0)), [&b"ECHO"[..], b"a\0b"]);
    assert_eq!(args(batch.request(input, 1)), [b"PING"]);
    // Without arguments, and found all the same.
    assert!([2, 3].map(|index| batch.request(input, index).is_empty()) == [true; 2]);
    let ends = [0, 1, 2, 3, 4].map(|count| batch.input_bytes(count));
    assert_eq!(ends, [0, 23, 29, 31, 35]);
    assert_eq!(decoder.missing_bytes(), 4);
}

/// Each was sent to the reference, which answered with this text and closed.
#[test]
fn each_fault_has_its_text() {
    let cases: [(&[u8], &str); 24] = [
        (b"*\r\n", "invalid multibulk length"),
        (b"*abc\r\n", "invalid multibulk length"),
        (b"*01\r\n", "invalid multibulk length"),
        (b"*+1\r\n", "invalid multibulk length"),
        (b"*2147483648\r\n", "invalid multibulk length"),
        (b"*-9223372036854775809\r\n", "invalid multibulk length"),
        (b"*1\n$4\nPING\r\n", "invalid multibulk length"),
        (b"*1\rx", "invalid CRLF in request"),
        (b"*1\r\n$4\rxPING\r\n", "invalid CRLF in request"),
        (b"*1\r\n:4\r\n", "expected '$', got ':'"),
        (b"*1\r\n\x004\r\n", "expected '$', got '\0'"),
        (b"*1\r\n\r\n", "expected '$', got '\r'"),
        (b"*1\r\n\n\r\n", "expected '$', got '\n'"),
        (b"*1\r\n%\rx", "expected '$', got '%'"),
        (b"*1\r\n9\r\n", "expected '$', got '9'"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*1\r\n$\r\n", "invalid bulk length"),
        (b"*1\r\n$04\r\n", "invalid bulk length"),
        (b"*1\r\n$536870913\r\n", "invalid bulk length"),
        (b"*1\r\n$4\r\nPINGx\n", "invalid CRLF in request"),
        (b"*1\r\n$4\r\nPING\rx", "invalid CRLF in request"),
        (b"*1\r\n$4\r\nPINGPING\r\n", "invalid CRLF in request"),
        (b"ECHO \"a\r\n", "unbalanced quotes in request"),
        (b"ECHO 'a\n", "unbalanced quotes in request"),
    ];
    for (wire, text) in cases {
        let fault = fault(wire, Limits::default()).unwrap();
        assert_eq!(fault.to_string(), text, "{wire:?}");
        assert_eq!(
            fault.message(),
            [b"ERR Protocol error: ", text.as_bytes()].concat()
        );
    }
}

#[test]
fn an_unexpected_byte_is_quoted_as_it_came() {
    let fault = fault(b"*1\r\n\xff4\r\n", Limits::default()).unwrap();

    let expected = b"ERR Protocol error: expected '$', got '\xff'";
    assert_eq!(fault.message(), expected);
}

/// The reference waits for more of each of these, too.
#[test]
fn what_may_still_become_a_request_is_no_fault() {
    let cases: [&[u8]; 9] = [
        b"*1\n$4\nPING\n",
        b"*1\r\nPING\r",
        b"*2147483647\r\n",
        b"*-9223372036854775808\r\n",
        b"*1\r\n$536870912\r\n",
        b"*1\r\n$4\r\nPINGx",
        b"PING\0\r\n",
        b"PING \"a\0b\"\r\n",
        b"*",
    ];
    for wire in cases {
        let outcome = receive(wire, &[], Limits::default(), BatchBounds::NONE);
        assert_eq!(outcome.fault, None, "{wire:?}");
        assert!(outcome.requests.iter().all(Vec::is_empty), "{wire:?}");
    }
}

#[test]
fn a_line_of_full_length_is_taken_and_a_longer_one_is_not() {
    let max = Limits::INLINE_BYTES_MAX;
    for (start, fault) in [
        (&b"a"[..], ProtocolError::TooBigInlineRequest),
        (b"*", ProtocolError::TooBigCountLine),
        (b"*1\r\n$", ProtocolError::TooBigLengthLine),
        (b"*1\r\n%", ProtocolError::TooBigLengthLine),
        (b"a\0", ProtocolError::TooBigInlineRequest),
    ] {
        let line_start = start
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |lf| lf + 1);
        let mut wire = start.to_vec();
        wire.resize(line_start + max, b'1');
        let full = receive(&wire, &[], Limits::default(), BatchBounds::NONE);
        assert_eq!(full.fault, None, "{start:?}");

        wire.push(b'1');
        let longer = receive(&wire, &[], Limits::default(), BatchBounds::NONE);
        assert_eq!(longer.fault, Some(fault), "{start:?}");
    }

    let mut wire = vec![b'a'; max];
    wire.extend_from_slice(b"\r\n");
    let outcome = receive(&wire, &[max], Limits::default(), BatchBounds::NONE);
    assert_eq!(outcome.requests, [[vec![b'a'; max]]]);
    wire.insert(0, b'a');
    assert_eq!(
        fault(&wire, Limits::default()),
        Some(ProtocolError::TooBigInlineRequest)
    );
}

#[test]
fn a_stranger_may_send_ten_arguments_of_16_kib() {
    let cases: [(&[u8], Option<ProtocolError>); 8] = [
        (b"*10\r\n", None),
        (b"*11\r\n", Some(ProtocolError::UnauthenticatedCount)),
        (
            b"*2147483647\r\n",
            Some(ProtocolError::UnauthenticatedCount),
        ),
        (b"*2147483648\r\n", Some(ProtocolError::InvalidCount)),
        (b"*1\r\n$16384\r\n", None),
        (
            b"*1\r\n$16385\r\n",
            Some(ProtocolError::UnauthenticatedLength),
        ),
        (
            b"*1\r\n$536870912\r\n",
            Some(ProtocolError::UnauthenticatedLength),
        ),
        (b"*1\r\n$536870913\r\n", Some(ProtocolError::InvalidLength)),
    ];
    for (wire, expected) in cases {
        assert_eq!(fault(wire, UNAUTHENTICATED), expected, "{wire:?}");
    }
    let inline = b"a b c d e f g h i j k l m\r\n";
    let outcome = receive(inline, &[], UNAUTHENTICATED, BatchBounds::NONE);
    assert_eq!(outcome.requests[0].len(), 13);
}

#[test]
fn limits_may_change_between_two_commands_of_a_pipeline() {
    let mut wire = Vec::new();
    ["AUTH", "x"]
        .iter()
        .collect::<OwnedRequest>()
        .as_request()
        .write_to(&mut wire);
    let auth_bytes = wire.len();
    vec!["DEL"; 30]
        .iter()
        .collect::<OwnedRequest>()
        .as_request()
        .write_to(&mut wire);
    let mut decoder = Decoder::new(UNAUTHENTICATED);
    let mut batch = Batch::new();

    let used = decoder.decode(&wire, &mut batch, BatchBounds::ONE);
    assert_eq!(used, Ok(auth_bytes));
    decoder.set_limits(Limits::default());
    let used = decoder.decode(&wire[auth_bytes..], &mut batch, BatchBounds::ONE);

    assert_eq!(used, Ok(wire.len() - auth_bytes));
    assert_eq!(batch.request(&wire[auth_bytes..], 0).len(), 30);
}

/// Were half a command read again from its start for every piece, this would take minutes.
#[test]
fn half_a_command_is_not_read_again() {
    let command = vec!["key"; 200_000];
    let mut wire = Vec::new();
    let request: OwnedRequest = command.iter().collect();
    request.as_request().write_to(&mut wire);
    let mut decoder = Decoder::default();
    let mut batch = Batch::new();

    for end in (0..wire.len()).step_by(100) {
        let used = decoder.decode(&wire[..end], &mut batch, BatchBounds::NONE);
        assert_eq!(used, Ok(0));
    }
    let used = decoder.decode(&wire, &mut batch, BatchBounds::NONE);

    assert_eq!(used, Ok(wire.len()));
    assert_eq!(batch.request(&wire, 0).len(), command.len());
    batch.clear();
    assert!(decoder.heap_bytes() < 1_024, "the memory was given back");
}

/// A client that promises much and sends little costs little.
#[test]
fn memory_is_not_taken_on_a_promise() {
    let wire = b"*2147483647\r\n$3\r\nDEL\r\n$536870912\r\nabc";
    let mut decoder = Decoder::default();
    let mut batch = Batch::new();

    let used = decoder.decode(wire, &mut batch, BatchBounds::NONE);

    assert_eq!(used, Ok(0));
    assert!(decoder.heap_bytes() < 1_024);
    assert_eq!(decoder.missing_bytes(), 536_870_912 + 2 - 3);
}

#[test]
fn a_decoder_that_was_reset_starts_with_a_whole_command() {
    let input = b"PING\r\n*1\r\n$4\r\nPI";
    let mut decoder = Decoder::default();
    let mut batch = Batch::new();
    assert_eq!(decoder.decode(input, &mut batch, BatchBounds::NONE), Ok(6));

    decoder.reset();
    assert_eq!(decoder.decode(input, &mut batch, BatchBounds::NONE), Ok(6));

    assert_eq!(args(batch.request(input, 0)), [b"PING"]);
}

/// What a connection got out of its bytes.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    requests: Vec<Vec<Vec<u8>>>,
    fault: Option<ProtocolError>,
    /// Bytes that were left when all had arrived; 0 after a fault.
    unused: usize,
}

/// Receives `wire` in pieces of `cuts` bytes and the rest, as a connection does.
fn receive(wire: &[u8], cuts: &[usize], limits: Limits, bounds: BatchBounds) -> Outcome {
    let mut decoder = Decoder::new(limits);
    let mut batch = Batch::new();
    let mut outcome = Outcome::default();
    let mut input = Vec::new();
    let mut rest = wire;
    for cut in cuts.iter().copied().chain([wire.len()]) {
        let (arrived, later) = rest.split_at(cut.min(rest.len()));
        rest = later;
        input.extend_from_slice(arrived);
        loop {
            let used = decoder.decode(&input, &mut batch, bounds);
            let found = (0..batch.len()).map(|index| args(batch.request(&input, index)));
            outcome.requests.extend(found);
            match used {
                Ok(0) => break,
                Ok(used) => drop(input.drain(..used)),
                Err(fault) => {
                    outcome.fault = Some(fault);
                    return outcome;
                }
            }
        }
    }
    outcome.unused = input.len();
    outcome
}

fn fault(wire: &[u8], limits: Limits) -> Option<ProtocolError> {
    receive(wire, &[], limits, BatchBounds::NONE).fault
}

fn args(request: crate::Request<'_>) -> Vec<Vec<u8>> {
    request.iter().map(<[u8]>::to_vec).collect()
}

/// A part of what a client sends.
#[derive(Clone, Debug)]
enum Piece {
    Array(Vec<Vec<u8>>),
    Inline(Vec<Vec<u8>>, Vec<u8>),
    /// Bytes that are no request, or half of one.
    Bytes(Vec<u8>),
}

impl Piece {
    fn into_request(self) -> Option<Vec<Vec<u8>>> {
        match self {
            Self::Array(args) | Self::Inline(args, _) => Some(args),
            Self::Bytes(_) => None,
        }
    }
}

fn encoded(pieces: &[Piece]) -> Vec<u8> {
    let mut wire = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Array(args) => {
                let request: OwnedRequest = args.iter().collect();
                request.as_request().write_to(&mut wire);
            }
            Piece::Inline(_, line) => wire.extend_from_slice(line),
            Piece::Bytes(bytes) => wire.extend_from_slice(bytes),
        }
    }
    wire
}

/// A request in either form, or one that is empty.
fn piece() -> impl Strategy<Value = Piece> {
    let arg = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..12),
        1 => prop::collection::vec(any::<u8>(), 90..1_100),
    ];
    let words = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 1..5);
    let line_end = prop_oneof![Just("\n"), Just("\r\n"), Just(" \t\r\n")];
    let empty = [
        "\r\n",
        "\n",
        "  \r\n",
        "*0\r\n",
        "*-1\r\n",
        "*-9223372036854775808\r\n",
    ];
    prop_oneof![
        4 => prop::collection::vec(arg, 1..13).prop_map(Piece::Array),
        2 => (words, line_end).prop_map(|(words, line_end)| {
            let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(&b' ');
            Piece::Inline(words, [&line, line_end.as_bytes()].concat())
        }),
        1 => prop::sample::select(empty.to_vec())
            .prop_map(|bytes| Piece::Bytes(bytes.as_bytes().to_vec())),
    ]
}

/// Bytes that headers, quotes and line ends are made of.
fn rubbish() -> impl Strategy<Value = Piece> {
    let parts = [
        "*",
        "$",
        "1",
        "2",
        "3",
        "\r\n",
        "\r",
        "\n",
        "\0",
        "a",
        "\"",
        "'",
        "\\",
        " ",
        "*1\r\n",
        "*2\r\n",
        "$1\r\n",
        "$3\r\nabc\r\n",
        "$25\r\n",
        "*11\r\n",
        "-1\r\n",
        "\u{fd}",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..10)
        .prop_map(|parts| Piece::Bytes(parts.concat().into_bytes()))
}

/// A word as an inline command may say it, whatever its bytes are.
fn quoted(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for byte in word {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\n' => quoted.extend(b"\\n"),
            0 | b'\r' | 0x80.. => quoted.extend(format!("\\x{byte:02X}").bytes()),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Those of a client that has yet to say who it is.
const UNAUTHENTICATED: Limits = Limits::unauthenticated(Limits::BULK_BYTES_MAX);

/// Limits that random bytes reach.
const SMALL: Limits = Limits {
    quotes_end_words: false,
    args_max: 11,
    bulk_bytes_max: 20,
    inline_bytes_max: 12,
    authenticated: false,
};
