//! Where the network cuts the bytes does not matter.

use tailrace_storage::Rng;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

/// One pipeline of everything: arrays, typed lines, empty requests, errors, a transaction, a wait that
/// is over at once, and a fault at the end.
const PIPELINE: &str = "*1\r\n$4\r\nPING\r\n\
    XADD s 1-1 name \"two words\"\r\n\
    *5\r\n$4\r\nXADD\r\n$1\r\ns\r\n$3\r\n1-2\r\n$1\r\nf\r\n$12\r\nab\r\n*1\r\n$0\r\n\r\n\
    *0\r\n\r\n\n*-1\r\n\
    NOSUCH thing\r\n\
    MULTI\nXLEN s\n*2\r\n$4\r\nXLEN\r\n$1\r\ns\r\nEXEC\r\n\
    XREAD COUNT 1 BLOCK 0 STREAMS s 0\r\n\
    *2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n\r\n\r\n\
    PING \"\\x41\\n\"\r\n\
    *1\r\n!4\r\nPING\r\n";

/// What the server says to the pipeline when it arrives in these pieces.
async fn replies_to(pieces: &[&[u8]]) -> String {
    let server = start("").await;
    let client = Caller::connect(&server);
    for piece in pieces {
        client.far().send(piece);
        settle_a_little().await;
    }
    client.rest().await.escape_ascii().to_string()
}

async fn settle_a_little() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cut_anywhere_changes_nothing() {
    let bytes = PIPELINE.as_bytes();
    let whole = replies_to(&[bytes]).await;
    assert!(
        whole.ends_with(r"-ERR Protocol error: expected \'$\', got \'!\'\r\n"),
        "{whole}"
    );
    for at in 1..bytes.len() {
        let (before, after) = bytes.split_at(at);
        assert_eq!(replies_to(&[before, after]).await, whole, "cut at {at}");
    }
}

#[tokio::test]
async fn many_cuts_change_nothing() {
    let bytes = PIPELINE.as_bytes();
    let whole = replies_to(&[bytes]).await;
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(replies_to(&single).await, whole);
    for seed in 0..50 {
        let mut rng = Rng::from_seed(seed);
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(1 + rng.below(rest.len().min(20)));
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(replies_to(&pieces).await, whole, "seed {seed}");
    }
}

/// Half a command is never executed, whichever way its client goes, and all before it are.
#[tokio::test]
async fn a_command_cut_by_the_end_is_not_executed() {
    let command = b"*5\r\n$4\r\nXADD\r\n$1\r\ns\r\n$1\r\n*\r\n$1\r\nf\r\n$1\r\nv\r\n";
    for at in 1..command.len() {
        let server = start("").await;
        let client = Caller::connect(&server);
        client.far().send(command);
        client.far().send(&command[..at]);
        match at % 2 {
            0 => client.far().half_close(),
            _ => client.far().hang_up(),
        }
        settle().await;
        let mut other = Caller::connect(&server);
        assert_eq!(
            other.call(&["XLEN", "s"]).await.to_string(),
            "1",
            "cut at {at}"
        );
    }
}

/// However little the socket takes at a time, replies leave whole and in order.
#[tokio::test]
async fn replies_leave_in_pieces_of_any_size() {
    let server = start("").await;
    let mut rng = Rng::from_seed(7);
    let client = Caller::connect(&server);
    client.far().open_window(0);
    let mut expected = Vec::new();
    let mut received = Vec::new();
    for n in 0..2_000 {
        let word = "x".repeat(rng.below(40));
        client.send(&["ECHO", &format!("{n}{word}")]);
        let text = format!("{n}{word}");
        expected.extend_from_slice(format!("${}\r\n{text}\r\n", text.len()).as_bytes());
        client.far().open_window(rng.below(60));
        settle_a_little().await;
        received.append(&mut client.far().take());
    }
    client.far().half_close();
    client.far().open_window(usize::MAX);
    received.append(&mut client.rest().await);
    assert_eq!(received, expected);
}
