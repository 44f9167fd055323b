//! Single commands and single pipelines that are very large.

use tailrace_tests::Caller;
use tailrace_tests::start;

/// Bytes that a reply cannot contain by accident at the same place.
fn pattern(len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| ((at * 31) >> 3).to_le_bytes()[0])
        .collect()
}

#[tokio::test]
async fn a_field_of_64_mib_goes_in_and_comes_out() {
    let server = start("").await;
    let client = Caller::connect(&server);
    let value = pattern(64 * 1_024 * 1_024);
    client.send(&[b"XADD".as_slice(), b"s", b"1-1", b"big", &value]);
    client.send(&["XRANGE", "s", "-", "+"]);
    client.far().half_close();
    let replies = client.rest().await;
    let before = b"$3\r\n1-1\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$3\r\nbig\r\n$67108864\r\n";
    assert_eq!(&replies[..before.len()], before);
    // Not `assert_eq`, which would print all of it.
    assert!(replies[before.len()..replies.len() - 2] == value);
}

/// A million commands are sent before the first reply is read, and a million entries are one reply.
#[tokio::test]
async fn a_million_entries_go_in_by_one_pipeline_and_come_out_by_one_reply() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    let mut pipeline = Vec::new();
    for n in 1..=MILLION {
        let add = "*5\r\n$4\r\nXADD\r\n$1\r\ns\r\n";
        let digits = decimal_digits(n) + 2;
        let id = format!("${digits}\r\n{n}-1\r\n$1\r\nf\r\n$1\r\nv\r\n");
        pipeline.extend_from_slice(add.as_bytes());
        pipeline.extend_from_slice(id.as_bytes());
    }
    client.far().send(&pipeline);
    drop(pipeline);
    client.send(&["PING"]);
    let replies = received_until(&mut client, b"+PONG\r\n").await;
    let ids = replies
        .split(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"-1\r"));
    assert_eq!(ids.count(), MILLION);
    assert_eq!(
        client.call(&["XLEN", "s"]).await.to_string(),
        MILLION.to_string()
    );

    client.send(&["XRANGE", "s", "-", "+"]);
    client.send(&["PING"]);
    let reply = received_until(&mut client, b"+PONG\r\n").await;
    assert!(
        reply.starts_with(b"*1000000\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n*2\r\n")
    );
    let last = b"$9\r\n1000000-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n+PONG\r\n";
    assert!(reply.ends_with(last));
    let digits: usize = (1..=MILLION).map(decimal_digits).sum();
    // Besides the number: `*2`, `$n`, `-1`, `*2`, `f`, `v`, and the two digits of `$10` never occur.
    let rest = "*2\r\n$n\r\n-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n".len() * MILLION;
    assert_eq!(
        reply.len(),
        "*1000000\r\n".len() + digits + rest + "+PONG\r\n".len()
    );
}

#[tokio::test]
async fn a_million_keys_are_deleted_by_one_command() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    for key in ["0", "500000", "999999"] {
        client.call(&["XADD", key, "1-1", "f", "v"]).await;
    }
    let mut command = format!("*{}\r\n$3\r\nDEL\r\n", MILLION + 1).into_bytes();
    for n in 0..MILLION {
        let digits = decimal_digits(n);
        command.extend_from_slice(format!("${digits}\r\n{n}\r\n").as_bytes());
    }
    client.far().send(&command);
    assert_eq!(client.reply().await.to_string(), "3");
    assert_eq!(client.call(&["XLEN", "500000"]).await.to_string(), "0");
}

/// Looking through all watched keys for each new one, and through all changed keys for each change,
/// once took a minute each here; it is a moment now.
#[tokio::test]
async fn very_many_keys_can_be_watched_and_changed_at_once() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    let keys: Vec<String> = (0..MANY).map(|n| n.to_string()).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let watch = [&["WATCH"], &keys[..]].concat();
    let pairs: Vec<&str> = keys.iter().flat_map(|key| [*key, "v"]).collect();
    let set = [&["MSET"], &pairs[..]].concat();
    let mut waiting = Caller::connect(&server);
    let ids = vec!["$"; MANY];
    waiting.send(&[&["XREAD", "BLOCK", "0", "STREAMS"], &keys[..], &ids[..]].concat());
    for _ in 0..2 {
        assert_eq!(client.call(&watch).await.to_string(), "OK");
    }
    assert_eq!(client.call(&set).await.to_string(), "OK");
    assert_eq!(client.call(&["MULTI"]).await.to_string(), "OK");
    assert_eq!(client.call(&["EXEC"]).await.to_string(), "nil-array");
    assert_eq!(client.call(&["FLUSHALL"]).await.to_string(), "OK");
    waiting.assert_silent().await;
}

/// All that comes up to `end`.
async fn received_until(client: &mut Caller, end: &[u8]) -> Vec<u8> {
    let mut received = Vec::new();
    for _ in 0..TURNS_MAX {
        received.append(&mut client.far().take());
        if received.ends_with(end) {
            return received;
        }
        tokio::task::yield_now().await;
    }
    panic!("only {} bytes came", received.len());
}

fn decimal_digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

const MILLION: usize = 1_000_000;
const MANY: usize = 100_000;
/// A pipeline is executed by at least a few commands in each turn.
const TURNS_MAX: usize = MILLION;
