//! The ledger: what became of each entry, and consumers that get it wrong in each way there is.

use tailrace_server::Server;
use tailrace_tests::Caller;
use tailrace_tests::Value;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;

/// A double with a stream and a group of which the ledger knows everything. The test is client 1.
async fn prepared() -> (Server, Caller) {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    assert_eq!(said(&mut test, "TD LEDGER ON").await, "OK");
    said(&mut test, "XGROUP CREATE s g 0 MKSTREAM").await;
    (server, test)
}

/// A reply that is shown in several.
fn in_one_line(reply: &str) -> String {
    let words: Vec<_> = reply.split_whitespace().collect();
    words.join(" ").replace("[ ", "[").replace(" ]", "]")
}

async fn add(test: &mut Caller, ids: &[&str]) {
    for id in ids {
        said(test, &format!("XADD s {id} f v")).await;
    }
}

/// What an assertion about the group has to say.
async fn asserted(test: &mut Caller, promise: &str) -> String {
    let (promise, worked) = match promise.split_once(' ') {
        None => (promise, ""),
        Some((promise, _)) => (promise, " WORKED"),
    };
    said(test, &format!("TD ASSERT {promise} s g{worked}")).await
}

/// The promises that do not hold.
async fn broken(test: &mut Caller) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for promise in ["AT-LEAST-ONCE", "EXACTLY-ONCE", "NO-LOSS", "NO-LEAK"] {
        let reply = asserted(test, promise).await;
        if reply != "OK" {
            assert!(
                reply.starts_with(&format!("!ERR {promise} of s g does not hold")),
                "{reply}"
            );
            broken.push(promise);
        }
    }
    broken
}

#[tokio::test]
async fn who_gets_it_right_keeps_all_promises() {
    let (server, mut test) = prepared().await;
    let mut worker = Caller::connect(&server);
    add(&mut test, &["1-1", "2-1"]).await;
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    said(&mut worker, "TD LEDGER WORKED s g 1-1 2-1").await;
    said(&mut worker, "XACK s g 1-1 2-1").await;
    // One that is waited for, and one that a script adds.
    for add in [
        &["XADD", "s", "3-1", "f", "v"][..],
        &[
            "EVAL",
            "return redis.call('XADD', KEYS[1], '4-1', 'f', 'v')",
            "1",
            "s",
        ],
    ] {
        send(&worker, "XREADGROUP GROUP g w BLOCK 0 STREAMS s >");
        settle().await;
        test.call(add).await;
        let entries = worker.reply().await.to_string();
        assert!(entries.contains("-1\" [\"f\" \"v\"]"), "{entries}");
    }
    said(&mut worker, "TD LEDGER WORKED s g 3-1 4-1").await;
    said(&mut worker, "MULTI").await;
    said(&mut worker, "XACK s g 3-1").await;
    said(&mut worker, "XACK s g 4-1").await;
    assert_eq!(said(&mut worker, "EXEC").await, "[1 1]");
    assert_eq!(broken(&mut test).await, [""; 0]);
    for promise in ["AT-LEAST-ONCE WORKED", "EXACTLY-ONCE WORKED"] {
        assert_eq!(asserted(&mut test, promise).await, "OK");
    }
    assert_eq!(
        in_one_line(&said(&mut test, "TD LEDGER s g").await),
        "[\"added\" 4 \"delivered-once\" 4 \"redelivered\" 0 \"acked\" 4 \"acked-undelivered\" 0 \
         \"unacked\" 0 \"pending\" 0 \"never-delivered\" 0 \"lost\" 0 \"most-deliveries\" 1 \
         \"forgotten\" 0 \"consumers\" [\"w\" [\"deliveries\" 4 \"acks\" 4 \"pending\" 0]]]"
    );
    assert_eq!(
        in_one_line(&said(&mut test, "TD LEDGER s g 4-1").await),
        "[\"added by client 1 at 1000000, delivered to w (client 2) at 1000000, its work done at 1000000, \
         acknowledged by w (client 2) at 1000000\"]"
    );
}

#[tokio::test]
async fn who_never_acknowledges_is_found() {
    let (server, mut test) = prepared().await;
    let mut worker = Caller::connect(&server);
    add(&mut test, &["1-1", "2-1"]).await;
    said(&mut worker, "XREADGROUP GROUP g w COUNT 1 STREAMS s >").await;
    said(&mut worker, "XACK s g 1-1").await;
    said(&mut test, "TD CLOCK ADVANCE 5").await;
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    assert_eq!(
        broken(&mut test).await,
        ["AT-LEAST-ONCE", "EXACTLY-ONCE", "NO-LEAK"]
    );
    assert_eq!(
        asserted(&mut test, "AT-LEAST-ONCE").await,
        "!ERR AT-LEAST-ONCE of s g does not hold for 1 of 2 entries: 2-1: added by client 1 at 1000000, \
         delivered to w (client 2) at 1000005, still pending"
    );
    // With its consumer what it has is out of sight, but not acknowledged.
    said(&mut test, "XGROUP DELCONSUMER s g w").await;
    assert_eq!(said(&mut test, "TD ASSERT PENDING s g 0").await, "OK");
    assert_eq!(
        asserted(&mut test, "NO-LEAK").await,
        "!ERR NO-LEAK of s g does not hold for 1 of 2 entries: 2-1: added by client 1 at 1000000, delivered \
         to w (client 2) at 1000005, dropped with consumer w by client 1 at 1000005, never acknowledged by \
         whom it was delivered to"
    );
}

#[tokio::test]
async fn who_acknowledges_before_the_work_is_found() {
    let (server, mut test) = prepared().await;
    let mut worker = Caller::connect(&server);
    add(&mut test, &["1-1", "2-1", "3-1"]).await;
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    said(&mut worker, "TD LEDGER WORKED s g 1-1").await;
    said(&mut worker, "XACK s g 1-1 2-1 3-1").await;
    said(&mut worker, "TD LEDGER WORKED s g 2-1").await;
    drop(worker);
    assert_eq!(broken(&mut test).await, [""; 0]);
    assert_eq!(
        asserted(&mut test, "AT-LEAST-ONCE WORKED").await,
        "!ERR AT-LEAST-ONCE with WORKED of s g does not hold for 2 of 3 entries: 2-1: added by client 1 at \
         1000000, delivered to w (client 2) at 1000000, acknowledged by w (client 2) at 1000000, its work \
         done at 1000000, its work was not done before; 3-1: added by client 1 at 1000000, delivered to w \
         (client 2) at 1000000, acknowledged by w (client 2) at 1000000, its work was not done before"
    );
}

/// It knows the ID from elsewhere. What it is given afterwards stays pending.
#[tokio::test]
async fn who_acknowledges_before_the_delivery_is_found() {
    let (server, mut test) = prepared().await;
    let mut worker = Caller::connect(&server);
    add(&mut test, &["1-1"]).await;
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s 0").await;
    assert_eq!(said(&mut worker, "XACK s g 1-1").await, "0");
    assert_eq!(
        asserted(&mut test, "NO-LEAK").await,
        "!ERR NO-LEAK of s g does not hold for 0 of 1 entries and 1 acknowledgement of what was not \
         delivered: 1-1: acknowledged by client 2, which reads as w, at 1000000 when it was not delivered"
    );
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    assert_eq!(
        broken(&mut test).await,
        ["AT-LEAST-ONCE", "EXACTLY-ONCE", "NO-LEAK"]
    );
}

#[tokio::test]
async fn a_slow_reader_of_a_stream_that_is_trimmed_is_found() {
    let (server, mut test) = prepared().await;
    let mut worker = Caller::connect(&server);
    add(&mut test, &["1-1"]).await;
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    said(&mut worker, "XACK s g 1-1").await;
    for id in ["2-1", "3-1", "4-1"] {
        said(&mut test, &format!("XADD s MAXLEN 2 {id} f v")).await;
    }
    said(&mut test, "XDEL s 3-1").await;
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    said(&mut worker, "XACK s g 4-1").await;
    assert_eq!(
        broken(&mut test).await,
        ["AT-LEAST-ONCE", "EXACTLY-ONCE", "NO-LOSS"]
    );
    assert_eq!(
        asserted(&mut test, "NO-LOSS").await,
        "!ERR NO-LOSS of s g does not hold for 2 of 4 entries: 2-1: added by client 1 at 1000000, trimmed by \
         client 1 at 1000000, never delivered; 3-1: added by client 1 at 1000000, deleted by client 1 at \
         1000000, never delivered"
    );
}

#[tokio::test]
async fn who_claims_what_another_works_on_is_found() {
    let (server, mut test) = prepared().await;
    let [mut one, mut other] = [Caller::connect(&server), Caller::connect(&server)];
    add(&mut test, &["1-1", "2-1"]).await;
    said(&mut one, "XREADGROUP GROUP g a STREAMS s >").await;
    said(&mut other, "XCLAIM s g b 0 1-1").await;
    said(&mut one, "XACK s g 1-1 2-1").await;
    said(&mut other, "XACK s g 1-1").await;
    assert_eq!(broken(&mut test).await, ["EXACTLY-ONCE"]);
    assert_eq!(
        asserted(&mut test, "EXACTLY-ONCE").await,
        "!ERR EXACTLY-ONCE of s g does not hold for 1 of 2 entries: 1-1: added by client 1 at 1000000, \
         delivered to a (client 2) at 1000000, claimed by b (client 3) at 1000000, acknowledged by a \
         (client 2) at 1000000"
    );
}

/// Whoever reads as others only has nothing to acknowledge; who does not read may be a worker's other connection.
#[tokio::test]
async fn a_stranger_that_acknowledges_is_found() {
    let (server, mut test) = prepared().await;
    let [mut one, mut other] = [Caller::connect(&server), Caller::connect(&server)];
    add(&mut test, &["1-1", "2-1"]).await;
    said(&mut one, "XREADGROUP GROUP g a STREAMS s >").await;
    said(&mut other, "XREADGROUP GROUP g b STREAMS s >").await;
    assert_eq!(said(&mut other, "XACK s g 1-1").await, "1");
    assert_eq!(said(&mut test, "XACK s g 2-1").await, "1");
    assert_eq!(
        broken(&mut test).await,
        ["AT-LEAST-ONCE", "EXACTLY-ONCE", "NO-LEAK"]
    );
    let story = "1 of 2 entries: 1-1: added by client 1 at 1000000, delivered to a (client 2) at 1000000, \
                 acknowledged by client 3, which reads as b, at 1000000, never acknowledged by whom it was \
                 delivered to";
    for promise in ["AT-LEAST-ONCE", "NO-LEAK"] {
        let error = format!("!ERR {promise} of s g does not hold for {story}");
        assert_eq!(asserted(&mut test, promise).await, error);
    }
    // A worker that comes back on another connection is no stranger.
    let mut again = Caller::connect(&server);
    said(&mut again, "XREADGROUP GROUP g a STREAMS s >").await;
    said(&mut again, "XACK s g 1-1").await;
    assert_eq!(broken(&mut test).await, [""; 0]);
}

/// What is done to a stream with the entry 1-1 and the group g, and what its history is then.
const WAYS: &[(&str, &str)] = &[
    (
        "XREADGROUP GROUP g a NOACK STREAMS s >",
        "delivered to a (client 1) with NOACK at 1000000",
    ),
    (
        "XREADGROUP GROUP g a STREAMS s >;XREADGROUP GROUP g a STREAMS s 0;XACK s g 1-1",
        "delivered to a (client 1) at 1000000, read again by a (client 1) at 1000000, \
             acknowledged by a (client 1) at 1000000",
    ),
    (
        "XREADGROUP GROUP g a STREAMS s >;XAUTOCLAIM s g b 0 0 JUSTID;XCLAIM s g c 0 1-1",
        "delivered to a (client 1) at 1000000, claimed by b (client 1) for its ID alone at 1000000, \
             claimed by c (client 1) at 1000000, still pending",
    ),
    (
        "XCLAIM s g c 0 1-1 FORCE",
        "claimed by c (client 1) at 1000000, still pending",
    ),
    (
        "XREADGROUP GROUP g a STREAMS s >;XTRIM s MAXLEN 0;XAUTOCLAIM s g b 0 0",
        "delivered to a (client 1) at 1000000, dropped as deleted by client 1 at 1000000, trimmed by \
             client 1 at 1000000, never acknowledged by whom it was delivered to",
    ),
    (
        "XADD s MINID 5-0 5-1 f v",
        "trimmed by client 1 at 1000000, never delivered",
    ),
    (
        "DEL s",
        "its key deleted by client 1 at 1000000, never delivered",
    ),
    (
        "UNLINK s",
        "its key deleted by client 1 at 1000000, never delivered",
    ),
    (
        "SET s v",
        "its key replaced by client 1 at 1000000, never delivered",
    ),
    (
        "FLUSHALL",
        "flushed by client 1 at 1000000, never delivered",
    ),
    (
        "FLUSHDB ASYNC",
        "flushed by client 1 at 1000000, never delivered",
    ),
    (
        "PEXPIRE s 5;TD CLOCK ADVANCE 6",
        "its key expired at 1000006, never delivered",
    ),
    (
        "XREADGROUP GROUP g a STREAMS s >;XGROUP DESTROY s g",
        "delivered to a (client 1) at 1000000, dropped with the group by client 1 at 1000000, never \
             acknowledged by whom it was delivered to",
    ),
    (
        "XREADGROUP GROUP g a STREAMS s >;XACK s g 1-1;XGROUP SETID s g 0;XREADGROUP GROUP g b STREAMS s >",
        "delivered to a (client 1) at 1000000, acknowledged by a (client 1) at 1000000, delivered to b \
             (client 1) at 1000000, still pending",
    ),
    ("RENAME s t;RENAME t s", "never delivered"),
    ("MOVE s 1;SELECT 1;MOVE s 0;SELECT 0", "never delivered"),
    ("SWAPDB 0 1;SWAPDB 0 1", "never delivered"),
    ("XSETID s 9-9", "never delivered"),
];

/// Each way by which entries come, go and change hands, as the history of one tells it.
#[tokio::test]
async fn it_knows_every_way_in_and_out() {
    for (commands, history) in WAYS {
        let (_server, mut test) = prepared().await;
        add(&mut test, &["1-1"]).await;
        for command in commands.split(';') {
            let reply = said(&mut test, command).await;
            assert!(!reply.starts_with('!'), "{command}: {reply}");
        }
        assert_eq!(
            in_one_line(&said(&mut test, "TD LEDGER s g 1-1").await),
            format!("[\"added by client 1 at 1000000, {history}\"]"),
            "{commands}"
        );
    }
}

#[tokio::test]
async fn a_copy_begins_with_what_it_has() {
    let (_server, mut test) = prepared().await;
    add(&mut test, &["1-1", "2-1"]).await;
    said(&mut test, "XREADGROUP GROUP g a COUNT 1 STREAMS s >").await;
    said(&mut test, "COPY s t").await;
    let payload = test.call(&["DUMP", "s"]).await;
    let Value::Bulk(payload) = payload else {
        panic!("{payload}");
    };
    test.call(&[&b"RESTORE"[..], b"u", b"0", &payload]).await;
    said(&mut test, "XACK s g 1-1").await;
    for copy in ["t", "u"] {
        assert_eq!(
            said(&mut test, &format!("TD ASSERT NO-LEAK {copy} g")).await,
            format!(
                "!ERR NO-LEAK of {copy} g does not hold for 1 of 2 entries: 1-1: added by client 1 at 1000000, \
                 delivered to a at 1000000, still pending"
            )
        );
    }
}

#[tokio::test]
async fn it_begins_with_what_is_there_and_ends() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let off = "!ERR the ledger is off; TD LEDGER ON begins one";
    assert_eq!(said(&mut test, "TD LEDGER s g").await, off);
    assert_eq!(said(&mut test, "TD ASSERT NO-LOSS s g").await, off);
    said(&mut test, "XGROUP CREATE s g 0 MKSTREAM").await;
    add(&mut test, &["1-1", "2-1", "3-1"]).await;
    said(&mut test, "XREADGROUP GROUP g a COUNT 2 STREAMS s >").await;
    said(&mut test, "XACK s g 1-1").await;
    said(&mut test, "XADD other 1-1 f v").await;
    assert_eq!(said(&mut test, "TD LEDGER ON s").await, "OK");
    assert_eq!(
        said(&mut test, "TD LEDGER").await,
        "[\"mode\" \"some\" \"streams\" [\"s\"] \"records\" 9]"
    );
    // What was settled before is none of its business: not even a late acknowledgement.
    said(&mut test, "XACK s g 1-1").await;
    assert_eq!(
        asserted(&mut test, "AT-LEAST-ONCE").await,
        "!ERR AT-LEAST-ONCE of s g does not hold for 2 of 2 entries: 2-1: there before the ledger began, \
         delivered to a at 1000000, still pending; 3-1: there before the ledger began, never delivered"
    );
    for (wrong, error) in [
        ("other g", "the ledger knows no stream other; it knows s"),
        ("s h", "the ledger knows no group h of s; it knows g"),
        (
            "nonsense",
            "'nonsense' alone is not known of LEDGER; that of a stream is LEDGER nonsense <group>; \
             try TD LEDGER HELP",
        ),
    ] {
        assert_eq!(
            said(&mut test, &format!("TD LEDGER {wrong}")).await,
            format!("!ERR {error}")
        );
    }
    said(&mut test, "TD LEDGER OFF s").await;
    assert_eq!(said(&mut test, "TD LEDGER s g").await, off);
}

#[tokio::test]
async fn an_error_shows_the_first_ten_and_a_wait_ends_when_the_last_is_done() {
    let (server, mut test) = prepared().await;
    let mut worker = Caller::connect(&server);
    for number in 1..=25 {
        said(&mut test, &format!("XADD s {number}-1 f v")).await;
    }
    said(&mut worker, "XREADGROUP GROUP g w STREAMS s >").await;
    let error = said(&mut test, "TD WAIT AT-LEAST-ONCE s g TIMEOUT 1").await;
    assert!(
        error.starts_with(
            "!ERR after 1 ms AT-LEAST-ONCE of s g does not hold for 25 of 25 entries: 1-1: "
        ),
        "{error}"
    );
    assert!(error.ends_with("; and 15 more"), "{error}");
    assert_eq!(error.matches("still pending").count(), 10);
    send(&test, "TD WAIT AT-LEAST-ONCE s g TIMEOUT 60000");
    for number in 1..=25 {
        settle().await;
        test.assert_silent().await;
        said(&mut worker, &format!("XACK s g {number}-1")).await;
    }
    assert_eq!(test.reply().await.to_string(), "OK");
}
