//! Clients that send but do not read, or read late.

use tailrace_storage::Millis;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

/// A reply of a thousand bytes and its header.
const REPLY_BYTES: usize = 1_009;
/// What does not count against a limit: the reference has a fixed buffer for the first replies.
const FREE_BYTES: usize = 16 * 1_024;

fn ask(client: &Caller, times: usize) {
    let word = "x".repeat(1_000);
    for _ in 0..times {
        client.send(&["ECHO", &word]);
    }
}

#[tokio::test]
async fn a_slow_reader_slows_nobody_and_is_ended_at_its_limit() {
    let limit = 1_000_000;
    let server = start(&format!("client-output-buffer-limit normal {limit} 0 0")).await;
    let slow = Caller::connect(&server);
    slow.far().open_window(0);
    let mut other = Caller::connect(&server);

    let below = (FREE_BYTES + limit - 1) / REPLY_BYTES;
    ask(&slow, below);
    settle().await;
    assert!(!slow.far().is_closed());
    assert_eq!(other.call(&["PING"]).await.to_string(), "PONG");

    ask(&slow, 1);
    settle().await;
    assert!(slow.far().is_closed());
    assert_eq!(slow.far().take(), b"");
    assert_eq!(other.call(&["PING"]).await.to_string(), "PONG");
}

/// The soft limit gives a client time, and ends it when that is over even if nothing more is sent to it.
#[tokio::test]
async fn a_reader_may_be_late_for_as_long_as_the_soft_limit_says() {
    let server = start("client-output-buffer-limit normal 0 10000 2").await;
    let late = Caller::connect(&server);
    late.far().open_window(0);
    let patient = Caller::connect(&server);
    patient.far().open_window(0);
    for client in [&late, &patient] {
        ask(client, 30);
    }
    settle().await;
    server.advance(Millis(1_999));
    patient.far().open_window(usize::MAX);
    settle().await;
    assert_eq!(patient.far().take().len(), 30 * REPLY_BYTES);
    assert!(!late.far().is_closed());

    server.advance(Millis(1_001));
    settle().await;
    assert!(late.far().is_closed());
    assert!(!patient.far().is_closed());
}

/// Common clients write a whole pipeline before they read the first reply, so a server that stops
/// reading until its replies are taken hangs both.
#[tokio::test]
async fn a_pipeline_is_read_to_its_end_before_the_first_reply_is_taken() {
    let server = start("").await;
    let client = Caller::connect(&server);
    client.far().open_window(0);
    ask(&client, 20_000);
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.far().unread_bytes(), 0);
    client.far().open_window(usize::MAX);
    client.far().half_close();
    assert_eq!(client.rest().await.len(), 20_000 * REPLY_BYTES);
}

/// A client whose command waits may send ahead, but not without end.
#[tokio::test]
async fn a_waiting_client_is_ended_when_it_sends_too_much_ahead() {
    let limit = 1_048_576;
    let server = start(&format!("client-query-buffer-limit {limit}")).await;
    let client = Caller::connect(&server);
    client.send(&["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]);
    let ping = b"*1\r\n$4\r\nPING\r\n";
    let within = limit / ping.len();
    client.far().send(&ping.repeat(within));
    settle().await;
    assert!(!client.far().is_closed());
    assert_eq!(client.far().unread_bytes(), 0);

    client.far().send(ping);
    settle().await;
    assert!(client.far().is_closed());
}

/// A subscriber that does not read holds up neither the publisher nor the other subscribers.
#[tokio::test]
async fn a_subscriber_that_does_not_read_is_ended_at_its_limit() {
    let server = start("client-output-buffer-limit pubsub 100000 0 0").await;
    let mut quick = Caller::connect(&server);
    let slow = Caller::connect(&server);
    for client in [&quick, &slow] {
        client.send(&["SUBSCRIBE", "news"]);
    }
    quick.reply().await;
    slow.far().open_window(0);
    let mut publisher = Caller::connect(&server);
    let word = "x".repeat(1_000);
    let mut heard_by = Vec::new();
    for _ in 0..150 {
        heard_by.push(
            publisher
                .call(&["PUBLISH", "news", &word])
                .await
                .to_string(),
        );
        quick.reply().await;
    }
    assert_eq!(heard_by[0], "2");
    assert_eq!(heard_by[149], "1");
    assert!(slow.far().is_closed());
}
