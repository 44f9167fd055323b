//! Waiting for what others do, and insisting on it.

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;

#[tokio::test]
async fn it_replies_when_clients_wait() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XGROUP CREATE s g 0 MKSTREAM").await;
    send(&test, "TD WAIT BLOCKED 2 KEY s GROUP g TIMEOUT 60000");
    send(&test, "PING");
    let readers: Vec<Caller> = (0..2).map(|_| Caller::connect(&server)).collect();
    send(&readers[0], "XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
    settle().await;
    test.assert_silent().await;
    send(&readers[1], "XREADGROUP GROUP g b BLOCK 0 STREAMS s >");
    assert_eq!(test.reply().await.to_string(), "OK");
    // What stood behind it is executed, too.
    assert_eq!(test.reply().await.to_string(), "PONG");
    assert_eq!(
        said(&mut test, "TD WAIT BLOCKED 1 CONSUMER b TIMEOUT 0").await,
        "OK"
    );
    assert_eq!(
        said(&mut test, "TD ASSERT BLOCKED 1 KEY other").await,
        "!ERR the number of clients that wait so is 0, and not = 1; who waits: client 2 in XREADGROUP \
         GROUP g a BLOCK 0 STREAMS s >; client 3 in XREADGROUP GROUP g b BLOCK 0 STREAMS s >"
    );
}

#[tokio::test]
async fn in_vain_it_says_what_is_the_case_instead() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XADD s 1-1 f v").await;
    said(&mut test, "XADD s 2-1 f v").await;
    said(&mut test, "XADD u 1-1 f v").await;
    said(&mut test, "XGROUP CREATE s g 0").await;
    said(&mut test, "XREADGROUP GROUP g worker COUNT 1 STREAMS s >").await;
    for (condition, error) in [
        (
            "DRAINED s g",
            "s g is not drained: 1 to read, 1 pending, 1 of them with worker",
        ),
        ("PENDING s g > 1", "PENDING of s g is 1, and not > 1"),
        ("LAG s g 0", "LAG of s g is 1, and not = 0"),
        ("LEN s 3", "LEN of s is 2, and not = 3"),
        ("ENTRY s f w", "none of the 2 entries of s has f w"),
        ("PENDING s h 0", "s has no group h; it has: g"),
        ("PENDING u g 0", "u has no group g, and no other"),
        ("PENDING t g 0", "there is no stream t"),
        ("CLIENTS < 1", "the number of clients is 1, and not < 1"),
        (
            "SUBSCRIBED news",
            "the number of listeners to news is 0, and not >= 1",
        ),
        (
            "HELD gate",
            "what gate holds is 0, and not >= 1; there is no fault 'gate'",
        ),
        (
            "CALLS 7 CMD XADD",
            "the number of such calls is 3, and not = 7",
        ),
    ] {
        let failed = said(&mut test, &format!("TD ASSERT {condition}")).await;
        assert_eq!(failed, format!("!ERR {error}"));
        let failed = said(&mut test, &format!("TD WAIT {condition} TIMEOUT 1")).await;
        assert_eq!(failed, format!("!ERR after 1 ms {error}"));
    }
    for condition in [
        "PENDING s g 1",
        "LAG s g >= 1",
        "LEN s != 3",
        "ENTRY s f v",
        "CLIENTS 1",
        "CALLS CMD XADD KEY s",
        "IDLE",
    ] {
        assert_eq!(
            said(&mut test, &format!("TD ASSERT {condition}")).await,
            "OK"
        );
    }
    said(&mut test, "XREADGROUP GROUP g worker STREAMS s >").await;
    assert_eq!(
        said(&mut test, "TD ASSERT DRAINED s g").await,
        "!ERR s g is not drained: 0 to read, 2 pending, 2 of them with worker"
    );
    said(&mut test, "XACK s g 1-1 2-1").await;
    assert_eq!(said(&mut test, "TD ASSERT DRAINED s g").await, "OK");
}

#[tokio::test]
async fn it_sees_what_holds_for_a_moment_only() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    send(&test, "TD WAIT LEN s 1 TIMEOUT 60000");
    settle().await;
    said(&mut client, "XADD s 1-1 f v").await;
    said(&mut client, "DEL s").await;
    assert_eq!(test.reply().await.to_string(), "OK");
}

#[tokio::test]
async fn without_an_end_to_patience_it_does_not_wait() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    for wrong in [
        "LEN s 1",
        "LEN s 1 TIMEOUT",
        "TIMEOUT 1",
        "LEN s TIMEOUT 1",
        "SLEEP TIMEOUT 1",
    ] {
        let reply = said(&mut test, &format!("TD WAIT {wrong}")).await;
        assert!(reply.starts_with("!ERR"), "{wrong}: {reply}");
    }
}
